"""Sleep without being asked: when a scope is looked at, what is done then, and what is remembered of it.

    sleep:<scope>   a timer in the ledger, set when the scope is first saved, moved after each look (bot/nights.py)

A look reads the heartbeat and asks memory_core.sleep.due. What is due is done, deep first, once each, however much
was missed; the heartbeat on disk remembers it. So neither a restart nor a flush makes a look more. Deep sleep does
not run where no journal holds anything new and none is old enough for the archive; REM does, because age is its work.
The schedule rings one timer at a time, after all that is to be saved. No answer waits for a sleep; the next flush
that nobody asked for does, for as long as that one run takes.

    a turn in the scope     the schedule asks again every second, an hour at most
    a flush of the scope    the look is put off by BUSY_S
    a failure               logged, kept in the timer, tried again after BACK_OFF_S
    no index                nothing to look after; the next flush arms the scope again

With REMEM_SLEEP=off no timer is set, and one that was rings once and goes. A person may still ask (`now`).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from typing import TypeAlias

import structlog

from bot.nights import LEAST, next_look, own_night
from memory_core.clock import day_in
from memory_core.errors import NoIndex, RememError, SleepFailed
from memory_core.forms.heartbeat import Heartbeat
from memory_core.gate import open_index
from memory_core.handle import Handle, Handles
from memory_core.ids import DirectScope, Scope, scope_of_key
from memory_core.layouts import Form
from memory_core.ledger.timers import NEVER, Timer, Timers
from memory_core.sleep.deep import JOURNAL_DAYS
from memory_core.sleep.due import due, next_due
from memory_core.sleep.report import Report, Stage
from memory_core.sleep.stages import IDLE_RUNS, read_heartbeat, undigested
from memory_core.zone import zone_of

SLEEP = "sleep:"
"""How the keys of these timers begin."""

BACK_OFF_S = (600.0, 3600.0, 21_600.0, 86_400.0)
"""After how long a sleep that failed is tried again: the first time, the second, …; then always the last."""

BUSY_S = 60.0
"""How long a look is put off while the scope is being saved."""

FARTHEST = timedelta(days=8)
"""A timer that is farther off was set when the clock was wrong."""

_UNFORESEEN = "something went wrong in it that nobody foresaw; the log has the trace"

_log = structlog.get_logger()

Sleep: TypeAlias = Callable[[Scope, Stage], Awaitable[Report | None]]
"""Does one stage of a scope now; None while the scope is being saved. Raises RememError."""


@dataclass(frozen=True, slots=True)
class Night:
    """What a scope's timer tells: when it rings, how many tries have failed in a row, and why the last one did."""

    scope: Scope
    at: datetime
    tries: int = 0
    why: str = ""

    @property
    def timer(self) -> Timer:
        """It as the ledger keeps it. The schedule reads `scope` and `owner` too."""
        owner = isinstance(self.scope, DirectScope) and self.scope.owner
        about = {"scope": self.scope.key, "owner": owner, "tries": self.tries, "why": self.why}
        return Timer(key_of(self.scope), self.at, json.dumps(about))


def night_in(timer: Timer) -> Night:
    """The night of such a timer."""
    about = json.loads(timer.about)
    scope = scope_of_key(about["scope"], owner=about["owner"])
    return Night(scope, timer.due_at, about["tries"], about["why"])


def key_of(scope: Scope) -> str:
    """The key of the scope's timer."""
    return f"{SLEEP}{scope.key}"


@dataclass(frozen=True, slots=True)
class Rest:
    """What a status tells of a scope's sleep. `next_at` None: no timer is set. `trouble`: why the last try failed."""

    last_deep: datetime | None
    last_rem: datetime | None
    next_at: datetime | None
    undigested: int
    trouble: str = ""
    stuck: int = 0
    """Runs in a row that met new notes and could read nothing new of them."""
    undone: Mapping[Stage, datetime] = field(default_factory=dict)
    """Sleeps that were taken back, and when they had run."""


async def rest_of(handle: Handle, zone: tzinfo, night: Night | None) -> Rest:
    """How the scope's sleep stands. Raises StoreError."""
    beat = await read_heartbeat(handle)
    waiting = await undigested(handle, zone, beat)
    at, trouble = (night.at, night.why) if night is not None else (None, "")
    undone = {stage: at for stage, at in ((Stage.DEEP, beat.undone_deep), (Stage.REM, beat.undone_rem)) if at}
    stuck = beat.idle_runs if beat.idle_runs >= IDLE_RUNS else 0
    return Rest(beat.last_deep, beat.last_rem, at, waiting, trouble, stuck, undone)


class Sleeping:
    """The sleep of all scopes. `sleep` does one stage; `on`: do they sleep without being asked?"""

    def __init__(self, handles: Handles, timers: Timers, sleep: Sleep, *, on: bool = True) -> None:
        self._handles = handles
        self._timers = timers
        self._sleep = sleep
        self._on = on
        self._nights: dict[str, Night] | None = None

    @property
    def on(self) -> bool:
        """Do scopes sleep without being asked?"""
        return self._on

    async def arm(self, scope: Scope) -> None:
        """The scope was saved: set its timer, unless one is set. What fails is logged, and made up for next time."""
        if not self._on:
            return
        try:
            now, night = self._handles.clock.now(), (await self._all()).get(key_of(scope))
            if night is None or night.at > now + FARTHEST:
                zone = await zone_of(self._handles.open(scope))
                await self._set(Night(scope, own_night(scope.key, zone, now)))
        except RememError as refused:
            _log.warning("sleep is not awaited yet", scope=scope.key, why=str(refused))

    async def ring(self, timer: Timer) -> None:
        """The timer rang: look at the scope, do what is due, move the timer. Raises LedgerError where it cannot."""
        night = night_in(timer)
        if not self._on:
            await self._drop(night.scope)
            return
        try:
            at = await self._look(night.scope)
        except NoIndex:
            await self._drop(night.scope)
        except RememError as refused:
            await self._failed(night, str(refused))
        except Exception:  # noqa: BLE001  # the end of this scope's sleep; other scopes must not suffer
            _log.exception("sleep failed", scope=night.scope.key)
            await self._failed(night, _UNFORESEEN)
        else:
            await self._set(Night(night.scope, at))

    async def now(self, scope: Scope, stage: Stage) -> Report | None:
        """Do one stage because somebody asks; None while the scope is being saved. Raises RememError."""
        report = await self._sleep(scope, stage)
        if report is not None and not report.problem and self._on:
            await self._set(Night(scope, await self._next(scope, await read_heartbeat(self._handles.open(scope)))))
        return report

    async def moved(self, scope: Scope) -> None:
        """The scope lives in another zone now: its next look moves to the nights there. What fails is logged; the
        look that was set stands then, and the one after it is set by the new zone.
        """
        if not self._on:
            return
        try:
            handle, night = self._handles.open(scope), (await self._all()).get(key_of(scope))
            if night is None or night.tries:
                return  # the next flush arms it, or a try that failed is made up for
            beat, zone = await read_heartbeat(handle), await zone_of(handle)
            now = self._handles.clock.now()
            slept = beat.ran_deep is not None or beat.ran_rem is not None
            first = own_night(scope.key, zone, now)
            at = next_look(scope.key, zone, next_due(beat, now), now - LEAST) if slept else first
            await self._set(Night(scope, at))
        except RememError as refused:
            _log.warning("sleep keeps its old time", scope=scope.key, why=str(refused))

    async def rest(self, scope: Scope) -> Rest:
        """How the scope's sleep stands. Raises StoreError, LedgerError."""
        handle = self._handles.open(scope)
        night = (await self._all()).get(key_of(scope)) if self._on else None
        return await rest_of(handle, await zone_of(handle), night)

    async def _look(self, scope: Scope) -> datetime:
        """Do what is due; when to look again. Raises RememError where a stage failed."""
        handle = self._handles.open(scope)
        zone, beat, now = await zone_of(handle), await read_heartbeat(handle), self._handles.clock.now()
        notes = await undigested(handle, zone, beat)
        stages = due(beat, notes, now)
        idle = Stage.DEEP in stages and not await _has_journals(handle, zone, beat, now)
        for stage in stages:
            if stage is Stage.DEEP and idle:
                continue
            report = await self._sleep(scope, stage)
            if report is None:
                return now + timedelta(seconds=BUSY_S)
            if report.problem:
                raise SleepFailed(report.problem)
        beat = await read_heartbeat(handle)
        return await self._next(scope, replace(beat, last_deep=now) if idle else beat)

    async def _next(self, scope: Scope, beat: Heartbeat) -> datetime:
        now, zone = self._handles.clock.now(), await zone_of(self._handles.open(scope))
        return next_look(scope.key, zone, next_due(beat, now), now)

    async def _failed(self, night: Night, why: str) -> None:
        pause_s = BACK_OFF_S[min(night.tries, len(BACK_OFF_S) - 1)]
        _log.error("sleep failed", scope=night.scope.key, tries=night.tries + 1, again_in_s=pause_s, why=why)
        at = self._handles.clock.now() + timedelta(seconds=pause_s)
        await self._set(Night(night.scope, at, night.tries + 1, why))

    async def _all(self) -> dict[str, Night]:
        """Every scope's timer, by its key; read from the ledger once."""
        if self._nights is None:
            timers = await self._timers.due(NEVER)
            self._nights = {timer.key: night_in(timer) for timer in timers if timer.key.startswith(SLEEP)}
        return self._nights

    async def _set(self, night: Night) -> None:
        await self._timers.set(night.timer)
        (await self._all())[key_of(night.scope)] = night

    async def _drop(self, scope: Scope) -> None:
        await self._timers.cancel(key_of(scope))
        (await self._all()).pop(key_of(scope), None)


async def _has_journals(handle: Handle, zone: tzinfo, beat: Heartbeat, now: datetime) -> bool:
    """Is there a journal of the day of the last deep sleep or later, or one that is to be archived by now?

    Also one of which nothing can be read: that upkeep is stuck is told by runs alone. Raises NoIndex, StoreError.
    """
    opened = await open_index(handle)
    if opened is None:
        raise NoIndex(f"{handle.scope.key} has no index, so there is nothing to look after.")
    first = day_in(zone, beat.last_deep).isoformat() if beat.last_deep else ""
    old = (day_in(zone, now) - timedelta(days=JOURNAL_DAYS)).isoformat()
    days = [page.partition("/")[2] for page in await opened.pages() if handle.table.rule(page).form is Form.JOURNAL]
    return any(day >= first or day <= old for day in days)
