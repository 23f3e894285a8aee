"""`remem replay`: a Slack export through the very path of live messages, on the messages' own clock.

All rooms are taken as addressed, so that everything is recorded and nothing is answered. Between two messages the
clock stops at every timer that is due, so that idle ends and saves happen when they would have happened. The
workspace must be empty or an earlier replay of the same export (`.remem/replay.json` says which); what is in the
ledger already is passed over, so that a replay can be stopped and continued.
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

from adapters.base import Check, Deliver
from adapters.messages import Delivery, Incoming, Outgoing, Sent
from adapters.slack.export import Export
from bot.app import App, opened
from bot.run import settings_for
from bot.settings import Settings
from memory_core.clock import ManualClock
from memory_core.errors import BadInput
from memory_core.ids import Conversation, PersonKey, RoomKey

MARK = ".remem/replay.json"

Advance: TypeAlias = Callable[[], None]
"""Moves the progress bar by one message."""


class Silent:
    """An adapter that says nothing: in a replay nobody listens."""

    platform = "slack"
    piece_characters = 3900

    async def run(self, deliver: Deliver) -> None:
        """Nothing comes from here."""

    async def send(self, outgoing: Outgoing) -> Sent:
        """Nobody hears it."""
        return Sent(Delivery.SENT)

    async def typing(self, conversation: Conversation) -> None:
        """Nobody sees it."""

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """Nobody is."""
        return False

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


def replay(export: Path, workspace: Path | None, *, quiet: bool) -> None:
    """Replay `export` and print the summary. Raises BadInput for a wrong file or a workspace of something else."""
    settings = settings_for(workspace)
    figures = asyncio.run(replayed(export, settings, quiet=quiet))
    sys.stdout.write(f"{figures.text()}\nThe memory stands in {settings.workspace}.\n")


async def replayed(path: Path, settings: Settings, *, quiet: bool = True) -> Figures:
    """The replay itself, for the command and for tests."""
    figures = Figures()
    with figures.stage("read"):
        export = await asyncio.to_thread(Export.open, path)
        events = await asyncio.to_thread(export.messages)
        await asyncio.to_thread(_claim, settings.workspace, export)
    clock = ManualClock(events[0].sent_at if events else datetime.now(UTC))
    async with opened(settings, clock=clock, zone=UTC) as app:
        app.add(Silent())
        with _bar(len(events), quiet=quiet) as advance:
            await _all(app, clock, events, figures, advance)
        with figures.stage("save"):
            await _time_passes(app, clock, clock.now() + timedelta(seconds=2 * settings.idle_s))
    return figures


async def _all(app: App, clock: ManualClock, events: Sequence[Incoming], figures: Figures, advance: Advance) -> None:
    rooms = {event.room.key for event in events}
    for room in rooms:
        state = await app.parts.intake.room(room)
        if not state.recorded:
            await app.parts.intake.keep_room(room, replace(state, recorded=True, greeted_at=clock.now()))
    for event in events:
        with figures.stage("save"):
            await _time_passes(app, clock, event.sent_at)
        with figures.stage("take in"):
            figures.known += not (await app.turn.take_in(event)).new
        with figures.stage("turn"):
            await app.parts.conversations.settled()
        figures.messages += 1
        advance()


async def _time_passes(app: App, clock: ManualClock, until: datetime) -> None:
    """Move the clock to `until`, stopping at every timer on the way."""
    while (due := await app.schedule.next_due()) is not None and due <= until:
        clock.move_to(max(due, clock.now()))
        await app.schedule.ring()
    clock.move_to(max(until, clock.now()))


def _claim(workspace: Path, export: Export) -> None:
    """The workspace is empty, or holds an earlier replay of this very export. Raises BadInput."""
    mark = workspace / MARK
    try:
        if json.loads(mark.read_text("utf-8"))["sha256"] == export.sha256:
            return
        raise BadInput(f"{workspace} holds a replay of another export; give an empty folder with --workspace.")
    except FileNotFoundError:
        if workspace.exists() and any(workspace.iterdir()):
            raise BadInput(
                f"{workspace} is not empty and no replay; give an empty folder with --workspace."
            ) from None
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{mark} cannot be read; give an empty folder with --workspace.") from None
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark.write_text(json.dumps({"sha256": export.sha256, "export": export.path.name}), "utf-8")


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[Advance]:
    """A progress bar on standard error; the block gets a function that advances it by one."""
    columns = (TextColumn("replaying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=quiet) as progress:
        task = progress.add_task("replay", total=total)
        yield lambda: progress.advance(task)
