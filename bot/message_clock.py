"""On the messages' own clock: how a history is gone through, in `remem replay` and `remem import`.

    time passes   the clock stops at every timer that is due before the next message: silences end, days end
    take          the messages among which no timer can ring are taken in together, as a burst is
    rest          how far it came is kept durably; a process that is stopped or killed goes on from there

Whoever travels (`Traveller`) says what taking in means and where it is kept how far it came. From the last rest on
all is done again, so what is done twice must change nothing. A flush that is made again must find no more messages
than the first time: a traveller whose timers do not outlive the process keeps what rang (`arrived`), before more
messages are taken in.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import Protocol, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from adapters.messages import Incoming
from bot.schedule import Schedule
from memory_core.clock import ManualClock, next_day
from memory_core.text import counted

SILENCE = timedelta(days=400)
"""After so long without a message nothing is left that could still age: no rule of sleep looks further back."""

GROUP = 100
"""How many messages are taken in at once, at most: less than a room's queue holds."""

Moved: TypeAlias = Callable[[int, int], None]
"""Hears how many messages are done, and how many there are."""


class Traveller(Protocol):
    """Who goes through a history."""

    async def arrived(self, rang: bool) -> None:
        """The clock stands at the next message; `rang`: timers rang on the way."""
        ...

    async def take(self, group: Sequence[Incoming]) -> int:
        """Take in these messages, or the first of them; how many."""
        ...

    async def rest(self, taken: int) -> None:
        """So many more messages are done."""
        ...


@dataclass(slots=True)
class Figures:
    """What a journey measured: counts, and seconds by stage."""

    messages: int = 0
    known: int = 0
    stages_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.stages_s[name] = self.stages_s.get(name, 0.0) + time.perf_counter() - began

    def text(self) -> str:
        """The summary, for people."""
        return f"{counted(self.messages, 'message')}, {self.known} of them known before; {self.times()}"

    def times(self) -> str:
        """How long it took, and what took how much of it; the pace is that of what was not known before."""
        total = sum(self.stages_s.values()) or 1e-9
        shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in self.stages_s.items())
        return f"{total:.1f} s, {(self.messages - self.known) / total:.0f} messages/s; time: {shares}"


class Ahead:
    """The messages that are still to come, read as they are needed, in a thread: they may lie in a file."""

    def __init__(self, events: Iterator[Incoming]) -> None:
        self._events = events
        self._seen: deque[Incoming] = deque()

    async def next(self, most: int) -> Sequence[Incoming]:
        """The next messages, as many as there are; none at the end."""
        if len(self._seen) < most:
            self._seen.extend(await asyncio.to_thread(lambda: list(islice(self._events, most - len(self._seen)))))
        return list(islice(self._seen, most))

    async def drop(self, number: int) -> None:
        """The first of them are done."""
        while number > 0 and (group := await self.next(min(number, GROUP))):
            for _ in group:
                self._seen.popleft()
            number -= len(group)


@dataclass(frozen=True, slots=True)
class Journey:
    """What a history is gone through with. `idle`: the silence that ends a conversation; `zone`: where days end."""

    clock: ManualClock
    schedule: Schedule
    idle: timedelta
    zone: tzinfo
    figures: Figures

    async def go(self, ahead: Ahead, traveller: Traveller) -> None:
        """Go through all that lies ahead."""
        while group := await ahead.next(GROUP):
            with self.figures.stage("save"):
                await traveller.arrived(await time_passes(self.schedule, self.clock, group[0].sent_at))
            due = await self.schedule.next_due()
            taken = await traveller.take(until_due(group, due, self.idle, self.zone))
            await ahead.drop(taken)
            await traveller.rest(taken)


def until_due(events: Sequence[Incoming], due: datetime | None, idle: timedelta, zone: tzinfo) -> Sequence[Incoming]:
    """The first events, as far as no timer can ring among them: none that is set, none that they set themselves."""
    ends = min(events[0].sent_at + idle, next_day(zone, events[0].sent_at))
    if due is not None:
        ends = min(ends, due)
    return [event for event in events if event.sent_at < ends] or events[:1]


async def time_passes(schedule: Schedule, clock: ManualClock, until: datetime) -> bool:
    """Move the clock to `until`, ringing at every timer on the way; of a longer SILENCE the rest is made up once.

    Did one ring?
    """
    heard_until, rang = min(until, clock.now() + SILENCE), False
    while (due := await schedule.next_due()) is not None and due <= heard_until:
        clock.move_to(max(due, clock.now()))
        await schedule.ring()
        rang = True
    clock.move_to(max(until, clock.now()))
    return rang


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Moved]:
    """A progress bar on standard error; the block gets the function that moves it, and shows it from the first move
    on: what is refused before that is said without a bar.
    """
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), disable=quiet)
    task = progress.add_task(what, total=None)

    def moved(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)
        progress.start()

    try:
        yield moved
    finally:
        if progress.live.is_started:
            progress.stop()
