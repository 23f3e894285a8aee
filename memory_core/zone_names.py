"""Time zones by the name that a person wrote: `Asia/Shanghai`, `utc`, `+08:00`, `UTC+8`.

All zones are read once, when this module is imported (about a tenth of a second): a zone is asked for on the event
loop, by a name that only the index tells, and reading its file there would block it.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, timedelta, timezone, tzinfo

_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?")


def _all_zones() -> dict[str, tzinfo]:
    return {name.lower(): zoneinfo.ZoneInfo(name) for name in zoneinfo.available_timezones()}


_ZONES = _all_zones()


def zone_named(name: str) -> tzinfo | None:
    """The zone of that name (IANA, any case) or fixed offset; None if there is no such zone."""
    wanted = name.strip().lower().replace(" ", "_")
    if wanted in {"utc", "gmt", "z"}:
        return UTC
    if offset := _OFFSET.fullmatch(name.strip().lower()):
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-distance if sign == "-" else distance) if distance <= timedelta(hours=14) else None
    return _ZONES.get(wanted)
