"""When a scope's sleep is due. Pure; the schedule asks, and asks again after each run.

    deep     3 days after the last, or 48 hours after it with 3 or more journals that were not digested since
    REM      7 days after the last

A sleep that was taken back counts here as one that ran: whoever undid it does not want it back in the next night.
What was missed is due once, however long the program stood still. A scope that never slept, or whose last sleep lies
in the future (a clock that was set back), is due.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_core.forms.heartbeat import Heartbeat
from memory_core.sleep.report import Stage

DEEP_EVERY = timedelta(days=3)
DEEP_SOONER = timedelta(hours=48)
SOONER_JOURNALS = 3
REM_EVERY = timedelta(days=7)
_AHEAD = timedelta(hours=1)
"""By so much a clock may be behind the one that wrote the file."""


def due(heartbeat: Heartbeat, undigested: int, now: datetime) -> tuple[Stage, ...]:
    """The stages that are due, deep first. `undigested`: journals with lines that no deep sleep has seen yet."""
    deep = _is_over(heartbeat.ran_deep, DEEP_EVERY, now)
    sooner = undigested >= SOONER_JOURNALS and _is_over(heartbeat.ran_deep, DEEP_SOONER, now)
    rem = _is_over(heartbeat.ran_rem, REM_EVERY, now)
    return (*((Stage.DEEP,) if deep or sooner else ()), *((Stage.REM,) if rem else ()))


def next_due(heartbeat: Heartbeat, now: datetime) -> datetime:
    """When to ask again: the next moment at which a stage may become due; `now` where one is due already."""
    deep, rem = heartbeat.ran_deep, heartbeat.ran_rem
    if due(heartbeat, 0, now) or deep is None or rem is None:
        return now
    moments = (deep + DEEP_SOONER, deep + DEEP_EVERY, rem + REM_EVERY)
    return min(moment for moment in moments if moment > now)


def _is_over(last: datetime | None, every: timedelta, now: datetime) -> bool:
    return last is None or last > now + _AHEAD or now - last >= every
