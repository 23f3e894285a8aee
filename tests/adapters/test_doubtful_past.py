"""What a file of the past leaves open is asked, or left out and named: accounts and rooms of one name."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from adapters.discord.export import DiscordExport
from adapters.history import History
from adapters.slack.history import SlackHistory
from memory_core.errors import BadInput
from memory_core.messages import Voice
from tests.adapters.test_addressed_past import said
from tests.data import discord_export as data
from tests.data.discord_export import Json

BOTS = ("830000000000000007", "830000000000000008")
BEN = "830000000000000009"


def _slack(path: Path, called: dict[str, bool], rooms: dict[str, str]) -> Path:
    """Accounts that are all called Memory, which are bots or not; rooms by id."""
    users = [
        {"id": id_, "team_id": "T1", "name": id_.lower(), "is_bot": bot, "profile": {"display_name": "Memory"}}
        for id_, bot in called.items()
    ]
    lines = [
        {"type": "message", "ts": f"170712360{at}.000100", "user": id_, "text": f"Decision: {id_} decides"}
        for at, id_ in enumerate(called)
    ]
    with zipfile.ZipFile(path, "w") as archive:
        channels = [{"id": id_, "name": name} for id_, name in rooms.items() if id_.startswith("C")]
        groups = [{"id": id_, "name": name} for id_, name in rooms.items() if id_.startswith("G")]
        archive.writestr("channels.json", json.dumps(channels))
        archive.writestr("groups.json", json.dumps(groups))
        archive.writestr("users.json", json.dumps(users))
        for name in sorted(set(rooms.values())):
            archive.writestr(f"{name}/2024-02-05.json", json.dumps(lines))
    return path


def _discord(folder: Path, called: dict[str, bool]) -> Path:
    chat = data.Chat(data.BUILD, "build")
    for id_, bot in called.items():
        author: Json = {"id": id_, "name": "memory", "nickname": "Memory", "isBot": bot}
        chat.say("2024-02-05T09:00:00", data.CI, f"Decision: {id_} decides", author=author)
    chat.write(folder)
    return folder


def _opened(kind: str, tmp_path: Path, called: dict[str, bool], bot: str = "Memory") -> History:
    if kind == "slack":
        return SlackHistory.open(_slack(tmp_path / "acme.zip", called, {"C1": "build"}), bot)
    return DiscordExport.open(_discord(tmp_path / "acme", called), bot)


@pytest.mark.parametrize("kind", ["slack", "discord"])
def test_a_person_of_the_bots_name_is_not_the_bot(kind: str, tmp_path: Path) -> None:
    """Else nothing that they said would be a source."""
    voices = {
        one.author.key.native: one.author.voice for one in said(_opened(kind, tmp_path, {BEN: False, BOTS[0]: True}))
    }
    assert voices == {BEN: Voice.PERSON, BOTS[0]: Voice.SELF}


@pytest.mark.parametrize("kind", ["slack", "discord"])
@pytest.mark.parametrize("bots", [True, False])
def test_of_several_accounts_of_the_name_the_id_is_asked_for(kind: str, bots: bool, tmp_path: Path) -> None:
    called = dict.fromkeys(BOTS, bots)
    with pytest.raises(BadInput, match=rf"give the bot's id: {BOTS[0]}, {BOTS[1]}\."):
        _opened(kind, tmp_path, called)
    voices = [one.author.voice for one in said(_opened(kind, tmp_path, called, BOTS[1]))]
    assert voices.count(Voice.SELF) == 1


@pytest.mark.parametrize("other", ["C2", "G2"])
def test_rooms_of_one_name_in_an_export_of_slacks_are_left_out_and_named(other: str, tmp_path: Path) -> None:
    """They share one folder: nothing tells whose messages it holds, and the one may be private."""
    path = _slack(tmp_path / "acme.zip", {BEN: False}, {"C1": "build", other: "build", "C3": "ops"})
    history = SlackHistory.open(path)
    assert [room.title for room in history.rooms] == ["#ops"]
    assert history.skipped == (f"#build (several rooms have that name: C1, {other})",)


def test_of_two_versions_of_a_message_the_one_that_was_edited_last_counts(tmp_path: Path) -> None:
    """An earlier export of the same channel lies in the folder, and is read first."""
    for name, text, edited in (("a", "at 14:00", None), ("b", "at 15:00", "2024-02-05T10:00:00+00:00")):
        chat = data.Chat(data.BUILD, "build")
        chat.say("2024-02-05T09:00:00", data.ANA, f"we deploy {text}", timestampEdited=edited)
        chat.write(tmp_path / name)
    assert [one.text for one in said(DiscordExport.open(tmp_path))] == ["we deploy at 15:00"]
