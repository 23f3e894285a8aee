"""MEMORY.md: rated and held to its discipline where a person writes it; looked through for dumps where sleep does.

Which of the two holds is the table's business: a page `memory` of form PROSE is lean (lean.py), one of form SECTIONS
is curated (curated.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memory_core.audit.cues import Theme
from memory_core.audit.curated import curated_findings
from memory_core.audit.findings import Finding, Severity
from memory_core.audit.lean import BLOATED_LINES, LEAN_LINES, POINTER, WATCH_LINES, told
from memory_core.audit.lines import LONGEST_CHARACTERS
from memory_core.audit.snapshot import Snapshot
from memory_core.errors import UnknownPage
from memory_core.ids import PageId
from memory_core.index import page_named
from memory_core.index_lines import paths_in
from memory_core.layouts import Form, Kind
from memory_core.store.base import PageText
from memory_core.text import counted

MEMORY = PageId("memory")


def memory_findings(seen: Snapshot) -> Iterator[Finding]:
    """What is to say about this scope's MEMORY.md, if it has one."""
    standing = seen.pages.get(MEMORY)
    if standing is None:
        return
    rule = seen.table.rule(MEMORY)
    if rule.form is Form.SECTIONS:
        yield from curated_findings(seen, rule, standing.text)
    else:
        yield _rating(seen, len(standing.text.splitlines()))
        yield from _forbidden(seen, standing)
        yield from _dead_pointers(seen, standing.text)


def _rating(seen: Snapshot, lines: int) -> Finding:
    if lines <= LEAN_LINES:
        return seen.finding("memory-lean", f"{counted(lines, 'line')}: lean.", MEMORY, severity=Severity.OK)
    if lines <= WATCH_LINES:
        what = f"{lines} lines of {WATCH_LINES}: it still fits; let nothing in that has a page of its own."
        return seen.finding("memory-watch", what, MEMORY, severity=Severity.WATCH)
    what = f"{lines} lines, the limit is {WATCH_LINES}: move what the findings on this page name to where they say"
    if lines <= BLOATED_LINES:
        return seen.finding("memory-bloated", f"{what}.", MEMORY)
    return seen.finding(
        "memory-too-long", f"{what}; all of it is loaded at every start.", MEMORY, severity=Severity.ERROR
    )


def _forbidden(seen: Snapshot, standing: PageText) -> Iterator[Finding]:
    for one in told(standing.text):
        message = _MESSAGES[one.theme](seen)
        yield seen.finding(f"memory-{one.theme.value}", message, MEMORY, (one.line, one.last_line))


def _project(seen: Snapshot) -> str:
    return seen.home(Kind.ARCHITECTURE, "a page of its own")


def _journal(seen: Snapshot) -> str:
    return str(seen.pattern(PageId("journal/*"))).replace("{name}", "YYYY-MM-DD")


_MESSAGES: Mapping[Theme, Callable[[Snapshot], str]] = {
    Theme.PROGRESS: lambda seen: (
        f"How far some work is changes too often for this page: move it to {seen.home(Kind.STATUS, _project(seen))} "
        f"(a project's own progress: {_project(seen)})."
    ),
    Theme.EVENT: lambda seen: f"What happened on a day belongs into that day's note: {_journal(seen)}.",
    Theme.DECISION: lambda seen: (
        f"Decisions belong into {seen.home(Kind.DECISION, _journal(seen))}, "
        f"lessons into {seen.home(Kind.LESSON, _journal(seen))}."
    ),
    Theme.TOOLS: lambda seen: (
        f"Which programs there are, the machine itself tells (`command -v`): drop the list; what it cannot "
        f"tell belongs into {seen.home(Kind.TOOL, _journal(seen))}."
    ),
    Theme.GROUP: lambda seen: (
        "Groups keep their own memory, and this page must not name them: leave one pointer, memory/groups/."
    ),
    Theme.TEMPORARY: lambda seen: f"A makeshift is gone in a month: note it in the day's journal, {_journal(seen)}.",
    Theme.RESULT: lambda seen: f"Results and measurements belong to their project: {_project(seen)}.",
    Theme.DETAIL: lambda seen: (
        f"Details of a project belong into {_project(seen)}; leave one line and the page's name here."
    ),
}


def _dead_pointers(seen: Snapshot, text: str) -> Iterator[Finding]:
    """Pointers to pages with names of their own (`projects/harbour.md`) that are not there."""
    told_of: set[PageId] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        for found in POINTER.findall(line[:LONGEST_CHARACTERS]):
            page = next(
                (page_named(path, seen.table) for path in paths_in(found) if not set("{}<>*") & set(path)), None
            )
            if (
                page is None
                or page in seen.pages
                or page in seen.unread
                or page in told_of
                or not _starred(seen, page)
            ):
                continue
            told_of.add(page)
            what = f"{seen.file(page)} is not there: write the page, or drop the pointer."
            yield seen.finding("memory-dead-pointer", what, MEMORY, (number, number))


def _starred(seen: Snapshot, page: PageId) -> bool:
    """Does a person choose the page's name? (A journal's or archive's is a day, and comes by itself.)"""
    try:
        rule = seen.table.rule(page)
    except UnknownPage:
        return False
    return rule.page.endswith("*") and rule.form not in (Form.JOURNAL, Form.ARCHIVE, Form.STATE)
