"""Events from Slack's peer over real sockets, in both modes: what is delivered, once, durable before acknowledged."""

from __future__ import annotations

import pytest

from adapters.messages import Button, Happening, Outgoing
from adapters.slack.inbox import NOT_KEPT, NOT_YET
from memory_core.ids import Conversation, RoomKind
from memory_core.messages import Voice
from tests.adapters.slack_bench import MODES, Mode, answer, key_of, person, room_of, running
from tests.peers.slack import SlackPeer, SlackRefuses

pytestmark = pytest.mark.asyncio
both_modes = pytest.mark.parametrize("mode", MODES)


@both_modes
async def test_a_message_is_told_in_our_terms(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana], purpose="how we build")
        ts = await peer.say(build, ana, "we &amp; you")
        (said,) = bot.heard()
        assert (said.happening, said.event, said.message) == (Happening.MESSAGE, key_of(build, ts), key_of(build, ts))
        assert (said.room.kind, said.room.title, said.room.topic) == (RoomKind.CHANNEL, "#build", "how we build")
        assert (said.room.server, said.author.key, said.author.name) == ("Acme", person(ana), "ana")
        assert (said.text, said.addressed, said.conversation.thread) == ("we & you", False, "")
        assert peer.deliveries[-1].acknowledged


@both_modes
async def test_case_19_a_slow_bot_is_given_the_event_again_and_knows_it(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        ts = await peer.mention(build, ana, "hello?")
        first = peer.deliveries[0]
        for retry in (1, 2, 3):
            again = await peer.again(first, retry)
            assert again.acknowledged
        assert [said.event for said in bot.heard()] == [key_of(build, ts)]
        assert {said.event for said in bot.all} == {key_of(build, ts)}


@both_modes
async def test_case_19_no_acknowledgement_before_it_is_durable(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        await peer.say(build, ana, "warm")
        peer.acknowledge_s = 0.15
        bot.failing = 1
        await peer.say(build, ana, "kept at the second time")
        attempts = peer.deliveries[-1].attempts
        assert [attempt.outcome for attempt in attempts] == ["refused" if mode == "http" else "late", "acknowledged"]
        assert [said.text for said in bot.heard()] == ["warm", "kept at the second time"]


@both_modes
@pytest.mark.parametrize("first", ["app_mention", "message"])
async def test_case_22_one_mention_is_one_event_whichever_comes_first(mode: Mode, first: str) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        ts = await peer.mention(build, ana, "status?", first="message" if first == "message" else "app_mention")
        (said,) = bot.heard()
        assert (said.event, said.text, said.addressed) == (key_of(build, ts), "status?", True)
        same = [(one.event, one.addressed, one.room.kind, one.conversation) for one in bot.all]
        assert len(same) == 2
        assert same[0] == same[1]


async def test_case_24_an_edit_is_one_only_if_the_text_changed() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        dm = peer.dm(ana)
        ts = await peer.say(dm, ana, "helo")
        sent = await adapter.send(answer(bot.heard()[0], "see https://example.com"))
        await peer.edit(dm, ts, "hello")
        await peer.edit(dm, ts, "hello", unfurl=True)
        await peer.edit(dm, sent.messages[0].rsplit(":", 1)[1], "", unfurl=True)
        edits = [said for said in bot.all if said.happening is Happening.EDIT]
        assert [(said.message, said.text) for said in edits] == [(key_of(dm, ts), "hello")]
        assert edits[0].event.startswith(f"{key_of(dm, ts)}@")


async def test_case_25_a_deletion_names_its_message_and_not_its_text() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        dm = peer.dm(ana)
        ts = await peer.say(dm, ana, "my door code is 4417")
        await peer.delete(dm, ts)
        gone = bot.heard()[-1]
        assert (gone.happening, gone.event) == (Happening.DELETE, f"{key_of(dm, ts)}!deleted")
        assert (gone.message, gone.text, gone.author.key, gone.addressed) == (key_of(dm, ts), "", person(ana), False)


async def test_case_27_slack_has_no_commands_in_threads_words_serve() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        root = await peer.say(build, ana, "a thread")
        with pytest.raises(SlackRefuses):
            await peer.command(build, ana, thread=root)
        await peer.mention(build, ana, "remem", thread=root)
        await peer.say(build, ana, "!remem", thread=root)
        await peer.say(build, ana, "!remembrance day is Monday", thread=root)
        texts = [(said.text, said.conversation.thread) for said in bot.heard()[1:]]
        assert texts == [("remem", root), ("!remem", root), ("!remembrance day is Monday", root)]


@both_modes
async def test_case_28_a_command_where_the_bot_is_not(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (adapter, bot):
        ana, bo = peer.user("ana"), peer.user("bo")
        places = [
            (peer.channel("secret", members=[ana], private=True, bot=False), False),
            (peer.dm_between(ana, bo), False),
            (peer.channel("open", members=[ana], bot=False), False),
            (peer.dm(ana), True),
            (peer.channel("build", members=[ana]), True),
        ]
        for channel, member in places:
            delivered = await peer.command(channel, ana, "status")
            assert delivered.acknowledged
            assert delivered.attempts[0].took_s < 1
            told = bot.heard()[-1]
            assert (told.happening, told.words, told.member, told.room.key) == (
                Happening.COMMAND,
                "status",
                member,
                room_of(channel),
            )
            since = len(peer.posts)
            await adapter.send(answer(told, "only for you", private=True))
            (post,) = await peer.sent(to=ana, since=since)
            assert (post.text, post.via) == ("only for you", "response")
        assert bot.heard()[0].room.kind is RoomKind.UNKNOWN
        assert bot.heard()[3].room.kind is RoomKind.DIRECT
        assert not peer.calls("chat.postMessage")


@both_modes
async def test_case_29_a_command_is_acknowledged_before_anything_slow(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        with peer.hold("users.info"), peer.hold("conversations.info"):
            delivered = await peer.command(build, ana)
            assert delivered.acknowledged
            assert delivered.attempts[0].took_s < 2
            assert NOT_YET in str(delivered.attempts[0].answer)
            assert not bot.all
        (told,) = await bot.until(1, Happening.COMMAND)
        assert (told.author.name, told.room.kind) == ("ana", RoomKind.CHANNEL)


async def test_case_29_what_fails_after_the_acknowledgement_is_told_to_who_asked() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        bot.gate.clear()
        bot.failing = 1
        await peer.command(build, ana)
        bot.gate.set()
        (post,) = await peer.sent(to=ana)
        assert post.text == NOT_KEPT


async def test_a_failing_command_says_so_at_once() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        bot.failing = 1
        delivered = await peer.command(peer.channel("build", members=[ana]), ana)
        assert NOT_KEPT in str(delivered.attempts[0].answer)


@both_modes
async def test_a_button_comes_back_with_its_id_and_a_private_way_to_answer(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        buttons = (Button("purpose keep", "Keep it"), Button("purpose other", "Another"))
        await adapter.send(Outgoing(Conversation(room_of(build)), "What for?", buttons=buttons))
        (post,) = await peer.sent(channel=build)
        delivered = await peer.press(post, ana, 1)
        assert delivered.acknowledged
        told = bot.heard(Happening.BUTTON)[0]
        assert (told.words, told.author.key, told.message) == ("purpose other", person(ana), key_of(build, post.ts))
        await adapter.send(answer(told, "noted", private=True))
        assert [one.text for one in await peer.sent(to=ana)] == ["noted"]


@both_modes
async def test_case_31_a_group_dm_with_a_channels_id_is_a_group(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (adapter, bot):
        ana, bo = peer.user("ana"), peer.user("bo")
        group = peer.group_dm(ana, bo)
        assert group.id.startswith("C")
        for _ in range(2):
            await peer.mention(group, ana, "who are we?", first="app_mention")
        assert {said.room.kind for said in bot.all} == {RoomKind.GROUP_DM}
        await adapter.send(answer(bot.heard()[0]))
        (post,) = await peer.sent()
        assert (post.channel, post.thread_ts) == (group.id, "")
        assert len(peer.calls("conversations.info")) == 1


async def test_case_31_a_private_channel_whose_id_begins_with_d_is_no_dm() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        odd = peer.channel("odd", members=[ana], private=True, id="D0ODD")
        await peer.mention(odd, ana, "hi")
        assert {said.room.kind for said in bot.all} == {RoomKind.CHANNEL}


async def test_case_31_a_kind_that_cannot_be_learnt_waits_for_the_sibling_event() -> None:
    async with SlackPeer() as peer, running(peer, look_up_s=0.05) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        ts = peer.world.ts()
        mention = {"type": "app_mention", "user": ana.id, "text": "<@UREMEM> hi", "ts": ts, "channel": build.id}
        peer.acknowledge_s = 0.3
        with peer.hold("conversations.info"):
            assert not (await peer.event(build, mention, retries=0)).acknowledged
            assert not bot.all
            assert (await peer.event(build, mention, retries=0, first=3)).acknowledged
            assert [said.room.kind for said in bot.all] == [RoomKind.UNKNOWN]
            assert (await peer.event(build, {**mention, "type": "message", "channel_type": "channel"})).acknowledged
        assert bot.all[-1].room.kind is RoomKind.CHANNEL
        assert bot.all[-1].event == key_of(build, ts)


@both_modes
async def test_case_34_a_thread_knows_its_root_and_belongs_to_the_room(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (adapter, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        root = await peer.mention(build, ana, "list 5 tools")
        asked = bot.heard()[0]
        assert asked.conversation.thread == ""
        sent = await adapter.send(answer(asked, "hammer, saw"))
        assert sent.conversation is not None
        await peer.say(build, ana, "what did you list?", thread=root)
        again = bot.heard()[-1]
        assert again.conversation == sent.conversation
        assert (again.reply_to, again.addressed, again.room.kind) == (asked.message, True, RoomKind.PUBLIC_THREAD)
        assert again.room.key == asked.room.key
        echoed = [said for said in bot.all if said.author.voice is Voice.SELF]
        assert all(said.conversation == sent.conversation and said.message in sent.messages for said in echoed)


async def test_case_34_a_dm_is_one_conversation_and_its_thread_stays_a_dm() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        dm = peer.dm(ana)
        first = await peer.say(dm, ana, "list 5 tools")
        await peer.say(dm, ana, "and two more")
        assert {said.conversation.thread for said in bot.heard()} == {""}
        assert all(said.addressed and said.room.kind is RoomKind.DIRECT for said in bot.heard())
        await adapter.send(answer(bot.heard()[0]))
        (post,) = await peer.sent()
        assert post.thread_ts == ""
        await peer.say(dm, ana, "in the thread", thread=first)
        inside = bot.heard()[-1]
        assert (inside.room.kind, inside.conversation.thread, inside.reply_to) == (
            RoomKind.DIRECT,
            first,
            key_of(dm, first),
        )


async def test_a_thread_between_people_is_not_ours() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana, bo = peer.user("ana"), peer.user("bo")
        build = peer.channel("build", members=[ana, bo])
        root = await peer.say(build, ana, "lunch?")
        await peer.say(build, bo, "yes", thread=root)
        assert [said.addressed for said in bot.heard()] == [False, False]
        await peer.mention(build, bo, "where?", thread=root)
        await peer.say(build, ana, "good idea", thread=root)
        assert [said.addressed for said in bot.heard()[2:]] == [True, True]


async def test_case_37_system_messages_are_no_messages() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        for subtype in ("channel_name", "channel_join", "channel_topic", "channel_leave", "pinned_item"):
            await peer.notice(build, subtype, ana, "notice")
        await peer.rename(build, "build-2026")
        assert [said.happening for said in bot.heard()] == [Happening.RENAMED]
        assert bot.heard()[0].room.title == "#build-2026"
        assert all(delivered.acknowledged for delivered in peer.deliveries)


@both_modes
async def test_case_38_a_shared_channel_belongs_to_our_team_whoever_writes(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana, guest = peer.user("ana"), peer.user("guest", team="T2")
        shared = peer.channel("joint", members=[ana, guest], shared=True)
        await peer.say(shared, ana, "ours")
        await peer.mention(shared, guest, "theirs")
        ours, theirs = bot.heard()
        assert ours.room == theirs.room
        assert ours.room.key == f"slack:T1:{shared.id}"
        assert ours.room.shared
        assert (ours.author.key, theirs.author.key) == (person(ana), f"slack:T2:{guest.id}")


async def test_case_46_mentions_in_four_threads_are_all_delivered_in_order() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        roots = [await peer.say(build, ana, f"topic {number}") for number in range(4)]
        for number, root in enumerate(roots):
            await peer.mention(build, ana, f"question {number}", thread=root)
        asked = [said for said in bot.heard() if said.addressed]
        assert [(said.text, said.conversation.thread) for said in asked] == [
            (f"question {number}", root) for number, root in enumerate(roots)
        ]


async def test_case_47_another_apps_alert_is_read_and_marked() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Disk of db-1 is full"}}]
        root = await peer.app_post(build, "Alerts", blocks=blocks)
        await peer.mention(build, ana, "what is this?", thread=root)
        alert, asked = bot.heard()
        assert (alert.text, alert.author.name, alert.author.voice) == (
            "Disk of db-1 is full",
            "Alerts (app)",
            Voice.BOT,
        )
        assert not alert.addressed
        assert asked.reply_to == alert.message


async def test_our_own_posts_come_back_as_self() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, bot):
        ana = peer.user("ana")
        dm = peer.dm(ana)
        await peer.say(dm, ana, "hi")
        sent = await adapter.send(answer(bot.heard()[0]))
        await peer.world.until(lambda: len(peer.deliveries) == 2, 5, "the echo")
        own = bot.all[-1]
        assert (own.author.voice, own.message, own.addressed) == (Voice.SELF, sent.messages[0], False)


@both_modes
async def test_joins_and_removals_of_the_bot(mode: Mode) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode) as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana], bot=False, topic="a topic")
        await peer.command(build, ana)
        await peer.invite_bot(build, ana)
        await peer.command(build, ana)
        await peer.remove_bot(build)
        away, joined, there, left = bot.heard()
        assert (away.member, there.member) == (False, True)
        assert (joined.happening, joined.author.name, joined.room.title) == (Happening.JOINED, "ana", "#build")
        assert (joined.room.kind, joined.room.topic) == (RoomKind.CHANNEL, "a topic")
        assert left.happening is Happening.LEFT


async def test_files_are_told_by_name_type_and_size() -> None:
    async with SlackPeer() as peer, running(peer) as (_, bot):
        ana = peer.user("ana")
        file = {
            "name": "log.txt",
            "mimetype": "text/plain",
            "size": 9000,
            "preview": "line 1",
            "preview_is_truncated": True,
        }
        await peer.say(peer.dm(ana), ana, "", subtype="file_share", files=[file])
        (attached,) = bot.heard()[0].attachments
        assert (attached.name, attached.media_type, attached.size_bytes) == ("log.txt", "text/plain", 9000)
        assert (attached.text, attached.cut) == ("line 1", True)
