"""Files of DiscordChatExporter: the same keys, people and words as live, in the order of time, whatever is broken."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.discord import exported, normalise
from adapters.discord.export import DiscordExport
from adapters.history import Counted
from adapters.messages import Incoming
from memory_core.errors import BadInput
from memory_core.ids import RoomKind
from memory_core.messages import Voice
from tests.adapters.discord_support import Objects
from tests.data import discord_export as data
from tests.peers.discord import world
from tests.peers.discord.world import Attached, Channel, Message
from tests.scale import scale


def said(path: Path, title: str, counted: Counted | None = None) -> list[Incoming]:
    export = DiscordExport.open(path)
    (room,) = (room for room in export.rooms if room.title == title)
    return list(export.messages(room, counted))


# -- as live ---------------------------------------------------------------------------------------------------------


def as_exported(message: Message) -> data.Message:
    """A message of the local Discord as the exporter would write it."""
    payload = message.payload({})
    return {
        "id": str(payload["id"]),
        "type": {0: "Default", 19: "Reply"}[message.type],
        "timestamp": str(payload["timestamp"]),
        "content": message.text,
        "author": {
            "id": str(message.author.id),
            "name": message.author.name,
            "nickname": message.author.display or message.author.name,
            "isBot": message.author.bot,
        },
        "attachments": [{"fileName": file.name, "fileSizeBytes": len(file.body)} for file in message.files],
        "stickers": [{"name": name} for name in message.stickers],
        "embeds": [{"title": str(embed["title"])} for embed in message.embeds],
        "reference": {"messageId": str(message.reply_to.id)} if message.reply_to else None,
    }


@pytest.mark.parametrize("thread", [False, True])
def test_an_exported_message_is_the_live_one(thread: bool) -> None:
    objects = Objects()
    plans = Channel(world.TEXT, "plans")
    channel = Channel(world.PUBLIC_THREAD, "retry", parent=plans) if thread else plans
    guild = objects.guild("Acme", plans, *([channel] if thread else []))
    ana, ci = objects.user("ana", guild, display="Ana Lima"), objects.user("ci", guild, bot=True)
    first = Message(channel, ana, "we use Redis", files=(Attached("plan.pdf", b"x" * 12, ""),), stickers=("wave",))
    header = {
        "guild": {"id": str(guild.id), "name": "Acme"},
        "channel": {
            "id": str(channel.id),
            "type": "GuildPublicThread" if thread else "GuildTextChat",
            "categoryId": str(plans.id) if thread else "1",
            "category": "plans" if thread else "Text channels",
            "name": channel.name,
            "topic": None,
        },
    }
    place = exported.place_of(header)
    assert place is not None
    for message in (
        first,
        Message(channel, ana, "yes", type=19, reply_to=first),
        Message(channel, ci, "", embeds=({"title": "Build passed", "type": "rich"},)),
    ):
        live = normalise.posted(objects.message(message), objects.channel(channel), objects.own)
        past = exported.normalise(as_exported(message), *place)
        assert live is not None
        assert past is not None
        for field in ("event", "message", "conversation", "sent_at", "text", "reply_to", "attachments"):
            assert getattr(past, field) == getattr(live, field), field
        assert (past.author.key, past.author.voice) == (live.author.key, live.author.voice)
        assert past.author.name == live.author.name
        assert (past.room.key, past.room.title, past.room.server_id) == (
            live.room.key,
            live.room.title,
            live.room.server_id,
        )


# -- what a folder holds ---------------------------------------------------------------------------------------------


def test_rooms_threads_and_people_are_those_of_the_raw_files(tmp_path: Path) -> None:
    folder = data.server(tmp_path / "export")
    raw = [json.loads(file.read_text("utf-8")) for file in folder.glob("*.json")]
    export = DiscordExport.open(folder)
    assert [room.title for room in export.rooms] == ["#build", "#ideas", "#ops"]
    assert [room.kind for room in export.rooms] == [RoomKind.CHANNEL] * 3
    assert export.skipped == ["Acme - Private - Ana [820000000000000006].json (a DM: Ana)"]
    counted = Counted()
    messages = said(folder, "#build", counted)
    of_build = [one for one in raw if data.BUILD in (one["channel"]["id"], one["channel"]["categoryId"])]
    spoken = [message for one in of_build for message in one["messages"] if message["type"] in ("Default", "Reply")]
    assert sorted(str(one.message).rpartition(":")[2] for one in messages) == sorted(one["id"] for one in spoken)
    assert counted.notices == sum(len(one["messages"]) for one in of_build) - len(spoken)
    assert [one.sent_at for one in messages] == sorted(datetime.fromisoformat(one["timestamp"]) for one in spoken)
    assert {one.author.key.native for one in messages} == {one["author"]["id"] for one in spoken}
    assert {one.conversation.thread for one in messages} == {"", data.RETRY}
    assert not any(one.addressed for one in messages)


def test_files_stickers_embeds_forwards_and_the_deleted_are_told(tmp_path: Path) -> None:
    messages = said(data.build().write(tmp_path), "#build")
    assert [one.name for message in messages for one in message.attachments] == ["plan.pdf", "notes.txt", "party"]
    (bot,) = (one for one in messages if one.author.voice is Voice.BOT)
    assert bot.text == "Build 1041\npassed"
    assert messages[-1].text == "> the office moves in May"
    (gone,) = {one.author.name for one in messages if one.author.key.native == data.GONE}
    assert gone == f"Deleted User {data.GONE}"
    (answer,) = (one for one in messages if one.reply_to)
    assert str(answer.reply_to).rpartition(":")[2] == str(messages[1].message).rpartition(":")[2]


def test_markup_that_was_not_told_in_words_is(tmp_path: Path) -> None:
    chat = data.Chat(data.OPS, "ops")
    chat.say("2024-02-05T12:00:00", data.BEN, f"<@{data.ANA}> look <:tick:4> <@9>", mentions=[data.user(data.ANA)])
    (message,) = said(chat.write(tmp_path), "#ops")
    assert message.text == "@Ana look :tick: @someone"


def test_partitions_doubles_and_any_order_come_out_in_the_order_of_time(tmp_path: Path) -> None:
    whole = data.build()
    first, second = data.build(), data.build()
    first.messages, second.messages = whole.messages[6:][::-1], whole.messages[:8]
    first.write(tmp_path / "parts", "b.json")
    second.write(tmp_path / "parts", "a.json")
    assert said(tmp_path / "parts", "#build") == said(whole.write(tmp_path / "whole"), "#build")


# -- what is broken --------------------------------------------------------------------------------------------------


def test_malformed_messages_are_counted_and_named(tmp_path: Path) -> None:
    chat = data.ops()
    good = chat.messages[0]
    assert isinstance(good, dict)
    without = {key: value for key, value in good.items() if key != "timestamp"}
    chat.messages += [7, None, {}, {**good, "id": "x"}, without, {**good, "author": None}]
    chat.messages.append({**good, "id": "9" * 20, "content": "later", "timestamp": "2024-02-05T13:00:00+01:00"})
    chat.messages.append({**good, "id": "12", "content": ["x"], "embeds": 3, "attachments": {}})
    counted = Counted()
    assert len(said(chat.write(tmp_path), "#ops", counted)) == 1
    assert (counted.malformed, counted.notices) == (7, 1)
    assert [where.rpartition(": ")[2] for where in counted.where] == ["no object"] * 2 + ["no id"] * 2 + ["no time"]
    assert "message 2" in counted.where[0]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"guild": {}, "messages": [{"id": "1"}', "is missing"),
        (b'{"guild": {}, "messages": [{"id": "1"} {"id": "2"}]}', "is missing"),
        (b'{"guild": {}, "messages": [{"id": "1}]}', "Unterminated string"),
        (b'{"guild": "\xff"}', "no UTF-8"),
        (b'{"guild": 1} 2', "something follows"),
        (b'{"guild": ' + b"[" * 100_000, "nested"),
        (b"", r"is no JSON object \(it is empty\); give a Slack export"),
        (b"[]", r"is no JSON object \(it begins with '\['\); give a Slack export"),
        (b'{"messages": [], "channel": {"id": "1"}}', "no export of DiscordChatExporter"),
    ],
)
def test_a_file_that_is_none_is_refused_with_the_reason(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(BadInput, match=why):
        DiscordExport.open(tmp_path / "x.json")


def test_a_file_of_something_else_is_refused_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "DMs.json").write_text("{}")
    with pytest.raises(BadInput, match="no export of DiscordChatExporter"):
        DiscordExport.open(tmp_path / "DMs.json")


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = data.build().write(tmp_path)
    export = DiscordExport.open(path)
    path.write_bytes(path.read_bytes()[7:])
    with pytest.raises(BadInput, match="was changed"):
        list(export.messages(export.rooms[0]))


def test_a_big_file_needs_a_fraction_of_its_size(tmp_path: Path) -> None:
    """200 MB in the long run; the file's own text is never in memory as a whole."""
    chat, messages = data.Chat(data.OPS, "ops"), scale(160_000)
    chat.say("2024-02-05T12:00:00", data.BEN, "x" * 200)
    with (tmp_path / "big.json").open("w", encoding="utf-8") as out:
        head, _, tail = json.dumps(chat.content(), indent=2).partition('"messages": [')
        out.write(head + '"messages": [')
        body = tail[: tail.index("\n  ],")]
        first = chat.messages[0]
        assert isinstance(first, dict)
        for number in range(messages):
            at = datetime.fromtimestamp(1_700_000_000 + number, UTC).isoformat()
            one = body.replace(str(first["id"]), str(10**17 + number)).replace(str(first["timestamp"]), at)
            out.write(("," if number else "") + one)
        out.write("]}")
    size = (tmp_path / "big.json").stat().st_size
    tracemalloc.start()
    export = DiscordExport.open(tmp_path / "big.json")
    count = sum(1 for _ in export.messages(export.rooms[0]))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"\n{count} messages, {size / 1e6:.0f} MB: at most {most / 1e6:.1f} MB")  # noqa: T201
    assert count == messages
    assert most < 12e6 + messages * 300


@pytest.mark.parametrize(
    "at", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+00:00", "1969-12-31T23:59:59+00:00"]
)
def test_a_time_that_no_message_has_is_a_fault_of_the_line(tmp_path: Path, at: str) -> None:
    """From the last year of the calendar on no silence and no day can be counted."""
    chat = data.build()
    messages = len(said(chat.write(tmp_path / "sound"), "#build"))
    chat.say("2024-02-07T10:00:00", data.ANA, "out of time")
    assert isinstance(chat.messages[-1], dict)
    chat.messages[-1] |= {"timestamp": at}
    counted = Counted()
    assert len(said(chat.write(tmp_path / "broken"), "#build", counted)) == messages
    assert [where.rpartition(": ")[2] for where in counted.where] == ["no time"]


def test_an_id_with_leading_zeros_is_read_again(tmp_path: Path) -> None:
    chat = data.Chat(data.BUILD, "build")
    chat.say("2024-02-07T10:00:00", data.ANA, "hello")
    assert isinstance(chat.messages[0], dict)
    chat.messages[0] |= {"id": "007"}
    assert [message.text for message in said(chat.write(tmp_path), "#build")] == ["hello"]
