"""What is being done, from one layout's board to another's, or to pending_tasks.json where the new one has none.

    row        a row of the new board; what that cannot hold (a done task in a channel), and every row where there is
               no board, stands in pending_tasks.json
    blocker    an item of the new board; a blocked task where there is none
    fact       a fact of the new board; where there is none a record of its kind's page
    topic      (a channel's) a record of the page of agreements

What remembers only the last flush (`last flush`, `pending`) is not carried: the next flush writes it. What of the
page is none of these, a table's further columns and lines below a task included, is `left`, verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from memory_core.forms import attention, listed, tasks
from memory_core.forms.active import ACTIVE
from memory_core.forms.blocks import day_of
from memory_core.forms.board import Board, TaskRow, board
from memory_core.forms.channel import CHANNEL, TOPICS
from memory_core.forms.records import Record, Source, render
from memory_core.forms.task_line import placed
from memory_core.ids import MessageKey, PageId
from memory_core.index_lines import cells
from memory_core.layouts import Form
from memory_core.migration.pieces import Piece, tidied
from memory_core.script import fold
from memory_core.text import one_line

_DERIVED = frozenset({"last flush", "pending"})
_COLUMNS = frozenset({"task", "status", "who", "notes", ""})
_SIGNED = re.compile(r" \((?P<who>@[^()]*?)(?:, (?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d))?\)\Z")
_DAY = re.compile(r"\b(due|done) (\d{4}-\d\d-\d\d)\b")
_TITLE_CHARACTERS = 80


@dataclass(slots=True)
class Boards:
    """The boards of a scope on their way: the old page, the new board (None: there is none), the tasks.

    `moved` counts what went where, by a word for it; `facts` and `topics` are records now.
    """

    page: PageId
    form: Form
    old: str
    new_form: Form | None
    new: str
    tasks: str
    at: datetime
    moved: dict[str, int] = field(default_factory=dict)
    facts: list[Piece] = field(default_factory=list)
    topics: list[Piece] = field(default_factory=list)
    left: str = ""

    def move(self, template: str) -> None:
        """Move everything; `template` is what an empty old page says."""
        on = board(self.form)
        said = on.parse(self.old)
        self.left = self._left(on, template)
        for row in said.tasks:
            self._row(row, self._keys(on, row))
        for blocker in said.blockers:
            self._blocker(blocker, on.keys_of(self.old, blocker=blocker))
        for key, value in said.snapshot:
            if fold(key) not in _DERIVED:
                self._fact(key, value, on.keys_of(self.old, fact=key))
        for topic in listed.items(self.old, TOPICS) if self.form is Form.CHANNEL else ():
            keys = on.keys_of(self.old, blocker=topic, section=TOPICS)
            self.topics.append(_topic(self.page, topic, keys))

    def _keys(self, on: Board, row: TaskRow) -> tuple[MessageKey, ...]:
        """The messages of a row: as it is marked, else the one that the task's source names."""
        stated = (one.source.rpartition(", ")[2] for one in tasks.parse(self.tasks).tasks if _same(one, row))
        return on.keys_of(self.old, task=row.task) or tuple(MessageKey(key) for key in stated if ":" in key)

    def _row(self, row: TaskRow, keys: Sequence[MessageKey]) -> None:
        if self.new_form is not None:
            text = board(self.new_form).with_task(self.new, row, keys)
            if board(self.new_form).parse(text).row(row.task) is not None:
                self.new = text
                self._count("task")
                return
        self.tasks = with_row(self.tasks, row, keys, self.at)
        self._count("task" if self.new_form is None else "task to pending_tasks.json alone")

    def _blocker(self, blocker: str, keys: tuple[MessageKey, ...]) -> None:
        if self.new_form is not None:
            self.new = board(self.new_form).with_blocker(self.new, blocker, keys)
            self._count("blocker")
            return
        self.tasks = with_row(self.tasks, TaskRow(blocker, tasks.TaskStatus.BLOCKED), keys, self.at)
        self._count("blocker among the tasks")

    def _fact(self, key: str, value: str, keys: tuple[MessageKey, ...]) -> None:
        if self.new_form is not None:
            self.new = board(self.new_form).with_fact(self.new, key, value, keys)
            self._count("fact")
            return
        self.facts.append(_record(self.page, key, f"{key}: {_SIGNED.sub('', value)}", value, keys))

    def _count(self, what: str) -> None:
        self.moved[what] = self.moved.get(what, 0) + 1

    def _left(self, on: Board, template: str) -> str:
        """What of the page is no task, blocker, fact or topic, nor of the template."""
        text, said = self.old, on.parse(self.old)
        whole = _told_more(self.old, self.form)
        for row in said.tasks:
            text = text if row.key in whole else on.without_task(text, row.task)
        for blocker in said.blockers:
            text = on.without_blocker(text, blocker)
        for topic in listed.items(self.old, TOPICS) if self.form is Form.CHANNEL else ():
            text = on.without_blocker(text, topic, TOPICS)
        for key, _ in said.snapshot:
            text = on.with_fact(text, key, "")
        ours = {*template.split("\n"), "## Environment"}
        lines = text.split("\n")
        first = next((line for line in lines if line.strip()), "")
        if first.startswith("# "):
            lines.remove(first)
        return tidied("\n".join(lines)) if any(line.strip() and line not in ours for line in lines) else ""


def rows_of(text: str) -> tuple[TaskRow, ...]:
    """The rows of a board that is new, from pending_tasks.json: every task that is not done."""
    return tuple(
        TaskRow(
            task.title,
            task.status.value,
            _who(task),
            f"due {task.due}" if task.due else "",
        )
        for task in tasks.parse(text).open
    )


def with_row(text: str, row: TaskRow, keys: Sequence[MessageKey], at: datetime) -> str:
    """pending_tasks.json with what the row says: a new task, or the one of its title with the row's status."""
    status = tasks.status_of(row.status) or tasks.TaskStatus.PENDING
    told: dict[str, str] = dict(_DAY.findall(row.notes))
    known = next((one for one in tasks.parse(text).tasks if _same(one, row)), None)
    who = f"@{row.who.lstrip('@')}" if row.who else ""
    words = [who, *([row.notes] if row.notes and not _DAY.fullmatch(row.notes) else [])]
    if known is None:
        signed = _SIGNED.search(row.task)
        name = who or (signed["who"] if signed else "")
        known = tasks.Task(
            tasks.task_id(keys[0] if keys else MessageKey("console:migration:0"), row.task),
            row.task,
            created_at=at.isoformat(timespec="seconds"),
            due=told.get("due", ""),
            source=f"{name}, {keys[0]}" if keys else name,
        )
    note = "; ".join(dict.fromkeys(filter(None, (known.note, *(one for one in words if one not in known.note)))))
    new = replace(tasks.with_status(known, status, at), note=note, due=known.due or told.get("due", ""))
    if status is tasks.TaskStatus.DONE and "done" in told and not known.completed_at:
        new = replace(new, completed_at=told["done"])
    return tasks.with_task(text, new, at)


def _same(task: tasks.Task, row: TaskRow) -> bool:
    return TaskRow(task.title).key == row.key


def _who(task: tasks.Task) -> str:
    """By whom a task is to be done, as far as its note tells (`with_row`); who said it is somebody else."""
    first = task.note.partition("; ")[0]
    return first[1:] if first.startswith("@") and " " not in first else ""


def _told_more(text: str, form: Form) -> frozenset[str]:
    """The rows that say more than a row of another board can: further columns, lines below a task."""
    if form is Form.ATTENTION:
        lines = listed.section(text, attention.TASKS)
        heads = [{fold(cell) for cell in cells(line.text)} for line in lines]
        wide = any("task" in head and not head <= _COLUMNS for head in heads)
        return frozenset(row.key for row in attention.parse(text).tasks) if wide else frozenset()
    shape = ACTIVE if form is Form.ACTIVE else CHANNEL
    found = placed(text, shape.implied, shape.plain)
    return frozenset(one.row.key for one in found if one.end > one.line.end)


def _topic(page: PageId, topic: str, keys: tuple[MessageKey, ...]) -> Piece:
    found = _SIGNED.search(topic)
    body = topic[: found.start()] if found else topic
    day = day_of(found["y"], found["m"], found["d"]) if found and found["y"] else None
    return _record(page, one_line(body, _TITLE_CHARACTERS), body, topic, keys, day)


def _record(
    page: PageId, title: str, body: str, signed: str, keys: tuple[MessageKey, ...], day: date | None = None
) -> Piece:
    """A record of what stood on a board as a line; its source is who signed it, and its messages."""
    found = _SIGNED.search(signed)
    told = day or (day_of(found["y"], found["m"], found["d"]) if found and found["y"] else None)
    name = found["who"] if found else ""
    text = ", ".join(filter(None, (name, told.isoformat() if told and name else "", " ".join(keys))))
    sources = (Source(keys=keys, text=text),) if keys or name else ()
    record = Record(told, title, body, last_referenced=told, sources=sources)
    return Piece(record, render(record).rstrip("\n"), page)
