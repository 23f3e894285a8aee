"""What happens without a message: silent conversations are saved, and days end.

    idle:<conversation>   nothing was said since the end of its last turn, for the idle time → saved, once
    day:<scope>           the day changes in the scope's zone, and something was said there since → saved
    again:<n>:<scope>     the nth try of a flush failed (bot/retries.py) → tried again
    sleep:<scope>         a night of the scope (bot/sleeping.py) → looked at, one scope at a time, after all saves

A turn is not over while its answer is being made: until then its scope is not saved, at most HELD_S late, and the
silence counts from its end. Silence is measured by the monotonic clock, so that a jump of the wall clock neither ends
it nor makes it longer; a day ends by the wall clock. The timers in the ledger are for the next start: an idle timer
is written once and looks, when it rings, at when the conversation was last active, so a busy room costs one write per
idle period, not one per message. `rearm` takes up, at a start, what waited.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import TypeAlias

import structlog

from memory_core.clock import Clock, next_day
from memory_core.errors import LedgerFailed, RememError
from memory_core.flush.engine import Trigger
from memory_core.ids import Conversation, DirectScope, Scope, scope_of_key
from memory_core.ledger.timers import NEVER, Timer, Timers

LONGEST_SLEEP_S = 60.0
"""The sweeper looks at the clock at least this often, so that a jump of the wall clock is noticed."""

HELD_S = 3600.0
"""How long a flush waits at most for turns to end: a scope in which there is always one would never be saved."""

LOOK_AGAIN_S = 1.0
"""How often it is asked meanwhile whether the turns have ended."""

_CLOSE_S = 0.001
"""Two clocks, one in fractions and one in microseconds, agree to this."""

_log = structlog.get_logger()

Flush: TypeAlias = Callable[[Scope, Trigger], Awaitable[object]]
"""Saves a scope. Raises RememError."""

ZoneOf: TypeAlias = Callable[[Scope], Awaitable[tzinfo]]
"""The zone in which a scope's days change. Raises StoreError."""

_RESTING = "resting"
"""The timer that holds where a replay is. It never rings."""

Sleeper: TypeAlias = Callable[[Timer], Awaitable[None]]
"""Lets the scope of a `sleep:` timer sleep, and moves or cancels the timer. Raises LedgerFailed."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A conversation in which somebody said something that is not saved yet, and when it was last active."""

    conversation: Conversation
    scope: Scope
    last_active: datetime


@dataclass(slots=True)
class _Silence:
    """A conversation that was active at `since_s`, and is looked at when the monotonic clock shows `rings_s`."""

    scope: Scope
    since_s: float
    rings_s: float


class Schedule:
    """The timers of all conversations and scopes. `flush` saves a scope, `zone_of` tells where it lives."""

    def __init__(self, timers: Timers, clock: Clock, idle_s: int, flush: Flush, zone_of: ZoneOf) -> None:
        self._timers = timers
        self._clock = clock
        self._idle_s = idle_s
        self._flush = flush
        self._zone_of = zone_of
        self._silences: dict[str, _Silence] = {}
        self._days: set[str] = set()
        self._turns: Counter[str] = Counter()
        self._held = False
        self._changed = asyncio.Event()
        self._began_s = clock.monotonic_s()
        self.sleeper: Sleeper | None = None
        """None: `sleep:` timers wait."""

    @asynccontextmanager
    async def turn(self, conversation: Conversation, scope: Scope) -> AsyncIterator[None]:
        """A turn of the conversation, for the length of the block; its silence begins at the end.

        It is timed in this process also where the ledger cannot keep the timer: then a start takes up what waits.
        """
        self._turns[scope.key] += 1
        try:
            yield
        finally:
            self._turns[scope.key] -= 1
            try:
                await self.active(conversation, scope)
            except LedgerFailed as refused:
                _log.warning("a timer was not kept", conversation=str(conversation), why=str(refused))

    async def active(self, conversation: Conversation, scope: Scope) -> None:
        """The conversation is active now: its idle time starts again. Raises LedgerFailed."""
        now_s = self._clock.monotonic_s()
        silence = self._silences.get(_idle(conversation))
        if silence is not None and silence.scope == scope:
            silence.since_s = now_s
        else:
            await self._listen(conversation, scope, now_s)
        await self._end_of_day(scope, self._clock.now())

    async def again(self, scope: Scope, attempt: int, pause_s: float) -> None:
        """Save the scope again in `pause_s` seconds, because this `attempt` failed. Raises LedgerFailed."""
        due = self._clock.now() + timedelta(seconds=pause_s)
        await self._timers.set(Timer(f"again:{attempt}:{scope.key}", due, _about(scope)))
        self._changed.set()

    async def rearm(self, waiting: Iterable[Waiting]) -> None:
        """At a start: take up what waits to be saved, as if there had been no stop. Raises LedgerFailed."""
        now, now_s = self._clock.now(), self._clock.monotonic_s()
        for one in sorted(waiting, key=lambda one: one.last_active):
            await self._listen(one.conversation, one.scope, now_s - (now - one.last_active).total_seconds())
            await self._end_of_day(one.scope, one.last_active)

    async def _listen(self, conversation: Conversation, scope: Scope, since_s: float) -> None:
        key, rings_s = _idle(conversation), since_s + self._idle_s
        self._silences[key] = _Silence(scope, since_s, rings_s)
        await self._timers.set(Timer(key, self._wall(rings_s), _about(scope)))
        self._changed.set()

    async def _end_of_day(self, scope: Scope, moment: datetime) -> None:
        """Arm the day change that comes after `moment`, unless one is armed."""
        key = f"day:{scope.key}"
        if key in self._days:
            return
        try:
            zone = await self._zone_of(scope)
        except RememError as refused:
            _log.warning("the end of the day is not awaited", scope=scope.key, why=str(refused))
            return
        await self._timers.set(Timer(key, next_day(zone, moment), _about(scope)))
        self._days.add(key)
        self._changed.set()

    def _wall(self, at_s: float) -> datetime:
        """The wall time at which the monotonic clock will show `at_s`."""
        return self._clock.now() + timedelta(seconds=at_s - self._clock.monotonic_s())

    async def rest(self, note: str) -> None:
        """Keep durably, for `go_on` in another process, a note and since when it is silent where.

        For a clock that is moved by hand: it stands while nobody moves it. Raises LedgerFailed.
        """
        now, now_s = self._clock.now(), self._clock.monotonic_s()
        since = {key: now + timedelta(seconds=one.since_s - now_s) for key, one in self._silences.items()}
        about = {"note": note, "since": {key: moment.isoformat() for key, moment in since.items()}}
        await self._timers.set(Timer(_RESTING, NEVER, json.dumps(about)))

    async def go_on(self) -> str:
        """Take up what `rest` kept, as far as the ledger's timers still wait for it; its note, '' where it kept none.

        Raises LedgerFailed.
        """
        now, now_s = self._clock.now(), self._clock.monotonic_s()
        timers = {one.key: one for one in await self._timers.due(NEVER)}
        self._days = {key for key in timers if key.startswith("day:")}
        if _RESTING not in timers:
            return ""
        kept = json.loads(timers[_RESTING].about)
        for key, since in kept["since"].items():
            if (timer := timers.get(key)) is not None:
                since_s, rings_s = (
                    now_s + (moment - now).total_seconds() for moment in (datetime.fromisoformat(since), timer.due_at)
                )
                self._silences[key] = _Silence(_scope_in(timer), since_s, rings_s)
        return str(kept["note"])

    async def next_due(self) -> datetime | None:
        """When something is due next, as the ledger has it; None where nothing is set."""
        return await self._timers.next_due()

    async def ring(self) -> None:
        """Handle everything that is due now, each scope once; of the scopes that may sleep, the first."""
        flushed: set[str] = set()
        self._held = False
        nights: list[Timer] = []
        for key, scope in (*await self._silent(), *await self._due(nights)):
            if scope.key not in flushed:
                flushed.add(scope.key)
                await self._flush_one(scope, Trigger.DAY if key.startswith("day:") else Trigger.IDLE)
            if key not in self._silences and key not in self._days:  # else it was armed anew meanwhile
                await self._timers.cancel(key)
        await self._let_sleep(nights)

    async def _let_sleep(self, nights: Sequence[Timer]) -> None:
        """Let the first of these scopes sleep in which no turn is made; the others are asked again in a second."""
        now, up_s = self._clock.now(), self._clock.monotonic_s() - self._began_s  # before, nobody waited
        late = [(one, min(up_s, (now - one.due_at).total_seconds())) for one in nights]
        free = [one for one, late_s in late if not self._is_held(_scope_in(one), late_s)]
        if free and self.sleeper is not None:
            self._held = self._held or len(free) > 1
            await self.sleeper(free[0])

    async def _silent(self) -> list[tuple[str, Scope]]:
        """The conversations whose silence is over now; those that were active meanwhile ring later."""
        now_s, over = self._clock.monotonic_s(), list[tuple[str, Scope]]()
        for key, silence in tuple(self._silences.items()):
            if silence.rings_s > now_s + _CLOSE_S:
                continue
            rings_s = silence.since_s + self._idle_s
            if rings_s > now_s + _CLOSE_S:
                silence.rings_s = rings_s
                await self._timers.set(Timer(key, self._wall(rings_s), _about(silence.scope)))
            elif not self._is_held(silence.scope, now_s - rings_s):
                del self._silences[key]
                over.append((key, silence.scope))
        return over

    async def _due(self, nights: list[Timer]) -> list[tuple[str, Scope]]:
        """What the ledger's timers say: days that ended, and silences of before a start that nobody took up.

        Timers of sleep are put into `nights`.
        """
        now, due = self._clock.now(), list[tuple[str, Scope]]()
        for timer in await self._timers.due(now):
            if timer.key.startswith("sleep:"):
                nights.append(timer)
                continue
            silence, scope = self._silences.get(timer.key), _scope_in(timer)
            if silence is not None and silence.rings_s > self._clock.monotonic_s() + _CLOSE_S:
                # the wall clock went ahead
                await self._timers.set(Timer(timer.key, self._wall(silence.rings_s), timer.about))
            elif silence is None and not self._is_held(scope, (now - timer.due_at).total_seconds()):
                self._days.discard(timer.key)
                due.append((timer.key, scope))
        return due

    def _is_held(self, scope: Scope, overdue_s: float) -> bool:
        """Must the flush wait for the end of a turn?"""
        held = self._turns[scope.key] > 0 and overdue_s < HELD_S
        self._held = self._held or held
        return held

    async def _flush_one(self, scope: Scope, trigger: Trigger) -> None:
        try:
            await self._flush(scope, trigger)
        except RememError as refused:
            _log.error("save failed", scope=scope.key, trigger=trigger.value, why=str(refused))

    async def run(self) -> None:
        """Sleep until something is due, for ever (cancel to end)."""
        while True:
            self._changed.clear()
            try:
                await self.ring()
                pause_s = await self._pause_s()
            except RememError as refused:  # the ledger cannot write now: what is due stays due
                _log.error("saving without being asked waits", why=str(refused))
                pause_s = LONGEST_SLEEP_S
            try:
                async with asyncio.timeout(pause_s):  # wait_for of Python 3.11 may swallow a cancellation
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _pause_s(self) -> float:
        due = await self.next_due()
        pauses = [LONGEST_SLEEP_S] if due is None else [LONGEST_SLEEP_S, (due - self._clock.now()).total_seconds()]
        pauses += [silence.rings_s - self._clock.monotonic_s() for silence in self._silences.values()]
        return max(LOOK_AGAIN_S if self._held else 0.0, min(pauses))


def _idle(conversation: Conversation) -> str:
    return f"idle:{conversation}"


def _about(scope: Scope) -> str:
    """What a timer must tell after a start."""
    return json.dumps({"scope": scope.key, "owner": isinstance(scope, DirectScope) and scope.owner})


def _scope_in(timer: Timer) -> Scope:
    about = json.loads(timer.about)
    return scope_of_key(about["scope"], owner=about["owner"])
