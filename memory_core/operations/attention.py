"""Operations on boards and on pending_tasks.json (the two rules they keep: memory_core.operations).

A board is a page of what is being done: attention, active context, a channel's context (memory_core.forms.board). Its
form comes with the text that an operation is applied to; `board` is the form that it was planned on, for its inverse.

`given` is what an inverse takes back: where a person changed it since, the inverse does nothing. Rows stand without
the keys of their messages; the operations bear them all the same, so that a plan can be rid of what was deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_core.forms import tasks
from memory_core.forms.board import TaskRow, board
from memory_core.forms.more import more_in, with_more
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class PutRow:
    """A task on a board: a new one, or new values for that of its title (`whole`: empty ones too, `mark` alone)."""

    page: PageId
    row: TaskRow
    whole: bool = False
    given: TaskRow | None = None
    keys: tuple[MessageKey, ...] = ()
    mark: tuple[MessageKey, ...] = ()
    board: Form = Form.ATTENTION
    op: Literal["put_row"] = "put_row"

    def apply(self, text: str, form: Form) -> str:
        """The page with the row; unchanged where not the `given` row stands."""
        on = board(form)
        if self.given is not None and on.parse(text).row(self.row.task) != self.given:
            return text
        return on.with_task(text, self.row, self.mark if self.whole else self.keys, whole=self.whole)

    def undo(self, before: str) -> PutRow | DropRow:
        """The row that stood there, or none."""
        on = board(self.board)
        old = on.parse(before).row(self.row.task)
        new = on.parse(self.apply(before, self.board)).row(self.row.task)
        if old is None:
            return DropRow(self.page, self.row.task, new, self.keys, self.board)
        mark = on.keys_of(before, task=old.task)
        return PutRow(self.page, old, True, new, self.keys, mark, self.board)


@dataclass(frozen=True, slots=True)
class DropRow:
    """A task leaves a board."""

    page: PageId
    title: str
    given: TaskRow | None = None
    keys: tuple[MessageKey, ...] = ()
    board: Form = Form.ATTENTION
    op: Literal["drop_row"] = "drop_row"

    def apply(self, text: str, form: Form) -> str:
        """The page without the row; unchanged where not the `given` row stands."""
        on = board(form)
        if self.given is not None and on.parse(text).row(self.title) != self.given:
            return text
        return on.without_task(text, self.title)

    def undo(self, before: str) -> PutRow:
        """The row as it stood."""
        on = board(self.board)
        old = on.parse(before).row(self.title) or TaskRow(self.title)
        mark = on.keys_of(before, task=self.title)
        return PutRow(self.page, old, True, None, self.keys, mark, self.board)


@dataclass(frozen=True, slots=True)
class RaiseRows:
    """The tasks of these titles stand first, in that order: what is overdue."""

    page: PageId
    titles: tuple[str, ...]
    board: Form = Form.ATTENTION
    op: Literal["raise_rows"] = "raise_rows"

    def apply(self, text: str, form: Form) -> str:
        """The page with its tasks in that order."""
        return board(form).raised(text, self.titles)

    def undo(self, before: str) -> RaiseRows:
        """The order that stood there."""
        rows = board(self.board).parse(before).tasks
        return RaiseRows(self.page, tuple(row.task for row in rows), self.board)


@dataclass(frozen=True, slots=True)
class PutMore:
    """The board tells that so many open tasks more stand in the task list; 0: that it shows all of them."""

    page: PageId
    count: int
    board: Form = Form.ATTENTION
    op: Literal["put_more"] = "put_more"

    def apply(self, text: str, form: Form) -> str:
        """The page with the line, or without it."""
        return with_more(text, form, self.count)

    def undo(self, before: str) -> PutMore:
        """The number that stood there."""
        return PutMore(self.page, more_in(before, self.board), self.board)


@dataclass(frozen=True, slots=True)
class PutBlocker:
    """A blocker, or an item of the board's `section`, said in the messages `keys`; a known one only gets the keys."""

    page: PageId
    text: str
    keys: tuple[MessageKey, ...] = ()
    section: str = ""
    board: Form = Form.ATTENTION
    op: Literal["put_blocker"] = "put_blocker"

    def apply(self, text: str, form: Form) -> str:
        """The page with the blocker."""
        return board(form).with_blocker(text, self.text, self.keys, self.section)

    def undo(self, before: str) -> DropBlocker:
        """Without it, or without the keys that were new."""
        known = board(self.board).keys_of(before, blocker=self.text, section=self.section)
        new = tuple(key for key in self.keys if key not in known)
        return DropBlocker(self.page, self.text, new, self.section, self.board)


@dataclass(frozen=True, slots=True)
class DropBlocker:
    """A blocker is gone; with `keys` only if it was said in those alone, else they leave its mark."""

    page: PageId
    text: str
    keys: tuple[MessageKey, ...] = ()
    section: str = ""
    board: Form = Form.ATTENTION
    op: Literal["drop_blocker"] = "drop_blocker"

    def apply(self, text: str, form: Form) -> str:
        """The page without the blocker."""
        on = board(form)
        left = set(on.keys_of(text, blocker=self.text, section=self.section)) - set(self.keys)
        if not self.keys or not left:
            return on.without_blocker(text, self.text, self.section)
        for key in self.keys:
            text = on.without_key_of(text, self.text, key, self.section)
        return text

    def undo(self, before: str) -> PutBlocker:
        """With it again."""
        known = board(self.board).keys_of(before, blocker=self.text, section=self.section)
        return PutBlocker(self.page, self.text, known, self.section, self.board)


@dataclass(frozen=True, slots=True)
class PutFact:
    """A fact of the environment, said in the messages `keys`; an empty value removes it."""

    page: PageId
    key: str
    value: str
    keys: tuple[MessageKey, ...] = ()
    given: str | None = None
    given_keys: tuple[MessageKey, ...] = ()
    board: Form = Form.ATTENTION
    op: Literal["put_fact"] = "put_fact"

    def apply(self, text: str, form: Form) -> str:
        """The page with the fact; unchanged where not the `given` value stands."""
        on = board(form)
        if self.given is not None and on.parse(text).fact(self.key) != self.given:
            return text
        return on.with_fact(text, self.key, self.value, self.keys)

    def undo(self, before: str) -> PutFact:
        """The value that stood there, or none."""
        on = board(self.board)
        new = on.parse(self.apply(before, self.board)).fact(self.key)
        old = on.parse(before).fact(self.key)
        keys = on.keys_of(before, fact=self.key)
        return PutFact(self.page, self.key, old, keys, new, self.keys, self.board)


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


@dataclass(frozen=True, slots=True)
class MendTasks:
    """A pending_tasks.json that is no JSON is written anew from what could be read of it (a copy is kept before)."""

    page: PageId
    at: datetime
    op: Literal["mend_tasks"] = "mend_tasks"

    def apply(self, text: str, form: Form) -> str:
        """The file anew; a sound one as it is."""
        return tasks.mended(text, self.at)

    def undo(self, before: str) -> MendTasks:
        """It stays mended."""
        return self
