"""Operations on attention and on pending_tasks.json (the two rules they keep: memory_core.operations)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_core import attention, tasks
from memory_core.ids import PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class PutRow:
    """A task in attention's table: a new row, or new values for the row of its title (`whole`: also empty ones)."""

    page: PageId
    row: attention.TaskRow
    whole: bool = False
    op: Literal["put_row"] = "put_row"

    def apply(self, text: str, form: Form) -> str:
        """The page with the row."""
        return attention.with_task(text, self.row, whole=self.whole)

    def undo(self, before: str) -> PutRow | DropRow:
        """The row that stood there, or none."""
        old = attention.parse(before).row(self.row.task)
        return PutRow(self.page, old, whole=True) if old else DropRow(self.page, self.row.task)


@dataclass(frozen=True, slots=True)
class DropRow:
    """A task leaves attention's table."""

    page: PageId
    title: str
    op: Literal["drop_row"] = "drop_row"

    def apply(self, text: str, form: Form) -> str:
        """The page without the row."""
        return attention.without_task(text, self.title)

    def undo(self, before: str) -> PutRow:
        """The row as it stood."""
        old = attention.parse(before).row(self.title) or attention.TaskRow(self.title)
        return PutRow(self.page, old, whole=True)


@dataclass(frozen=True, slots=True)
class PutBlocker:
    """A line under Blockers."""

    page: PageId
    text: str
    op: Literal["put_blocker"] = "put_blocker"

    def apply(self, text: str, form: Form) -> str:
        """The page with the blocker."""
        return attention.with_blocker(text, self.text)

    def undo(self, before: str) -> DropBlocker:
        """Without it."""
        return DropBlocker(self.page, self.text)


@dataclass(frozen=True, slots=True)
class DropBlocker:
    """A blocker is gone."""

    page: PageId
    text: str
    op: Literal["drop_blocker"] = "drop_blocker"

    def apply(self, text: str, form: Form) -> str:
        """The page without the blocker."""
        return attention.without_blocker(text, self.text)

    def undo(self, before: str) -> PutBlocker:
        """With it again."""
        return PutBlocker(self.page, self.text)


@dataclass(frozen=True, slots=True)
class PutFact:
    """A line of the environment snapshot; an empty value removes it."""

    page: PageId
    key: str
    value: str
    op: Literal["put_fact"] = "put_fact"

    def apply(self, text: str, form: Form) -> str:
        """The page with the fact."""
        return attention.with_fact(text, self.key, self.value)

    def undo(self, before: str) -> PutFact:
        """The value that stood there, or none."""
        return PutFact(self.page, self.key, attention.parse(before).fact(self.key))


@dataclass(frozen=True, slots=True)
class PutTask:
    """A task in pending_tasks.json, whole, by its id; `at` is the file's `lastUpdated`."""

    page: PageId
    task: tasks.Task
    at: datetime
    op: Literal["put_task"] = "put_task"

    def apply(self, text: str, form: Form) -> str:
        """The file with the task."""
        return tasks.with_task(text, self.task, self.at)

    def undo(self, before: str) -> PutTask | DropTask:
        """The task as it stood, or none."""
        old = tasks.parse(before).find(self.task.id)
        return PutTask(self.page, old, self.at) if old else DropTask(self.page, self.task.id, self.at)


@dataclass(frozen=True, slots=True)
class DropTask:
    """A task leaves pending_tasks.json."""

    page: PageId
    task: str
    at: datetime
    op: Literal["drop_task"] = "drop_task"

    def apply(self, text: str, form: Form) -> str:
        """The file without the task."""
        return tasks.without_task(text, self.task, self.at)

    def undo(self, before: str) -> PutTask:
        """The task as it stood."""
        return PutTask(self.page, tasks.parse(before).find(self.task) or tasks.Task(self.task, self.task), self.at)
