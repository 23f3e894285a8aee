"""Boards: the pages that say what is being done. One interface, whatever form a layout gives them.

    ATTENTION   a table of tasks, blockers, a snapshot         memory_core.forms.attention   (apm)
    ACTIVE      in progress, waiting, completed                memory_core.forms.active      (adaptive, DM)
    CHANNEL     topics, unresolved points                      memory_core.forms.channel     (adaptive, group)

Every function takes a page's text and gives the new one: done twice is done once, and what a person wrote elsewhere
on the page stays byte for byte. A layout without a board keeps tasks and blockers in pending_tasks.json and journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from memory_core.forms import attention
from memory_core.forms.active import ACTIVE
from memory_core.forms.attention import Attention, TaskRow
from memory_core.forms.channel import CHANNEL
from memory_core.ids import MessageKey
from memory_core.layouts import Form

__all__ = ["BOARDS", "Attention", "Board", "TaskRow", "board"]

BOARDS = frozenset({Form.ATTENTION, Form.ACTIVE, Form.CHANNEL})
"""The forms that are boards."""


class Board(Protocol):
    """How a board is read and changed. Texts in, texts out; nothing raises."""

    def parse(self, text: str) -> Attention:
        """What the page says."""
        ...

    def with_task(self, text: str, row: TaskRow, keys: Sequence[MessageKey] = (), *, whole: bool = False) -> str:
        """The page with that task; empty values leave what stands there, unless the `whole` row is put."""
        ...

    def without_task(self, text: str, title: str) -> str:
        """The page without the task of that title."""
        ...

    def without_done(self, text: str, today: date) -> str:
        """The page without what the bot marked as done long enough ago for this form."""
        ...

    def raised(self, text: str, titles: Sequence[str]) -> str:
        """The page with those tasks first, in that order."""
        ...

    def with_blocker(self, text: str, blocker: str, keys: Sequence[MessageKey] = (), section: str = "") -> str:
        """The page with that item in its section (none: the blockers'); a known one only gets the keys."""
        ...

    def without_blocker(self, text: str, blocker: str, section: str = "") -> str:
        """The page without that item."""
        ...

    def without_key_of(self, text: str, blocker: str, key: MessageKey, section: str = "") -> str:
        """The page with an item that no longer names that message."""
        ...

    def keys_of(
        self, text: str, *, task: str = "", blocker: str = "", fact: str = "", section: str = ""
    ) -> tuple[MessageKey, ...]:
        """The messages that the mark of a task, an item or a fact names."""
        ...

    def without_message(self, text: str, key: MessageKey) -> str:
        """The page without what came from that message alone, and without its key in the rest."""
        ...

    def with_fact(self, text: str, key: str, value: str, keys: Sequence[MessageKey] = ()) -> str:
        """The page with that fact of the environment; an empty value removes it."""
        ...


def board(form: Form) -> Board:
    """The board of that form; a page of another form is read like attention."""
    match form:
        case Form.ACTIVE:
            return ACTIVE
        case Form.CHANNEL:
            return CHANNEL
        case _:
            return attention
