"""discord.py's events about servers, channels and threads: joined, left, renamed.

A part of the connection (events.py), which hands in what is made here.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import discord

from adapters.discord import notices
from adapters.discord.channels import Recent
from adapters.discord.normalise import Own
from adapters.discord.places import Channel, kind_of
from adapters.discord.servers import Servers
from adapters.messages import Happening, Incoming
from memory_core.ids import RoomKind


class RoomEvents(discord.Client):
    """The events that are about a room or a server as a whole. `called`: threads that we were called into."""

    servers: Servers
    called: Recent[None]

    @property
    @abstractmethod
    def own(self) -> Own:
        """Who we are, for normalise."""

    @abstractmethod
    def in_order(self, channel_id: int) -> AbstractAsyncContextManager[int]:
        """One event of a channel at a time."""

    @abstractmethod
    async def hand_in(self, incoming: Incoming | None) -> None:
        """Hand an event in; None is none."""

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """The bot was invited while it was connected."""
        if not await self.servers.leave_if_refused(guild):
            await self._joined(guild)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server at the start, or after an outage. Told as joined where the invitation is new: people invite first
        and start remem then, and discord.py takes an invitation during the start for a server that was there."""
        if not await self.servers.leave_if_refused(guild) and notices.is_new(guild, datetime.now(UTC)):
            await self._joined(guild)

    async def _joined(self, guild: discord.Guild) -> None:
        greeting = notices.greeting_place(guild)
        if greeting is not None:
            await self.hand_in(notices.joined(guild, greeting, self.own, datetime.now(UTC)))

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
            await self.hand_in(notices.changed(Happening.JOINED, thread, self.own, me.joined_at))

    async def on_thread_remove(self, thread: discord.Thread) -> None:
        """We were taken out of a thread: nobody there calls us any more."""
        async with self.in_order(thread.id):
            self.called.pop(thread.id, None)
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
            async with self.in_order(channel.id):
                await self.hand_in(notices.changed(what, channel, self.own, datetime.now(UTC)))
