"""The reading side of memory_core.ledger.transcript, on SQLite, and the one place that counts revisions."""

from __future__ import annotations

import json
from collections.abc import Collection

from memory_core.errors import BadInput
from memory_core.ids import Conversation, RoomKey
from memory_core.ledger.database import Database
from memory_core.ledger.rows import OPENED_BY, OPENING, SAID, said_of, strange
from memory_core.ledger.transcript import Line, Opening, Said, TranscriptState

# Asked by conversation, so that what came after a seq is found without a look at all that came before.
_OUTLINE = """SELECT c.room, c.thread, m.seq, m.text_id, m.sent_us FROM conversations c
    CROSS JOIN messages m ON m.scope = c.scope AND m.room = c.room AND m.thread = c.thread AND m.seq > ?2
    WHERE c.scope = ?1 AND c.newest > ?2"""
_OF = " AND c.room = ?3 AND c.thread = ?4"
_IN_ORDER = " ORDER BY c.room, c.thread, m.seq"
# The `+` keeps SQLite from walking through the whole scope: each message is found by its seq.
_THESE = f"""SELECT {SAID} WHERE +m.scope = ? AND m.seq IN (SELECT value FROM json_each(?))
    ORDER BY m.seq"""  # noqa: S608  # our own constant
_REVISE = f"UPDATE scopes SET revised = revised + 1, openings = {OPENED_BY.format(2)} WHERE scope = ?1"  # noqa: S608


def revise(database: Database, scope: str) -> None:
    """Note that a kept text of the scope was edited, deleted or erased."""
    database.run(_REVISE, (scope, database.opening))


def state(database: Database, scope: str) -> TranscriptState:
    """How far the scope's transcript came, how often it was revised, and by whom."""
    row = database.row("SELECT arrived, revised, openings FROM scopes WHERE scope = ?", (scope,))
    if row is None:
        return TranscriptState()
    try:
        openings = [Opening.of(row[2][at : at + OPENING]) for at in range(0, len(row[2]), OPENING)]
    except ValueError:  # no remem wrote it: what was derived is made anew
        openings = []
    return TranscriptState(row[0], row[1], tuple(openings))


def outline(database: Database, scope: str, after: int, of: Conversation | None) -> tuple[Line, ...]:
    """The messages that have their text. Raises LedgerDamaged for a row that no remem wrote."""
    question, place = (_OUTLINE + _OF, (of.room, of.thread)) if of is not None else (_OUTLINE, ())
    groups: dict[Conversation, list[Line]] = {}
    conversation: Conversation | None = None
    try:
        for room, thread, seq, text_id, sent_us in database.rows(question + _IN_ORDER, (scope, after, *place)):
            if conversation is None or thread != conversation.thread or room != conversation.room:
                conversation = Conversation(RoomKey(room), thread)
                lines = groups[conversation] = []
            lines.append(Line(seq, conversation, text_id, sent_us))
    except (BadInput, TypeError) as wrong:
        raise strange("message") from wrong
    return tuple(line for place in sorted(groups, key=str) for line in groups[place])


def said(database: Database, scope: str, seqs: Collection[int]) -> tuple[Said, ...]:
    """What these messages of the scope say, by seq. Raises LedgerDamaged for a row that no remem wrote."""
    return tuple(map(said_of, database.rows(_THESE, (scope, json.dumps(list(seqs))))))
