"""`remem replay`: a Slack export through the very path of live messages, on the messages' own clock.

All rooms are taken as addressed, so that everything is recorded and nothing is answered. Between two messages the
clock stops at every timer that is due, so that idle ends and saves happen when they would have happened. Messages
among which no timer can ring are taken in together (bot/message_clock.py), and then served one after the other, each
at its own moment. So a replay's pages depend on the export alone, not on the machine.

The workspace must be empty or an earlier replay of the same export (`.remem/replay.json` says which). A replay can be
stopped at any point, also by kill -9, and continued: after each group the ledger keeps how far it came and which
silences are waited for (Schedule.rest). From there on all is done again; what was done already changes nothing. So
its pages are those of a replay that was never stopped.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.base import CaughtUp, Check, Deliver, nothing_owed
from adapters.messages import Delivery, Incoming, Outgoing, Sent
from adapters.slack.export import Export
from bot.app import App, opened
from bot.conversations import Work, done, held
from bot.message_clock import Ahead, Figures, Journey, Moved, progress_bar, time_passes
from bot.reading import settings_for
from bot.settings import Settings, Switch
from memory_core.clock import ManualClock
from memory_core.errors import BadInput
from memory_core.flush.engine import Trigger
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey
from memory_core.ledger.database import Faults, no_faults
from memory_core.lock import PROGRAM
from memory_core.store.disk import FOLDER_MODE, Disk, translated
from memory_core.store.tree import Tree

MARK = PROGRAM / "replay.json"


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


def replay(export: Path, workspace: Path | None, *, quiet: bool, sleep: bool = True) -> None:
    """Replay `export` and print the summary. Raises BadInput for a wrong file or a workspace of something else.

    `sleep`: memory sleeps on the messages' clock, unless REMEM_SLEEP is off.
    """
    settings = settings_for(workspace, quiet=True)
    if not sleep:
        settings = settings.model_copy(update={"sleep": Switch.OFF})
    try:
        with progress_bar("replaying", quiet=quiet) as moved:
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
        await go_through(app, clock, events, idle, figures, moved)
        with figures.stage("save"):
            await time_passes(app.schedule, clock, clock.now() + 2 * idle)
            await save_rest(app)
            await app.upkeep.overview(now=True)
            await app.schedule.rest(str(len(events)))
    return figures


@dataclass(slots=True)
class _Replay:
    """Every message through the turn, at its own moment; how far it came stands in the ledger (Schedule.rest)."""

    app: App
    clock: ManualClock
    figures: Figures
    moved: Moved
    total: int
    at: int = 0

    async def arrived(self, rang: bool) -> None:
        """The timers of the ledger tell which of them rang."""

    async def take(self, group: Sequence[Incoming]) -> int:
        """Take the messages in together, so that the ledger keeps them in one transaction; they enter in order."""
        with self.figures.stage("take in"):
            taken = await asyncio.gather(*(_taken(self.app, event) for event in group))
        with self.figures.stage("turn"):
            for event, known, works in taken:
                self.clock.move_to(event.sent_at)
                self.app.parts.conversations.recount(event.conversation)
                for work in works:
                    await done(event.room.key, work)
                self.figures.known += known
                self.figures.messages += 1
                self.moved(self.figures.messages, self.total)
        return len(group)

    async def rest(self, taken: int) -> None:
        """Keep how far it came, and since when it is silent where."""
        self.at += taken
        await self.app.schedule.rest(str(self.at))


async def go_through(
    app: App, clock: ManualClock, events: Sequence[Incoming], idle: timedelta, figures: Figures, moved: Moved
) -> None:
    """Replay the events, from where an earlier process came to."""
    rooms = {event.room.key for event in events}
    for room in rooms:
        state = await app.parts.intake.room(room)
        if not state.recorded:
            await app.parts.intake.keep_room(room, replace(state, recorded=True, greeted_at=clock.now()))
    at = int(await app.schedule.go_on() or 0)
    figures.known = figures.messages = at
    if at:
        clock.move_to(events[at - 1].sent_at)
    journey = Journey(clock, app.schedule, idle, UTC, figures)
    await journey.go(Ahead(iter(events[at:])), _Replay(app, clock, figures, moved, len(events), at))


async def _taken(app: App, event: Incoming) -> tuple[Incoming, bool, list[Work]]:
    """Take one event in: was it known, and what is to be done for it at its own moment."""
    with held() as works:
        taken = await app.turn.take_in(event, again=True)
    return event, not taken.new, works


async def save_rest(app: App) -> None:
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
