"""Time zones by the name that a person wrote: `Asia/Shanghai`, `utc`, `+08:00`, `UTC+8`.

All zones are read once, by `load` (about a tenth of a second): a zone is asked for on the event loop, by a name that
only the index tells, and reading its file there would block it. The program calls it in a thread when it starts; the
gate does so before it reads the first index that names a zone, so that a short command need not.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache

_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?")


@cache
def _zones() -> Mapping[str, tzinfo]:
    return {name.lower(): zoneinfo.ZoneInfo(name) for name in zoneinfo.available_timezones()}


def load() -> None:
    """Read all zones, blocking; else the first zone that is asked for by its name does it."""
    _zones()


def must_load(index: str) -> bool:
    """Would reading that index read zones first?"""
    return "timezone" in index.lower() and not _zones.cache_info().currsize


def zone_named(name: str) -> tzinfo | None:
    """The zone of that name (IANA, any case) or fixed offset; None if there is no such zone."""
    wanted = name.strip().lower().replace(" ", "_")
    if wanted in {"utc", "gmt", "z"}:
        return UTC
    if offset := _OFFSET.fullmatch(name.strip().lower()):
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-distance if sign == "-" else distance) if distance <= timedelta(hours=14) else None
    return _zones().get(wanted) if wanted else None
