"""A season of eighty days in each memory system, on each platform: join, talk, save, sleep, restart; then look.

The script stands in season.py, the platforms in season_world.py, what must be true at the end in season_checks.py.
Nothing here is told what to do at which hour: the clock is moved, and the program's own timers save at the end of
silences and days, and let each memory sleep in its own nights. In the middle the program is stopped while something
is not saved yet, and started again.

A new memory system is one table and one parameter more: `TOY`, a layout that the program has never heard of, passes
the same suite.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

import memory_core.layouts
from memory_core.layouts import LAYOUTS, Layout
from memory_core.sleep.report import Stage
from tests.memory_core.test_layouts import TOY
from tests.scale import scale
from tests.scenarios import season_checks as checks
from tests.scenarios.season import DAYS, HOURS, PURPOSES, Fate, Place, Season, by_day, season
from tests.scenarios.season_world import Platform, World, world
from tests.scenarios.terminal import START

RESTART = (36, Place.OPS)
"""The program is stopped in the middle of this talk, and started again."""
ASKED = (
    Fate.USED, Fate.SHAPES, Fate.OLD, Fate.LESSON, Fate.CHINESE, Fate.TOLD_TWICE, Fate.TURNED, Fate.CONFLICT,
    Fate.TOOL,
)  # fmt: skip
PLATFORMS: tuple[Platform, ...] = ("console", "discord", "slack")
COMBINATIONS = [(layout, platform) for layout in LAYOUTS for platform in PLATFORMS]


def script(seed: int, platform: Platform) -> Season:
    """In CI people talk on ten of the days, on Discord and Slack a little less each time; in the long run on all."""
    if scale(20) > 1:
        return season(seed, share=1.0, most=5)
    return season(seed, share=0.0, most=6 if platform == "console" else 2)


async def live(on: World, said: Season) -> None:
    """Eighty days."""
    for place in PURPOSES:
        greeting = await on.enter(place)
        assert "What is this group for?" in greeting
        assert PURPOSES[place] in greeting
    for day, talks in by_day(said):
        for talk in talks:
            hour, minute = HOURS[talk.place]
            await on.time_passes(START.replace(hour=hour, minute=minute) + timedelta(days=day))
            for at, line in enumerate(talk.lines):
                if (day, talk.place, at) == (*RESTART, 1):
                    await on.stop()
                    await on.start()
                await (on.asks if line.asks else on.says)(talk.place, line.who, line.text)
    await on.time_passes(START.replace(hour=0) + timedelta(days=DAYS + 1))


async def last_night(on: World) -> None:
    """One more day: something is said and saved, then every memory sleeps because somebody asks it to."""
    await on.time_passes(on.clock.now() + timedelta(hours=12))  # no memory sleeps by itself at noon
    for place in Place:
        await on.says(place, "ana", f"We decided that day {DAYS + 1} of {place} ends the season.")
    await on.time_passes(on.clock.now() + 2 * checks.IDLE)
    for place in Place:
        await checks.the_last_sleep_can_be_undone(on, place)
        report = await on.app.sleeping.now(on.scope(place), Stage.REM)
        assert report is not None
        assert report.problem == ""


async def look(on: World, said: Season, seed: int) -> dict[str, object]:
    """All checks; figures."""
    everything = {place: await checks.seen(on, place) for place in Place}
    await checks.files_stand_where_the_layout_says(on, everything)
    figures: dict[str, object] = {"words": checks.no_word_is_in_another_memory(on, said, everything)}
    over = []
    for place, one in everything.items():
        over += checks.pages_are_within_their_budgets(one)
        checks.proven_ones_are_kept(one, said)
        checks.what_is_worth_little_is_in_the_archive(one, said)
        checks.a_fact_that_was_told_twice_stands_once(one, said)
        checks.what_was_taken_back_does_not_hold(one, said)
        checks.conflicts_are_listed(one, said)
        checks.old_journals_are_in_the_archive(one, said)
        checks.the_index_is_right(one)
        checks.tasks_age(one, said, await on.command(place, "ana", "status"))
    findings = await checks.the_audit_finds_no_error(on)
    asked = 0
    for place, one in everything.items():
        await checks.what_was_archived_is_searched(on, one, said)
        more = [one for one in said.of(place, Fate.FILLER) if one.decision]
        some = random.Random(seed).sample(more, min(len(more), scale(60)))
        asked += await checks.decisions_are_found(on, place, [*said.of(place, *ASKED), *some])
    checks.no_word_is_in_another_memory(on, said, everything)
    records = sum(one.count_records() for one in everything.values())
    return figures | {
        "records": records,
        "asked": asked,
        "over budget": over,
        "audit": dict(Counter(finding.code for finding in findings)),
    }


async def a_season(folder: Path, platform: Platform, layout: str, seed: int) -> None:
    """A whole season."""
    said, began = script(seed, platform), time.process_time()
    async with world(folder, platform, layout) as on:

        async def index_is_right(place: Place) -> None:
            checks.the_index_is_right(await checks.seen(on, place))

        on.after_sleep = index_is_right
        await live(on, said)
        await last_night(on)
        slept = Counter(report.stage.value for _, _, report in on.reports)
        figures = await look(on, said, seed)
        assert on.starts == 2
        assert layout == TOY.name or not figures["over budget"]  # its page of fifty lines is full of what is PROVEN
        assert not [report.problem for _, _, report in on.reports if report.problem]
    figures |= {"lines": said.lines, "sleeps": dict(slept), "cpu_s": round(time.process_time() - began, 1)}
    sys.stdout.write(f"\n{layout} on {platform}: {figures}\n")


@pytest.mark.asyncio
@pytest.mark.parametrize(("layout", "platform"), COMBINATIONS)
async def test_a_season(tmp_path: Path, layout: str, platform: Platform) -> None:
    await a_season(tmp_path, platform, layout, seed=7)


@pytest.mark.asyncio
async def test_a_new_layout_is_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[str, Layout]", LAYOUTS), TOY.name, TOY)
    monkeypatch.setattr(memory_core.layouts, "READY", (*memory_core.layouts.READY, TOY.name))
    await a_season(tmp_path, "console", TOY.name, seed=8)
