"""Silences and days: saved once, moved by activity, kept over a restart, not in the middle of a turn."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from bot.schedule import HELD_S, Schedule, Waiting
from memory_core.clock import ManualClock
from memory_core.errors import LedgerFailed, StoreFailed
from memory_core.flush.engine import Trigger
from memory_core.ids import Conversation, DirectScope, GroupScope, PersonKey, RoomKey, Scope
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.memory_timers import MemoryTimers
from memory_core.ledger.timers import Timer

IDLE_S = 1800
BUILD, OPS = GroupScope("build"), GroupScope("ops")
ROOM, THREAD = Conversation(RoomKey("console:build")), Conversation(RoomKey("console:build"), "t1")


class Saved:
    """Records which scopes were saved; `broken` ones fail."""

    def __init__(self, *broken: Scope) -> None:
        self.scopes: list[Scope] = []
        self.triggers: list[Trigger] = []
        self._broken = broken

    async def __call__(self, scope: Scope, trigger: Trigger) -> None:
        self.scopes.append(scope)
        self.triggers.append(trigger)
        if scope in self._broken:
            raise StoreFailed("no space")


def _made(*broken: Scope) -> tuple[ManualClock, MemoryLedger, Saved, Schedule]:
    clock = ManualClock(datetime(2026, 4, 6, 12, tzinfo=UTC))
    ledger, saved = MemoryLedger(clock), Saved(*broken)
    return clock, ledger, saved, _schedule(ledger, clock, saved)


async def _zone_of(scope: Scope) -> tzinfo:
    """Build lives in Berlin, everybody else in UTC."""
    return ZoneInfo("Europe/Berlin") if scope == BUILD else UTC


def _schedule(ledger: MemoryLedger, clock: ManualClock, saved: Saved, idle_s: int = IDLE_S) -> Schedule:
    return Schedule(ledger.timers, clock, idle_s, saved, _zone_of)


@pytest.mark.asyncio
async def test_a_silent_conversation_is_saved_once() -> None:
    clock, _, saved, schedule = _made()
    await schedule.active(ROOM, BUILD)
    clock.advance(IDLE_S - 1)
    await schedule.ring()
    assert saved.scopes == []
    clock.advance(1)
    await schedule.ring()
    clock.advance(10 * IDLE_S)
    await schedule.ring()
    assert saved.scopes == [BUILD]
    assert saved.triggers == [Trigger.IDLE]


@pytest.mark.asyncio
async def test_every_message_starts_the_silence_anew() -> None:
    clock, _, saved, schedule = _made()
    for _ in range(10):
        await schedule.active(ROOM, BUILD)
        clock.advance(IDLE_S - 1)
        await schedule.ring()
    assert saved.scopes == []
    clock.advance(1)
    await schedule.ring()
    assert saved.scopes == [BUILD]


@pytest.mark.asyncio
async def test_two_silent_conversations_of_a_scope_cost_one_save() -> None:
    clock, _, saved, schedule = _made()
    await schedule.active(ROOM, BUILD)
    await schedule.active(THREAD, BUILD)
    clock.advance(IDLE_S)
    await schedule.ring()
    assert saved.scopes == [BUILD]


@pytest.mark.asyncio
async def test_timers_survive_a_restart() -> None:
    clock, ledger, _, schedule = _made()
    owner = DirectScope(PersonKey("console:me"), owner=True)
    await schedule.active(Conversation(RoomKey("console:@me")), owner)
    saved = Saved()
    after = _schedule(ledger, clock, saved)
    clock.advance(IDLE_S)
    await after.ring()
    assert saved.scopes == [owner]


@pytest.mark.asyncio
async def test_a_save_that_fails_does_not_hold_up_the_others() -> None:
    clock, _, saved, schedule = _made(BUILD)
    await schedule.active(ROOM, BUILD)
    await schedule.active(Conversation(RoomKey("console:ops")), OPS)
    clock.advance(IDLE_S)
    await schedule.ring()
    assert set(saved.scopes) == {BUILD, OPS}


@pytest.mark.asyncio
async def test_case_97_no_save_in_the_middle_of_a_turn_and_the_silence_counts_from_its_end() -> None:
    clock, _, saved, schedule = _made()
    await schedule.active(ROOM, BUILD)
    async with schedule.turn(ROOM, BUILD):
        for _ in range(40):
            clock.advance(60)
            await schedule.ring()
        assert saved.scopes == []
    clock.advance(60)  # the next message, at minute 41
    async with schedule.turn(ROOM, BUILD):
        pass
    clock.advance(IDLE_S - 1)
    await schedule.ring()
    assert saved.scopes == []
    clock.advance(1)
    await schedule.ring()
    await schedule.ring()
    assert saved.scopes == [BUILD], "closed once"


@pytest.mark.asyncio
async def test_a_turn_in_one_conversation_holds_up_its_scope_for_an_hour_at_most() -> None:
    clock, _, saved, schedule = _made()
    await schedule.active(THREAD, BUILD)
    async with schedule.turn(ROOM, BUILD):
        clock.advance(IDLE_S + HELD_S - 1)
        await schedule.ring()
        assert saved.scopes == []
        clock.advance(1)
        await schedule.ring()
    assert saved.scopes == [BUILD]


@pytest.mark.asyncio
async def test_a_room_that_never_pauses_is_saved_at_the_change_of_its_own_day() -> None:
    clock, ledger, saved, schedule = _made()
    midnight = datetime(2026, 4, 6, 22, tzinfo=UTC)  # in Berlin
    while clock.now() < midnight:
        assert saved.scopes == []
        await schedule.active(ROOM, BUILD)
        await schedule.active(Conversation(RoomKey("console:ops")), OPS)
        clock.advance(IDLE_S / 2)
        await schedule.ring()
    assert (saved.scopes, saved.triggers) == ([BUILD], [Trigger.DAY])
    await schedule.active(ROOM, BUILD)
    assert midnight + timedelta(days=1) in [timer.due_at for timer in await ledger.timers.due(_LATER)]


@pytest.mark.asyncio
async def test_a_day_that_ends_during_a_turn_is_saved_after_it() -> None:
    clock, _, saved, schedule = _made()
    clock.move_to(datetime(2026, 4, 6, 21, 59, tzinfo=UTC))
    async with schedule.turn(ROOM, BUILD):
        await schedule.active(ROOM, BUILD)
        clock.advance(120)
        await schedule.ring()
        assert saved.scopes == []
    await schedule.ring()
    assert saved.triggers == [Trigger.DAY]


@pytest.mark.asyncio
@pytest.mark.parametrize("jump", [timedelta(days=-1), timedelta(days=365)])
async def test_a_jump_of_the_wall_clock_neither_ends_a_silence_nor_prolongs_it(jump: timedelta) -> None:
    clock, _, saved, schedule = _made()
    await schedule.active(ROOM, BUILD)
    clock.at += jump
    await schedule.ring()
    assert Trigger.IDLE not in saved.triggers
    clock.advance(IDLE_S)
    await schedule.ring()
    clock.advance(IDLE_S)
    await schedule.ring()
    assert saved.triggers.count(Trigger.IDLE) == 1


@pytest.mark.asyncio
async def test_what_waited_is_taken_up_at_a_start_as_if_there_had_been_no_stop() -> None:
    clock, ledger, _, schedule = _made()
    await schedule.active(ROOM, BUILD)
    clock.advance(IDLE_S / 2)
    await schedule.active(ROOM, BUILD)
    last = clock.now()
    clock.advance(IDLE_S / 3)
    saved = Saved()
    after = _schedule(ledger, clock, saved)
    await after.rearm([Waiting(ROOM, BUILD, last), Waiting(THREAD, BUILD, last - timedelta(days=2))])
    await after.ring()
    assert saved.scopes == [BUILD], "the thread fell silent, and a day ended: the scope is saved once"
    clock.move_to(last + timedelta(seconds=IDLE_S - 1))
    await after.ring()
    assert saved.scopes == [BUILD]
    clock.advance(1)
    await after.ring()
    assert saved.scopes == [BUILD, BUILD]


@pytest.mark.asyncio
async def test_what_is_said_during_a_save_has_a_timer_of_its_own() -> None:
    clock, ledger, saved, _ = _made()

    async def said_meanwhile(scope: Scope, trigger: Trigger) -> None:
        await saved(scope, trigger)
        if len(saved.scopes) == 1:
            await schedule.active(ROOM, BUILD)

    schedule = Schedule(ledger.timers, clock, IDLE_S, said_meanwhile, _zone_of)
    await schedule.active(ROOM, BUILD)
    for _ in range(2):
        clock.advance(IDLE_S)
        await schedule.ring()
    assert saved.scopes == [BUILD, BUILD]


class _Failing:
    """Timers that cannot be asked the first time."""

    def __init__(self, timers: MemoryTimers) -> None:
        self.asked = asyncio.Event()
        self._timers = timers
        self.set, self.cancel, self.next_due = timers.set, timers.cancel, timers.next_due

    async def due(self, now: datetime) -> tuple[Timer, ...]:
        if not self.asked.is_set():
            self.asked.set()
            raise LedgerFailed("no space")
        return await self._timers.due(now)


@pytest.mark.asyncio
async def test_a_failing_ledger_does_not_end_the_schedule() -> None:
    clock, ledger, _, _ = _made()
    timers, done = _Failing(ledger.timers), asyncio.Event()

    async def flush(scope: Scope, trigger: Trigger) -> None:
        done.set()

    schedule = Schedule(timers, clock, 1, flush, _zone_of)
    running = asyncio.create_task(schedule.run())
    await timers.asked.wait()
    clock.move_to(datetime(2026, 4, 8, tzinfo=UTC))
    await schedule.rearm([Waiting(ROOM, BUILD, clock.now() - timedelta(days=1))])
    async with asyncio.timeout(5):
        await done.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


_LATER = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.asyncio
async def test_the_end_is_heard_also_at_the_moment_of_a_change() -> None:
    _, _, _, schedule = _made()
    running = asyncio.create_task(schedule.run())
    for _ in range(10):  # it sleeps
        await asyncio.sleep(0)
    await schedule.active(ROOM, BUILD)
    running.cancel()
    await asyncio.wait({running}, timeout=5)
    assert running.cancelled()
