"""Short conversations for tests: `talk("ana: let's …", "ben: +1")` is a request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory_core.candidates import Candidate, Request
from memory_core.extract import at_once, candidates_in
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey, message_key
from memory_core.messages import Message, Voice

ROOM = RoomKey("console:build")
MONDAY = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)


def message(line: str, number: int = 0, *, reply_to: int | None = None) -> Message:
    """One message of `name: text` (`name*:` for a bot), sent `number` minutes after Monday 2026-04-06 09:00 UTC."""
    who, text = line.split(": ", 1)
    return Message(
        key=key(number),
        conversation=Conversation(ROOM),
        author=PersonKey(f"console:{who.rstrip('*')}"),
        author_name=who.rstrip("*"),
        text=text,
        sent_at=MONDAY + timedelta(minutes=number),
        voice=Voice.BOT if who.endswith("*") else Voice.PERSON,
        reply_to=None if reply_to is None else key(reply_to),
    )


def key(number: int) -> MessageKey:
    """The key of the message of that number."""
    return message_key(ROOM, str(number))


def talk(*lines: str, before: int = 0, direct: bool = False) -> Request:
    """A request of these messages; the first `before` of them are context."""
    messages = tuple(message(line, number) for number, line in enumerate(lines))
    return Request(messages[before:], before=messages[:before], direct=direct)


def kept(*lines: str, direct: bool = False) -> tuple[Candidate, ...]:
    """The settled candidates of a conversation."""
    return tuple(found for found in candidates_in(talk(*lines, direct=direct)) if found.settled)


def said(line: str, *, direct: bool = False) -> Candidate | None:
    """What is kept at once of one message that says one thing."""
    found = at_once(message(line), direct=direct)
    assert len(found) < 2
    return found[0] if found else None
