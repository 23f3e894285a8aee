"""What was heard and said, in the terms of the ledger. Pure: an event in, values out.

concerns_us    is it anything to us at all?
masked         the event without secrets
event_of       as the ledger keeps it; commands in words, and rooms without memory, leave only their key
message_of     the message that it posts
own_events     what we said in answer: the first piece bears the text, the others only their keys
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from adapters.messages import Happening, Incoming, Sent
from bot.wording import attached
from memory_core.commands import text_command
from memory_core.ids import EventKey, PersonKey, RoomKind, Scope, message_key
from memory_core.ledger.base import Deleted, Edited, Event, Noted, Posted, RoomState
from memory_core.messages import Message, Voice
from memory_core.redact.mask import mask

_ALWAYS = frozenset({Happening.JOINED, Happening.JOINED_SERVER, Happening.COMMAND, Happening.BUTTON})


def concerns_us(incoming: Incoming, state: RoomState) -> bool:
    """A room that we merely can see is not recorded, and gets no name; joins and commands always concern us."""
    if incoming.happening in _ALWAYS:
        return True
    return incoming.addressed or state.recorded or incoming.room.kind is RoomKind.DIRECT


def masked(incoming: Incoming) -> tuple[Incoming, tuple[str, ...]]:
    """The event without secrets, attachments told in words; and which kinds of secret its author showed."""
    text, words = mask(attached(incoming.text, incoming.attachments)), mask(incoming.words)
    of = incoming.room
    room = replace(of, title=_label(of.title), topic=_label(of.topic), server=_label(of.server))
    author = replace(incoming.author, name=_label(incoming.author.name))
    plain = replace(incoming, text=text.text, words=words.text, room=room, author=author, attachments=())
    return plain, (*text.kinds, *words.kinds)


@lru_cache(maxsize=4096)
def _label(text: str) -> str:
    """A title or name without secrets; the same ones come with every event."""
    return mask(text).text


def event_of(incoming: Incoming, scope: Scope | None, state: RoomState) -> Event:
    """The event as the ledger keeps it."""
    match incoming.happening:
        case Happening.EDIT if incoming.message is not None and scope is not None:
            return Edited(incoming.event, incoming.message, incoming.text, incoming.sent_at)
        case Happening.DELETE if incoming.message is not None:
            return Deleted(incoming.event, incoming.message)
        case Happening.MESSAGE if incoming.message is not None:
            command = text_command(incoming.text, addressed=incoming.addressed) is not None
            kept = None if command or state.stopped else scope
            return Posted(incoming.event, message_of(incoming), kept, owed=incoming.addressed and kept is not None)
    return Noted(incoming.event)


def message_of(incoming: Incoming) -> Message:
    """The message that an event posts; a command's has the event's key."""
    return Message(
        key=incoming.message or message_key(incoming.room.key, incoming.event),
        conversation=incoming.conversation,
        author=incoming.author.key,
        author_name=incoming.author.name,
        text=incoming.text,
        sent_at=incoming.sent_at,
        voice=incoming.author.voice,
        room_title=incoming.room.title,
        addressed=incoming.addressed,
        reply_to=incoming.reply_to,
    )


def own_events(
    incoming: Incoming, text: str, sent: Sent, scope: Scope, *, me: PersonKey, now: datetime
) -> list[Event]:
    """Our answer to `incoming`, where it stands in the room. The platform tells us of it too; then it is known."""
    if not sent.messages:
        return []
    first, *pieces = sent.messages
    own = replace(
        message_of(incoming),
        key=first,
        conversation=sent.conversation or incoming.conversation,
        author=me,
        author_name="remem",
        voice=Voice.SELF,
        text=mask(text).text,
        sent_at=now,
        addressed=False,
        reply_to=incoming.message,
    )
    return [Posted(EventKey(first), own, scope), *(Noted(EventKey(piece)) for piece in pieces)]
