"""The way in, in memory: the twin of sqlite_intake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.ids import MessageKey, RoomKey, Scope
from memory_core.ledger.base import Accepted, Changed, Deleted, Edited, Event, Posted, Reached, RoomState
from memory_core.ledger.book import Book, Known, Row
from memory_core.ledger.values import is_newer, storable, stored, utc
from memory_core.messages import Entry, Voice


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
        self._book.of(event.scope.key).arrived = known.seq
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
        waiting = {key for key, own in self._book.by_scope.items() if own.open_plans}
        for seq, row in self._book.rows.items():
            if seq > self._book.of(row.scope.key).cursors.get(row.message.conversation, 0):
                waiting.add(row.scope.key)
        return tuple(self._book.scopes[key] for key in sorted(waiting))

    async def known_scopes(self) -> tuple[Scope, ...]:
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
