"""The Slack adapter at its peer: what its tests share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal

from adapters.base import Taken
from adapters.messages import Happening, Incoming, Outgoing
from adapters.slack.adapter import SlackAdapter
from adapters.slack.inbox import WasCalled
from memory_core.ids import Conversation, PersonKey, RoomKey
from memory_core.messages import Voice
from tests.peers.slack import Channel, SlackPeer, User

Mode = Literal["socket", "http"]
MODES: tuple[Mode, ...] = ("socket", "http")


class Recorder:
    """Takes events as the bot does: keeps each event key once. `gate` makes it slow, `failing` makes it fail."""

    def __init__(self) -> None:
        self.all: list[Incoming] = []
        self.once: dict[str, Incoming] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.failing = 0
        self._bell = asyncio.Event()

    async def deliver(self, incoming: Incoming) -> Taken:
        await self.gate.wait()
        if self.failing:
            self.failing -= 1
            return Taken(durable=False)
        self.all.append(incoming)
        self.once.setdefault(incoming.event, incoming)
        self._bell.set()
        self._bell = asyncio.Event()
        return Taken(durable=True)

    def heard(self, *kinds: Happening) -> list[Incoming]:
        """What others said or did, each event once."""
        return [
            incoming
            for incoming in self.once.values()
            if incoming.author.voice is not Voice.SELF and (not kinds or incoming.happening in kinds)
        ]

    async def until(self, count: int, *kinds: Happening) -> list[Incoming]:
        async with asyncio.timeout(10):
            while len(self.heard(*kinds)) < count:
                await self._bell.wait()
        return self.heard(*kinds)


class Clockwork:
    """A sleep that notes what it was asked for and returns at once."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def running(
    peer: SlackPeer,
    mode: Mode = "socket",
    *,
    look_up_s: float = 1.0,
    pace_s: float = 0.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    was_called: WasCalled | None = None,
    until_ready: bool = True,
    recorder: Recorder | None = None,
) -> AsyncIterator[tuple[SlackAdapter, Recorder]]:
    """The adapter, connected to `peer`, and what it delivered."""
    recorder = recorder or Recorder()
    adapter = SlackAdapter(
        peer.bot_token,
        peer.app_token,
        peer.signing_secret,
        mode=mode,
        port=0,
        api_url=peer.api_url,
        host="127.0.0.1",
        pace_s=pace_s,
        look_up_s=look_up_s,
        sleep=sleep,
        was_called=was_called,
    )
    task = asyncio.create_task(adapter.run(recorder.deliver))
    ready = asyncio.create_task(adapter.ready.wait())
    try:
        if until_ready:
            await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=10)
        if task.done():
            await task
        peer.events_url = f"http://127.0.0.1:{adapter.port}/slack/events"
        yield adapter, recorder
    finally:
        ready.cancel()
        recorder.gate.set()
        await peer.quiet()
        await adapter.close()
        if not task.done():
            await task


def room_of(channel: Channel) -> RoomKey:
    return RoomKey(f"slack:T1:{channel.id}")


def key_of(channel: Channel, ts: str) -> str:
    """The key of a message, which is the key of its event too."""
    return f"slack:T1:{channel.id}:{ts}"


def person(user: User) -> PersonKey:
    return PersonKey(f"slack:{user.team}:{user.id}")


def answer(incoming: Incoming, text: str = "answer", *, private: bool = False) -> Outgoing:
    """An answer as the bot gives it."""
    return Outgoing(incoming.conversation, text, incoming.message, private, incoming.answer_to)


def in_room(channel: Channel, text: str, thread: str = "") -> Outgoing:
    return Outgoing(Conversation(room_of(channel), thread), text)
