"""Idle timers: once per silence, moved by activity, kept over a restart; a failing save is no end of the others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.schedule import Schedule
from memory_core.clock import ManualClock
from memory_core.errors import StoreFailed
from memory_core.ids import Conversation, DirectScope, GroupScope, PersonKey, RoomKey, Scope
from memory_core.ledger.memory import MemoryLedger

IDLE_S = 1800
BUILD, OPS = GroupScope("build"), GroupScope("ops")
ROOM, THREAD = Conversation(RoomKey("console:build")), Conversation(RoomKey("console:build"), "t1")


class Saved:
    """Records which scopes were saved; `broken` ones fail."""

    def __init__(self, *broken: Scope) -> None:
        self.scopes: list[Scope] = []
        self._broken = broken

    async def __call__(self, scope: Scope) -> None:
        self.scopes.append(scope)
        if scope in self._broken:
            raise StoreFailed("no space")


def _made(*broken: Scope) -> tuple[ManualClock, MemoryLedger, Saved, Schedule]:
    clock = ManualClock(datetime(2026, 4, 6, 12, tzinfo=UTC))
    ledger, saved = MemoryLedger(clock), Saved(*broken)
    return clock, ledger, saved, Schedule(ledger.timers, clock, IDLE_S, saved)


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
    after = Schedule(ledger.timers, clock, IDLE_S, saved)
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
