"""The local Discord, whole: start it, drive it, look at what the bot did.

It speaks TLS with a throw-away authority, behind a CONNECT proxy; the client under test is discord.py as it is.

In a test, with the adapter in the same process:

    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", channels=("general", "build"))
        ana = peer.add_user("ana", guild)
        adapter = DiscordAdapter(peer.token, proxy=peer.proxy_url, connector=peer.connector)
        running = asyncio.create_task(adapter.run(deliver))
        await peer.connected()
        await peer.message(guild.channel("build"), ana, f"{peer.bot.mention} hello")
        said = await peer.sent(lambda said: said.channel is guild.channel("build"))

With `remem run` as a process of its own: start it with `peer.environment(tmp_path)` in its environment
(DISCORD_TOKEN, REMEM_DISCORD_PROXY, SSL_CERT_FILE), then `await peer.connected()`, and drive it in the same way:

        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot.cli", "run", env={**os.environ, **peer.environment(tmp_path)})

A user's act (`message`, `edit`, `delete`, `command`, `click`, `join_guild`, `kick` …) returns when its event has been
numbered and sent to every session that may see it. `sent` waits for what the bot says, `called` for any REST call,
both on a condition, with a deadline and without sleeping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from tests.peers.discord.interactions import COMMAND, COMPONENT, Interaction
from tests.peers.discord.local import LocalDiscord, Order, Said
from tests.peers.discord.rules import Refused
from tests.peers.discord.world import (
    REPLY,
    THREADS,
    VIEW,
    Attached,
    Channel,
    Guild,
    Json,
    Message,
    User,
    may,
)


class DiscordPeer(LocalDiscord):
    """Discord on loopback, for one bot. Use as an async context manager; see the top of this file."""

    # what people do

    async def message(
        self,
        channel: Channel,
        author: User,
        text: str = "",
        *,
        reply_to: Message | None = None,
        files: Sequence[Attached] = (),
        stickers: Sequence[str] = (),
        embeds: Sequence[Json] = (),
        type: int = 0,  # noqa: A002
    ) -> Message:
        """`author` posts; mentions are read from `text`. A mention in a thread makes the bot its member."""
        kind = REPLY if reply_to is not None and type == 0 else type
        message = Message(
            channel, author, text, kind, tuple(files), tuple(stickers), tuple(embeds), reply_to=reply_to
        )
        self.files |= {file.path: file for file in files}
        channel.messages[message.id] = message
        if channel.type in THREADS and self.bot.mention in text:
            await self.enter_thread(channel)
        await self.announce("MESSAGE_CREATE", message)
        return message

    async def edit(self, message: Message, text: str) -> None:
        """The author changes the text."""
        message.text, message.edited_at = text, datetime.now(UTC)
        await self.announce("MESSAGE_UPDATE", message)

    async def unfurl(self, message: Message, *embeds: Json) -> None:
        """Discord adds link previews: an update that is no edit."""
        message.embeds = embeds
        await self.announce("MESSAGE_UPDATE", message)

    async def delete(self, *messages: Message) -> None:
        """Messages are removed; several of one channel at once, as a moderator does."""
        channel = messages[0].channel
        place = {"channel_id": str(channel.id)} | ({"guild_id": str(channel.guild.id)} if channel.guild else {})
        for message in messages:
            channel.messages.pop(message.id, None)
        if not may(self.bot, channel, VIEW):
            return
        if len(messages) == 1:
            await self.gateway.emit("MESSAGE_DELETE", place | {"id": str(messages[0].id)})
        else:
            await self.gateway.emit("MESSAGE_DELETE_BULK", place | {"ids": [str(one.id) for one in messages]})

    async def twice(self, message: Message) -> None:
        """Discord delivers the same message once more, under a new sequence number."""
        await self.announce("MESSAGE_CREATE", message)

    async def command(
        self,
        channel: Channel,
        user: User,
        action: str = "",
        text: str = "",
        *,
        name: str = "remem",
        dead: bool = False,
    ) -> Interaction:
        """`user` calls the slash command. `dead`: the 3 s are over before the bot can answer."""
        given = {"action": action, "text": text}
        options = [{"name": key, "type": 3, "value": value} for key, value in given.items() if value]
        data: Json = {"id": "1", "name": name, "type": 1, "options": options}
        return await self._interact(Interaction(COMMAND, channel, user, data, self.clock(), dead))

    async def click(self, said: Said, user: User, custom_id: str, *, dead: bool = False) -> Interaction:
        """`user` presses a button under what the bot said."""
        data: Json = {"custom_id": custom_id, "component_type": 2}
        channel = said.channel
        return await self._interact(
            Interaction(COMPONENT, channel, user, data, self.clock(), dead, message=said.message)
        )

    async def _interact(self, interaction: Interaction) -> Interaction:
        self.interactions[interaction.id] = interaction
        await self.gateway.emit("INTERACTION_CREATE", interaction.payload(self.bot, self.users))
        return interaction

    async def join_guild(self, guild: Guild) -> None:
        """Somebody invites the bot: GUILD_CREATE without `unavailable`."""
        guild.members[self.bot.id] = (self.bot, [])
        guild.joined_at = datetime.now(UTC)
        self.guilds.append(guild)
        await self.gateway.emit("GUILD_CREATE", guild.payload(self.bot))

    async def kick(self, guild: Guild) -> None:
        """The bot is removed from the guild."""
        await self.gone(guild)

    async def leave_thread(self, thread: Channel) -> None:
        """Somebody takes the bot out of a thread."""
        thread.members.discard(self.bot.id)
        assert thread.guild is not None
        removed = {"id": str(thread.id), "guild_id": str(thread.guild.id), "member_count": len(thread.members)}
        await self.gateway.emit("THREAD_MEMBERS_UPDATE", removed | {"removed_member_ids": [str(self.bot.id)]})

    async def rename(self, channel: Channel, name: str) -> None:
        """A channel or thread gets another name."""
        channel.name = name
        await self.gateway.emit("THREAD_UPDATE" if channel.type in THREADS else "CHANNEL_UPDATE", channel.payload())

    async def remove(self, channel: Channel) -> None:
        """A channel or thread is deleted."""
        self.channels.pop(channel.id)
        assert channel.guild is not None
        channel.guild.channels.remove(channel)
        await self.gateway.emit("THREAD_DELETE" if channel.type in THREADS else "CHANNEL_DELETE", channel.payload())

    @contextmanager
    def gateway_down(self) -> Iterator[None]:
        """The gateway's sockets are cut; clients come back, and resume, when the block ends."""
        self.gateway.hold()
        try:
            yield
        finally:
            self.gateway.release()

    def drop_gateway(self) -> None:
        """Cut the gateway's sockets; clients may come back at once."""
        with self.gateway_down():
            pass

    def refuse(self, method: str, path: str, refusal: Refused, times: int = 1) -> None:
        """Answer the next `times` calls of `method` whose path ends in `path` with `refusal`."""
        self.refuse_after(method, path, refusal, allowed=0, times=times)

    def refuse_after(self, method: str, path: str, refusal: Refused, *, allowed: int, times: int = 1) -> None:
        """The same, once `allowed` such calls have gone well."""
        self.refusals += [Order(method, path, refusal, allowed)] * times
