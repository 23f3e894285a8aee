"""When a scope sleeps: in its night, at its own second, spread, never twice within twelve hours."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.nights import BEGINS, ENDS, LEAST, next_look, own_night, own_second

BUILD = 966
"""The own second of `group:build`: it must not change from one version of remem to the next."""
ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "Asia/Shanghai", "America/St_Johns", "Pacific/Apia")]
MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def _at_night(moment: datetime, zone: tzinfo) -> bool:
    return BEGINS <= moment.astimezone(zone).time() < ENDS


def test_a_scope_keeps_its_second_and_ten_thousand_are_spread_over_the_night() -> None:
    seconds = [own_second(f"group:room-{number}") for number in range(10_000)]
    assert own_second("group:build") == BUILD
    minutes = Counter(second // 60 for second in seconds)
    assert len(minutes) == 300
    most = max(minutes.values()), max(Counter(seconds).values())
    print(f"10,000 scopes: at most {most[0]} in one minute, {most[1]} in a second")  # noqa: T201
    assert max(minutes.values()) <= 60
    assert max(Counter(seconds).values()) <= 8


@given(st.text(max_size=20), st.sampled_from(ZONES), MOMENTS)
def test_the_own_night_is_the_next_one(key: str, zone: tzinfo, after: datetime) -> None:
    night = own_night(key, zone, after)
    assert after < night <= after + timedelta(hours=25)
    local = night.astimezone(zone).replace(tzinfo=None)
    # The clock may jump during the night, which moves what comes after by an hour.
    assert (local - timedelta(hours=1)).time() >= BEGINS or _at_night(night, zone)


@given(st.text(max_size=20), st.sampled_from(ZONES), MOMENTS, st.timedeltas(-timedelta(9), timedelta(9)))
def test_the_next_look_comes_when_it_is_due_or_in_the_night_after(
    key: str, zone: tzinfo, now: datetime, due_in: timedelta
) -> None:
    earliest = max(now + due_in, now + LEAST)
    look = next_look(key, zone, now + due_in, now)
    assert earliest <= look <= earliest + timedelta(hours=25)
    assert look == earliest if _at_night(earliest, zone) else look == own_night(key, zone, earliest)


@pytest.mark.parametrize("hours", [0, 47, 48, 72])
def test_what_is_due_at_night_is_not_put_off(hours: int) -> None:
    now = datetime(2026, 4, 6, 3, 0, tzinfo=UTC)
    due = now + timedelta(hours=hours)
    expected = {0: own_night("k", UTC, now + LEAST), 47: due}.get(hours, due)
    assert next_look("k", UTC, due, now) == expected
