"""What was said, as the ledger keeps it: one frozen value, the same going in and coming out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory_core.errors import BadInput
from memory_core.ids import Conversation, MessageKey, PersonKey


class Voice(StrEnum):
    """Who speaks. Only a PERSON starts a turn, restarts the idle timer or is a source of memory."""

    PERSON = "person"
    BOT = "bot"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, its text already masked.

    `sent_at` and `edited_at` are aware; `room_title` and `author_name` are for people's eyes (ids decide).
    `addressed` says that the bot was meant. Raises BadInput for a naive time.
    """

    key: MessageKey
    conversation: Conversation
    author: PersonKey
    author_name: str
    text: str
    sent_at: datetime
    voice: Voice = Voice.PERSON
    room_title: str = ""
    addressed: bool = False
    reply_to: MessageKey | None = None
    edited_at: datetime | None = None

    def __post_init__(self) -> None:
        for moment in (self.sent_at, self.edited_at):
            if moment is not None and moment.tzinfo is None:
                raise BadInput(f"The time of message {self.key} has no zone; pass an aware datetime.")


@dataclass(frozen=True, slots=True)
class Entry:
    """A message with its place in the ledger: `seq` grows by arrival and is never used twice."""

    seq: int
    message: Message
