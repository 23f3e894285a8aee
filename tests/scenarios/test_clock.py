"""Time at its worst: summer time both ways, midnight between plan and write, clocks that jump, zones that differ.

What is said belongs to the day on which its platform says that it was said, in the zone of its group; silence is
measured by a clock that never jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_core.candidates import Candidate, Request
from memory_core.clock import ManualClock
from memory_core.extract import RulesExtractor
from memory_core.forms.records import parse
from tests.scenarios.damage import FullDisk, unlike
from tests.scenarios.stage import ANA, BEN, Stage, channel, stage

pytestmark = pytest.mark.asyncio

BUILD = channel(10, "build")
NEW_YORK, BERLIN = ZoneInfo("America/New_York"), ZoneInfo("Europe/Berlin")
IDLE_S = 1800


def lesson(number: int) -> str:
    """Something that is saved with a flush, not at once."""
    return f"The nightly job failed because of {unlike(number)}; fixed by restarting it."


async def _says(on: Stage, number: int, at: datetime | None = None) -> None:
    """A lesson, at a moment of its platform's clock (ours, unless it is given)."""
    said = on.events.said(BUILD, ANA, lesson(number))
    await on.hears(replace(said, sent_at=at or on.clock.now()))


async def _in_berlin(on: Stage) -> None:
    await on.enter(BUILD)
    assert "Europe/Berlin" in await on.command(BUILD, ANA, "zone Europe/Berlin")


def _journals(on: Stage, *numbers: int) -> dict[int, list[str]]:
    """On which days' notes each lesson stands."""
    pages = sorted((on.workspace / "memory/groups/build/journal").glob("*.md"))
    return {n: [page.stem for page in pages if unlike(n)[:23] in page.read_text("utf-8")] for n in numbers}


def _dates(on: Stage) -> dict[str, str]:
    """The records' titles and dates."""
    found = parse(on.page("build/experience.md")).records
    return {placed.record.title: str(placed.record.day) for placed in found}


def _number(on: Stage) -> int:
    """How many flushes had content."""
    return int(str(on.state("build").get("flush_number", 0)))


# -- summer time -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begins", "days"),
    [
        # The clocks go from 02:00 to 03:00, and from 03:00 back to 02:00.
        (datetime(2026, 3, 28, 23, 10, tzinfo=BERLIN), {0: "2026-03-28", 1: "2026-03-29", 7: "2026-03-29"}),
        (datetime(2026, 10, 24, 23, 10, tzinfo=BERLIN), {0: "2026-10-24", 1: "2026-10-25", 7: "2026-10-25"}),
    ],
    ids=["spring", "autumn"],
)
async def test_a_night_in_which_the_clocks_change_puts_everything_on_its_day(
    tmp_path: Path, begins: datetime, days: dict[int, str]
) -> None:
    clock = ManualClock(begins.astimezone(UTC))
    async with stage(tmp_path / "w", clock=clock, zone=NEW_YORK, sleep="off") as on:
        await _in_berlin(on)
        for number in range(8):
            await _says(on, number)
            clock.advance(3600)
            await on.app.schedule.ring()
        journals = _journals(on, *range(8))
        assert all(len(found) == 1 for found in journals.values()), journals
        assert {number: journals[number][0] for number in days} == days
        assert _number(on) == 8, "each silence of an hour was saved once"
        local = [(begins.astimezone(UTC) + timedelta(hours=number)).astimezone(BERLIN) for number in range(8)]
        assert [journals[number] for number in range(8)] == [[str(at.date())] for at in local]
        night = on.page(f"build/journal/{days[7]}.md")
        for number, at in enumerate(local[1:], 1):
            line = next(line for line in night.splitlines() if unlike(number)[:23] in line)
            assert f", {at:%H:%M}" in line
            title_offset = night.splitlines()[0].split("(")[1][:6]
            offset = f"{at:%z}"[:3] + ":" + f"{at:%z}"[3:]
            assert (offset in line) == (offset != title_offset), "a line under another offset names its own"
        dates = _dates(on)
        assert sorted(dates.values()) == sorted(str(at.date()) for at in local)


@pytest.mark.parametrize(
    "before", [datetime(2026, 3, 29, 0, 45, tzinfo=UTC), datetime(2026, 10, 25, 0, 45, tzinfo=UTC)]
)
async def test_the_idle_time_is_half_an_hour_also_across_the_change(tmp_path: Path, before: datetime) -> None:
    clock = ManualClock(before)
    async with stage(tmp_path / "w", clock=clock, zone=BERLIN) as on:
        await on.enter(BUILD)
        await _says(on, 1)
        clock.advance(IDLE_S - 1)
        await on.app.schedule.ring()
        assert _number(on) == 0
        clock.advance(1)
        await on.app.schedule.ring()
        await on.app.schedule.ring()
        assert _number(on) == 1
        clock.advance(10 * IDLE_S)
        await on.app.schedule.ring()
        assert _number(on) == 1, "once"


# -- midnight --------------------------------------------------------------------------------------------------------


class Slow:
    """An extractor that takes until after midnight."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """What the rules find, two minutes later."""
        self._clock.advance(120)
        return await RulesExtractor().extract(request)


async def test_midnight_during_the_extraction_moves_nothing_to_the_next_day(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 4, 6, 23, 58, 30, tzinfo=BERLIN).astimezone(UTC))
    async with stage(tmp_path / "w", clock=clock, zone=NEW_YORK, extractor=Slow(clock)) as on:
        await _in_berlin(on)
        await _says(on, 1)
        assert "Saved" in await on.command(BUILD, ANA)
        assert clock.now().astimezone(BERLIN).date().isoformat() == "2026-04-07"
        assert _journals(on, 1) == {1: ["2026-04-06"]}
        assert list(_dates(on).values()) == ["2026-04-06"]
        assert str(on.state("build")["last_flush_time"]).startswith("2026-04-07T00:0")


@pytest.mark.parametrize("calls", [0, 2, 5, 9, 14])
async def test_midnight_between_plan_and_write_moves_nothing_to_the_next_day(tmp_path: Path, calls: int) -> None:
    """The disk refuses at some call of the write; the plan is finished a day and a restart later."""
    clock, disk = ManualClock(datetime(2026, 4, 6, 23, 59, tzinfo=BERLIN).astimezone(UTC)), FullDisk()
    workspace = tmp_path / "w"
    async with stage(workspace, clock=clock, zone=NEW_YORK, disk=disk) as on:
        await _in_berlin(on)
        await _says(on, 1)
        disk.fill(calls)
        assert "Saved" not in await on.command(BUILD, ANA)
        clock.advance(86_400)
        disk.free()
    async with stage(workspace, clock=clock, zone=NEW_YORK) as on:
        await on.command(BUILD, ANA)
        assert _journals(on, 1) == {1: ["2026-04-06"]}
        assert list(_dates(on).values()) == ["2026-04-06"]
        assert _number(on) == 1


async def test_the_day_change_saves_a_room_that_never_pauses_at_its_own_midnight(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 4, 6, 23, 0, tzinfo=BERLIN).astimezone(UTC))
    async with stage(tmp_path / "w", clock=clock, zone=NEW_YORK) as on:
        await _in_berlin(on)
        for number in range(5):  # 23:00, 23:20, 23:40, 00:00, 00:20
            await on.app.schedule.ring()
            await _says(on, number)
            clock.advance(1200)
        assert _number(on) == 1
        assert on.state("build")["trigger"] == "day"
        assert _journals(on, 0, 1, 2, 3, 4) == {0: ["2026-04-06"], 1: ["2026-04-06"], 2: ["2026-04-06"], 3: [], 4: []}


# -- zones and jumps -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Asia/Tokyo", "2026-04-07"), ("America/Los_Angeles", "2026-04-06"), ("Pacific/Kiritimati", "2026-04-07")],
)
async def test_a_groups_zone_decides_its_days_not_the_bots(tmp_path: Path, zone: str, day: str) -> None:
    clock = ManualClock(datetime(2026, 4, 6, 16, 30, tzinfo=UTC))
    async with stage(tmp_path / "w", clock=clock, zone=NEW_YORK) as on:
        await on.enter(BUILD)
        await on.command(BUILD, ANA, f"zone {zone}")
        await on.says(BUILD, BEN, f"decision: {unlike(2)}")
        await _says(on, 1)
        await on.command(BUILD, ANA)
        assert _journals(on, 1, 2) == {1: [day], 2: [day]}
        assert set(_dates(on).values()) == {day}


async def test_tomorrow_is_a_day_where_the_group_lives(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 4, 6, 22, 30, tzinfo=UTC))  # half past midnight of the 7th in Berlin
    async with stage(tmp_path / "w", clock=clock, zone=NEW_YORK) as on:
        await _in_berlin(on)
        await on.hears(on.events.said(BUILD, ANA, "TODO: @ben ships the manual tomorrow"))
        assert '"2026-04-08"' in (on.workspace / "memory/groups/build/pending_tasks.json").read_text("utf-8")
        assert "2026-04-08" in on.page("build/attention.md")


@pytest.mark.parametrize("jump", [timedelta(days=-1), timedelta(days=365)], ids=["a day back", "a year ahead"])
async def test_a_jump_of_the_wall_clock_loses_nothing_moves_nothing_and_saves_once(
    tmp_path: Path, jump: timedelta
) -> None:
    clock = ManualClock(datetime(2026, 4, 6, 12, 0, tzinfo=UTC))
    async with stage(tmp_path / "w", clock=clock, zone=UTC, sleep="off") as on:
        await on.enter(BUILD)
        await _says(on, 1)
        clock.advance(600)
        clock.at += jump
        told = datetime(2026, 4, 6, 12, 10, tzinfo=UTC)
        await _says(on, 2, told)
        await on.app.schedule.ring()
        numbers = [_number(on)]
        for _ in range(4):
            clock.advance(IDLE_S / 2)
            await on.app.schedule.ring()
            numbers.append(_number(on))
        assert numbers[-1] == 1, numbers
        assert _journals(on, 1, 2) == {1: ["2026-04-06"], 2: ["2026-04-06"]}
        assert set(_dates(on).values()) == {"2026-04-06"}
        clock.at -= jump
        await _says(on, 3)
        for _ in range(3):
            clock.advance(IDLE_S / 2)
            await on.app.schedule.ring()
        assert _number(on) == 2, "after it is set right again the next silence is saved as ever"
        assert _journals(on, 3) == {3: ["2026-04-06"]}
    async with stage(tmp_path / "w", clock=clock, zone=UTC) as on:
        await on.app.schedule.ring()
        assert "Nothing new" in await on.command(BUILD, ANA)
        assert _number(on) == 2
