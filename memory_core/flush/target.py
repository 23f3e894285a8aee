"""What a part of a draft needs of the whole (memory_core.flush.draft.Draft), so that each part stands alone.

Target          pages as they will read, and operations on them
TimedTarget     and when it is, where the scope lives, and which records were written or used by this draft
"""

from __future__ import annotations

from datetime import date, datetime, tzinfo
from typing import Protocol

from memory_core.ids import PageId
from memory_core.layouts import Table
from memory_core.operations import Operation


class Target(Protocol):
    """A draft that changes go into."""

    table: Table
    texts: dict[PageId, str]

    def do(self, operation: Operation, *, undone: bool = True) -> bool:
        """Add the operation, unless it changes nothing."""
        ...


class TimedTarget(Target, Protocol):
    """A draft that knows the time, and whose it is; `name` is the group's ('' in a DM)."""

    zone: tzinfo
    now: datetime
    name: str
    touched: set[str]
    referenced: date | None
