"""Makes files as DiscordChatExporter writes them (`--format Json`): one channel or thread a file.

The form follows its JsonMessageWriter, with every field that it writes. The small server: a channel with a thread, a
forum post, a second channel, a DM; bots, files, stickers, embeds, a forward, a reply, an edit, a deleted user.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"
Message: TypeAlias = dict[str, Json]

GUILD = "810000000000000001"
BUILD, RETRY, OPS, FORUM, POST, DM = (f"82000000000000000{number}" for number in range(1, 7))
ANA, BEN, CHLOE, CI, GONE = (f"83000000000000000{number}" for number in range(1, 6))
PEOPLE = {ANA: "Ana", BEN: "ben", CHLOE: "Chloé", CI: "ci-bot", GONE: "Deleted User"}
_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Chat:
    """One file: a channel, thread or DM, with its messages."""

    channel: str
    name: str
    kind: str = "GuildTextChat"
    category: tuple[str, str] = ("820000000000000099", "Text channels")
    topic: str | None = None
    messages: list[Json] = field(default_factory=list)

    def say(self, at: str, who: str, content: str, kind: str = "Default", **fields: Json) -> str:
        """Add a message; its id, made of its time as Discord does."""
        moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
        number = str(
            ((moment - _EPOCH) // timedelta(milliseconds=1)) << 22 | (len(self.messages) + int(self.channel[-1]))
        )
        message: Message = {
            "id": number,
            "type": kind,
            "timestamp": moment.isoformat(),
            "timestampEdited": None,
            "callEndedTimestamp": None,
            "isPinned": False,
            "content": content,
            "author": user(who),
            "attachments": [],
            "components": [],
            "embeds": [],
            "stickers": [],
            "reactions": [],
            "mentions": [],
            "inlineEmojis": [],
        }
        self.messages.append(message | fields)
        return number

    def content(self) -> dict[str, Json]:
        """The file's object."""
        category, name = self.category
        return {
            "guild": {"id": GUILD, "name": "Acme", "iconUrl": "https://cdn.discordapp.com/embed/avatars/0.png"},
            "channel": {
                "id": self.channel,
                "type": self.kind,
                "categoryId": category,
                "category": name,
                "name": self.name,
                "topic": self.topic,
            },
            "dateRange": {"after": None, "before": None},
            "exportedAt": "2026-03-20T10:00:00+00:00",
            "messages": self.messages,
            "messageCount": len(self.messages),
        }

    def write(self, folder: Path, name: str = "") -> Path:
        """Write it, indented as the exporter does."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (name or f"Acme - {self.category[1]} - {self.name} [{self.channel}].json")
        path.write_text(json.dumps(self.content(), ensure_ascii=False, indent=2), "utf-8")
        return path


def user(who: str) -> Json:
    """A user, as messages hold one."""
    name = PEOPLE[who]
    return {
        "id": who,
        "name": name.lower() if who != GONE else name,
        "discriminator": "0000",
        "nickname": name,
        "color": None,
        "isBot": who == CI,
        "roles": [],
        "avatarUrl": "https://cdn.discordapp.com/embed/avatars/0.png",
    }


def file(name: str, size: int = 1234) -> Json:
    """An attachment."""
    return {
        "id": "840000000000000001",
        "url": f"https://cdn.example.com/{name}",
        "fileName": name,
        "fileSizeBytes": size,
    }


def build() -> Chat:
    """#build."""
    chat = Chat(BUILD, "build", topic="How we build things")
    chat.say("2024-02-05T09:00:00.123", ANA, "Joined the server.", "GuildMemberJoin")
    chat.say("2024-02-05T09:01:00", ANA, "good morning")
    asked = chat.say("2024-02-05T09:02:00", BEN, "what do we use for sessions?")
    chat.say(
        "2024-02-05T09:04:00.5",
        ANA,
        "Decision: we use Redis for sessions, because they must survive a restart.",
        "Reply",
        reference={"type": "Default", "messageId": asked, "channelId": BUILD, "guildId": GUILD},
    )
    chat.say("2024-02-05T09:05:00", CI, "", embeds=[{"title": "Build 1041", "description": "passed", "fields": []}])
    chat.say("2024-02-05T09:06:00", CHLOE, "", attachments=[file("plan.pdf", 48_213), file("notes.txt")])
    chat.say(
        "2024-02-05T09:07:00", CHLOE, "", stickers=[{"id": "1", "name": "party", "format": "Png", "sourceUrl": ""}]
    )
    chat.say("2024-02-05T11:00:00", BEN, "Pinned a message.", "ChannelPinnedMessage")
    chat.say("2024-02-06T08:00:00", GONE, "my key is password=hunter2-prod, please change it")
    chat.say("2024-02-06T08:30:00", BEN, "Lesson: the export failed with cp1252; the fix was to open files as UTF-8.")
    chat.say(
        "2024-02-06T08:31:00",
        BEN,
        "@Ana will write the docs for the export by Friday.",
        timestampEdited="2024-02-06T08:33:00+00:00",
        mentions=[user(ANA)],
    )
    chat.say("2024-02-06T08:32:00", ANA, "!remem forget me")
    chat.say(
        "2024-02-06T23:50:00",
        CHLOE,
        "",
        forwardedMessage={
            "timestamp": "2024-02-01T10:00:00+00:00",
            "content": "the office moves in May",
            "embeds": [],
        },
    )
    return chat


def retry() -> Chat:
    """A thread of #build."""
    chat = Chat(RETRY, "retry policy", "GuildPublicThread", (BUILD, "build"))
    chat.say("2024-02-05T09:03:00", BEN, "how often do we retry?")
    chat.say("2024-02-05T09:30:00", CHLOE, "Decision: we retry three times with a pause of one minute.")
    return chat


def post() -> Chat:
    """A post of a forum."""
    chat = Chat(POST, "dark mode", "GuildPublicThread", (FORUM, "ideas"))
    chat.say("2024-02-07T10:00:00", CHLOE, "Could we have a dark mode?")
    return chat


def ops() -> Chat:
    """#ops."""
    chat = Chat(OPS, "ops")
    chat.say("2024-02-05T12:00:00", BEN, "Decision: we deploy on Tuesdays, because support is complete then.")
    return chat


def direct() -> Chat:
    """A DM of two people."""
    chat = Chat(DM, "Ana", "DirectTextChat", ("0", "Private"))
    chat.say("2024-02-05T12:30:00", ANA, "between us: I look for another job")
    return chat


def server(folder: Path) -> Path:
    """All of it in a folder."""
    for chat in (build(), retry(), post(), ops(), direct()):
        chat.write(folder)
    return folder
