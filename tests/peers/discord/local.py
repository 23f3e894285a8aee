"""The servers of the local Discord, the world behind them, and what the bot did.

How to use it stands in peer.py. Here: listening and stopping, making users, guilds, channels and threads, keeping
what the bot called and said, waiting for it, and telling the gateway's sessions what they may see.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import aiohttp
import trustme
from aiohttp import web

from tests.peers.discord.gateway import MESSAGE_CONTENT, Gateway
from tests.peers.discord.interactions import Interaction
from tests.peers.discord.proxy import HOSTS, ConnectProxy
from tests.peers.discord.rest import Rest
from tests.peers.discord.rules import EDITS, EDITS_S, Bucket, Refused
from tests.peers.discord.world import (
    DM,
    EPHEMERAL,
    GROUP_DM,
    PRIVATE_THREAD,
    TEXT,
    THREADS,
    VIEW,
    Attached,
    Channel,
    Guild,
    Json,
    Message,
    Role,
    User,
    may,
)

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.not-a-real-token-only-for-tests"
DEADLINE_S = 20.0
_T = TypeVar("_T")


@dataclass(frozen=True)
class Call:
    """One REST call of the bot; a JSON array stands in `body` under `_list`."""

    method: str
    path: str
    body: Json
    status: int


@dataclass(frozen=True)
class Said:
    """One message of the bot: where, what, under which message, for whom, and whom it would notify."""

    message: Message
    text: str
    channel: Channel
    reply_to: Message | None
    ephemeral: bool
    interaction: Interaction | None
    buttons: tuple[tuple[str, str], ...]
    pings: frozenset[str]


@dataclass(frozen=True)
class Edit:
    """One edit of a message of the bot: what it says now, whom that would notify, and when."""

    message: Message
    text: str
    pings: frozenset[str]
    at_s: float


@dataclass
class Order:
    """A refusal that a test ordered."""

    method: str
    path: str
    refusal: Refused
    allowed: int


class LocalDiscord:
    """Discord on loopback, for one bot, without the people: peer.DiscordPeer adds what they do."""

    def __init__(self, *, token: str = TOKEN, clock: Callable[[], float] = time.monotonic) -> None:
        self.token = token
        self.clock = clock
        self.privileged_intents = MESSAGE_CONTENT
        self.shown_intents: int | None = None  # what the application object shows, where it differs
        self.bot = User("remem", bot=True)
        self.users: dict[int, User] = {self.bot.id: self.bot}
        self.guilds: list[Guild] = []
        self.channels: dict[int, Channel] = {}
        self.files: dict[str, Attached] = {}
        self.interactions: dict[int, Interaction] = {}
        self.commands: list[Json] = []
        self.closed_dms: set[int] = set()
        self.calls: list[Call] = []
        self.said: list[Said] = []
        self.edits: list[Edit] = []
        self.edits_bucket = Bucket(EDITS, EDITS_S)
        self.gateway = Gateway(self)
        self.refusals: list[Order] = []
        self._news = asyncio.Condition()
        self._authority = trustme.CA()
        self._runner: web.AppRunner | None = None
        self._proxy = ConnectProxy(0)

    # life

    async def __aenter__(self) -> Self:
        """Listen on loopback."""
        application = web.Application()
        application.add_routes([*Rest(self).routes(), web.get("/", self.gateway.serve)])
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*HOSTS).configure_cert(context)
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context).start()
        self._proxy = ConnectProxy(self._runner.addresses[0][1])
        await self._proxy.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop; sockets that are still open are cut."""
        self.gateway.hold()
        self.gateway.release()
        await self._proxy.stop()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def proxy_url(self) -> str:
        """The CONNECT proxy, for REMEM_DISCORD_PROXY."""
        return f"http://127.0.0.1:{self._proxy.port}"

    @property
    def refused_hosts(self) -> Sequence[str]:
        """What a client wanted to reach that is not Discord."""
        return tuple(self._proxy.refused)

    def connector(self) -> aiohttp.BaseConnector:
        """A connector that trusts this peer's authority, for a client in the same process."""
        context = ssl.create_default_context()
        self._authority.configure_trust(context)
        return aiohttp.TCPConnector(ssl=context, limit=0)

    def environment(self, folder: Path) -> dict[str, str]:
        """What `remem run` needs in its environment; the authority's certificate is written into `folder`."""
        certificate = folder / "discord-peer-ca.pem"
        self._authority.cert_pem.write_to_path(str(certificate))
        return {
            "DISCORD_TOKEN": self.token,
            "REMEM_DISCORD_PROXY": self.proxy_url,
            "SSL_CERT_FILE": str(certificate),
        }

    # the world

    def add_user(
        self, name: str, *guilds: Guild, display: str = "", bot: bool = False, roles: Sequence[Role] = ()
    ) -> User:
        """A user, a member of `guilds` with `roles`."""
        user = User(name, display, bot)
        self.users[user.id] = user
        for guild in guilds:
            guild.members[user.id] = (user, [role for role in roles if role in guild.roles])
        return user

    def add_guild(self, name: str, channels: Sequence[str] = ("general",), *, bot_is_member: bool = True) -> Guild:
        """A guild with text channels, the first its system channel. Known to the bot at its next IDENTIFY."""
        owner = self.add_user(f"{name.lower()}-owner")
        guild = Guild(name, owner)
        for channel in channels:
            self.add_channel(guild, channel)
        guild.system_channel = guild.channels[0] if guild.channels else None
        if bot_is_member:
            guild.members[self.bot.id] = (self.bot, [])
            self.guilds.append(guild)
        return guild

    def add_role(self, guild: Guild, name: str, permissions: int = 0) -> Role:
        """A role of `guild`."""
        role = Role(name, permissions)
        guild.roles.append(role)
        return role

    def add_channel(self, guild: Guild, name: str, type: int = TEXT, topic: str | None = None) -> Channel:  # noqa: A002
        """A channel that is there before the bot looks."""
        channel = Channel(type, name, guild, topic=topic)
        guild.channels.append(channel)
        self.channels[channel.id] = channel
        return channel

    async def add_thread(
        self,
        parent: Channel,
        name: str,
        type: int,  # noqa: A002
        owner: User,
        *,
        members: Sequence[User] = (),
        announce: bool = True,
    ) -> Channel:
        """A thread or post under `parent`. `announce` False: the bot never heard of it (it was archived)."""
        thread = Channel(
            type, name, parent.guild, parent, owner=owner, members={user.id for user in (owner, *members)}
        )
        assert parent.guild is not None
        parent.guild.channels.append(thread)
        self.channels[thread.id] = thread
        if announce and may(self.bot, thread, VIEW):
            added = {} if type == PRIVATE_THREAD else {"newly_created": True}
            await self.gateway.emit("THREAD_CREATE", thread.payload(self.bot) | added)
        return thread

    def dm(self, user: User) -> Channel:
        """The 1:1 DM of `user` and the bot."""
        for channel in self.channels.values():
            if channel.type == DM and user in channel.recipients:
                return channel
        channel = Channel(DM, recipients=[user, self.bot])
        self.channels[channel.id] = channel
        return channel

    def group_dm(self, *users: User, name: str = "") -> Channel:
        """A group DM with the bot in it."""
        channel = Channel(GROUP_DM, name, recipients=[*users, self.bot])
        self.channels[channel.id] = channel
        return channel

    # what the bot did

    async def connected(self, deadline_s: float = DEADLINE_S) -> None:
        """Wait until a session is ready."""
        await self._until(lambda: self.gateway.connected, deadline_s, lambda: "the bot has not connected")

    async def resumed(self, times: int = 1, deadline_s: float = DEADLINE_S) -> None:
        """Wait until sessions were resumed `times` times."""
        await self._until(lambda: self.gateway.resumed >= times, deadline_s, lambda: "no session was resumed")

    async def sent(self, wanted: Callable[[Said], bool], count: int = 1, deadline_s: float = DEADLINE_S) -> Said:
        """Wait for the `count`-th message of the bot that is `wanted`, ever since the peer started."""

        def found() -> Said | None:
            matches = [said for said in self.said if wanted(said)]
            return matches[count - 1] if len(matches) >= count else None

        def heard() -> str:
            return f"the bot said only {[(said.channel.name, said.text[:80]) for said in self.said]}"

        return await self._until(found, deadline_s, heard)

    async def called(self, wanted: Callable[[Call], bool], deadline_s: float = DEADLINE_S) -> Call:
        """Wait for the first REST call that is `wanted`."""

        def made() -> str:
            return f"the calls were {[(call.method, call.path, call.status) for call in self.calls]}"

        return await self._until(lambda: next((call for call in self.calls if wanted(call)), None), deadline_s, made)

    async def _until(self, found: Callable[[], _T | None], deadline_s: float, otherwise: Callable[[], str]) -> _T:
        try:
            async with asyncio.timeout(deadline_s), self._news:
                while not (result := found()):
                    await self._news.wait()
                return result
        except TimeoutError:
            raise AssertionError(f"after {deadline_s} s {otherwise()}") from None

    async def changed(self) -> None:
        """Wake whoever waits for something."""
        async with self._news:
            self._news.notify_all()

    # for the servers

    def refuse_if_told(self, method: str, path: str) -> None:
        """Raise the refusal that a test ordered for this call, once."""
        for order in self.refusals:
            if order.method == method and path.endswith(order.path):
                if order.allowed > 0:
                    order.allowed -= 1
                    return
                self.refusals.remove(order)
                raise order.refusal

    async def gone(self, guild: Guild) -> None:
        """The bot is no member any more."""
        guild.members.pop(self.bot.id, None)
        self.guilds.remove(guild)
        await self.gateway.emit("GUILD_DELETE", {"id": str(guild.id)})

    async def record(self, method: str, path: str, body: Json, status: int) -> None:
        """Keep one REST call."""
        self.calls.append(Call(method, path, body, status))
        await self.changed()

    async def stand(self, message: Message, *, pings: frozenset[str], interaction: Interaction | None = None) -> None:
        """The bot's message now stands: keep it, and let the gateway tell unless it is ephemeral."""
        ephemeral = bool(message.flags & EPHEMERAL)
        rows = [button for row in message.components for button in row["components"]]
        buttons = tuple((button["custom_id"], button["label"]) for button in rows)
        self.said.append(
            Said(message, message.text, message.channel, message.reply_to, ephemeral, interaction, buttons, pings)
        )
        if not ephemeral:
            message.channel.messages[message.id] = message
            if message.channel.type in THREADS:
                await self.enter_thread(message.channel)
            await self.announce("MESSAGE_CREATE", message)
        await self.changed()

    async def change(self, message: Message, body: Json, *, pings: frozenset[str]) -> None:
        """The bot's message says something else now; the gateway tells."""
        message.text, message.edited_at = body.get("content") or message.text, datetime.now(UTC)
        self.edits.append(Edit(message, message.text, pings, self.clock()))
        await self.announce("MESSAGE_UPDATE", message)
        await self.changed()

    async def take_away(self, message: Message) -> None:
        """A message is gone; the gateway tells."""
        message.channel.messages.pop(message.id)
        guild = {"guild_id": str(message.channel.guild.id)} if message.channel.guild else {}
        await self.gateway.emit(
            "MESSAGE_DELETE", {"id": str(message.id), "channel_id": str(message.channel.id)} | guild
        )
        await self.changed()

    def stands(self, channel: Channel) -> list[str]:
        """What the bot's messages in a channel say now, in order."""
        return [said.text for _, said in sorted(channel.messages.items()) if said.author is self.bot]

    async def until(self, found: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
        """Wait until something that the bot did made `found` true."""
        await self._until(found, deadline_s, lambda: f"{what} did not come; said: {[one.text for one in self.said]}")

    async def enter_thread(self, thread: Channel) -> None:
        """The bot becomes a member of a thread."""
        if self.bot.id in thread.members or thread.guild is None:
            return
        thread.members.add(self.bot.id)
        added = thread.member_payload(self.bot) | {"member": thread.guild.member_payload(self.bot), "presence": None}
        await self.gateway.emit(
            "THREAD_MEMBERS_UPDATE",
            {
                "id": str(thread.id),
                "guild_id": str(thread.guild.id),
                "member_count": len(thread.members),
                "added_members": [added],
            },
        )

    async def announce(self, event: str, message: Message) -> None:
        """Tell every session; without the content intent, the text only in DMs and where the bot is mentioned."""
        if not may(self.bot, message.channel, VIEW):
            return
        open_text = message.channel.guild is None or self.bot.mention in message.text or message.author is self.bot
        for session in tuple(self.gateway.sessions.values()):
            if session.ready:
                await session.emit(event, message.payload(self.users, content=session.content or open_text))

    def ready_payload(self, session_id: str) -> Json:
        """READY."""
        return {
            "v": 10,
            "user": self.bot.payload() | {"flags": 0, "verified": True, "mfa_enabled": True, "email": None},
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in self.guilds],
            "session_id": session_id,
            "resume_gateway_url": "wss://gateway-resume.discord.gg",
            "private_channels": [],
            "shard": [0, 1],
            "application": {"id": str(self.bot.id), "flags": self.application_payload()["flags"]},
        }

    def application_payload(self) -> Json:
        """The application object; its flags tell which intents are switched on in the developer portal."""
        shown = self.privileged_intents if self.shown_intents is None else self.shown_intents
        content = 1 << 19 if shown & MESSAGE_CONTENT else 0
        return {
            "id": str(self.bot.id),
            "name": "remem",
            "description": "",
            "icon": None,
            "bot_public": True,
            "bot_require_code_grant": False,
            "verify_key": "00",
            "owner": self.bot.payload(),
            "team": None,
            "flags": content,
            "approximate_guild_count": len(self.guilds),
        }
