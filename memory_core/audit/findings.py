"""What an audit says: findings, each with its code, its place and the next step. Values alone.

    ok        worth knowing, nothing to do
    watch     on its way to trouble, or said once so that nobody wonders
    warning   somebody should act: the exit code becomes 1
    error     something is broken, or must not stand there at all

A message is plain words: what is wrong, and where it belongs or what to do. It never holds a secret, nor a text of
another scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters, mildest first."""

    OK = "ok"
    WATCH = "watch"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for the mildest, 3 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `page` and `file` (relative to the workspace) say where, '' for none; lines count from 1, 0: none.

    `fixable`: `--fix` can do it without touching what a person wrote. Raises ValueError for a code not in CODES.
    """

    code: str
    message: str
    page: str = ""
    file: str = ""
    line: int = 0
    last_line: int = 0
    severity: Severity = Severity.WARNING
    fixable: bool = False

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is no code of the audit; add it to CODES and to the reference.")

    @property
    def place(self) -> str:
        """`MEMORY.md:12-14`, for people."""
        lines = str(self.line) if self.last_line <= self.line else f"{self.line}-{self.last_line}"
        return f"{self.file or self.page}:{lines}" if self.line else self.file or self.page


def worst(findings: Iterable[Finding]) -> Severity:
    """The severity of the worst of them; OK for none."""
    return max((finding.severity for finding in findings), key=lambda severity: severity.rank, default=Severity.OK)


CODES: Mapping[str, str] = {
    "memory-lean": "MEMORY.md has at most 30 lines",
    "memory-watch": "MEMORY.md has 31 to 50 lines",
    "memory-bloated": "MEMORY.md has 51 to 80 lines, or more than its budget where it is curated",
    "memory-too-long": "MEMORY.md has more than 80 lines",
    "memory-progress": "how far some work is: status, next steps, to-dos",
    "memory-event": "what happened on a day",
    "memory-decision": "a decision or a lesson",
    "memory-tools": "a list of installed programs",
    "memory-group": "names, ids or members of groups",
    "memory-temporary": "a makeshift that will not last",
    "memory-result": "results and measurements",
    "memory-detail": "details of one project",
    "memory-dead-pointer": "a pointer to a page that is not there",
    "memory-dump": "a section of a curated MEMORY.md that is not curated: too many entries, or pasted text",
    "memory-date-only": "an entry or heading of a curated MEMORY.md that is sorted by date, or says nothing but one",
    "memory-duplicate": "two entries of a curated MEMORY.md that say the same",
    "page-over-budget": "a page with more lines than its budget",
    "page-damaged": "bytes that are not UTF-8",
    "page-unreadable": "a file that cannot be read",
    "page-free-text": "a page of records without one record",
    "page-unlisted": "files under memory/ that no page of the layout is",
    "record-unread": "part of a record that was not understood",
    "journal-over-budget": "a day's note of more than 100 lines",
    "journal-archive-due": "journals older than 14 days that are not in the archive",
    "index-missing": "a memory without an index",
    "index-unread": "a part of an index that was not understood",
    "index-dead-row": "a routing row to a page that is not there",
    "index-missing-row": "a page that no routing row leads to",
    "index-unreached": "a convention that no page names",
    "index-catalogue-stale": "a catalogue that differs from the pages",
    "context-stale": "open tasks or blockers that nobody has touched for three days",
    "task-overdue": "an open task whose day is past",
    "tasks-done-left": "tasks that were done more than 7 days ago",
    "distillation-overdue": "journals that sleep has not gone through in time",
    "side-file-broken": "a side file that is no JSON of its kind",
    "names-damaged": "group_names.json cannot be used",
    "secret": "a secret in plain text",
}
"""Every code with what it stands for; docs/reference/audit.md lists them too (tested)."""
