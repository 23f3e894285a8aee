"""Layouts: which pages a scope has. A memory system is a table, not code.

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
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import PurePosixPath

from memory_core.errors import BadInput, UnknownPage
from memory_core.ids import DirectScope, GroupScope, PageId, Scope

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
    PROSE = "prose"
    """A person's own page: read, never written by the bot."""
    JOURNAL = "journal"
    ARCHIVE = "archive"
    STATE = "state"
    """JSON, the program's side file."""


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

    def name_in(self, page: PageId) -> str | None:
        """What the star stands for in `page` ('' for a rule without a star); None if the rule does not fit."""
        if not self.page.endswith("*"):
            return "" if page == self.page else None
        prefix = self.page[:-1]
        name = page[len(prefix) :]
        pattern = {Form.JOURNAL: _DAY, Form.ARCHIVE: _MONTH}.get(self.form, NAME_PATTERN)
        return name if page.startswith(prefix) and pattern.fullmatch(name) else None


@dataclass(frozen=True, slots=True)
class Table:
    """The pages of one kind of scope, first rule first. `start` is the order in which a conversation is started."""

    rules: tuple[PageRule, ...]
    kinds: Mapping[Kind, PageId]
    start: tuple[PageId, ...]
    default_budget_tokens: int
    routed_pages: int = 1

    def rule(self, page: PageId) -> PageRule:
        """The rule that lists `page`. Raises UnknownPage: the table is the allow list."""
        for rule in self.rules:
            if rule.name_in(page) is not None:
                return rule
        raise UnknownPage(f"{page[:80]!r} is no page of this memory; `/remem show` lists them.")

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

    def table(self, scope: Scope) -> Table:
        """The table of the scope's kind."""
        return self.group if isinstance(scope, GroupScope) else self.direct

    def file(self, scope: Scope, page: PageId) -> PurePosixPath:
        """The page's file relative to the workspace root. Raises UnknownPage."""
        rule = self.table(scope).rule(page)
        return self.place(scope, rule, rule.name_in(page) or "")

    def place(self, scope: Scope, rule: PageRule, name: str) -> PurePosixPath:
        """Where `rule` puts its file, relative to the workspace root, with `name` for its star."""
        match scope:
            case _ if rule.shared:
                return PurePosixPath(rule.file)
            case GroupScope(group):
                return PurePosixPath(rule.file.format(group=group, name=name))
            case DirectScope(owner=True):
                return PurePosixPath(rule.file.format(name=name))
            case DirectScope(person):
                return PurePosixPath("people", person.folder, rule.file.format(name=name))


INDEX = PageId("index")
FLUSH_STATE = PageId("state/flush")
TASKS = PageId("state/tasks")
HEARTBEAT = PageId("state/heartbeat")


def journal_page(day: str) -> PageId:
    """The journal of `day` (`YYYY-MM-DD`)."""
    return PageId(f"journal/{day}")


def backup_page(name: str) -> PageId:
    """Where a broken side file is copied to before it is written anew."""
    return PageId(f"backup/{name}")


def _side_files(base: str, journal: str, archive: str) -> tuple[PageRule, ...]:
    """The side files, which every layout has in every scope."""
    return (
        PageRule(PageId("journal/*"), f"{journal}/{{name}}.md", Form.JOURNAL, budget_lines=100),
        PageRule(PageId("archive/*"), f"{archive}/{{name}}.md", Form.ARCHIVE),
        PageRule(FLUSH_STATE, f"{base}/flush-state.json", Form.STATE),
        PageRule(TASKS, f"{base}/pending_tasks.json", Form.STATE),
        PageRule(HEARTBEAT, f"{base}/heartbeat-state.json", Form.STATE),
        PageRule(PageId("backup/*"), f"{base}/{{name}}.broken", Form.STATE),
    )


_SOUL = PageRule(PageId("soul"), "SOUL.md", Form.PROSE, shared=True)

_APM_GROUP = Table(
    rules=(
        _SOUL,
        PageRule(INDEX, "memory/groups/{group}.md", Form.INDEX),
        PageRule(
            PageId("attention"), "memory/groups/{group}/attention.md", Form.ATTENTION, Priority.P0, 60,
            triggers=("tasks", "status", "blocked", "in progress", "today", "next", "todo", "deadline"),
            hint="active tasks, blockers, environment", lexicon="attention",
        ),
        PageRule(
            PageId("project"), "memory/groups/{group}/project.md", Form.ADDED, Priority.P1, 150,
            triggers=("tech stack", "architecture", "agreement", "deploy", "repository", "how we work"),
            hint="stack, architecture, agreements", lexicon="project",
        ),
        PageRule(
            PageId("experience"), "memory/groups/{group}/experience.md", Form.NEWEST_FIRST, Priority.P2, 200,
            triggers=("decision", "decided", "why", "lesson", "bug", "root cause", "workaround"),
            hint="decisions with reasons, lessons learned", lexicon="experience",
        ),
        PageRule(
            PageId("people"), "memory/groups/{group}/people.md", Form.ADDED, Priority.P3, 100,
            triggers=("who", "owner", "contact", "responsible", "role"),
            hint="roles, contacts, preferences", lexicon="people",
        ),
        PageRule(
            PageId("conventions/*"), "memory/groups/{group}/conventions/{name}.md", Form.ADDED, budget_lines=150),
        *_side_files("memory/groups/{group}", "memory/groups/{group}/journal", "memory/groups/{group}/archive"),
    ),
    kinds={
        Kind.DECISION: PageId("experience"),
        Kind.LESSON: PageId("experience"),
        Kind.TASK: PageId("attention"),
        Kind.STATUS: PageId("attention"),
        Kind.BLOCKER: PageId("attention"),
        Kind.AGREEMENT: PageId("project"),
        Kind.STACK: PageId("project"),
        Kind.ARCHITECTURE: PageId("project"),
        Kind.ROLE: PageId("people"),
        Kind.PREFERENCE: PageId("people"),
        Kind.CONTACT: PageId("people"),
        Kind.ENVIRONMENT: PageId("attention"),
        Kind.TOOL: PageId("conventions/tools"),
    },
    start=(INDEX,),
    default_budget_tokens=6000,
)  # fmt: skip

_APM_DIRECT = Table(
    rules=(
        _SOUL,
        PageRule(PageId("user"), "USER.md", Form.ADDED),
        PageRule(PageId("memory"), "MEMORY.md", Form.PROSE, budget_lines=50),
        PageRule(INDEX, "memory/main/index.md", Form.INDEX),
        PageRule(
            PageId("attention"), "memory/main/attention.md", Form.ATTENTION, Priority.P0, 60,
            triggers=("tasks", "status", "blocked", "in progress", "today", "next", "todo", "deadline"),
            hint="active tasks, blockers, environment", lexicon="attention",
        ),
        PageRule(
            PageId("longterm"), "memory/main/longterm.md", Form.NEWEST_FIRST, Priority.P1, 200,
            triggers=("decision", "decided", "why", "lesson", "background", "remember"),
            hint="decisions, lessons, lasting facts", lexicon="experience",
        ),
        PageRule(
            PageId("daily-synced"), "memory/main/daily-synced.md", Form.DAILY_LINES, Priority.P2, 100,
            triggers=("yesterday", "last week", "recently", "what happened", "which day"),
            hint="one line a day", lexicon="daily",
        ),
        PageRule(
            PageId("projects/*"), "memory/main/projects/{name}.md", Form.ADDED, Priority.P3, 150,
            hint="one project's context", lexicon="project",
        ),
        *_side_files("memory", "memory", "memory/archive"),
    ),
    kinds={
        Kind.DECISION: PageId("longterm"),
        Kind.LESSON: PageId("longterm"),
        Kind.TASK: PageId("attention"),
        Kind.STATUS: PageId("attention"),
        Kind.BLOCKER: PageId("attention"),
        Kind.AGREEMENT: PageId("projects/*"),
        Kind.STACK: PageId("projects/*"),
        Kind.ARCHITECTURE: PageId("projects/*"),
        Kind.ROLE: PageId("user"),
        Kind.PREFERENCE: PageId("user"),
        Kind.CONTACT: PageId("user"),
        Kind.ENVIRONMENT: PageId("attention"),
        Kind.TOOL: PageId("longterm"),
    },
    start=(PageId("soul"), PageId("user"), PageId("memory"), INDEX, PageId("attention")),
    default_budget_tokens=8000,
)  # fmt: skip

APM = Layout("apm", _APM_GROUP, _APM_DIRECT)

LAYOUTS: Mapping[str, Layout] = {APM.name: APM}


def layout_named(name: str) -> Layout:
    """The layout of that name. Raises BadInput that lists the names there are."""
    if name not in LAYOUTS:
        raise BadInput(f"REMEM_LAYOUT is {name[:40]!r}; it must be one of: {', '.join(LAYOUTS)}.")
    return LAYOUTS[name]
