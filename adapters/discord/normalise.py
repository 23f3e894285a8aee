"""discord.py's objects as `Incoming`: pure, no call leaves from here.

Event keys: a message has its message key; an edit adds `@<edit time>`, a delete `!deleted`. So the intake knows a
repeat, by replay after RESUME or from two connections, whatever sequence number it comes under. Rooms, joins,
commands and buttons stand in notices.py.

Nothing comes of: system messages (pins, joins, thread starts …), updates without an edit time (link previews, pins),
and our own messages that hold nothing ("thinking…"). What other bots and webhooks say is context: Voice.BOT, never
addressed. An EDIT's `sent_at` is the time of the edit.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import discord
from discord import MessageType

from adapters.discord.places import Channel, conversation_of, kind_of, room_of
from adapters.discord.readable import named, own_role, readable
from adapters.messages import Attachment, Author, Happening, Incoming
from memory_core.ids import EventKey, MessageKey, PersonKey, RoomKind, message_key
from memory_core.messages import Voice
from memory_core.text import one_line

_SPOKEN = frozenset(
    {MessageType.default, MessageType.reply, MessageType.chat_input_command, MessageType.context_menu_command}
)
"""Messages that somebody wrote; all others are notices of Discord."""


@dataclass(frozen=True, slots=True)
class Own:
    """What the payload does not say: our user id, our application id, the threads we were called into, and what the
    people are called that were seen lately (a command's words mention people by id alone)."""

    me: int
    application: int | None = None
    called: Container[int] = frozenset()
    names: Mapping[int, str] = field(default_factory=dict)


def posted(
    message: discord.Message, channel: Channel, own: Own, texts: Mapping[int, tuple[str, bool]] | None = None
) -> Incoming | None:
    """A new message; None where nobody said anything. `texts`: attachment id → (its text, was it cut)."""
    if message.type not in _SPOKEN:
        return None
    room, place = room_of(channel), conversation_of(channel)
    author = author_of(message, channel, own)
    text, attachments = _text(message, author.voice, own), _attachments(message, texts or {})
    reference = message.reference
    reply = reference if reference is not None and message.type is MessageType.reply else None
    addressed = author.voice is Voice.PERSON and _addressed(message, channel, own)
    if not text and not attachments and not addressed:
        return None
    identity = message_key(place.room, str(message.id))
    return Incoming(
        Happening.MESSAGE,
        EventKey(identity),
        room,
        place,
        author,
        message.created_at,
        text,
        identity,
        addressed,
        message_key(place.room, str(reply.message_id)) if reply and reply.message_id else None,
        attachments,
    )


def edited(
    message: discord.Message, channel: Channel, own: Own, texts: Mapping[int, tuple[str, bool]] | None = None
) -> Incoming | None:
    """A changed text; None for updates that no author made."""
    if message.edited_at is None or message.type not in _SPOKEN:
        return None
    place = conversation_of(channel)
    author = author_of(message, channel, own)
    identity = message_key(place.room, str(message.id))
    return Incoming(
        Happening.EDIT,
        EventKey(f"{identity}@{message.edited_at.isoformat()}"),
        room_of(channel),
        place,
        author,
        message.edited_at,
        _text(message, author.voice, own),
        identity,
        author.voice is Voice.PERSON and _addressed(message, channel, own),
        attachments=_attachments(message, texts or {}),
    )


def deleted(native: int, channel: Channel, own: Own, at: datetime) -> Incoming:
    """A message is gone; who removed it is not told."""
    place = conversation_of(channel)
    identity = message_key(place.room, str(native))
    event = EventKey(f"{identity}!deleted")
    return Incoming(Happening.DELETE, event, room_of(channel), place, somebody(own), at, message=identity)


def author_of(message: discord.Message, channel: Channel, own: Own) -> Author:
    """Who wrote it. Everything that goes out under our application is us, webhook posts included."""
    ours = message.author.id == own.me or (own.application is not None and message.application_id == own.application)
    other = message.author.bot or message.author.system or message.webhook_id is not None
    voice = Voice.SELF if ours else Voice.BOT if other else Voice.PERSON
    name = one_line(message.author.display_name, 80)
    return Author(person(message.author.id), name, voice, _is_admin(message.author, channel))


def _is_admin(author: discord.User | discord.Member, channel: Channel) -> bool | None:
    if kind_of(channel) is RoomKind.DIRECT:
        return True
    place = channel.parent if isinstance(channel, discord.Thread) else channel
    if not isinstance(author, discord.Member) or not isinstance(place, discord.abc.GuildChannel):
        return None
    allowed = place.permissions_for(author)
    return allowed.manage_channels or allowed.manage_guild


def _addressed(message: discord.Message, channel: Channel, own: Own) -> bool:
    """A DM, a mention of us or our role, a reply to us, or a thread that we are a member of or were called into."""
    if kind_of(channel) is RoomKind.DIRECT or any(user.id == own.me for user in message.mentions):
        return True
    if own_role(message) in message.raw_role_mentions:
        return True
    if isinstance(channel, discord.Thread) and (channel.me is not None or channel.id in own.called):
        return True
    answered = message.reference.resolved if message.reference and message.type is MessageType.reply else None
    return isinstance(answered, discord.Message) and answered.author.id == own.me


def _text(message: discord.Message, voice: Voice, own: Own) -> str:
    """What was written; for a forward the quoted text, for a bot's embed its words."""
    text = readable(message, own.me, own.names).strip()
    if not text and message.message_snapshots:
        snapshot = message.message_snapshots[0]
        quoted = named(snapshot.content or _embedded(snapshot.embeds), {}, message.guild, own.names)
        return "\n".join(f"> {line}" for line in quoted.splitlines())
    if not text and voice is Voice.BOT:
        return _embedded(message.embeds)
    return text


def _embedded(embeds: Sequence[discord.Embed]) -> str:
    return "\n".join(part for embed in embeds for part in (embed.title, embed.description) if part)


def _attachments(message: discord.Message, texts: Mapping[int, tuple[str, bool]]) -> tuple[Attachment, ...]:
    """What hangs on the message, or on the one that it forwards."""
    polls = [Attachment(one_line(message.poll.question), "poll")] if message.poll else []
    return (
        *_files(message, texts),
        *polls,
        *(one for quoted in message.message_snapshots for one in _files(quoted, {})),
    )


def _files(
    holder: discord.Message | discord.MessageSnapshot, texts: Mapping[int, tuple[str, bool]]
) -> Iterator[Attachment]:
    for file in holder.attachments:
        yield Attachment(
            one_line(file.filename), file.content_type or "", file.size, *texts.get(file.id, ("", False))
        )
    for sticker in holder.stickers:
        yield Attachment(one_line(sticker.name), "sticker")


def person(native: int) -> PersonKey:
    """The person key of a user id."""
    return PersonKey(f"discord:{native}")


def somebody(own: Own) -> Author:
    """Whoever deleted, invited, renamed: a person, but Discord does not tell which. Our own key stands in."""
    return Author(person(own.me), "someone")


def message_id(message: MessageKey) -> int:
    """Discord's id of a message."""
    return int(message.rsplit(":", 1)[1])
