"""The in-memory ledger: the twin of the SQLite one, for tests and for a bot that shall keep nothing.

Nothing here awaits, so every call is whole. The two must agree under random operations
(tests/memory_core/test_ledger_agreement.py); what a call means is told in `base`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.clock import Clock
from memory_core.ids import Conversation, MessageKey, PageId, Scope
from memory_core.ledger.base import Changed, Context, Hit, Plan, WayBack
from memory_core.ledger.book import Book, Known, ScopeBook
from memory_core.ledger.memory_intake import MemoryIntake
from memory_core.ledger.memory_timers import MemoryTimers
from memory_core.ledger.memory_usage import MemoryReports, MemoryScopeUsage
from memory_core.ledger.rows import us_of
from memory_core.ledger.transcript import Line, Said, TranscriptState
from memory_core.ledger.values import Covered, closed_already, out_of_order, storable, stored_plan, utc
from memory_core.messages import Entry
from memory_core.store.disk import Disk


@dataclass(slots=True)
class MemoryScopeLedger:
    """One scope's ledger, in memory."""

    scope: Scope
    _book: Book
    _handed_out: Covered = field(default_factory=Covered)

    @property
    def _own(self) -> ScopeBook:
        return self._book.of(self.scope.key)

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
        return self._own.cursors.get(conversation, 0)

    async def save_plan(self, plan: Plan) -> None:
        """Persist a plan before it is applied."""
        if self._own.last_plan is not None and self._own.last_plan.id == plan.id:
            raise closed_already(plan)
        self._own.open_plans[plan.id] = (stored_plan(plan), self._handed_out)
        self._book.scopes[self.scope.key] = self.scope

    async def open_plans(self) -> tuple[Plan, ...]:
        """Plans that were saved and not closed, oldest first."""
        return tuple(plan for plan, _ in self._own.open_plans.values())

    async def close_plan(self, plan: Plan) -> None:
        """Keep the plan as the last one, move its cursors, forget what it covers."""
        if self._own.last_plan is not None and self._own.last_plan.id == plan.id:
            return
        _, covered = self._own.open_plans.pop(plan.id, (plan, self._handed_out))
        self._own.last_plan = stored_plan(plan)
        self._own.move(plan.cursors)
        self._own.forget(covered)

    async def move_cursors(self, cursors: Mapping[Conversation, int]) -> None:
        """Move cursors without a plan; they never go back."""
        self._own.move(cursors)
        self._own.forget(Covered(change=self._handed_out.change))

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
                self._own.move({conversation: self._book.last_seq})

    async def last_plan(self) -> Plan | None:
        """The newest closed plan; None where there is none."""
        return self._own.last_plan

    async def mark_written(self, message: MessageKey, page: PageId, record: str, back: str = "") -> bool:
        """Note that `message` was written at once; False if it was noted before."""
        own = self._own
        if any(mark[0] == message for mark in own.marks.values()):
            return False
        number = self._book.number()
        own.marks[number] = (message, page, storable(record))
        if back:
            own.ways[number] = WayBack(message, page, own.last_plan.id if own.last_plan else "", storable(back))
        return True

    async def written(self) -> tuple[tuple[MessageKey, PageId, str], ...]:
        """What was written at once since the last flush."""
        self._handed_out = replace(self._handed_out, mark=max(self._own.marks, default=0))
        return tuple(self._own.marks.values())

    async def ways_back(self) -> tuple[WayBack, ...]:
        """How what was written at once is taken back, oldest first."""
        return tuple(self._own.ways.values())

    async def add_hits(self, hits: Sequence[Hit]) -> None:
        """Note uses of records."""
        for hit in hits:
            self._own.hits[self._book.number()] = replace(hit, record=storable(hit.record), at=utc(hit.at))

    async def hits(self) -> tuple[Hit, ...]:
        """Uses since the last flush."""
        self._handed_out = replace(self._handed_out, hit=max(self._own.hits, default=0))
        return tuple(self._own.hits.values())

    async def changed(self) -> tuple[Changed, ...]:
        """Messages that were edited or deleted since the last flush."""
        self._handed_out = replace(self._handed_out, change=max(self._own.changes, default=0))
        return tuple(self._own.changes.values())

    async def erase(self, before: datetime) -> int:
        """Erase raw text that is flushed, was sent before `before` and waits for no answer."""
        spent = [
            entry.seq
            for entry in self._entries()
            if entry.message.sent_at < before
            and not self._book.rows[entry.seq].owed
            and entry.seq <= self._own.cursors.get(entry.message.conversation, 0)
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
