"""Makes a Slack export, as Slack writes it, of the made-up workspace in slack-small.txt.

The form follows Slack's own ("How to read Slack data exports", slack.com/help): `channels.json` and `users.json` at
the top of the ZIP, one folder a channel under its name, one `YYYY-MM-DD.json` a day, messages with `ts` (seconds and
microseconds as text, unique in a channel), threads by `thread_ts`, edits as `edited`, joins and so on as `subtype`.
The same text gives the same export, byte for byte.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TypeAlias

TEXT = Path(__file__).parent / "slack-small.txt"
TEAM = "T0REMEM01"
DELETED = {"oldtimer"}
BOTS = {"ci-bot", "zoltan"}

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"
Message: TypeAlias = dict[str, Json]

_CHANNEL = re.compile(r"== (?P<name>[^|]+?) \| (?P<topic>[^|]*?) \| (?P<purpose>.*)")
_DAY = re.compile(r"-- (\d{4}-\d\d-\d\d)")
_SAID = re.compile(
    r"(?P<reply>  )?(?P<at>\d\d:\d\d) (?P<who>[\w-]+)(?: \(edited (?P<edited>\d\d:\d\d)\))?"
    r"(?: \[(?P<subtype>join|leave|topic|bot|broadcast|file)(?: (?P<file>[^\]]+))?\])?:? ?(?P<text>.*)"
)
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(slots=True)
class Channel:
    """One channel: its days with their messages, in the order in which they were sent."""

    id: str
    name: str
    topic: str
    purpose: str
    days: dict[str, list[Message]] = field(default_factory=lambda: defaultdict(list))
    members: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Workspace:
    """The whole workspace; people get their ids in the order in which they speak."""

    channels: list[Channel] = field(default_factory=list)
    people: dict[str, str] = field(default_factory=dict)

    def person(self, name: str) -> str:
        """The id of a person or bot."""
        prefix = "B" if name in BOTS else "U"
        return self.people.setdefault(name, f"{prefix}0REMEM{len(self.people) + 1:02}")

    @property
    def messages(self) -> int:
        """How many messages there are."""
        return sum(len(day) for channel in self.channels for day in channel.days.values())


def make_export(path: Path) -> Path:
    """Write the export as a ZIP file to `path`, which is given back."""
    workspace = read_workspace()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "channels.json", [_channel_json(channel, workspace) for channel in workspace.channels])
        _put(archive, "users.json", [_user_json(name, id_) for name, id_ in workspace.people.items()])
        for channel in workspace.channels:
            for day, messages in channel.days.items():
                _put(archive, f"{channel.name}/{day}.json", list(messages))
    return path


def read_workspace(text: str | None = None) -> Workspace:
    """The workspace that the text tells. Raises ValueError, with the line, for a line that is none of its forms."""
    workspace = Workspace()
    lines = (TEXT.read_text(encoding="utf-8") if text is None else text).splitlines()
    names = [found["name"] for line in lines if (found := _CHANNEL.fullmatch(line))]
    day = ""
    for number, line in enumerate(lines, 1):
        if not line.strip() or (line.startswith("#") and not workspace.channels):
            continue
        if found := _CHANNEL.fullmatch(line):
            id_ = f"C0REMEM{len(workspace.channels) + 1:02}"
            workspace.channels.append(Channel(id_, found["name"], found["topic"], found["purpose"]))
        elif found := _DAY.fullmatch(line):
            day = found[1]
        elif found := _SAID.fullmatch(line):
            _say(workspace, workspace.channels[-1], day, found, names)
        else:
            raise ValueError(f"Line {number} of the workspace is no channel, day or message: {line!r}")
    return workspace


def _say(workspace: Workspace, channel: Channel, day: str, said: re.Match[str], names: list[str]) -> None:
    here = channel.days[day]
    ts = _ts(day, said["at"], len(here))
    who = workspace.person(said["who"])
    message: Message = {"type": "message", "ts": ts, "text": _text(said["text"], workspace, names)}
    match said["subtype"]:
        case "join" | "leave" as way:
            verb = "joined" if way == "join" else "left"
            message |= {"subtype": f"channel_{way}", "user": who, "text": f"<@{who}> has {verb} the channel"}
        case "topic":
            told = f"<@{who}> set the channel topic: {message['text']}"
            message |= {"subtype": "channel_topic", "user": who, "topic": message["text"], "text": told}
        case "bot":
            message |= {"subtype": "bot_message", "bot_id": who, "username": said["who"]}
        case subtype:
            message |= {"user": who, "team": TEAM, "client_msg_id": f"{channel.id}-{ts}"}
            if subtype == "file":
                message |= {"subtype": "file_share", "upload": True, "files": [_file(said["file"], ts)]}
            if subtype == "broadcast":
                message["subtype"] = "thread_broadcast"
    if said["edited"]:
        message["edited"] = {"user": who, "ts": _ts(day, said["edited"], 0)}
    if said["reply"]:
        _join_thread(here, message, who)
    if who.startswith("U"):
        channel.members[who] = None
    here.append(message)


def _join_thread(here: list[Message], message: Message, who: str) -> None:
    """Make the message a reply to the last one that is none, which then counts its replies."""
    root = next(other for other in reversed(here) if other.get("thread_ts") in {None, other["ts"]})
    root["thread_ts"] = message["thread_ts"] = root["ts"]
    message["parent_user_id"] = root.get("user", root.get("bot_id"))
    replies = root.setdefault("replies", [])
    if isinstance(replies, list):
        replies.append({"user": who, "ts": message["ts"]})
        root["reply_count"] = len(replies)


def _ts(day: str, at: str, number: int) -> str:
    """A message's `ts`: seconds in UTC, and its place in the day as microseconds, which keeps it unique."""
    moment = datetime.combine(date.fromisoformat(day), time.fromisoformat(at), UTC)
    return f"{int(moment.timestamp())}.{(number + 1) * 100:06}"


def _text(text: str, workspace: Workspace, names: list[str]) -> str:
    """The text in Slack's own form: escapes, mentions, channels, links, line breaks."""
    text = text.replace("<!here>", "\x00here\x00")
    text = re.sub(r"[&<>]", lambda found: _ESCAPES[found[0]], text).replace("\\n", "\n")
    text = re.sub(r"https?://[^\s，。]+[\w/]", lambda found: f"<{found[0]}>", text)
    text = re.sub(r"(?<![\w@])@([a-z]+)", lambda found: f"<@{workspace.person(found[1])}>", text)
    ids = {name: f"C0REMEM{number:02}" for number, name in enumerate(names, 1)}
    text = re.sub(r"#([^\s#]+)", lambda found: _channel_link(found, ids), text)
    return text.replace("\x00here\x00", "<!here>")


def _channel_link(found: re.Match[str], ids: dict[str, str]) -> str:
    return f"<#{ids[found[1]]}|{found[1]}>" if found[1] in ids else found[0]


def _file(name: str, ts: str) -> Json:
    return {
        "id": f"F{ts[-6:]}",
        "name": name,
        "title": name,
        "mimetype": "image/png",
        "filetype": "png",
        "size": 48213,
    }


def _channel_json(channel: Channel, workspace: Workspace) -> Json:
    first = next(iter(channel.days.values()))[0]
    creator = next(iter(channel.members))
    return {
        "id": channel.id,
        "name": channel.name,
        "created": int(str(first["ts"]).split(".")[0]) - 60,
        "creator": creator,
        "is_archived": False,
        "is_general": channel is workspace.channels[0],
        "members": list(channel.members),
        "topic": {"value": channel.topic, "creator": creator, "last_set": 0},
        "purpose": {"value": channel.purpose, "creator": creator, "last_set": 0},
    }


def _user_json(name: str, id_: str) -> Json:
    real_name = name.capitalize()
    return {
        "id": id_,
        "team_id": TEAM,
        "name": name,
        "deleted": name in DELETED,
        "real_name": real_name,
        "is_bot": name in BOTS,
        "tz": "Europe/Vienna",
        "profile": {"real_name": real_name, "display_name": name, "email": f"{name}@example.com"},
    }


def _put(archive: zipfile.ZipFile, name: str, content: Json) -> None:
    """One file of the archive, with a fixed time, so that the archive is the same every time."""
    info = zipfile.ZipInfo(name, (2026, 3, 14, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, json.dumps(content, ensure_ascii=False, indent=1))
