"""The catalogue of an index in the FILES form: hot files, others, days, conflicts. Pure.

    > Last rebuilt: 2026-04-07 | Total files: 5 | Budget: 850 lines

    ## Hot Files            File | Lines | Last Updated | Recent Entries
    ## On-Demand Files      File | Lines | Last Updated | Search Hint
    ## Daily Journals       Date | Exists | Key Events, the last seven days
    ## Conflicts            one line for each pair of records that contradict each other

It stands between the same two markers as every catalogue, is derived, and leads nowhere: routes are authored rows
(index_routes). Hot is a file that was touched within the last HOT_DAYS days (written, or a record of it used); at
most HOT_FILES of them, the one touched last first. All others are on demand, in the layout's order.

The whole index keeps to a number of lines. What is least missed goes first: conflicts (how many more there are is
said), then days without a journal, then the rows of on-demand files from the last one on; never what is authored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from memory_core.ids import PageId
from memory_core.index_edit import CATALOGUE_ROWS, CatalogueRow, cell_text, rule_text, with_block
from memory_core.index_lines import CATALOGUE_END, CATALOGUE_START, Part, outline

HOT_DAYS = 3
HOT_FILES = 3
DAYS = 7
EXISTS, MISSING = "✅", "–"
_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two records that contradict each other, by their labels, and the page of the first."""

    one: str
    other: str
    page: PageId


@dataclass(frozen=True, slots=True)
class Files:
    """What the catalogue says. `journals`: per day (ISO) that has one, its key events; `today` in the scope's zone.

    `rows` are in the layout's order; `budget_lines` is what all of them may have together.
    """

    rows: Sequence[CatalogueRow]
    journals: Sequence[tuple[str, str]]
    conflicts: Sequence[Conflict]
    today: date
    budget_lines: int = 0


def with_files(text: str, files: Files, limit_lines: int | None = None) -> str:
    """`text` with its catalogue rebuilt in this form, the whole in at most `limit_lines` as far as that can be."""
    authored = sum(line.part is not Part.CATALOGUE for line in outline(text))
    room = None if limit_lines is None else limit_lines - authored
    return with_block(text, _block(files, room))


def hot(rows: Sequence[CatalogueRow], today: date) -> tuple[CatalogueRow, ...]:
    """The rows of hot files, the one touched last first."""
    touched = [row for row in rows if (today - row.changed).days <= HOT_DAYS]
    return tuple(sorted(touched, key=lambda row: row.changed, reverse=True)[:HOT_FILES])


def _block(files: Files, room: int | None) -> list[str]:
    """The lines from marker to marker, cut to `room` where that is possible."""
    journals = dict(files.journals)
    days = [(files.today - timedelta(days=back)).isoformat() for back in range(DAYS)]
    warm = hot(files.rows, files.today)
    cold = [row for row in files.rows if row not in warm][:CATALOGUE_ROWS]
    conflicts = len(files.conflicts)
    while True:
        lines = _lines(files, warm, cold, [(day, journals.get(day)) for day in days], conflicts)
        if room is None or len(lines) <= room:
            return lines
        empty = [day for day in days if day not in journals]
        if conflicts > 1:
            conflicts = max(1, conflicts - (len(lines) - room))
        elif empty:
            days.remove(empty[-1])
        elif cold:
            cold.pop()
        else:
            return lines


def _lines(
    files: Files,
    warm: Sequence[CatalogueRow],
    cold: Sequence[CatalogueRow],
    days: Sequence[tuple[str, str | None]],
    conflicts: int,
) -> list[str]:
    total = f"Total files: {len(files.rows)}"
    budget = f" | Budget: {files.budget_lines} lines" if files.budget_lines else ""
    block = [CATALOGUE_START, f"> Last rebuilt: {files.today.isoformat()} | {total}{budget}"]
    if warm:
        block += _head("Hot Files", "File | Lines | Last Updated | Recent Entries")
        block += [_row(row, ", ".join(cell_text(title, _TITLE_CHARACTERS) for title in row.titles)) for row in warm]
    if cold:
        block += _head("On-Demand Files", "File | Lines | Last Updated | Search Hint")
        block += [_row(row, cell_text(row.hint)) for row in cold]
    if days:
        block += _head("Daily Journals", "Date | Exists | Key Events")
        block += [
            f"| {day} | {MISSING if what is None else EXISTS} | {cell_text(what or '')} |" for day, what in days
        ]
    if files.conflicts:
        block += ["", "## Conflicts", ""]
        block += [_conflict(one) for one in files.conflicts[:conflicts]]
        more = len(files.conflicts) - conflicts
        block += [f"- … and {more} more, marked on their pages"] if more > 0 else []
    return [*block, CATALOGUE_END]


def _head(title: str, columns: str) -> list[str]:
    return ["", f"## {title}", "", f"| {columns} |", f"|{'---|' * (columns.count('|') + 1)}"]


def _row(row: CatalogueRow, last: str) -> str:
    return f"| {cell_text(row.page)}.md | {row.lines} | {row.changed.isoformat()} | {last} |"


def _conflict(one: Conflict) -> str:
    return f"- {rule_text(one.one, 120)} ↔ {cell_text(one.other, 120)} ({cell_text(one.page)}.md)"
