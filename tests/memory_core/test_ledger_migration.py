"""A ledger of an older remem is brought up to date when it is opened, and keeps what it holds."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.ids import Conversation, GroupScope
from memory_core.ledger.base import Reached, RoomState
from memory_core.ledger.schema import MIGRATIONS, VERSION
from memory_core.ledger.sqlite import SqliteLedger
from tests.memory_core.ledger_values import BUILD, MAIN, ROOM, START, key, posted

_THREAD = Conversation(ROOM, "t1")
_SAID = ((MAIN, 1, "person"), (MAIN, 2, "person"), (MAIN, 3, "self"), (_THREAD, 4, "self"))


def _first_version(path: Path) -> None:
    """The file as the first remem wrote it: its tables, two conversations, a greeted room."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("INSERT INTO scopes VALUES (?, 0)", (BUILD.key,))
        connection.execute("INSERT INTO rooms VALUES (?, 1, 0, NULL, NULL)", (ROOM,))
        for place, native, voice in _SAID:
            text = connection.execute(
                "INSERT INTO texts (scope, text, emptied) VALUES (?, 'hello', 0)", (BUILD.key,)
            ).lastrowid
            row = (BUILD.key, ROOM, place.thread, key(native), "slack:T1:U1", "Ana", text, native, voice, "", 0, 0)
            seq = connection.execute(
                """INSERT INTO messages (scope, room, thread, message, author, author_name, text_id, sent_us, voice,
                    room_title, addressed, owed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                row,
            ).lastrowid
            connection.execute("INSERT INTO events VALUES (?, ?)", (key(native), seq))
            connection.execute("INSERT INTO known VALUES (?, ?, ?, 1, 0)", (key(native), BUILD.key, seq))
            connection.execute(
                "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, 0, ?)", (BUILD.key, ROOM, place.thread, seq)
            )
        connection.execute("PRAGMA user_version = 1")


@pytest.mark.asyncio
async def test_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    await asyncio.to_thread(_first_version, path)
    ledger = await SqliteLedger.open(path, ManualClock(START))
    try:
        assert await ledger.intake.reached("slack") == (
            Reached(GroupScope("build"), MAIN, key(2)),
            Reached(GroupScope("build"), _THREAD, None),
        ), "what was heard last is found in what is there"
        assert await ledger.intake.rooms("slack") == ((ROOM, RoomState(recorded=True)),)
        assert [entry.message.key for entry in (await ledger.open(BUILD).context(MAIN)).fresh] == [
            key(1), key(2), key(3)
        ]  # fmt: skip
        state = await ledger.open(BUILD).transcript_state()
        assert (state.arrived, state.revised) == (4, 0)
        assert [(line.seq, line.conversation) for line in await ledger.open(BUILD).transcript_outline()] == [
            (1, MAIN), (2, MAIN), (3, MAIN), (4, _THREAD)
        ]  # fmt: skip
        again, new = await ledger.intake.record([posted(2), posted(5)])
        assert (again.new, new.new) == (False, True)
        assert (await ledger.intake.reached("slack"))[0].message == key(5)
        state = await ledger.open(BUILD).transcript_state()
        assert (state.arrived, state.revised) == (5, 0)
    finally:
        await ledger.close()

    def version() -> int:
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])

    assert await asyncio.to_thread(version) == VERSION
