"""The connection to Slack's peer: signatures, lost connections, slow and failing look-ups, the end."""

from __future__ import annotations

import asyncio

import pytest

from adapters.messages import Happening
from memory_core.ids import Conversation, RoomKind
from tests.adapters.slack_bench import MODES, Mode, room_of, running
from tests.peers.slack import SlackPeer

pytestmark = pytest.mark.asyncio
both_modes = pytest.mark.parametrize("mode", MODES)


async def test_a_wrong_signature_is_401_and_nothing_comes_in() -> None:
    async with SlackPeer("http") as peer, running(peer, "http") as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        event = {"type": "message", "user": ana.id, "text": "forged", "ts": "1.2", "channel": build.id}
        assert await peer.forge(build, event) == 401
        assert not bot.all


@both_modes
async def test_what_is_nothing_to_us_is_acknowledged(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        build = peer.channel("build")
        for event in ({"type": "reaction_added"}, {"type": "team_join"}, {"type": "message", "channel": build.id}):
            delivered = await peer.event(build, dict(event))
            assert [attempt.outcome for attempt in delivered.attempts] == ["acknowledged"]
        assert not bot.all


async def test_slack_checks_the_address_of_http_mode() -> None:
    async with SlackPeer("http") as peer, running(peer, "http"):
        status, told = await peer.transport.request("events_api", {"type": "url_verification", "challenge": "c"})
        assert (status, told) == (200, {"challenge": "c"})


@pytest.mark.parametrize("warned", [True, False])
async def test_a_lost_connection_is_opened_again(warned: bool) -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        dm = peer.dm(ana)
        await peer.say(dm, ana, "before")
        await peer.disconnect(warned=warned)
        await peer.connected()
        await peer.say(dm, ana, "after")
        assert [said.text for said in bot.heard()] == ["before", "after"]


async def test_names_that_cannot_be_looked_up_do_not_hold_a_message_back() -> None:
    async with SlackPeer() as peer, running(peer, look_up_s=0.05) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        with peer.hold("users.info"):
            await peer.say(build, ana, f"ask <@{ana.id}>")
        assert (bot.heard()[0].author.name, bot.heard()[0].text) == (ana.id, f"ask @{ana.id}")


async def test_case_45_a_limited_look_up_is_not_asked_in_a_loop() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        peer.refuse("users.info", "ratelimited", retry_after_s=60, times=50)
        peer.refuse("conversations.info", "ratelimited", retry_after_s=60, times=50)
        for number in range(3):
            root = await peer.say(build, ana, f"thread {number}")
            await peer.say(build, ana, f"<@UREMEM> question {number}", thread=root)
        assert [said.text for said in bot.heard() if said.addressed] == [f"question {number}" for number in range(3)]
        assert len(peer.calls("users.info")) <= 2
        assert len(peer.calls("conversations.info")) == 1
        assert not peer.calls("conversations.replies")
        assert not peer.calls("conversations.history")


@both_modes
async def test_the_order_in_a_channel_is_kept_when_a_look_up_is_slow(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana, bo = peer.user("ana"), peer.user("bo")
        build, ops = peer.channel("build", members=[ana, bo]), peer.channel("ops", members=[bo])
        await peer.say(ops, bo, "bo is known")
        with peer.hold("users.info") as gate:
            first = asyncio.create_task(peer.say(build, ana, "first"))
            second = asyncio.create_task(peer.say(build, bo, "second"))
            await peer.say(ops, bo, "elsewhere")
            assert [said.text for said in bot.heard()] == ["bo is known", "elsewhere"]
            gate.set()
            await asyncio.gather(first, second)
        assert [said.text for said in bot.heard()] == ["bo is known", "elsewhere", "first", "second"]


async def test_being_removed_from_a_channel_that_cannot_be_seen_any_more() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        secret = peer.channel("secret", members=[ana], private=True)
        await peer.remove_bot(secret)
        (left,) = bot.heard()
        assert (left.happening, left.room.kind, left.room.key) == (Happening.LEFT, RoomKind.CHANNEL, room_of(secret))


async def test_a_thread_from_before_the_start_is_known_from_the_ledger() -> None:
    async with SlackPeer() as peer:
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        asked: list[Conversation] = []

        async def was_called(thread: Conversation) -> bool:
            asked.append(thread)
            return True

        async with running(peer, was_called=was_called) as (_, bot):
            root = peer.world.ts()
            build.messages[root] = {"user": ana.id, "text": "<@UREMEM> before the restart"}
            for text in ("and now?", "and then?"):
                await peer.say(build, ana, text, thread=root)
            assert [said.addressed for said in bot.heard()] == [True, True]
            assert asked == [Conversation(room_of(build), root)]


async def test_a_look_up_that_hangs_holds_up_one_message_not_each() -> None:
    async with SlackPeer() as peer, running(peer, look_up_s=0.2) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        with peer.hold("conversations.info"):
            for number in range(8):
                await peer.say(build, ana, f"{number}")
            took = [delivered.attempts[0].took_s for delivered in peer.deliveries]
        assert took[0] >= 0.15
        assert max(took[1:]) < 0.15
        assert [said.room.kind for said in bot.heard()] == [RoomKind.CHANNEL] * 8


async def test_closing_while_slack_takes_no_connection(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "adapters")
    async with SlackPeer() as peer:
        async with running(peer) as (first, _):
            await first.close()
        assert "Slack is connected (Socket Mode)" in caplog.text
        caplog.clear()
        peer.transport.tickets = set()
        async with asyncio.timeout(5):
            async with running(peer, until_ready=False) as (adapter, _):
                await peer.world.until(lambda: len(peer.calls("apps.connections.open")) == 2, 5, "a second start")
                await adapter.close()
                assert not adapter.ready.is_set()
        assert "connected" not in caplog.text, "it is said only when it is true"
