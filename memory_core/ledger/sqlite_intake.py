"""The way in, on SQLite: each event once, edits and deletes in any order, what is owed an answer.

    an event key that is known        → a repeat
    Posted    key known as posted     → a repeat, whatever its event key
              key known as gone       → the delete came first: only the key is kept
              an early edit waits     → its text counts, if it is newer
    Edited    key unknown             → waits for its message, a day at most
              row with an older text  → the text is replaced, the change noted for the flush
    Deleted   row                     → text emptied, row removed, the change noted; the key stays as gone
              key unknown             → the key is kept as gone

A message that is gone stays gone. A scope of None keeps the key alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_core.clock import Clock
from memory_core.ids import Conversation, MessageKey, RoomKey, Scope, scope_of_key
from memory_core.ledger.base import Accepted, Deleted, Edited, Event, Posted, Reached, RoomState
from memory_core.ledger.database import Database, Row
from memory_core.ledger.rows import ENTRY, entry_of, insert_message, keep_scope, moment_of, us_of
from memory_core.ledger.sqlite_transcript import revise
from memory_core.ledger.values import EARLY_EDIT_KEPT, storable, stored
from memory_core.ledger.worker import Worker
from memory_core.messages import Entry, Message, Voice

# These are put together from our own constants only; every value is bound (hence the noqa's).
_OF_PLATFORM = "room >= ?1 || ':' AND room < ?1 || ';'"
_ROOM = "SELECT room, recorded, stopped, greeted_us, purpose_question FROM rooms WHERE"
_ROOMS = f"{_ROOM} {_OF_PLATFORM} ORDER BY room"
_REACHED = f"""SELECT s.scope, s.owner, room, thread, heard FROM conversations c CROSS JOIN scopes s
    ON s.scope = c.scope WHERE {_OF_PLATFORM} AND newest > 0 ORDER BY room, thread, s.scope"""  # noqa: S608
_NO_SCOPE = ""  # whose the text of an early edit is, nobody knows yet


class SqliteIntake:
    """The process-wide way in."""

    def __init__(self, worker: Worker, clock: Clock) -> None:
        self._worker = worker
        self._clock = clock

    async def record(self, events: Sequence[Event]) -> tuple[Accepted, ...]:
        """Keep the events, one answer each, in order; durable when this returns. Raises LedgerFailed."""
        now_us = us_of(self._clock.now())

        def work(database: Database) -> tuple[Accepted, ...]:
            _expire(database, now_us)
            return tuple(_take(database, event, now_us) for event in events)

        return await self._worker.run(work)

    async def answered(self, message: MessageKey) -> bool:
        """Claim an owed message, durably: True for the first caller only. Raises LedgerFailed."""

        def work(database: Database) -> bool:
            cursor = database.run(
                """UPDATE messages SET owed = 0
                    WHERE owed = 1 AND seq = (SELECT seq FROM known WHERE message = ?)""",
                (message,),
            )
            return cursor.rowcount == 1

        return await self._worker.run(work)

    async def owed(self) -> tuple[tuple[Scope, Entry], ...]:
        """Messages that wait for an answer, oldest first. Raises LedgerFailed."""

        def work(database: Database) -> tuple[tuple[Scope, Entry], ...]:
            scopes = {
                key: scope_of_key(key, owner=bool(owner))
                for key, owner in database.rows("SELECT scope, owner FROM scopes")
            }
            rows = database.rows(f"SELECT m.scope, {ENTRY} WHERE m.owed = 1 ORDER BY m.seq")
            return tuple((scopes[row[0]], entry_of(row[1:])) for row in rows)

        return await self._worker.run(work)

    async def scopes(self) -> tuple[Scope, ...]:
        """Every scope that has unflushed messages or open plans, by its key. Raises LedgerFailed."""

        def work(database: Database) -> tuple[Scope, ...]:
            rows = database.rows(
                """SELECT scope, owner FROM scopes WHERE scope IN (
                        SELECT c.scope FROM conversations c WHERE c.newest > c.cursor AND EXISTS (
                            SELECT 1 FROM messages m WHERE m.scope = c.scope AND m.room = c.room
                                AND m.thread = c.thread AND m.seq > c.cursor))
                    OR scope IN (SELECT scope FROM plans WHERE closed = 0) ORDER BY scope"""
            )
            return tuple(scope_of_key(key, owner=bool(owner)) for key, owner in rows)

        return await self._worker.run(work)

    async def known_scopes(self) -> tuple[Scope, ...]:
        """Every scope that anything was ever kept of, by its key. Raises LedgerFailed."""
        rows = await self._worker.run(
            lambda database: database.rows("SELECT scope, owner FROM scopes ORDER BY scope", ())
        )
        return tuple(scope_of_key(key, owner=bool(owner)) for key, owner in rows)

    async def kept(self, before: datetime) -> tuple[Scope, ...]:
        """Every scope that holds a message sent before `before`, by its key. Raises LedgerFailed."""
        sent = us_of(before)
        rows = await self._worker.run(
            lambda database: database.rows(
                """SELECT scope, owner FROM scopes s WHERE EXISTS (
                    SELECT 1 FROM messages m WHERE m.scope = s.scope AND m.sent_us < ?) ORDER BY scope""",
                (sent,),
            )
        )
        return tuple(scope_of_key(key, owner=bool(owner)) for key, owner in rows)

    async def room(self, room: RoomKey) -> RoomState:
        """What is known of the room; a fresh RoomState for an unknown one. Raises LedgerFailed."""

        def work(database: Database) -> RoomState:
            row = database.row(f"{_ROOM} room = ?", (room,))
            return _state_of(row) if row is not None else RoomState()

        return await self._worker.run(work)

    async def rooms(self, platform: str) -> tuple[tuple[RoomKey, RoomState], ...]:
        """What is known of a platform's rooms, by their keys. Raises LedgerFailed."""
        rows = await self._worker.run(lambda database: database.rows(_ROOMS, (platform,)))
        return tuple((RoomKey(row[0]), _state_of(row)) for row in rows)

    async def reached(self, platform: str) -> tuple[Reached, ...]:
        """Where every conversation of a platform stands, by room and thread. Raises LedgerFailed."""
        rows = await self._worker.run(lambda database: database.rows(_REACHED, (platform,)))
        return tuple(
            Reached(
                scope_of_key(scope, owner=bool(owner)),
                Conversation(RoomKey(room), thread),
                MessageKey(message) if message is not None else None,
            )
            for scope, owner, room, thread, message in rows
        )

    async def keep_room(self, room: RoomKey, state: RoomState) -> None:
        """Replace what is known of the room. Raises LedgerFailed."""
        greeted_us = us_of(state.greeted_at) if state.greeted_at is not None else None

        def work(database: Database) -> None:
            database.run(
                """INSERT OR REPLACE INTO rooms (room, recorded, stopped, greeted_us, purpose_question)
                    VALUES (?, ?, ?, ?, ?)""",
                (room, state.recorded, state.stopped, greeted_us, state.purpose_question),
            )

        await self._worker.run(work)


def _state_of(row: Row) -> RoomState:
    """A row of `_ROOM`."""
    _, recorded, stopped, greeted_us, question = row
    greeted_at = moment_of(greeted_us) if greeted_us is not None else None
    return RoomState(bool(recorded), bool(stopped), greeted_at, question)


def _take(database: Database, event: Event, now_us: int) -> Accepted:
    seen = database.row("SELECT seq FROM events WHERE event = ?", (event.event,))
    if seen is not None:
        return Accepted(event.event, False, seen[0])
    match event:
        case Posted():
            accepted = _post(database, event)
        case Edited():
            accepted = Accepted(event.event, True, _edit(database, event, now_us))
        case Deleted():
            accepted = Accepted(event.event, True, _delete(database, event))
        case _:
            accepted = Accepted(event.event, True)
    database.run("INSERT INTO events (event, seq) VALUES (?, ?)", (event.event, accepted.seq))
    return accepted


def _post(database: Database, event: Posted) -> Accepted:
    key = event.message.key
    known = database.row("SELECT posted, seq FROM known WHERE message = ?", (key,))
    if known is not None and known[0]:
        return Accepted(event.event, False, known[1])
    message = _with_early_edit(database, stored(event.message))
    seq = None
    if known is None and event.scope is not None:
        seq = insert_message(database, event.scope, message, event.owed)
        _note_newest(database, event.scope, message, seq, past=event.past)
    database.run(
        """INSERT INTO known (message, scope, seq, posted, gone) VALUES (?, ?, ?, 1, 0)
            ON CONFLICT DO UPDATE SET posted = 1""",
        (key, event.scope.key if event.scope is not None else _NO_SCOPE, seq),
    )
    return Accepted(event.event, True, seq)


def _with_early_edit(database: Database, message: Message) -> Message:
    row = database.row(
        """SELECT t.text, e.edited_us, e.text_id FROM early_edits e CROSS JOIN texts t ON t.id = e.text_id
            WHERE e.message = ?""",
        (message.key,),
    )
    if row is None:
        return message
    text, edited_us, text_id = row
    _forget_early(database, message.key, text_id)
    if message.edited_at is not None and edited_us <= us_of(message.edited_at):
        return message
    return replace(message, text=text, edited_at=moment_of(edited_us))


def _note_newest(database: Database, scope: Scope, message: Message, seq: int, *, past: bool) -> None:
    keep_scope(database, scope, seq)
    heard = message.key if message.voice is not Voice.SELF and not past else None
    database.run(
        """INSERT INTO conversations (scope, room, thread, cursor, newest, heard) VALUES (?, ?, ?, 0, ?, ?)
            ON CONFLICT DO UPDATE SET newest = excluded.newest, heard = coalesce(excluded.heard, heard)""",
        (scope.key, message.conversation.room, message.conversation.thread, seq, heard),
    )


def _edit(database: Database, event: Edited, now_us: int) -> int | None:
    edited_us = us_of(event.edited_at)
    known = database.row("SELECT scope, seq FROM known WHERE message = ?", (event.message,))
    if known is None:
        _keep_early(database, event, edited_us, now_us)
        return None
    scope, seq = known
    row = database.row("SELECT text_id, edited_us FROM messages WHERE seq = ?", (seq,))
    if row is not None and (row[1] is None or edited_us > row[1]):
        database.empty_texts(scope, "id = ?", (row[0],))
        database.run(
            "UPDATE messages SET text_id = ?, edited_us = ? WHERE seq = ?",
            (database.put_text(scope, storable(event.text)), edited_us, seq),
        )
        revise(database, scope)
        _note_change(database, scope, event.message, deleted=False)
    return None if seq is None else int(seq)


def _delete(database: Database, event: Deleted) -> int | None:
    early = database.row("SELECT text_id FROM early_edits WHERE message = ?", (event.message,))
    if early is not None:
        _forget_early(database, event.message, early[0])
    known = database.row("SELECT scope, seq, gone FROM known WHERE message = ?", (event.message,))
    if known is None:
        database.run(
            "INSERT INTO known (message, scope, seq, posted, gone) VALUES (?, ?, NULL, 0, 1)",
            (event.message, _NO_SCOPE),
        )
        return None
    scope, seq, gone = known
    if seq is None or gone:
        return None if seq is None else int(seq)
    database.run("UPDATE known SET gone = 1 WHERE message = ?", (event.message,))
    row = database.row("SELECT text_id FROM messages WHERE seq = ?", (seq,))
    if row is not None:
        database.empty_texts(scope, "id = ?", (row[0],))
        database.run("DELETE FROM messages WHERE seq = ?", (seq,))
        revise(database, scope)
    _note_change(database, scope, event.message, deleted=True)
    return int(seq)


def _note_change(database: Database, scope: str, message: MessageKey, *, deleted: bool) -> None:
    """Keep the newest change of each message, under a new number: a plan that covers an older one covers not this."""
    database.run(
        "INSERT OR REPLACE INTO changes (scope, message, deleted) VALUES (?, ?, ?)", (scope, message, deleted)
    )


def _keep_early(database: Database, event: Edited, edited_us: int, now_us: int) -> None:
    earlier = database.row("SELECT text_id, edited_us FROM early_edits WHERE message = ?", (event.message,))
    if earlier is not None:
        if edited_us <= earlier[1]:
            return
        _forget_early(database, event.message, earlier[0])
    database.run(
        "INSERT INTO early_edits (message, text_id, edited_us, seen_us) VALUES (?, ?, ?, ?)",
        (event.message, database.put_text(_NO_SCOPE, storable(event.text)), edited_us, now_us),
    )


def _forget_early(database: Database, message: MessageKey, text_id: int) -> None:
    database.empty_texts(_NO_SCOPE, "id = ?", (text_id,))
    database.run("DELETE FROM early_edits WHERE message = ?", (message,))


def _expire(database: Database, now_us: int) -> None:
    limit_us = now_us - us_of(moment_of(0) + EARLY_EDIT_KEPT)
    for message, text_id in database.rows("SELECT message, text_id FROM early_edits WHERE seen_us < ?", (limit_us,)):
        _forget_early(database, message, text_id)
