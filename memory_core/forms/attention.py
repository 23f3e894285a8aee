"""attention.md: what is being done, what blocks it, what the setting is. Merged by code, a line at a time.

    ## Active Tasks

    | Task | Status | Who | Notes |
    |---|---|---|---|
    | Prepare the release | in_progress | ana | due 2026-04-12 |

    ## Blockers

    - The staging certificate has expired (@bo, 2026-04-06)

    ## Environment Snapshot

    - staging db: 10.0.0.9
    - last flush: 2026-04-06 14:30 (+08:00)

A section is known by its heading, wherever it stands; one that is missing is added at the end. In a section we touch
only the row or line that is ours to change: a task is known by its title, a snapshot line by its key. A blocker and a
fact end with the mark of the messages that they came from (memory_core.forms.marks). Further columns
of the table, other lines and other sections stay byte for byte. A task that was done stays for the rest of its day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memory_core.forms import listed
from memory_core.forms.blocks import Line, newline_of
from memory_core.forms.escape import escape_comment, unescape_comment
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat

TASKS = "Active Tasks"
BLOCKERS = "Blockers"
SNAPSHOT = "Environment Snapshot"

_HEADER = ("| Task | Status | Who | Notes |", "|---|---|---|---|")
_COLUMNS = ("task", "status", "who", "notes")
_RULE_ROW = re.compile(r"\|?[ \t]*:?-{1,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_PIPE = re.compile(r"(\\*)\|")
_ESCAPED_PIPE = re.compile(r"(\\+)\|")
_DONE = re.compile(r"\bdone (\d{4}-\d\d-\d\d)\b")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task of such a page, as plain text on one line each."""

    task: str
    status: str = "pending"
    who: str = ""
    notes: str = ""

    @property
    def key(self) -> str:
        """What the row is known by: its title, case and width apart."""
        return fold(flat(self.task))


@dataclass(frozen=True, slots=True)
class Attention:
    """What a page of what is being done says: its tasks, blockers and facts, in order (memory_core.forms.board)."""

    tasks: tuple[TaskRow, ...]
    blockers: tuple[str, ...]
    snapshot: tuple[tuple[str, str], ...]

    def row(self, title: str) -> TaskRow | None:
        """The row of that title."""
        return next((row for row in self.tasks if row.key == fold(flat(title))), None)

    def fact(self, key: str) -> str:
        """The value of that key in the snapshot; '' for none."""
        return next((value for name, value in self.snapshot if fold(name) == fold(listed.fact_key(key))), "")


def parse(text: str) -> Attention:
    """Read a page; never raises. A table is read by its header, so columns may stand in any order."""
    return _parse(text)


@lru_cache(maxsize=16)  # a flush looks at the same page several times for each task that it writes
def _parse(text: str) -> Attention:
    table = _table(text)
    rows = [_row(_cells(line.text), table.columns) for line in table.rows] if table else []
    return Attention(
        tuple(row for row in rows if row.task), listed.items(text, BLOCKERS), listed.facts(text, SNAPSHOT)
    )


def with_task(text: str, row: TaskRow, keys: Sequence[MessageKey] = (), *, whole: bool = False) -> str:
    """The page with that task: a new row, or the row of that title with the values of `row`.

    Empty values leave what stands there, unless the `whole` row is put. A row bears no mark of the messages `keys`.
    """
    newline = newline_of(text)
    table = _table(text)
    if table is None:
        block = newline.join((*_HEADER, _new_row(row, _COLUMNS)))
        return listed.append(text, TASKS, block)
    for line in table.rows:
        if _row(_cells(line.text), table.columns).key == row.key:
            return text[: line.start] + _merged(line.text, row, table.columns, whole=whole) + text[line.end :]
    last = table.rows[-1] if table.rows else table.head
    return text[: last.end] + newline + _new_row(row, table.columns) + text[last.end :]


def without_task(text: str, title: str) -> str:
    """The page without the row of that title."""
    table = _table(text)
    for line in table.rows if table else ():
        if table and _row(_cells(line.text), table.columns).key == fold(flat(title)):
            return text[: line.start] + text[listed.after(text, line.end) :]
    return text


def without_done(text: str, today: date) -> str:
    """The page without the tasks that the bot marked as done on an earlier day."""
    for row in parse(text).tasks:
        found = _DONE.search(row.notes)
        if row.status == "done" and found and found[1] < today.isoformat():
            text = without_task(text, row.task)
    return text


def raised(text: str, titles: Sequence[str]) -> str:
    """The page with the rows of those titles first, in that order."""
    table = _table(text)
    rows = [(_row(_cells(line.text), table.columns).key, line) for line in table.rows] if table else []
    spans = [(key, line.start, line.end) for key, line in rows if key]
    return listed.permuted(text, spans, [fold(flat(title)) for title in titles])


def with_blocker(text: str, blocker: str, keys: Sequence[MessageKey] = (), section: str = "") -> str:
    """The page with that blocker as a line of its section, said in those messages. A known one only gets the keys.

    A line without a mark is a person's own and stays as it is.
    """
    return listed.with_item(text, section or BLOCKERS, blocker, keys)


def without_blocker(text: str, blocker: str, section: str = "") -> str:
    """The page without that blocker."""
    return listed.without_item(text, section or BLOCKERS, blocker)


def without_key_of(text: str, blocker: str, key: MessageKey, section: str = "") -> str:
    """The page with a blocker that no longer names that message."""
    return listed.without_key_of(text, section or BLOCKERS, blocker, key)


def keys_of(
    text: str, *, task: str = "", blocker: str = "", fact: str = "", section: str = ""
) -> tuple[MessageKey, ...]:
    """The messages that the mark of a blocker, or of the fact of that key, names; rows bear none."""
    if task:
        return ()
    return (
        listed.keys_of(text, section or BLOCKERS, blocker) if blocker else listed.keys_of_fact(text, SNAPSHOT, fact)
    )


def without_message(text: str, key: MessageKey) -> str:
    """The page without the blockers and facts that came from that message alone, and without its key in others."""
    return listed.without_message(text, (BLOCKERS, SNAPSHOT), key)


def with_fact(text: str, key: str, value: str, keys: Sequence[MessageKey] = ()) -> str:
    """The page with `key: value` in the snapshot, in the place of an earlier value of that key; '' removes it."""
    return listed.with_fact(text, SNAPSHOT, key, value, keys)


@dataclass(frozen=True, slots=True)
class _Table:
    columns: tuple[str, ...]
    head: Line
    rows: tuple[Line, ...]


def _table(text: str) -> _Table | None:
    """The first table of the tasks section that has a Task column."""
    lines = listed.section(text, TASKS)
    for at, line in enumerate(lines[:-1]):
        columns = tuple(fold(cell) for cell in _cells(line.text))
        if "task" in columns and "|" in line.text and _RULE_ROW.fullmatch(lines[at + 1].text):
            rows: list[Line] = []
            for row in lines[at + 2 :]:
                if "|" not in row.text:
                    break
                rows.append(row)
            return _Table(columns, lines[at + 1], tuple(rows))
    return None


def _cells(line: str) -> list[str]:
    """The cells of a row as they stand (escaped), split at pipes that no backslash makes harmless."""
    cells: list[str] = []
    start = 0
    for found in _PIPE.finditer(line):
        if len(found[1]) % 2 == 0:
            cells.append(line[start : found.end() - 1].strip())
            start = found.end()
    cells.append(line[start:].strip())
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return cells


def _row(cells: list[str], columns: tuple[str, ...]) -> TaskRow:
    values = dict(zip(columns, map(_cell_text, cells), strict=False))
    return TaskRow(*(values.get(column, "") for column in _COLUMNS))


def _cell(text: str) -> str:
    return _PIPE.sub(lambda found: found[1] * 2 + "\\|", escape_comment(flat(text)))


def _cell_text(cell: str) -> str:
    return unescape_comment(_ESCAPED_PIPE.sub(lambda found: "\\" * ((len(found[1]) - 1) // 2) + "|", cell))


def _merged(line: str, row: TaskRow, columns: tuple[str, ...], *, whole: bool) -> str:
    """The row with the values of `row`; unchanged bytes where nothing changes."""
    cells = _cells(line)
    cells += [""] * (len(columns) - len(cells))
    old = _row(cells, columns)
    put = [name for name in _COLUMNS[1:] if name in columns and (whole or flat(getattr(row, name)))]
    if all(getattr(old, name) == flat(getattr(row, name)) for name in put):
        return line
    for name in put:
        cells[columns.index(name)] = _cell(getattr(row, name))
    return f"| {' | '.join(cells)} |"


def _new_row(row: TaskRow, columns: tuple[str, ...]) -> str:
    values = (_cell(getattr(row, column)) if column in _COLUMNS else "" for column in columns)
    return f"| {' | '.join(values)} |"
