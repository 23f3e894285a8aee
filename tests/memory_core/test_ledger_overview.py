"""A look at the ledger from another process: true while it is open, lays no byte beside it, refuses what is wrong."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.errors import LedgerDamaged, LedgerFailed
from memory_core.ids import Conversation, DirectScope, EventKey, GroupScope, PersonKey, RoomKey, message_key
from memory_core.ledger.base import Edited, Posted
from memory_core.ledger.overview import look_at
from memory_core.ledger.sqlite import SqliteLedger
from memory_core.ledger.timers import Timer
from memory_core.messages import Message, Voice

NOW = datetime(2026, 4, 6, 12, tzinfo=UTC)
BUILD, ANA = GroupScope("build"), DirectScope(PersonKey("slack:T1:U2"), owner=True)
ROOM = RoomKey("discord:1")


def _posted(
    number: int, scope: GroupScope | DirectScope = BUILD, thread: str = "", voice: Voice = Voice.PERSON
) -> Posted:
    key = message_key(ROOM, str(number))
    talk = Conversation(ROOM, thread)
    message = Message(key, talk, PersonKey("discord:7"), "ana", "a canary", NOW, voice)
    return Posted(EventKey(key), message, scope)


async def _fill(path: Path) -> None:
    """Two conversations of a group and one of a DM; one of them flushed; a timer; an edit. Looked at while open."""
    ledger = await SqliteLedger.open(path, ManualClock(NOW))
    try:
        await ledger.intake.record([_posted(1), _posted(2), _posted(3, voice=Voice.SELF), _posted(4, thread="9")])
        await ledger.intake.record([_posted(5, ANA)])
        await ledger.open(BUILD).move_cursors({Conversation(ROOM): 1})
        await ledger.intake.record([Edited(EventKey("e"), message_key(ROOM, "1"), "a canary, edited", NOW)])
        await ledger.timers.set(Timer("sleep:group:build", NOW, '{"scope": "group:build", "owner": false}'))
        await ledger.timers.set(Timer("other", NOW, "no scope here"))
        await asyncio.to_thread(_check, path)
    finally:
        await ledger.close()


def _check(path: Path) -> None:
    direct, build = look_at(path)
    assert (direct.scope, direct.messages) == (ANA, 1)
    assert [(str(one.conversation), one.messages) for one in build.conversations] == [
        ("discord:1", 1),
        ("discord:1#9", 1),
    ]
    assert build.conversations[0].newest_at == NOW
    assert [timer.key for timer in build.timers] == ["sleep:group:build"]
    assert (build.changed, build.open_plans, direct.changed) == (1, 0, 0)


def test_it_is_true_while_the_ledger_is_open_and_after(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    asyncio.run(_fill(path))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    _check(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_where_there_is_no_ledger_nothing_is_known(tmp_path: Path) -> None:
    assert look_at(tmp_path / "ledger.db") == ()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_none_of_ours_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"no database at all, but long enough to be looked at as one" * 40)
    with pytest.raises(LedgerDamaged):
        look_at(path)
    path.unlink()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
        newer.execute("CREATE TABLE scopes (scope TEXT)")
        newer.commit()
    content = path.read_bytes()
    with pytest.raises(LedgerFailed, match="schema 99"):
        look_at(path)
    assert path.read_bytes() == content
