"""What the bot says, against the local Discord: pieces, replies, pings, refusals."""

from __future__ import annotations

import logging
import re

import pytest

from adapters.discord.adapter import DiscordAdapter
from adapters.messages import Delivery, Outgoing
from memory_core.ids import Conversation, PersonKey, RoomKey, message_key
from tests.adapters.discord_support import Heard, running
from tests.peers.discord import DiscordPeer
from tests.peers.discord.local import Said
from tests.peers.discord.rules import Refused, rate_limited
from tests.peers.discord.world import PUBLIC_THREAD, SEND, SEND_IN_THREADS, Channel

pytestmark = pytest.mark.asyncio


def _place(channel: Channel) -> Conversation:
    parent = channel.parent
    room = RoomKey(f"discord:{(parent or channel).id}")
    return Conversation(room, str(channel.id) if parent else "")


def _fences_are_whole(text: str) -> bool:
    return len(re.findall(r"^```", text, re.MULTILINE)) % 2 == 0


def _code(pieces: list[Said]) -> str:
    """What stands inside the fences, joined."""
    return "\n".join(line for piece in pieces for line in piece.text.split("\n") if not line.startswith("```"))


async def test_case_3_a_long_fence_with_a_long_first_line_arrives_whole() -> None:
    code = "\n".join(f"line {number} of the code" for number in range(230))
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        async with running(peer, Heard()) as adapter:
            sent = await adapter.send(Outgoing(_place(guild.channels[0]), f"```{'x' * 300}\n{code}\n```"))
            assert sent.delivery is Delivery.SENT
            assert len(peer.said) == len(sent.messages) >= 3
            assert all(len(said.text) <= 2000 and _fences_are_whole(said.text) for said in peer.said)
            assert all(said.text.startswith("```\n") for said in peer.said[1:])
            assert _code(peer.said) == code


async def test_case_4_a_closing_line_with_a_long_tail_never_passes_the_limit() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        async with running(peer, Heard()) as adapter:
            for tail in range(1990, 2001):
                sent = await adapter.send(Outgoing(_place(guild.channels[0]), "```\nx = 1\n```" + "y" * tail))
                assert sent.delivery is Delivery.SENT
            assert {call.status for call in peer.calls if call.method == "POST"} == {200}
            assert sum(said.text.count("y") for said in peer.said) == sum(range(1990, 2001))


async def test_case_6_inline_code_is_closed_and_opened_around_a_cut_and_nothing_is_empty() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        async with running(peer, Heard()) as adapter:
            await adapter.send(Outgoing(_place(guild.channels[0]), f"- run `{'word ' * 460}`"))
            assert len(peer.said) == 2
            assert all(said.text.count("`") == 2 for said in peer.said)
            assert await adapter.send(Outgoing(_place(guild.channels[0]), " \n ")) is not None
            assert len(peer.said) == 2


async def test_case_7_nobody_is_pinged_and_the_words_stay() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        heard = Heard()
        async with running(peer, heard) as adapter:
            text = f"@everyone @here <@&111> {ana.mention}"
            asked = await peer.message(guild.channels[0], ana, f"repeat exactly: {text}")
            key = (await heard.wait(lambda one: True)).message
            await adapter.send(Outgoing(_place(guild.channels[0]), text, reply_to=key))
            await adapter.send(Outgoing(_place(guild.channels[0]), text, person=PersonKey(f"discord:{ana.id}")))
            said = await peer.sent(lambda one: True, 2)
            assert (peer.said[0].reply_to, peer.said[0].text) == (asked, text)
            assert said.channel is peer.dm(ana)
            assert [one.pings for one in peer.said] == [frozenset(), frozenset()]


async def test_case_8_an_answer_to_a_deleted_message_is_sent_without_it() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        place = _place(guild.channels[0])
        async with running(peer, Heard()) as adapter:
            gone = await peer.message(guild.channels[0], ana, "hi")
            await peer.delete(gone)
            key = message_key(place.room, str(gone.id))
            sent = await adapter.send(Outgoing(place, "hello", reply_to=key))
            assert (sent.delivery, peer.said[0].reply_to) == (Delivery.SENT, None)
            peer.refuse("POST", "/messages", Refused(400, 160002, "Cannot reply without permission to read history"))
            again = await adapter.send(Outgoing(place, "again", reply_to=key))
            assert (again.delivery, peer.said[1].text) == (Delivery.SENT, "again")


async def test_case_9_a_missing_permission_and_a_lost_access_are_told_apart_and_not_retried() -> None:
    async with DiscordPeer() as peer:
        guild, other = peer.add_guild("Acme", ("news",)), peer.add_guild("Other", ("build",))
        guild.channel("news").deny(peer.bot, SEND)
        news, build = _place(guild.channels[0]), _place(other.channels[0])
        async with running(peer, Heard()) as adapter:
            mute = await adapter.send(Outgoing(news, "hello"))
            assert (mute.delivery, "50013" in mute.why) == (Delivery.NOT_ALLOWED, True)
            await peer.kick(other)
            lost = await adapter.send(Outgoing(build, "hello"))
            assert (lost.delivery, "50001" in lost.why) == (Delivery.GONE, True)
            peer.channels.pop(guild.channels[0].id)
            assert (await adapter.send(Outgoing(news, "hello"))).delivery is Delivery.GONE
            assert len([call for call in peer.calls if call.path.endswith("/messages")]) == 3


async def test_case_9_kicked_in_the_middle_tells_what_stands() -> None:
    long = "\n\n".join("word " * 300 for _ in range(3))
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        async with running(peer, Heard()) as adapter:
            peer.refuse_after("POST", "/messages", Refused(403, 50001, "Missing Access"), allowed=1)
            sent = await adapter.send(Outgoing(_place(guild.channels[0]), long))
            assert (sent.delivery, len(sent.messages), len(peer.said)) == (Delivery.GONE, 1, 1)


async def test_a_rate_limit_is_waited_for() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        async with running(peer, Heard()) as adapter:
            peer.refuse("POST", "/messages", rate_limited(0.01))
            sent = await adapter.send(Outgoing(_place(guild.channels[0]), "hello"))
            assert sent.delivery is Delivery.SENT
            assert [call.status for call in peer.calls if call.path.endswith("/messages")] == [429, 200]


async def test_threads_are_answered_in_place() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, Heard()) as adapter:
            thread = await peer.add_thread(guild.channels[0], "t", PUBLIC_THREAD, ana)
            place = _place(thread)
            asked = await peer.message(thread, ana, "hi")
            sent = await adapter.send(Outgoing(place, "in", reply_to=message_key(place.room, str(asked.id))))
            assert peer.said[0].channel is thread
            assert peer.said[0].reply_to is asked
            assert sent.messages == (f"{place.room}:{peer.said[0].message.id}",)
            guild.channels[0].deny(peer.bot, SEND_IN_THREADS)
            assert (await adapter.send(Outgoing(place, "in"))).delivery is Delivery.NOT_ALLOWED


async def test_a_closed_dm_is_not_allowed() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        peer.closed_dms.add(ana.id)
        async with running(peer, Heard()) as adapter:
            person = PersonKey(f"discord:{ana.id}")
            sent = await adapter.send(Outgoing(_place(guild.channels[0]), "psst", person=person))
            assert sent.delivery is Delivery.NOT_ALLOWED
            nobody = Outgoing(_place(guild.channels[0]), "psst", person=PersonKey("discord:1"))
            assert (await adapter.send(nobody)).delivery is Delivery.GONE


async def test_typing_is_shown_and_never_fails(caplog: pytest.LogCaptureFixture) -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build", "news"))
        guild.channel("news").deny(peer.bot, SEND)
        with caplog.at_level(logging.ERROR):
            async with running(peer, Heard()) as adapter:
                await adapter.typing(_place(guild.channel("build")))
                await adapter.typing(_place(guild.channel("news")))
                statuses = [call.status for call in peer.calls if call.path.endswith("/typing")]
                assert statuses == [204, 403]
        assert caplog.records == []


async def test_an_answer_does_not_wait_until_typing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.discord.adapter.TYPING_S", 0.1)
    async with DiscordPeer() as peer:
        build = peer.add_guild("Acme", ("build",)).channel("build")
        async with running(peer, Heard()) as adapter:
            peer.refuse("POST", "/typing", Refused(500, 0, "Internal Server Error"), times=9)
            await adapter.typing(_place(build))
            assert [call.status for call in peer.calls if call.path.endswith("/typing")] == [500]
            assert (await adapter.send(Outgoing(_place(build), "hello"))).delivery is Delivery.SENT


async def test_before_it_is_connected_nothing_is_said() -> None:
    adapter = DiscordAdapter("a.b.c")
    sent = await adapter.send(Outgoing(Conversation(RoomKey("discord:1")), "hello"))
    assert (sent.delivery, sent.why) == (Delivery.FAILED, "Discord is not connected")
    await adapter.typing(Conversation(RoomKey("discord:1")))
