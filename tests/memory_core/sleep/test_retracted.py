"""What is taken back while it lies in the archive is struck there, never back by use; a conflict comes back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory_core.candidates import Candidate, Value
from memory_core.flush.engine import write_now
from memory_core.forms.records import Record, render
from memory_core.ids import MessageKey, PersonKey
from memory_core.layouts import Kind
from memory_core.sleep.report import Stage
from tests.memory_core.search.kit import searched
from tests.memory_core.sleep.kit import TODAY, Bed, page_of, record

ARCHIVE = "archive/2026-08"


def put_away(bed: Bed, one: Record, ago: int = 10, page: str = "experience") -> None:
    """The record lies in last month's archive."""
    away = replace(one, archived=f"2026-08-{31 - ago}, score=10, page={page}")
    old = bed.text(ARCHIVE) or "# Archive 2026-08\n"
    bed.put(ARCHIVE, f"{old}\n{render(away)}")


def new(text: str, ago: int = 0, by: str = "bo", number: int = 9) -> Record:
    return record(text, ago, number=number, by=by)


@pytest.mark.asyncio
@pytest.mark.parametrize("page", ["experience", "project"])
async def test_what_a_later_record_takes_back_is_struck_in_the_archive_and_stays_away_when_it_is_used(
    page: str,
) -> None:
    """Also where the later record stands on another page than the one that it left."""
    bed = Bed()
    put_away(bed, record("alerts on for staging", 80, number=1))
    bed.put(page, page_of(page.capitalize(), [new("alerts off for staging")]))
    before = dict(bed.pages())
    report = await bed.sleep()
    assert (report.superseded, report.returned) == (1, 0)
    assert bed.records(ARCHIVE) == []
    assert "~~[2026-06-13] alerts on for staging~~" in bed.text(ARCHIVE)
    (kept,) = bed.records(page)
    assert kept.supersedes == ("[2026-06-13] alerts on for staging",)
    assert (await bed.sleep()).nothing
    found = [hit.placed.unit for hit in await searched(bed.handle, "alerts staging")]
    assert found
    assert all(not one.record or one.title == "alerts off for staging" for one in found), "struck, it is no record"
    assert (await bed.undo()).sleep == "rem"
    assert bed.pages() == before


@pytest.mark.asyncio
async def test_of_two_archived_records_the_one_that_was_taken_back_does_not_return_by_its_use() -> None:
    bed = Bed()
    used = replace(record("alerts on for staging", 80, number=1), last_referenced=TODAY, hit_count=1)
    put_away(bed, used)
    put_away(bed, new("alerts off for staging", 50))
    bed.put("experience", page_of("Experience", [record("a frog in the pond", 1, number=3)]))
    report = await bed.sleep()
    assert (report.superseded, report.returned) == (1, 0)
    (left,) = bed.records(ARCHIVE)
    assert left.title == "alerts off for staging"
    assert left.supersedes == ("[2026-06-13] alerts on for staging",)
    assert (await bed.sleep()).nothing


@pytest.mark.asyncio
async def test_what_is_in_conflict_comes_back_marked_and_is_not_archived() -> None:
    """Different persons, days apart, neither explicit: the older one left for a line budget only."""
    bed = Bed()
    put_away(bed, record("alerts on for staging", 6, number=1, by="ana", value=Value.LOW), ago=2)
    bed.put("experience", page_of("Experience", [new("alerts off for staging", 1)]))
    before = dict(bed.pages())
    report = await bed.sleep()
    assert (report.conflicts, report.returned, report.superseded) == (1, 1, 0)
    marks = {one.title: one.conflicts for one in bed.records()}
    assert marks == {
        "alerts on for staging": ("[2026-08-31] alerts off for staging",),
        "alerts off for staging": ("[2026-08-26] alerts on for staging",),
    }
    assert bed.records(ARCHIVE) == []
    assert (await bed.sleep()).nothing
    bed.clock.advance(400 * 86_400)
    assert (await bed.sleep()).archived == 0
    assert bed.pages() != before


@pytest.mark.asyncio
async def test_an_older_record_takes_nothing_back() -> None:
    bed = Bed()
    put_away(bed, record("alerts on for staging", 20, number=1))
    old = new("alerts off for staging", 50)
    bed.put("experience", page_of("Experience", [old]))
    assert (await bed.sleep()).nothing
    assert bed.records() == [old]


@pytest.mark.asyncio
async def test_a_flush_strikes_at_once_what_it_hears_taken_back() -> None:
    bed = Bed()
    put_away(bed, record("we use Redis for the session cache", 80, number=1))
    before = dict(bed.pages())
    await bed.say("decision: we no longer use Redis for the session cache")
    await bed.flush()
    assert bed.records(ARCHIVE) == []
    assert "~~[2026-06-13] we use Redis for the session cache~~" in bed.text(ARCHIVE)
    (kept,) = bed.records()
    assert kept.supersedes == ("[2026-06-13] we use Redis for the session cache",)
    assert (await bed.sleep(Stage.REM)).returned == 0
    while not (await bed.undo()).nothing:
        pass
    assert bed.pages() == before


@pytest.mark.asyncio
async def test_what_is_said_explicitly_strikes_when_it_is_said() -> None:
    bed = Bed()
    put_away(bed, record("we use Redis for the session cache", 80, number=1))
    text = "we no longer use Redis for the session cache"
    key = MessageKey("slack:T1:C9:77.000100")
    said = Candidate(
        kind=Kind.DECISION, title=text, body=text, author=PersonKey("slack:T1:BO"), sources=(key,), value=Value.MEDIUM
    )
    page, kept = await write_now(bed.handle, said, bed.zone)
    assert (page, kept.supersedes) == ("experience", ("[2026-06-13] we use Redis for the session cache",))
    assert bed.records(ARCHIVE) == []


@pytest.mark.asyncio
async def test_a_crash_between_page_and_archive_ends_like_none() -> None:
    """The plan may be applied again over its own outcome: nothing is struck or named twice."""
    bed = Bed()
    put_away(bed, record("alerts on for staging", 80, number=1))
    put_away(bed, record("alerts on for staging", 90, number=2))
    bed.put("experience", page_of("Experience", [new("alerts off for staging")]))
    report = await bed.sleep()
    assert report.superseded == 2
    (kept,) = bed.records()
    assert len(kept.supersedes) == 2
    assert bed.text(ARCHIVE).count("~~[2026-06") == 2
