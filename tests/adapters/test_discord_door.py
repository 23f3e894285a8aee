"""The door: an end waits for what is being handed in, and what cannot be kept costs one sentence."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from adapters.base import Taken
from adapters.discord.door import Door
from adapters.discord.events import NOT_YET_KEPT
from adapters.messages import Author, Happening, Incoming, Room
from memory_core.errors import LedgerFailed
from memory_core.ids import Conversation, EventKey, PersonKey, RoomKey, RoomKind
from tests.adapters.discord_support import Heard, running
from tests.peers.discord import DiscordPeer

ROOM = RoomKey("discord:1")
EVENT = Incoming(
    Happening.MESSAGE,
    EventKey("discord:1:2"),
    Room(ROOM, RoomKind.CHANNEL, "#build"),
    Conversation(ROOM),
    Author(PersonKey("discord:3"), "ana"),
    datetime(2026, 4, 6, tzinfo=UTC),
    "hello",
)


@pytest.mark.asyncio
async def test_closing_waits_for_what_is_inside_and_lets_nothing_in() -> None:
    inside, kept = asyncio.Event(), asyncio.Event()

    async def deliver(_: Incoming) -> Taken:
        inside.set()
        await kept.wait()
        return Taken(durable=True)

    door = Door(deliver)
    handing = asyncio.create_task(door(EVENT))
    await inside.wait()
    closing = asyncio.create_task(door.close())
    assert not (await asyncio.wait({closing}, timeout=0.01))[0]
    assert not (await door(EVENT)).durable
    kept.set()
    await closing
    assert (await handing).durable


@pytest.mark.asyncio
async def test_who_waits_for_an_answer_hears_that_it_was_not_kept() -> None:
    async def full(_: Incoming) -> Taken:
        raise LedgerFailed("The disk is full; nothing was kept.")

    heard = Heard(full)
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        build = guild.channel("build")
        async with running(peer, heard):
            await peer.message(build, ana, "talk among people")
            await heard.said("talk among people")
            await peer.message(build, ana, f"{peer.bot.mention} which cache?")
            told = await peer.sent(lambda one: one.text == NOT_YET_KEPT)
            assert told.channel is build
            await peer.message(peer.dm(ana), ana, "and mine?")
            await peer.sent(lambda one: one.text == NOT_YET_KEPT, 2)
            assert len(peer.said) == 2


@pytest.mark.asyncio
async def test_what_cannot_be_kept_costs_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    async def deliver(_: Incoming) -> Taken:
        raise LedgerFailed("The disk is full; nothing was kept.")

    assert not (await Door(deliver)(EVENT)).durable
    (record,) = caplog.records
    assert record.getMessage() == "An event was not kept: The disk is full; nothing was kept."
    assert record.exc_info is None
