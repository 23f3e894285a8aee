"""`remem doctor` and the invitation, against the local Discord."""

from __future__ import annotations

import pytest

from adapters.base import Check
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.invite import invite_url
from memory_core.errors import RememError
from tests.peers.discord import DiscordPeer
from tests.peers.discord.world import READ_HISTORY, SEND

pytestmark = pytest.mark.asyncio


async def _checks(peer: DiscordPeer, token: str | None = None) -> dict[str, Check]:
    adapter = DiscordAdapter(token or peer.token, peer.proxy_url, connector=peer.connector)
    return {check.name: check for check in await adapter.check()}


async def test_all_is_well_and_no_session_is_spent() -> None:
    async with DiscordPeer() as peer:
        peer.add_guild("Acme")
        checks = await _checks(peer)
        assert list(checks) == [
            "Discord token",
            "Discord message content intent",
            "Discord servers",
            "Discord server Acme",
        ]
        assert all(check.ok for check in checks.values())
        assert peer.gateway.identified == 0


async def test_each_fault_names_its_next_step() -> None:
    async with DiscordPeer() as peer:
        quiet, poor = peer.add_guild("Quiet", ("general", "news")), peer.add_guild("Poor")
        quiet.channel("news").deny(peer.bot, SEND)
        poor.everyone.permissions &= ~READ_HISTORY
        peer.privileged_intents = 0
        checks = await _checks(peer)
        assert "MESSAGE CONTENT INTENT" in checks["Discord message content intent"].next_step
        assert "#news" in checks["Discord server Quiet"].next_step
        assert "Read Message History" in checks["Discord server Poor"].next_step
        assert checks["Discord servers"].found == "2"


async def test_no_server_yet_gives_the_invitation() -> None:
    async with DiscordPeer() as peer:
        check = (await _checks(peer))["Discord servers"]
        assert not check.ok
        assert f"client_id={peer.bot.id}" in check.next_step


async def test_a_refused_token_is_one_finding() -> None:
    async with DiscordPeer() as peer:
        peer.add_guild("Acme")
        checks = await _checks(peer, "AAAA.BBBB.secret")
        assert list(checks) == ["Discord token"]
        assert "Reset Token" in checks["Discord token"].next_step
        assert "secret" not in repr(checks)


async def test_out_of_reach_is_said_once_and_the_step_beside_it() -> None:
    check = (await DiscordAdapter("AAAA.BBBB.secret", "http://127.0.0.1:9").check())[0]
    assert "could not be reached" in check.found
    assert check.next_step.startswith("Check the network, ")


async def test_the_invitation_asks_for_what_is_needed() -> None:
    async with DiscordPeer() as peer:
        adapter = DiscordAdapter(peer.token, peer.proxy_url, connector=peer.connector)
        assert await adapter.invite_url() == invite_url(peer.bot.id)
        refused = DiscordAdapter("AAAA.BBBB.secret", peer.proxy_url, connector=peer.connector)
        with pytest.raises(RememError, match="DISCORD_TOKEN is refused"):
            await refused.invite_url()
    url = invite_url(42)
    assert "scope=bot+applications.commands" in url
    assert f"permissions={(1 << 10) | (1 << 11) | (1 << 14) | (1 << 15) | (1 << 16) | (1 << 38)}" in url
