"""How a task, a status, a blocker or a fact of the environment changes attention and pending_tasks.json.

A task is known by its title's words, so that "the release notes are done" finds "Write the release notes". What is
done keeps its row, marked with the day, until the first flush of a later day. What stands there already is news only
if it was stated by the very same message: written at once, by a process that ended before it could mark that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Protocol

from memory_core.clock import day_in
from memory_core.flush.bars import Fact
from memory_core.flush.sameness import best, words
from memory_core.forms import attention, tasks
from memory_core.forms.tasks import Task, TaskStatus
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import TASKS, Kind
from memory_core.operations import Operation
from memory_core.operations.attention import DropBlocker, DropRow, PutBlocker, PutFact, PutRow, PutTask
from memory_core.text import one_line

_FACT = re.compile(
    r"(?P<key>\S[^\n]{1,58}?)\s*(?:[:：=]\s|\s(?:is|are|ist|sind)(?: now| at| on)?\s|[是在])\s*(?P<value>\S.*)"
)
_BLOCKER_CHARACTERS = 300


class Target(Protocol):
    """The draft that the changes go into (memory_core.flush.draft.Draft)."""

    texts: dict[PageId, str]
    zone: tzinfo
    now: datetime

    def do(self, operation: Operation) -> bool:
        """Add the operation, unless it changes nothing."""
        ...


def of_message(text: str, fact: Fact, zone: tzinfo) -> Task | None:
    """The task that this very message stated, or marked as done: written at once, by a process that then ended."""
    file, at = tasks.parse(text), fact.said_at.astimezone(zone).isoformat(timespec="seconds")
    if (stated := file.find(_id(fact))) is not None or tasks.status_of(fact.status) is not TaskStatus.DONE:
        return stated
    done = (task for task in file.tasks if task.status is TaskStatus.DONE and task.completed_at == at)
    asked = words(fact.title if fact.kind is Kind.TASK else fact.text)
    return best(asked, ((task, words(task.title)) for task in done))


def _id(fact: Fact) -> str:
    """The id of the task that the fact states."""
    return tasks.task_id(fact.sources[0].keys[0], one_line(fact.title, 120))


@dataclass(frozen=True, slots=True)
class AttentionDraft:
    """Changes of one scope's attention page, into a draft."""

    draft: Target
    page: PageId

    def take(self, fact: Fact) -> bool:
        """Write the fact; True if it is news."""
        match fact.kind:
            case Kind.BLOCKER:
                return self._blocker(fact)
            case Kind.ENVIRONMENT:
                return self._environment(fact)
            case Kind.TASK | Kind.STATUS:
                return self._task(fact)
            case _:
                return True

    def clear_done(self) -> None:
        """Take the tasks out that were marked as done on an earlier day."""
        today = day_in(self.draft.zone, self.draft.now)
        text = self._text()
        kept = {row.key for row in attention.parse(attention.without_done(text, today)).tasks}
        for row in attention.parse(text).tasks:
            if row.key not in kept:
                self.draft.do(DropRow(self.page, row.task, keys=self._stated_by(row.key)))

    def _stated_by(self, row: str) -> tuple[MessageKey, ...]:
        """The message that stated the task of that row."""
        known = tasks.parse(self.draft.texts.get(TASKS, "")).tasks
        found = [task.source.rpartition(", ")[2] for task in known if attention.TaskRow(task.title).key == row]
        return tuple(MessageKey(key) for key in found if key)

    def _text(self) -> str:
        return self.draft.texts.get(self.page, "")

    def _task(self, fact: Fact) -> bool:
        """A new task, or what changed about a known one."""
        status = tasks.status_of(fact.status)
        own = of_message(self.draft.texts.get(TASKS, ""), fact, self.draft.zone)
        if own is not None and own.status is TaskStatus.DONE:
            return self._put(own, fact, old=None if own.id == _id(fact) else own) or True
        known = self._known(fact)
        if known is not None:
            return self._change(known, fact, status)
        if fact.kind is Kind.STATUS and status is TaskStatus.DONE:
            gone = best(words(fact.text), ((one, words(one)) for one in attention.parse(self._text()).blockers))
            return True if gone is None else self.draft.do(DropBlocker(self.page, gone)) or True
        return self._new(fact, status or TaskStatus.PENDING)

    def _known(self, fact: Fact) -> Task | None:
        """The task that the fact is about: of the open ones, also those that stand in the table only."""
        file = tasks.parse(self.draft.texts.get(TASKS, ""))
        rows = attention.parse(self._text()).tasks
        known = {attention.TaskRow(task.title).key: task for task in file.open}
        done = {attention.TaskRow(task.title).key for task in file.tasks} - known.keys()
        for row in rows:
            if row.key not in known and row.key not in done:
                status = tasks.status_of(row.status) or TaskStatus.PENDING
                known[row.key] = Task(tasks.task_id(fact.sources[0].keys[0], row.task), row.task, status)
        asked = words(fact.title if fact.kind is Kind.TASK else fact.text)
        return best(asked, ((task, words(task.title)) for task in known.values()))

    def _new(self, fact: Fact, status: TaskStatus) -> bool:
        title = one_line(fact.title, 120)
        key = fact.sources[0].keys[0]
        task = Task(
            id=tasks.task_id(key, title),
            title=title,
            status=TaskStatus.PENDING,
            created_at=self._moment(fact),
            due=fact.due.isoformat() if fact.due else "",
            note=fact.body if fact.body != title else "",
            source=str(fact.sources[0]),
        )
        task = tasks.with_status(task, status, fact.said_at.astimezone(self.draft.zone))
        return self._put(task, fact)

    def _change(self, task: Task, fact: Fact, status: TaskStatus | None) -> bool:
        """The same task said again changes nothing but what is new: its status, its day."""
        due = fact.due.isoformat() if fact.due else task.due
        wanted = status if status and (fact.kind is Kind.STATUS or status is not TaskStatus.PENDING) else task.status
        new = replace(tasks.with_status(task, wanted, fact.said_at.astimezone(self.draft.zone)), due=due)
        if new == task:
            return self._stated(task, fact, status)
        if not new.source:
            new = replace(new, created_at=self._moment(fact), source=str(fact.sources[0]))
        return self._put(new, fact, old=task)

    def _stated(self, task: Task, fact: Fact, status: TaskStatus | None) -> bool:
        """Was the row stated by this very message, and the process ended before the task was written? Now it is."""
        return task.id == _id(fact) and (self._new(fact, status or TaskStatus.PENDING) or True)

    def _put(self, task: Task, fact: Fact, old: Task | None = None) -> bool:
        done = task.status is TaskStatus.DONE
        notes = [f"due {task.due}"] if task.due and not done else []
        notes += [f"done {fact.day.isoformat()}"] if done else []
        who = "" if old else fact.who
        row = attention.TaskRow(task.title, task.status.value, who, ", ".join(notes))
        keys = (*self._stated_by(row.key), *(key for source in fact.sources for key in source.keys))
        first = self.draft.do(PutRow(self.page, row, keys=tuple(dict.fromkeys(keys))))
        second = self.draft.do(PutTask(TASKS, task, self.draft.now.astimezone(self.draft.zone)))
        return first or second

    def _blocker(self, fact: Fact) -> bool:
        blockers = attention.parse(self._text()).blockers
        known = best(words(fact.text), ((one, words(one)) for one in blockers))
        if tasks.status_of(fact.status) is TaskStatus.DONE:
            return known is not None and self.draft.do(DropBlocker(self.page, known))
        keys = tuple(key for source in fact.sources for key in source.keys)
        if known is not None:
            stated = keys[0] in attention.keys_of(self._text(), blocker=known)
            self.draft.do(PutBlocker(self.page, known, keys))
            return stated
        text = f"{one_line(fact.body, _BLOCKER_CHARACTERS)} (@{fact.who or fact.sources[0].name}, {fact.day})"
        return self.draft.do(PutBlocker(self.page, text, keys))

    def _environment(self, fact: Fact) -> bool:
        found = _FACT.fullmatch(" ".join(fact.body.split()))
        key, value = (found["key"], found["value"]) if found else (fact.title, fact.body)
        signed = f"{value} (@{fact.sources[0].name}, {fact.day})"
        old = attention.parse(self._text()).fact(key)
        keys = tuple(key for source in fact.sources for key in source.keys)
        if old.rpartition(" (@")[0] == value:
            return keys[0] in attention.keys_of(self._text(), fact=key)
        return self.draft.do(PutFact(self.page, key, signed, keys))

    def _moment(self, fact: Fact) -> str:
        return fact.said_at.astimezone(self.draft.zone).isoformat(timespec="seconds")
