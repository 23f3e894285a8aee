"""What the bot said and says differently, against the local Discord: edits, further pieces, deletions, refusals."""

from __future__ import annotations

import re

import pytest

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.revising import REVISE_S
from adapters.messages import Delivery, Outgoing, Sent
from memory_core.ids import Conversation, RoomKey
from tests.adapters.discord_support import Heard, running
from tests.peers.discord import DiscordPeer
from tests.peers.discord.rules import EDITS, EDITS_S, Refused, no_permission, rate_limited
from tests.peers.discord.world import Channel

pytestmark = pytest.mark.asyncio


def _out(channel: Channel, text: str) -> Outgoing:
    return Outgoing(Conversation(RoomKey(f"discord:{channel.id}")), text)


def _calls(peer: DiscordPeer) -> list[str]:
    return [call.method for call in peer.calls if "/messages" in call.path]


async def test_a_text_grows_over_its_limit_and_stands_as_if_it_had_been_sent_at_once() -> None:
    code = "\n".join(f"line {number} of the code" for number in range(150))
    text = f"It works so:\n\n```python\n{code}\n```\n\nThat is all."
    async with DiscordPeer() as peer:
        first, second = peer.add_guild("Acme", ("build", "other")).channels
        async with running(peer, Heard()) as adapter:
            whole = await adapter.send(_out(second, text))
            sent = await adapter.send(_out(first, text[:30]))
            for end in (1500, 1990, 2300, len(text)):
                sent = await adapter.revise(sent, _out(first, text[:end]))
                assert sent.delivery is Delivery.SENT
                stands = peer.stands(first)
                assert all(len(piece) <= 2000 for piece in stands)
                assert all(len(re.findall(r"^```", piece, re.MULTILINE)) % 2 == 0 for piece in stands)
            assert peer.stands(first) == peer.stands(second)
            assert sent.pieces == whole.pieces
            assert len(sent.messages) == len(whole.messages)


async def test_only_what_changed_is_edited_and_what_is_too_much_deleted() -> None:
    paragraphs = [f"{letter} " * 900 for letter in "abc"]
    async with DiscordPeer() as peer:
        (build,) = peer.add_guild("Acme", ("build",)).channels
        async with running(peer, Heard()) as adapter:
            sent = await adapter.send(_out(build, "\n\n".join(paragraphs)))
            assert len(sent.messages) == 3
            peer.calls.clear()
            again = await adapter.revise(sent, _out(build, "\n\n".join(paragraphs)))
            assert _calls(peer) == []
            other = await adapter.revise(again, _out(build, "\n\n".join([*paragraphs[:2], "d " * 900])))
            assert _calls(peer) == ["PATCH"]
            one = await adapter.revise(other, _out(build, "short"))
            assert _calls(peer) == ["PATCH", "PATCH", "DELETE", "DELETE"]
            assert (one.messages, peer.stands(build)) == (sent.messages[:1], ["short"])
            none = await adapter.revise(one, _out(build, ""))
            assert (none, peer.stands(build)) == (Sent(Delivery.SENT), [])


async def test_case_7_an_edit_pings_nobody() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, Heard()) as adapter:
            sent = await adapter.send(_out(guild.channels[0], "so"))
            text = f"so @everyone @here <@{ana.id}> <@&111>"
            await adapter.revise(sent, _out(guild.channels[0], text))
            (edit,) = peer.edits
            assert (edit.text, edit.pings) == (text, frozenset())


async def test_a_piece_that_somebody_deleted_is_not_said_again_and_the_others_are_revised() -> None:
    old, new = ["\n\n".join(f"{letter} " * 900 for letter in letters) for letters in ("abc", "xyz")]
    async with DiscordPeer() as peer:
        (build,) = peer.add_guild("Acme", ("build",)).channels
        async with running(peer, Heard()) as adapter:
            sent = await adapter.send(_out(build, old))
            await peer.delete(peer.said[1].message)
            revised = await adapter.revise(sent, _out(build, new))
            assert (revised.delivery, revised.messages) == (Delivery.GONE, sent.messages)
            assert [text[0] for text in peer.stands(build)] == ["x", "z"]
            assert "10008" in revised.why


@pytest.mark.parametrize(
    ("refusal", "delivery"),
    [
        (no_permission(), Delivery.NOT_ALLOWED),
        (Refused(403, 50001, "Missing Access"), Delivery.GONE),
        (Refused(404, 10003, "Unknown Channel"), Delivery.GONE),
        (Refused(400, 50035, "Invalid Form Body"), Delivery.FAILED),
    ],
)
async def test_case_9_a_refusal_ends_the_revision_and_is_told(refusal: Refused, delivery: Delivery) -> None:
    async with DiscordPeer() as peer:
        (build,) = peer.add_guild("Acme", ("build",)).channels
        async with running(peer, Heard()) as adapter:
            sent = await adapter.send(_out(build, "half"))
            peer.refuse("PATCH", "", refusal)
            peer.refusals[-1].path = f"/{sent.messages[0].rsplit(':', 1)[1]}"
            revised = await adapter.revise(sent, _out(build, "whole"))
            assert (revised.delivery, revised.messages, revised.pieces) == (delivery, sent.messages, ("half",))
            assert peer.stands(build) == ["half"]
            assert (await adapter.revise(revised, _out(build, "whole"))).delivery is Delivery.SENT


async def test_a_429_is_waited_for() -> None:
    async with DiscordPeer() as peer:
        (build,) = peer.add_guild("Acme", ("build",)).channels
        async with running(peer, Heard()) as adapter:
            sent = await adapter.send(_out(build, "half"))
            peer.refuse("PATCH", sent.messages[0].rsplit(":", 1)[1], rate_limited(0.05))
            assert (await adapter.revise(sent, _out(build, "whole"))).delivery is Delivery.SENT
            assert [call.status for call in peer.calls if call.method == "PATCH"] == [429, 200]


async def test_the_pace_leaves_room_in_discord_s_bucket_of_edits() -> None:
    assert EDITS * REVISE_S > EDITS_S * 1.2
    assert DiscordAdapter("token").revise_s == REVISE_S
