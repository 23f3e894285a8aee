"""A crash between any two steps of a flush loses nothing and doubles nothing; undo's inverses lead back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_core.clock import ManualClock
from memory_core.errors import StoreFailed
from memory_core.first_join import ensure_index
from memory_core.flush.apply import apply
from memory_core.flush.engine import resume
from memory_core.flush.plans import load
from memory_core.forms import attention, records
from memory_core.ids import MessageKey
from memory_core.layouts import APM
from memory_core.ledger.sqlite import SqliteLedger
from memory_core.store.files import FileStores
from tests.memory_core.flush_kit import START, Disk, Stop, World
from tests.scale import scale

TALK = (
    "decision: decided: Redis for the session cache",
    "decision: decided: Redis for the session cache",
    "decision: decided: alerts on for staging",
    "decision: decided: alerts off for staging",
    "decision?: Kafka for the event stream",
    "lesson: the queue stalled on a full disk; a quota fixed it",
    "task: write the release notes",
    "status done: the release notes are written",
    "blocker: the staging certificate has expired",
    "environment: staging db is 10.0.0.9",
    "tool: use ruff for linting",
    "agreement: agreed: no deploys on Friday",
    "see https://example.org/spec",
    "chatter",
)
TALKS = st.lists(st.lists(st.sampled_from(TALK), min_size=1, max_size=6), min_size=1, max_size=3)


def _pages(world: World) -> dict[str, str]:
    """All pages that hold content; stamps and the catalogue's dates apart."""
    return {
        str(file): content.decode().partition("remem:catalogue")[0]
        for file, (content, _) in world.stores.files.items()
        if not str(file).endswith("flush-state.json")
    }


EDITS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(TALK)), max_size=2)
"""Between two flushes: which of the messages before gets which text."""


async def _run(
    flushes: list[list[str]], crash_at: int, *, after: bool, edits: list[tuple[int, str]] | None = None
) -> tuple[World, int]:
    """The whole talk with one crash at the `crash_at`-th step (0: none) and a restart; the world and its steps."""
    world, said = World(), list[MessageKey]()
    world.faults.at, world.faults.after = crash_at, after
    for number, texts in enumerate(flushes):
        for which, text in (edits or []) if number else ():
            await world.edit(said[which % len(said)], text)
        said += await world.say(*texts)
        try:
            await world.flush()
        except Stop:
            world.handle = world.open()
            await resume(world.handle)
            world.clock.advance(-60)
            await world.flush()
    return world, world.faults.calls


@settings(max_examples=scale(100), deadline=None)
@example(
    [["lesson: A failed; B fixed it"], ["lesson: C failed; D fixed it"]], True, [(0, "lesson: E failed; F fixed it")]
)
@given(TALKS, st.booleans(), EDITS)
@pytest.mark.asyncio
async def test_a_crash_at_any_step_ends_like_none(
    flushes: list[list[str]], after: bool, edits: list[tuple[int, str]]
) -> None:
    """Byte for byte, also where messages were edited: what is taken out and put in again stands where it stood."""
    whole, steps = await _run(flushes, 0, after=after, edits=edits)
    for step in range(1, steps + 1):
        crashed, _ = await _run(flushes, step, after=after, edits=edits)
        assert _pages(crashed) == _pages(whole), f"crash at step {step}, after={after}"
        assert await crashed.handle.ledger.open_plans() == ()
        assert (await crashed.flush()).messages == 0


@settings(max_examples=scale(400), deadline=None)
@given(TALKS)
@pytest.mark.asyncio
async def test_the_inverses_of_the_last_plan_lead_back(flushes: list[list[str]]) -> None:
    """Also one by one, as undo asks them on pages that a person changed."""
    world = World()
    for texts in flushes[:-1]:
        await world.say(*texts)
        await world.flush()
    before = _said(world)
    await world.say(*flushes[-1])
    receipt = await world.flush()
    plan = await world.handle.ledger.last_plan()
    if plan is None or not receipt.written:
        return
    await apply(world.handle, load(plan.operations).steps[0].inverses)
    assert _said(world) == before


def _said(world: World) -> dict[str, object]:
    """What the pages say, blank lines apart; a page without content says nothing."""
    found: dict[str, object] = {}
    for page in ("experience", "project", "conventions/tools", "people"):
        found[page] = [placed.record for placed in records.parse(world.text(page)).records]
    seen = attention.parse(world.text("attention"))
    found["attention"] = (sorted(seen.tasks, key=lambda row: row.task), seen.blockers, seen.snapshot)
    found["journal"] = [line for line in world.text("journal/2026-04-06").split("\n") if line.startswith("- ")]
    found["tasks"] = world.text("state/tasks").count('"id"')
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [Stop, StoreFailed])
async def test_a_crash_on_files_and_sqlite_ends_like_none(tmp_path: Path, error: type[Exception]) -> None:
    flushes = [list(TALK[:6]), list(TALK[6:])]
    ends = []
    steps = range(26) if scale(20) == 20 else (0, 1, 4, 9, 14, 19)
    for step in steps:
        folder = tmp_path / f"{step}"
        folder.mkdir()
        async with _on_disk(folder) as world:
            world.faults.at, world.faults.error = step, error
            for texts in flushes:
                await world.say(*texts)
                receipt = None
                with suppress(Stop):
                    receipt = await world.flush()
                if receipt is None or receipt.problem:
                    world.handle = world.open()
                    await resume(world.handle)
                    world.clock.advance(-60)
                    await world.flush()
            ends.append(_said(world))
            world.faults.at = 0
            assert (await world.flush()).messages == 0
    assert all(end == ends[0] for end in ends)


@asynccontextmanager
async def _on_disk(folder: Path) -> AsyncIterator[World]:
    """The world's scope on files and SQLite."""
    clock = ManualClock(START)
    stores = FileStores(folder, APM)
    ledger = await SqliteLedger.open(folder / "ledger.db", clock)
    try:
        world = World(clock=clock, indexed=False, disk=Disk(folder, stores, ledger))
        await ensure_index(world.handle, UTC)
        yield world
    finally:
        await ledger.close()
        await asyncio.to_thread(stores.close)
