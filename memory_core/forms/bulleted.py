"""A page of what is being done that is made of bullets (active_context.md, channel_context): one way to change it.

Which sections there are, what status each says, and where a task of each status belongs, is the page's own
(memory_core.forms.active, memory_core.forms.channel). A task whose status moves goes to the end of its section with
all that hangs below it (memory_core.forms.task_line). Blockers and topics are items, facts are `key: value` items
(memory_core.forms.listed). Only the line that is ours to change is touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from memory_core.forms import listed
from memory_core.forms.attention import Attention, TaskRow
from memory_core.forms.marks import marked, unmarked
from memory_core.forms.task_line import (
    Placed,
    as_read,
    find,
    merged,
    placed,
    plain_item,
    with_keys,
    without_statement,
    written,
)
from memory_core.forms.tasks import TaskStatus, status_of
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat

_DONE = re.compile(r"\bdone (\d{4}-\d\d-\d\d)\b")
_ENVIRONMENT = "Environment"


@dataclass(frozen=True, slots=True)
class Bulleted:
    """The shape of such a page.

    `implied`: the sections with tasks, each with the status that it says. `home`: where a task of a status belongs;
    one without a home leaves the page. `plain`: the sections in which every bullet is a task. `items`: the sections
    of items, the blockers' one first. `keeps_days`: after how many days what was done leaves the page.
    """

    implied: Mapping[str, str]
    home: Mapping[TaskStatus, str]
    plain: tuple[str, ...]
    items: tuple[str, ...]
    keeps_days: int

    def parse(self, text: str) -> Attention:
        """Read a page; never raises."""
        rows = {one.row.key: one.row for one in reversed(list(self._tasks(text))) if one.row.key}
        blockers = listed.items(text, self.items[0], plain_item)
        return Attention(tuple(reversed(rows.values())), blockers, listed.facts(text, _ENVIRONMENT))

    def with_task(self, text: str, row: TaskRow, keys: Sequence[MessageKey] = (), *, whole: bool = False) -> str:
        """The page with that task, said in those messages: a new line, or that of its title with the values of `row`.

        Empty values leave what stands there, unless the `whole` row is put; then its mark is `keys` alone.
        """
        old = find(self._tasks(text), row.task)
        if old is None:
            home = self._home(row.status)
            return text if home is None else listed.append(text, home, marked(self._line(row, home), keys))
        new = merged(old.row, row, whole=whole)
        home = self._home(new.status)
        if home is None:
            return self._without(text, old)
        plain = unmarked(old.line.text)[0] if new == old.row and home == old.section else self._line(new, home)
        line = with_keys(old.line.text, plain, keys, exactly=whole)
        if home == old.section:
            return text[: old.line.start] + line + text[old.line.end :]
        return listed.append(self._without(text, old), home, line + text[old.line.end : old.end])

    def without_task(self, text: str, title: str) -> str:
        """The page without the task of that title and what hangs below it."""
        old = find(self._tasks(text), title)
        return text if old is None else self._without(text, old)

    def without_done(self, text: str, today: date) -> str:
        """The page without the tasks that the bot marked as done `keeps_days` ago or earlier."""
        last = (today - timedelta(days=self.keeps_days)).isoformat()
        for one in reversed(list(self._tasks(text))):
            found = _DONE.search(one.row.notes)
            if status_of(one.row.status) is TaskStatus.DONE and found and found[1] <= last:
                text = self._without(text, one)
        return text

    def raised(self, text: str, titles: Sequence[str]) -> str:
        """The page with the tasks of those titles first in their sections, in that order."""
        for section in self.implied:
            found = (one for one in self._tasks(text) if one.section == section)
            spans = [(one.row.key, one.line.start, one.end) for one in found]
            text = listed.permuted(text, spans, [fold(flat(title)) for title in titles])
        return text

    def with_blocker(self, text: str, blocker: str, keys: Sequence[MessageKey] = (), section: str = "") -> str:
        """The page with that item, said in those messages. A known one only gets the keys, if it has a mark."""
        return listed.with_item(text, section or self.items[0], blocker, keys, plain_item)

    def without_blocker(self, text: str, blocker: str, section: str = "") -> str:
        """The page without that item."""
        return listed.without_item(text, section or self.items[0], blocker, plain_item)

    def without_key_of(self, text: str, blocker: str, key: MessageKey, section: str = "") -> str:
        """The page with an item that no longer names that message."""
        return listed.without_key_of(text, section or self.items[0], blocker, key, plain_item)

    def keys_of(
        self, text: str, *, task: str = "", blocker: str = "", fact: str = "", section: str = ""
    ) -> tuple[MessageKey, ...]:
        """The messages that the mark of a task, of an item, or of the fact of that key names."""
        if task:
            old = find(self._tasks(text), task)
            return unmarked(old.line.text)[1] if old else ()
        if blocker:
            return listed.keys_of(text, section or self.items[0], blocker, plain_item)
        return listed.keys_of_fact(text, _ENVIRONMENT, fact)

    def without_message(self, text: str, key: MessageKey) -> str:
        """The page without what that message stated: tasks, and items and facts that came from it alone."""
        for one in reversed(list(self._tasks(text))):
            line = without_statement(one.line.text, key)
            if line is None:
                text = self._without(text, one)
            elif line != one.line.text:
                text = text[: one.line.start] + line + text[one.line.end :]
        return listed.without_message(text, (*self.items, _ENVIRONMENT), key)

    def with_fact(self, text: str, key: str, value: str, keys: Sequence[MessageKey] = ()) -> str:
        """The page with `key: value`, in the place of an earlier value of that key; '' removes it."""
        return listed.with_fact(text, _ENVIRONMENT, key, value, keys)

    def _tasks(self, text: str) -> Iterator[Placed]:
        return placed(text, self.implied, self.plain)

    def _home(self, status: str) -> str | None:
        return self.home.get(status_of(status) or TaskStatus.PENDING)

    def _line(self, row: TaskRow, section: str) -> str:
        return written(as_read(row), self.implied[section])

    def _without(self, text: str, one: Placed) -> str:
        return listed.without_line(text, one.line, one.end)
