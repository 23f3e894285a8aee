"""Time zones as people write them."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from memory_core import zone_names
from memory_core.zone_names import zone_named


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("Asia/Shanghai", 8),
        ("asia/shanghai", 8),
        ("UTC", 0),
        ("+08:00", 8),
        ("UTC+8", 8),
        ("gmt-5:30", -5.5),
        ("Z", 0),
    ],
)
def test_zone_named(name: str, hours: float) -> None:
    zone = zone_named(name)
    assert zone is not None
    assert datetime(2026, 1, 1, tzinfo=zone).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "+25:00", "../../etc/passwd", "eight"])
def test_no_such_zone(name: str) -> None:
    assert zone_named(name) is None


@pytest.fixture
def _nothing_is_read() -> Iterator[None]:
    """As in a short command, which does not read all zones at its start."""
    zone_names._zones.cache_clear()
    zone_names._zone.cache_clear()
    yield
    zone_names.load()


@pytest.mark.usefixtures("_nothing_is_read")
def test_a_zone_by_its_own_name_is_read_without_the_others() -> None:
    assert str(zone_named(" Asia/Shanghai ")) == "Asia/Shanghai"
    assert not zone_names._zones.cache_info().currsize
    assert str(zone_named("asia/shanghai")) == "Asia/Shanghai"
    assert zone_names._zones.cache_info().currsize


@pytest.mark.usefixtures("_nothing_is_read")
def test_one_zone_is_what_all_zones_tell() -> None:
    everything = zoneinfo.available_timezones()
    apart = {name: zone_named(name) for name in sorted(everything)}
    zone_names.load()
    assert apart == {name: zone_named(name) for name in sorted(everything)}


@pytest.mark.usefixtures("_nothing_is_read")
@pytest.mark.parametrize("name", ["America", "posix/Asia/Shanghai", "right/UTC", "zone.tab", "a\0b", "x" * 5000, "/"])
def test_what_the_folder_of_zones_holds_besides_is_no_zone(name: str) -> None:
    assert zone_named(name) is None
