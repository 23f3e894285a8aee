"""The small export has what a reader of Slack exports must cope with."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from tests.data.make_export import make_export, read_workspace


def test_small_export_has_the_form_of_slacks_own(tmp_path: Path) -> None:
    with zipfile.ZipFile(make_export(tmp_path / "export.zip")) as archive:
        names = archive.namelist()
        channels = json.loads(archive.read("channels.json"))
        users = json.loads(archive.read("users.json"))
        days = [json.loads(archive.read(name)) for name in names if "/" in name]
    messages = [message for day in days for message in day]
    assert [channel["name"] for channel in channels] == ["general", "build", "设计"]
    assert {user["id"] for user in users} >= {message["user"] for message in messages if "user" in message}
    assert sum(user["deleted"] for user in users) == 1
    assert any(user["is_bot"] for user in users)
    assert 9 <= len(users) <= 12
    assert len(messages) >= 150
    assert len({name.split("/")[1] for name in names if "/" in name}) == 10
    subtypes = Counter(message.get("subtype") for message in messages)
    assert {"channel_join", "channel_topic", "bot_message", "file_share", "thread_broadcast"} <= set(subtypes)
    roots = {message["ts"] for message in messages if message.get("reply_count")}
    assert {message["thread_ts"] for message in messages if "thread_ts" in message} == roots
    assert any("edited" in message for message in messages)
    assert any("```" in message["text"] for message in messages)
    assert any("<https://" in message["text"] for message in messages)
    assert any("&gt; decision" in message["text"] for message in messages)


def test_small_export_is_the_same_every_time_and_its_timestamps_are_unique(tmp_path: Path) -> None:
    one, two = make_export(tmp_path / "1.zip"), make_export(tmp_path / "2.zip")
    assert one.read_bytes() == two.read_bytes()
    for channel in read_workspace().channels:
        stamps = [message["ts"] for day in channel.days.values() for message in day]
        assert len(stamps) == len(set(stamps))


def test_a_line_of_no_known_form_is_named() -> None:
    with pytest.raises(ValueError, match=r"Line 2 .*what is this"):
        read_workspace("== a | b | c\nwhat is this")
