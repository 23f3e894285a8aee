"""What the Slack adapter says: where it stands, in which pieces, at which pace, and what a refusal means."""

from __future__ import annotations

import asyncio

import pytest
from slack_sdk.errors import SlackApiError

from adapters.messages import Button, Delivery, Outgoing
from adapters.slack.refusals import DELIVERIES, error_of, wait_of
from memory_core.ids import Conversation
from tests.adapters.slack_bench import Clockwork, answer, in_room, key_of, person, room_of, running
from tests.peers.slack import SlackPeer

pytestmark = pytest.mark.asyncio


async def test_case_36_an_answer_stays_in_its_thread_however_late() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        older, newer = await peer.say(build, ana, "T0"), await peer.say(build, ana, "T1")
        await peer.mention(build, ana, "about T1", thread=newer)
        await peer.mention(build, ana, "about T0", thread=older)
        about_newer, about_older = (said for said in bot.heard() if said.addressed)
        await adapter.send(answer(about_older, "for T0"))
        await adapter.send(answer(about_newer, "for T1"))
        assert [(post.text, post.thread_ts) for post in await peer.sent(2)] == [("for T0", older), ("for T1", newer)]


async def test_case_36_a_lost_thread_is_not_answered_at_the_root() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        root = await peer.say(build, ana, "a topic")
        await peer.mention(build, ana, "hi", thread=root)
        await peer.delete(build, root)
        sent = await adapter.send(answer(next(said for said in bot.heard() if said.addressed)))
        assert (sent.delivery, sent.why) == (Delivery.GONE, "thread_not_found")
        assert not peer.posts


async def test_case_37_an_answer_under_a_notice_goes_to_the_top_level_once() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        notice = await peer.notice(build, "channel_name", ana, "renamed")
        sent = await adapter.send(in_room(build, "one\n\n" + "word " * 1500, thread=notice))
        assert sent.delivery is Delivery.SENT
        assert [post.thread_ts for post in peer.posts] == [""] * len(sent.messages)
        assert [call.answer for call in peer.calls("chat.postMessage")][:2] == ["cannot_reply_to_message", "ok"]
        assert sent.conversation == Conversation(room_of(build))


@pytest.mark.parametrize("length", [2999, 3001, 4001, 13_300])
async def test_case_40_every_length_arrives_in_order_and_uncut(length: int) -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        words = " ".join(f"w{number:05}" for number in range(length // 7 + 1))[:length].rstrip()
        sent = await adapter.send(in_room(build, words))
        posts = await peer.sent(len(sent.messages))
        assert " ".join(post.text for post in posts).split() == words.split()
        assert not any(post.cut for post in posts)
        assert [call.answer for call in peer.calls("chat.postMessage")] == ["ok"] * len(posts)


async def test_case_40_a_very_long_answer_comes_as_a_file() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        root = await peer.mention(build, ana, "tell me all")
        words = " ".join(f"w{number:05}" for number in range(41_000 // 7))
        sent = await adapter.send(answer(bot.heard()[0], words))
        head, file = await peer.sent(2)
        assert (file.file, file.text, file.thread_ts) == ("answer.md", words, root)
        assert "answer.md" in head.text
        assert "w00000" in head.text
        assert sent.messages == (key_of(build, head.ts),)


async def test_case_40_without_the_scope_for_files_it_comes_in_pieces_after_all() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        peer.api.scopes.discard("files:write")
        build = peer.channel("build")
        words = " ".join(f"w{number:05}" for number in range(41_000 // 7))
        sent = await adapter.send(in_room(build, words))
        told = " ".join(post.text for post in peer.posts)
        assert sent.delivery is Delivery.SENT
        assert [word for word in told.split() if word.startswith("w0")] == words.split()


async def test_case_3_a_fenced_answer_arrives_in_valid_pieces() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        code = "".join(f"line {number:04} <&>\n" for number in range(300))
        await adapter.send(in_room(build, f"```python\n{code}```"))
        assert all(post.text.count("```") == 2 and not post.cut for post in peer.posts)
        assert "".join(post.text.strip("`")[1:] for post in peer.posts) == code.replace("&", "&amp;").replace(
            "<", "&lt;"
        ).replace(">", "&gt;")


async def test_case_42_and_44_an_answer_is_shown_as_typed_and_pings_nobody() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        typed = f"if a < b && c > d\n> quoted\nask <@{ana.id}> <!channel> @here\nhttps://example.com/?x=1&y=2"
        await adapter.send(in_room(build, typed))
        (post,) = peer.posts
        assert post.pings == ()
        assert post.text.split("\n")[1] == "> quoted"
        address = "https://example.com/?x=1&amp;y=2"
        shown = post.text.replace(f"<{address}>", address)
        shown = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        assert shown == typed
        (call,) = peer.calls("chat.postMessage")
        assert call.arguments["unfurl_links"] is False
        assert "link_names" not in call.arguments
        assert "parse" not in call.arguments


async def test_case_45_a_limited_channel_waits_as_told_and_the_others_do_not() -> None:
    clock = Clockwork()
    async with SlackPeer() as peer, running(peer, sleep=clock.sleep) as (adapter, _):
        build, ops = peer.channel("build"), peer.channel("ops")
        peer.refuse("chat.postMessage", "ratelimited", retry_after_s=60)
        sent = await adapter.send(in_room(build, "waits"))
        assert sent.delivery is Delivery.SENT
        assert [round(waited) for waited in clock.slept] == [60]
        await adapter.send(in_room(ops, "does not"))
        assert len(clock.slept) == 1
        assert [post.text for post in peer.posts] == ["waits", "does not"]


async def test_case_45_a_limit_that_does_not_end_is_given_up() -> None:
    clock = Clockwork()
    async with SlackPeer() as peer, running(peer, sleep=clock.sleep) as (adapter, _):
        build = peer.channel("build")
        peer.refuse("chat.postMessage", "ratelimited", retry_after_s=5, times=50)
        sent = await adapter.send(in_room(build, "never"))
        assert (sent.delivery, sent.why) == (Delivery.FAILED, "ratelimited")
        assert len(peer.calls("chat.postMessage")) == 3
        peer.api.faults.clear()
        peer.refuse("chat.postMessage", "ratelimited", retry_after_s=3600)
        assert (await adapter.send(in_room(build, "too long"))).delivery is Delivery.FAILED
        assert max(clock.slept) < 120


async def test_one_channel_does_not_hold_up_another() -> None:
    waiting, release = asyncio.Event(), asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        await release.wait()

    async with SlackPeer() as peer, running(peer, sleep=sleep) as (adapter, _):
        build, ops = peer.channel("build"), peer.channel("ops")
        peer.refuse("chat.postMessage", "ratelimited", retry_after_s=30)
        slow = asyncio.create_task(adapter.send(in_room(build, "slow")))
        await waiting.wait()
        await adapter.send(in_room(ops, "quick"))
        assert [post.text for post in peer.posts] == ["quick"]
        release.set()
        assert (await slow).delivery is Delivery.SENT


async def test_messages_in_one_channel_are_a_second_apart() -> None:
    clock = Clockwork()
    async with SlackPeer() as peer, running(peer, sleep=clock.sleep, pace_s=1.0) as (adapter, _):
        build = peer.channel("build")
        await adapter.send(in_room(build, "word " * 2000))
        assert len(peer.posts) == 3
        assert [0.5 < waited <= 1 for waited in clock.slept] == [True, True]


@pytest.mark.parametrize(
    ("error", "delivery"),
    [
        ("not_in_channel", Delivery.GONE),
        ("channel_not_found", Delivery.GONE),
        ("is_archived", Delivery.GONE),
        ("missing_scope", Delivery.NOT_ALLOWED),
        ("restricted_action_read_only_channel", Delivery.NOT_ALLOWED),
        ("something_new", Delivery.FAILED),
    ],
)
async def test_a_refusal_is_told_and_not_tried_again(error: str, delivery: Delivery) -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        peer.refuse("chat.postMessage", error)
        sent = await adapter.send(in_room(build, "hi"))
        assert (sent.delivery, sent.why) == (delivery, error)
        assert len(peer.calls("chat.postMessage")) == 1


async def test_the_peer_itself_refuses_what_slack_refuses() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        away = peer.channel("away", bot=False)
        hidden = peer.channel("hidden", bot=False, private=True)
        closed = peer.channel("closed")
        closed.archived = True
        told = [(await adapter.send(in_room(channel, "hi"))).why for channel in (away, hidden, closed)]
        assert told == ["not_in_channel", "channel_not_found", "is_archived"]


@pytest.mark.parametrize(("error", "status"), [("internal_error", 200), ("service_unavailable", 503), ("", 503)])
async def test_a_passing_fault_is_tried_again(error: str, status: int) -> None:
    clock = Clockwork()
    async with SlackPeer() as peer, running(peer, sleep=clock.sleep) as (adapter, _):
        peer.refuse("chat.postMessage", error, times=2, status=status)
        assert (await adapter.send(in_room(peer.channel("build"), "hi"))).delivery is Delivery.SENT
        assert len(peer.posts) == 1


async def test_private_answers_use_the_response_url_five_times_then_an_ephemeral_message() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        await peer.command(build, ana, "status")
        asked = bot.heard()[0]
        for number in range(7):
            assert (await adapter.send(answer(asked, f"{number}", private=True))).delivery is Delivery.SENT
        posts = await peer.sent(7, to=ana)
        assert [post.text for post in posts] == [str(number) for number in range(7)]
        assert [post.via for post in posts] == ["response"] * 5 + ["ephemeral"] * 2
        assert {call.answer for call in peer.calls("response_url")} == {"ok"}


async def test_a_dead_response_url_gives_way_to_an_ephemeral_message() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        await peer.command(peer.channel("build", members=[ana]), ana)
        peer.api.expire()
        await adapter.send(answer(bot.heard()[0], "late", private=True))
        assert [(post.via, post.to) for post in peer.posts] == [("ephemeral", ana.id)]


async def test_a_public_answer_where_the_bot_is_not_reaches_who_asked() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        await peer.command(peer.channel("away", members=[ana], bot=False), ana)
        sent = await adapter.send(answer(bot.heard()[0], "invite me"))
        assert sent.delivery is Delivery.SENT
        assert [(post.text, post.to) for post in peer.posts] == [("invite me", ana.id)]


async def test_a_private_answer_without_a_way_is_a_failure_not_a_post() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        place = Conversation(room_of(peer.channel("build")))
        sent = await adapter.send(Outgoing(place, "secret", private=True))
        assert sent.delivery is Delivery.FAILED
        assert not peer.posts


async def test_what_is_for_one_person_goes_to_their_dm() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        sent = await adapter.send(Outgoing(Conversation(room_of(build)), "your export", person=person(ana)))
        (post,) = peer.posts
        assert post.channel == peer.dm(ana).id
        assert sent.messages == (key_of(peer.dm(ana), post.ts),)


async def test_blank_text_is_not_sent() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        assert (await adapter.send(in_room(peer.channel("build"), " \n"))).delivery is Delivery.FAILED
        assert not peer.calls("chat.postMessage")


async def test_buttons_stand_under_the_last_piece() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        build = peer.channel("build")
        text = "word " * 900
        await adapter.send(Outgoing(Conversation(room_of(build)), text, buttons=(Button("a", "A"), Button("b", "B"))))
        assert [len(post.buttons) for post in peer.posts] == [0, 2]


async def test_who_is_an_admin() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        boss, ana, bo = peer.user("boss", admin=True), peer.user("ana"), peer.user("bo")
        guest = peer.user("guest", team="T2", admin=True)
        build = peer.channel("build", members=[boss, ana, bo, guest], creator=ana)
        told = [await adapter.is_admin(room_of(build), person(user)) for user in (boss, ana, bo, guest)]
        assert told == [True, True, False, False]
        dm = room_of(peer.dm(bo))
        assert [await adapter.is_admin(dm, person(user)) for user in (bo, boss)] == [True, False]


async def test_the_table_of_refusals_is_complete() -> None:
    """Every code that the peer's chat methods refuse with has a meaning of its own."""
    codes = {"channel_not_found", "is_archived", "not_in_channel", "thread_not_found", "user_not_in_channel"}
    codes |= {"invalid_auth", "not_authed", "missing_scope", "user_not_found"}
    assert codes <= set(DELIVERIES)
    bare = SlackApiError("odd", {"ok": False, "error": "odd"})  # type: ignore[no-untyped-call]
    assert (error_of(bare), wait_of(bare)) == ("odd", None)
