"""Timers in memory: the twin of the ledger's, and the timers of a journey that must ring no others (an import)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.ledger.timers import Timer
from memory_core.ledger.values import storable, utc


@dataclass(frozen=True, slots=True)
class MemoryTimers:
    """What is due when, in memory."""

    _timers: dict[str, Timer] = field(default_factory=dict)

    async def set(self, timer: Timer) -> None:
        """Set or move the timer of that key."""
        self._timers[timer.key] = replace(timer, due_at=utc(timer.due_at), about=storable(timer.about))

    async def cancel(self, key: str) -> None:
        """Remove the timer of that key, if any."""
        self._timers.pop(key, None)

    async def due(self, now: datetime) -> tuple[Timer, ...]:
        """Timers with `due_at` up to and including `now`, earliest first."""
        ripe = [timer for timer in self._timers.values() if timer.due_at <= now]
        return tuple(sorted(ripe, key=lambda timer: (timer.due_at, timer.key)))

    async def next_due(self) -> datetime | None:
        """The earliest `due_at`; None where nothing is set."""
        return min((timer.due_at for timer in self._timers.values()), default=None)
