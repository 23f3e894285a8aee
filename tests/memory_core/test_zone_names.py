"""Time zones as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

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
