"""When sleep is due: each threshold, missed runs once, clocks that were set back; and the file that tells it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.forms.heartbeat import Heartbeat, parse, render
from memory_core.sleep.due import due, next_due
from memory_core.sleep.report import Stage

NOW = datetime(2026, 9, 1, 3, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def slept(deep: timedelta, rem: timedelta) -> Heartbeat:
    return Heartbeat(last_deep=NOW - deep, last_rem=NOW - rem)


@pytest.mark.parametrize(
    ("deep", "rem", "undigested", "stages"),
    [
        (72 * HOUR, HOUR, 0, (Stage.DEEP,)),
        (72 * HOUR - SECOND, HOUR, 2, ()),
        (48 * HOUR, HOUR, 3, (Stage.DEEP,)),
        (48 * HOUR, HOUR, 2, ()),
        (48 * HOUR - SECOND, HOUR, 30, ()),
        (HOUR, 168 * HOUR, 0, (Stage.REM,)),
        (HOUR, 168 * HOUR - SECOND, 0, ()),
        (10_000 * HOUR, 10_000 * HOUR, 50, (Stage.DEEP, Stage.REM)),
        (-2 * HOUR, -2 * HOUR, 0, (Stage.DEEP, Stage.REM)),
        (-SECOND, -SECOND, 9, ()),
    ],
)
def test_due(deep: timedelta, rem: timedelta, undigested: int, stages: tuple[Stage, ...]) -> None:
    assert due(slept(deep, rem), undigested, NOW) == stages


def test_a_scope_that_never_slept_is_due() -> None:
    assert due(Heartbeat(), 0, NOW) == (Stage.DEEP, Stage.REM)
    assert next_due(Heartbeat(), NOW) == NOW


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 9))
def test_the_next_moment_is_not_past_and_nothing_becomes_due_before_it(deep: int, rem: int, undigested: int) -> None:
    beat = slept(deep * HOUR, rem * HOUR)
    moment = next_due(beat, NOW)
    assert moment >= NOW
    if moment > NOW:
        assert due(beat, 0, moment - SECOND) == ()
        later = moment - SECOND
        assert due(beat, undigested, later) == due(beat, undigested, NOW)


def test_whoever_asks_at_the_next_moment_meets_every_period_of_a_year() -> None:
    """What is missed is due once: after each run the clock of that stage starts anew."""
    beat = Heartbeat(last_deep=NOW, last_rem=NOW)
    now, ran = NOW, {Stage.DEEP: 0, Stage.REM: 0}
    while now < NOW + timedelta(days=365):
        now = max(now + SECOND, next_due(beat, now))
        for stage in due(beat, 0, now):
            ran[stage] += 1
            beat = Heartbeat(
                last_deep=now if stage is Stage.DEEP else beat.last_deep,
                last_rem=now if stage is Stage.REM else beat.last_rem,
            )
    assert ran[Stage.DEEP] in (121, 122)
    assert ran[Stage.REM] in (52, 53)


def test_the_file_is_read_leniently_and_keeps_what_it_does_not_know() -> None:
    read = parse('{"lastDeep": "2026-08-30T03:00:00+02:00", "lastRem": 17, "idleRuns": "x", "mood": [1]}')
    assert read.last_deep == datetime(2026, 8, 30, 1, tzinfo=UTC)
    assert read.last_rem == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=17)
    assert read.idle_runs == 0
    assert '"mood": [\n' in render(read)
    assert parse("nonsense").broken
    assert parse("[]").broken
    assert parse(None) == parse("") == Heartbeat()
    assert parse('{"lastConsolidatedAt": "2026-08-30T03:00:00"}').last_consolidated_at == datetime(
        2026, 8, 30, 3, tzinfo=UTC
    )


@given(st.text(max_size=60))
def test_no_file_breaks_the_reader(text: str) -> None:
    assert parse(render(parse(text))) == parse(render(parse(render(parse(text)))))
