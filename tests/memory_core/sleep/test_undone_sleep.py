"""A sleep that was taken back: what the heartbeat tells then, when the next is due, and what undo takes after it."""

from __future__ import annotations

import pytest

from memory_core.forms import heartbeat
from memory_core.forms.heartbeat import Heartbeat
from memory_core.layouts import HEARTBEAT
from memory_core.sleep.due import DEEP_EVERY, REM_EVERY, due, next_due
from memory_core.sleep.report import Stage
from tests.memory_core.sleep.kit import Bed, note, page_of, record


def beat(bed: Bed) -> Heartbeat:
    """What the heartbeat tells."""
    return heartbeat.parse(bed.text("state/heartbeat"))


def old_record(bed: Bed) -> None:
    """Something that REM archives."""
    bed.put("experience", page_of("Experience", [record("a frog in the pond", 90, number=1)]))


@pytest.mark.asyncio
async def test_an_undone_sleep_no_longer_counts_as_done_and_is_due_a_period_later() -> None:
    bed = Bed()
    await bed.sleep(Stage.REM)
    first = beat(bed)
    bed.clock.advance(8 * 86_400)
    old_record(bed)
    ran = (await bed.sleep(Stage.REM)).at
    assert beat(bed).last_rem != first.last_rem
    done = await bed.undo()
    assert (done.sleep, HEARTBEAT in done.pages, HEARTBEAT in done.kept) == ("rem", False, False)
    now = beat(bed)
    assert (now.last_rem, now.last_consolidated_at) == (first.last_rem, first.last_consolidated_at)
    assert now.undone_rem == ran.replace(microsecond=0)
    assert Stage.REM not in due(now, 0, ran), "nobody wants back in the next night what was just taken back"
    assert Stage.REM in due(now, 0, ran + REM_EVERY)
    assert next_due(Heartbeat(ran, ran, first.last_rem, undone_rem=ran), ran + DEEP_EVERY / 2) > ran
    bed.clock.advance(7 * 86_400)
    assert (await bed.sleep(Stage.REM)).archived == 1
    assert (beat(bed).last_rem, beat(bed).undone_rem) == (bed.clock.now().replace(microsecond=0), None)


@pytest.mark.asyncio
async def test_the_fingerprints_of_the_journals_go_back_with_a_deep_sleep() -> None:
    bed = Bed()
    bed.note("2026-08-30", note("CI moved to Buildkite", 1))
    await bed.sleep(Stage.DEEP)
    first = beat(bed)
    bed.clock.advance(3 * 86_400)
    bed.note("2026-09-02", note("Redis over Memcached", 2))
    assert (await bed.sleep(Stage.DEEP)).promoted
    await bed.undo()
    now = beat(bed)
    assert (now.last_deep, now.notes, now.read) == (first.last_deep, first.notes, first.read)
    assert now.undone_deep is not None
    assert now.ran_deep == now.undone_deep


@pytest.mark.asyncio
async def test_undo_goes_on_from_a_sleep_to_the_one_before_it_and_to_the_save() -> None:
    bed = Bed()
    old_record(bed)
    before = dict(bed.pages())
    await bed.say("decision: Redis over Memcached for sessions")
    await bed.flush()
    saved = dict(bed.pages())
    bed.note("2026-08-10", note("CI moved to Buildkite", 7), at="09:00 +00:00")
    noted = dict(bed.pages())
    assert (await bed.sleep(Stage.DEEP)).pages
    slept = dict(bed.pages())
    assert (await bed.sleep(Stage.REM)).archived == 1
    assert (await bed.undo()).sleep == "rem"
    assert bed.pages() == slept
    assert (await bed.undo()).sleep == "deep"
    assert bed.pages() == noted
    undone = await bed.undo()
    assert (undone.sleep, undone.nothing) == ("", False), "the save before the sleeps"
    left = {file: content for file, content in bed.pages().items() if "2026-08-10" not in file}
    assert left == before != saved
    assert (await bed.undo()).nothing


@pytest.mark.asyncio
async def test_a_run_that_did_nothing_is_no_step_and_its_time_stays() -> None:
    bed = Bed()
    await bed.say("decision: Redis over Memcached for sessions")
    await bed.flush()
    assert (await bed.sleep(Stage.REM)).nothing
    ran = beat(bed).last_rem
    assert (await bed.undo()).sleep == ""
    assert beat(bed).last_rem == ran


@pytest.mark.asyncio
async def test_runs_that_found_nothing_left_to_do_go_back_with_the_one_that_did_it() -> None:
    bed = Bed()
    old_record(bed)
    await bed.sleep(Stage.REM)
    bed.clock.advance(86_400)
    assert (await bed.sleep(Stage.REM)).nothing
    later = beat(bed).last_rem
    assert (await bed.undo()).sleep == "rem"
    assert (beat(bed).last_rem, beat(bed).undone_rem) == (None, later)


@pytest.mark.asyncio
async def test_a_dry_run_tells_no_number() -> None:
    bed = Bed()
    old_record(bed)
    report = await bed.sleep(Stage.REM, dry_run=True)
    assert (report.number, report.archived, report.dry_run) == (0, 1, True)
