"""The port to what is due when, across restarts; and to what is only kept under a key, without ever being due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""When a timer is due that only keeps something; every other one is due before."""


@dataclass(frozen=True, slots=True)
class Timer:
    """Something due: `key` names it (one timer a key), `due_at` is wall time, `about` is the caller's own text."""

    key: str
    due_at: datetime
    about: str = ""


class Timers(Protocol):
    """What is due when, across restarts."""

    async def set(self, timer: Timer) -> None:
        """Set or move the timer of that key. Raises LedgerFailed."""
        ...

    async def cancel(self, key: str) -> None:
        """Remove the timer of that key, if any."""
        ...

    async def due(self, now: datetime) -> tuple[Timer, ...]:
        """Timers with `due_at` up to and including `now`, earliest first; they stay until cancelled or moved."""
        ...

    async def next_due(self) -> datetime | None:
        """The earliest `due_at`; None where nothing is set."""
        ...
