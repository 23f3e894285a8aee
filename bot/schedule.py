"""What happens without a message: idle conversations are saved, and days end.

One sweeper over the durable timers. A conversation's idle timer is armed once and looks, when it rings, at when the
conversation was last active: if that is not long enough ago, it moves itself. So a busy room costs one write per idle
period, not one per message. After a restart a timer rings at the latest one idle period later than it would have.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from memory_core.clock import Clock
from memory_core.errors import RememError
from memory_core.ids import Conversation, DirectScope, RoomKey, Scope, scope_of_key
from memory_core.ledger.base import Timer, Timers

LONGEST_SLEEP_S = 60.0
"""The sweeper looks at the clock at least this often, so that a jump of the wall clock is noticed."""

_log = structlog.get_logger()

Flush = Callable[[Scope], Awaitable[None]]


class Schedule:
    """The idle timers of all conversations. `flush` saves a scope whose conversation fell silent."""

    def __init__(self, timers: Timers, clock: Clock, idle_s: int, flush: Flush) -> None:
        self._timers = timers
        self._clock = clock
        self._idle = timedelta(seconds=idle_s)
        self._flush = flush
        self._active: dict[str, datetime] = {}
        self._changed = asyncio.Event()

    async def active(self, conversation: Conversation, scope: Scope) -> None:
        """The conversation is active now: its idle time starts again."""
        key = f"idle:{conversation}"
        now = self._clock.now()
        armed = key in self._active
        self._active[key] = now
        if not armed:
            about = json.dumps(
                {
                    "scope": scope.key,
                    "owner": isinstance(scope, DirectScope) and scope.owner,
                    "room": conversation.room,
                    "thread": conversation.thread,
                }
            )
            await self._timers.set(Timer(key, now + self._idle, about))
            self._changed.set()

    async def next_due(self) -> datetime | None:
        """When something is due next; None where nothing is set."""
        return await self._timers.next_due()

    async def ring(self) -> None:
        """Handle everything that is due now, each once."""
        now = self._clock.now()
        flushed: set[str] = set()
        for timer in await self._timers.due(now):
            last = self._active.get(timer.key)
            if last is not None and last + self._idle > now:
                await self._timers.set(Timer(timer.key, last + self._idle, timer.about))
                continue
            self._active.pop(timer.key, None)
            scope, _ = self._about(timer)
            if scope.key not in flushed:
                flushed.add(scope.key)
                await self._flush_one(scope)
            await self._timers.cancel(timer.key)

    async def _flush_one(self, scope: Scope) -> None:
        try:
            await self._flush(scope)
        except RememError as refused:
            _log.error("idle save failed", scope=scope.key, why=str(refused))

    @staticmethod
    def _about(timer: Timer) -> tuple[Scope, Conversation]:
        about = json.loads(timer.about)
        return scope_of_key(about["scope"], owner=about["owner"]), Conversation(
            RoomKey(about["room"]), about["thread"]
        )

    async def run(self) -> None:
        """Sleep until something is due, for ever (cancel to end)."""
        while True:
            await self.ring()
            due = await self.next_due()
            pause_s = LONGEST_SLEEP_S
            if due is not None:
                pause_s = min(pause_s, max(0.0, (due - self._clock.now()).total_seconds()))
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), pause_s)
            except TimeoutError:
                continue
