"""The local Discord refuses what Discord refuses: asked by hand, without the library that the bot uses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tests.peers.discord import DiscordPeer
from tests.peers.discord.world import READ_HISTORY, SEND, TEXT, VIEW, Channel, Json, may

pytestmark = pytest.mark.asyncio
API = "https://discord.com/api/v10"


class _Hand:
    """Calls the peer's Web API and gateway through its proxy."""

    def __init__(self, session: aiohttp.ClientSession, peer: DiscordPeer) -> None:
        self._session, self._peer = session, peer

    async def call(
        self, method: str, path: str, body: Json | list[Json] | None = None, token: str = ""
    ) -> tuple[int, int]:
        """Status and Discord's code (0 where it gives none)."""
        headers = {"Authorization": f"Bot {token or self._peer.token}"}
        url = f"{API}{path}"
        async with self._session.request(
            method, url, json=body, headers=headers, proxy=self._peer.proxy_url
        ) as answer:
            answered = await answer.json() if answer.status != 204 else {}
            return answer.status, answered.get("code", 0) if isinstance(answered, dict) else 0

    async def say(self, channel: Channel, **body: object) -> tuple[int, int]:
        """POST a message."""
        return await self.call("POST", f"/channels/{channel.id}/messages", body)

    async def close_code(self, token: str, intents: int) -> int | None:
        """How an IDENTIFY ends; None where it is taken."""
        async with self._session.ws_connect("wss://gateway.discord.gg/?v=10", proxy=self._peer.proxy_url) as socket:
            assert (await socket.receive_json())["op"] == 10
            await socket.send_json({"op": 2, "d": {"token": token, "intents": intents, "properties": {}}})
            frame = await socket.receive()
            return socket.close_code if frame.type is not aiohttp.WSMsgType.TEXT else None


@asynccontextmanager
async def _by_hand(peer: DiscordPeer) -> AsyncIterator[_Hand]:
    async with aiohttp.ClientSession(connector=peer.connector()) as session:
        yield _Hand(session, peer)


async def test_tokens_and_intents() -> None:
    async with DiscordPeer() as peer, _by_hand(peer) as hand:
        assert await hand.call("GET", "/users/@me", token="other") == (401, 0)
        assert await hand.call("GET", "/users/@me") == (200, 0)
        assert await hand.close_code("other", 1) == 4004
        assert await hand.close_code(peer.token, 1 << 1) == 4014
        assert await hand.close_code(peer.token, 1 | 1 << 15) is None
        peer.privileged_intents = 0
        assert await hand.close_code(peer.token, 1 | 1 << 15) == 4014


async def test_messages() -> None:
    async with DiscordPeer() as peer, _by_hand(peer) as hand:
        guild = peer.add_guild("Acme", ("build", "news", "board"))
        build, news, board = guild.channels
        news.deny(guild.everyone, SEND)
        board.deny(guild.everyone, VIEW)
        assert await hand.say(build, content="x" * 2000) == (200, 0)
        assert await hand.say(build, content="x" * 2001) == (400, 50035)
        assert await hand.say(build, content=" \n") == (400, 50006)
        assert await hand.say(news, content="x") == (403, 50013)
        assert await hand.say(board, content="x") == (403, 50001)
        assert await hand.call("POST", "/channels/1/messages", {"content": "x"}) == (404, 10003)
        assert await hand.say(build, content="x", message_reference={"message_id": "1"}) == (400, 50035)
        kind = {"message_id": "1", "fail_if_not_exists": False}
        assert await hand.say(build, content="x", message_reference=kind) == (200, 0)
        button = {"type": 2, "label": "a", "custom_id": "a", "style": 2}
        for row in ([button, button], [button | {"custom_id": "x" * 101}], [button | {"label": "x" * 81}], []):
            assert await hand.say(build, content="x", components=[{"type": 1, "components": row}]) == (400, 50035)
        assert await hand.say(build, content="x", components=[{"type": 1, "components": [button]}]) == (200, 0)


async def test_who_would_be_pinged() -> None:
    async with DiscordPeer() as peer, _by_hand(peer) as hand:
        guild = peer.add_guild("Acme")
        ana = peer.add_user("ana", guild)
        asked = await peer.message(guild.channels[0], ana, "hi")
        text = f"@everyone {ana.mention} <@&7>"
        reference = {"message_id": str(asked.id)}
        users, replied = {"parse": ["users"]}, {"parse": [], "replied_user": True}
        policies: tuple[Json | None, ...] = (None, {"parse": []}, users, replied)
        for allowed in policies:
            body: Json = {"content": text, "message_reference": reference}
            await hand.say(guild.channels[0], **(body if allowed is None else body | {"allowed_mentions": allowed}))
        assert [set(said.pings) for said in peer.said] == [
            {"everyone", str(ana.id), "7"},
            set(),
            {str(ana.id)},
            {str(ana.id)},
        ]


async def test_interactions() -> None:
    clock = [0.0]
    async with DiscordPeer(clock=lambda: clock[0]) as peer, _by_hand(peer) as hand:
        guild = peer.add_guild("Acme")
        ana = peer.add_user("ana", guild)

        async def callback(path: str) -> tuple[int, int]:
            return await hand.call("POST", path, {"type": 5, "data": {"flags": 64}})

        asked = await peer.command(guild.channels[0], ana)
        path = f"/interactions/{asked.id}/{asked.token}/callback"
        followup = f"/webhooks/{peer.bot.id}/{asked.token}"
        assert await hand.call("POST", followup, {"content": "x"}) == (404, 10015)
        assert await callback(path) == (200, 0)
        assert await callback(path) == (400, 40060)
        assert await hand.call("POST", followup, {"content": "x"}) == (200, 0)
        assert await hand.call("POST", followup, {"content": "y"}) == (200, 0)
        assert [said.ephemeral for said in peer.said] == [True, False]
        clock[0] += 15 * 60 + 1
        assert await hand.call("POST", followup, {"content": "x"}) == (401, 50027)
        late = await peer.command(guild.channels[0], ana)
        clock[0] += 3.1
        assert await callback(f"/interactions/{late.id}/{late.token}/callback") == (404, 10062)
        dead = await peer.command(guild.channels[0], ana, dead=True)
        assert await callback(f"/interactions/{dead.id}/{dead.token}/callback") == (404, 10062)


async def test_commands_that_are_registered() -> None:
    good: Json = {"name": "remem", "description": "Saves.", "options": []}
    option: Json = {"name": "text", "description": "Words.", "type": 3}
    bad = (
        [good, good],
        [good | {"name": "Remem"}],
        [good | {"description": ""}],
        [good | {"options": [option, option | {"name": "more", "required": True}]}],
        [good | {"options": [option | {"choices": [{"name": "a", "value": "a"}] * 26}]}],
        [good | {"options": [option | {"choices": [{"name": "x" * 101, "value": "a"}]}]}],
    )
    async with DiscordPeer() as peer, _by_hand(peer) as hand:
        for commands in bad:
            assert await hand.call("PUT", "/applications/1/commands", commands) == (400, 50035)
        assert await hand.call("PUT", "/applications/1/commands", [good | {"options": [option]}]) == (200, 0)


async def test_nothing_but_discord_is_reached() -> None:
    async with DiscordPeer() as peer, aiohttp.ClientSession(connector=peer.connector()) as session:
        with pytest.raises(aiohttp.ClientHttpProxyError):
            await session.get("https://example.org/", proxy=peer.proxy_url)
        assert peer.refused_hosts == ("CONNECT example.org:443 HTTP/1.1",)


async def test_overwrites_are_resolved_as_discord_does() -> None:
    peer = DiscordPeer()
    guild = peer.add_guild("Acme")
    role = peer.add_role(guild, "muted")
    ana = peer.add_user("ana", guild, roles=(role,))
    channel = peer.add_channel(guild, "quiet", TEXT)
    assert may(ana, channel, SEND | READ_HISTORY)
    channel.deny(role, SEND)
    assert not may(ana, channel, SEND)
    channel.overwrites[ana.id] = (SEND, 0)
    assert may(ana, channel, SEND)
    channel.deny(guild.everyone, VIEW)
    assert not may(ana, channel, SEND)
    assert may(guild.owner, channel, SEND | VIEW)
