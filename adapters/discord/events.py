"""The connection: discord.py's events, made ours and handed in.

Messages of one channel are handed in in the order in which they came, also when one of them has a file to be read or
a channel to be looked up first. A dropped connection is discord.py's business: it resumes, and what was missed is
replayed. What raises unforeseen is logged by discord.py with its traceback; the next event is not harmed by it.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from weakref import WeakValueDictionary

import aiohttp
import discord

from adapters.base import Deliver
from adapters.discord import normalise, notices
from adapters.discord.asked import AskedTable
from adapters.discord.channels import Channels, Recent
from adapters.discord.command import command_tree
from adapters.discord.door import Door
from adapters.discord.errors import REFUSALS, why
from adapters.discord.files import texts_of
from adapters.discord.places import Channel, kind_of
from adapters.discord.render import NO_PINGS
from adapters.messages import Happening, Incoming
from memory_core.ids import RoomKind
from memory_core.messages import Voice

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
LONGEST_WAIT_S = 60.0
"""A rate limit that asks for more makes a sending fail, rather than hold up its room."""

_log = logging.getLogger(__name__)

# remem never speaks aloud: spare people discord.py's two warnings at the start that it could not.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class Connection(discord.Client):
    """A discord.py client that hands events to `deliver`."""

    def __init__(
        self,
        deliver: Deliver,
        *,
        proxy: str | None,
        connector: aiohttp.BaseConnector | None,
        guild_ready_timeout_s: float,
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
        self._called: Recent[None] = Recent(1_000)
        self._names: Recent[str] = Recent(10_000)
        self._turnstiles: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._tree = command_tree(self, self._take_interaction)
        self.channels = Channels(self)
        self.asked = AskedTable()

    @property
    def own(self) -> normalise.Own:
        """Who we are, for normalise."""
        return normalise.Own(self.user.id if self.user else 0, self.application_id, self._called, self._names)

    async def setup_hook(self) -> None:
        """Register /remem; without it, text commands still work."""
        try:
            await self._tree.sync()
        except REFUSALS as error:
            _log.warning("/remem could not be registered as an app command: %s", why(error))

    def _in_order(self, channel_id: int) -> asyncio.Lock:
        return self._turnstiles.setdefault(channel_id, asyncio.Lock())

    async def _hand_in(self, incoming: Incoming | None) -> None:
        if incoming is not None:
            await self.door(incoming)

    # messages

    async def on_message(self, message: discord.Message) -> None:
        """MESSAGE_CREATE."""
        async with self._in_order(message.channel.id):
            channel = await self.channels.certain(message.channel)
            incoming = normalise.posted(message, channel, self.own, await texts_of(message))
            if incoming is not None:
                self._note(message, incoming, channel)
            await self._hand_in(incoming)

    def _note(self, message: discord.Message, incoming: Incoming, channel: Channel) -> None:
        """What people are called. A thread in which we speak, or are spoken to, is one that we were called into."""
        for user in (message.author, *message.mentions):
            self._names.put(user.id, user.display_name)
        if isinstance(channel, discord.Thread) and (incoming.addressed or incoming.author.voice is Voice.SELF):
            self._called.put(channel.id, None)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """MESSAGE_UPDATE, also of messages that nobody remembers."""
        async with self._in_order(payload.channel_id):
            channel = await self.channels.certain(payload.message.channel)
            texts = await texts_of(payload.message) if payload.message.edited_at is not None else {}
            await self._hand_in(normalise.edited(payload.message, channel, self.own, texts))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """MESSAGE_DELETE."""
        await self._deleted(payload.channel_id, payload.guild_id, [payload.message_id])

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """MESSAGE_DELETE_BULK."""
        await self._deleted(payload.channel_id, payload.guild_id, sorted(payload.message_ids))

    async def _deleted(self, channel_id: int, guild_id: int | None, messages: list[int]) -> None:
        async with self._in_order(channel_id):
            channel = await self.channels.by_id(channel_id, guild_id)
            for message in messages:
                await self._hand_in(normalise.deleted(message, channel, self.own, datetime.now(UTC)))

    # rooms

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """The bot was invited while it was connected."""
        await self._joined(guild)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server at the start, or after an outage. Told as joined where the invitation is new: people invite first
        and start remem then, and discord.py takes an invitation during the start for a server that was there."""
        if notices.is_new(guild, datetime.now(UTC)):
            await self._joined(guild)

    async def _joined(self, guild: discord.Guild) -> None:
        greeting = notices.greeting_place(guild)
        if greeting is not None:
            await self._hand_in(notices.joined(guild, greeting, self.own, datetime.now(UTC)))

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """The bot was removed: every room of the server is left."""
        for channel in (*guild.channels, *guild.threads):
            await self._room(Happening.LEFT, channel)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """A channel is gone."""
        await self._room(Happening.LEFT, channel)

    async def on_thread_delete(self, thread: discord.Thread) -> None:
        """A thread is gone; only a private one is a room."""
        await self._room(Happening.LEFT, thread)

    async def on_thread_join(self, thread: discord.Thread) -> None:
        """A thread came into sight. A private one that we are a member of is a room that we were invited to."""
        me: discord.ThreadMember | None = thread.me
        if me is not None and kind_of(thread) is RoomKind.PRIVATE_THREAD:
            await self._hand_in(notices.changed(Happening.JOINED, thread, self.own, me.joined_at))

    async def on_thread_remove(self, thread: discord.Thread) -> None:
        """We were taken out of a thread: nobody there calls us any more."""
        self._called.pop(thread.id, None)
        thread.me = None  # discord.py lets the membership stand
        await self._room(Happening.LEFT, thread)

    async def on_guild_channel_update(
        self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel
    ) -> None:
        """A new name or topic."""
        if before.name != after.name or getattr(before, "topic", None) != getattr(after, "topic", None):
            await self._room(Happening.RENAMED, after)

    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        """A new name of a thread; only a private one is a room."""
        if before.name != after.name:
            await self._room(Happening.RENAMED, after)

    async def _room(self, what: Happening, channel: Channel) -> None:
        if kind_of(channel) in {RoomKind.CHANNEL, RoomKind.PRIVATE_THREAD}:
            await self._hand_in(notices.changed(what, channel, self.own, datetime.now(UTC)))

    # commands and buttons

    async def on_interaction(self, interaction: discord.Interaction[discord.Client]) -> None:
        """INTERACTION_CREATE: buttons; the command comes through the tree."""
        if interaction.type is discord.InteractionType.component:
            await self._take_interaction(interaction)

    async def _take_interaction(self, interaction: discord.Interaction[discord.Client]) -> None:
        if not self.door.closed:
            place = interaction.channel
            incoming = notices.interaction(interaction, place, self.own) if place is not None else None
            await self.asked.take(interaction, incoming, self.door)
