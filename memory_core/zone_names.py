"""Time zones by the name that a person wrote: `Asia/Shanghai`, `utc`, `+08:00`, `UTC+8`.

All zones are read once, by `load` (about a tenth of a second): a zone is asked for on the event loop, by a name that
only the index tells, and reading its file there would block it. The program calls it in a thread when it starts. A
short command does not: the gate reads an index that names a zone in a thread then, and only the file of that zone is
opened, where it has its own name (`Asia/Shanghai`, not `asia/shanghai`).
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache

_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?")
_NO_ZONES = ("posix", "right")
"""Folders of the system that hold each zone once more, which zoneinfo does not count among the zones."""


@cache
def _zones() -> Mapping[str, tzinfo]:
    return {name.lower(): zoneinfo.ZoneInfo(name) for name in zoneinfo.available_timezones()}


@cache
def _zone(name: str) -> tzinfo | None:
    """The zone of exactly that name, from its own file; None also where only all of them can tell."""
    if name.startswith(_NO_ZONES):
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such file, no name of a file, a folder
        return None


def load() -> None:
    """Read all zones, blocking; else one that is asked for is read by itself, or all where its name is not exact."""
    _zones()


def _loaded() -> bool:
    return bool(_zones.cache_info().currsize)


def must_read(index: str) -> bool:
    """May reading that index open a zone's file?"""
    return "timezone" in index.lower() and not _loaded()


def zone_named(name: str) -> tzinfo | None:
    """The zone of that name (IANA, any case) or fixed offset; None if there is no such zone."""
    wanted = name.strip().lower().replace(" ", "_")
    if wanted in {"utc", "gmt", "z"}:
        return UTC
    if offset := _OFFSET.fullmatch(name.strip().lower()):
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-distance if sign == "-" else distance) if distance <= timedelta(hours=14) else None
    if not wanted:
        return None
    return (None if _loaded() else _zone(name.strip())) or _zones().get(wanted)
