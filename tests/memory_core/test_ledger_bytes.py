"""Emptied text leaves no byte in the ledger's files."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import string
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory_core.clock import ManualClock
from memory_core.errors import LedgerFailed
from memory_core.ledger.base import Plan
from memory_core.ledger.opening import open_database
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from tests.memory_core.ledger_values import BUILD, MAIN, START, Faults, at, deleted, edited, posted
from tests.scale import scale

CLOCK = ManualClock(START)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest_asyncio.fixture
async def ledger(path: Path) -> AsyncIterator[OpenLedger]:
    opened = await SqliteLedger.open(path, CLOCK)
    yield opened
    await opened.close()


def bytes_of(path: Path) -> bytes:
    """All that the ledger's files hold."""
    return b"".join(
        found.read_bytes() for found in sorted(path.parent.glob("ledger.db*")) if found.suffix != ".db-shm"
    )


@pytest.mark.asyncio
async def test_emptied_text_leaves_no_byte(path: Path, ledger: OpenLedger) -> None:
    dice, build = random.Random(7), ledger.open(BUILD)
    gone: list[str] = []
    there: dict[int, str] = {}

    def text(number: int) -> str:
        middle = "".join(dice.choices(string.ascii_letters, k=dice.choice((5, 60, 400, 4080, 9000))))
        return f"<{number}!{middle}!{number}>"

    for number in range(scale(6000)):
        pick = dice.random()
        if pick < 0.5 or not there:
            there[number] = text(number)
            await ledger.intake.record([posted(number, there[number], minutes=number)])
        elif pick < 0.75:
            native = dice.choice(list(there))
            gone.append(there[native])
            there[native] = text(number)
            await ledger.intake.record([edited(native, there[native], 10_000 + number)])
        else:
            native = dice.choice(list(there))
            gone.append(there.pop(native))
            await ledger.intake.record([deleted(native)])
    fresh = (await build.context(MAIN)).fresh
    await build.move_cursors({MAIN: fresh[len(fresh) // 2].seq})
    flushed = {entry.message.text for entry in fresh[: len(fresh) // 2 + 1]}
    assert await build.erase(at(1_000_000)) == len(flushed)
    content = await asyncio.to_thread(bytes_of, path)
    for said in gone + sorted(flushed):
        assert said[:8].encode() not in content
        assert said[-8:].encode() not in content
    assert all(said.encode()[:8] in content for said in there.values() if said not in flushed)


@pytest.mark.asyncio
async def test_plans_and_early_edits_leave_no_byte(path: Path, ledger: OpenLedger) -> None:
    build = ledger.open(BUILD)
    for number in range(3):
        await build.save_plan(Plan(f"p{number}", number, f"the draft {number}"))
        await build.close_plan(Plan(f"p{number}", number, f"the plan {number}", receipt=f"the receipt {number}"))
    await ledger.intake.record([edited("M", "too early", 1)])
    await ledger.intake.record([deleted("M")])
    content = await asyncio.to_thread(bytes_of, path)
    for gone in (b"the draft", b"the plan 0", b"the receipt 1", b"too early"):
        assert gone not in content
    assert b"the plan 2" in content


@pytest.mark.asyncio
async def test_a_reader_that_holds_the_log_is_told_of_and_made_up_for(path: Path, ledger: OpenLedger) -> None:
    await ledger.intake.record([posted("M", "the door code")])
    build = ledger.open(BUILD)
    await build.move_cursors({MAIN: 1})

    def reader() -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM messages").fetchall()
        return connection

    held = await asyncio.to_thread(reader)
    with pytest.raises(LedgerFailed, match="another process is reading"):
        await build.erase(at(1))
    assert (await build.context(MAIN)).tail == ()
    await asyncio.to_thread(held.close)
    assert await build.erase(at(1)) == 0
    assert b"door code" not in await asyncio.to_thread(bytes_of, path)


def test_emptied_rows_are_given_back(path: Path) -> None:
    database = open_database(path, START)
    ids = [database.put_text("group:x", f"<{n}>" + "x" * 500) for n in range(800)]
    assert not database.compact(least=100)
    for text_id in ids[:600]:
        database.empty_texts("group:x", "id = ?", (text_id,))
    before = path.stat().st_size
    assert not database.compact(least=1000)
    assert database.compact(least=100)
    assert path.stat().st_size <= before / 2
    assert [row[0] for row in database.rows("SELECT id FROM texts ORDER BY id")] == ids[600:]
    assert b"<7>" not in bytes_of(path)
    database.close()


def test_a_rebuild_that_failed_is_made_up_for(path: Path) -> None:
    faults = Faults()
    database = open_database(path, START, faults=faults)
    database.put_text("group:x", "gone")
    database.empty_texts("group:x", "id = ?", (1,))
    faults.fail = lambda statement: statement == "VACUUM"
    assert not database.compact(least=1)
    database.close()
    faults.fail = lambda statement: False
    open_database(path, START, faults=faults).close()
    assert faults.counts["VACUUM"] == 2
