"""Sleep without being asked: once a period, remembered, caught up, never beside a turn or a save, never in the way.

The whole program on real files and real SQLite; only the clock is moved by hand, as in a replay.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from bot.nights import BEGINS, ENDS, own_night
from bot.schedule import HELD_S
from bot.sleeping import BACK_OFF_S, BUSY_S, SLEEP, Night, Sleeping
from memory_core.candidates import Candidate, Request
from memory_core.clock import ManualClock
from memory_core.extract import candidates_in
from memory_core.flush.engine import Trigger
from memory_core.ids import GroupScope, Scope
from memory_core.ledger.memory import MemoryLedger
from memory_core.sleep.report import Report, Stage
from tests.scale import scale
from tests.scenarios.recording import Events, Spot
from tests.scenarios.stage import ANA, BEN, channel, rows, stage
from tests.scenarios.stage import Stage as On
from tests.scenarios.terminal import START

BUILD = channel(1, "build")
SCOPE = GroupScope("build")
FIRST = own_night(SCOPE.key, UTC, START)
HEARTBEAT = "build/heartbeat-state.json"


class Counting:
    """The rules, as an extractor that counts how often it is asked, and waits where `free` is not set."""

    def __init__(self) -> None:
        self.asked = 0
        self.free, self.begun = asyncio.Event(), asyncio.Event()
        self.free.set()

    async def extract(self, request: Request) -> tuple[Candidate, ...]:
        """As the rules."""
        self.asked += 1
        self.begun.set()
        await self.free.wait()
        return candidates_in(request)


class Log:
    """What was logged in a block."""

    def __init__(self, lines: list[Any]) -> None:
        self._lines = lines

    def slept(self, stage: str = "", scope: str = SCOPE.key) -> int:
        """How many runs of a stage there were."""
        return sum(
            line["event"] == "slept" and line["scope"] == scope and stage in ("", line["stage"])
            for line in self._lines
        )

    def saved(self) -> int:
        """How many saves read messages."""
        return sum(line["event"] == "saved" and line["messages"] > 0 for line in self._lines)

    def failed(self) -> list[float]:
        """After how long each sleep that failed was to be tried again."""
        return [line["again_in_s"] for line in self._lines if line["event"] == "sleep failed" and "tries" in line]


@contextmanager
def logged() -> Iterator[Log]:
    """Listen to the log."""
    with capture_logs() as lines:
        yield Log(lines)


async def _until(on: On, moment: datetime) -> None:
    """Time passes; every timer on the way rings at its moment."""
    while (due := await on.app.schedule.next_due()) is not None and due <= moment:
        on.clock.move_to(max(due, on.clock.now()))
        await on.app.schedule.ring()
    on.clock.move_to(max(moment, on.clock.now()))


async def _days(on: On, days: float) -> None:
    await _until(on, on.clock.now() + timedelta(days=days))


async def _talk(on: On, text: str, spot: Spot = BUILD) -> None:
    await on.says(spot, ANA, text, addressed=False)


async def _begin(on: On, *spots: Spot) -> None:
    """The bot is in the rooms, and something was said and saved there."""
    for spot in spots or (BUILD,):
        await on.enter(spot)
        await _talk(on, "Decision: we use Redis for the session cache", spot)
        await on.command(spot, ANA)


def _timers(workspace: Path) -> dict[str, datetime]:
    """The timers of sleep, as another process sees them."""
    found = rows(workspace, "SELECT key, due_us FROM timers WHERE key LIKE 'sleep:%'")
    return {str(key): datetime.fromtimestamp(int(str(us)) / 1e6, UTC) for key, us in found}


def _beat(on: On) -> dict[str, str | None]:
    beat: dict[str, str | None] = json.loads(on.page(HEARTBEAT))
    return beat


@pytest.mark.asyncio
async def test_a_new_zone_moves_the_armed_sleep_to_the_nights_there(tmp_path: Path) -> None:
    """And no timer is set where none was: the next save does that."""
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.command(BUILD, ANA, "zone Asia/Shanghai")
        assert _timers(tmp_path) == {}
        await _begin(on)
        for name in ("Asia/Tokyo", "America/New_York", "Europe/Berlin"):
            assert name in await on.command(BUILD, ANA, f"zone {name}")
            (armed,) = _timers(tmp_path).values()
            assert armed == own_night(SCOPE.key, ZoneInfo(name), on.clock.now())
        await _until(on, armed)
        assert _beat(on)["lastDeep"]
        (before,) = _timers(tmp_path).values()
        await on.command(BUILD, ANA, "zone America/New_York")
        (after,) = _timers(tmp_path).values()
        assert before < after, "what is due by day there waits for the night"
        assert BEGINS <= after.astimezone(ZoneInfo("America/New_York")).time() < ENDS


@pytest.mark.asyncio
async def test_a_scope_is_armed_by_its_first_save_and_sleeps_in_its_own_night(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        assert _timers(tmp_path) == {}
        await _begin(on)
        assert _timers(tmp_path) == {f"{SLEEP}group:build": FIRST}
        with logged() as log:
            await _until(on, FIRST - timedelta(seconds=1))
            assert log.slept() == 0
            await _until(on, FIRST)
            assert (log.slept("deep"), log.slept("rem")) == (1, 1)
        assert _beat(on)["lastDeep"] == _beat(on)["lastRem"] == FIRST.isoformat(timespec="seconds")
        assert _timers(tmp_path) == {f"{SLEEP}group:build": FIRST + timedelta(hours=48)}


@pytest.mark.asyncio
async def test_case_154_restarts_and_notes_make_no_run_more(tmp_path: Path) -> None:
    clock, deep, rem, nights = ManualClock(START), 0, 0, list[datetime]()
    events = Events(clock)
    extractor, saves, days = Counting(), 0, max(15, scale(200))
    for half in range(2 * days):  # a restart, a note and a saved lesson every twelve hours
        async with stage(tmp_path, clock=clock, events=events, extractor=extractor) as on:
            with logged() as log:
                await (on.command(BUILD, ANA, f"note number {half} is written at once") if half else _begin(on))
                await _talk(
                    on, f"lesson learned: job {half} stalled, because {half} disks were full; a quota fixed it"
                )
                await _days(on, 0.5)
                deep, rem, saves = deep + log.slept("deep"), rem + log.slept("rem"), saves + log.saved()
            if on.page(HEARTBEAT) and (last := _beat(on)["lastDeep"]):
                nights.append(datetime.fromisoformat(last))
    runs = sorted(set(nights))
    gaps = {later - earlier for earlier, later in pairwise(runs)}
    told = f"{days} days, {2 * days} starts, notes and saves: {deep} deep, {rem} REM, {extractor.asked} extractions"
    print(f"{told}, between deep sleeps {sorted(map(str, gaps))}")  # noqa: T201
    assert deep == len(runs)
    assert min(gaps) >= timedelta(hours=48)
    assert days // 3 <= deep <= days // 2 + 1
    assert days // 7 <= rem <= days // 7 + 1
    assert extractor.asked == saves, "sleep asks no extractor"


@pytest.mark.asyncio
async def test_case_154_where_nothing_is_new_nothing_runs_and_no_extractor_is_asked(tmp_path: Path) -> None:
    extractor = Counting()
    async with stage(tmp_path, extractor=extractor) as on:
        await _begin(on)
        await _days(on, 1)
        asked = extractor.asked
        with logged() as log:
            await _days(on, 20)
            # One more look at the journal of the first day, and its way to the archive after 14 days.
            assert log.slept("deep") <= 2
            assert not on.page("build/journal/2026-04-06.md")
        with logged() as log:
            await _days(on, 100)
            assert log.slept("deep") == 0
            assert 13 <= log.slept("rem") <= 15
        assert extractor.asked == asked


@pytest.mark.asyncio
async def test_three_journals_bring_deep_sleep_forward(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _begin(on)
        with logged() as log:
            await _days(on, 1)
            assert log.slept("deep") == 1
            for day in range(2):
                await _talk(
                    on, f"lesson learned: the queue stalled on day {day}, because the disk was full; a quota fixed it"
                )
                await _days(on, 1)
        two = log.slept("deep")
        assert two in (1, 2)
        assert two == 1 + (datetime.fromisoformat(str(_beat(on)["lastDeep"])) == FIRST + timedelta(hours=48))


@pytest.mark.asyncio
async def test_what_was_missed_is_caught_up_once_also_by_day(tmp_path: Path) -> None:
    clock = ManualClock(START)
    events = Events(clock)
    async with stage(tmp_path, clock=clock, events=events) as on:
        await _begin(on)
    clock.move_to(datetime(2026, 6, 20, 14, tzinfo=UTC))
    with logged() as log:
        async with stage(tmp_path, clock=clock, events=events) as on:
            await on.app.schedule.ring()
            assert (log.slept("deep"), log.slept("rem")) == (1, 1)
            await on.app.schedule.ring()
            await _talk(on, "Decision: we use Valkey for the event queue")
            await on.command(BUILD, ANA)
        async with stage(tmp_path, clock=clock, events=events) as on:
            await on.app.schedule.ring()
            assert (log.slept("deep"), log.slept("rem")) == (1, 1)
    next_own = own_night(SCOPE.key, UTC, clock.now() + timedelta(hours=48))
    assert _timers(tmp_path) == {f"{SLEEP}group:build": next_own}


@pytest.mark.asyncio
async def test_scopes_sleep_one_after_the_other_and_saves_come_first(tmp_path: Path) -> None:
    spots = [channel(number, f"room{number}") for number in range(1, 6)]
    async with stage(tmp_path) as on:
        await _begin(on, *spots)
        await _talk(on, "Decision: the last one before the night", spots[0])
        on.clock.advance(3 * 86400)
        counts = []
        with capture_logs() as lines:
            for _ in spots:
                await on.app.schedule.ring()
                counts.append(len({line["scope"] for line in lines if line["event"] == "slept"}))
        assert counts == [1, 2, 3, 4, 5]
        assert next(line["event"] for line in lines if line["event"] in {"saved", "slept"}) == "saved"


@pytest.mark.asyncio
async def test_a_scope_in_which_a_turn_is_made_is_waited_for_and_others_are_not(tmp_path: Path) -> None:
    hour, names = timedelta(hours=1), (f"room{number}" for number in range(1000))
    near = next(name for name in names if FIRST - hour < own_night(f"group:{name}", UTC, START) < FIRST)
    async with stage(tmp_path) as on:
        await _begin(on, BUILD, channel(2, near))
        on.clock.move_to(FIRST)
        await on.app.schedule.ring()  # the day's end is saved
        with logged() as log:
            async with on.app.schedule.turn(BUILD.conversation, SCOPE):
                for _ in range(3):
                    await on.app.schedule.ring()
                assert log.slept() == 0
            await on.app.schedule.ring()
            assert log.slept() == 2
        assert json.loads(on.page(f"{near}/heartbeat-state.json"))["lastDeep"]


@pytest.mark.asyncio
async def test_a_turn_that_never_ends_holds_a_sleep_up_for_an_hour_at_most(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _begin(on)
        await _until(on, FIRST - timedelta(seconds=1))
        async with on.app.schedule.turn(BUILD.conversation, SCOPE):
            with logged() as log:
                on.clock.move_to(FIRST + timedelta(seconds=HELD_S - 1))
                await on.app.schedule.ring()
                assert log.slept() == 0
                on.clock.advance(1)
                await on.app.schedule.ring()
                assert log.slept() == 2


@pytest.mark.asyncio
async def test_a_sleep_never_runs_beside_a_save(tmp_path: Path) -> None:
    extractor = Counting()
    async with stage(tmp_path, extractor=extractor) as on:
        await _begin(on)
        await _until(on, FIRST - timedelta(seconds=10))
        await _talk(on, "Decision: said in the night")
        extractor.free.clear()
        extractor.begun.clear()
        on.clock.move_to(FIRST)
        with logged() as log:
            saving = asyncio.create_task(on.app.saving.save(SCOPE, Trigger.COMMAND))
            async with asyncio.timeout(30):
                await extractor.begun.wait()
            await on.app.schedule.ring()
            assert log.slept() == 0
            assert "try again in a moment" in await on.command(BUILD, ANA, "sleep")
            assert _timers(tmp_path)[f"{SLEEP}group:build"] == FIRST + timedelta(seconds=BUSY_S)
            extractor.free.set()
            assert (await saving).written
            await _days(on, 1 / 24)
            assert log.slept() == 2


@pytest.mark.asyncio
async def test_a_failure_backs_off_over_a_restart_is_told_and_blocks_no_reply(tmp_path: Path) -> None:
    clock = ManualClock(START)
    events = Events(clock)
    async with stage(tmp_path, clock=clock, events=events) as on:
        await _begin(on)
    blocked = tmp_path / "memory/groups" / HEARTBEAT
    blocked.mkdir()
    with logged() as log:
        async with stage(tmp_path, clock=clock, events=events) as on:
            await _until(on, FIRST)
            assert "Redis" in (await on.says(BUILD, BEN, "what do we use for the session cache?"))[0]
        async with stage(tmp_path, clock=clock, events=events) as on:
            await _days(on, 3)
            assert "when this memory slept cannot be read" in await on.command(BUILD, BEN, "status")
        assert log.failed()[:4] == list(BACK_OFF_S)
        assert set(log.failed()[4:]) == {BACK_OFF_S[-1]}
        assert log.slept() == 0
        blocked.rmdir()
        async with stage(tmp_path, clock=clock, events=events) as on:
            await _days(on, 2)
            assert (log.slept("deep"), log.slept("rem")) == (1, 1)
            assert "failed" not in await on.command(BUILD, BEN, "status")


@pytest.mark.asyncio
async def test_a_fault_that_nobody_foresaw_ends_one_scopes_sleep_alone(tmp_path: Path) -> None:
    async def broken(scope: Scope, stage: Stage) -> Report | None:
        raise ZeroDivisionError(scope.key, stage)

    async with stage(tmp_path) as on:
        await _begin(on)
        timers = MemoryLedger(on.clock).timers
        sleeping = Sleeping(on.app.parts.handles, timers, broken)
        with capture_logs() as lines:
            await sleeping.ring(Night(SCOPE, on.clock.now()).timer)
        (timer,) = await timers.due(on.clock.now() + timedelta(days=1))
        assert timer.due_at == on.clock.now() + timedelta(seconds=BACK_OFF_S[0])
        assert any("exc_info" in line or "exception" in line for line in lines)
        assert "nobody foresaw" in (await sleeping.rest(SCOPE)).trouble


@pytest.mark.asyncio
async def test_switched_off_nobody_sleeps_unless_asked(tmp_path: Path) -> None:
    clock = ManualClock(START)
    events = Events(clock)
    async with stage(tmp_path, clock=clock, events=events) as on:
        await _begin(on)
    with logged() as log:
        async with stage(tmp_path, clock=clock, events=events, sleep="off") as on:
            await _talk(on, "Decision: we use Valkey for the event queue")
            await _days(on, 30)
            assert log.slept() == 0
            assert _timers(tmp_path) == {}
            assert "REMEM_SLEEP is off" in await on.command(BUILD, ANA, "status")
            await on.command(BUILD, ANA, "sleep")
            assert (log.slept("deep"), _timers(tmp_path)) == (1, {})
    async with stage(tmp_path, clock=clock, events=events) as on:
        await _talk(on, "Decision: we use Postgres for the reports")
        await on.command(BUILD, ANA)
        assert list(_timers(tmp_path)) == [f"{SLEEP}group:build"]


@pytest.mark.asyncio
async def test_a_memory_that_is_gone_is_not_looked_at_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _begin(on)
        await _days(on, 1)
        (tmp_path / "memory/groups/build.md").unlink()
        await _days(on, 10)
        assert _timers(tmp_path) == {}


@pytest.mark.asyncio
async def test_case_145_new_notes_of_which_nothing_can_be_read_are_warned_of(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _begin(on)
        await _days(on, 1)
        with capture_logs() as lines:
            for number in range(5):
                page = tmp_path / f"memory/groups/build/journal/{on.clock.now():%Y-%m-%d}.md"
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(
                    f"# {page.stem} (+00:00)\n\n## 14:30 Notes\n\n### Learned\n- score=0.5{number} recalls=0\n"
                )
                await _days(on, 3)
        runs = [line for line in lines if line["event"] == "slept" and line["stage"] == "deep"]
        warned = [
            line for line in lines if line["log_level"] == "warning" and "could read nothing new" in line["why"]
        ]
        print(f"{len(runs)} deep runs over notes that cannot be read, {len(warned)} warnings")  # noqa: T201
        assert len(runs) >= 4
        assert warned
        assert "could read nothing new of them" in await on.command(BUILD, BEN, "status")


@pytest.mark.asyncio
async def test_a_timer_that_a_wrong_clock_set_far_ahead_comes_back_with_the_next_save(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _begin(on)
        on.clock.at += timedelta(days=400)
        await on.app.schedule.ring()
        assert _timers(tmp_path)[f"{SLEEP}group:build"] > START + timedelta(days=400)
        on.clock.at -= timedelta(days=400)
        await _talk(on, "Decision: the clock is right again")
        await on.command(BUILD, ANA)
        assert _timers(tmp_path) == {f"{SLEEP}group:build": FIRST}
