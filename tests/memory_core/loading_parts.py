"""What the loading tests share: a workspace in memory, the usual pages, and a counter that needs no vocabulary."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from memory_core.clock import ManualClock
from memory_core.disclosure import Disclosure
from memory_core.handle import Handle, Handles
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, Scope
from memory_core.layouts import APM, Layout
from memory_core.ledger.memory import MemoryLedger
from memory_core.loading import Mode, disclose
from memory_core.session import Session
from memory_core.store.memory import MemoryStores
from memory_core.tokens import Counter

BUILD = GroupScope("build")
OTHER = GroupScope("other")
OWNER = DirectScope(PersonKey("console:me"), owner=True)
ANA = DirectScope(PersonKey("console:ana"))
NOON = datetime(2026, 4, 6, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Quarter:
    """Counts a token for every four characters begun: exact enough for rules, quick enough for thousands of runs."""

    why: str = ""

    def count(self, text: str) -> int:
        """The tokens of `text`."""
        return -(-len(text) // 4)


def index_text(*rows: str, head: str = "", more: str = "") -> str:
    """An index with these routing rows (`words | file | P1`)."""
    table = "\n".join(f"| {row} |" for row in rows)
    return (
        f"---\ngroup_name: build\npurpose: build servers\n{head}---\n\n# build\n\n"
        "## Hard Rules\n\n- Answer in English.\n\n"
        f"## Routing Index\n\n| Trigger Scenario | Load File | Priority |\n|---|---|---|\n{table}\n{more}"
    )


GROUP_INDEX = index_text(
    "tasks, status, blocked, todo | attention.md | P0",
    "tech stack, architecture, deploy | project.md | P1",
    "decision, why, lesson | experience.md | P2",
    "who, owner, contact, role | people.md | P3",
)
DIRECT_INDEX = index_text(
    "tasks, status, blocked | attention.md | P0",
    "decision, why, lesson, background | longterm.md | P1",
    "yesterday, last week | daily-synced.md | P2",
    "atlas | projects/atlas.md | P3",
)
ATTENTION = (
    "# Attention\n\n## Active Tasks\n\n| Task | Status | Who | Notes |\n|---|---|---|---|\n"
    "| Move the runner | in_progress | ana | |\n\n## Blockers\n\n- Waiting for the licence (bo)\n"
)
PROJECT = "# Project\n\n## Stack\n\nPython and SQLite.\n\n## Deploy\n\nEvery deploy follows conventions/deploy.md.\n"
DEPLOY = "# Deploying\n\n- Tag, then push.\n- Never on a Friday.\n"
PEOPLE = "# People\n\n## [2026-03-01] Ana\n- Body: owns the runners\n"


def record(day: str, title: str, body: str, *, hits: int = 0) -> str:
    """A record as it stands on disk."""
    key = f"console:build:{zlib.crc32(f'{day} {title}'.encode())}"
    return (
        f"## [{day}] {title}\n"
        "- Tags: alpha\n"
        f"- Fitness: last_referenced={day}, hit_count={hits}, decision_value=HIGH\n"
        f"- Source: @ana (console:ana) in #build, {day} 14:02, {key}\n"
        f"- Body: {body}\n"
    )


EXPERIENCE = "# Experience\n\n" + "\n".join(
    [
        record(
            "2026-04-06", "Redis for the session cache", "Redis over Memcached, because sessions survive a restart."
        ),
        record("2026-03-02", "No deploys on Fridays", "Two broken weekends were enough."),
        record("2026-02-01", "Ubuntu runners", "The Debian image lacked the GPU driver."),
    ]
)


@dataclass(slots=True)
class Workspace:
    """Several scopes in memory; `reads` tells which pages were opened."""

    counter: Counter = field(default_factory=Quarter)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOON))
    zone: tzinfo = UTC
    layout: Layout = APM
    stores: MemoryStores = field(init=False)

    def __post_init__(self) -> None:
        self.stores = MemoryStores(self.layout)

    def put(self, scope: Scope, pages: dict[str, str | bytes]) -> Workspace:
        """Write pages as a person would."""
        for page, text in pages.items():
            self.stores.put(scope, PageId(page), text.encode() if isinstance(text, str) else text)
        return self

    def handle(self, scope: Scope) -> Handle:
        """The handle of a scope."""
        return Handles(self.stores, MemoryLedger(self.clock), self.layout, self.counter, self.clock, self.zone).open(
            scope
        )

    async def ask(
        self, scope: Scope, message: str, session: Session | None = None, mode: Mode = Mode.STRICT
    ) -> Disclosure:
        """The disclosure for a message."""
        return await disclose(self.handle(scope), session or Session(), message, title="#build", mode=mode)

    def read_by(self, scope: Scope) -> list[str]:
        """The pages of a scope that were opened, in order."""
        return [page for one, page in self.stores.reads if one == scope]


def group(**pages: str | bytes) -> Workspace:
    """A workspace with the group `build`; `pages` replace or add (`conventions__deploy` for a convention)."""
    usual: dict[str, str | bytes] = {
        "index": GROUP_INDEX,
        "attention": ATTENTION,
        "project": PROJECT,
        "experience": EXPERIENCE,
        "people": PEOPLE,
        "conventions/deploy": DEPLOY,
    }
    usual |= {name.replace("__", "/"): text for name, text in pages.items()}
    return Workspace().put(BUILD, usual)


def shown(disclosure: Disclosure) -> str:
    """Everything that the agent sees of it."""
    return "\n".join(part.text for part in disclosure.loaded)


def pages(disclosure: Disclosure) -> list[str]:
    """The pages in it, in order."""
    return [part.page for part in disclosure.loaded]
