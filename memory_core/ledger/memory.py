"""The in-memory ledger: the twin of the SQLite one, for tests and for a bot that shall keep nothing.

Nothing here awaits, so every call is whole. The two must agree under random operations
(tests/memory_core/test_ledger_agreement.py); what a call means is told in `base`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.clock import Clock
from memory_core.ids import Conversation, MessageKey, PageId, RoomKey, Scope
from memory_core.ledger.base import (
    Accepted,
    Changed,
    Context,
    Deleted,
    Edited,
    Event,
    Hit,
    Plan,
    Posted,
    Reached,
    RoomState,
    WayBack,
)
from memory_core.ledger.book import Book, Known, Row, Shelf
from memory_core.ledger.memory_timers import MemoryTimers
from memory_core.ledger.memory_usage import MemoryReports, MemoryScopeUsage
from memory_core.ledger.rows import us_of
from memory_core.ledger.transcript import Line, Said, TranscriptState
from memory_core.ledger.values import (
    Covered,
    closed_already,
    is_newer,
    out_of_order,
    storable,
    stored,
    stored_plan,
    utc,
)
from memory_core.messages import Entry, Voice
from memory_core.store.disk import Disk


@dataclass(frozen=True, slots=True)
class MemoryIntake:
    """The way in, in memory."""

    _book: Book

    async def record(self, events: Sequence[Event]) -> tuple[Accepted, ...]:
        """Keep the events, one answer each, in order."""
        self._book.expire()
        return tuple(self._take(event) for event in events)

    def _take(self, event: Event) -> Accepted:
        if event.event in self._book.events:
            return Accepted(event.event, False, self._book.events[event.event])
        match event:
            case Posted():
                accepted = self._post(event)
            case Edited():
                accepted = Accepted(event.event, True, self._edit(event))
            case Deleted():
                accepted = Accepted(event.event, True, self._delete(event))
            case _:
                accepted = Accepted(event.event, True)
        self._book.events[event.event] = accepted.seq
        return accepted

    def _post(self, event: Posted) -> Accepted:
        key = event.message.key
        known = self._book.known.setdefault(key, Known())
        if known.posted:
            return Accepted(event.event, False, known.seq)
        known.posted = True
        early = self._book.early.pop(key, None)
        if event.scope is None or known.gone:
            return Accepted(event.event, True)
        message = stored(event.message)
        if early is not None and is_newer(early[0].edited_at, message.edited_at):
            message = replace(message, text=storable(early[0].text), edited_at=utc(early[0].edited_at))
        self._book.last_seq += 1
        known.seq, known.scope = self._book.last_seq, event.scope.key
        self._book.rows[known.seq] = Row(event.scope, message, event.owed, self._book.number())
        self._book.shelf(event.scope.key).arrived = known.seq
        self._book.scopes[event.scope.key] = event.scope
        place = (event.scope.key, message.conversation)
        heard = message.key if message.voice is not Voice.SELF and not event.past else None
        self._book.heard[place] = heard or self._book.heard.get(place)
        return Accepted(event.event, True, known.seq)

    def _edit(self, event: Edited) -> int | None:
        known = self._book.known.get(event.message)
        if known is None:
            earlier = self._book.early.get(event.message)
            if earlier is None or is_newer(event.edited_at, earlier[0].edited_at):
                self._book.early[event.message] = (event, utc(self._book.clock.now()))
            return None
        row = self._book.rows.get(known.seq or 0)
        if row is not None and is_newer(event.edited_at, row.message.edited_at):
            row.message = replace(row.message, text=storable(event.text), edited_at=utc(event.edited_at))
            row.text_id = self._book.number()
            self._book.revise(known.scope)
            self._book.note_change(known.scope, Changed(event.message, deleted=False))
        return known.seq

    def _delete(self, event: Deleted) -> int | None:
        known = self._book.known.setdefault(event.message, Known())
        self._book.early.pop(event.message, None)
        if not known.gone and known.seq is not None:
            if self._book.rows.pop(known.seq, None) is not None:
                self._book.revise(known.scope)
            self._book.note_change(known.scope, Changed(event.message, deleted=True))
        known.gone = True
        return known.seq

    async def answered(self, message: MessageKey) -> bool:
        """Claim an owed message: True for the first caller only."""
        known = self._book.known.get(message, Known())
        row = self._book.rows.get(known.seq or 0)
        if row is None or not row.owed:
            return False
        row.owed = False
        return True

    async def owed(self) -> tuple[tuple[Scope, Entry], ...]:
        """Messages that wait for an answer, oldest first."""
        return tuple(
            (self._book.scopes[row.scope.key], Entry(seq, row.message))
            for seq, row in self._book.rows.items()
            if row.owed
        )

    async def scopes(self) -> tuple[Scope, ...]:
        """Every scope that has unflushed messages or open plans, by its key."""
        waiting = {key for key, shelf in self._book.shelves.items() if shelf.open_plans}
        for seq, row in self._book.rows.items():
            if seq > self._book.shelf(row.scope.key).cursors.get(row.message.conversation, 0):
                waiting.add(row.scope.key)
        return tuple(self._book.scopes[key] for key in sorted(waiting))

    async def known(self) -> tuple[Scope, ...]:
        """Every scope that anything was ever kept of, by its key."""
        return tuple(scope for _, scope in sorted(self._book.scopes.items()))

    async def kept(self, before: datetime) -> tuple[Scope, ...]:
        """Every scope that holds a message sent before `before`, by its key."""
        found = {row.scope.key for row in self._book.rows.values() if row.message.sent_at < before}
        return tuple(self._book.scopes[key] for key in sorted(found))

    async def room(self, room: RoomKey) -> RoomState:
        """What is known of the room."""
        return self._book.rooms.get(room, RoomState())

    async def keep_room(self, room: RoomKey, state: RoomState) -> None:
        """Replace what is known of the room."""
        greeted_at = utc(state.greeted_at) if state.greeted_at is not None else None
        self._book.rooms[room] = replace(state, greeted_at=greeted_at)

    async def rooms(self, platform: str) -> tuple[tuple[RoomKey, RoomState], ...]:
        """What is known of a platform's rooms, by their keys."""
        return tuple(
            sorted((row for row in self._book.rooms.items() if row[0].platform == platform), key=lambda row: row[0])
        )

    async def reached(self, platform: str) -> tuple[Reached, ...]:
        """Where every conversation of a platform stands, by room and thread."""
        found = [
            Reached(self._book.scopes[scope], place, message)
            for (scope, place), message in self._book.heard.items()
            if place.room.platform == platform
        ]
        return tuple(sorted(found, key=lambda one: (one.conversation.room, one.conversation.thread, one.scope.key)))


@dataclass(slots=True)
class MemoryScopeLedger:
    """One scope's ledger, in memory."""

    scope: Scope
    _book: Book
    _handed_out: Covered = field(default_factory=Covered)

    @property
    def _shelf(self) -> Shelf:
        return self._book.shelf(self.scope.key)

    @property
    def usage(self) -> MemoryScopeUsage:
        """What models cost this scope."""
        return MemoryScopeUsage(self.scope, self._book)

    def _entries(self, conversation: Conversation | None = None) -> list[Entry]:
        return [
            Entry(seq, row.message)
            for seq, row in self._book.rows.items()
            if row.scope.key == self.scope.key and conversation in (None, row.message.conversation)
        ]

    async def conversations(self) -> tuple[Conversation, ...]:
        """Every conversation of the scope that has messages, sorted by their text form."""
        return tuple(sorted({entry.message.conversation for entry in self._entries()}, key=str))

    async def unflushed(self) -> tuple[Conversation, ...]:
        """Those of them that have messages after their cursor."""
        return tuple([place for place in await self.conversations() if (await self.context(place)).fresh])

    async def context(self, conversation: Conversation, tail: int = 20) -> Context:
        """The last `tail` entries before the cursor, and all after it."""
        entries, cursor = self._entries(conversation), await self.cursor(conversation)
        before = [entry for entry in entries if entry.seq <= cursor]
        return Context(
            tuple(before[max(0, len(before) - tail) :]), tuple(entry for entry in entries if entry.seq > cursor)
        )

    async def find(self, message: MessageKey) -> Entry | None:
        """One message of this scope; None where it is unknown, deleted or erased."""
        known = self._book.known.get(message, Known())
        row = self._book.rows.get(known.seq or 0)
        if known.seq is None or row is None or row.scope.key != self.scope.key:
            return None
        return Entry(known.seq, row.message)

    async def transcript_state(self) -> TranscriptState:
        """How far the transcript came, and how often it was revised."""
        return self._book.state(self.scope.key)

    async def transcript_outline(self, after: int = 0, of: Conversation | None = None) -> tuple[Line, ...]:
        """Every message that has its text, by conversation and seq."""
        return self._book.outline(self.scope.key, after, of)

    async def transcript(self, seqs: Sequence[int]) -> tuple[Said, ...]:
        """What these messages say in the order of seq, those of this scope that are there."""
        wanted = frozenset(seqs)
        return tuple(Said.of(entry) for entry in self._entries() if entry.seq in wanted)

    async def cursor(self, conversation: Conversation) -> int:
        """The seq up to which the conversation was flushed; 0 at first."""
        return self._shelf.cursors.get(conversation, 0)

    async def save_plan(self, plan: Plan) -> None:
        """Persist a plan before it is applied."""
        if self._shelf.last_plan is not None and self._shelf.last_plan.id == plan.id:
            raise closed_already(plan)
        self._shelf.open_plans[plan.id] = (stored_plan(plan), self._handed_out)
        self._book.scopes[self.scope.key] = self.scope

    async def open_plans(self) -> tuple[Plan, ...]:
        """Plans that were saved and not closed, oldest first."""
        return tuple(plan for plan, _ in self._shelf.open_plans.values())

    async def close_plan(self, plan: Plan) -> None:
        """Keep the plan as the last one, move its cursors, forget what it covers."""
        if self._shelf.last_plan is not None and self._shelf.last_plan.id == plan.id:
            return
        _, covered = self._shelf.open_plans.pop(plan.id, (plan, self._handed_out))
        self._shelf.last_plan = stored_plan(plan)
        self._shelf.move(plan.cursors)
        self._shelf.forget(covered)

    async def move_cursors(self, cursors: Mapping[Conversation, int]) -> None:
        """Move cursors without a plan; they never go back."""
        self._shelf.move(cursors)
        self._shelf.forget(Covered(change=self._handed_out.change))

    async def put_in_order(self) -> None:
        """Let the messages of each flushed conversation stand in the order of their times."""
        for conversation in await self.conversations():
            entries, cursor = self._entries(conversation), await self.cursor(conversation)
            if any(self._book.rows[entry.seq].owed or entry.seq > cursor for entry in entries):
                continue
            moved = out_of_order([(entry.seq, us_of(entry.message.sent_at)) for entry in entries])
            for seq in moved:
                self._book.put_last(seq)
            if moved:
                self._book.revise(self.scope.key)
                self._shelf.move({conversation: self._book.last_seq})

    async def last_plan(self) -> Plan | None:
        """The newest closed plan; None where there is none."""
        return self._shelf.last_plan

    async def mark_written(self, message: MessageKey, page: PageId, record: str, back: str = "") -> bool:
        """Note that `message` was written at once; False if it was noted before."""
        shelf = self._shelf
        if any(mark[0] == message for mark in shelf.marks.values()):
            return False
        number = self._book.number()
        shelf.marks[number] = (message, page, storable(record))
        if back:
            shelf.ways[number] = WayBack(message, page, shelf.last_plan.id if shelf.last_plan else "", storable(back))
        return True

    async def written(self) -> tuple[tuple[MessageKey, PageId, str], ...]:
        """What was written at once since the last flush."""
        self._handed_out = replace(self._handed_out, mark=max(self._shelf.marks, default=0))
        return tuple(self._shelf.marks.values())

    async def ways_back(self) -> tuple[WayBack, ...]:
        """How what was written at once is taken back, oldest first."""
        return tuple(self._shelf.ways.values())

    async def add_hits(self, hits: Sequence[Hit]) -> None:
        """Note uses of records."""
        for hit in hits:
            self._shelf.hits[self._book.number()] = replace(hit, record=storable(hit.record), at=utc(hit.at))

    async def hits(self) -> tuple[Hit, ...]:
        """Uses since the last flush."""
        self._handed_out = replace(self._handed_out, hit=max(self._shelf.hits, default=0))
        return tuple(self._shelf.hits.values())

    async def changed(self) -> tuple[Changed, ...]:
        """Messages that were edited or deleted since the last flush."""
        self._handed_out = replace(self._handed_out, change=max(self._shelf.changes, default=0))
        return tuple(self._shelf.changes.values())

    async def erase(self, before: datetime) -> int:
        """Erase raw text that is flushed, was sent before `before` and waits for no answer."""
        spent = [
            entry.seq
            for entry in self._entries()
            if entry.message.sent_at < before
            and not self._book.rows[entry.seq].owed
            and entry.seq <= self._shelf.cursors.get(entry.message.conversation, 0)
        ]
        for seq in spent:
            del self._book.rows[seq]
        if spent:
            self._book.revise(self.scope.key)
        return len(spent)


class MemoryLedger:
    """Intake, timers, reports and every scope's ledger, in memory. `opening` is its name; else it gets one."""

    def __init__(self, clock: Clock, opening: str = "") -> None:
        self._book = Book(clock, opening or Disk().token())
        self.intake = MemoryIntake(self._book)
        self.timers = MemoryTimers()
        self.reports = MemoryReports(self._book)

    def open(self, scope: Scope) -> MemoryScopeLedger:
        """The ledger bound to `scope`."""
        return MemoryScopeLedger(scope, self._book)
