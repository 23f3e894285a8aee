"""Operations on attention and on pending_tasks.json (the two rules they keep: memory_core.operations).

`given` is what an inverse takes back: where a person changed it since, the inverse does nothing. Rows stand without
the keys of their messages; the operations bear them all the same, so that a plan can be rid of what was deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_core.forms import attention, tasks
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class PutRow:
    """A task in attention's table: a new row, or new values for the row of its title (`whole`: also empty ones)."""

    page: PageId
    row: attention.TaskRow
    whole: bool = False
    given: attention.TaskRow | None = None
    keys: tuple[MessageKey, ...] = ()
    op: Literal["put_row"] = "put_row"

    def apply(self, text: str, form: Form) -> str:
        """The page with the row; unchanged where not the `given` row stands."""
        if self.given is not None and attention.parse(text).row(self.row.task) != self.given:
            return text
        return attention.with_task(text, self.row, whole=self.whole)

    def undo(self, before: str) -> PutRow | DropRow:
        """The row that stood there, or none."""
        old = attention.parse(before).row(self.row.task)
        new = attention.parse(self.apply(before, Form.ATTENTION)).row(self.row.task)
        if old is None:
            return DropRow(self.page, self.row.task, new, self.keys)
        return PutRow(self.page, old, True, new, self.keys)


@dataclass(frozen=True, slots=True)
class DropRow:
    """A task leaves attention's table."""

    page: PageId
    title: str
    given: attention.TaskRow | None = None
    keys: tuple[MessageKey, ...] = ()
    op: Literal["drop_row"] = "drop_row"

    def apply(self, text: str, form: Form) -> str:
        """The page without the row; unchanged where not the `given` row stands."""
        if self.given is not None and attention.parse(text).row(self.title) != self.given:
            return text
        return attention.without_task(text, self.title)

    def undo(self, before: str) -> PutRow:
        """The row as it stood."""
        old = attention.parse(before).row(self.title) or attention.TaskRow(self.title)
        return PutRow(self.page, old, True, None, self.keys)


@dataclass(frozen=True, slots=True)
class PutBlocker:
    """A line under Blockers, said in the messages `keys`; a line that stands there only gets the keys."""

    page: PageId
    text: str
    keys: tuple[MessageKey, ...] = ()
    op: Literal["put_blocker"] = "put_blocker"

    def apply(self, text: str, form: Form) -> str:
        """The page with the blocker."""
        return attention.with_blocker(text, self.text, self.keys)

    def undo(self, before: str) -> DropBlocker:
        """Without it, or without the keys that were new."""
        known = attention.keys_of(before, blocker=self.text)
        return DropBlocker(self.page, self.text, tuple(key for key in self.keys if key not in known))


@dataclass(frozen=True, slots=True)
class DropBlocker:
    """A blocker is gone; with `keys` only if it was said in those alone, else they leave its mark."""

    page: PageId
    text: str
    keys: tuple[MessageKey, ...] = ()
    op: Literal["drop_blocker"] = "drop_blocker"

    def apply(self, text: str, form: Form) -> str:
        """The page without the blocker."""
        left = set(attention.keys_of(text, blocker=self.text)) - set(self.keys)
        if not self.keys or not left:
            return attention.without_blocker(text, self.text)
        for key in self.keys:
            text = attention.without_key_of(text, self.text, key)
        return text

    def undo(self, before: str) -> PutBlocker:
        """With it again."""
        return PutBlocker(self.page, self.text, attention.keys_of(before, blocker=self.text))


@dataclass(frozen=True, slots=True)
class PutFact:
    """A line of the environment snapshot, said in the messages `keys`; an empty value removes it."""

    page: PageId
    key: str
    value: str
    keys: tuple[MessageKey, ...] = ()
    given: str | None = None
    given_keys: tuple[MessageKey, ...] = ()
    op: Literal["put_fact"] = "put_fact"

    def apply(self, text: str, form: Form) -> str:
        """The page with the fact; unchanged where not the `given` value stands."""
        if self.given is not None and attention.parse(text).fact(self.key) != self.given:
            return text
        return attention.with_fact(text, self.key, self.value, self.keys)

    def undo(self, before: str) -> PutFact:
        """The value that stood there, or none."""
        new = attention.parse(self.apply(before, Form.ATTENTION)).fact(self.key)
        old = attention.parse(before).fact(self.key)
        return PutFact(self.page, self.key, old, attention.keys_of(before, fact=self.key), new, self.keys)


@dataclass(frozen=True, slots=True)
class PutTask:
    """A task in pending_tasks.json, whole, by its id; `at` is the file's `lastUpdated`."""

    page: PageId
    task: tasks.Task
    at: datetime
    given: tasks.Task | None = None
    op: Literal["put_task"] = "put_task"

    def apply(self, text: str, form: Form) -> str:
        """The file with the task; unchanged where not the `given` one stands."""
        if self.given is not None and tasks.parse(text).find(self.task.id) != self.given:
            return text
        return tasks.with_task(text, self.task, self.at)

    def undo(self, before: str) -> PutTask | DropTask:
        """The task as it stood, or none."""
        old = tasks.parse(before).find(self.task.id)
        if old is None:
            return DropTask(self.page, self.task.id, self.at, self.task)
        return PutTask(self.page, old, self.at, self.task)


@dataclass(frozen=True, slots=True)
class DropTask:
    """A task leaves pending_tasks.json."""

    page: PageId
    task: str
    at: datetime
    given: tasks.Task | None = None
    op: Literal["drop_task"] = "drop_task"

    def apply(self, text: str, form: Form) -> str:
        """The file without the task; unchanged where not the `given` one stands."""
        if self.given is not None and tasks.parse(text).find(self.task) != self.given:
            return text
        return tasks.without_task(text, self.task, self.at)

    def undo(self, before: str) -> PutTask:
        """The task as it stood."""
        return PutTask(self.page, tasks.parse(before).find(self.task) or tasks.Task(self.task, self.task), self.at)
