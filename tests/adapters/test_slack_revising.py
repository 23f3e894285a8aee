"""What the bot said and says differently, against the local Slack: edits, more pieces, deletions, refusals, pace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.messages import Delivery, Sent
from adapters.slack.pace import PACE_S
from adapters.slack.posting import MOST_PIECES
from adapters.slack.revising import EDIT_PACES, REVISE_S
from memory_core.ids import message_key
from tests.adapters.slack_bench import Clockwork, answer, in_room, key_of, room_of, running
from tests.peers.slack import SlackPeer
from tests.peers.slack.rules import EDITS_A_MINUTE

pytestmark = pytest.mark.asyncio

WORDS = " ".join(f"w{number:05}" for number in range(1700))


def _methods(peer: SlackPeer) -> list[str]:
    return [call.method for call in peer.calls() if call.method.startswith("chat.")]


async def test_a_text_grows_over_its_limit_and_stands_as_if_it_had_been_sent_at_once() -> None:
    text = f"See https://example.com/a?b=1&c=2, then:\n\n```py\n{'x = 1 < 2' * 200}\n```\n\n{WORDS}"
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        build, other = peer.channel("build", members=[ana]), peer.channel("other", members=[ana])
        ts = await peer.mention(build, ana, "explain")
        asked = next(said for said in bot.heard() if said.addressed)
        whole = await adapter.send(in_room(other, text))
        sent = await adapter.send(answer(asked, text[:20]))
        for end in (1000, 3000, 4500, len(text)):
            sent = await adapter.revise(sent, answer(asked, text[:end]))
            assert sent.delivery is Delivery.SENT
        stands = peer.stands(build)
        assert stands == peer.stands(other)
        assert sent.pieces == whole.pieces == tuple(stands)
        assert all(len(piece) <= 3900 and piece.count("```") % 2 == 0 for piece in stands)
        assert {post.thread_ts for post in peer.posts if post.channel == build.id} == {ts}


async def test_only_what_changed_is_edited_and_what_is_too_much_deleted() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        sent = await adapter.send(in_room(build, WORDS))
        assert len(sent.messages) == 4
        peer.world.calls.clear()
        assert await adapter.revise(sent, in_room(build, WORDS)) == sent
        assert _methods(peer) == []
        sent = await adapter.revise(sent, in_room(build, f"{WORDS} more"))
        assert _methods(peer) == ["chat.update"]
        one = await adapter.revise(sent, in_room(build, "short"))
        assert (one.messages, peer.stands(build)) == (sent.messages[:1], ["short"])
        assert await adapter.revise(one, in_room(build, "")) == Sent(Delivery.SENT)
        assert peer.stands(build) == []


async def test_case_44_an_edit_pings_nobody_and_keeps_its_links() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        sent = await adapter.send(in_room(build, "so"))
        await adapter.revise(sent, in_room(build, f"so <@{ana.id}> <!channel> @here @ana https://example.com."))
        (edit,) = peer.edits
        assert edit.pings == ()
        assert "<https://example.com>." in edit.text


async def test_a_piece_that_somebody_deleted_is_not_said_again_and_the_others_are_revised() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        sent = await adapter.send(in_room(build, WORDS))
        await peer.delete(build, sent.messages[1].rsplit(":", 1)[1])
        revised = await adapter.revise(sent, in_room(build, WORDS.replace("w", "v")))
        assert (revised.delivery, revised.why, revised.messages) == (
            Delivery.GONE,
            "message_not_found",
            sent.messages,
        )
        assert [piece[0] for piece in peer.stands(build)] == ["v"] * 3


@pytest.mark.parametrize(
    ("code", "delivery"),
    [
        ("msg_too_long", Delivery.FAILED),
        ("cant_update_message", Delivery.FAILED),
        ("edit_window_closed", Delivery.FAILED),
        ("not_in_channel", Delivery.GONE),
        ("restricted_action", Delivery.NOT_ALLOWED),
    ],
)
async def test_a_refusal_ends_the_revision_and_is_told(code: str, delivery: Delivery) -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        sent = await adapter.send(in_room(build, "half"))
        peer.refuse("chat.update", code)
        revised = await adapter.revise(sent, in_room(build, "whole"))
        assert (revised.delivery, revised.why, revised.messages) == (delivery, code, sent.messages)
        assert peer.stands(build) == ["half"]


async def test_the_peer_refuses_what_slack_refuses() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        theirs = message_key(room_of(build), (await peer.say(build, ana, "mine")))
        refused = await adapter.revise(Sent(Delivery.SENT, (theirs,)), in_room(build, "ours"))
        assert refused.why == "cant_update_message"
        gone = await adapter.revise(Sent(Delivery.SENT, (key_of(build, "1.0"),)), in_room(build, "ours"))  # type: ignore[arg-type]  # a key by hand
        assert (gone.delivery, gone.why) == (Delivery.GONE, "message_not_found")


async def test_edits_have_one_pace_for_all_channels_and_a_429_is_obeyed() -> None:
    clockwork = Clockwork()
    async with SlackPeer() as peer, running(peer, pace_s=1.0, sleep=clockwork.sleep) as (adapter, _):
        rooms = [peer.channel(name) for name in ("one", "two", "three")]
        stands = [await adapter.send(in_room(room, "half")) for room in rooms]
        clockwork.slept.clear()
        peer.refuse("chat.update", "ratelimited", retry_after_s=7)
        for room, sent in zip(rooms, stands, strict=True):
            assert (await adapter.revise(sent, in_room(room, "whole"))).delivery is Delivery.SENT
        assert [round(pause) for pause in clockwork.slept[:1]] == [7]
        assert len(clockwork.slept) >= 3
        assert all(pause > 1.0 for pause in clockwork.slept), "an edit waits longer than a post"
        assert 60 / (PACE_S * EDIT_PACES) <= EDITS_A_MINUTE
        assert 60 / REVISE_S < EDITS_A_MINUTE


async def test_case_40_an_answer_that_grew_too_long_becomes_its_beginning_and_a_file() -> None:
    text = " ".join(f"w{number:05}" for number in range(7000))
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        sent = await adapter.send(replace(in_room(build, "w00000"), growing=True))
        sent = await adapter.revise(sent, replace(in_room(build, text[:45_000]), growing=True))
        assert len(sent.messages) == MOST_PIECES
        sent = await adapter.revise(sent, in_room(build, text))
        assert len(sent.messages) == 1
        (stands,) = peer.stands(build)
        assert "The whole answer (48,999 characters) is in the file answer.md." in stands
        assert [post.text for post in peer.posts if post.file] == [text]


async def test_a_status_stands_where_the_answer_will_and_a_refusal_is_not_asked_for_again() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        ts = await peer.mention(build, ana, "explain")
        await peer.say(peer.dm(ana), ana, "explain")
        in_channel, in_dm = (said for said in bot.heard() if said.addressed)
        for said in (in_channel, in_dm):
            await adapter.typing(said.conversation, said.message)
        (call,) = peer.calls("assistant.threads.setStatus")
        assert (call.arguments["thread_ts"], call.answer) == (ts, "ok")
        peer.refuse("assistant.threads.setStatus", "not_allowed_token_type")
        for _ in range(3):
            await adapter.typing(in_channel.conversation, in_channel.message)
        assert len(peer.calls("assistant.threads.setStatus")) == 2
