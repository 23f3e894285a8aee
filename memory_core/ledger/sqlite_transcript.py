"""The reading side of memory_core.ledger.transcript, on SQLite, and the one place that counts revisions."""

from __future__ import annotations

import json
from collections.abc import Collection

from memory_core.errors import BadInput
from memory_core.ids import Conversation, RoomKey
from memory_core.ledger.database import Database
from memory_core.ledger.rows import ENTRY, entry_of, strange
from memory_core.ledger.transcript import Line, TranscriptState
from memory_core.messages import Entry

_OUTLINE = """SELECT room, thread, seq, text_id, sent_us FROM messages WHERE scope = ?
    ORDER BY room, thread, seq"""
# The `+` keeps SQLite from walking through the whole scope: each message is found by its seq.
_THESE = f"""SELECT {ENTRY} WHERE +m.scope = ? AND m.seq IN (SELECT value FROM json_each(?))
    ORDER BY m.seq"""  # noqa: S608  # our own constant


def revise(database: Database, scope: str) -> None:
    """Note that a kept text of the scope was edited, deleted or erased."""
    database.run("UPDATE scopes SET revised = revised + 1 WHERE scope = ?", (scope,))


def state(database: Database, scope: str) -> TranscriptState:
    """How far the scope's transcript came, and how often it was revised."""
    row = database.row("SELECT arrived, revised FROM scopes WHERE scope = ?", (scope,))
    return TranscriptState(*row) if row is not None else TranscriptState()


def outline(database: Database, scope: str) -> tuple[Line, ...]:
    """The messages that have their text. Raises LedgerDamaged for a row that no remem wrote."""
    groups: dict[Conversation, list[Line]] = {}
    conversation: Conversation | None = None
    try:
        for room, thread, seq, text_id, sent_us in database.rows(_OUTLINE, (scope,)):
            if conversation is None or thread != conversation.thread or room != conversation.room:
                conversation = Conversation(RoomKey(room), thread)
                lines = groups[conversation] = []
            lines.append(Line(seq, conversation, text_id, sent_us))
    except (BadInput, TypeError) as wrong:
        raise strange("message") from wrong
    return tuple(line for place in sorted(groups, key=str) for line in groups[place])


def entries(database: Database, scope: str, seqs: Collection[int]) -> tuple[Entry, ...]:
    """These messages of the scope, by seq. Raises LedgerDamaged for a row that no remem wrote."""
    return tuple(map(entry_of, database.rows(_THESE, (scope, json.dumps(list(seqs))))))
