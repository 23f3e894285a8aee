"""When a scope sleeps: at night where it lives, each at its own second of the night. Pure.

    night        01:00 to 06:00 in the scope's zone
    own second   a hash of the scope's key, the same for ever: 10,000 scopes of one zone are two seconds apart
    first sleep  at the scope's own second of the night that comes after its first flush
    later ones   when they are due, if that is at night, else at the own second of the next night; never within
                 LEAST of the last look, whatever the files say

What was missed because the program stood still is made up for when it runs again, also by day: a laptop may never run
at night. After that the next night is the scope's own again.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memory_core.clock import day_in

BEGINS, ENDS = time(1), time(6)
LEAST = timedelta(hours=12)
"""The timer looks at a scope that was looked at not before this."""

_NIGHT_S = (ENDS.hour - BEGINS.hour) * 3600


def own_second(key: str) -> int:
    """The second of the night, counted from its beginning, that belongs to the scope of this key."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % _NIGHT_S


def own_night(key: str, zone: tzinfo, after: datetime) -> datetime:
    """The first own second of a night that comes after `after` (aware), in UTC."""
    day, offset = day_in(zone, after), timedelta(seconds=own_second(key))
    tonight, tomorrow = (_begin(day + timedelta(days=ahead), zone) + offset for ahead in (0, 1))
    return tonight if tonight > after else tomorrow


def next_look(key: str, zone: tzinfo, due: datetime, now: datetime) -> datetime:
    """When to look at the scope again, which was looked at now and may have something to do at `due`, in UTC."""
    earliest = max(due, now + LEAST).astimezone(UTC)
    if BEGINS <= earliest.astimezone(zone).time() < ENDS:
        return earliest
    return own_night(key, zone, earliest)


def _begin(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, BEGINS, zone).astimezone(UTC)
