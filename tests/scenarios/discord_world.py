"""A Discord server with people in it, and `remem run` as a process of its own that serves it.

What people do stands in the peer; here is what a scenario does again and again: talk, ask, call a command, each until
the bot has answered. Rooms keep their order, so an answer proves that everything before it in its room is worked off.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.peers.discord import DiscordPeer, Said
from tests.peers.discord.world import Channel, Guild, Message, User
from tests.scenarios.program import Program, start


@dataclass(slots=True)
class World:
    """The peer, the process, the server and two of its people."""

    peer: DiscordPeer
    remem: Program
    workspace: Path
    guild: Guild
    ana: User
    ben: User

    def __getitem__(self, channel: str) -> Channel:
        """A channel of the server."""
        return self.guild.channel(channel)

    @property
    def me(self) -> str:
        """The mention of the bot."""
        return self.peer.bot.mention

    async def ask(self, channel: Channel, user: User, text: str, *, answer: int = 1) -> Said:
        """Mention the bot: the `answer`-th thing that it replies with (a first mention is greeted before)."""
        return await self.reply(await self.peer.message(channel, user, f"{self.me} {text}".strip()), answer=answer)

    async def reply(self, message: Message, *, answer: int = 1) -> Said:
        """Wait for the `answer`-th message of the bot that replies to `message`."""
        return await self.remem.while_running(self.peer.sent(lambda said: said.reply_to is message, answer))

    async def tell(self, user: User, text: str) -> Said:
        """Write to the bot in a DM; its answer."""
        return await self.reply(await self.peer.message(self.peer.dm(user), user, text))

    async def enter(self, channel: Channel, user: User) -> Said:
        """Mention the bot for the first time: its greeting. The answer to the mention was given, too."""
        message = await self.peer.message(channel, user, f"{self.me} hello")
        await self.reply(message, answer=2)
        return await self.reply(message)

    async def open_channel(self, name: str, topic: str | None = None) -> Channel:
        """Somebody makes a channel."""
        channel = self.peer.add_channel(self.guild, name, topic=topic)
        await self.peer.gateway.emit("CHANNEL_CREATE", channel.payload())
        return channel

    async def invited(self, name: str, *channels: str) -> tuple[Guild, Said]:
        """Somebody invites the bot to a new server, whose first channel is its system channel: its greeting there."""
        guild = self.peer.add_guild(name, channels, bot_is_member=False)
        await self.peer.join_guild(guild)
        greeting = self.peer.sent(lambda said: said.channel is guild.channels[0])
        return guild, await self.remem.while_running(greeting)

    async def talk(self, channel: Channel, *said: tuple[User, str]) -> list[Message]:
        """People talk with each other."""
        return [await self.peer.message(channel, user, text) for user, text in said]

    async def command(self, channel: Channel, user: User, action: str = "", text: str = "") -> Said:
        """Call /remem; the (first piece of the) answer through the interaction."""
        asked = await self.peer.command(channel, user, action, text)
        return await self.remem.while_running(self.peer.sent(lambda said: said.interaction is asked))

    def said_in(self, channel: Channel) -> list[Said]:
        """What the bot has said in a channel until now."""
        return [said for said in self.peer.said if said.channel is channel]

    def file(self, name: str) -> str:
        """A file of the workspace; '' where there is none."""
        path = self.workspace / name
        return path.read_text("utf-8") if path.exists() else ""

    def all_files(self) -> str:
        """Everything that people may read in the workspace, in one text."""
        paths = sorted(path for path in self.workspace.rglob("*") if path.is_file())
        return "\n".join(path.read_text("utf-8") for path in paths if ".remem" not in path.parts)

    def names(self) -> dict[str, str]:
        """Room key → name, as group_names.json holds it."""
        rows: dict[str, dict[str, str]] = json.loads(self.file("memory/groups/group_names.json") or "{}")
        return {key: row["name"] for key, row in rows.items()}

    async def restart(self) -> None:
        """Stop the process, which must end cleanly, and start it again; Discord has forgotten the session."""
        await self.remem.end_cleanly()
        self.peer.gateway.forget_sessions()
        self.remem = await start(self.workspace, self.peer.environment(self.workspace.parent))
        await self.remem.while_running(self.peer.connected())


@asynccontextmanager
async def discord_world(folder: Path, channels: Sequence[str]) -> AsyncIterator[World]:
    """A server with `channels`, and remem on an empty workspace, connected to it; at the end it must end cleanly."""
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", channels)
        ana, ben = peer.add_user("ana", guild), peer.add_user("ben", guild)
        workspace = folder / "workspace"
        world = World(peer, await start(workspace, peer.environment(folder)), workspace, guild, ana, ben)
        try:
            await world.remem.while_running(peer.connected())
            yield world
            await world.remem.end_cleanly()
        finally:
            await world.remem.kill()
        assert peer.refused_hosts == ()
