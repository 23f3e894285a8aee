"""The values between a platform and the bot: the same types for Discord, Slack and the console.

An adapter's `normalise` makes `Incoming` from a payload, its `render` makes a payload from `Outgoing`; both are pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, RoomKind
from memory_core.messages import Voice


class Happening(StrEnum):
    """What an incoming event is."""

    MESSAGE = "message"
    EDIT = "edit"
    DELETE = "delete"
    COMMAND = "command"
    BUTTON = "button"
    JOINED = "joined"
    """The bot was added to a room by name (Slack, console)."""
    JOINED_SERVER = "joined_server"
    """The bot was added to a server (Discord); `room` is the system channel, where it may greet."""
    LEFT = "left"
    """The bot was removed from the room."""
    RENAMED = "renamed"
    CLOSED = "closed"
    """The person turned to another room in the same client (console): this conversation's session ends."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room as its platform describes it now. `title` and `topic` are data, one line each, never trusted.

    `server` names the server or workspace (a friendly name, for telling namesakes apart), `server_id` is its
    platform's id; both are empty in a DM on Discord. `shared` marks a room shared with another organisation (Slack
    Connect).
    """

    key: RoomKey
    kind: RoomKind
    title: str = ""
    topic: str = ""
    server: str = ""
    shared: bool = False
    server_id: str = ""


@dataclass(frozen=True, slots=True)
class Author:
    """Who acts. `admin` None: not known from the payload, ask the adapter (`Adapter.is_admin`)."""

    key: PersonKey
    name: str
    voice: Voice = Voice.PERSON
    admin: bool | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something besides text: its name, media type and size, and, for a text file, its text up to a stated cap."""

    name: str
    media_type: str = ""
    size_bytes: int = 0
    text: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """One platform event in our terms.

    `event` identifies it for de-duplication; `message` the message that it is or concerns (None for commands, joins).
    `conversation` is where an answer belongs. `addressed`: a DM, a mention, a reply to the bot, or a thread it was
    called into. `mentions_only`: the text is empty but for the mention. `words` of a COMMAND are what stands after
    /remem; of a BUTTON its id. `answer_to` is the platform's handle for a private answer (interaction token, response
    URL), opaque to everyone but its adapter. `member` is False where the bot is no member of the room (Slack).
    `late`: it was said while the adapter was away, and fetched afterwards.
    """

    happening: Happening
    event: EventKey
    room: Room
    conversation: Conversation
    author: Author
    sent_at: datetime
    text: str = ""
    message: MessageKey | None = None
    addressed: bool = False
    reply_to: MessageKey | None = None
    attachments: tuple[Attachment, ...] = ()
    words: str = ""
    answer_to: str = ""
    member: bool = True
    late: bool = False


@dataclass(frozen=True, slots=True)
class Button:
    """A button under an answer: its id comes back as `Incoming.words` of a BUTTON."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What the bot says. `reply_to` shows which message is answered (it notifies nobody).

    `private`: only the asker may see it; needs `answer_to`. `late`: the interaction's token may be dead, then it
    goes to the room as an ordinary message. `to_room`: it is for everybody in the room, not only for who is answered
    (the greeting): Slack puts it into the main line. Text is Markdown; the adapter cuts it to its platform's limit.
    """

    conversation: Conversation
    text: str
    reply_to: MessageKey | None = None
    private: bool = False
    answer_to: str = ""
    buttons: tuple[Button, ...] = field(default=())
    to_room: bool = False
    person: PersonKey | None = None
    """Set: send to this person's DM instead of the conversation."""
    growing: bool = False
    """More of the text is to come: it will be revised (`Adapter.revise`)."""


class Delivery(StrEnum):
    """What became of a sending; none of these raises."""

    SENT = "sent"
    NOT_ALLOWED = "not_allowed"
    """Missing permission: said once in the log, never retried."""
    GONE = "gone"
    """The room, thread or access is gone: the session there is closed."""
    FAILED = "failed"
    """The platform did not take it after its retries."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The outcome of a sending, with the keys of the messages that now stand in the room.

    `conversation` is set where they stand in another than asked for (Slack: an answer in a thread under a mention).
    `pieces` is the text of each of these messages in the platform's own form, as far as it is known: what need not be
    said again when they are revised.
    """

    delivery: Delivery
    messages: tuple[MessageKey, ...] = ()
    why: str = ""
    conversation: Conversation | None = None
    pieces: tuple[str, ...] = ()

    def says(self, number: int, text: str) -> bool:
        """Does the message of that number say `text` already?"""
        return self.pieces[number : number + 1] == (text,)
