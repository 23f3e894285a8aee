"""pending_tasks.json: the tasks of a scope, with ids that stay.

    {"lastUpdated": "2026-04-06T14:30:00+08:00",
     "tasks": [{"id": "t-1f0c…", "title": …, "status": "pending", "priority": "normal", "createdAt": …,
                "completedAt": null, "due": "2026-04-12", "note": "", "source": "@ana (…) in #build, …"}]}

Read leniently: a value of a wrong type is taken as unknown, fields and entries that we do not know are kept as they
are, a plain list of tasks is a file too. What is no JSON is `broken`: the tasks in it that can be read one by one
count. Whoever writes a file of which not all would stand in it afterwards (`keeps_all`) keeps a copy first.
`updatedAt` says when a task was last spoken of after it was made.

Overdue is what is not done and whose day is past, and what is in progress and was not touched for 7 days. What is
done leaves the file 7 days later.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TypeGuard

from memory_core.forms import json_text
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat

KEEPS_DAYS = 7
"""How many days what was done stays."""
STALE_DAYS = 7
"""After how many days without a word a task in progress is overdue."""

_OWN = ("id", "title", "status", "priority", "createdAt", "completedAt", "due", "note", "source")
_UPDATED = "updatedAt"
_COMMA = re.compile(r"""("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])""")


class TaskStatus(StrEnum):
    """Where a task stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"


class Urgency(StrEnum):
    """A task's `priority`."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Task:
    """One task. Times are ISO text with offset, as they stand; `extra` are fields that we do not know, as JSON."""

    id: str
    title: str
    status: TaskStatus = TaskStatus.PENDING
    priority: Urgency = Urgency.NORMAL
    created_at: str = ""
    completed_at: str = ""
    due: str = ""
    note: str = ""
    source: str = ""
    extra: str = "{}"
    updated_at: str = ""

    @property
    def made(self) -> date | None:
        """The day on which it was made, as far as the file tells."""
        return _day(self.created_at)

    @property
    def touched(self) -> date | None:
        """The day on which it was last spoken of, as far as the file tells."""
        days = [day for text in (self.created_at, self.updated_at) if (day := _day(text))]
        return max(days, default=None)


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The file as read. `strangers`: entries that are no tasks, `extra`: other fields, both as JSON text."""

    tasks: tuple[Task, ...] = ()
    last_updated: str = ""
    strangers: str = "[]"
    extra: str = "{}"
    broken: str = field(default="", compare=False)
    """Why it could not be read as a whole; '' for a sound file."""

    def find(self, task_id: str) -> Task | None:
        """The task of that id."""
        return next((task for task in self.tasks if task.id == task_id), None)

    @property
    def open(self) -> tuple[Task, ...]:
        """The tasks that are not done, in order."""
        return tuple(task for task in self.tasks if task.status is not TaskStatus.DONE)


def task_id(message: MessageKey, title: str) -> str:
    """The id of the task that a message states: the same for the same message and title."""
    return "t-" + hashlib.sha256(f"{message}\n{fold(flat(title))}".encode()).hexdigest()[:10]


def status_of(text: str) -> TaskStatus | None:
    """The status that a word means; None for no such word."""
    word = fold(flat(text)).replace(" ", "_").replace("-", "_")
    return TaskStatus(word) if word in set(TaskStatus) else _WORDS.get(word)


_WORDS = {
    "todo": TaskStatus.PENDING,
    "open": TaskStatus.PENDING,
    "doing": TaskStatus.IN_PROGRESS,
    "started": TaskStatus.IN_PROGRESS,
    "waiting": TaskStatus.BLOCKED,
    "completed": TaskStatus.DONE,
    "finished": TaskStatus.DONE,
    "closed": TaskStatus.DONE,
    "resolved": TaskStatus.DONE,
}


@lru_cache(maxsize=16)  # a flush looks at the same list several times for each task that it writes
def parse(text: str) -> TaskFile:
    """Read a file; never raises."""
    if not text.strip():
        return TaskFile()
    try:
        data, _ = json_text.loads(text)
    except (ValueError, RecursionError):
        return TaskFile(_salvaged(text), broken="it is no JSON")
    if isinstance(data, list):
        data = {"tasks": data}
    if not isinstance(data, dict) or not isinstance(data.get("tasks", []), list):
        return TaskFile(_salvaged(text), broken="it holds no list of tasks")
    entries = data.get("tasks", [])
    tasks = [_task(entry) for entry in entries if _is_task(entry)]
    return TaskFile(
        tuple(tasks),
        _text(data.get("lastUpdated")),
        _json([entry for entry in entries if not _is_task(entry)]),
        _json({key: value for key, value in data.items() if key not in ("tasks", "lastUpdated")}),
    )


def keeps_all(text: str) -> bool:
    """Would all that stands in this file stand in it after it was read and written again?"""
    if not text.strip():
        return True
    try:
        data, twice = json_text.loads(text)
        after, _ = json_text.loads(render(parse(text)))
    except (ValueError, RecursionError):
        return False
    return not twice and json_text.holds(after, {"tasks": data} if isinstance(data, list) else data)


def render(file: TaskFile) -> str:
    """The file's text."""
    data = {
        "lastUpdated": file.last_updated,
        "tasks": [*map(_entry, file.tasks), *json.loads(file.strangers)],
        **json.loads(file.extra),
    }
    return json.dumps(data, ensure_ascii=False, indent=2).encode("utf-8", "replace").decode() + "\n"


def with_task(text: str, task: Task, at: datetime) -> str:
    """The file with that task in the place of the one of its id, or at the end; unchanged where it stands so."""
    file = parse(text)
    if file.find(task.id) == task and not file.broken:
        return text
    tasks = tuple(task if one.id == task.id else one for one in file.tasks)
    return render(
        replace(
            file, tasks=tasks if file.find(task.id) else (*tasks, task), last_updated=at.isoformat(timespec="seconds")
        )
    )


def without_task(text: str, task_id: str, at: datetime) -> str:
    """The file without the task of that id."""
    file = parse(text)
    if file.find(task_id) is None:
        return text
    tasks = tuple(one for one in file.tasks if one.id != task_id)
    return render(replace(file, tasks=tasks, last_updated=at.isoformat(timespec="seconds")))


def mended(text: str, at: datetime) -> str:
    """A broken file anew, from the tasks in it that could be read; a sound one as it is."""
    file = parse(text)
    return render(replace(file, last_updated=at.isoformat(timespec="seconds"))) if file.broken else text


def overdue(task: Task, today: date) -> date | None:
    """Since when it is overdue: the day that it was due, or 7 days after it was last touched; None if it is not."""
    if task.status is TaskStatus.DONE:
        return None
    days = [day] if (day := _day(task.due)) and day < today else []
    if task.status is TaskStatus.IN_PROGRESS and task.touched is not None:
        stale = task.touched + timedelta(days=STALE_DAYS)
        days += [stale] if stale <= today else []
    return min(days, default=None)


def ordered(tasks: Iterable[Task], today: date) -> tuple[Task, ...]:
    """The tasks as they are shown: overdue ones first, the longest overdue before the others; then in their order."""
    return tuple(sorted(tasks, key=lambda task: overdue(task, today) or date.max))


def has_left(task: Task, today: date) -> bool:
    """Was the task done 7 days ago or earlier?"""
    day = _day(task.completed_at)
    return task.status is TaskStatus.DONE and day is not None and day + timedelta(days=KEEPS_DAYS) <= today


def with_status(task: Task, status: TaskStatus, at: datetime) -> Task:
    """The task with that status; `completed_at` is set when it becomes done, emptied when it is taken up again."""
    if status is task.status:
        return task
    return replace(
        task, status=status, completed_at=at.isoformat(timespec="seconds") if status is TaskStatus.DONE else ""
    )


def _is_task(entry: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(entry, dict) and isinstance(entry.get("title"), str) and bool(entry["title"].strip())


def _task(entry: Mapping[str, object]) -> Task:
    title = str(entry["title"])
    return Task(
        id=_text(entry.get("id")) or "t-" + hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:10],
        title=title,
        status=status_of(_text(entry.get("status"))) or TaskStatus.PENDING,
        priority=_priority(_text(entry.get("priority"))),
        created_at=_text(entry.get("createdAt")),
        completed_at=_text(entry.get("completedAt")),
        due=_due(_text(entry.get("due"))),
        note=_text(entry.get("note")),
        source=_text(entry.get("source")),
        extra=_json({key: value for key, value in entry.items() if key not in (*_OWN, _UPDATED)}),
        updated_at=_text(entry.get(_UPDATED)),
    )


def _salvaged(text: str) -> tuple[Task, ...]:
    """The tasks in a text that is no task file, each once: every object in it that can be read and has a title."""
    cleaned = _COMMA.sub(lambda found: found[1] or "", text)
    found = max((list(_objects(one)) for one in (text, cleaned)), key=len)
    return tuple({task.id: task for task in map(_task, found)}.values())


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    """The task objects in a text, wherever they stand."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        within = value.get("tasks") if isinstance(value, dict) else None
        entries = within if isinstance(within, list) else [value]
        yield from (entry for entry in entries if _is_task(entry))
        at = text.find("{", end)


def _entry(task: Task) -> dict[str, object]:
    values = (task.id, task.title, task.status.value, task.priority.value, task.created_at)
    rest = (task.completed_at or None, task.due or None, task.note, task.source)
    updated = {_UPDATED: task.updated_at} if task.updated_at else {}
    return {**dict(zip(_OWN, (*values, *rest), strict=True)), **updated, **json.loads(task.extra)}


def _priority(text: str) -> Urgency:
    return Urgency(text.lower()) if text.lower() in set(Urgency) else Urgency.NORMAL


def _due(text: str) -> str:
    try:
        return date.fromisoformat(text[:10]).isoformat() if text else ""
    except ValueError:
        return text


def _day(text: str) -> date | None:
    """The day that a time or a date names, as it stands there; None for none."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _text(value: object) -> str:
    """Text and numbers as text (an id may be a number); anything else is unknown."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
