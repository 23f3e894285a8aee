"""The adapter against the local Discord, over real sockets: starting, hearing, coming back."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from adapters.base import Adapter, Taken
from adapters.discord import files
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.files import TEXT_CHARACTERS
from adapters.messages import Happening, Incoming
from memory_core.errors import RememError
from memory_core.ids import PersonKey, RoomKey, RoomKind
from memory_core.messages import Voice
from tests.adapters.discord_support import Heard, running
from tests.peers.discord import DiscordPeer
from tests.peers.discord.gateway import MESSAGE_CONTENT
from tests.peers.discord.world import (
    FORUM,
    MANAGE_CHANNELS,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    SEND,
    VIEW,
    Attached,
)

pytestmark = pytest.mark.asyncio


async def _refused(peer: DiscordPeer, token: str | None = None) -> str:
    adapter = DiscordAdapter(token or peer.token, peer.proxy_url, connector=peer.connector)
    with pytest.raises(RememError) as refused:
        await adapter.run(Heard())
    return str(refused.value)


async def test_an_unknown_token_is_refused_without_naming_it() -> None:
    async with DiscordPeer() as peer:
        told = await _refused(peer, "AAAA.BBBB.CCCC-secret")
        assert "DISCORD_TOKEN is refused" in told
        assert "Reset Token" in told
        assert "secret" not in told
        assert "secret" not in repr(DiscordAdapter("CCCC-secret"))


async def test_case_10_the_missing_intent_is_named_before_anything_is_read() -> None:
    async with DiscordPeer() as peer:
        peer.add_guild("Acme")
        peer.privileged_intents = 0
        told = await _refused(peer)
        assert "MESSAGE CONTENT INTENT" in told
        assert "https://discord.com/developers/applications" in told
        assert peer.gateway.identified == 0


async def test_it_says_that_it_is_connected_once_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "adapters")
    async with DiscordPeer() as peer:
        guild, heard = peer.add_guild("Acme", ["build"]), Heard()
        ana = peer.add_user("ana", guild)
        await _refused(peer, "AAAA.BBBB.CCCC-secret")
        assert "connected" not in caplog.text
        async with running(peer, heard):
            await peer.message(guild.channel("build"), ana, "hi")
            await heard.said("hi")  # what comes before it is ready waits
            assert "Discord is connected (servers: 1)" in caplog.text


async def test_case_10_an_intent_that_only_the_gateway_refuses_is_named_too() -> None:
    async with DiscordPeer() as peer:
        peer.privileged_intents, peer.shown_intents = 0, MESSAGE_CONTENT
        assert "MESSAGE CONTENT INTENT" in await _refused(peer)


async def test_an_unreachable_discord_is_one_sentence() -> None:
    adapter = DiscordAdapter("a.b.c", "http://127.0.0.1:9")
    with pytest.raises(RememError, match="REMEM_DISCORD_PROXY"):
        await adapter.run(Heard())


async def test_it_is_an_adapter_and_calls_nothing_but_discord() -> None:
    heard = Heard()
    async with DiscordPeer() as peer, running(peer, heard) as made:
        adapter: Adapter = made
        assert (adapter.platform, adapter.piece_characters) == ("discord", 2000)
        assert peer.refused_hosts == ()
        assert [command["name"] for command in peer.commands] == ["remem"]
        options = {option["name"]: option for option in peer.commands[0]["options"]}
        assert {choice["value"] for choice in options["action"]["choices"]} >= {"status", "purpose", "help"}
        assert not any(option.get("required") for option in options.values())


async def test_what_is_said_is_heard_with_its_room() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("general", "build"))
        ana = peer.add_user("ana", guild, display="Ana")
        async with running(peer, heard):
            build = guild.channel("build")
            await peer.message(build, ana, f"{peer.bot.mention} which cache?")
            asked = await heard.said("which cache?")
            assert asked.addressed
            assert asked.room.key == asked.conversation.room == f"discord:{build.id}"
            assert (asked.room.kind, asked.room.title, asked.room.server) == (RoomKind.CHANNEL, "#build", "Acme")
            await peer.message(peer.dm(ana), ana, "and mine?")
            private = await heard.said("and mine?")
            assert (private.room.kind, private.addressed, private.author.admin) == (RoomKind.DIRECT, True, True)
            assert private.author.key == asked.author.key


async def test_case_31_a_group_dm_is_asked_for_and_never_taken_for_a_direct_one() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        ana, ben = peer.add_user("ana"), peer.add_user("ben")
        group = peer.group_dm(ana, ben, name="trip")
        async with running(peer, heard):
            await peer.message(group, ana, "where to?")
            said = await heard.said("where to?")
            assert (said.room.kind, said.addressed) == (RoomKind.GROUP_DM, False)
            peer.channels.pop(group.id)
            dead = peer.group_dm(ana, ben)
            peer.channels.pop(dead.id)
            dead.recipients = [ana, peer.bot]
            await peer.message(dead, ana, "and this?")
            unknown = await heard.said("and this?")
            assert (unknown.room.kind, unknown.addressed) == (RoomKind.UNKNOWN, False)


async def test_threads_keep_their_conversations_and_share_the_room() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        forum = peer.add_channel(guild, "ideas", FORUM)
        build = guild.channel("build")
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            one = await peer.add_thread(build, "one", PUBLIC_THREAD, ana)
            old = await peer.add_thread(build, "old", PUBLIC_THREAD, ana, announce=False)
            post = await peer.add_thread(forum, "post", PUBLIC_THREAD, ana)
            private = await peer.add_thread(build, "private", PRIVATE_THREAD, ana, members=(peer.bot,))
            kinds = {}
            for thread in (one, old, post, private):
                await peer.message(thread, ana, f"in {thread.name}")
                said = await heard.said(f"in {thread.name}")
                kinds[thread.name] = (said.room.kind, said.room.key, said.conversation.thread, said.addressed)
            room = f"discord:{build.id}"
            assert kinds == {
                "one": (RoomKind.PUBLIC_THREAD, room, str(one.id), False),
                "old": (RoomKind.PUBLIC_THREAD, room, str(old.id), False),
                "post": (RoomKind.FORUM_POST, f"discord:{forum.id}", str(post.id), False),
                "private": (RoomKind.PRIVATE_THREAD, f"discord:{private.id}", "", True),
            }
            await peer.message(one, ana, f"{peer.bot.mention} come")
            await peer.message(one, ana, "and stay")
            assert (await heard.said("and stay")).addressed
            await peer.message(old, ana, f"{peer.bot.mention} here too")
            await peer.message(old, ana, "still here")
            assert (await heard.said("still here")).addressed


async def test_an_invitation_to_a_private_thread_and_its_end() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            private = await peer.add_thread(guild.channels[0], "plan", PRIVATE_THREAD, ana, members=(peer.bot,))
            joined = await heard.wait(lambda one: one.happening is Happening.JOINED)
            assert (joined.room.key, joined.room.kind) == (f"discord:{private.id}", RoomKind.PRIVATE_THREAD)
            public = await peer.add_thread(guild.channels[0], "open", PUBLIC_THREAD, ana)
            await peer.message(public, ana, f"{peer.bot.mention} come")
            await peer.leave_thread(public)
            await peer.message(public, ana, "gone?")
            assert not (await heard.said("gone?")).addressed
            await peer.leave_thread(private)
            left = await heard.wait(lambda one: one.happening is Happening.LEFT)
            assert left.room.key == joined.room.key
            assert sum(one.happening is Happening.JOINED for one in heard.incoming) == 1


async def test_edits_and_deletes_reach_messages_that_nobody_remembers() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        build = guild.channel("build")
        before = await peer.message(build, ana, "deploy at 14:00")
        first, second = await peer.message(build, ana, "one"), await peer.message(build, ana, "two")
        direct = await peer.message(peer.dm(ana), ana, "my secret plan")
        async with running(peer, heard):
            await peer.edit(before, "deploy at 15:00")
            edit = await heard.wait(lambda one: one.happening is Happening.EDIT)
            assert (edit.message, edit.text) == (f"discord:{build.id}:{before.id}", "deploy at 15:00")
            await peer.unfurl(first, {"type": "link", "title": "x"})
            await peer.delete(direct)
            gone = await heard.wait(lambda one: one.happening is Happening.DELETE)
            assert (gone.message, gone.room.kind) == (f"discord:{peer.dm(ana).id}:{direct.id}", RoomKind.DIRECT)
            await peer.delete(first, second)
            await heard.wait(lambda one: one.happening is Happening.DELETE, 3)
            keys = [one.message for one in heard.incoming if one.happening is Happening.DELETE][1:]
            assert keys == [f"discord:{build.id}:{first.id}", f"discord:{build.id}:{second.id}"]
            assert sum(one.happening is Happening.EDIT for one in heard.incoming) == 1


async def test_case_11_a_long_paste_is_read_up_to_the_cap_and_marked() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        paste = Attached("message.txt", "é".encode() * 1_500_000, "text/plain; charset=utf-8")
        short = Attached("note.txt", b"we use Redis", "text/plain")
        lost = Attached("lost.txt", b"x", "text/plain")
        async with running(peer, heard):
            message = await peer.message(guild.channel("build"), ana, "", files=(paste, short, lost))
            peer.files.pop(lost.path)
            said = await heard.wait(lambda one: one.event == f"discord:{guild.channel('build').id}:{message.id}")
            long, read, unread = said.attachments
            assert (long.name, long.size_bytes, long.cut) == ("message.txt", 3_000_000, True)
            assert long.text == "é" * TEXT_CHARACTERS
            assert (read.text, read.cut) == ("we use Redis", False)
            assert (unread.name, unread.text) == ("lost.txt", "")


async def test_an_edit_keeps_what_its_file_says() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            note = Attached("note.txt", b"we use Redis", "text/plain")
            message = await peer.message(guild.channels[0], ana, "seee", files=(note,))
            await peer.edit(message, "see")
            edit = await heard.wait(lambda one: one.happening is Happening.EDIT)
            assert (edit.text, edit.attachments[0].text) == ("see", "we use Redis")


async def test_order_is_kept_in_a_room_while_a_file_is_read() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            await peer.message(guild.channel("build"), ana, "first", files=(Attached("a.txt", b"a", "text/plain"),))
            await peer.message(guild.channel("build"), ana, "second")
            await heard.said("second")
            assert [one.text for one in heard.incoming] == ["first", "second"]


async def test_files_that_do_not_come_hold_their_room_up_once_not_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "READ_S", 0.5)
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            stuck = [Attached(f"{number}.txt", b"x", "text/plain", stuck=True) for number in range(10)]
            ready = Attached("ready.txt", b"first come", "text/plain")
            began = time.monotonic()
            await peer.message(guild.channel("build"), ana, "see", files=(ready, *stuck))
            await peer.message(guild.channel("build"), ana, "next")
            await heard.said("next")
            assert time.monotonic() - began < 4
            told = (await heard.said("see")).attachments
            assert [(file.name, file.text) for file in told[:2]] == [("ready.txt", "first come"), ("0.txt", "")]
            assert len(told) == 11


async def test_the_same_event_twice_has_the_same_key() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            message = await peer.message(guild.channel("build"), ana, "hi")
            await peer.twice(message)
            again = await heard.wait(lambda one: one.text == "hi", 2)
            assert heard.incoming[0].event == again.event


async def test_a_dropped_gateway_resumes_and_nothing_is_missed() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            with peer.gateway_down():
                await peer.message(guild.channel("build"), ana, "missed one")
                await peer.message(peer.dm(ana), ana, "missed two")
            await peer.resumed()
            await heard.said("missed one")
            await heard.said("missed two")
            await peer.gateway.ask_to_reconnect()
            await peer.resumed(2)
            await peer.message(guild.channel("build"), ana, "still there?")
            await heard.said("still there?")
            assert peer.gateway.identified == 1


async def test_a_lost_session_identifies_anew_and_is_no_second_join() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            peer.gateway.forget_sessions()
            peer.drop_gateway()
            await peer.connected()
            assert peer.gateway.identified == 2
            await peer.message(guild.channel("build"), ana, "after")
            await heard.said("after")
            assert [one.happening for one in heard.incoming] == [Happening.MESSAGE]


async def test_joining_a_server_is_told_once_with_a_place_to_greet_and_leaving_closes_every_room() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        home = peer.add_guild("Home", ("lobby",))
        guild = peer.add_guild("Acme", ("general", "build", "talk"), bot_is_member=False)
        guild.channel("general").deny(guild.everyone, SEND)
        peer.add_channel(guild, "ideas", FORUM)
        ana = peer.add_user("ana", home)
        async with running(peer, heard):
            await peer.message(home.channel("lobby"), ana, "hi")
            await heard.said("hi")
            await peer.join_guild(guild)
            joined = await heard.wait(lambda one: one.happening is Happening.JOINED_SERVER)
            assert joined.room.key == f"discord:{guild.channel('build').id}"
            assert joined.author.voice is Voice.PERSON
            assert str(joined.event).startswith(f"discord:server:{guild.id}@")
            await peer.kick(guild)
            await heard.wait(lambda one: one.happening is Happening.LEFT, 4)
            left = {one.room.key for one in heard.incoming if one.happening is Happening.LEFT}
            assert left == {f"discord:{channel.id}" for channel in guild.channels}


async def test_an_invitation_before_the_start_is_greeted_and_an_old_one_is_not() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        old, new = peer.add_guild("Old"), peer.add_guild("New")
        new.joined_at = datetime.now(UTC)
        async with running(peer, heard):
            joined = await heard.wait(lambda one: one.happening is Happening.JOINED_SERVER)
            assert joined.room.server == "New"
            ana = peer.add_user("ana", old)
            await peer.message(old.channel("general"), ana, "hi")
            await heard.said("hi")
            assert len(heard.incoming) == 2


async def test_rooms_are_renamed_and_removed() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build", "old"))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            private = await peer.add_thread(guild.channel("build"), "plan", PRIVATE_THREAD, ana, members=(peer.bot,))
            public = await peer.add_thread(guild.channel("build"), "public", PUBLIC_THREAD, ana)
            await peer.rename(guild.channel("build"), "forge")
            await peer.rename(public, "not a room")
            await peer.rename(private, "new plan")
            await heard.wait(lambda one: one.happening is Happening.RENAMED, 2)
            titles = [one.room.title for one in heard.incoming if one.happening is Happening.RENAMED]
            assert titles == ["#forge", "#new plan"]
            old = guild.channel("old")
            await peer.remove(public)
            await peer.remove(old)
            await peer.remove(private)
            await heard.wait(lambda one: one.happening is Happening.LEFT, 2)
            left = [one.room.key for one in heard.incoming if one.happening is Happening.LEFT]
            assert left == [f"discord:{old.id}", f"discord:{private.id}"]


async def test_who_is_a_room_admin() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        lead = peer.add_user("lead", guild, roles=(peer.add_role(guild, "lead", MANAGE_CHANNELS),))
        ana, stranger = peer.add_user("ana", guild), peer.add_user("stranger")
        build = guild.channel("build")
        async with running(peer, Heard()) as adapter:
            thread = await peer.add_thread(build, "t", PUBLIC_THREAD, ana, announce=False)
            direct = peer.dm(ana)

            async def is_admin(place: int, person: int) -> bool:
                return await adapter.is_admin(RoomKey(f"discord:{place}"), PersonKey(f"discord:{person}"))

            assert await is_admin(build.id, lead.id)
            assert await is_admin(thread.id, lead.id)
            assert await is_admin(build.id, guild.owner.id)
            assert not await is_admin(build.id, ana.id)
            assert not await is_admin(build.id, stranger.id)
            assert not await is_admin(123, lead.id)
            assert await is_admin(direct.id, ana.id)
            assert not await is_admin(direct.id, lead.id)


async def test_what_the_bot_may_not_see_is_not_heard() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build", "board"))
        guild.channel("board").deny(peer.bot, VIEW)
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            await peer.message(guild.channel("board"), ana, f"{peer.bot.mention} psst")
            await peer.message(guild.channel("build"), ana, "hi")
            await heard.said("hi")
            assert len(heard.incoming) == 1


async def test_an_event_that_fails_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def then(incoming: Incoming) -> Taken:
        if incoming.text == "bad":
            raise RememError("The ledger is full.")
        return Taken(durable=True)

    heard = Heard(then)
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard):
            await peer.message(guild.channel("build"), ana, "bad")
            await peer.message(guild.channel("build"), ana, "good")
            await heard.said("good")
    assert "The ledger is full." in caplog.text


async def test_closed_it_hears_and_says_nothing() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        async with running(peer, heard) as adapter:
            await adapter.close()
            await adapter.close()
        assert not await adapter.is_admin(RoomKey("discord:1"), PersonKey("discord:1"))
