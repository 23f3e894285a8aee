"""What a layout is: which pages a scope has. A memory system is a table, not code.

A layout says, for groups and for DMs, every page's file, priority, form, line budget and routing words, which
kind of entry goes to which page, and in what order a conversation is started. Flush, first join, loading, /remem,
audit and search ask the table and nothing else; a new layout is one table more.

Page ids may end in `*` in the table (`conventions/*`): the star stands for one file name of the rule
`NAME_PATTERN`. `file` is the path below the scope's base, with `{name}` for the star. Bases: a group's pages stand
below the workspace root (its table holds `memory/groups/{group}…`); a DM's below its home, which is the
workspace root for the owner and `people/<person>/` for everyone else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import TypeAlias

from memory_core.errors import UnknownPage
from memory_core.ids import DirectScope, GroupScope, PageId, Scope

INDEX = PageId("index")
FLUSH_STATE = PageId("state/flush")
TASKS = PageId("state/tasks")
HEARTBEAT = PageId("state/heartbeat")

NAME_PATTERN = re.compile(r"(?!\.)[^\x00-\x1f/\\:*?\"<>|]{1,80}(?<![. ])")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"\d{4}-\d{2}")


class Kind(StrEnum):
    """What a candidate or record is (design: the flush's table)."""

    DECISION = "decision"
    LESSON = "lesson"
    TASK = "task"
    STATUS = "status"
    BLOCKER = "blocker"
    AGREEMENT = "agreement"
    STACK = "stack"
    ARCHITECTURE = "architecture"
    ROLE = "role"
    PREFERENCE = "preference"
    CONTACT = "contact"
    ENVIRONMENT = "environment"
    TOOL = "tool"


class Priority(IntEnum):
    """P0 is shown first and wins a tie."""

    P0 = 0
    P1 = 1
    P2 = 2
    P3 = 3


class Form(StrEnum):
    """How a page is written."""

    INDEX = "index"
    ATTENTION = "attention"
    NEWEST_FIRST = "newest_first"
    """Records, a new one on top, add only."""
    ADDED = "added"
    """Records, a new one at the end."""
    DAILY_LINES = "daily_lines"
    """One line a day, newest first (daily-synced)."""
    SECTIONS = "sections"
    """Records under the headings that the rule names, newest first in each (adaptive's MEMORY.md)."""
    ACTIVE = "active"
    """What is being done, what waits, what was done: a line each (adaptive's active_context)."""
    CHANNEL = "channel"
    """A group's topics, decisions (records) and open points (adaptive's channel_context)."""
    PROSE = "prose"
    """A person's own page: read, never written by the bot."""
    JOURNAL = "journal"
    ARCHIVE = "archive"
    STATE = "state"
    """JSON, the program's side file."""


class Slot(StrEnum):
    """A place in a start order that stands for no page of its own."""

    ROUTED = "@routed"
    """What the message routes to: at most `Table.routed_pages` pages."""
    TODAY = "@today"
    YESTERDAY = "@yesterday"
    """The journal of that day, in the scope's zone."""


Place: TypeAlias = PageId | Slot
"""What a start order holds."""


class IndexForm(StrEnum):
    """How a layout's index is laid out; front matter, hard rules and markers are the same in all."""

    ROUTES = "routes"
    """Routing table, then the catalogue (apm, adaptive)."""
    FILES = "files"
    """Hot Files, On-Demand Files with search hints, Daily Journals, Conflicts (dreaming)."""


_STARRED = {Form.JOURNAL: _DAY, Form.ARCHIVE: _MONTH}
"""What a star may stand for, where it is no name."""


@dataclass(frozen=True, slots=True)
class PageRule:
    """One row of a table: page id (maybe with a star), file, form, and what routing and budgets need.

    `triggers` are the words of the routing row that a new index gets for this page; `hint` is the catalogue's search
    hint. `priority` None: the page is never routed to.
    """

    page: PageId
    file: str
    form: Form
    priority: Priority | None = None
    budget_lines: int | None = None
    triggers: tuple[str, ...] = ()
    hint: str = ""
    lexicon: str = ""
    """Which built-in word list (English, Chinese, Japanese, German) supports routing to this page."""
    shared: bool = False
    """The file stands at the workspace root for every scope (SOUL.md)."""
    sections: tuple[str, ...] = ()
    """The headings of a page whose form has sections, in their order."""

    def name_in(self, page: PageId) -> str | None:
        """What the star stands for in `page` ('' for a rule without a star); None if the rule does not fit."""
        if not self.page.endswith("*"):
            return "" if page == self.page else None
        prefix = self.page[:-1]
        if not page.startswith(prefix):
            return None
        name = page[len(prefix) :]
        return name if _STARRED.get(self.form, NAME_PATTERN).fullmatch(name) else None


@dataclass(frozen=True, slots=True)
class Table:
    """The pages of one kind of scope, first rule first.

    `start`: what a conversation begins with, in the order in which it is shown (`state/tasks` stands for the list of
    open tasks). `room`: the same places in the order in which the budget is given to them, most missed first; empty:
    the order of `start`. `keeps`: the page for which those before it in that order leave what it needs, as far as
    half of the budget. A page in `start` is open in every conversation, whatever the index says.

    `routed_pages`: to how many pages one message may route; a session may open twice as many.
    `kinds`: the page that a flush writes a kind to; a kind that is not in it stands in the journal (and tasks in
    pending_tasks.json). `promoted`: where deep sleep takes such a kind from the journal to. `section_of`: under which
    heading a kind stands on a page with sections. `not_kept`: kinds that this scope keeps nowhere.
    """

    rules: tuple[PageRule, ...]
    kinds: Mapping[Kind, PageId]
    start: tuple[Place, ...]
    default_budget_tokens: int
    routed_pages: int = 1
    room: tuple[Place, ...] = ()
    keeps: PageId = INDEX
    promoted: Mapping[Kind, PageId] = field(default_factory=dict)
    section_of: Mapping[Kind, str] = field(default_factory=dict)
    not_kept: frozenset[Kind] = frozenset()

    def __hash__(self) -> int:
        # Mappings have no hash; what is remembered by a table asks for it with every message, and tables are few.
        return hash((self.start, self.default_budget_tokens))

    def rule(self, page: PageId) -> PageRule:
        """The rule that lists `page`. Raises UnknownPage: the table is the allow list."""
        for rule in self.rules:
            if rule.name_in(page) is not None:
                return rule
        raise UnknownPage(f"{page[:80]!r} is no page of this memory; `/remem show` lists them.")

    def home_of(self, kind: Kind) -> PageId | None:
        """Where what lasts of a kind stands at last: by the flush, else by deep sleep; None: in the journal only."""
        return self.kinds.get(kind) or self.promoted.get(kind)

    @property
    def in_need(self) -> tuple[Place, ...]:
        """The places of `start` in the order in which they are given room."""
        return self.room or self.start

    @property
    def persona(self) -> PageId | None:
        """The page that every scope may read (SOUL.md); None in a layout without one."""
        return next((rule.page for rule in self.rules if rule.shared), None)

    @property
    def session_pages(self) -> int:
        """How many pages of P0 to P2 one session may open."""
        return 2 * self.routed_pages

    def routed(self) -> tuple[PageRule, ...]:
        """The rules that a message may be routed to, best priority first."""
        rules = [rule for rule in self.rules if rule.priority is not None]
        return tuple(sorted(rules, key=lambda rule: rule.priority or 0))


@dataclass(frozen=True, slots=True)
class Layout:
    """A memory system: one table for groups, one for DMs."""

    name: str
    group: Table
    direct: Table
    index_form: IndexForm = IndexForm.ROUTES

    def table(self, scope: Scope) -> Table:
        """The table of the scope's kind."""
        return self.group if isinstance(scope, GroupScope) else self.direct

    def file(self, scope: Scope, page: PageId) -> PurePosixPath:
        """The page's file relative to the workspace root. Raises UnknownPage."""
        rule = self.table(scope).rule(page)
        return self.place(scope, rule, rule.name_in(page) or "")

    def place(self, scope: Scope, rule: PageRule, name: str) -> PurePosixPath:
        """Where `rule` puts its file, relative to the workspace root, with `name` for its star."""
        return PurePosixPath(self.path(scope, rule, name))

    def path(self, scope: Scope, rule: PageRule, name: str) -> str:
        """The same as a text: for whoever looks at all rules, in a fifth of the time."""
        match scope:
            case _ if rule.shared:
                return rule.file
            case GroupScope(group):
                return rule.file.format(group=group, name=name)
            case DirectScope(owner=True):
                return rule.file.format(name=name)
            case DirectScope(person):
                return f"people/{person.folder}/{rule.file.format(name=name)}"


def journal_page(day: str) -> PageId:
    """The journal of `day` (`YYYY-MM-DD`)."""
    return PageId(f"journal/{day}")


def backup_page(name: str) -> PageId:
    """Where a broken side file is copied to before it is written anew."""
    return PageId(f"backup/{name}")


def side_files(base: str, journal: str, archive: str) -> tuple[PageRule, ...]:
    """The side files, which every layout has in every scope."""
    return (
        PageRule(PageId("journal/*"), f"{journal}/{{name}}.md", Form.JOURNAL, budget_lines=100),
        PageRule(PageId("archive/*"), f"{archive}/{{name}}.md", Form.ARCHIVE),
        PageRule(FLUSH_STATE, f"{base}/flush-state.json", Form.STATE),
        PageRule(TASKS, f"{base}/pending_tasks.json", Form.STATE),
        PageRule(HEARTBEAT, f"{base}/heartbeat-state.json", Form.STATE),
        PageRule(PageId("backup/*"), f"{base}/{{name}}.broken", Form.STATE),
    )


SOUL = PageRule(PageId("soul"), "SOUL.md", Form.PROSE, shared=True)
"""The persona: one file, readable in every scope."""
