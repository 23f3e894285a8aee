"""A message of a DiscordChatExporter file → Incoming: pure. The same keys, voices and words as a live one gets.

A file holds one channel or thread (https://github.com/Tyrrrz/DiscordChatExporter, JsonMessageWriter):

    { "guild": {id, name}, "channel": {id, type, categoryId, category, name, topic}, "messages": [ … ] }

`category` of a thread is its channel. A message has `id`, `type`, `timestamp`, `timestampEdited`, `content` (markup
told in words, unless it was exported without), `author` {id, name, nickname, isBot}, `attachments`, `embeds`,
`stickers`, `mentions`, for an answer `reference`, for a forward `forwardedMessage`. An edited message holds its last
text only, at the time when it was posted. Reactions are nobody's words. What is missing reads as empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from adapters.discord.own import Own
from adapters.discord.readable import named
from adapters.history import DELETED, EARLIEST, LATEST
from adapters.messages import Attachment, Author, Happening, Incoming, Room
from adapters.payload import Json, flag, part, parts, string, whole
from memory_core.ids import Conversation, EventKey, PersonKey, RoomKey, RoomKind, message_key
from memory_core.messages import Voice
from memory_core.text import one_line

SPOKEN = frozenset({"Default", "Reply", "20", "23"})
"""The types that somebody wrote, as live: the exporter has no names for application commands (20 and 23)."""

_KINDS = {
    "GuildTextChat": RoomKind.CHANNEL,
    "GuildNews": RoomKind.CHANNEL,
    "GuildVoiceChat": RoomKind.CHANNEL,
    "GuildStageVoice": RoomKind.CHANNEL,
    "GuildPublicThread": RoomKind.PUBLIC_THREAD,
    "GuildNewsThread": RoomKind.PUBLIC_THREAD,
    "GuildPrivateThread": RoomKind.PRIVATE_THREAD,
    "DirectTextChat": RoomKind.DIRECT,
    "DirectGroupTextChat": RoomKind.GROUP_DM,
}
_NOBODY = Own()
_ID = re.compile(r"[0-9]{1,20}")
# What Discord calls an account that is gone; the exporter tells the discriminator apart.
_GONE = re.compile(r"deleted[ _]user(?:[ _#][0-9a-f]+)?", re.IGNORECASE)


def native(value: object, *path: str) -> str:
    """The Discord id at `path`, or ''."""
    found = string(value, *path)
    return found if _ID.fullmatch(found) else ""


def place_of(header: Json) -> tuple[Room, Conversation] | None:
    """Where the messages of a file were said: as live, a public thread is a part of its channel's room. None for what
    is no channel or thread of Discord's."""
    channel = native(header, "channel", "id")
    kind = _KINDS.get(string(header, "channel", "type"), RoomKind.UNKNOWN)
    title, thread = string(header, "channel", "name"), ""
    if kind is RoomKind.PUBLIC_THREAD:
        parent, title, thread = (
            native(header, "channel", "categoryId"),
            string(header, "channel", "category"),
            channel,
        )
        channel = parent
    if not channel or kind is RoomKind.UNKNOWN:
        return None
    key = RoomKey(f"discord:{channel}")
    room = Room(
        key,
        RoomKind.CHANNEL if thread else kind,
        f"#{one_line(title)}".rstrip("#"),
        "" if thread else one_line(string(header, "channel", "topic"), 1024),
        one_line(string(header, "guild", "name")),
        server_id=native(header, "guild", "id"),
    )
    return room, Conversation(key, thread)


def sent_at(message: object, which: str = "timestamp") -> datetime | None:
    """When it was posted (or `which` time says); None where that cannot be read, or cannot be."""
    try:
        moment = datetime.fromisoformat(string(message, which))
        at = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return at if EARLIEST <= at < LATEST else None


def wrong_with(message: object) -> str:
    """What keeps an entry from being a message; '' for one that is."""
    if not isinstance(message, Mapping):
        return "no object"
    if not native(message, "id"):
        return "no id"
    if sent_at(message) is None:
        return "no time"
    return "" if native(message, "author", "id") else "no author"


def normalise(message: Json, room: Room, place: Conversation, own: Own = _NOBODY) -> Incoming | None:
    """The message in our terms; None for Discord's own notices, and where nobody said anything. `own`: the bot."""
    at = sent_at(message)
    if string(message, "type") not in SPOKEN or at is None:
        return None
    author = _author(message, own)
    text, attachments = _text(message, author.voice, own), _attachments(message)
    if not text and not attachments:
        return None
    identity = message_key(room.key, native(message, "id"))
    answered = native(message, "reference", "messageId") if string(message, "type") == "Reply" else ""
    return Incoming(
        Happening.MESSAGE,
        EventKey(identity),
        room,
        place,
        author,
        at,
        text,
        identity,
        addressed=author.voice is Voice.PERSON and own.is_meant(message),
        reply_to=message_key(room.key, answered) if answered else None,
        attachments=attachments,
    )


def is_gone(name: str) -> bool:
    """Is this how Discord calls an account that was deleted?"""
    return _GONE.fullmatch(name) is not None


def _author(message: Json, own: Own) -> Author:
    who = native(message, "author", "id")
    name = string(message, "author", "nickname") or string(message, "author", "name")
    if is_gone(string(message, "author", "name")) or not name.strip():
        name = f"{DELETED} {who}"
    voice = Voice.BOT if flag(message, "author", "isBot") else Voice.PERSON
    voice = Voice.SELF if own.spoke(message) else voice
    return Author(PersonKey(f"discord:{who}"), one_line(name, 80), voice)


def _text(message: Json, voice: Voice, own: Own) -> str:
    """What was written; for a forward the quoted text, for a bot's embed its words."""
    users = {
        int(found): one_line(string(user, "nickname") or string(user, "name"), 80)
        for user in parts(message, "mentions")
        if (found := native(user, "id"))
    }
    text = named(own.without_address(message), users, None).strip()
    quoted = part(message, "forwardedMessage")
    if not text and quoted:
        words = named(string(quoted, "content") or _embedded(quoted), users, None)
        return "\n".join(f"> {line}" for line in words.splitlines())
    if not text and voice is not Voice.PERSON:
        return _embedded(message)
    return text


def _embedded(holder: Json) -> str:
    words = ((string(embed, "title"), string(embed, "description")) for embed in parts(holder, "embeds"))
    return "\n".join(one for both in words for one in both if one)


def _attachments(message: Json) -> tuple[Attachment, ...]:
    """What hangs on the message, or on the one that it forwards."""
    return (*_files(message), *_files(part(message, "forwardedMessage")))


def _files(holder: Json) -> tuple[Attachment, ...]:
    files = [
        Attachment(one_line(string(file, "fileName") or "a file"), size_bytes=max(0, whole(file, "fileSizeBytes")))
        for file in parts(holder, "attachments")
    ]
    stickers = [Attachment(one_line(string(one, "name")), "sticker") for one in parts(holder, "stickers")]
    return (*files, *stickers)
