"""The Web API (`/api/v10`) and the CDN of the local Discord.

Every call is recorded with its status. The checks run in Discord's order: token, existence, access, permission, form.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aiohttp import web

from tests.peers.discord import rules
from tests.peers.discord.interactions import MESSAGE_NOW, Interaction
from tests.peers.discord.rules import Refused
from tests.peers.discord.world import (
    CHAT_INPUT_REPLY,
    DM,
    EPHEMERAL,
    PRIVATE,
    READ_HISTORY,
    REPLY,
    SEND,
    SEND_IN_THREADS,
    THREADS,
    VIEW,
    Attached,
    Channel,
    Guild,
    Json,
    Message,
    may,
)

if TYPE_CHECKING:
    from tests.peers.discord.local import LocalDiscord

_Handler = Callable[[web.Request, Json], Awaitable[Json | list[Json] | None]]


class Rest:
    """The routes; state lives in the peer."""

    def __init__(self, peer: LocalDiscord) -> None:
        self._peer = peer

    def routes(self) -> list[web.RouteDef]:
        """What the bot may call."""
        table: tuple[tuple[str, str, _Handler], ...] = (
            ("GET", "/users/@me", self._me),
            ("GET", "/oauth2/applications/@me", self._application),
            ("PUT", "/applications/{app}/commands", self._commands),
            ("GET", "/users/@me/guilds", self._guilds),
            ("POST", "/users/@me/channels", self._open_dm),
            ("DELETE", "/users/@me/guilds/{guild}", self._leave),
            ("GET", "/guilds/{guild}", self._guild),
            ("GET", "/guilds/{guild}/channels", self._channels),
            ("GET", "/guilds/{guild}/members/{user}", self._member),
            ("GET", "/channels/{channel}", self._channel),
            ("POST", "/channels/{channel}/messages", self._send),
            ("GET", "/channels/{channel}/messages", self._history),
            ("PATCH", "/channels/{channel}/messages/{message}", self._edit),
            ("DELETE", "/channels/{channel}/messages/{message}", self._delete),
            ("POST", "/channels/{channel}/typing", self._typing),
            ("POST", "/interactions/{id}/{token}/callback", self._callback),
            ("POST", "/webhooks/{app}/{token}", self._followup),
        )
        made = [web.route(method, f"/api/v10{path}", self._wrapped(handler)) for method, path, handler in table]
        return [*made, web.get("/attachments/{tail:.*}", self._cdn)]

    def _wrapped(self, handler: _Handler) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def serve(request: web.Request) -> web.Response:
            raw = await request.read()
            body: Json = {"_list": json.loads(raw)} if raw[:1] == b"[" else json.loads(raw or b"{}")
            path = request.path.removeprefix("/api/v10")
            headers: dict[str, str] = {}
            answer: Json | list[Json] | None
            try:
                self._peer.refuse_if_told(request.method, path)
                if not path.startswith(("/interactions", "/webhooks")):
                    self._check_token(request)
                answer = await handler(request, body)
                status = 200 if answer is not None else 204
            except Refused as refused:
                status, answer, headers = refused.status, refused.body, refused.headers
            await self._peer.record(request.method, path, body, status)
            if status == 204:
                return web.Response(status=status)
            # Exactly this content type: discord.py takes anything else for text.
            headers["Content-Type"] = "application/json"
            return web.Response(status=status, headers=headers, body=json.dumps(answer))

        return serve

    def _check_token(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bot {self._peer.token}":
            raise rules.unauthorized()

    # who am I

    async def _me(self, _: web.Request, __: Json) -> Json:
        return self._peer.bot.payload() | {"flags": 0, "verified": True, "mfa_enabled": True, "email": None}

    async def _application(self, _: web.Request, __: Json) -> Json:
        return self._peer.application_payload()

    async def _commands(self, _: web.Request, body: Json) -> list[Json]:
        commands: list[Json] = body["_list"]
        rules.check_commands(commands)
        self._peer.commands = commands
        app = str(self._peer.bot.id)
        return [
            {"id": str(number), "application_id": app, "version": "1", "type": 1} | command
            for number, command in enumerate(commands, 1)
        ]

    # guilds and channels

    async def _guilds(self, _: web.Request, __: Json) -> list[Json]:
        bot = self._peer.bot
        return [
            {"id": str(guild.id), "name": guild.name, "icon": None, "owner": False, "features": []}
            | {"permissions": str(guild.base_permissions(bot)), "banner": None}
            for guild in self._peer.guilds
        ]

    def _known_guild(self, request: web.Request) -> Guild:
        for guild in self._peer.guilds:
            if str(guild.id) == request.match_info["guild"]:
                return guild
        raise rules.no_access()

    async def _guild(self, request: web.Request, _: Json) -> Json:
        return self._known_guild(request).payload(self._peer.bot, rest=True)

    async def _channels(self, request: web.Request, _: Json) -> list[Json]:
        guild = self._known_guild(request)
        return [channel.payload() for channel in guild.channels if channel.type not in THREADS]

    async def _leave(self, request: web.Request, _: Json) -> None:
        await self._peer.gone(self._known_guild(request))

    async def _member(self, request: web.Request, _: Json) -> Json:
        guild = self._known_guild(request)
        found = guild.members.get(int(request.match_info["user"]))
        if found is None:
            raise rules.unknown("Member", 10007)
        return guild.member_payload(found[0])

    def _known_channel(self, request: web.Request) -> Channel:
        channel = self._peer.channels.get(int(request.match_info["channel"]))
        if channel is None:
            raise rules.unknown("Channel", 10003)
        if not may(self._peer.bot, channel, VIEW):
            raise rules.no_access()
        return channel

    async def _channel(self, request: web.Request, _: Json) -> Json:
        return self._known_channel(request).payload(self._peer.bot)

    async def _open_dm(self, _: web.Request, body: Json) -> Json:
        user = self._peer.users.get(int(body["recipient_id"]))
        if user is None:
            raise rules.unknown("User", 10013)
        channel = self._peer.dm(user)
        return channel.payload(self._peer.bot)

    # messages

    async def _send(self, request: web.Request, body: Json) -> Json:
        channel = self._known_channel(request)
        if channel.type == DM and any(user.id in self._peer.closed_dms for user in channel.recipients):
            raise Refused(403, 50007, "Cannot send messages to this user")
        if not may(self._peer.bot, channel, SEND_IN_THREADS if channel.type in THREADS else SEND):
            raise rules.no_permission()
        rules.check_message(body)
        replied = rules.check_reference(body, channel)
        message = self._message(channel, body, type=REPLY if replied else 0, reply_to=replied)
        await self._peer.stand(message, pings=rules.pings(body, replied))
        return message.payload(self._peer.users)

    def _message(self, channel: Channel, body: Json, *, type: int = 0, reply_to: Message | None = None) -> Message:  # noqa: A002
        return Message(
            channel=channel,
            author=self._peer.bot,
            text=body.get("content") or "",
            type=type,
            components=tuple(body.get("components") or ()),
            reply_to=reply_to,
            flags=body.get("flags") or 0,
            nonce=body.get("nonce"),
        )

    def _known_message(self, request: web.Request) -> Message:
        message = self._known_channel(request).messages.get(int(request.match_info["message"]))
        if message is None:
            raise rules.unknown("Message", 10008)
        return message

    async def _edit(self, request: web.Request, body: Json) -> Json:
        """Edit Message: only one's own text, and not faster than the channel's bucket allows."""
        message = self._known_message(request)
        if message.author is not self._peer.bot:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        self._peer.edits_bucket.take(message.channel.id, self._peer.clock())
        rules.check_message({"content": message.text, "components": message.components} | body)
        await self._peer.change(message, body, pings=rules.pings(body, None))
        return message.payload(self._peer.users)

    async def _delete(self, request: web.Request, _: Json) -> None:
        message = self._known_message(request)
        if message.author is not self._peer.bot:
            raise rules.no_permission()
        await self._peer.take_away(message)

    async def _history(self, request: web.Request, _: Json) -> list[Json]:
        """The newest messages, those before an id, or the next ones after it; newest first. Without the permission to
        read the history there is none, which is no refusal."""
        channel = self._known_channel(request)
        before, after, limit = rules.check_history(request.query)
        if not may(self._peer.bot, channel, READ_HISTORY):
            return []
        found = [
            message
            for native, message in sorted(channel.messages.items())
            if native < before and native > after and not message.flags & EPHEMERAL
        ]
        found = found[:limit] if after else found[-limit:]
        return [message.payload(self._peer.users) for message in reversed(found)]

    async def _typing(self, request: web.Request, _: Json) -> None:
        channel = self._known_channel(request)
        if channel.type not in PRIVATE and not may(self._peer.bot, channel, SEND):
            raise rules.no_permission()

    # interactions

    def _known_interaction(self, request: web.Request) -> Interaction:
        for interaction in self._peer.interactions.values():
            if interaction.token == request.match_info["token"]:
                return interaction
        raise rules.unknown("Webhook", 10015)

    async def _callback(self, request: web.Request, body: Json) -> Json:
        interaction = self._known_interaction(request)
        interaction.acknowledge(body, self._peer.clock())
        if body["type"] == MESSAGE_NOW:
            data = body["data"]
            rules.check_message(data)
            await self._answer(interaction, data)
        return interaction.callback_payload()

    async def _followup(self, request: web.Request, body: Json) -> Json:
        interaction = self._known_interaction(request)
        interaction.check_token(self._peer.clock())
        rules.check_message(body)
        if interaction.thinking:  # the deferred answer has decided who sees this one
            flags = (body.get("flags") or 0) & ~EPHEMERAL
            body = body | {"flags": flags | (EPHEMERAL if interaction.ephemeral else 0)}
            interaction.thinking = False
        message = await self._answer(interaction, body)
        return message.payload(self._peer.users)

    async def _answer(self, interaction: Interaction, body: Json) -> Message:
        message = self._message(interaction.channel, body, type=CHAT_INPUT_REPLY)
        message.application = self._peer.bot.id
        await self._peer.stand(message, pings=rules.pings(body, None), interaction=interaction)
        return message

    # files

    async def _cdn(self, request: web.Request) -> web.Response:
        file: Attached | None = self._peer.files.get(request.path)
        await self._peer.record("GET", request.path, {}, 200 if file else 404)
        if file is None:
            raise web.HTTPNotFound
        if file.stuck:
            await asyncio.Event().wait()  # until the peer ends
        modified = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        return web.Response(body=file.body, headers={"Content-Type": file.media_type, "Last-Modified": modified})
