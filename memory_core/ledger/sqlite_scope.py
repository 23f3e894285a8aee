"""One scope's ledger, on SQLite.

Every statement here that names a table binds this scope's key, and nothing else can name another scope: there is no
scope argument. (A test watches the statements as SQLite ran them.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory_core.ids import Conversation, MessageKey, PageId, RoomKey, Scope
from memory_core.ledger import sqlite_plans as plans
from memory_core.ledger.base import Changed, Context, Hit, Plan, WayBack
from memory_core.ledger.database import Database
from memory_core.ledger.rows import ENTRY, entry_of, keep_scope, moment_of, us_of
from memory_core.ledger.sqlite_transcript import outline, revise, said, state
from memory_core.ledger.sqlite_usage import SqliteScopeUsage
from memory_core.ledger.transcript import Line, Said, TranscriptState
from memory_core.ledger.values import Covered, closed_already, out_of_order, storable
from memory_core.ledger.worker import Worker
from memory_core.messages import Entry

# These are put together from our own constants only; every value is bound (hence the noqa's).
_PLACE = f"SELECT {ENTRY} WHERE m.scope = ? AND m.room = ? AND m.thread = ?"
_BEFORE = f"{_PLACE} AND m.seq <= ? ORDER BY m.seq DESC LIMIT ?"
_AFTER = f"{_PLACE} AND m.seq > ? ORDER BY m.seq"
_FIND = f"""SELECT {ENTRY} WHERE m.scope = ?1
    AND m.seq = (SELECT seq FROM known WHERE message = ?2 AND scope = ?1)"""  # noqa: S608
_SPENT = """scope = ? AND owed = 0 AND sent_us < ? AND seq <= (SELECT cursor FROM conversations c
    WHERE c.scope = messages.scope AND c.room = messages.room AND c.thread = messages.thread)"""
_SPENT_TEXTS = f"id IN (SELECT text_id FROM messages WHERE {_SPENT})"  # noqa: S608
_DELETE_SPENT = f"DELETE FROM messages WHERE {_SPENT}"  # noqa: S608
_KEEP_WAY_BACK = """UPDATE written SET text_id = ?1, after_plan = (
    SELECT id FROM plans WHERE scope = ?2 AND closed = 1) WHERE scope = ?2 AND message = ?3"""
_WAYS_BACK = """SELECT w.message, w.page, w.after_plan, t.text FROM written w CROSS JOIN texts t ON t.id = w.text_id
    WHERE w.scope = ? AND t.emptied = 0 ORDER BY w.number"""
_CONVERSATIONS = """SELECT room, thread FROM conversations c WHERE scope = ? AND EXISTS (SELECT 1 FROM messages m
    WHERE m.scope = c.scope AND m.room = c.room AND m.thread = c.thread)"""
# The newest may be gone again, which only the messages tell; most conversations need not be asked.
_UNFLUSHED = """SELECT room, thread FROM conversations c INDEXED BY conversations_unflushed
    WHERE scope = ? AND newest > cursor AND EXISTS (SELECT 1 FROM messages m
        WHERE m.scope = c.scope AND m.room = c.room AND m.thread = c.thread AND m.seq > c.cursor)"""
_CURSORS = "SELECT room, thread, cursor FROM conversations WHERE scope = ?"
_TIMES = "SELECT seq, sent_us, owed FROM messages WHERE scope = ? AND room = ? AND thread = ? ORDER BY seq"
_COLUMNS = """scope, room, thread, message, author, author_name, text_id, sent_us, voice, room_title, addressed,
    reply_to, edited_us, owed"""
_MOVE = f"INSERT INTO messages ({_COLUMNS}) SELECT {_COLUMNS} FROM messages WHERE scope = ? AND seq = ?"  # noqa: S608
_MOVED_EVENT = """UPDATE events SET seq = ?1 WHERE seq = ?2
    AND event = (SELECT message FROM messages WHERE scope = ?3 AND seq = ?2)"""
_MOVED = """UPDATE known SET seq = ?1 WHERE scope = ?2 AND seq = ?3
    AND message = (SELECT message FROM messages WHERE scope = ?2 AND seq = ?3)"""
_COVERED_TEXTS = "id IN (SELECT text_id FROM written WHERE scope = ? AND number <= ?)"


class SqliteScopeLedger:
    """One scope's transcript, cursors, plans, hits, marks and changes."""

    def __init__(self, scope: Scope, worker: Worker) -> None:
        self._scope = scope
        self._key = scope.key
        self._worker = worker
        self._handed_out = Covered()
        self.usage = SqliteScopeUsage(scope, worker)

    @property
    def scope(self) -> Scope:
        """The one scope that this ledger is bound to."""
        return self._scope

    async def conversations(self) -> tuple[Conversation, ...]:
        """Every conversation of the scope that has messages, sorted by their text form. Raises LedgerFailed."""
        return await self._places(_CONVERSATIONS)

    async def unflushed(self) -> tuple[Conversation, ...]:
        """Those of the conversations that have messages after their cursor. Raises LedgerFailed."""
        return await self._places(_UNFLUSHED)

    async def _places(self, question: str) -> tuple[Conversation, ...]:
        rows = await self._worker.run(lambda database: database.rows(question, (self._key,)), self._key)
        return tuple(sorted((Conversation(RoomKey(room), thread) for room, thread in rows), key=str))

    async def context(self, conversation: Conversation, tail: int = 20) -> Context:
        """The last `tail` entries before the cursor, and all after it. Raises LedgerFailed."""
        place = (self._key, conversation.room, conversation.thread)

        def work(database: Database) -> Context:
            cursor = _cursor(database, self._key, conversation)
            before = database.rows(_BEFORE, (*place, cursor, max(0, tail)))
            after = database.rows(_AFTER, (*place, cursor))
            return Context(tuple(map(entry_of, reversed(before))), tuple(map(entry_of, after)))

        return await self._worker.run(work, self._key)

    async def find(self, message: MessageKey) -> Entry | None:
        """One message of this scope; None where it is unknown, deleted or erased. Raises LedgerFailed."""

        def work(database: Database) -> Entry | None:
            row = database.row(_FIND, (self._key, message))
            return entry_of(row) if row is not None else None

        return await self._worker.run(work, self._key)

    async def transcript_state(self) -> TranscriptState:
        """How far the transcript came, and how often it was revised. Raises LedgerFailed."""
        return await self._worker.run(lambda database: state(database, self._key), self._key)

    async def transcript_outline(self, after: int = 0, of: Conversation | None = None) -> tuple[Line, ...]:
        """Every message that has its text, by conversation and seq. Raises LedgerFailed."""
        return await self._worker.run(lambda database: outline(database, self._key, after, of), self._key)

    async def transcript(self, seqs: Sequence[int]) -> tuple[Said, ...]:
        """What these messages say in the order of seq, those of this scope that are there. Raises LedgerFailed."""
        wanted = frozenset(seqs)
        return await self._worker.run(lambda database: said(database, self._key, wanted), self._key)

    async def cursor(self, conversation: Conversation) -> int:
        """The seq up to which the conversation was flushed; 0 at first. Raises LedgerFailed."""
        return await self._worker.run(lambda database: _cursor(database, self._key, conversation), self._key)

    async def save_plan(self, plan: Plan) -> None:
        """Persist a plan before it is applied. Raises LedgerFailed."""
        covered = self._handed_out

        def work(database: Database) -> None:
            if plans.is_closed(database, self._key, plan):
                raise closed_already(plan)
            keep_scope(database, self._scope)
            plans.put(database, self._key, plan, covered, closed=False)

        await self._worker.run(work, self._key)

    async def open_plans(self) -> tuple[Plan, ...]:
        """Plans that were saved and not closed, oldest first. Raises LedgerFailed."""
        return await self._worker.run(lambda database: plans.read(database, self._key, closed=False), self._key)

    async def last_plan(self) -> Plan | None:
        """The newest closed plan; None where there is none. Raises LedgerFailed."""
        found = await self._worker.run(lambda database: plans.read(database, self._key, closed=True), self._key)
        return found[0] if found else None

    async def close_plan(self, plan: Plan) -> None:
        """Keep the plan as the last one, move its cursors, forget what it covers. Raises LedgerFailed."""
        handed_out = self._handed_out

        def work(database: Database) -> None:
            if plans.is_closed(database, self._key, plan):
                return
            covered = plans.covered_by(database, self._key, plan) or handed_out
            plans.drop_last(database, self._key)
            plans.put(database, self._key, plan, covered, closed=True)
            self._move(database, plan.cursors)
            self._forget(database, covered)

        await self._worker.run(work, self._key)

    async def move_cursors(self, cursors: Mapping[Conversation, int]) -> None:
        """Move cursors without a plan; they never go back. Raises LedgerFailed."""
        covered = Covered(change=self._handed_out.change)
        places = dict(cursors)

        def work(database: Database) -> None:
            self._move(database, places)
            self._forget(database, covered)

        await self._worker.run(work, self._key)

    async def put_in_order(self) -> None:
        """Let the messages of each flushed conversation stand in the order of their times. Raises LedgerFailed."""

        def work(database: Database) -> None:
            for room, thread, cursor in database.rows(_CURSORS, (self._key,)):
                place = (self._key, room, thread)
                rows = database.rows(_TIMES, place)
                if not any(owed or seq > cursor for seq, _, owed in rows):
                    self._reorder(database, Conversation(RoomKey(room), thread), [(seq, us) for seq, us, _ in rows])

        await self._worker.run(work, self._key)

    def _reorder(self, database: Database, conversation: Conversation, rows: Sequence[tuple[int, int]]) -> None:
        newest = 0
        for seq in out_of_order(rows):
            newest = database.insert(_MOVE, (self._key, seq))
            database.run(_MOVED, (newest, self._key, seq))
            database.run(_MOVED_EVENT, (newest, seq, self._key))
            database.run("DELETE FROM messages WHERE scope = ? AND seq = ?", (self._key, seq))
        if newest:
            place = (newest, self._key, conversation.room, conversation.thread)
            database.run("UPDATE conversations SET newest = ? WHERE scope = ? AND room = ? AND thread = ?", place)
            self._move(database, {conversation: newest})
            keep_scope(database, self._scope, newest)
            revise(database, self._key)

    async def mark_written(self, message: MessageKey, page: PageId, record: str, back: str = "") -> bool:
        """Note that `message` was written at once; False if it was noted before. Raises LedgerFailed."""

        def work(database: Database) -> bool:
            cursor = database.run(
                "INSERT INTO written (scope, message, page, record) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (self._key, message, page, storable(record)),
            )
            if cursor.rowcount == 1 and back:
                values = (database.put_text(self._key, storable(back)), self._key, message)
                database.run(_KEEP_WAY_BACK, values)
            return cursor.rowcount == 1

        return await self._worker.run(work, self._key)

    async def written(self) -> tuple[tuple[MessageKey, PageId, str], ...]:
        """What was written at once since the last flush. Raises LedgerFailed."""
        rows = await self._worker.run(
            lambda database: database.rows(
                "SELECT number, message, page, record FROM written WHERE scope = ? ORDER BY number", (self._key,)
            ),
            self._key,
        )
        self._handed_out = replace(self._handed_out, mark=rows[-1][0] if rows else 0)
        return tuple((MessageKey(message), PageId(page), record) for _, message, page, record in rows)

    async def ways_back(self) -> tuple[WayBack, ...]:
        """How what was written at once is taken back, oldest first. Raises LedgerFailed."""
        rows = await self._worker.run(lambda database: database.rows(_WAYS_BACK, (self._key,)), self._key)
        return tuple(
            WayBack(MessageKey(message), PageId(page), after or "", back) for message, page, after, back in rows
        )

    async def add_hits(self, hits: Sequence[Hit]) -> None:
        """Note uses of records. Raises LedgerFailed."""
        values = [(self._key, hit.page, storable(hit.record), us_of(hit.at)) for hit in hits]

        def work(database: Database) -> None:
            for hit in values:
                database.run("INSERT INTO hits (scope, page, record, at_us) VALUES (?, ?, ?, ?)", hit)

        await self._worker.run(work, self._key)

    async def hits(self) -> tuple[Hit, ...]:
        """Uses since the last flush. Raises LedgerFailed."""
        rows = await self._worker.run(
            lambda database: database.rows(
                "SELECT number, page, record, at_us FROM hits WHERE scope = ? ORDER BY number", (self._key,)
            ),
            self._key,
        )
        self._handed_out = replace(self._handed_out, hit=rows[-1][0] if rows else 0)
        return tuple(Hit(PageId(page), record, moment_of(at_us)) for _, page, record, at_us in rows)

    async def changed(self) -> tuple[Changed, ...]:
        """Messages that were edited or deleted since the last flush, oldest change first. Raises LedgerFailed."""
        rows = await self._worker.run(
            lambda database: database.rows(
                "SELECT number, message, deleted FROM changes WHERE scope = ? ORDER BY number", (self._key,)
            ),
            self._key,
        )
        self._handed_out = replace(self._handed_out, change=rows[-1][0] if rows else 0)
        return tuple(Changed(MessageKey(message), bool(deleted)) for _, message, deleted in rows)

    async def erase(self, before: datetime) -> int:
        """Erase raw text that is flushed, was sent before `before` and waits for no answer. Raises LedgerFailed."""
        values = (self._key, us_of(before))

        def work(database: Database) -> int:
            database.empty_texts(self._key, _SPENT_TEXTS, values)
            erased = database.run(_DELETE_SPENT, values).rowcount
            if erased:
                revise(database, self._key)
            return erased

        return await self._worker.run(work, self._key, must_purge=True)

    def _move(self, database: Database, cursors: Mapping[Conversation, int]) -> None:
        for conversation, seq in cursors.items():
            database.run(
                """INSERT INTO conversations (scope, room, thread, cursor, newest) VALUES (?, ?, ?, ?, 0)
                    ON CONFLICT DO UPDATE SET cursor = max(cursor, excluded.cursor)""",
                (self._key, conversation.room, conversation.thread, seq),
            )

    def _forget(self, database: Database, covered: Covered) -> None:
        database.run("DELETE FROM hits WHERE scope = ? AND number <= ?", (self._key, covered.hit))
        database.empty_texts(self._key, _COVERED_TEXTS, (self._key, covered.mark))
        database.run("DELETE FROM written WHERE scope = ? AND number <= ?", (self._key, covered.mark))
        database.run("DELETE FROM changes WHERE scope = ? AND number <= ?", (self._key, covered.change))


def _cursor(database: Database, scope: str, conversation: Conversation) -> int:
    row = database.row(
        "SELECT cursor FROM conversations WHERE scope = ? AND room = ? AND thread = ?",
        (scope, conversation.room, conversation.thread),
    )
    return int(row[0]) if row is not None else 0
