"""Who shares a server with the bot, and servers that may not have it, at the local Discord."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.discord import servers
from adapters.discord.adapter import DiscordAdapter
from adapters.messages import Happening
from memory_core.ids import PersonKey
from tests.adapters.discord_support import Heard
from tests.peers.discord import DiscordPeer
from tests.peers.discord.local import Call
from tests.peers.discord.rules import no_access
from tests.peers.discord.world import Guild, User

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def running(peer: DiscordPeer, heard: Heard, *wanted: int) -> AsyncIterator[DiscordAdapter]:
    """An adapter that leaves every server but the `wanted` ones (none: leaves no server)."""
    adapter = DiscordAdapter(
        peer.token,
        peer.proxy_url,
        connector=peer.connector,
        guild_ready_timeout_s=0.02,
        refused_server=lambda server: "Not here, sorry." if wanted and int(server) not in wanted else "",
    )
    run = asyncio.create_task(adapter.run(heard))
    await peer.connected()
    assert adapter._connection is not None
    await adapter._connection.wait_until_ready()
    try:
        yield adapter
    finally:
        await adapter.close()
        await run


def key(user: User) -> PersonKey:
    return PersonKey(f"discord:{user.id}")


def asked(peer: DiscordPeer, user: User) -> int:
    """How often Discord was asked whether the user is in a server."""
    return sum(call.path.endswith(f"/members/{user.id}") for call in peer.calls)


def _left(call: Call, guild: Guild) -> bool:
    return call.method == "DELETE" and call.path.endswith(f"/users/@me/guilds/{guild.id}")


async def test_who_is_in_a_server_of_ours_is_found_and_remembered() -> None:
    async with DiscordPeer() as peer:
        guilds = [peer.add_guild(f"g{number}", ("general",)) for number in range(7)]
        ana, eve = peer.add_user("ana", guilds[6]), peer.add_user("eve")
        async with running(peer, Heard()) as adapter:
            assert await adapter.shares_server(key(ana)) is True
            assert await adapter.shares_server(key(eve)) is False
            before = (asked(peer, ana), asked(peer, eve))
            assert before[1] == 7
            assert await adapter.shares_server(key(ana)) is True
            assert await adapter.shares_server(key(eve)) is False
            assert (asked(peer, ana), asked(peer, eve)) == before


async def test_who_spoke_in_a_server_is_not_asked_for() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("general",))
        ana, heard = peer.add_user("ana", guild), Heard()
        async with running(peer, heard) as adapter:
            await peer.message(guild.channel("general"), ana, "good morning")
            await heard.said("good morning")
            assert await adapter.shares_server(key(ana)) is True
            assert asked(peer, ana) == 0


async def test_where_discord_does_not_say_nobody_is_called_a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    async with DiscordPeer() as peer:
        one, _ = peer.add_guild("one", ("general",)), peer.add_guild("two", ("general",))
        eve, heard = peer.add_user("eve"), Heard()
        async with running(peer, heard) as adapter:
            peer.refuse("GET", f"/guilds/{one.id}/members/{eve.id}", no_access())
            assert await adapter.shares_server(key(eve)) is None
            monkeypatch.setattr(servers, "ASKED_SERVERS", 1)
            assert await adapter.shares_server(key(eve)) is None, "there is a server more than was asked"
            monkeypatch.setattr(servers, "ASKED_SERVERS", 2)
            assert await adapter.shares_server(key(eve)) is False
            third = peer.add_guild("three", ("general",), bot_is_member=False)
            third.members[eve.id] = (eve, [])
            await peer.join_guild(third)
            monkeypatch.setattr(servers, "ASKED_SERVERS", 3)
            await heard.wait(lambda one: one.happening is Happening.JOINED_SERVER and one.room.server == "three")
            assert await adapter.shares_server(key(eve)) is True, "who was a stranger is asked for anew"
        assert await adapter.shares_server(key(eve)) is None, "not connected"


async def test_a_server_that_may_not_have_the_bot_hears_one_line_and_is_left() -> None:
    async with DiscordPeer() as peer:
        ours, old = peer.add_guild("ours", ("general",)), peer.add_guild("old", ("lobby",))
        eve, heard = peer.add_user("eve", old), Heard()
        async with running(peer, heard, ours.id) as adapter:
            await peer.called(lambda call: _left(call, old))
            new = peer.add_guild("new", ("hall",), bot_is_member=False)
            await peer.join_guild(new)
            await peer.called(lambda call: _left(call, new))
            assert [said.text for said in peer.said] == ["Not here, sorry."] * 2
            assert await adapter.shares_server(key(eve)) is False, "a server that was left is no common one"
            ana = peer.add_user("ana", ours)
            await peer.message(ours.channel("general"), ana, "still here")
            await heard.said("still here")
        assert not [one for one in heard.incoming if one.happening is Happening.JOINED_SERVER]
        assert peer.guilds == [ours]
