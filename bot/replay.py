"""`remem replay`: a Slack export through the very path of live messages, on the messages' own clock.

All rooms are taken as addressed, so that everything is recorded and nothing is answered. Between two messages the
clock stops at every timer that is due, so that idle ends and saves happen when they would have happened. Messages
among which no timer can ring are taken in together, as a burst is, and then served one after the other, each at its
own moment. So a replay's pages depend on the export alone, not on the machine.

The workspace must be empty or an earlier replay of the same export (`.remem/replay.json` says which). A replay can be
stopped at any point, also by kill -9, and continued: after each group the ledger keeps how far it came and which
silences are waited for (Schedule.rest). From there on all is done again; what was done already changes nothing. So
its pages are those of a replay that was never stopped.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from adapters.base import CaughtUp, Check, Deliver, nothing_owed
from adapters.messages import Delivery, Incoming, Outgoing, Sent
from adapters.slack.export import Export
from bot.app import App, opened
from bot.conversations import Work, done, held
from bot.reading import settings_for
from bot.settings import Settings, Switch
from memory_core.clock import ManualClock, next_day
from memory_core.errors import BadInput
from memory_core.flush.engine import Trigger
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey
from memory_core.ledger.database import Faults, no_faults
from memory_core.lock import PROGRAM
from memory_core.store.disk import FOLDER_MODE, Disk, translated
from memory_core.store.tree import Tree

MARK = PROGRAM / "replay.json"

SILENCE = timedelta(days=400)
"""After so long without a message nothing is left that could still age: no rule of sleep looks further back."""

GROUP = 100
"""How many messages are taken in at once, at most: less than a room's queue holds."""

Moved: TypeAlias = Callable[[int, int], None]
"""Hears how many messages are done, and how many there are."""


class Silent:
    """An adapter that says nothing: in a replay nobody listens."""

    platform = "slack"
    piece_characters = 3900

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Nothing comes from here."""

    async def send(self, outgoing: Outgoing) -> Sent:
        """Nobody hears it."""
        return Sent(Delivery.SENT)

    @property
    def revise_s(self) -> float:
        """Nobody counts."""
        return 0.0

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Nobody hears it."""
        return sent

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Nobody sees it."""

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """Nobody is."""
        return False

    async def shares_server(self, person: PersonKey) -> bool | None:
        """Everybody in the export belongs to it."""
        return True

    async def check(self) -> tuple[Check, ...]:
        """Nothing to check."""
        return ()

    async def close(self) -> None:
        """Nothing to close."""


@dataclass(slots=True)
class Figures:
    """What a replay measured: counts, and seconds by stage."""

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
        total = sum(self.stages_s.values()) or 1e-9
        shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in self.stages_s.items())
        return (
            f"{self.messages} messages, {self.known} of them known before; {total:.1f} s, "
            f"{self.messages / total:.0f} messages/s; time: {shares}"
        )


def replay(export: Path, workspace: Path | None, *, quiet: bool, sleep: bool = True) -> None:
    """Replay `export` and print the summary. Raises BadInput for a wrong file or a workspace of something else.

    `sleep`: memory sleeps on the messages' clock, unless REMEM_SLEEP is off.
    """
    settings = settings_for(workspace, quiet=True)
    if not sleep:
        settings = settings.model_copy(update={"sleep": Switch.OFF})
    try:
        with _bar(quiet=quiet) as moved:
            figures = asyncio.run(replayed(export, settings, moved))
    except KeyboardInterrupt:
        sys.stderr.write("remem: Stopped; the same command goes on from here.\n")
        raise SystemExit(130) from None
    sys.stdout.write(f"{figures.text()}\nThe memory stands in {settings.workspace}.\n")


async def replayed(
    path: Path,
    settings: Settings,
    moved: Moved = lambda done, total: None,
    *,
    disk: Disk | None = None,
    ledger_faults: Faults = no_faults,
) -> Figures:
    """The replay itself; `moved` hears of every message that is done. Raises BadInput, and RememError of the start.

    Stopped by an exception, a cancellation or a crash, it is continued by the next one on the same workspace. `disk`
    and `ledger_faults` as in `opened`.
    """
    figures = Figures()
    with figures.stage("read"):
        export = await asyncio.to_thread(Export.open, path)
        events = list({event.event: event for event in await asyncio.to_thread(export.messages)}.values())
        await asyncio.to_thread(_claim, settings.workspace, export)
    clock = ManualClock(events[0].sent_at if events else datetime.now(UTC))
    idle = timedelta(seconds=settings.idle_s)
    async with opened(settings, clock=clock, zone=UTC, disk=disk, ledger_faults=ledger_faults) as app:
        app.add(Silent())
        await _all(app, clock, events, idle, figures, moved)
        with figures.stage("save"):
            await _time_passes(app, clock, clock.now() + 2 * idle)
            await _rest(app)
            await app.upkeep.overview(now=True)
            await app.schedule.rest(str(len(events)))
    return figures


async def _all(
    app: App, clock: ManualClock, events: Sequence[Incoming], idle: timedelta, figures: Figures, moved: Moved
) -> None:
    rooms = {event.room.key for event in events}
    for room in rooms:
        state = await app.parts.intake.room(room)
        if not state.recorded:
            await app.parts.intake.keep_room(room, replace(state, recorded=True, greeted_at=clock.now()))
    at = int(await app.schedule.go_on() or 0)
    figures.known = figures.messages = at
    if at:
        clock.move_to(events[at - 1].sent_at)
    while at < len(events):
        with figures.stage("save"):
            await _time_passes(app, clock, events[at].sent_at)
        group = _until_due(events[at : at + GROUP], await app.schedule.next_due(), idle)
        with figures.stage("take in"):
            # Together, so that the ledger keeps them in one transaction; they enter in their order.
            taken = await asyncio.gather(*(_taken(app, event) for event in group))
        with figures.stage("turn"):
            for event, known, works in taken:
                clock.move_to(event.sent_at)
                app.parts.conversations.recount(event.conversation)
                for work in works:
                    await done(event.room.key, work)
                figures.known += known
                figures.messages += 1
                moved(figures.messages, len(events))
        at += len(group)
        await app.schedule.rest(str(at))


def _until_due(events: Sequence[Incoming], due: datetime | None, idle: timedelta) -> Sequence[Incoming]:
    """The first events, as far as no timer can ring among them: none that is set, none that they set themselves."""
    ends = min(events[0].sent_at + idle, next_day(UTC, events[0].sent_at))
    if due is not None:
        ends = min(ends, due)
    return [event for event in events if event.sent_at < ends] or events[:1]


async def _taken(app: App, event: Incoming) -> tuple[Incoming, bool, list[Work]]:
    """Take one event in: was it known, and what is to be done for it at its own moment."""
    with held() as works:
        taken = await app.turn.take_in(event, again=True)
    return event, not taken.new, works


async def _time_passes(app: App, clock: ManualClock, until: datetime) -> None:
    """Move the clock to `until`, ringing at every timer on the way; of a longer SILENCE the rest is made up once."""
    heard_until = min(until, clock.now() + SILENCE)
    while (due := await app.schedule.next_due()) is not None and due <= heard_until:
        clock.move_to(max(due, clock.now()))
        await app.schedule.ring()
    clock.move_to(max(until, clock.now()))


async def _rest(app: App) -> None:
    """Save what no timer waits for: what apps said in rooms where nobody spoke since."""
    for scope in await app.parts.intake.scopes():
        await app.saving.save(scope, Trigger.IDLE)


def _claim(workspace: Path, export: Export) -> None:
    """The workspace is empty, or holds an earlier replay of this very export. Raises BadInput, StoreFailed."""
    tree = Tree(workspace)
    with translated(workspace):
        workspace.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        empty = next(workspace.iterdir(), None) is None
    mark = tree.read(MARK)
    if mark is not None:
        if _replayed(mark.content) != export.sha256:
            raise BadInput(f"{workspace} holds a replay of another export; give an empty folder with --workspace.")
    elif not empty:
        raise BadInput(f"{workspace} is not empty and no replay; give an empty folder with --workspace.")
    else:
        text = json.dumps({"sha256": export.sha256, "export": export.path.name})
        tree.create(MARK, text.encode())


def _replayed(mark: bytes) -> str:
    """The fingerprint in a mark; empty for one that cannot be read."""
    try:
        return str(json.loads(mark)["sha256"])
    except (ValueError, KeyError, TypeError):
        return ""


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Moved]:
    """A progress bar on standard error; the block gets the function that moves it."""
    columns = (TextColumn("replaying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=quiet) as progress:
        task = progress.add_task("replay", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
