"""What was written at once and comes once more, because the program was stopped before it answered, is left alone."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC

import pytest

from memory_core.flush.engine import write_now
from memory_core.forms import attention, journal
from memory_core.ids import MessageKey
from memory_core.layouts import Kind
from tests.memory_core.flush_kit import Stop, World, labelled

pytestmark = pytest.mark.asyncio


async def _written(world: World, key: MessageKey) -> None:
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    await write_now(world.handle, candidate, UTC)


def _statuses(world: World) -> list[tuple[str, str]]:
    return sorted((row.task, row.status) for row in attention.parse(world.text("attention")).tasks)


@pytest.mark.parametrize("saved", [False, True])
async def test_a_status_that_comes_again_changes_no_other_task(saved: bool) -> None:
    world = World()
    first, second, done = await world.say(
        "task: move all user sessions to Redis",
        "task: measure the memory that Redis sessions need",
        "status done: Redis sessions",
    )
    for key in (first, second, done):
        await _written(world, key)
    if saved:
        assert (await world.flush()).kinds == {Kind.TASK: 2, Kind.STATUS: 1}
    before = _statuses(world)
    assert [status for _, status in before].count("done") == 1
    await _written(world, done)
    assert _statuses(world) == before
    assert (await world.flush()).kinds == ({} if saved else {Kind.TASK: 2, Kind.STATUS: 1})


@pytest.mark.parametrize("said", ["task: ship it", "status done: Redis sessions", "status done: open the port"])
@pytest.mark.parametrize("step", [1, 2, 3])
async def test_what_was_written_and_not_marked_is_noted_as_if_it_was(said: str, step: int) -> None:
    whole, crashed = World(), World()
    for world in (whole, crashed):
        for key in await world.say("task: move all user sessions to Redis", "task: measure what Redis sessions need"):
            await _written(world, key)
        (key,) = await world.say(said)
        world.faults.at = 0 if world is whole else world.faults.calls + step
        with suppress(Stop):
            await _written(world, key)
        world.faults.at = 0
        await _written(world, key)
        await world.flush()
    for page in ("attention", "state/tasks", "journal/2026-04-06"):
        assert crashed.text(page) == whole.text(page)


@pytest.mark.parametrize("saved", [False, True])
async def test_a_decision_that_comes_again_is_counted_and_noted_once(saved: bool) -> None:
    world = World()
    (key,) = await world.say("decision: decided: Redis for sessions")
    await _written(world, key)
    if saved:
        await world.flush()
    await _written(world, key)
    await world.flush()
    assert world.record("decided: Redis for sessions").hit_count == 0
    assert len(journal.parse(world.text("journal/2026-04-06")).notes) == 1
    assert not (await world.flush()).written
