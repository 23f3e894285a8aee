"""A line of the terminal as an event: pure.

    /join #build   turn to a group room (the bot is invited there at its first time)
    /dm            turn to your own DM with the bot
    /as ana        speak as another person
    /thread t1     turn to a thread of this room; `/thread` alone goes back to its main line
    /reply text    answer the bot's last message here
    /remem …       the memory command
    /rooms         where you have been; /help; /quit

Everything else is said in the room. In a group room `@remem` addresses the bot; in the DM everything does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from adapters.messages import Author, Happening, Incoming, Room
from memory_core.errors import BadInput
from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, RoomKind, message_key

_MENTION = re.compile(r"(?<!\w)@remem\b[,:]?\s*", re.IGNORECASE)
_NAME = re.compile(r"[^\s:/\\\x00]{1,60}")
FIRST_SPEAKER = PersonKey("console:me")
"""The owner, where REMEM_OWNER is unset."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Where the terminal is now: the speaker, the room (None: the speaker's DM), the thread."""

    speaker: str = "me"
    room: str | None = None
    thread: str = ""

    @property
    def person(self) -> PersonKey:
        """The speaker's key."""
        return PersonKey(f"console:{self.speaker}")

    @property
    def key(self) -> RoomKey:
        """The room's key; a DM has one of its own for each person."""
        return RoomKey(f"console:{self.room}") if self.room is not None else RoomKey(f"console:@{self.speaker}")

    @property
    def conversation(self) -> Conversation:
        """The conversation that lines are said in."""
        return Conversation(self.key, self.thread)

    @property
    def prompt(self) -> str:
        """`me@#build> ` or `me> `."""
        thread = f"/{self.thread}" if self.thread else ""
        return f"{self.speaker}@#{self.room}{thread}> " if self.room is not None else f"{self.speaker}> "

    def describe(self) -> Room:
        """The room as a platform would describe it."""
        if self.room is None:
            return Room(self.key, RoomKind.DIRECT, title=self.speaker)
        kind = RoomKind.PUBLIC_THREAD if self.thread else RoomKind.CHANNEL
        return Room(self.key, kind, title=f"#{self.room}")


@dataclass(frozen=True, slots=True)
class Moved:
    """The terminal turned elsewhere: the new seat."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Local:
    """A line for the terminal itself: `rooms`, `help` or `quit`."""

    word: str


def seat_after(seat: Seat, word: str, argument: str) -> Seat | None:
    """The seat after /join, /dm, /as or /thread; None for another word. Raises BadInput for a bad name."""
    name = argument.strip().lstrip("#@")
    if word in {"join", "as"} and not _NAME.fullmatch(name):
        raise BadInput(
            f"/{word} {argument[:40]!r}: give one name without blanks, colons or slashes, such as "
            f"/{word} {'build' if word == 'join' else 'ana'}."
        )
    match word:
        case "join":
            return replace(seat, room=name, thread="")
        case "as":
            return replace(seat, speaker=name.lower(), thread="")  # a person's folder is in lower case
        case "dm":
            return replace(seat, room=None, thread="")
        case "thread" if name and seat.room is None:
            raise BadInput("A DM has no threads; go to a room first, such as /join #build.")
        case "thread" if not name or _NAME.fullmatch(name):
            return replace(seat, thread=name)
    return None


def normalise(
    line: str, seat: Seat, *, native: str, now: datetime, last_answer: MessageKey | None
) -> Incoming | Moved | Local | None:
    """What a line is: an event, a move, a word for the terminal; None for an empty line. Raises BadInput.

    `native` is the new message's id, `last_answer` the bot's last message in this conversation.
    """
    text = line.rstrip("\r\n")
    if not text.strip():
        return None
    if not text.startswith("/"):
        return _said(text, seat, native, now, reply_to=None)
    word, _, argument = text[1:].partition(" ")
    moved = seat_after(seat, word.lower(), argument)
    if moved is not None:
        return Moved(moved)
    match word.lower():
        case "remem":
            return _command(argument, seat, native, now)
        case "reply":
            return _said(argument, seat, native, now, reply_to=last_answer)
        case "rooms" | "help" | "quit":
            return Local(word.lower())
    raise BadInput(f"/{word[:40]} is no command of this terminal; /help lists them, /remem help those of the memory.")


def joined(seat: Seat, now: datetime) -> Incoming:
    """The bot is invited into the seat's room; one event for ever, so that it is greeted once."""
    return _event(Happening.JOINED, EventKey(f"{seat.key}!joined"), seat, now)


def closed(seat: Seat, native: str, now: datetime) -> Incoming:
    """The terminal leaves the seat's conversation."""
    return _event(Happening.CLOSED, EventKey(f"{seat.key}!closed:{native}"), seat, now)


def _event(happening: Happening, event: EventKey, seat: Seat, now: datetime) -> Incoming:
    author = Author(seat.person, seat.speaker)
    return Incoming(happening, event, seat.describe(), seat.conversation, author, now)


def _command(words: str, seat: Seat, native: str, now: datetime) -> Incoming:
    event = _event(Happening.COMMAND, EventKey(f"{seat.key}!command:{native}"), seat, now)
    return replace(event, words=words.strip(), addressed=True, answer_to=native)


def _said(text: str, seat: Seat, native: str, now: datetime, *, reply_to: MessageKey | None) -> Incoming:
    key = message_key(seat.key, native)
    bare = _MENTION.sub("", text).strip()
    addressed = seat.room is None or bare != text.strip() or reply_to is not None
    event = _event(Happening.MESSAGE, EventKey(key), seat, now)
    return replace(event, message=key, text=bare if addressed else text, addressed=addressed, reply_to=reply_to)
