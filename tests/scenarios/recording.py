"""An adapter that keeps what the bot says, and the events that a platform's adapter would make: no wire, no platform.

What stands here is what `normalise` of Discord and Slack hands on (their own tests prove that); from there on it is
the whole program. A `Spot` is a place and who speaks there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from adapters.base import CaughtUp, Check, Deliver, Taken, nothing_owed
from adapters.messages import Author, Delivery, Happening, Incoming, Outgoing, Room, Sent
from memory_core.clock import Clock
from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, message_key


class RecordingAdapter:
    """A platform of which nothing is left but its name. `outcome` is what becomes of every sending from now on."""

    def __init__(
        self,
        platform: str,
        new_id: Callable[[], str],
        *,
        piece_characters: int = 2000,
        admins: frozenset[PersonKey] = frozenset(),
    ) -> None:
        self.platform = platform
        self.piece_characters = piece_characters
        self.outcome = Delivery.SENT
        self.sent: list[Outgoing] = []
        self.revised: list[Outgoing] = []
        self.revise_s = 3600.0
        """So no answer is shown before it is whole, unless a test wants to see it grow."""
        self.stands: dict[MessageKey, str] = {}
        """What each message says now."""
        self.shares: dict[PersonKey, bool | None] = {}
        """Who shares a server with the bot; whoever is not in it does."""
        self.last: dict[Conversation, MessageKey] = {}
        """The bot's last message in each conversation."""
        self._new_id = new_id
        self._admins = admins
        self._deliver: Deliver | None = None
        self._closed: asyncio.Event | None = None
        self._running = False

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Take events until `close`."""
        self._deliver, self._closed = deliver, asyncio.Event()
        await caught_up()
        self._running = True
        await self._closed.wait()

    @property
    def running(self) -> bool:
        """Does it take events, and has it told that it caught up?"""
        return self._running

    async def happens(self, incoming: Incoming) -> Taken:
        """Hand one event in, as the platform's library would."""
        if self._deliver is None:
            raise AssertionError(f"{self.platform} is not running")
        return await self._deliver(incoming)

    async def send(self, outgoing: Outgoing) -> Sent:
        """Keep it."""
        if self.outcome is not Delivery.SENT:
            return Sent(self.outcome, why="the platform said no")
        self.sent.append(outgoing)
        key = message_key(outgoing.conversation.room, f"r{self._new_id()}")
        self.last[outgoing.conversation] = key
        self.stands[key] = outgoing.text
        return Sent(Delivery.SENT, (key,))

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Keep it; what stands in the end is in `stands`."""
        if self.outcome is not Delivery.SENT:
            return replace(sent, delivery=self.outcome, why="the platform said no")
        self.revised.append(outgoing)
        self.stands[sent.messages[0]] = outgoing.text
        return sent if outgoing.text else Sent(Delivery.SENT)

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Nothing to show."""

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """Is the person one of the admins?"""
        return person in self._admins

    async def shares_server(self, person: PersonKey) -> bool | None:
        """As `shares` says."""
        return self.shares.get(person, True)

    async def check(self) -> tuple[Check, ...]:
        """Nothing can be missing."""
        return (Check(self.platform, ok=True, found="recorded"),)

    async def close(self) -> None:
        """End `run`."""
        self._deliver, self._running = None, False
        if self._closed is not None:
            self._closed.set()


@dataclass(frozen=True, slots=True)
class Spot:
    """A conversation of a room."""

    room: Room
    thread: str = ""

    @property
    def conversation(self) -> Conversation:
        """Where it is."""
        return Conversation(self.room.key, self.thread)


@dataclass(slots=True)
class Events:
    """Makes events, each under an identity of its own. `last` is the number of the newest."""

    clock: Clock
    last: int = 0

    def number(self) -> int:
        """The next number."""
        self.last += 1
        return self.last

    def _event(self, what: Happening, spot: Spot, author: Author, identity: str) -> Incoming:
        return Incoming(what, EventKey(identity), spot.room, spot.conversation, author, self.clock.now())

    def said(
        self, spot: Spot, author: Author, text: str, *, addressed: bool = False, reply_to: MessageKey | None = None
    ) -> Incoming:
        """Somebody said something."""
        key = message_key(spot.room.key, str(self.number()))
        event = self._event(Happening.MESSAGE, spot, author, key)
        return replace(event, text=text, message=key, addressed=addressed, reply_to=reply_to)

    def edited(self, said: Incoming, text: str) -> Incoming:
        """The message has a new text."""
        spot = Spot(said.room, said.conversation.thread)
        event = self._event(Happening.EDIT, spot, said.author, f"{said.message}@{self.number()}")
        return replace(event, text=text, message=said.message, addressed=said.addressed)

    def deleted(self, said: Incoming, by: Author) -> Incoming:
        """The message is gone; platforms seldom tell by whom."""
        spot = Spot(said.room, said.conversation.thread)
        event = self._event(Happening.DELETE, spot, by, f"{said.message}!deleted")
        return replace(event, message=said.message)

    def command(self, spot: Spot, author: Author, words: str, *, member: bool = True) -> Incoming:
        """Somebody used /remem."""
        number = self.number()
        event = self._event(Happening.COMMAND, spot, author, f"{spot.room.key.platform}:trigger:{number}")
        return replace(event, words=words, addressed=True, answer_to=str(number), member=member)

    def button(self, spot: Spot, author: Author, button: str) -> Incoming:
        """Somebody pressed a button."""
        return replace(self.command(spot, author, button), happening=Happening.BUTTON)

    def about_room(self, what: Happening, spot: Spot, author: Author) -> Incoming:
        """The bot was added or removed, the room renamed, the person turned away from it."""
        return self._event(what, spot, author, f"{spot.room.key}!{what.value}@{self.number()}")
