"""Support of the Discord tests: discord.py's objects made from payloads, and an adapter that meets the peer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import discord

from adapters.base import Taken
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.normalise import Own
from adapters.discord.places import Channel as Known
from adapters.messages import Happening, Incoming
from tests.peers.discord import DiscordPeer
from tests.peers.discord.local import DEADLINE_S
from tests.peers.discord.world import PRIVATE, Channel, Guild, Message, User


class Objects:
    """discord.py's objects for a made-up world, without any connection."""

    def __init__(self) -> None:
        self.client = discord.Client(intents=discord.Intents(guilds=True), max_messages=None)
        self.bot = User("remem", bot=True)
        self.state = self.client._connection
        self.state.user = discord.ClientUser(state=self.state, data=self.bot.payload())  # type: ignore[arg-type]  # raw payload
        self.users = {self.bot.id: self.bot}
        self.own = Own(self.bot.id, self.bot.id)

    def user(self, name: str, *guilds: Guild, display: str = "", bot: bool = False) -> User:
        """A user that mentions can be resolved to."""
        user = User(name, display, bot)
        self.users[user.id] = user
        for guild in guilds:
            guild.members[user.id] = (user, [])
        return user

    def guild(self, name: str, *channels: Channel) -> Guild:
        """A guild with the bot and `channels`; a thread's parent must stand before it."""
        guild = Guild(name, self.user("owner"))
        guild.members[self.bot.id] = (self.bot, [])
        for channel in channels:
            channel.guild = guild
            guild.channels.append(channel)
        self.state._add_guild_from_data(guild.payload(self.bot))  # type: ignore[arg-type]  # raw payload
        return guild

    def channel(self, channel: Channel) -> Known:
        """What discord.py has, or would fetch, for `channel`."""
        known = self.client.get_channel(channel.id)
        if known is not None:
            assert isinstance(known, discord.abc.GuildChannel | discord.Thread)
            return known
        assert channel.type in PRIVATE, f"{channel.name} is not visible to the bot"
        kind = discord.GroupChannel if channel.type == 3 else discord.DMChannel
        data = channel.payload(self.bot)
        return kind(me=self.state.user, state=self.state, data=data)  # type: ignore[arg-type]  # raw payload

    def message(self, message: Message) -> discord.Message:
        """The message as MESSAGE_CREATE would make it."""
        channel = self.channel(message.channel)
        return discord.Message(state=self.state, channel=channel, data=message.payload(self.users))  # type: ignore[arg-type]  # raw payload


class Heard:
    """A `deliver` that keeps what it gets; `then` is awaited for each event before it counts as durable."""

    def __init__(self, then: Callable[[Incoming], Awaitable[Taken]] | None = None) -> None:
        self.incoming: list[Incoming] = []
        self._then = then
        self._news = asyncio.Condition()

    async def __call__(self, incoming: Incoming) -> Taken:
        """Take one event."""
        async with self._news:
            self.incoming.append(incoming)
            self._news.notify_all()
        return await self._then(incoming) if self._then else Taken(durable=True, private=bool(incoming.words))

    async def wait(self, wanted: Callable[[Incoming], bool], count: int = 1) -> Incoming:
        """Wait for the `count`-th event that is `wanted`."""
        try:
            async with asyncio.timeout(DEADLINE_S), self._news:
                while len(found := [one for one in self.incoming if wanted(one)]) < count:
                    await self._news.wait()
                return found[count - 1]
        except TimeoutError:
            raise AssertionError(f"heard only {self.incoming}") from None

    async def said(self, text: str) -> Incoming:
        """Wait for a person's message that reads `text`."""
        return await self.wait(lambda one: one.happening is Happening.MESSAGE and one.text == text)


@asynccontextmanager
async def running(peer: DiscordPeer, heard: Heard) -> AsyncIterator[DiscordAdapter]:
    """An adapter that is connected to `peer`; its `run` must end without an error."""
    adapter = DiscordAdapter(peer.token, peer.proxy_url, connector=peer.connector, guild_ready_timeout_s=0.02)
    run = asyncio.create_task(adapter.run(heard))
    connected = asyncio.create_task(peer.connected())
    await asyncio.wait({run, connected}, return_when=asyncio.FIRST_COMPLETED)
    connected.cancel()
    try:
        if run.done():
            await run
        yield adapter
    finally:
        await adapter.close()
        await run
