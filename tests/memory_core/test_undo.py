"""Undo of a flush: byte for byte, what a person changed since stays, nothing twice, and a crash ends like none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.errors import StoreFailed
from memory_core.flush.engine import write_now
from memory_core.flush.plans import load
from memory_core.flush.undo import undo
from memory_core.forms import daily, flush_state
from memory_core.ids import DirectScope, PersonKey
from memory_core.layouts import Kind
from tests.memory_core.flush_kit import World, labelled, stopped_undo
from tests.memory_core.test_flush_crash import TALKS
from tests.scale import scale

HAND = st.sampled_from(["", "top", "end", "middle"])


def _files(world: World) -> dict[str, bytes]:
    """All pages byte for byte; of the index what is not derived, of the state file what it tells."""
    found = {}
    for file, (content, _) in world.stores.files.items():
        name = str(file)
        if name.endswith("flush-state.json"):
            state = flush_state.parse(content.decode())
            told = (state.last_flush_time, state.flush_number, state.trigger, state.pending_items)
            content = repr(told if state.last_flush_time or state.pending_items else ()).encode()
        found[name] = content.partition(b"<!-- remem:catalogue")[0]
    state_file = next((name for name in found if name.endswith("flush-state.json")), "")
    if found.get(state_file) == b"()":
        del found[state_file]
    return found


def _edit(world: World, where: str) -> None:
    """A person writes a line into every page that exists, apart from what the last flush wrote."""
    for page in ("experience", "project", "people", "attention", "conventions/tools"):
        text = world.text(page)
        if not text or not where:
            continue
        head, _, rest = text.partition("\n")
        if where == "top":
            world.put(page, f"By hand.\n\n{text}")
        elif where == "end":
            world.put(page, f"{text}\nBy hand.\n")
        else:
            world.put(page, f"{head}\n\nBy hand.\n{rest}")


async def _talk(world: World, flushes: list[list[str]]) -> None:
    for texts in flushes:
        await world.say(*texts)
        await world.flush()


@settings(max_examples=scale(400), deadline=None)
@given(TALKS, st.booleans())
@pytest.mark.asyncio
async def test_undo_restores_every_byte(flushes: list[list[str]], direct: bool) -> None:
    world = World(DirectScope(PersonKey("slack:T1:ANA"))) if direct else World()
    await _talk(world, flushes[:-1])
    before = _files(world)
    await world.say(*flushes[-1])
    receipt = await world.flush()
    undone = await undo(world.open())
    if not receipt.written:
        return
    assert (undone.number, undone.kinds, undone.kept) == (receipt.number, receipt.kinds, ())
    assert _files(world) == before
    assert (await undo(world.open())).nothing
    assert _files(world) == before


@settings(max_examples=scale(400), deadline=None)
@given(TALKS, HAND)
@pytest.mark.asyncio
async def test_what_a_person_wrote_since_stays(flushes: list[list[str]], where: str) -> None:
    world, other = World(), World()
    await _talk(world, flushes[:-1])
    await _talk(other, flushes[:-1])
    made = set(_files(world))
    await world.say(*flushes[-1])
    receipt = await world.flush()
    _edit(world, where)
    await undo(world.open())
    if not receipt.written:
        return
    _edit(other, where)
    expected, found = _files(other), _files(world)
    assert {name: found[name] for name in made} == expected
    for name in set(found) - made:  # pages of the undone flush that a person wrote into
        assert b"By hand." in found[name]


@settings(max_examples=scale(100), deadline=None)
@given(TALKS, st.booleans(), HAND)
@pytest.mark.asyncio
async def test_a_crash_at_any_step_of_undo_ends_like_none(flushes: list[list[str]], after: bool, where: str) -> None:
    async def run(crash_at: int) -> tuple[World, int]:
        world = World()
        await _talk(world, flushes)
        _edit(world, where)
        return world, await stopped_undo(world, crash_at, after=after)

    whole, steps = await run(0)
    for step in range(1, steps + 1):
        crashed, _ = await run(step)
        if step == 1 and not after:
            await undo(crashed.open())  # nothing had begun
        assert _files(crashed) == _files(whole), f"crash at step {step}, after={after}"
        assert await crashed.handle.ledger.open_plans() == ()


@pytest.mark.asyncio
async def test_what_was_undone_is_not_written_again_and_its_number_is_not_used_twice() -> None:
    world = World()
    await _talk(world, [["decision: decided: Redis for sessions"], ["decision: decided: Kafka for events"]])
    assert (await undo(world.open())).number == 2
    assert world.titles() == ["decided: Redis for sessions"]
    assert not (await world.flush()).written
    await world.say("decision: decided: Postgres for accounts")
    receipt = await world.flush()
    assert (receipt.number, receipt.messages) == (3, 1)
    assert sorted(world.titles()) == ["decided: Postgres for accounts", "decided: Redis for sessions"]
    assert (await undo(world.open())).number == 3
    assert (await undo(world.open())).nothing


@pytest.mark.asyncio
async def test_a_record_that_a_person_changed_since_stays_and_is_told() -> None:
    world = World()
    await _talk(world, [["decision: decided: Redis for sessions", "decision: decided: Kafka for events"]])
    world.put("experience", world.text("experience").replace("- Body: decided: Redis", "- Body: surely Redis"))
    undone = await undo(world.open())
    assert undone.kept == ("experience",)
    assert [one.body for one in (world.record("decided: Redis for sessions"),)] == ["surely Redis for sessions"]
    assert world.titles() == ["decided: Redis for sessions"]


@pytest.mark.asyncio
async def test_hits_after_the_flush_go_back_with_it() -> None:
    world = World()
    await _talk(world, [["decision: decided: Redis for sessions"]])
    before = _files(world)
    await _talk(world, [["decision: decided: Kafka for events"]])
    await world.use("decided: Redis for sessions")
    await world.flush()
    assert world.record("decided: Redis for sessions").hit_count == 1
    assert (await undo(world.open())).number == 2
    assert _files(world) == before


@pytest.mark.asyncio
async def test_pending_items_go_back_and_later_ones_stay() -> None:
    world = World()
    await _talk(world, [["decision?: Kafka for the event stream"]])
    await _talk(world, [["decision: decided: Redis for sessions", "decision?: Go for the importer"]])
    await _talk(world, [["decision?: Terraform for the machines"]])
    await undo(world.open())
    titles = [item.title for item in flush_state.parse(world.text("state/flush")).pending_items]
    assert titles == ["Kafka for the event stream", "Terraform for the machines"]


@pytest.mark.asyncio
async def test_what_was_written_at_once_stays_and_is_not_counted_again() -> None:
    world = World()
    (key,) = await world.say("decision: decided: Redis for sessions")
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    await write_now(world.handle, candidate, world.zone)
    await world.say("decision: decided: Kafka for events")
    assert (await world.flush()).kinds == {Kind.DECISION: 2}
    undone = await undo(world.open())
    assert undone.at_once == 1
    assert world.titles() == ["decided: Redis for sessions"]
    assert not (await world.flush()).written


@pytest.mark.asyncio
async def test_a_failing_disk_leaves_the_undo_open_and_the_next_flush_finishes_it() -> None:
    world = World()
    await _talk(world, [["decision: decided: Redis for sessions"], ["decision: decided: Kafka for events"]])
    world.faults.calls, world.faults.at, world.faults.error = 0, 2, StoreFailed
    with pytest.raises(StoreFailed):
        await undo(world.open())
    await world.flush()
    assert world.titles() == ["decided: Redis for sessions"]
    assert (await undo(world.open())).nothing


@pytest.mark.asyncio
async def test_a_closed_plan_holds_only_the_way_back() -> None:
    world = World(DirectScope(PersonKey("slack:T1:ANA")))
    await _talk(world, [["decision: decided: Redis for sessions"]])
    plan = await world.handle.ledger.last_plan()
    assert plan is not None
    assert load(plan.operations).operations == ()
    assert daily.parse(world.text("daily-synced"))[0].points == ("decided: Redis for sessions",)


AT_ONCE = [
    "decision: decided: Redis for sessions",
    "task: ship it",
    "blocker: the staging certificate has expired",
    "environment: staging db is 10.0.0.9",
    "tool: the linter is ruff",
]


async def _at_once(world: World, text: str) -> None:
    (key,) = await world.say(text)
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    await write_now(world.open(), candidate, world.zone)


@pytest.mark.asyncio
@pytest.mark.parametrize("text", AT_ONCE)
@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("direct", [True, False])
async def test_a_crash_while_something_noted_is_taken_back_ends_like_none(
    text: str, after: bool, direct: bool
) -> None:
    async def run(crash_at: int) -> tuple[World, int]:
        world = World(DirectScope(PersonKey("slack:T1:ANA"))) if direct else World()
        await _talk(world, [["decision: decided: Kafka for events"]])
        await _at_once(world, text)
        return world, await stopped_undo(world, crash_at, after=after)

    whole, steps = await run(0)
    assert steps > 2
    for step in range(1, steps + 1):
        crashed, _ = await run(step)
        if step == 1 and not after:
            await undo(crashed.open())  # nothing had begun
        assert _files(crashed) == _files(whole), f"crash at step {step}, after={after}"
        assert not (await crashed.flush()).written
        assert (await undo(crashed.open())).number == 1
        assert (await undo(crashed.open())).nothing


@pytest.mark.asyncio
@pytest.mark.parametrize("text", AT_ONCE)
async def test_the_way_back_of_what_was_noted_is_erased_with_its_mark(text: str) -> None:
    world = World()
    await _at_once(world, text)
    assert len(await world.handle.ledger.ways_back()) == 1
    assert (await world.flush()).written
    assert await world.handle.ledger.ways_back() == ()
    await undo(world.open())
    undone = await undo(world.open())
    assert undone.noted
    assert (await undo(world.open())).nothing


@pytest.mark.asyncio
async def test_a_deletion_leaves_nothing_of_what_was_noted_in_the_way_back() -> None:
    world = World()
    (key,) = await world.say("decision: decided: the aardvark guards the door")
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    await write_now(world.open(), candidate, world.zone)
    await world.say("decision: decided: Kafka for events")
    await world.delete(key)
    await world.flush()
    plan = await world.handle.ledger.last_plan()
    assert plan is not None
    assert "aardvark" not in plan.operations
    for _ in range(3):
        await undo(world.open())
    assert all(b"aardvark" not in content for content, _ in world.stores.files.values())
