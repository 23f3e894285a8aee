"""What was said while nobody listened: fetched over the Web API and handed in through the normal way, in order.

A session of the gateway lives in memory only: after a restart, or where Discord refuses to resume, what was said
meanwhile is never delivered (https://discord.com/developers/docs/events/gateway#resuming). So with each new session
every room that is recorded is read from the newest message on that is known: its active threads, then its main line,
at most MOST messages of each, at most AT_ONCE rooms at a time; discord.py obeys the rate limits.

    a new session     what is delivered live waits (`passed`)
    ready             the bot says which rooms are behind; the others are let in
    a room is read    it is let in: what came live meanwhile follows, and what came twice has the same key
    all are read      `caught_up`: what is owed an answer may be answered
    not kept          a message that the bot could not keep leaves a hole, and its room is read anew (holes.py)

Not covered: archived threads; what was edited or deleted meanwhile and was known before; slash commands, which
Discord itself refuses while nobody listens.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Protocol

import discord
from discord.utils import time_snowflake

from adapters.base import Behind, CaughtUp, WhatIsBehind
from adapters.discord.channels import Channels
from adapters.discord.errors import REFUSALS, delivery, why
from adapters.discord.holes import AGAIN_S, Holes
from adapters.discord.normalise import message_id
from adapters.discord.places import Channel, conversation_of, kind_of
from adapters.messages import Delivery
from memory_core.errors import RememError
from memory_core.ids import RoomKind

MOST = 500
"""How many messages of one channel or thread are fetched: the newest."""

AT_ONCE = 20
_log = logging.getLogger(__name__)


class Take(Protocol):
    """Hands a message in; True: it is durable, or nothing to us."""

    async def __call__(self, message: discord.Message, *, late: bool) -> bool:
        """Hand it in."""
        ...


class CatchUp:
    """Catching up of one connection."""

    def __init__(
        self, behind: WhatIsBehind, channels: Channels, take: Take, caught_up: CaughtUp, again_s: float = AGAIN_S
    ) -> None:
        self._behind = behind
        self._channels = channels
        self._take = take
        self._caught_up = caught_up
        self.holes = Holes(behind, self._room, caught_up, again_s)
        self._listed = asyncio.Event()
        self._gates: dict[int, asyncio.Event] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._running: asyncio.Task[None] | None = None

    async def passed(self, channel: int, room: int) -> None:
        """Wait until what `channel` (a part of `room`) delivers live may follow what was missed there."""
        await self._listed.wait()
        for native in (room, channel):
            if (gate := self._gates.get(native)) is not None:
                await gate.wait()

    def begin(self) -> None:
        """A new session: nothing is let in until it is known what was missed."""
        self._listed.clear()

    def start(self) -> None:
        """The session is ready: read what was missed, in the background."""
        if self._running is not None:
            self._running.cancel()
        self._running = asyncio.create_task(self._run(), name="catching up with Discord")

    async def close(self) -> None:
        """Stop reading; what was not read is read at the next start."""
        await self.holes.close()
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def _run(self) -> None:
        try:
            rooms = await self._list()
            await asyncio.gather(*(self._room(room) for room in rooms))
            await self._caught_up()
        except Exception:  # noqa: BLE001  # the task ends here; whatever it was, live messages must not wait for ever
            _log.exception("Catching up with Discord failed")
            self._let_in(())

    async def _list(self) -> Sequence[Behind]:
        try:
            rooms = await self._behind()
        except RememError as error:
            _log.error("What was said while nobody listened is not read: %s", error)
            rooms = ()
        self._let_in(rooms)
        return rooms

    def _let_in(self, but: Sequence[Behind]) -> None:
        """Let every room in but these."""
        waits = {int(room.room.native) for room in but}
        for native, gate in self._gates.items():
            if native not in waits:
                gate.set()
        for native in waits:
            self._gates.setdefault(native, asyncio.Event()).clear()
        self._listed.set()

    async def _room(self, room: Behind) -> None:
        """Read one room, and let it in, unless something could not be kept."""
        native = int(room.room.native)
        async with self._slots:
            try:
                place = await self._channels.by_id(native)
                for channel, after in _parts(place, room):
                    if not await self._read(channel, after):
                        await self.holes.missed(native)
                        break
                else:
                    self.holes.read(native)
            except REFUSALS as error:
                if delivery(error) in (Delivery.GONE, Delivery.NOT_ALLOWED):
                    self.holes.read(native)  # nothing of it can ever be read; after a fault of the network it can
                _log.warning("What was said in %s while nobody listened cannot be read: %s", room.room, why(error))
            except Exception:  # noqa: BLE001  # the end of this room's reading; the others must not suffer
                _log.exception("What was said in %s while nobody listened was not read to its end", room.room)
                self.holes.read(native)  # what failed once for an unforeseen reason would hold the room for ever
            if (gate := self._gates.get(native)) is not None:
                gate.set()

    async def _read(self, channel: discord.abc.Messageable, after: int) -> bool:
        """Read one channel or thread; False if a message could not be kept: what follows it would leave a hole."""
        past = channel.history(limit=MOST, after=discord.Object(after), oldest_first=False)
        missed = [message async for message in past]
        if len(missed) == MOST:
            _log.warning("More than %d messages were missed in channel %s: the newest are read", MOST, channel)
        for message in reversed(missed):
            if not await self._take(message, late=True):
                return False
        return True


def _parts(place: Channel, room: Behind) -> Iterator[tuple[discord.abc.Messageable, int]]:
    """What is to be read of a room, and after which message: threads first, because the main line's newest message
    stands for the threads that are not known yet."""
    threads = place.threads if isinstance(place, discord.TextChannel | discord.ForumChannel) else []
    for part in (*(one for one in threads if kind_of(one) is not RoomKind.PRIVATE_THREAD), place):
        after = _after(room, conversation_of(part).thread)
        newest: int | None = getattr(part, "last_message_id", None)
        if isinstance(part, discord.abc.Messageable) and after is not None and (newest is None or newest > after):
            yield part, after


def _after(room: Behind, thread: str) -> int | None:
    """The id after which to read a thread. One that is unknown began after what is known of the main line."""
    known = room.newest.get(thread) or room.newest.get("")
    if known is not None:
        return message_id(known)
    return time_snowflake(room.since) if room.since is not None else None
