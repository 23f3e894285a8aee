"""The ports to what must survive and is not memory yet: events, transcripts, cursors, plans, timers.

One SQLite file holds all of them, behind three narrow doors:

* `Intake` is process-wide: it takes events by their platform identity and tells what was answered. When `record`
  returns, its events are durable; an event that was there already is told as not new.
* `ScopeLedger` is bound to ONE scope when it is made and takes no scope anywhere: that scope's transcript, cursors,
  plans, hits. Every statement that it runs names its own scope.
* `Timers` is process-wide: what is due when.

An edit replaces the text of a message; a delete empties it for ever. Both count also when they arrive before their
message: a delete wins always, of two texts the later edited one; an edit whose message does not come within a day
is erased. Raw text before a cursor may be erased; its key stays, so that a late delivery is still known. Times come
back in UTC; half of a surrogate pair, which is no text, comes back as U+FFFD.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from memory_core.ids import Conversation, EventKey, MessageKey, PageId, RoomKey, Scope
from memory_core.ledger.timers import Timers
from memory_core.ledger.transcript import Transcript
from memory_core.ledger.usage import Reports, ScopeUsage
from memory_core.messages import Entry, Message


@dataclass(frozen=True, slots=True)
class Posted:
    """A message was posted; `scope` None: only the key is kept (not recorded). `owed`: it waits for an answer.

    `past`: it is history of a conversation that was heard since, so how far that was heard stays (`Reached`).
    """

    event: EventKey
    message: Message
    scope: Scope | None
    owed: bool = False
    past: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """A message has new text (masked). Unknown messages are not created by an edit."""

    event: EventKey
    message: MessageKey
    text: str
    edited_at: datetime


@dataclass(frozen=True, slots=True)
class Deleted:
    """A message was removed on its platform."""

    event: EventKey
    message: MessageKey


@dataclass(frozen=True, slots=True)
class Noted:
    """Anything else that must be handled once: a command, a button, a join."""

    event: EventKey


Event: TypeAlias = Posted | Edited | Deleted | Noted


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of an event: `new` is False for a repeat. `seq` is the message's place, None where it has none."""

    event: EventKey
    new: bool
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class RoomState:
    """What is known of a room beyond its name: is it recorded, was it greeted, which message asked for the purpose.

    `recorded`: invited by name or once addressed. `stopped`: a member asked not to be recorded here.
    """

    recorded: bool = False
    stopped: bool = False
    greeted_at: datetime | None = None
    purpose_question: MessageKey | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a recorded conversation was heard: its newest message that is not the bot's own, if there is one."""

    scope: Scope
    conversation: Conversation
    message: MessageKey | None


class Intake(Protocol):
    """The process-wide way in."""

    async def record(self, events: Sequence[Event]) -> tuple[Accepted, ...]:
        """Keep the events, one answer each, in order; durable when this returns.

        Raises LedgerFailed; then none of them was kept.
        """
        ...

    async def answered(self, message: MessageKey) -> bool:
        """Mark an owed message as answered, durably, before its answer is sent.

        True for the first caller, False for every later one and for a message that is not owed. Raises LedgerFailed.
        """
        ...

    async def owed(self) -> tuple[tuple[Scope, Entry], ...]:
        """Messages that wait for an answer, oldest first."""
        ...

    async def scopes(self) -> tuple[Scope, ...]:
        """Every scope that has unflushed messages or open plans, for the start of the program."""
        ...

    async def known_scopes(self) -> tuple[Scope, ...]:
        """Every scope that anything was ever kept of, by its key."""
        ...

    async def kept(self, before: datetime) -> tuple[Scope, ...]:
        """Every scope that holds a message sent before `before`, flushed or not, by its key: what may be to erase."""
        ...

    async def room(self, room: RoomKey) -> RoomState:
        """What is known of the room; a fresh RoomState for an unknown one."""
        ...

    async def keep_room(self, room: RoomKey, state: RoomState) -> None:
        """Replace what is known of the room. Raises LedgerFailed."""
        ...

    async def rooms(self, platform: str) -> tuple[tuple[RoomKey, RoomState], ...]:
        """What is known of all rooms of a platform that something is known of, sorted by their keys."""
        ...

    async def reached(self, platform: str) -> tuple[Reached, ...]:
        """Where every conversation of a platform stands, sorted by room and thread: what came after was missed."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a conversation is made of now: a tail from before its cursor, then everything after it."""

    tail: tuple[Entry, ...]
    fresh: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A flush (or another undoable step) as persisted: its operations as JSON, and how far it moves which cursor.

    `number` counts the scope's steps with content from 1. `operations` is memory_core.flush.engine's own format.
    """

    id: str
    number: int
    operations: str
    cursors: Mapping[Conversation, int] = field(default_factory=dict)
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """A message of the scope was edited, or `deleted`, after it was recorded: what was made from it may be wrong."""

    message: MessageKey
    deleted: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was used: its page and its identity (memory_core.forms.records.Record.identity), and when."""

    page: PageId
    record: str
    at: datetime


@dataclass(frozen=True, slots=True)
class WayBack:
    """How undo takes back what was written at once, in memory_core.flush.plans' own format; `after` is the id of the
    plan that was closed last before it ('' for none)."""

    message: MessageKey
    page: PageId
    after: str
    back: str


class ScopeLedger(Transcript, Protocol):
    """One scope's transcript, cursors, plans and hits. No scope argument anywhere."""

    @property
    def scope(self) -> Scope:
        """The one scope that this ledger is bound to."""
        ...

    @property
    def usage(self) -> ScopeUsage:
        """What models cost this scope (memory_core.ledger.usage)."""
        ...

    async def unflushed(self) -> tuple[Conversation, ...]:
        """Those of the conversations that have messages after their cursor, in that order. Raises LedgerFailed."""
        ...

    async def conversations(self) -> tuple[Conversation, ...]:
        """Every conversation of the scope that has messages, sorted by their text form."""
        ...

    async def context(self, conversation: Conversation, tail: int = 20) -> Context:
        """The last `tail` entries before the cursor that still have text, and all after it; deleted ones left out."""
        ...

    async def find(self, message: MessageKey) -> Entry | None:
        """One message of this scope; None where it is unknown, deleted or erased."""
        ...

    async def cursor(self, conversation: Conversation) -> int:
        """The seq up to which the conversation was flushed; 0 at first."""
        ...

    async def save_plan(self, plan: Plan) -> None:
        """Persist a plan before it is applied; saved again under its id, it is replaced.

        It covers the hits, marks and changes that this ledger object handed out until now: what comes meanwhile
        belongs to the next plan. Raises LedgerFailed, also for a plan that is closed.
        """
        ...

    async def open_plans(self) -> tuple[Plan, ...]:
        """Plans that were saved and not closed, oldest first."""
        ...

    async def close_plan(self, plan: Plan) -> None:
        """In one transaction: keep `plan` as the last one, move its cursors, forget what it covers (`save_plan`).

        Closing twice changes nothing. Of closed plans only the newest is kept. Raises LedgerFailed.
        """
        ...

    async def move_cursors(self, cursors: Mapping[Conversation, int]) -> None:
        """Move cursors without a plan: a flush that had nothing to write. Cursors never go back.

        Forgets the changes that this ledger object handed out; hits and marks wait for a plan.
        """
        ...

    async def put_in_order(self) -> None:
        """Let the messages of each conversation that is flushed to its end stand in the order of their times.

        For history that was taken in after what was said later. A conversation in which a message waits for an answer
        stays as it is. Raises LedgerFailed.
        """
        ...

    async def last_plan(self) -> Plan | None:
        """The newest closed plan, for undo; None where there is none."""
        ...

    async def mark_written(self, message: MessageKey, page: PageId, record: str, back: str = "") -> bool:
        """Note that `message` was written at once as `record`, and its way `back`; False if it was noted before.

        Raises LedgerFailed.
        """
        ...

    async def written(self) -> tuple[tuple[MessageKey, PageId, str], ...]:
        """What was written at once since the last flush."""
        ...

    async def ways_back(self) -> tuple[WayBack, ...]:
        """How it is taken back, oldest first; what was marked without a way back is left out. Hands out nothing."""
        ...

    async def add_hits(self, hits: Sequence[Hit]) -> None:
        """Note uses of records; they are written into pages by the next flush."""
        ...

    async def hits(self) -> tuple[Hit, ...]:
        """Uses since the last flush."""
        ...

    async def changed(self) -> tuple[Changed, ...]:
        """Messages that were edited or deleted since the last flush, oldest change first, each once."""
        ...

    async def erase(self, before: datetime) -> int:
        """Erase raw text that is flushed, was sent before `before` and waits for no answer: no byte stays.

        Gives the number of messages erased. Raises LedgerFailed, also where they are gone but bytes may stay because
        someone else is reading the ledger; the rest goes at the next write, and a second call says whether it went.
        """
        ...


class ScopeLedgers(Protocol):
    """Hands out the ledger of a scope."""

    def open(self, scope: Scope) -> ScopeLedger:
        """The ledger bound to `scope`."""
        ...


class Ledger(Protocol):
    """The process-wide doors of a ledger; SQLite's and the in-memory twin have both."""

    @property
    def intake(self) -> Intake:
        """The way in."""
        ...

    @property
    def timers(self) -> Timers:
        """What is due when."""
        ...

    @property
    def reports(self) -> Reports:
        """What the providers of models reported."""
        ...
