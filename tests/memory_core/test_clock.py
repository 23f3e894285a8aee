"""Days: the next one begins when its first moment is there, also where the clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.clock import day_in, next_day
from tests.scale import scale

ZONES = ("UTC", "Europe/Berlin", "America/Havana", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia", "Asia/Kathmandu")

DECADES = (datetime(2010, 1, 1), datetime(2030, 1, 1))  # noqa: DTZ001  # Hypothesis wants its bounds without a zone


@settings(max_examples=scale(2000), deadline=None)
@given(st.datetimes(*DECADES, timezones=st.just(UTC)), st.sampled_from(ZONES))
def test_the_next_day_begins_at_its_first_moment(moment: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    begins = next_day(zone, moment)
    assert begins > moment
    assert day_in(zone, begins) > day_in(zone, moment)
    assert day_in(zone, begins - timedelta(microseconds=1)) == day_in(zone, moment)


@pytest.mark.parametrize(
    ("zone", "moment", "begins"),
    [
        ("Europe/Berlin", "2026-03-28T23:30+00:00", "2026-03-29T22:00+00:00"),  # a day of 23 hours
        ("Europe/Berlin", "2026-10-24T23:30+00:00", "2026-10-25T23:00+00:00"),  # a day of 25 hours
        ("Africa/Cairo", "2026-04-23T12:00+00:00", "2026-04-23T22:00+00:00"),  # a day that begins at one o'clock
        ("Pacific/Apia", "2011-12-30T08:00+00:00", "2011-12-30T10:00+00:00"),  # a day that was left out
    ],
)
def test_days_of_unusual_length(zone: str, moment: str, begins: str) -> None:
    assert next_day(ZoneInfo(zone), datetime.fromisoformat(moment)) == datetime.fromisoformat(begins)
