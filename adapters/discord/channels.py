"""Channels as Discord itself describes them, kept for as long as we run.

discord.py knows a guild's channels and active threads from the gateway. What it does not know it guesses (a DM) or
leaves open (an archived thread): those are fetched once. What cannot be fetched stays open, and is UNKNOWN to us.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

import discord

from adapters.discord.errors import REFUSALS
from adapters.discord.places import Channel

_T = TypeVar("_T")


class Recent(OrderedDict[int, _T], Generic[_T]):
    """A table that forgets what was put in first when it holds more than `most` rows."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def put(self, row: int, value: _T) -> None:
        """Set a row and make it the newest."""
        self[row] = value
        self.move_to_end(row)
        while len(self) > self._most:
            self.popitem(last=False)


class Channels:
    """The channels of `client`."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._fetched: Recent[Channel] = Recent(10_000)

    async def certain(self, channel: Channel) -> Channel:
        """`channel` as Discord describes it; a PartialMessageable where that cannot be learnt. Never raises."""
        if not isinstance(channel, discord.PartialMessageable | discord.DMChannel):
            return channel
        return await self._fetch(channel.id)

    async def by_id(self, native: int, guild_id: int | None = None) -> Channel:
        """The channel, thread or DM of that id; a PartialMessageable where it cannot be learnt. Never raises."""
        guild = self._client.get_guild(guild_id) if guild_id else None
        known = guild.get_channel_or_thread(native) if guild else self._client.get_channel(native)
        if known is None or isinstance(known, discord.abc.PrivateChannel):
            return await self._fetch(native)
        return known

    async def _fetch(self, native: int) -> Channel:
        if native in self._fetched:
            return self._fetched[native]
        try:
            found = await self._client.fetch_channel(native)
        except REFUSALS:
            return self._client.get_partial_messageable(native)
        # A private channel that is neither kind stays unknown.
        if isinstance(found, discord.abc.GuildChannel | discord.Thread | discord.DMChannel | discord.GroupChannel):
            self._fetched.put(native, found)
            return found
        return self._client.get_partial_messageable(native)
