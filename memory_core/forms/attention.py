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

from memory_core.forms.blocks import Line, lines_of, newline_of
from memory_core.forms.escape import escape, escape_comment, unescape, unescape_comment
from memory_core.forms.marks import marked, unmarked, without_key
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat

TASKS = "Active Tasks"
BLOCKERS = "Blockers"
SNAPSHOT = "Environment Snapshot"

_HEADER = ("| Task | Status | Who | Notes |", "|---|---|---|---|")
_COLUMNS = ("task", "status", "who", "notes")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*")
_BULLET = re.compile(r"[-*+][ \t]+(.*\S)[ \t]*")
_RULE_ROW = re.compile(r"\|?[ \t]*:?-{1,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_PIPE = re.compile(r"(\\*)\|")
_ESCAPED_PIPE = re.compile(r"(\\+)\|")
_DONE = re.compile(r"\bdone (\d{4}-\d\d-\d\d)\b")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One row of the table, as plain text on one line each."""

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
    """What the page says: its rows, blockers and snapshot, in order."""

    tasks: tuple[TaskRow, ...]
    blockers: tuple[str, ...]
    snapshot: tuple[tuple[str, str], ...]

    def row(self, title: str) -> TaskRow | None:
        """The row of that title."""
        return next((row for row in self.tasks if row.key == fold(flat(title))), None)

    def fact(self, key: str) -> str:
        """The value of that key in the snapshot; '' for none."""
        return next((value for name, value in self.snapshot if fold(name) == fold(_key(key))), "")


def parse(text: str) -> Attention:
    """Read a page; never raises. A table is read by its header, so columns may stand in any order."""
    table = _table(text)
    rows = [_row(_cells(line.text), table.columns) for line in table.rows] if table else []
    blockers = [blocker for line in _section(text, BLOCKERS) if (blocker := _blocker(line.text))]
    facts = [fact for line in _section(text, SNAPSHOT) if (fact := _fact(line.text))]
    return Attention(tuple(row for row in rows if row.task), tuple(blockers), tuple(facts))


def with_task(text: str, row: TaskRow, *, whole: bool = False) -> str:
    """The page with that task: a new row, or the row of that title with the values of `row`.

    Empty values leave what stands there, unless the `whole` row is put.
    """
    newline = newline_of(text)
    table = _table(text)
    if table is None:
        block = newline.join((*_HEADER, _new_row(row, _COLUMNS)))
        return _append(text, TASKS, block, newline)
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
            return text[: line.start] + text[_after(text, line) :]
    return text


def without_done(text: str, today: date) -> str:
    """The page without the tasks that the bot marked as done on an earlier day."""
    for row in parse(text).tasks:
        found = _DONE.search(row.notes)
        if row.status == "done" and found and found[1] < today.isoformat():
            text = without_task(text, row.task)
    return text


def with_blocker(text: str, blocker: str, keys: Sequence[MessageKey] = ()) -> str:
    """The page with that blocker as a line of its section, said in those messages. A known one only gets the keys.

    A line without a mark is a person's own and stays as it is.
    """
    for line in _section(text, BLOCKERS):
        if _same(_blocker(line.text), blocker):
            plain, known = unmarked(line.text)
            missing = [key for key in keys if known and key not in known]
            new = marked(plain, [*known, *missing]) if missing else line.text
            return text[: line.start] + new + text[line.end :]
    return _append(text, BLOCKERS, marked(f"- {escape(flat(blocker))}", keys), newline_of(text))


def without_blocker(text: str, blocker: str) -> str:
    """The page without that blocker."""
    for line in _section(text, BLOCKERS):
        if _same(_blocker(line.text), blocker):
            return text[: line.start] + text[_after(text, line) :]
    return text


def without_key_of(text: str, blocker: str, key: MessageKey) -> str:
    """The page with a blocker that no longer names that message."""
    for line in _section(text, BLOCKERS):
        if _same(_blocker(line.text), blocker):
            return text[: line.start] + (without_key(line.text, key) or line.text) + text[line.end :]
    return text


def keys_of(text: str, *, blocker: str = "", fact: str = "") -> tuple[MessageKey, ...]:
    """The messages that the mark of a blocker, or of the fact of that key, names."""
    for line in _section(text, BLOCKERS if blocker else SNAPSHOT):
        found = _fact(line.text)
        if _same(_blocker(line.text), blocker) if blocker else found and fold(found[0]) == fold(_key(fact)):
            return unmarked(line.text)[1]
    return ()


def without_message(text: str, key: MessageKey) -> str:
    """The page without the blockers and facts that came from that message alone, and without its key in others."""
    for title in (BLOCKERS, SNAPSHOT):
        for line in reversed(_section(text, title)):
            kept = without_key(line.text, key)
            if kept is None:
                text = text[: line.start] + text[_after(text, line) :]
            elif kept != line.text:
                text = text[: line.start] + kept + text[line.end :]
    return text


def with_fact(text: str, key: str, value: str, keys: Sequence[MessageKey] = ()) -> str:
    """The page with `key: value` in the snapshot, in the place of an earlier value of that key; '' removes it."""
    key = _key(key)
    new = marked(f"- {escape(key)}: {escape_comment(flat(value))}", keys)
    for line in _section(text, SNAPSHOT):
        fact = _fact(line.text)
        if fact and fold(fact[0]) == fold(key):
            if not flat(value):
                return text[: line.start] + text[_after(text, line) :]
            return text if fact[1] == flat(value) else text[: line.start] + new + text[line.end :]
    return _append(text, SNAPSHOT, new, newline_of(text)) if flat(value) else text


@dataclass(frozen=True, slots=True)
class _Table:
    columns: tuple[str, ...]
    head: Line
    rows: tuple[Line, ...]


def _section(text: str, title: str) -> list[Line]:
    """The first heading of that title and the lines under it, up to the next one that is not deeper."""
    found: list[Line] = []
    level = 0
    for line in lines_of(text):
        heading = None if line.inert else _HEADING.fullmatch(line.text)
        if level and heading and len(heading[1]) <= level:
            break
        if level and not line.inert:
            found.append(line)
        elif heading and len(heading[1]) > 1 and heading[2].casefold() == title.casefold():
            level = len(heading[1])
            found.append(line)
    return found


def _table(text: str) -> _Table | None:
    """The first table of the tasks section that has a Task column."""
    lines = _section(text, TASKS)
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


def _key(text: str) -> str:
    """A key as it reads when it is read back: on one line, and without the colon that ends it."""
    return flat(text.replace(":", " "))


def _blocker(line: str) -> str:
    """The text of a line under Blockers; '' for one that is no item."""
    found = _BULLET.fullmatch(unmarked(line)[0])
    return unescape(found[1]) if found else ""


def _fact(line: str) -> tuple[str, str] | None:
    found = _BULLET.fullmatch(unmarked(line)[0])
    if found is None or ":" not in found[1]:
        return None
    key, _, value = found[1].partition(":")
    return unescape(key.strip()), unescape_comment(value.strip())


def _same(one: str, other: str) -> bool:
    return bool(one) and fold(flat(one)) == fold(flat(other))


def _append(text: str, title: str, block: str, newline: str) -> str:
    """`text` with `block` as the last lines of the section, which is added at the end where it is missing."""
    lines = _section(text, title)
    if not lines:
        gap = "" if not text or text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
        return f"{text}{gap}## {title}{newline}{newline}{block}{newline}"
    last = [line for line in lines if line.text.strip()][-1]
    between = newline if _BULLET.fullmatch(last.text) and _BULLET.fullmatch(block) else newline * 2
    return text[: last.end] + between + block + (text[last.end :] or newline)


def _after(text: str, line: Line) -> int:
    """Where the next line starts."""
    end = text.find("\n", line.end)
    return len(text) if end < 0 else end + 1
