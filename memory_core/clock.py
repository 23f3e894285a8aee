"""Time is passed in, so that tests, replay and faults can choose it.

`now` is wall time in UTC, for what is written; `monotonic_s` never jumps, for what is waited for.
One function, `day_in`, says to which day a moment belongs in a scope's zone; every file name uses it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as time_of_day
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The moment, aware, in UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The moment, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Seconds since an arbitrary start."""
        return time.monotonic()


@dataclass(slots=True)
class ManualClock:
    """A clock that stands until it is moved: tests and replay."""

    at: datetime
    elapsed_s: float = field(default=0.0)

    def now(self) -> datetime:
        """The moment that was set."""
        return self.at.astimezone(UTC)

    def monotonic_s(self) -> float:
        """The seconds that `advance` added up."""
        return self.elapsed_s

    def advance(self, seconds: float) -> None:
        """Move both clocks forward by `seconds`."""
        self.at += timedelta(seconds=seconds)
        self.elapsed_s += seconds

    def move_to(self, moment: datetime) -> None:
        """Move both clocks to `moment` (aware); an earlier moment moves the wall clock only."""
        self.elapsed_s += max(0.0, (moment - self.at).total_seconds())
        self.at = moment


def next_day(zone: tzinfo, moment: datetime) -> datetime:
    """When the day after the one that `moment` (aware) falls on begins in `zone`, in UTC."""
    midnight = datetime.combine(day_in(zone, moment) + timedelta(days=1), time_of_day(), zone)
    return midnight.astimezone(UTC)


def day_in(zone: tzinfo, moment: datetime) -> date:
    """The day that `moment` (aware) falls on in `zone`: the only such rule in remem."""
    return moment.astimezone(zone).date()
