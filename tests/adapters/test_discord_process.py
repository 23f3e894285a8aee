"""The adapter in a process of its own, told where to go by its environment alone: proxy and certificates."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.peers.discord import DiscordPeer

_ECHO = """
import asyncio, os
from adapters.base import Taken
from adapters.discord.adapter import DiscordAdapter
from adapters.messages import Outgoing

adapter = DiscordAdapter(os.environ["DISCORD_TOKEN"], os.environ["REMEM_DISCORD_PROXY"])

async def deliver(incoming):
    if incoming.addressed:
        await adapter.send(Outgoing(incoming.conversation, incoming.text, reply_to=incoming.message))
    return Taken(durable=True)

asyncio.run(adapter.run(deliver))
"""


@pytest.mark.asyncio
async def test_a_process_of_its_own_is_pointed_at_the_peer_by_its_environment(tmp_path: Path) -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        environment = {**os.environ, **peer.environment(tmp_path), "PYTHONWARNINGS": "ignore"}
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", _ECHO, env=environment)
        try:
            await peer.connected()
            with peer.gateway_down():
                await peer.message(guild.channel("build"), ana, f"{peer.bot.mention} over TLS")
            assert (await peer.sent(lambda one: True)).text == "over TLS"
            assert (peer.gateway.resumed, peer.refused_hosts) == (1, ())
        finally:
            process.kill()
            await process.wait()
