"""What the tests of migrations share: a rich memory in each layout, and what to count in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

from memory_core.candidates import Value
from memory_core.forms.records import Record, Source, insert, on_page, render
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import DirectScope, GroupScope, MessageKey, PageId, PersonKey, Scope
from memory_core.index import Route, new_index, with_route, with_rule
from memory_core.layouts import ADAPTIVE, APM, DREAMING, INDEX, TASKS, Form, Kind, Layout, Priority
from memory_core.migration.homes import home_of
from memory_core.migration.pieces import is_record
from memory_core.migration.scope import After, Before, migrated
from memory_core.templates import new_page

NOW = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
BUILD = GroupScope("build")
OWNER = DirectScope(PersonKey("console:me"), owner=True)
LAYOUTS = (APM, ADAPTIVE, DREAMING)
DIRECTIONS = [(one, other) for one in LAYOUTS for other in LAYOUTS if one is not other]
SCOPES = (BUILD, OWNER)
HAND = "We meet every Tuesday.\n\n## Rituals\n\n- stand-up at nine\n\n| a | b |\n|---|---|\n| 1 | 2 |"
TASKS_TEXT = """{"lastUpdated": "", "tasks": [
  {"id": "t-1", "title": "prepare the release", "status": "in_progress", "due": "2026-09-10", "note": "",
   "source": "@ana (slack:T1:U2) in #build, 2026-08-30 09:00, slack:T1:C9:30"},
  {"id": "t-2", "title": "sweep the floor", "status": "done", "completedAt": "2026-08-31T09:00:00+00:00"}]}
"""
ATTENTION = """# Attention

## Active Tasks

| Task | Status | Who | Notes |
|---|---|---|---|
| prepare the release | in_progress | ana | due 2026-09-10 |
| a task of the page alone | pending | bo | ask cy first |

## Blockers

- the staging certificate has expired (@bo, 2026-08-30) <!-- slack:T1:C9:31 -->

## Environment Snapshot

- staging db: 10.0.0.9 (@ana, 2026-08-30) <!-- slack:T1:C9:32 -->
- last flush: 2026-08-30 14:30 (+00:00)
"""
ACTIVE = """# Active Context

## In Progress
- **prepare the release**: @ana, due 2026-09-10 <!-- slack:T1:C9:30 -->
- **a task of the page alone**: pending, @bo, ask cy first

## Blocked / Waiting
- the staging certificate has expired (@bo, 2026-08-30) <!-- slack:T1:C9:31 -->

## Recently Completed
"""
CHANNEL = """# build

## Current Topics
- the database moves to Postgres 17 (@ana, 2026-08-30) <!-- slack:T1:C9:33 -->

## Recent Decisions

## Unresolved
- **prepare the release**: in_progress, @ana, due 2026-09-10 <!-- slack:T1:C9:30 -->
- **a task of the page alone**: @bo, ask cy first
- the staging certificate has expired (@bo, 2026-08-30) <!-- slack:T1:C9:31 -->
"""
JOURNAL = (
    "# 2026-08-30 (+00:00)\n\n## 14:30 Notes\n\n### Decisions\n- Redis (@ana, 14:02) <!-- slack:T1:U2; x:y:1 -->\n"
)
_BOARDS = {Form.ATTENTION: ATTENTION, Form.ACTIVE: ACTIVE, Form.CHANNEL: CHANNEL}

SAID = {
    Kind.DECISION: "we decided to keep sessions in Redis, because they must survive a restart",
    Kind.LESSON: "the root cause of the failed builds was a small disk; we fixed it by adding a bigger volume",
    Kind.AGREEMENT: "we agreed that every change is reviewed by two people",
    Kind.STACK: "our stack is Python with Postgres",
    Kind.ARCHITECTURE: "the architecture is one process per room",
    Kind.ROLE: "ana is responsible for releases",
    Kind.PREFERENCE: "bo prefers short answers",
    Kind.CONTACT: "cy can be reached at the front desk",
    Kind.ENVIRONMENT: "the staging database is at 10.0.0.9",
    Kind.TOOL: "we deploy with fabric",
}


def record(kind: Kind, number: int = 0, **more: object) -> Record:
    """A record of that kind, with every field a record may have."""
    source = Source("slack:T1:U2", "ana", "#build", "2026-08-20 14:02", (MessageKey(f"slack:T1:C9:{kind}.{number}"),))
    made = Record(
        date(2026, 8, 1 + number % 28),
        f"{SAID[kind][:40]} ({number})",
        f"{SAID[kind]} ({number})",
        tags=("one", "two"),
        last_referenced=date(2026, 8, 25),
        hit_count=number % 7,
        value=list(Value)[number % 3],
        sources=(source,),
        proven=number % 5 == 4,
        supersedes=("[2026-01-09] the old way: no persistence",) if number % 4 == 1 else (),
        conflicts=("[2026-03-02] no new services",) if number % 6 == 5 else (),
        extra=("- Context: a person's own line",) if number % 3 == 1 else (),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def index(layout: Layout, scope: Scope) -> str:
    """An index that a person worked on."""
    table = layout.table(scope)
    text = new_index(
        table,
        name="Build it" if isinstance(scope, GroupScope) else "main",
        rooms=["slack:T1:C9"] if isinstance(scope, GroupScope) else [],
        purpose="We build things",
        created=date(2026, 4, 6),
        zone="Asia/Shanghai",
        form=layout.index_form,
    )
    text = with_rule(text.replace("memory_budget: ", "colour: blue\nmemory_budget: "), "Never deploy on Fridays")
    home = home_of(table, Kind.DECISION)
    page = home.page if home else INDEX
    text = with_route(text, Route("sessions, cookies", page, Priority.P1))
    return text.replace("## Routing Index", "Ask ana before you change this.\n\n## Routing Index")


def pages(layout: Layout, scope: Scope, more: Mapping[PageId, Iterable[Record]] | None = None) -> dict[PageId, str]:
    """A memory in that layout: three records of every kind that has a page, boards, tasks, a person's text."""
    table = layout.table(scope)
    found: dict[PageId, str] = {
        INDEX: index(layout, scope),
        TASKS: TASKS_TEXT,
        PageId("journal/2026-08-30"): JOURNAL,
        PageId("archive/2026-05"): f"# Archive 2026-05\n\n{archived(layout, scope)}",
    }
    for rule in table.rules:
        if rule.form in _BOARDS:
            found[rule.page] = _BOARDS[rule.form]
        elif rule.form is Form.DAILY_LINES:
            found[rule.page] = (
                "# Daily\n\n- 2026-08-30: Redis <!-- slack:T1:C9:30 -->; release\n- 2026-07-02: Disks\n"
            )
        elif rule.page == "memory" and rule.form is Form.PROSE:
            found[rule.page] = "# My memory\n\nI am Ana's helper.\n\n## Projects\n\n| alpha | projects/alpha.md |\n"
    for number, kind in enumerate(SAID):
        home = home_of(table, kind)
        if home is None:
            continue
        for one in range(3):
            _put(found, layout, scope, home.page, home.section, record(kind, number * 3 + one))
    for page, records in (more or {}).items():
        for made in records:
            _put(found, layout, scope, page, "", made)
    return found


def archived(layout: Layout, scope: Scope) -> str:
    """A record that left its page in May."""
    home = home_of(layout.table(scope), Kind.DECISION)
    page = home.page if home else ""
    section = f", section={home.section}" if home and home.section else ""
    return render(record(Kind.DECISION, 99, archived=f"2026-05-20, score=41, page={page}{section}"))


def _put(found: dict[PageId, str], layout: Layout, scope: Scope, page: PageId, section: str, made: Record) -> None:
    table = layout.table(scope)
    text = found.get(page) or new_page(table, page, "build") or ""
    found[page] = insert(text, made, table.rule(page).form, section=section)


def move(
    old: Layout, new: Layout, scope: Scope, texts: Mapping[PageId, str], standing: Mapping[PageId, str] | None = None
) -> After:
    """The memory in the other layout."""
    return migrated(Before(scope, old, new, texts, standing or {}, NOW, "Build it"))


def records_in(layout: Layout, scope: Scope, texts: Mapping[PageId, str]) -> list[tuple[PageId, Record]]:
    """Every record of a memory, with the page that it stands on."""
    table = layout.table(scope)
    forms = WITH_RECORDS | {Form.ARCHIVE}
    return [
        (page, placed.record)
        for page, text in texts.items()
        if table.rule(page).form in forms
        for placed in on_page(text, table.rule(page).form)
        if is_record(placed.record)
    ]


def bare(one: Record) -> Record:
    """The record without what a migration may change: the tag of a page, and when it was archived."""
    return replace(one, archived="", tags=tuple(tag for tag in one.tags if "/" not in tag))
