"""Ana's talk with a bot that answers bit by bit, on a platform without its wire.

async with talk(workspace) as on:
    await on.begins()                      # Ana asks, the writer was asked
    await on.shows("The first words ")     # it writes, and the room sees it
    await on.writer.ends("The first words and the last.")
    await on.settled()
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count
from pathlib import Path

from adapters.base import Taken
from adapters.messages import Author, Incoming, Outgoing, Room, Sent
from bot.app import App
from bot.streaming import grown
from memory_core.clock import ManualClock
from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, RoomKind
from memory_core.messages import Voice
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.terminal import START
from tests.scenarios.writing import Writer, running, until

ANA = Author(PersonKey("discord:1"), "ana")
US = Author(PersonKey("discord:999"), "remem", Voice.SELF)
BUILD = Spot(Room(RoomKey("discord:8"), RoomKind.CHANNEL, "#build"))
TEXT = "We chose Redis because sessions must survive a restart, and Ben runs it."

_ids = count(1)


class Platform(RecordingAdapter):
    """Keeps what is said; `echo`: it tells of it as platforms do.

    `open` holds every sending while it is clear, `saying` tells of it.
    """

    def __init__(self, workspace: Path) -> None:
        super().__init__("discord", lambda: str(next(_ids)))
        self.workspace = workspace
        self.revise_s = 0.0
        self.open = asyncio.Event()
        self.open.set()
        self.saying = asyncio.Event()
        self.owed_at: list[int] = []
        self.typed = 0

    async def send(self, outgoing: Outgoing) -> Sent:
        """Say it, and note how many questions the ledger's file says are owed at this moment."""
        counted = await asyncio.to_thread(rows, self.workspace, "SELECT count(*) FROM messages WHERE owed = 1")
        self.owed_at.append(counted[0][0])
        sent = await super().send(outgoing)
        await self.open.wait()
        return sent

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Count it."""
        self.typed += 1


def rows(workspace: Path, question: str) -> list[tuple[int, ...]]:
    """A question to the ledger's file, as another process sees it."""
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
        return ledger.execute(question).fetchall()


class Talk:
    """Ana's talk with the bot in #build."""

    def __init__(self, app: App, platform: Platform, writer: Writer, events: Events) -> None:
        self.app = app
        self.platform = platform
        self.writer = writer
        self.events = events

    async def asks(self, text: str) -> Incoming:
        """Ana asks."""
        said = self.events.said(BUILD, ANA, text, addressed=True)
        await self.platform.happens(said)
        return said

    async def begins(self, text: str = "write about Redis") -> Incoming:
        """Ana asks for an answer that takes its time; the writer was asked."""
        said = await self.asks(text)
        await self.writer.asked()
        return said

    async def shows(self, text: str) -> None:
        """The writer writes, and the room sees it."""
        await self.writer.writes(text)
        await until(lambda: grown(text) in "\n".join(self.platform.stands.values()), f"{text!r} on the screen")

    async def echoes(self, key: MessageKey, text: str) -> Taken:
        """The platform tells of one of our own messages."""
        said = self.events.said(BUILD, US, text)
        return await self.platform.happens(of_message(said, key))

    async def settled(self) -> None:
        """All is worked off."""
        await self.app.parts.conversations.settled()

    def transcript(self) -> list[str]:
        """What the ledger keeps of us, in order."""
        kept = "SELECT texts.text FROM messages JOIN texts ON texts.id = messages.text_id WHERE voice = 'self'"
        return [str(text) for (text,) in rows(self.platform.workspace, f"{kept} ORDER BY seq")]

    def owed(self) -> int:
        """How many questions wait for an answer."""
        return rows(self.platform.workspace, "SELECT count(*) FROM messages WHERE owed = 1")[0][0]

    def timers(self) -> int:
        """How many answers the ledger says are being written."""
        return rows(self.platform.workspace, "SELECT count(*) FROM timers WHERE key GLOB 'writing:*'")[0][0]


def of_message(said: Incoming, key: MessageKey) -> Incoming:
    """The same event, of that message."""
    return replace(said, message=key, event=EventKey(key))


@asynccontextmanager
async def talk(
    workspace: Path, platform: Platform | None = None, clock: ManualClock | None = None
) -> AsyncIterator[Talk]:
    """The program, in which Ana has said hello."""
    writer, clock = Writer(), clock or ManualClock(START)
    fresh = platform is None
    platform = platform or Platform(workspace)
    platform.workspace = workspace
    async with running(workspace, platform, writer, clock=clock) as app:
        await until(lambda: platform.running, "the platform")
        on = Talk(app, platform, writer, Events(clock, last=next(_ids) * 1000))
        if fresh:
            await on.asks("hello")
            await on.settled()
            platform.sent.clear()
            platform.owed_at.clear()
        yield on
