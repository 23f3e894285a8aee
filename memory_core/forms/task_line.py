"""A task as one bullet, with what hangs below it: how active_context.md and channel_context write what is to be done.

    - **Prepare the release**: pending, @ana, due 2026-04-12 <!-- slack:T1:C9:1712412120.000100 -->
      - what a person wrote below it goes where the task goes

Behind the bold title: the status, unless the section says it; who; anything else. A person's line needs none of them
(`- **Login flow**: OAuth, 70 % complete`), and where a section holds nothing but tasks it need not even be bold. The
first message of the mark stated the task. A line without a mark is a person's own: it gets none, and keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_core.forms import listed
from memory_core.forms.attention import TaskRow
from memory_core.forms.blocks import Line, lines_of
from memory_core.forms.escape import escape_comment, unescape_comment
from memory_core.forms.marks import marked, unmarked, without_key
from memory_core.forms.record_values import source_name
from memory_core.forms.tasks import status_of
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat

_TASK = re.compile(r"\*\*(?P<title>(?:\\.|[^\\*]|\*(?!\*))+)\*\*:?[ \t]*(?P<rest>.*)")
_ACTIVE = re.compile(r"[\\*]")
_ESCAPED = re.compile(r"\\([\\*])")
_AT = re.compile(r"\A(\\*)@")
_ESCAPED_AT = re.compile(r"\A(\\*)\\@")
_OURS = re.compile(r"(?:due|done) \d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Placed:
    """A task and where it stands: its section, its line, and the end of what hangs below it."""

    section: str
    row: TaskRow
    line: Line
    end: int


def placed(text: str, sections: Mapping[str, str], plain: Collection[str] = ()) -> Iterator[Placed]:
    """The tasks of those sections (with the status that each implies); in `plain` ones every bullet is one."""
    lines = lines_of(text)
    at = {line.start: number for number, line in enumerate(lines)}
    for section, status in sections.items():
        for line in listed.section(text, section):
            row = read(line.text, status, plain=section in plain)
            if row is not None:
                end = line.end
                for below in lines[at[line.start] + 1 :]:
                    if not below.text.startswith((" ", "\t")) or not below.text.strip():
                        break
                    end = below.end
                yield Placed(section, row, line, end)


def read(line: str, implied: str, *, plain: bool = False) -> TaskRow | None:
    """The task of a line; None for one that is none."""
    found = listed.bullet(line)
    task = _TASK.fullmatch(found) if found else None
    if task is None:
        title = listed.item(line) if plain else ""
        return TaskRow(title, implied) if title else None
    status, rest = implied, task["rest"]
    first, _, after = rest.partition(", ")
    if status_of(first) is not None:
        status, rest = first, after
    who, _, after = rest.partition(", ")
    if who.startswith("@") and len(who) > 1:
        rest = after
    else:
        who = ""
    title = unescape_comment(_ESCAPED.sub(r"\1", task["title"]))
    return TaskRow(title, status, unescape_comment(who[1:]), unescape_comment(_ESCAPED_AT.sub(r"\1@", rest)))


def written(row: TaskRow, implied: str) -> str:
    """The line of a task, without a mark."""
    row = as_read(row)
    notes = [_AT.sub(r"\1\\@", escape_comment(row.notes))] if row.notes else []
    told = [*([f"@{escape_comment(row.who)}"] if row.who else []), *notes]
    mistaken = bool(told) and status_of(told[0].partition(", ")[0]) is not None
    status = [row.status or implied] if mistaken or row.status not in ("", implied) else []
    rest = ", ".join([*status, *told])
    title = _ACTIVE.sub(r"\\\g<0>", escape_comment(row.task))
    return listed.as_item(f"**{title}**: {rest}" if rest else f"**{title}**")


def as_read(row: TaskRow) -> TaskRow:
    """The row as it reads when it is read back."""
    return TaskRow(flat(row.task), flat(row.status), source_name(row.who), flat(row.notes))


def merged(old: TaskRow, row: TaskRow, *, whole: bool) -> TaskRow:
    """The old row with the values of `row`; empty ones leave what stands there, unless the `whole` row is put.

    Notes are added to what a person noted; a day of ours (`due …`, `done …`) takes the place of another.
    """
    row = as_read(row)
    if whole:
        return TaskRow(old.task, row.status, row.who, row.notes)
    new = row.notes.split(", ") if row.notes else []
    dated = any(_OURS.fullmatch(note) for note in new)
    kept = [note for note in old.notes.split(", ") if note not in new and not (dated and _OURS.fullmatch(note))]
    kept = kept if old.notes else []
    return TaskRow(old.task, row.status or old.status, row.who or old.who, ", ".join([*kept, *new]))


def with_keys(line: str, plain: str, keys: Sequence[MessageKey], *, exactly: bool) -> str:
    """`plain` with the mark of `line` and `keys` added to it (`exactly`: these alone); none where it has none."""
    known = unmarked(line)[1]
    return marked(plain, keys if exactly else [*known, *keys] if known else ())


def without_statement(line: str, key: MessageKey) -> str | None:
    """The line without that message in its mark; None where the message stated the task."""
    keys = unmarked(line)[1]
    return None if keys[:1] == (key,) else without_key(line, key)


def find(found: Iterator[Placed], title: str) -> Placed | None:
    """The task of that title."""
    return next((one for one in found if one.row.key == fold(flat(title))), None)


def plain_item(line: str) -> str:
    """The text of an item that is no task: a blocker, a topic; '' for one that is none."""
    found = listed.bullet(line)
    return "" if found is None or _TASK.fullmatch(found) else listed.item(line)
