"""What the in-memory ledger keeps its facts in."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from memory_core.clock import Clock
from memory_core.ids import Conversation, EventKey, MessageKey, PageId, RoomKey, Scope
from memory_core.ledger.base import Changed, Edited, Hit, Plan, RoomState, WayBack
from memory_core.ledger.rows import us_of
from memory_core.ledger.transcript import Line, Opening, TranscriptState
from memory_core.ledger.usage import Purpose, Report, Spent
from memory_core.ledger.values import EARLY_EDIT_KEPT, Covered, utc
from memory_core.messages import Message


@dataclass(slots=True)
class Known:
    """What outlives a message's text: whose it is, its place, whether it came (`posted`) and went (`gone`)."""

    scope: str = ""
    seq: int | None = None
    posted: bool = False
    gone: bool = False


@dataclass(slots=True)
class Row:
    """A recorded message that still has its text; `owed`: it waits for an answer. `text_id` changes with the text."""

    scope: Scope
    message: Message
    owed: bool
    text_id: int


@dataclass(slots=True)
class Shelf:
    """One scope's share, apart from its messages. Hits, marks and changes are kept by a growing number."""

    cursors: dict[Conversation, int] = field(default_factory=dict)
    open_plans: dict[str, tuple[Plan, Covered]] = field(default_factory=dict)
    last_plan: Plan | None = None
    hits: dict[int, Hit] = field(default_factory=dict)
    marks: dict[int, tuple[MessageKey, PageId, str]] = field(default_factory=dict)
    ways: dict[int, WayBack] = field(default_factory=dict)
    changes: dict[int, Changed] = field(default_factory=dict)
    arrived: int = 0
    revised: int = 0
    usage: dict[tuple[date, Purpose, str], Spent] = field(default_factory=dict)

    def forget(self, covered: Covered) -> None:
        """Drop what a plan covers."""
        self.hits = {number: hit for number, hit in self.hits.items() if number > covered.hit}
        self.marks = {number: mark for number, mark in self.marks.items() if number > covered.mark}
        self.ways = {number: way for number, way in self.ways.items() if number > covered.mark}
        self.changes = {number: change for number, change in self.changes.items() if number > covered.change}

    def move(self, cursors: Mapping[Conversation, int]) -> None:
        """Move cursors, never back."""
        for conversation, seq in cursors.items():
            self.cursors[conversation] = max(seq, self.cursors.get(conversation, 0))


@dataclass(slots=True)
class Book:
    """All that a ledger holds."""

    clock: Clock
    opening: str
    last_seq: int = 0
    last_number: int = 0
    events: dict[EventKey, int | None] = field(default_factory=dict)
    known: dict[MessageKey, Known] = field(default_factory=dict)
    early: dict[MessageKey, tuple[Edited, datetime]] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    shelves: dict[str, Shelf] = field(default_factory=dict)
    rooms: dict[RoomKey, RoomState] = field(default_factory=dict)
    heard: dict[tuple[str, Conversation], MessageKey | None] = field(default_factory=dict)
    reports: dict[tuple[str, str], deque[tuple[int, Report]]] = field(default_factory=dict)
    """By scope and model, each with its number."""

    def shelf(self, scope_key: str) -> Shelf:
        """The scope's share."""
        return self.shelves.setdefault(scope_key, Shelf())

    def number(self) -> int:
        """The next number of a hit, mark or change."""
        self.last_number += 1
        return self.last_number

    def note_change(self, scope_key: str, change: Changed) -> None:
        """Keep the newest change of each message."""
        changes = self.shelf(scope_key).changes
        for number in [number for number, earlier in changes.items() if earlier.message == change.message]:
            del changes[number]
        changes[self.number()] = change

    def put_last(self, seq: int) -> None:
        """Give a message the place behind all others."""
        row, self.last_seq = self.rows.pop(seq), self.last_seq + 1
        self.rows[self.last_seq] = row
        self.shelf(row.scope.key).arrived = self.last_seq
        self.known[row.message.key].seq = self.last_seq
        event = EventKey(row.message.key)
        if self.events.get(event) == seq:
            self.events[event] = self.last_seq

    def outline(self, scope_key: str, after: int, of: Conversation | None) -> tuple[Line, ...]:
        """The scope's messages after a seq that have a text, also only `of` one conversation; by it and by seq."""
        lines = [
            Line(seq, row.message.conversation, row.text_id, us_of(row.message.sent_at))
            for seq, row in self.rows.items()
            if row.scope.key == scope_key and seq > after and of in (None, row.message.conversation)
        ]
        return tuple(sorted(lines, key=lambda line: (str(line.conversation), line.seq)))

    def state(self, scope_key: str) -> TranscriptState:
        """How far the scope's transcript came, how often it was revised, and by whom."""
        shelf = self.shelf(scope_key)
        written = shelf.arrived or shelf.revised
        return TranscriptState(shelf.arrived, shelf.revised, (Opening(self.opening),) if written else ())

    def revise(self, scope_key: str) -> None:
        """Note that a kept text of the scope was edited, deleted or erased."""
        self.shelf(scope_key).revised += 1

    def expire(self) -> None:
        """Drop edits whose message did not come in time."""
        limit = utc(self.clock.now()) - EARLY_EDIT_KEPT
        self.early = {key: early for key, early in self.early.items() if early[1] >= limit}
