"""Small values that the ledger's tests are made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from memory_core.ids import Conversation, EventKey, GroupScope, MessageKey, PersonKey, RoomKey, Scope, message_key
from memory_core.ledger.base import Deleted, Edited, Posted
from memory_core.messages import Message

START = datetime(2026, 4, 6, 14, 0, tzinfo=UTC)
ROOM = RoomKey("slack:T1:C1")
MAIN = Conversation(ROOM)
ANA = PersonKey("slack:T1:U1")
BUILD = GroupScope("build")


def at(minutes: float) -> datetime:
    """A moment after the start of a test's day."""
    return START + timedelta(minutes=minutes)


def key(native: object, room: RoomKey = ROOM) -> MessageKey:
    """The key of a message."""
    return message_key(room, str(native))


def message(
    native: object,
    text: str = "hello",
    place: Conversation = MAIN,
    *,
    minutes: float = 0,
    edited: float | None = None,
) -> Message:
    """A message of Ana's; `minutes` and `edited` count from START."""
    return Message(
        key=key(native, place.room),
        conversation=place,
        author=ANA,
        author_name="Ana",
        text=text,
        sent_at=at(minutes),
        edited_at=at(edited) if edited is not None else None,
    )


def posted(
    native: object,
    text: str = "hello",
    place: Conversation = MAIN,
    *,
    scope: Scope | None = BUILD,
    owed: bool = False,
    minutes: float = 0,
) -> Posted:
    """The event that a message was posted."""
    value = message(native, text, place, minutes=minutes)
    return Posted(EventKey(value.key), value, scope, owed)


def edited(native: object, text: str, minutes: float, room: RoomKey = ROOM) -> Edited:
    """The event that it has new text since `minutes`."""
    return Edited(EventKey(f"{key(native, room)}@{minutes}"), key(native, room), text, at(minutes))


def deleted(native: object, room: RoomKey = ROOM) -> Deleted:
    """The event that it was removed."""
    return Deleted(EventKey(f"{key(native, room)}!deleted"), key(native, room))


class Faults:
    """Fails, stops or counts chosen statements."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.fail: Callable[[str], bool] = lambda statement: False
        self.error: Exception = sqlite3.OperationalError("disk I/O error")

    def __call__(self, statement: str) -> None:
        self.counts[statement] = self.counts.get(statement, 0) + 1
        if self.fail(statement):
            raise self.error
