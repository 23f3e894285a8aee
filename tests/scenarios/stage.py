"""The whole program with one platform of which only the wire is missing: real files, real SQLite, a chosen clock.

    async with stage(workspace) as on:
        await on.hears(on.events.said(spot, author, "hello"))

What may fail can be made to fail: the disk, the ledger's statements, the agent, the extractor, the platform.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path

from adapters.base import Taken
from adapters.messages import Author, Happening, Incoming, Outgoing, Room
from bot.agent import Agent
from bot.app import App, opened
from memory_core.candidates import Extractor
from memory_core.clock import ManualClock
from memory_core.forms.records import parse
from memory_core.ids import PersonKey, RoomKey, RoomKind
from memory_core.ledger.database import Faults, no_faults
from memory_core.store.disk import Disk
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.terminal import START, settings

ANA = Author(PersonKey("discord:1"), "ana")
BEN = Author(PersonKey("discord:2"), "ben")


def channel(native: int, title: str, thread: str = "", server_id: str = "900") -> Spot:
    """A channel of a server, or a thread of it."""
    room = Room(RoomKey(f"discord:{native}"), RoomKind.CHANNEL, f"#{title}", "", "Acme", server_id=server_id)
    return Spot(room, thread)


def direct(native: int, author: Author) -> Spot:
    """Somebody's DM with the bot."""
    return Spot(Room(RoomKey(f"discord:{native}"), RoomKind.DIRECT, author.name))


@dataclass(slots=True)
class Stage:
    """The running program. `platform` keeps what is sent."""

    app: App
    clock: ManualClock
    events: Events
    platform: RecordingAdapter
    workspace: Path

    async def takes(self, *incomings: Incoming) -> list[Taken]:
        """Hand events in, at the same moment."""
        return await asyncio.gather(*(self.platform.happens(incoming) for incoming in incomings))

    async def settled(self) -> None:
        """Wait until all that came in is worked off."""
        await self.app.parts.conversations.settled()

    async def hears(self, *incomings: Incoming) -> list[str]:
        """Hand events in; what the bot said until all was settled, each as it stands then."""
        before = len(self.platform.stands)
        await self.takes(*incomings)
        await self.settled()
        return list(self.platform.stands.values())[before:]

    async def says(self, spot: Spot, author: Author, text: str, *, addressed: bool = True) -> list[str]:
        """Somebody says something; what the bot said."""
        return await self.hears(self.events.said(spot, author, text, addressed=addressed))

    async def command(self, spot: Spot, author: Author, words: str = "") -> str:
        """Somebody uses /remem; the answer, which comes first."""
        return (await self.hears(self.events.command(spot, author, words)))[0]

    async def enter(self, spot: Spot) -> None:
        """The bot is invited into a room by name, which has a purpose then."""
        await self.hears(self.events.about_room(Happening.JOINED, spot, ANA))
        await self.command(spot, ANA, "purpose We build things")

    def sent(self, since: int = 0) -> Sequence[Outgoing]:
        """What the bot sent."""
        return self.platform.sent[since:]

    def page(self, name: str) -> str:
        """A file of the groups' folder; '' where there is none."""
        path = self.workspace / "memory/groups" / name
        return path.read_text("utf-8") if path.exists() else ""

    def titles(self, group: str) -> list[str]:
        """The titles of a group's decisions and lessons, newest first."""
        return [placed.record.title for placed in parse(self.page(f"{group}/experience.md")).records]

    def state(self, group: str) -> dict[str, object]:
        """What a group's last flush left behind."""
        state: dict[str, object] = json.loads(self.page(f"{group}/flush-state.json") or "{}")
        return state


def pages(folder: Path) -> dict[str, bytes]:
    """Every page below the folder, byte for byte, without what is derived and what tells of flushes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".remem" not in path.parts and path.name != "flush-state.json":
            found[str(path.relative_to(folder))] = path.read_bytes().partition(b"<!-- remem:catalogue")[0]
    return found


def rows(workspace: Path, question: str, *values: object) -> list[tuple[object, ...]]:
    """A question to the ledger's file, as another process sees it."""
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
        return ledger.execute(question, values).fetchall()


@asynccontextmanager
async def stage(
    workspace: Path,
    *,
    clock: ManualClock | None = None,
    events: Events | None = None,
    zone: tzinfo = UTC,
    agent: Agent | None = None,
    extractor: Extractor | None = None,
    disk: Disk | None = None,
    faults: Faults = no_faults,
    **given: object,
) -> AsyncIterator[Stage]:
    """The program on `workspace`; `given` are settings. At the end it stops as on SIGTERM: at once."""
    clock = clock or ManualClock(START)
    events = events or Events(clock)
    platform = RecordingAdapter("discord", lambda: str(events.number()), admins=frozenset({ANA.key}))
    async with opened(
        settings(workspace, **given),
        clock=clock,
        zone=zone,
        agent=agent,
        extractor=extractor,
        disk=disk,
        ledger_faults=faults,
    ) as app:
        app.add(platform)
        await app.take_up()
        running = asyncio.create_task(platform.run(app.turn.take_in))
        await asyncio.sleep(0)
        await app.turn.answer_owed(platform.platform)
        try:
            yield Stage(app, clock, events, platform, workspace)
        finally:
            await app.parts.conversations.close()
            await platform.close()
            await running
