"""What was said to the bot in a file of the past is marked so, as live: Slack's exports and DiscordChatExporter's."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from adapters.discord.export import DiscordExport
from adapters.history import History
from adapters.messages import Incoming
from adapters.slack.export import Export
from adapters.slack.history import SlackHistory
from memory_core.errors import BadInput
from memory_core.messages import Voice
from tests.data import discord_export as data
from tests.data.discord_export import Json

BOT, OTHER = "830000000000000007", "830000000000000008"


def _bot(name: str = "remem", id_: str = BOT, *, bot: bool = True) -> Json:
    return {"id": id_, "name": name.lower(), "discriminator": "0000", "nickname": name, "isBot": bot, "roles": []}


def discord_file(folder: Path, name: str = "remem", *, bot: bool = True) -> Path:
    """#build with a thread: a question to the bot, its answer, an answer to that, talk of people, another bot."""
    own = _bot(name, bot=bot)
    chat = data.Chat(data.BUILD, "build")
    chat.say("2024-02-05T09:00:00", data.ANA, "good morning")
    chat.say("2024-02-05T09:01:00", data.BEN, f"@{name} what do we use for sessions?", mentions=[own])
    told = chat.say("2024-02-05T09:02:00", data.CI, "I do not know that yet.", author=own)
    chat.say("2024-02-05T09:03:00", data.BEN, "and for queues?", "Reply", reference={"messageId": told})
    chat.say("2024-02-05T09:04:00", data.ANA, f"<@{BOT}>, who renews it?", mentions=[own])
    chat.say("2024-02-05T09:05:00", data.ANA, "what did ci say?", mentions=[_bot("ci-bot", OTHER)])
    chat.say("2024-02-05T09:06:00", data.ANA, "@rememberer what is this?")
    chat.write(folder)
    thread = data.Chat(data.RETRY, "retry", "GuildPublicThread", (data.BUILD, "build"))
    thread.say("2024-02-05T10:00:00", data.ANA, "how often do we retry?")
    thread.say("2024-02-05T10:01:00", data.BEN, f"let us ask @{name}", mentions=[own])
    thread.say("2024-02-05T10:02:00", data.ANA, "is it three times?")
    thread.write(folder)
    return folder


def slack_file(path: Path, name: str = "remem", *, bot: bool = True) -> Path:
    """The same as a Slack export."""
    users = [
        {"id": "U1", "team_id": "T1", "name": "ana", "profile": {"display_name": "ana"}},
        {"id": "U2", "team_id": "T1", "name": "ben", "profile": {"display_name": "ben"}},
        {"id": "U7", "team_id": "T1", "name": name, "is_bot": bot, "profile": {"bot_id": "B7" if bot else ""}},
        {"id": "U8", "team_id": "T1", "name": "ci-bot", "is_bot": True, "profile": {"bot_id": "B8"}},
    ]
    day = [
        {"ts": "1707123600.000100", "user": "U1", "text": "good morning"},
        {"ts": "1707123660.000200", "user": "U2", "text": "<@U7> what do we use for sessions?"},
        {
            "ts": "1707123720.000300",
            "user": "U7",
            "text": "I do not know that yet.",
            "bot_id": "B7",
            "thread_ts": "1707123660.000200",
            "parent_user_id": "U2",
        },
        {
            "ts": "1707123780.000400",
            "user": "U2",
            "text": "and for queues?",
            "thread_ts": "1707123660.000200",
            "parent_user_id": "U2",
        },
        {"ts": "1707123840.000500", "user": "U1", "text": "<@U7>, who renews it?"},
        {"ts": "1707123900.000600", "user": "U1", "text": "what did <@U8> say?"},
        {"ts": "1707123960.000700", "user": "U1", "text": "@rememberer what is this?"},
        {"ts": "1707127200.000800", "user": "U1", "text": "how often do we retry?"},
        {
            "ts": "1707127260.000900",
            "user": "U2",
            "text": "let us ask <@U7>",
            "thread_ts": "1707127200.000800",
            "parent_user_id": "U1",
        },
        {
            "ts": "1707127320.001000",
            "user": "U1",
            "text": "is it three times?",
            "thread_ts": "1707127200.000800",
            "parent_user_id": "U1",
        },
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "build"}]))
        archive.writestr("users.json", json.dumps(users))
        archive.writestr("build/2024-02-05.json", json.dumps([{"type": "message", **one} for one in day]))
    return path


def said(history: History) -> list[Incoming]:
    """What was said in #build."""
    (room,) = history.rooms
    return list(history.messages(room))


def _opened(kind: str, folder: Path, name: str = "remem", bot: str = "", *, is_bot: bool = True) -> History:
    if kind == "slack":
        return SlackHistory.open(slack_file(folder / "acme.zip", name, bot=is_bot), bot)
    return DiscordExport.open(discord_file(folder, name, bot=is_bot), bot)


def _addressed(messages: list[Incoming], name: str = "remem") -> list[str]:
    """What was said to the bot; Slack's mentions name the id too."""
    return [one.text.replace(name, "remem").replace(" (U7)", "") for one in messages if one.addressed]


ADDRESSED = [
    "what do we use for sessions?",
    "and for queues?",
    "who renews it?",
    "let us ask @remem",
    "is it three times?",
]
BOTH = pytest.mark.parametrize("kind", ["slack", "discord"])


@BOTH
def test_mentions_answers_and_called_threads_are_said_to_the_bot(kind: str, tmp_path: Path) -> None:
    messages = said(_opened(kind, tmp_path))
    assert _addressed(messages) == ADDRESSED
    assert [one.text for one in messages if one.author.voice is Voice.SELF] == ["I do not know that yet."]
    assert len(messages) == 10
    again = said(_opened(kind, tmp_path))
    assert again == messages


@BOTH
@pytest.mark.parametrize("bot", ["Memory Bot", "@memory bot", "id"])
def test_the_operator_says_which_account_it_is(kind: str, bot: str, tmp_path: Path) -> None:
    wanted = {"slack": "U7", "discord": BOT}[kind] if bot == "id" else bot
    messages = said(_opened(kind, tmp_path, "Memory Bot", wanted, is_bot=False))
    assert _addressed(messages, "Memory Bot") == ADDRESSED


@BOTH
@pytest.mark.parametrize(("name", "is_bot"), [("Memory Bot", True), ("remem", False)])
def test_nobody_is_taken_for_the_bot_by_chance(kind: str, name: str, is_bot: bool, tmp_path: Path) -> None:
    """A bot of another name, or a person who is called as we are."""
    messages = said(_opened(kind, tmp_path, name, is_bot=is_bot))
    assert not any(one.addressed or one.author.voice is Voice.SELF for one in messages)
    assert len(messages) == 10


@BOTH
def test_an_account_that_is_not_there_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"'zoltan'.*name or id"):
        _opened(kind, tmp_path, bot="zoltan")


def test_a_replay_knows_no_bot(tmp_path: Path) -> None:
    """It takes every room as addressed by itself, and answers nothing."""
    messages = Export.open(slack_file(tmp_path / "acme.zip")).messages()
    assert not any(one.addressed or one.author.voice is Voice.SELF for one in messages)
