"""Discord as a platform of remem: connect, say, and the three questions.

The connection is discord.py as it is (events.py); what comes in is made ours by normalise, what goes out by render
and sending, and what Discord refuses is told by errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import aiohttp
import discord

from adapters.base import CaughtUp, Check, Deliver, WhatIsBehind, nothing_behind, nothing_owed
from adapters.discord import doctor, render, revising, sending
from adapters.discord.errors import REFUSALS, intent_off, refusal
from adapters.discord.events import Connection
from adapters.discord.holes import AGAIN_S
from adapters.discord.invite import invite_url
from adapters.discord.places import channel_id, kind_of
from adapters.discord.servers import RefusedServer
from adapters.messages import Delivery, Outgoing, Sent
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey, RoomKind

TYPING_S = 1.0
"""discord.py tries again for half a minute where Discord answers 500."""


class DiscordAdapter:
    """The adapter. `proxy` is an HTTP proxy for every call; `connector` makes connectors with their own trust.

    `refused_server` tells which servers are left, and what is said there before; `behind` which rooms are recorded,
    to be caught up with after an absence, or `again_s` seconds after a message could not be kept.
    """

    def __init__(
        self,
        token: str,
        proxy: str | None = None,
        *,
        connector: Callable[[], aiohttp.BaseConnector] | None = None,
        guild_ready_timeout_s: float = 2.0,
        refused_server: RefusedServer = lambda server: "",
        behind: WhatIsBehind = nothing_behind,
        again_s: float = AGAIN_S,
        revise_s: float = revising.REVISE_S,
    ) -> None:
        self._token = token
        self._proxy = proxy or None
        self._connector = connector
        self._guild_ready_timeout_s = guild_ready_timeout_s
        self._refused_server = refused_server
        self._behind = behind
        self._again_s = again_s
        self._revise_s = revise_s
        self._connection: Connection | None = None
        self._closed = False

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}(proxy={self._proxy!r})"

    @property
    def platform(self) -> str:
        """`discord`."""
        return "discord"

    @property
    def piece_characters(self) -> int:
        """2,000."""
        return render.PIECE_CHARACTERS

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Connect and deliver until `close`. Raises RememError where Discord refuses the token or the intent."""
        self._connection = connection = Connection(
            deliver,
            caught_up,
            behind=self._behind,
            again_s=self._again_s,
            proxy=self._proxy,
            connector=self._connector() if self._connector else None,
            guild_ready_timeout_s=self._guild_ready_timeout_s,
            refused_server=self._refused_server,
        )
        try:
            await connection.login(self._token)
            if not doctor.content_granted(connection.application_flags):
                raise intent_off()
            await connection.connect()
        except REFUSALS as error:
            if not self._closed:
                raise refusal(error) from None
        finally:
            await connection.close()

    async def close(self) -> None:
        """Take no more events, wait for those that are being handed in, then disconnect."""
        self._closed = True
        if self._connection is not None:
            await self._connection.door.close()
            await self._connection.catch_up.close()
            await self._connection.close()

    async def send(self, outgoing: Outgoing) -> Sent:
        """Say it: through the interaction while its token lives, else to the room or the person. Never raises."""
        if self._connection is None or self._closed:
            return Sent(Delivery.FAILED, why="Discord is not connected")
        return await sending.send(self._connection, self._connection.asked, outgoing)

    @property
    def revise_s(self) -> float:
        """What Discord's limit of edits in one channel allows."""
        return self._revise_s

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Say something else in place of what was said. Never raises."""
        if self._connection is None or self._closed:
            return replace(sent, delivery=Delivery.FAILED, why="Discord is not connected")
        return await revising.revise(self._connection, sent, outgoing)

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Show that an answer is being made, for ten seconds; the answer waits no longer for it than TYPING_S."""
        if self._connection is None or self._closed:
            return
        with suppress(*REFUSALS):
            async with asyncio.timeout(TYPING_S):
                await self._connection.get_partial_messageable(channel_id(conversation)).typing()

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """Manage Channels or Manage Server; in a DM the person themselves."""
        if self._connection is None or self._closed:
            return False
        channel = await self._connection.channels.by_id(int(room.native))
        if kind_of(channel) is RoomKind.DIRECT and isinstance(channel, discord.DMChannel):
            return any(user.id == int(person.native) for user in channel.recipients)
        place = channel.parent if isinstance(channel, discord.Thread) else channel
        if not isinstance(place, discord.abc.GuildChannel):
            return False
        try:
            may = place.permissions_for(await place.guild.fetch_member(int(person.native)))
        except REFUSALS:
            return False
        return may.manage_channels or may.manage_guild

    async def shares_server(self, person: PersonKey) -> bool | None:
        """Is the person in a server of ours? Asked server by server, bounded, kept for a while (servers.py)."""
        if self._connection is None or self._closed:
            return None
        return await self._connection.servers.shares(int(person.native))

    async def check(self) -> tuple[Check, ...]:
        """Token, intent, servers, permissions; over the Web API, beside a running connection."""
        return await doctor.examine(self._visitor(), self._token)

    async def invite_url(self) -> str:
        """The address for adding the bot to a server. Raises RememError where Discord refuses the token."""
        return invite_url(await doctor.application_id(self._visitor(), self._token))

    def _visitor(self) -> discord.Client:
        connector = self._connector() if self._connector else None
        return discord.Client(intents=discord.Intents(guilds=True), proxy=self._proxy, connector=connector)
