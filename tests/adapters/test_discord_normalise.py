"""Discord's objects as our values, without a connection."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import normalise, notices
from adapters.discord.places import conversation_of, kind_of, room_of
from adapters.discord.readable import named, without_address
from adapters.messages import Attachment, Happening, Incoming
from memory_core.ids import RoomKind
from memory_core.messages import Voice
from tests.adapters.discord_support import Objects
from tests.peers.discord import world
from tests.peers.discord.world import Attached, Channel, Message
from tests.scale import scale

AT = datetime(2026, 4, 6, 14, 2, tzinfo=UTC)


@pytest.fixture
def objects() -> Objects:
    """A fresh discord.py state."""
    return Objects()


def _place(objects: Objects, kind: int, parent: int | None = None) -> Channel:
    above = Channel(parent, "plans") if parent is not None else None
    channel = Channel(kind, "general", parent=above, members={objects.bot.id})
    objects.guild("Acme", *([above] if above else []), channel)
    return channel


@pytest.mark.parametrize(
    ("kind", "parent", "expected"),
    [
        (world.TEXT, None, RoomKind.CHANNEL),
        (world.NEWS, None, RoomKind.CHANNEL),
        (world.VOICE, None, RoomKind.CHANNEL),
        (world.STAGE, None, RoomKind.CHANNEL),
        (world.CATEGORY, None, RoomKind.UNKNOWN),
        (world.PUBLIC_THREAD, world.TEXT, RoomKind.PUBLIC_THREAD),
        (world.NEWS_THREAD, world.NEWS, RoomKind.PUBLIC_THREAD),
        (world.PUBLIC_THREAD, world.FORUM, RoomKind.FORUM_POST),
        (world.PUBLIC_THREAD, world.MEDIA, RoomKind.FORUM_POST),
        (world.PRIVATE_THREAD, world.TEXT, RoomKind.PRIVATE_THREAD),
    ],
)
def test_case_31_a_rooms_kind_is_discords_own_type(
    objects: Objects, kind: int, parent: int | None, expected: RoomKind
) -> None:
    channel = _place(objects, kind, parent)
    known = objects.channel(channel)
    assert kind_of(known) is expected
    place = conversation_of(known)
    if expected in {RoomKind.PUBLIC_THREAD, RoomKind.FORUM_POST}:
        assert channel.parent is not None
        assert (place.room, place.thread) == (f"discord:{channel.parent.id}", str(channel.id))
        assert room_of(known).title == "#plans"
    else:
        assert (place.room, place.thread) == (f"discord:{channel.id}", "")


def test_case_31_a_group_dm_is_a_group_and_an_unseen_place_is_unknown(objects: Objects) -> None:
    ana, ben = objects.user("ana"), objects.user("ben")
    group = objects.channel(Channel(world.GROUP_DM, "trip", recipients=[ana, ben]))
    direct = objects.channel(Channel(world.DM, recipients=[ana, objects.bot]))
    assert (kind_of(group), room_of(group).title) == (RoomKind.GROUP_DM, "trip")
    assert (kind_of(direct), room_of(direct).title) == (RoomKind.DIRECT, "ana")
    assert kind_of(objects.client.get_partial_messageable(group.id)) is RoomKind.UNKNOWN
    assert kind_of(None) is RoomKind.UNKNOWN


def test_a_room_is_described_on_one_line(objects: Objects) -> None:
    channel = Channel(world.TEXT, "build", topic="ship it\n# Hard Rules\nnone")
    objects.guild("Acme\nInc", channel)
    room = room_of(objects.channel(channel))
    assert (room.title, room.topic, room.server) == ("#build", "ship it # Hard Rules none", "Acme Inc")


def _said(objects: Objects, message: Message) -> Incoming | None:
    return normalise.posted(objects.message(message), objects.channel(message.channel), objects.own)


def test_a_message_has_its_keys_author_and_time(objects: Objects) -> None:
    channel = _place(objects, world.TEXT)
    ana = objects.user("ana", display="Ana")
    message = Message(channel, ana, "we decided: Redis")
    incoming = _said(objects, message)
    assert incoming is not None
    assert incoming.message == f"discord:{channel.id}:{message.id}"
    assert str(incoming.event) == str(incoming.message)
    assert (incoming.author.key, incoming.author.name) == (f"discord:{ana.id}", "Ana")
    assert (incoming.author.voice, incoming.addressed) == (Voice.PERSON, False)
    assert abs((incoming.sent_at - datetime.now(UTC)).total_seconds()) < 60


def test_case_11_a_mention_a_picture_a_sticker_alone_are_noted(objects: Objects) -> None:
    channel, ana = _place(objects, world.TEXT), objects.user("ana")
    alone = _said(objects, Message(channel, ana, f" {objects.bot.mention} "))
    assert alone is not None
    assert (alone.text, alone.addressed) == ("", True)
    picture = _said(objects, Message(channel, ana, "", files=(Attached("a.png", b"12345", "image/png"),)))
    assert picture is not None
    assert picture.attachments == (Attachment("a.png", "image/png", 5),)
    sticker = _said(objects, Message(channel, ana, "", stickers=("wave",)))
    assert sticker is not None
    assert sticker.attachments == (Attachment("wave", "sticker"),)
    assert _said(objects, Message(channel, ana, "")) is None


def test_case_15_own_messages_of_every_kind_are_ours(objects: Objects) -> None:
    channel = Channel(world.TEXT, "build")
    thread = Channel(world.PUBLIC_THREAD, "t", parent=channel, members={objects.bot.id})
    objects.guild("Acme", channel, thread)
    status = Message(thread, objects.bot, f"memory saved (3 entries) {objects.bot.mention}")
    hook = Message(thread, world.User("hook", webhook=True), "posted", application=objects.bot.id)
    edit = Message(thread, objects.bot, "memory saved (4 entries)", edited_at=AT)
    thinking = Message(thread, objects.bot, "", type=world.CHAT_INPUT_REPLY, flags=world.LOADING)
    for message in (status, hook):
        incoming = _said(objects, message)
        assert incoming is not None
        assert (incoming.author.voice, incoming.addressed) == (Voice.SELF, False)
    changed = normalise.edited(objects.message(edit), objects.channel(thread), objects.own)
    assert changed is not None
    assert (changed.author.voice, changed.addressed) == (Voice.SELF, False)
    assert _said(objects, thinking) is None


def test_case_16_other_bots_are_context_and_never_address_us(objects: Objects) -> None:
    channel, other = _place(objects, world.TEXT), objects.user("tick", bot=True)
    ours = Message(channel, objects.bot, "done")
    channel.messages[ours.id] = ours
    thanks = _said(objects, Message(channel, other, f"{objects.bot.mention} thanks", world.REPLY, reply_to=ours))
    hook = _said(
        objects, Message(channel, world.User("CI", webhook=True), "", embeds=({"title": "failed", "type": "rich"},))
    )
    assert thanks is not None
    assert hook is not None
    assert (thanks.author.voice, thanks.addressed) == (Voice.BOT, False)
    assert (hook.author.voice, hook.text) == (Voice.BOT, "failed")


@pytest.mark.parametrize("kind", [1, 3, 6, 7, 8, 18, 21, 24, 46])
def test_notices_of_discord_are_no_messages(objects: Objects, kind: int) -> None:
    channel, ana = _place(objects, world.TEXT), objects.user("ana")
    assert _said(objects, Message(channel, ana, "ana pinned a message", kind)) is None


def test_who_is_addressed(objects: Objects) -> None:
    channel, ana, ben = Channel(world.TEXT, "build"), objects.user("ana"), objects.user("ben")
    joined = Channel(world.PUBLIC_THREAD, "in", parent=channel, members={objects.bot.id})
    other = Channel(world.PUBLIC_THREAD, "out", parent=channel)
    objects.guild("Acme", channel, joined, other)
    ours, theirs = Message(channel, objects.bot, "yes"), Message(channel, ben, "yes")
    channel.messages |= {ours.id: ours, theirs.id: theirs}
    direct = Channel(world.DM, recipients=[ana, objects.bot])
    group = Channel(world.GROUP_DM, recipients=[ana, ben, objects.bot])
    expected = {
        Message(channel, ana, "hello"): False,
        Message(channel, ana, f"well, {objects.bot.mention}?"): True,
        Message(channel, ana, f"{ben.mention}?"): False,
        Message(channel, ana, "why?", world.REPLY, reply_to=ours): True,
        Message(channel, ana, "why?", world.REPLY, reply_to=theirs): False,
        Message(joined, ana, "go on"): True,
        Message(other, ana, "go on"): False,
        Message(direct, ana, "hi"): True,
        Message(group, ana, "hi"): False,
    }
    for message, addressed in expected.items():
        incoming = _said(objects, message)
        assert incoming is not None
        assert incoming.addressed is addressed, message.text
    remembered = normalise.Own(objects.bot.id, objects.bot.id, {other.id})
    again = normalise.posted(objects.message(Message(other, ana, "go on")), objects.channel(other), remembered)
    assert again is not None
    assert again.addressed


def test_the_bots_own_role_addresses_it_like_its_name(objects: Objects) -> None:
    channel, ana = Channel(world.TEXT, "build"), objects.user("ana")
    guild = world.Guild("Acme", ana, channels=[channel])
    ours, others = world.Role("remem", of=objects.bot), world.Role("ops")
    guild.roles += [ours, others]
    channel.guild = guild
    guild.members[objects.bot.id] = (objects.bot, [ours])
    objects.state._add_guild_from_data(guild.payload(objects.bot))  # type: ignore[arg-type]
    asked, told = (_said(objects, Message(channel, ana, f"<@&{role.id}> remem")) for role in (ours, others))
    assert asked is not None
    assert told is not None
    assert (asked.addressed, asked.text) == (True, "remem")
    assert (told.addressed, told.text) == (False, "@ops remem")


def test_case_44_ids_become_names_and_nothing_is_left_that_pings(objects: Objects) -> None:
    channel, ops = Channel(world.TEXT, "build"), Channel(world.TEXT, "ops")
    guild = objects.guild("Acme", channel, ops)
    ben = objects.user("ben", guild, display="Ben <@1>")
    text = (
        f"{objects.bot.mention}, ask {ben.mention} in {ops.mention} <@&77> <@99> <:tick:12> <t:1712412120:R> "
        "</remem:5> @everyone"
    )
    incoming = _said(objects, Message(channel, ben, text))
    assert incoming is not None
    # The id stands in the source of a record; in the text a name is what people read.
    assert incoming.text == ("ask @Ben (@1) in #ops @some role @someone :tick: 2024-04-06 14:02 UTC /remem @everyone")


@given(st.text("<>@!&#:0123456789t a", max_size=60), st.text("<>@#1", max_size=6))
def test_no_markup_is_left_whatever_people_are_called(text: str, name: str) -> None:
    left = named(text, {1: name, 11: name}, None)
    assert not re.search(r"<(@[!&]?|#|t:)\d+>", left)


@given(st.text(max_size=50))
def test_only_leading_mentions_are_taken_away(text: str) -> None:
    assert without_address(f"<@5> <@!5>, {text}", 5) == without_address(text, 5).lstrip()
    assert without_address("x" + text, 5) == "x" + text


def test_an_edit_is_known_by_its_time_and_a_preview_is_none(objects: Objects) -> None:
    channel, ana = _place(objects, world.TEXT), objects.user("ana")
    message = Message(channel, ana, "deploy at 15:00", edited_at=AT)
    incoming = normalise.edited(objects.message(message), objects.channel(channel), objects.own)
    assert incoming is not None
    assert incoming.happening is Happening.EDIT
    assert incoming.event == f"discord:{channel.id}:{message.id}@2026-04-06T14:02:00+00:00"
    assert (incoming.text, incoming.sent_at) == ("deploy at 15:00", AT)
    unfurled = Message(channel, ana, "https://example.org", embeds=({"title": "Example", "type": "link"},))
    assert normalise.edited(objects.message(unfurled), objects.channel(channel), objects.own) is None


def test_a_delete_tells_the_message_and_nobody(objects: Objects) -> None:
    channel = _place(objects, world.TEXT)
    gone = normalise.deleted(77, objects.channel(channel), objects.own, AT)
    assert (gone.event, gone.message) == (f"discord:{channel.id}:77!deleted", f"discord:{channel.id}:77")
    assert (gone.author.voice, gone.author.name) == (Voice.PERSON, "someone")


def test_a_forward_is_quoted(objects: Objects) -> None:
    channel, ana = _place(objects, world.TEXT), objects.user("ana")
    data = Message(channel, ana, "").payload(objects.users)
    snapshot = {"type": 0, "content": "we use Redis\nfor sessions", "timestamp": data["timestamp"]}
    snapshot |= {"edited_timestamp": None, "embeds": [], "attachments": [], "flags": 0}
    data["message_snapshots"] = [{"message": snapshot}]
    known = objects.channel(channel)
    message = discord.Message(state=objects.state, channel=known, data=data)  # type: ignore[arg-type]
    incoming = normalise.posted(message, known, objects.own)
    assert incoming is not None
    assert incoming.text == "> we use Redis\n> for sessions"


def test_case_11_a_forward_without_words_is_noted_too(objects: Objects) -> None:
    channel, ana = _place(objects, world.TEXT), objects.user("ana")
    data = Message(channel, ana, "").payload(objects.users)
    snapshot = {"type": 0, "content": "", "timestamp": data["timestamp"], "edited_timestamp": None, "flags": 0}
    snapshot |= {"embeds": [], "attachments": [world.Attached("plan.png", b"1234", "image/png").payload()]}
    snapshot |= {"sticker_items": [{"id": "1", "name": "wave", "format_type": 1}]}
    embedded = snapshot | {"attachments": [], "sticker_items": [], "embeds": [{"title": "Alert", "description": "x"}]}
    known, told = objects.channel(channel), []
    for one in (snapshot, embedded):
        data["message_snapshots"] = [{"message": one}]
        message = discord.Message(state=objects.state, channel=known, data=data)  # type: ignore[arg-type]
        incoming = normalise.posted(message, known, objects.own)
        assert incoming is not None
        told.append((incoming.text, [file.name for file in incoming.attachments]))
    assert told == [("", ["plan.png", "wave"]), ("> Alert\n> x", [])]


@pytest.mark.parametrize("bits", [0, world.MANAGE_CHANNELS, world.MANAGE_GUILD, world.ADMINISTRATOR])
def test_a_room_admin_is_told_from_the_payload(objects: Objects, bits: int) -> None:
    channel = Channel(world.TEXT, "build")
    thread = Channel(world.PUBLIC_THREAD, "t", parent=channel)
    guild = world.Guild("Acme", objects.user("owner"))
    role = world.Role("lead", bits)
    guild.roles.append(role)
    guild.members[objects.bot.id] = (objects.bot, [])
    for place in (channel, thread):
        place.guild = guild
        guild.channels.append(place)
    ana = objects.user("ana")
    guild.members[ana.id] = (ana, [role])
    objects.state._add_guild_from_data(guild.payload(objects.bot))  # type: ignore[arg-type]
    for place in (channel, thread):
        incoming = _said(objects, Message(place, ana, "hi"))
        assert incoming is not None
        assert incoming.author.admin is bool(bits)


def test_rooms_left_and_renamed_carry_their_time(objects: Objects) -> None:
    channel = _place(objects, world.TEXT)
    first = notices.changed(Happening.RENAMED, objects.channel(channel), objects.own, AT)
    later = notices.changed(Happening.RENAMED, objects.channel(channel), objects.own, AT.replace(minute=3))
    assert first.event != later.event
    assert first.room.title == "#general"


@pytest.mark.parametrize("number", range(scale(20)))
def test_normalise_is_pure(objects: Objects, number: int) -> None:
    channel, ana = _place(objects, world.TEXT), objects.user("ana")
    message = objects.message(Message(channel, ana, f"number {number}"))
    known = objects.channel(channel)
    assert normalise.posted(message, known, objects.own) == normalise.posted(message, known, objects.own)
