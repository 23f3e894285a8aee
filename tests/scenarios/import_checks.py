"""What an import leaves behind: a workspace that lives, and the same workspace with a history in it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from structlog.testing import capture_logs

from adapters.history import History
from adapters.messages import Incoming
from bot.app import App, opened
from bot.import_command import Imported, imported, open_history
from bot.message_clock import Figures
from bot.replay import Silent
from memory_core.clock import ManualClock
from memory_core.flush.engine import Trigger
from memory_core.forms import records
from memory_core.ids import GroupScope
from memory_core.ledger.base import RoomState
from tests.scenarios.terminal import settings

TODAY = datetime(2026, 5, 4, 10, 0, tzinfo=UTC)
TEAM = "T0REMEM01"


class Stop(Exception):
    """The process goes away in the middle."""


def bring(
    path: Path,
    workspace: Path,
    *rooms: str,
    stop_at: int = 0,
    dry_run: bool = False,
    figures: Figures | None = None,
    **given: object,
) -> tuple[Imported, ...] | None:
    """Import, stopped when `stop_at` messages are done; None then."""

    def moved(done: int, total: int) -> None:
        if 0 < stop_at <= done:
            raise Stop

    history, made = open_history(path), settings(workspace, **given)
    try:
        with capture_logs() as log:
            clock = ManualClock(TODAY)
            return asyncio.run(imported(history, made, rooms, moved, figures, dry_run=dry_run, clock=clock))
    except Stop:
        return None
    finally:
        assert [line for line in log if line["log_level"] not in {"debug", "info"}] == []


def events(path: Path, title: str) -> list[Incoming]:
    """The messages of one room of a file, as the live adapters give them."""
    history: History = open_history(path)
    (room,) = (room for room in history.rooms if room.title == title)
    return list(history.messages(room))


async def hear(app: App, said: list[Incoming], *, save: bool = True) -> None:
    """The bot hears these messages live, and saves them unless they are to wait."""
    for one in said:
        state = await app.parts.intake.room(one.room.key)
        if not state.recorded:
            await app.parts.intake.keep_room(one.room.key, replace(state, recorded=True, greeted_at=TODAY))
        await app.turn.take_in(one)
    await app.parts.conversations.settled()
    for scope in await app.parts.intake.scopes() if save else ():
        await app.saving.save(scope, Trigger.IDLE)


def lived(workspace: Path, *heard: list[Incoming], save: bool = True, **given: object) -> None:
    """A bot that runs on the workspace, hears these messages, and ends."""

    async def run() -> None:
        async with opened(settings(workspace, **given), clock=ManualClock(TODAY), zone=UTC) as app:
            app.add(Silent())
            for said in heard:
                await hear(app, said, save=save)

    asyncio.run(run())


def ask(workspace: Path, question: str) -> list[tuple[object, ...]]:
    """Rows of the ledger."""
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
        return ledger.execute(question).fetchall()


def records_of(workspace: Path, group: str) -> list[records.Record]:
    """Every dated record on a group's pages."""
    found = []
    for page in ("experience", "project", "people"):
        file = workspace / f"memory/groups/{group}/{page}.md"
        text = file.read_text("utf-8") if file.exists() else ""
        found += [placed.record for placed in records.parse(text).records if placed.record.day]
    return found


def raw_messages(export: Path, channel: str) -> list[dict[str, object]]:
    """What the ZIP lists for a channel, read without remem."""
    with zipfile.ZipFile(export) as archive:
        days = [name for name in archive.namelist() if name.startswith(f"{channel}/") and name.endswith(".json")]
        return [message for day in days for message in json.loads(archive.read(day))]


def day_of(ts: object) -> date:
    """The day of a Slack `ts`, in UTC."""
    return datetime.fromtimestamp(float(str(ts)), UTC).date()


def state_of(workspace: Path, room: str) -> RoomState:
    """What is known of a room."""

    async def look() -> RoomState:
        async with opened(settings(workspace), clock=ManualClock(TODAY), zone=UTC) as app:
            known = {str(key): state for key, state in await app.parts.intake.rooms("slack")}
            return known[room]

    return asyncio.run(look())


def contexts(workspace: Path, group: str) -> list[str]:
    """The tail of each of the group's conversations, as a turn would see it."""

    async def look() -> list[str]:
        async with opened(settings(workspace), clock=ManualClock(TODAY), zone=UTC) as app:
            ledger = app.parts.handles.open(GroupScope(group)).ledger
            found = [await ledger.context(one) for one in await ledger.conversations()]
            return [str(entry.message.key) for one in found for entry in (*one.tail, *one.fresh)]

    return asyncio.run(look())
