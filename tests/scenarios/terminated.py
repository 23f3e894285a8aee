"""The process that is told to stop (SIGTERM), at a chosen write: the whole program, forked afresh for each run.

    python -m tests.scenarios.terminated      orders in (one line of JSON each), reports out (lines of JSON)

A run opens a workspace as `remem run` does (bot.run), on a platform of which only the wire is missing, and plays one
act. At the chosen write point (tests.scenarios.killer) the thread that is about to write sends SIGTERM to its own
process: it goes on at once, or, told `late`, when the event loop has heard of it and everything is being cancelled.
What it tells: `took` and `said`, the moment it was `signalled`, and what it wrote (`counts`); then how it `ended`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, timedelta
from pathlib import Path

from adapters.base import CaughtUp, Deliver, nothing_owed
from adapters.messages import Happening, Incoming, Outgoing, Sent
from bot.agent import Agent, Ask, Doors, Reply, Show
from bot.app import App, opened
from bot.logs import set_up
from bot.run import to_its_end, until_stopped
from memory_core import lexicon
from memory_core.candidates import Candidate, Extractor, Request
from memory_core.clock import ManualClock
from memory_core.errors import LedgerFailed
from memory_core.tokens import load_counter
from tests.scenarios.damage import unlike
from tests.scenarios.killer import ANY, BEFORE, KilledDisk, Killer, Point, Report, reporter
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.stage import ANA, BEN, channel
from tests.scenarios.terminal import START, settings

LIFE_S = 120
"""After this a run is ended by the system: it hangs."""

HEARD_S = 5.0
"""How long a thread waits for the loop to hear of the signal."""

SOME = 20
"""Rooms in which something happens in an act, at most."""


def spots(rooms: int) -> list[Spot]:
    """The rooms that the bot is in."""
    return [channel(1000 + number, f"room-{number}") for number in range(rooms)]


def lesson(number: int) -> str:
    """Something that a flush keeps under the words of `unlike(number)`."""
    return f"The nightly job failed because of {unlike(number)}; fixed by restarting it."


BEFORE_A_GREETING = frozenset({Happening.JOINED, Happening.COMMAND})
"""What concerns the bot in any room."""


@dataclass(frozen=True, slots=True)
class Act:
    """What happens, room by room in order: events, and which number's words each says (None: none)."""

    events: tuple[tuple[Incoming, int | None], ...] = ()
    after: timedelta = timedelta(minutes=1)
    """How long after the rooms were left."""
    raw_days: str = "7"


ACTS = ("start", "intake", "turns", "commands", "everywhere", "erase", "join", "idle")


def act_of(name: str, rooms: int) -> Act:
    """An act on so many rooms; the same whenever it is asked for."""
    after = timedelta(hours=2) if name == "idle" else timedelta(minutes=1)
    events = Events(ManualClock(START + after), last=5_000_000)
    few, told = spots(rooms)[:SOME], list[tuple[Incoming, int | None]]()
    match name:
        case "intake":
            for at, spot in enumerate(few):
                kept, edited, gone = (events.said(spot, BEN, lesson(at * 10 + 10_000 + one)) for one in range(3))
                told += [(kept, at * 10 + 10_000), (edited, None), (gone, None)]
                told.append((events.edited(edited, lesson(at * 10 + 10_003)), at * 10 + 10_003))
                told.append((events.deleted(gone, BEN), None))
        case "turns":
            for at, spot in enumerate(few):
                number = 20_000 + at
                told.append((events.said(spot, ANA, f"decision: {unlike(number)}", addressed=True), number))
                told.append((events.said(spot, BEN, "what did we decide?", addressed=True), None))
        case "commands":
            for at, spot in enumerate(few):
                number = 30_000 + at
                told += [(events.command(spot, ANA, f"note decision: {unlike(number)}"), number)]
                told += [(events.command(spot, ANA, words), None) for words in ("", "status", "rule Be kind")]
        case "everywhere" | "erase":
            chosen = spots(rooms) if name == "everywhere" else few
            told += [(events.command(spot, ANA, ""), None) for spot in chosen]
        case "join":
            for at in range(3):
                spot = channel(9000 + at, f"new room {at}")
                told.append((events.about_room(Happening.JOINED, spot, ANA), None))
                told.append((events.command(spot, ANA, "purpose We build things"), None))
                told.append((events.said(spot, BEN, lesson(40_000 + at)), 40_000 + at))
                told.append((events.about_room(Happening.RENAMED, channel(9000 + at, f"old {at}"), ANA), None))
        case _:
            pass
    return Act(tuple(told), after, "0" if name == "erase" else "7")


@dataclass(frozen=True, slots=True)
class Order:
    """One run. `hangs`: what never comes back (agent, stubborn, thread, extractor); `kill`: SIGKILL instead."""

    workspace: str
    act: str
    rooms: int
    chosen: tuple[str, int] | None = None
    late: bool = False
    twice: bool = False
    hangs: str = ""
    kill: bool = False

    def line(self) -> bytes:
        """As it is sent."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> Order:
        """As it was sent."""
        told = json.loads(line)
        return cls(**{**told, "chosen": tuple(told["chosen"]) if told["chosen"] else None})


class Stopper(Killer):
    """Sends SIGTERM to its own process at the chosen point, in the thread that is about to write, and goes on."""

    loop: asyncio.AbstractEventLoop | None = None
    late = False
    twice = False
    signalled = 0

    def meet(self, kind: str) -> str:
        """A point comes."""
        with self._lock:
            self.counts[kind] += 1
            self.counts[ANY] += 1
            due = self._is_due(kind)
        if due:
            self.stop(kind)
        return ""

    def _is_due(self, kind: str) -> bool:
        if self.signalled:
            return self.twice and self.signalled == 1
        chosen = self.chosen
        return chosen is not None and chosen.kind in (kind, ANY) and chosen.nth == self.counts[chosen.kind]

    def stop(self, kind: str) -> None:
        """The signal; where it is to be late, what follows waits until the loop has heard of it."""
        self.signalled += 1
        if self.signalled == 1:
            self.report(signalled=time.monotonic(), kind=kind, counts=dict(self.counts))
        os.kill(os.getpid(), signal.SIGTERM)
        if self.late and self.loop is not None and threading.current_thread() is not threading.main_thread():
            heard = threading.Event()
            # The signal comes first in the loop's own pipe; the second step is after what it made the loop do.
            self.loop.call_soon_threadsafe(self.loop.call_soon, heard.set)
            heard.wait(HEARD_S)


@dataclass(frozen=True, slots=True)
class Hanging:
    """An agent and an extractor that never answer. They tell the platform when they are asked."""

    how: str
    stopper: Stopper

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """Never."""
        await self._for_ever()
        raise AssertionError("it came back")

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """Never."""
        await self._for_ever()
        return ()

    async def _for_ever(self) -> None:
        if not self.stopper.signalled:
            self.stopper.stop(self.how)
        if self.how == "thread":
            await asyncio.to_thread(threading.Event().wait)
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if self.how != "stubborn":
                    raise


class Platform(RecordingAdapter):
    """Plays the act while it is connected: rooms side by side, the events of a room one after the other."""

    def __init__(self, order: Order, act: Act, stopper: Stopper, app: App) -> None:
        numbers = Events(ManualClock(START), last=7_000_000)
        super().__init__("discord", lambda: str(numbers.number()), admins=frozenset({ANA.key}))
        self._order, self._act, self._stopper, self._app = order, act, stopper, app

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Play until the act is over, or the platform is closed."""
        await caught_up()
        self._stopper.report(begins=True)
        by_room: dict[str, list[Incoming]] = {}
        for incoming, _ in self._act.events:
            by_room.setdefault(incoming.room.key, []).append(incoming)
        playing = asyncio.gather(*(self._in_room(deliver, events) for events in by_room.values()))
        self._closed = asyncio.Event()
        closed = asyncio.create_task(self._closed.wait())
        whole = asyncio.create_task(self._to_the_end(playing))
        try:
            await asyncio.wait({closed, whole}, return_when=asyncio.FIRST_COMPLETED)
            if not self._closed.is_set():
                whole.result()
                self._at_the_end()
                await closed
        finally:
            for task in (whole, playing, closed):
                task.cancel()
            await asyncio.gather(whole, playing, closed, return_exceptions=True)

    def _at_the_end(self) -> None:
        if not self._stopper.signalled:
            self._stopper.stop("the end")

    async def _to_the_end(self, playing: asyncio.Future[list[None]]) -> None:
        await playing
        await self._app.parts.conversations.settled()
        # Nothing tells when the schedule has saved the last scope.
        while self._order.act == "idle" and await self._app.parts.intake.scopes():  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def _in_room(self, deliver: Deliver, events: Sequence[Incoming]) -> None:
        for incoming in events:
            # What is said in a room before it was greeted is none of ours; a stop may come before the greeting.
            ours = incoming.happening in BEFORE_A_GREETING or await self._is_recorded(incoming)
            taken = await deliver(incoming)
            if taken.durable and ours:
                self._stopper.report(took=incoming.event)

    async def _is_recorded(self, incoming: Incoming) -> bool:
        try:
            return (await self._app.parts.intake.room(incoming.room.key)).recorded
        except LedgerFailed:  # it closed already
            return False

    async def send(self, outgoing: Outgoing) -> Sent:
        """Out it goes."""
        sent = await super().send(outgoing)
        self._stopper.report(said=outgoing.text[:300], room=outgoing.conversation.room)
        return sent


async def live(order: Order, killer: Killer) -> None:
    """One run, as `remem run` does it."""
    act, stopper = act_of(order.act, order.rooms), killer
    assert isinstance(stopper, Stopper)
    stopper.loop = asyncio.get_running_loop()
    hanging = Hanging(order.hangs, stopper)
    agent: Agent | None = hanging if order.hangs in ("agent", "stubborn", "thread") else None
    extractor: Extractor | None = hanging if order.hangs == "extractor" else None
    opening = opened(
        settings(Path(order.workspace), raw_days=act.raw_days),
        clock=ManualClock(START + act.after),
        zone=UTC,
        agent=agent,
        extractor=extractor,
        known=Path(order.workspace).parent / "known.json",
        disk=KilledDisk(killer, 1),
        ledger_faults=killer.hear,
    )
    await until_stopped(opening, lambda app: [Platform(order, act, stopper, app)], signal.SIGTERM, signal.SIGINT)


class Deadly(Stopper):
    """Dies at the chosen point (SIGKILL)."""

    def stop(self, kind: str) -> None:
        """The end, without a word."""
        os.kill(os.getpid(), signal.SIGKILL)


def _born(order: Order, report: Report) -> None:
    """In the forked process: live; the process ends as a program does, by itself."""
    signal.alarm(LIFE_S)
    wrote = os.open(Path(order.workspace).parent / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(wrote, 2)
    os.dup2(wrote, 1)
    set_up(settings(Path(order.workspace)))
    kind = Deadly if order.kill else Stopper
    stopper = kind(report, Point(*order.chosen, BEFORE) if order.chosen else None)
    stopper.late, stopper.twice = order.late, order.twice
    try:
        to_its_end(live(order, stopper))
    except BaseException:
        report(failed=traceback.format_exc()[-3000:])
        raise


def main() -> None:
    """Load what all runs need, then take orders until there are none.

    The masker of secrets is left to each run: what it is made of has threads of its own, which a fork does not take.
    """
    report = reporter(os.dup(1))
    os.dup2(2, 1)
    load_counter().count("warm")
    lexicon.load()
    report(ready=True)
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            _born(Order.of(line), report)
            return
        _, status = os.waitpid(child, 0)
        report(ended=os.waitstatus_to_exitcode(status), at=time.monotonic())


if __name__ == "__main__":
    main()
