"""A crash at any write of a sleep: at the next start the run is finished, once, or it never began."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest

from memory_core.errors import StoreFailed
from memory_core.flush.engine import resume
from memory_core.forms.journal import Part
from memory_core.sleep.report import Stage
from tests.memory_core.flush_kit import Stop
from tests.memory_core.sleep.kit import Bed, note, page_of, record
from tests.scale import scale


def _bed() -> Bed:
    """A scope in which every kind of change is due."""
    bed = Bed()
    bed.put(
        "experience",
        page_of(
            "Experience",
            [
                record("CI moved to Buildkite", 1, number=1),
                record("Buildkite is our CI now", 2, number=2, hits=4),
                record("alerts off", 3, number=3),
                record("alerts on", 4, number=4),
                record("a frog", 100, number=5),
                record("loved", 1, number=6, hits=5),
            ],
        ),
    )
    safe = [record("keys in the safe", 1, number=7), record("no keys in the safe", 2, number=8, by="bo")]
    bed.put("project", page_of("Project", safe))
    bed.note("2026-08-30", note("Kafka for events", 11), note("use ruff for linting", 12, part=Part.LEARNED))
    bed.note("2026-08-31", note("use ruff for linting", 13, part=Part.LEARNED))
    bed.note("2026-08-01", note("Postgres for the ledger", 14))
    return bed


def _content(bed: Bed) -> Mapping[str, bytes]:
    return {file: content for file, content in bed.pages().items() if not file.endswith("groups/build.md")}


async def _run(stage: Stage, crash_at: int, *, after: bool, error: type[Exception] = Stop) -> tuple[Bed, int, bool]:
    """One sleep with a crash at the `crash_at`-th write (0: none) and a restart."""
    bed = _bed()
    bed.faults.at, bed.faults.after, bed.faults.error = crash_at, after, error
    report = None
    with suppress(Stop):
        report = await bed.sleep(stage)
    calls = bed.faults.calls
    broke = report is None or bool(report.problem)
    bed.faults.at = 0
    if broke:
        bed.handle = bed.open()
        await resume(bed.handle)
    return bed, calls, broke


@pytest.mark.asyncio
@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("error", [Stop, StoreFailed])
async def test_a_crash_at_any_write_ends_like_none(stage: Stage, after: bool, error: type[Exception]) -> None:
    untouched = _content(_bed())
    whole, writes, _ = await _run(stage, 0, after=after)
    assert _content(whole) != untouched
    assert writes >= 6, "plan, pages, catalogue, state, heartbeat, close"
    assert '"lastConsolidatedAt": "2026-09-01T' in whole.text("state/heartbeat")
    broken = 0
    for step in range(1, writes + 1):
        bed, _, broke = await _run(stage, step, after=after, error=error)
        broken += broke
        begun = step > 1 or after
        assert _content(bed) == (_content(whole) if begun else untouched), f"write {step}"
        assert await bed.handle.ledger.open_plans() == ()
        assert bed.text("state/heartbeat") == (whole.text("state/heartbeat") if begun else ""), f"write {step}"
        bed.clock.advance(-60)
        again = await bed.sleep(stage)
        assert _content(bed) == _content(whole), f"slept again after write {step}: {again.lines}"
        if begun:
            assert again.nothing
            assert (await bed.undo()).sleep == stage.value
            assert _content(bed) == untouched, f"undone after write {step}"
    assert broken == writes


@pytest.mark.asyncio
@pytest.mark.parametrize("stage", list(Stage))
async def test_a_crash_in_the_undo_of_a_sleep_ends_like_none(stage: Stage) -> None:
    untouched = _content(_bed())
    for step in range(1, 8 if scale(20) < 20 else 12):
        bed = _bed()
        await bed.sleep(stage)
        bed.faults.calls, bed.faults.at = 0, step
        with suppress(Stop):
            await bed.undo()
        bed.faults.at = 0
        bed.handle = bed.open()
        await resume(bed.handle)
        if step == 1:
            await bed.undo()
        assert _content(bed) == untouched, f"write {step}"


@pytest.mark.asyncio
async def test_a_person_who_edits_while_sleep_writes_keeps_the_edit() -> None:
    bed = _bed()
    text = bed.text("experience").replace("a frog", "a frog, by hand").encode()
    bed.store.edits = [("experience", text)]  # type: ignore[list-item]
    await bed.sleep()
    assert "a frog, by hand" in bed.text("experience")
    assert "[PROVEN] loved" in bed.text("experience")
