"""Values to rows and back."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from memory_core.errors import LedgerDamaged
from memory_core.ids import Conversation, DirectScope, MessageKey, PersonKey, RoomKey, Scope, scope_of_key
from memory_core.ledger.base import Plan
from memory_core.ledger.database import OPENING_NAME, Bound, Database, Row
from memory_core.ledger.transcript import Opening, Said
from memory_core.ledger.usage import Purpose, Report, Spent
from memory_core.messages import Entry, Message, Voice

_STRANGE = (ValueError, TypeError, OverflowError, RecursionError)
"""What a value raises that was never written so (BadInput is a ValueError)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US = timedelta(microseconds=1)

_MESSAGES = "FROM messages m CROSS JOIN texts t ON t.id = m.text_id"
"""CROSS JOIN: messages first, always."""
ENTRY = f"""m.seq, m.message, m.room, m.thread, m.author, m.author_name, t.text, m.sent_us, m.voice, m.room_title,
    m.addressed, m.reply_to, m.edited_us {_MESSAGES}"""
"""What `entry_of` reads, up to the WHERE."""
SAID = f"m.seq, m.message, m.author_name, t.text, m.sent_us, m.voice, m.addressed {_MESSAGES}"
"""What `said_of` reads, up to the WHERE."""

_OPENINGS = 16
"""How many openings a scope names."""
OPENING = len(str(Opening("0" * OPENING_NAME)))
"""The characters of an opening, as a scope names it."""
OPENED_BY = (
    f"CASE WHEN ?{{0}} IN ('', substr(openings, -{OPENING}, {OPENING_NAME})) THEN openings "
    f"ELSE substr(openings || ?{{0}} || printf('%012d%012d', arrived, revised), -{OPENING * _OPENINGS}) END"
)
"""A scope's openings with the one of that name (none for '') as the last, and what state it found."""
_KEEP_SCOPE = f"""INSERT INTO scopes (scope, owner, arrived, openings) VALUES (?1, ?2, ?3, ?5)
    ON CONFLICT DO UPDATE SET owner = ?2, arrived = max(arrived, ?3), openings = {OPENED_BY.format(4)}
    WHERE owner <> ?2 OR arrived < ?3"""  # noqa: S608  # our own constant

SPENT = """day, purpose, model, runs, requests, tool_calls, input_tokens, cached_tokens, output_tokens,
    cost_micro_usd, unpriced_runs, estimated_runs FROM usage"""
"""What `spent_of` reads, up to the WHERE."""
_SPENT_BEFORE = SPENT.replace("estimated_runs", "0")

REPORTED = "model, counted_tokens, input_tokens FROM usage_reports"
"""What `report_of_row` reads, up to the WHERE."""


def us_of(moment: datetime) -> int:
    """Microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _US


def moment_of(us: int) -> datetime:
    """The moment, in UTC."""
    return _EPOCH + us * _US


def entry_of(row: Row) -> Entry:
    """A row of `ENTRY`. Raises LedgerDamaged for one that no remem wrote."""
    try:
        return _entry(row)
    except _STRANGE as wrong:
        raise strange("message") from wrong


def said_of(row: Row) -> Said:
    """A row of `SAID`. Raises LedgerDamaged for one that no remem wrote."""
    seq, key, author_name, text, sent_us, voice, addressed = row
    try:
        return Said(seq, key, author_name, text, moment_of(sent_us), _voice(voice), bool(addressed))
    except _STRANGE as wrong:
        raise strange("message") from wrong


def strange(what: str) -> LedgerDamaged:
    """The error for a row that no remem wrote."""
    return LedgerDamaged(f"The ledger holds a {what} that cannot be read; restart remem, which sets the file aside.")


def _entry(row: Row) -> Entry:
    seq, key, room, thread, author, author_name, text, sent_us, voice, room_title, addressed, reply_to, edited_us = (
        row
    )
    message = Message(
        key=MessageKey(key),
        conversation=_conversation(room, thread),
        author=_person(author),
        author_name=author_name,
        text=text,
        sent_at=moment_of(sent_us),
        voice=_voice(voice),
        room_title=room_title,
        addressed=bool(addressed),
        reply_to=MessageKey(reply_to) if reply_to is not None else None,
        edited_at=moment_of(edited_us) if edited_us is not None else None,
    )
    return Entry(seq, message)


@lru_cache(maxsize=1024)  # few of them say everything
def _conversation(room: str, thread: str) -> Conversation:
    return Conversation(RoomKey(room), thread)


_person = lru_cache(maxsize=1024)(PersonKey)
_voice = lru_cache(maxsize=len(Voice))(Voice)


def spent_of(row: Row) -> Spent:
    """A row of `SPENT`. Raises LedgerDamaged for one that no remem wrote."""
    day, purpose, *rest = row
    try:
        return Spent(date.fromisoformat(day), Purpose(purpose), *rest)
    except _STRANGE as wrong:
        raise strange("sum of usage") from wrong


def spent_in(database: Database) -> str | None:
    """`SPENT` for a file of any schema; None for one that knows no usage."""
    columns = {name for _, name, *_ in database.rows("PRAGMA table_info(usage)")}
    if not columns:
        return None
    return SPENT if "estimated_runs" in columns else _SPENT_BEFORE


def report_of_row(row: Row) -> Report:
    """A row of `REPORTED`. Raises LedgerDamaged for one that no remem wrote."""
    try:
        return Report(*row)
    except _STRANGE as wrong:
        raise strange("report of usage") from wrong


def insert_message(database: Database, scope: Scope, message: Message, owed: bool) -> int:
    """Append a message (as `values.stored` gives it); its seq."""
    conversation = message.conversation
    values: tuple[Bound, ...] = (
        scope.key,
        conversation.room,
        conversation.thread,
        message.key,
        message.author,
        message.author_name,
        database.put_text(scope.key, message.text),
        us_of(message.sent_at),
        message.voice,
        message.room_title,
        message.addressed,
        message.reply_to,
        us_of(message.edited_at) if message.edited_at is not None else None,
        owed,
    )
    return database.insert(
        """INSERT INTO messages (scope, room, thread, message, author, author_name, text_id, sent_us, voice,
            room_title, addressed, reply_to, edited_us, owed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        values,
    )


def keep_scope(database: Database, scope: Scope, arrived: int = 0) -> None:
    """Remember what the scope's key means, and its newest message: seq `arrived` if it is higher than before.

    Whose home the root is may change, the newest word counts.
    """
    owner = isinstance(scope, DirectScope) and scope.owner
    name = database.opening if arrived else ""
    database.run(_KEEP_SCOPE, (scope.key, owner, arrived, name, str(Opening(name)) if name else ""))


def plan_of(row: Row) -> Plan:
    """A row of id, number, text (operations and receipt), cursors. Raises LedgerDamaged for one that is none."""
    plan_id, number, text, cursors = row
    try:
        operations, receipt = json.loads(text)
        places = {Conversation(RoomKey(room), thread): int(seq) for room, thread, seq in json.loads(cursors)}
    except _STRANGE as wrong:
        raise strange("plan") from wrong
    return Plan(plan_id, number, operations, places, receipt)


def _of_another_type(database: Database) -> bool:
    """Does a column hold what its declaration does not say? SQLite lets it. (Emptied texts are zeros.)"""
    for (table,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE%'"):
        if table.startswith("sqlite_"):
            continue
        columns = database.rows('SELECT name, lower(type), "notnull" FROM pragma_table_info(?)', (table,))
        allowed = [(name, f"'{kind}'" if required else f"'{kind}', 'null'") for name, kind, required in columns]
        others = " OR ".join(f"typeof({name}) NOT IN ({kinds})" for name, kinds in allowed)
        besides = " AND emptied = 0" if table == "texts" else ""
        if database.row(f"SELECT 1 FROM {table} WHERE ({others}){besides} LIMIT 1"):  # noqa: S608
            return True
    return False


def unreadable(database: Database) -> str:
    """What cannot be read in it, in few words; empty where all can. Reads every message. Raises sqlite3.Error.

    SQLite's own check looks at pages and keys only: a value that changed inside a page passes it.
    """
    try:
        if _of_another_type(database):
            return "a value of it is of another type"
        for row in database.run(f"SELECT {ENTRY}"):
            entry_of(row)
        plans = "SELECT p.id, p.number, t.text, p.cursors FROM plans p CROSS JOIN texts t ON t.id = p.text_id"
        for row in database.run(plans):
            plan_of(row)
        for (room,) in database.run("SELECT room FROM conversations"):
            RoomKey(room)
        for (scope,) in database.run("SELECT scope FROM scopes"):
            scope_of_key(scope)
        _read_usage(database)
    except (LedgerDamaged, *_STRANGE):
        return "a row of it cannot be read"
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", None) is not None:
            raise
        return "a text of it is no text"
    return ""


def _read_usage(database: Database) -> None:
    """Read all of it; an older schema has none."""
    spent = spent_in(database)
    if spent is None:
        return
    for row in database.run(f"SELECT {spent}"):
        spent_of(row)
    for row in database.run(f"SELECT {REPORTED}"):
        report_of_row(row)


def plan_text(plan: Plan) -> str:
    """Operations and receipt in one text: both may quote people, so both stand where text can be emptied."""
    return json.dumps([plan.operations, plan.receipt], ensure_ascii=False)


def plan_cursors(plan: Plan) -> str:
    """The cursors as JSON: [[room, thread, seq], …]."""
    return json.dumps([[place.room, place.thread, seq] for place, seq in plan.cursors.items()])
