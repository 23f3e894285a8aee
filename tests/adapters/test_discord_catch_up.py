"""Case 12 within the adapter: what was said while nobody listened comes once, in order, through the normal way in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import discord
import pytest

from adapters.base import Behind, Taken
from adapters.discord import catch_up
from adapters.discord.adapter import DiscordAdapter
from adapters.messages import Happening, Incoming
from memory_core.errors import LedgerFailed
from memory_core.ids import MessageKey, RoomKey
from memory_core.messages import Voice
from tests.adapters.discord_support import Heard
from tests.peers.discord import DiscordPeer
from tests.peers.discord.rules import no_access
from tests.peers.discord.world import FORUM, PRIVATE_THREAD, PUBLIC_THREAD, READ_HISTORY, VIEW, Channel, Message

pytestmark = pytest.mark.asyncio


class Ledger:
    """What the bot knows of its rooms; `asked` counts how often it was asked, `caught_up` how often all was read."""

    def __init__(self, *rooms: Behind) -> None:
        self.rooms = rooms
        self.asked = 0
        self.done = asyncio.Event()
        self.broken = False

    async def __call__(self) -> Sequence[Behind]:
        self.asked += 1
        if self.broken:
            raise LedgerFailed("no space")
        return self.rooms

    async def caught_up(self) -> None:
        self.done.set()


def _behind(channel: Channel, newest: Mapping[str, Message] | None = None, since: datetime | None = None) -> Behind:
    room = RoomKey(f"discord:{channel.id}")
    keys = {thread: MessageKey(f"{room}:{one.id}") for thread, one in (newest or {}).items()}
    return Behind(room, keys, since)


@asynccontextmanager
async def _connected(
    peer: DiscordPeer, heard: Heard, ledger: Ledger, again_s: float = 60.0
) -> AsyncIterator[DiscordAdapter]:
    adapter = DiscordAdapter(
        peer.token,
        peer.proxy_url,
        connector=peer.connector,
        guild_ready_timeout_s=0.02,
        behind=ledger,
        again_s=again_s,
    )
    run = asyncio.create_task(adapter.run(heard, ledger.caught_up))
    try:
        await peer.connected()
        yield adapter
    finally:
        await adapter.close()
        await run


def _texts(heard: Heard, room: Channel | None = None) -> list[str]:
    """What was handed in, in order."""
    return [
        one.text
        for one in heard.incoming
        if one.happening is Happening.MESSAGE and (room is None or one.room.key == f"discord:{room.id}")
    ]


async def test_case_12_rooms_threads_and_dms_are_read_from_where_they_stood() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build", "ops", "quiet"))
        ana = peer.add_user("ana", guild)
        build, dm = guild.channel("build"), peer.dm(ana)
        thread = await peer.add_thread(build, "old", PUBLIC_THREAD, ana)
        known = [await peer.message(place, ana, "known") for place in (build, thread, dm)]
        await peer.message(guild.channel("ops"), ana, "not recorded")
        unknown = await peer.add_thread(build, "new", PUBLIC_THREAD, ana)
        for number in range(120):
            await peer.message(build, ana, f"b{number}")
        await peer.message(thread, ana, "t1")
        await peer.message(unknown, ana, f"{peer.bot.mention} u1")
        await peer.message(dm, ana, "d1")
        ledger = Ledger(
            _behind(build, {"": known[0], str(thread.id): known[1]}),
            _behind(dm, {"": known[2]}),
            _behind(guild.channel("quiet"), since=datetime.now(UTC) - timedelta(days=1)),
        )
        async with _connected(peer, heard, ledger):
            await ledger.done.wait()
            main = [one for one in heard.incoming if one.conversation.room == f"discord:{build.id}"]
            assert [one.text for one in main if not one.conversation.thread] == [
                f"b{number}" for number in range(120)
            ]
            assert sorted(one.text for one in main if one.conversation.thread) == ["t1", "u1"]
            assert _texts(heard, dm) == ["d1"]
            assert all(one.late for one in heard.incoming)
            assert {one.text for one in heard.incoming if one.addressed} == {"u1", "d1"}
            assert [call.path for call in peer.calls if str(guild.channel("quiet").id) in call.path] == [
                f"/channels/{guild.channel('quiet').id}/messages"
            ]
            await peer.message(build, ana, "live")
            assert not (await heard.said("live")).late


async def test_case_12_of_a_flood_the_newest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catch_up, "MOST", 150)
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        known = await peer.message(build, ana, "known")
        for number in range(400):
            await peer.message(build, ana, str(number))
        ledger = Ledger(_behind(build, {"": known}))
        async with _connected(peer, heard, ledger):
            await ledger.done.wait()
            assert _texts(heard) == [str(number) for number in range(250, 400)]
            assert len([call for call in peer.calls if call.method == "GET" and call.path.endswith("/messages")]) == 2


async def test_what_comes_live_meanwhile_follows_what_was_missed() -> None:
    async def slow(incoming: Incoming) -> Taken:
        if incoming.text == "missed":
            await peer.message(build, ana, "live")
            await peer.message(build, ana, "live too")
            for _ in range(50):
                await asyncio.sleep(0)
        return Taken(durable=True)

    heard = Heard(slow)
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        known = await peer.message(build, ana, "known")
        await peer.message(build, ana, "missed")
        await peer.message(build, ana, "missed too")
        ledger = Ledger(_behind(build, {"": known}))
        async with _connected(peer, heard, ledger):
            await heard.said("live too")
            assert _texts(heard) == ["missed", "missed too", "live", "live too"]


async def test_a_lost_session_is_caught_up_with_and_a_resumed_one_needs_none() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        known = await peer.message(build, ana, "known")
        ledger = Ledger(_behind(build, {"": known}))
        async with _connected(peer, heard, ledger):
            await ledger.done.wait()
            with peer.gateway_down():
                await peer.message(build, ana, "replayed")
            await peer.resumed()
            await heard.said("replayed")
            assert ledger.asked == 1
            with peer.gateway_down():
                peer.gateway.forget_sessions()
                await peer.message(build, ana, "lost")
            lost = await heard.said("lost")
            assert lost.late
            assert ledger.asked == 2


async def test_what_cannot_be_read_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build", "hidden", "mute", "broken"))
        ana = peer.add_user("ana", guild)
        rooms = [guild.channel(name) for name in ("build", "hidden", "mute", "broken")]
        known = [await peer.message(room, ana, "known") for room in rooms]
        for room in rooms:
            await peer.message(room, ana, f"missed in {room.name}")
        rooms[1].deny(guild.everyone, VIEW)
        rooms[2].deny(guild.everyone, READ_HISTORY)
        peer.refuse("GET", f"/channels/{rooms[3].id}/messages", no_access())
        gone = Channel(0, "gone", guild)
        ledger = Ledger(*(_behind(room, {"": one}) for room, one in zip(rooms, known, strict=True)), _behind(gone))
        async with _connected(peer, heard, ledger):
            await ledger.done.wait()
            assert _texts(heard) == ["missed in build"]
            for room in (rooms[0], rooms[2], rooms[3]):
                await peer.message(room, ana, f"live in {room.name}")
                await heard.said(f"live in {room.name}")
    assert "cannot be read" in caplog.text
    assert "Traceback" not in caplog.text


async def test_after_a_message_that_cannot_be_kept_the_room_is_read_no_further() -> None:
    async def full(incoming: Incoming) -> Taken:
        if incoming.text == "two":
            raise LedgerFailed("no space")
        return Taken(durable=True)

    heard = Heard(full)
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        known = await peer.message(build, ana, "known")
        for text in ("one", "two", "three"):
            await peer.message(build, ana, text)
        ledger = Ledger(_behind(build, {"": known}))
        async with _connected(peer, heard, ledger):
            await ledger.done.wait()
            assert _texts(heard) == ["one", "two"], "what comes after the hole would hide it"


class Full:
    """A bot that can keep nothing while it is `full`; what it kept moves what the ledger knows of the room."""

    def __init__(self, ledger: Ledger, channel: Channel) -> None:
        self.full = True
        self.kept: list[str] = []
        self._ledger = ledger
        self._channel = channel

    async def __call__(self, incoming: Incoming) -> Taken:
        """Keep it, or refuse."""
        if self.full:
            raise LedgerFailed("no space")
        assert incoming.message is not None
        person = incoming.author.voice is Voice.PERSON
        if person and not any(incoming.message == key for room in self._ledger.rooms for key in room.newest.values()):
            self.kept.append(incoming.text)
        self._ledger.rooms = (Behind(RoomKey(f"discord:{self._channel.id}"), {"": incoming.message}),)
        return Taken(durable=True)


async def test_what_a_full_disk_refused_is_read_again_by_itself_in_order_and_nothing_passes_it() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        ledger = Ledger(_behind(build, {"": await peer.message(build, ana, "known")}))
        full = Full(ledger, build)
        heard = Heard(full)
        async with _connected(peer, heard, ledger, again_s=0.01):
            await ledger.done.wait()
            ledger.done.clear()
            for text in ("one", f"{peer.bot.mention} two", "three"):
                await peer.message(build, ana, text)
            await heard.said("one")
            await peer.sent(lambda said: "I try again soon" in said.text)
            full.full = False
            async with asyncio.timeout(30):
                await ledger.done.wait()
            assert full.kept == ["one", "two", "three"]
            await peer.message(build, ana, "live")
            assert not (await heard.said("live")).late
            assert full.kept[-1] == "live"


async def test_a_hole_that_was_met_at_the_start_is_read_again_too() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        ledger = Ledger(_behind(build, {"": await peer.message(build, ana, "known")}))
        for text in ("one", "two"):
            await peer.message(build, ana, text)
        full = Full(ledger, build)
        heard = Heard(full)
        async with _connected(peer, heard, ledger, again_s=0.01):
            await ledger.done.wait()
            assert full.kept == []
            ledger.done.clear()
            full.full = False
            async with asyncio.timeout(30):
                await ledger.done.wait()
            assert full.kept == ["one", "two"]


async def test_a_ledger_that_cannot_be_asked_lets_live_messages_in() -> None:
    heard, ledger = Heard(), Ledger()
    ledger.broken = True
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with _connected(peer, heard, ledger):
            await peer.message(guild.channel("build"), ana, "hi")
            await heard.said("hi")


async def test_private_threads_are_rooms_of_their_own_and_a_forum_has_no_main_line() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        forum = peer.add_channel(guild, "ideas", FORUM)
        post = await peer.add_thread(forum, "an idea", PUBLIC_THREAD, ana)
        private = await peer.add_thread(guild.channel("build"), "secret", PRIVATE_THREAD, ana, members=[peer.bot])
        known = [await peer.message(place, ana, "known") for place in (guild.channel("build"), private, post)]
        for place in (private, post):
            await peer.message(place, ana, f"in {place.name}")
        ledger = Ledger(
            _behind(guild.channel("build"), {"": known[0]}),
            _behind(private, {"": known[1]}),
            _behind(forum, {str(post.id): known[2]}),
        )
        async with _connected(peer, heard, ledger):
            await ledger.done.wait()
            assert sorted((one.room.key, one.text) for one in heard.incoming) == sorted(
                [(f"discord:{private.id}", "in secret"), (f"discord:{forum.id}", "in an idea")]
            )


async def test_the_local_discord_refuses_what_discord_refuses() -> None:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build", "hidden"))
        guild.channel("hidden").deny(guild.everyone, VIEW)
        async with discord.Client(
            intents=discord.Intents.none(), proxy=peer.proxy_url, connector=peer.connector()
        ) as me:
            await me.login(peer.token)
            for channel, limit, status in (("build", 101, 400), ("build", 0, 400), ("hidden", 100, 403)):
                with pytest.raises(discord.HTTPException) as refused:
                    await me.http.logs_from(guild.channel(channel).id, limit)
                assert refused.value.status == status
