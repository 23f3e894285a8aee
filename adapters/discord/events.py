"""The connection: discord.py's events, made ours and handed in.

Messages of one channel are handed in in the order in which they came, also when one of them has a file to be read or
a channel to be looked up first. A dropped connection is discord.py's business: it resumes, and what was missed is
replayed; what a new session has missed is read first (catch_up.py). What raises unforeseen is logged by discord.py
with its traceback; the next event is not harmed by it. What becomes of rooms and servers as a whole stands in
room_events.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from weakref import WeakValueDictionary

import aiohttp
import discord

from adapters.base import CaughtUp, Deliver, Taken, WhatIsBehind
from adapters.discord import normalise, notices
from adapters.discord.asked import AskedTable
from adapters.discord.catch_up import CatchUp
from adapters.discord.channels import Channels, Recent
from adapters.discord.command import command_tree
from adapters.discord.door import Door
from adapters.discord.errors import REFUSALS, why
from adapters.discord.files import texts_of
from adapters.discord.places import Channel
from adapters.discord.render import NO_PINGS
from adapters.discord.room_events import RoomEvents
from adapters.discord.servers import RefusedServer, Servers
from adapters.messages import Incoming
from memory_core.messages import Voice

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
NOT_YET_KEPT = "I cannot take anything down right now. I try again soon; if you hear nothing, please say it again."
LONGEST_WAIT_S = 60.0
"""A rate limit that asks for more makes a sending fail, rather than hold up its room."""

_log = logging.getLogger(__name__)

# remem never speaks aloud: spare people discord.py's two warnings at the start that it could not.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class Connection(RoomEvents):
    """A discord.py client that hands events to `deliver`."""

    def __init__(
        self,
        deliver: Deliver,
        caught_up: CaughtUp,
        *,
        behind: WhatIsBehind,
        again_s: float,
        proxy: str | None,
        connector: aiohttp.BaseConnector | None,
        guild_ready_timeout_s: float,
        refused_server: RefusedServer,
    ) -> None:
        super().__init__(
            intents=INTENTS,
            proxy=proxy,
            connector=connector,
            allowed_mentions=NO_PINGS,
            max_messages=None,
            max_ratelimit_timeout=LONGEST_WAIT_S,
            member_cache_flags=discord.MemberCacheFlags.none(),
            guild_ready_timeout=guild_ready_timeout_s,
        )
        self.door = Door(deliver)
        self.called: Recent[None] = Recent(1_000)
        self._names: Recent[str] = Recent(10_000)
        self._turnstiles: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._tree = command_tree(self, self._take_interaction)
        self.channels = Channels(self)
        self.catch_up = CatchUp(behind, self.channels, self.take, caught_up, again_s)
        self.servers = Servers(self, refused_server)
        self.asked = AskedTable()

    @property
    def own(self) -> normalise.Own:
        """Who we are, for normalise."""
        return normalise.Own(self.user.id if self.user else 0, self.application_id, self.called, self._names)

    async def setup_hook(self) -> None:
        """Register /remem; without it, text commands still work."""
        try:
            await self._tree.sync()
        except REFUSALS as error:
            _log.warning("/remem could not be registered as an app command: %s", why(error))

    def dispatch(self, event: str, /, *args: object, **kwargs: object) -> None:
        """Start the handler of an event; once closed none, because discord.py's own tasks outlive the connection."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    @asynccontextmanager
    async def in_order(self, channel_id: int) -> AsyncIterator[int]:
        """One event of a channel at a time, and none before what was missed there. The room that it is a part of."""
        async with self._turnstiles.setdefault(channel_id, asyncio.Lock()):
            place = self.get_channel(channel_id)
            room = place.parent_id if isinstance(place, discord.Thread) else channel_id
            await self.catch_up.passed(channel_id, room)
            yield room

    async def hand_in(self, incoming: Incoming | None) -> None:
        """Hand an event in; None is none."""
        if incoming is not None:
            await self.door(incoming)

    async def on_connect(self) -> None:
        """A new session; nothing that it delivers is handed in before this."""
        self.catch_up.begin()

    async def on_ready(self) -> None:
        """The new session knows its servers."""
        _log.info("Discord is connected (servers: %d)", len(self.guilds))
        self.catch_up.start()

    # messages

    async def on_message(self, message: discord.Message) -> None:
        """MESSAGE_CREATE."""
        async with self.in_order(message.channel.id) as room:
            await self.take(message, held=room in self.catch_up.holes)

    async def take(self, message: discord.Message, *, late: bool = False, held: bool = False) -> bool:
        """Hand a message in; `late`: it was fetched. True: it is durable, or nothing to us.

        `held`: something before it is not kept yet, and it will be fetched after that.
        """
        channel = await self.channels.certain(message.channel)
        incoming = normalise.posted(message, channel, self.own, await texts_of(message))
        if incoming is None:
            return True
        self._note(message, incoming, channel)
        taken = Taken(durable=False) if held else await self.door(replace(incoming, late=late))
        if not taken.durable and not late and not self.door.closed:
            await self.catch_up.holes.missed(int(incoming.room.key.native))
            if incoming.addressed and incoming.author.voice is Voice.PERSON:
                await self._not_kept(message)
        return taken.durable

    async def _not_kept(self, message: discord.Message) -> None:
        """It is fetched and answered later: who waits for the answer hears that now."""
        try:
            await message.channel.send(NOT_YET_KEPT, allowed_mentions=NO_PINGS)
        except REFUSALS as error:
            _log.warning("A message could not be answered: %s", why(error))

    def _note(self, message: discord.Message, incoming: Incoming, channel: Channel) -> None:
        """What people are called. A thread in which we speak, or are spoken to, is one that we were called into."""
        self.servers.seen(message.author, message.guild)
        for user in (message.author, *message.mentions):
            self._names.put(user.id, user.display_name)
        if isinstance(channel, discord.Thread) and (incoming.addressed or incoming.author.voice is Voice.SELF):
            self.called.put(channel.id, None)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """MESSAGE_UPDATE, also of messages that nobody remembers."""
        async with self.in_order(payload.channel_id):
            channel = await self.channels.certain(payload.message.channel)
            texts = await texts_of(payload.message) if payload.message.edited_at is not None else {}
            await self.hand_in(normalise.edited(payload.message, channel, self.own, texts))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """MESSAGE_DELETE."""
        await self._deleted(payload.channel_id, payload.guild_id, [payload.message_id])

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """MESSAGE_DELETE_BULK."""
        await self._deleted(payload.channel_id, payload.guild_id, sorted(payload.message_ids))

    async def _deleted(self, channel_id: int, guild_id: int | None, messages: list[int]) -> None:
        async with self.in_order(channel_id):
            channel = await self.channels.by_id(channel_id, guild_id)
            for message in messages:
                await self.hand_in(normalise.deleted(message, channel, self.own, datetime.now(UTC)))

    # commands and buttons

    async def on_interaction(self, interaction: discord.Interaction[discord.Client]) -> None:
        """INTERACTION_CREATE: buttons; the command comes through the tree."""
        if interaction.type is discord.InteractionType.component:
            await self._take_interaction(interaction)

    async def _take_interaction(self, interaction: discord.Interaction[discord.Client]) -> None:
        if not self.door.closed:
            place = interaction.channel
            self.servers.seen(interaction.user, interaction.guild)
            incoming = notices.interaction(interaction, place, self.own) if place is not None else None
            await self.asked.take(interaction, incoming, self.door)
