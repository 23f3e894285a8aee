"""A damaged ledger is set aside, told of, and never replaced in silence."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.errors import LedgerDamaged, LedgerFailed
from memory_core.ledger.schema import VERSION
from memory_core.ledger.sqlite import SqliteLedger
from tests.memory_core.ledger_values import START, posted

CLOCK = ManualClock(START)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


async def some_ledger(path: Path) -> None:
    """A ledger with a few messages."""
    ledger = await SqliteLedger.open(path, CLOCK)
    await ledger.intake.record([posted(n, "x" * 3000) for n in range(50)])
    await ledger.close()


def spoil_header(path: Path) -> None:
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])


def spoil_middle(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:8192] + os.urandom(len(content) - 8192))


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:6000])


def put_text_there(path: Path) -> None:
    path.write_text("this is no database, it is a note of mine\n" * 50)


def put_another_database_there(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE birds (name)")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "spoil", [spoil_header, spoil_middle, cut_to_nothing, cut_short, put_text_there, put_another_database_there]
)
async def test_a_damaged_ledger_is_set_aside_and_no_new_one_begun_in_silence(
    path: Path, spoil: Callable[[Path], None]
) -> None:
    await some_ledger(path)
    await asyncio.to_thread(spoil, path)
    spoilt = await asyncio.to_thread(path.read_bytes)
    with pytest.raises(LedgerDamaged, match=r"set aside as ledger\.db\.damaged-2026-04-06T140000Z"):
        await SqliteLedger.open(path, CLOCK)
    aside = path.with_name("ledger.db.damaged-2026-04-06T140000Z")
    assert await asyncio.to_thread(aside.read_bytes) == spoilt
    with pytest.raises(LedgerDamaged, match="begin anew"):
        await SqliteLedger.open(path, CLOCK)
    assert not await asyncio.to_thread(path.exists)
    ledger = await SqliteLedger.open(path, CLOCK, begin_anew=True)
    assert (await ledger.intake.record([posted("M")]))[0].new
    await ledger.close()
    ledger = await SqliteLedger.open(path, CLOCK)
    assert not (await ledger.intake.record([posted("M")]))[0].new
    await ledger.close()
    assert aside.exists()


@pytest.mark.asyncio
async def test_a_log_without_its_file_is_damage_and_is_never_taken_into_a_new_one(path: Path) -> None:
    ledger = await SqliteLedger.open(path, CLOCK)
    await ledger.intake.record([posted("M")])
    log = path.with_name("ledger.db-wal")
    left = await asyncio.to_thread(log.read_bytes)
    await ledger.close()
    await asyncio.to_thread(path.unlink)
    await asyncio.to_thread(log.write_bytes, left)
    with pytest.raises(LedgerDamaged):
        await SqliteLedger.open(path, CLOCK)
    ledger = await SqliteLedger.open(path, CLOCK, begin_anew=True)
    assert await ledger.intake.scopes() == ()
    await ledger.close()


@pytest.mark.asyncio
async def test_a_newer_ledger_is_left_alone(path: Path) -> None:
    await some_ledger(path)

    def renumber() -> bytes:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        return path.read_bytes()

    before = await asyncio.to_thread(renumber)
    with pytest.raises(LedgerFailed, match="newer remem"):
        await SqliteLedger.open(path, CLOCK)
    assert await asyncio.to_thread(path.read_bytes) == before


@pytest.mark.asyncio
async def test_a_creation_that_was_cut_off_is_begun_again(path: Path) -> None:
    path.with_name("ledger.db.new").write_bytes(b"half a file")
    await some_ledger(path)
    assert sorted(found.name for found in await asyncio.to_thread(list, path.parent.iterdir())) == ["ledger.db"]
    assert stat.S_IMODE((await asyncio.to_thread(path.stat)).st_mode) == 0o600


@pytest.mark.asyncio
async def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(LedgerFailed):
        await SqliteLedger.open(tmp_path / "gone" / "ledger.db", CLOCK)


@pytest.mark.asyncio
@pytest.mark.parametrize("replaced", [False, True])
async def test_a_ledger_that_is_taken_away_while_it_is_open_keeps_nothing_and_says_so(
    path: Path, replaced: bool
) -> None:
    ledger = await SqliteLedger.open(path, CLOCK)
    await ledger.intake.record([posted(1, "before")])
    kept = path.with_name("kept.db")
    await asyncio.to_thread(path.rename, kept)
    if replaced:
        await asyncio.to_thread(path.write_bytes, b"")
    with pytest.raises(LedgerFailed, match="removed or replaced"):
        await ledger.intake.record([posted(2, "meanwhile")])
    await asyncio.to_thread(kept.replace, path)
    assert (await ledger.intake.record([posted(2, "meanwhile")]))[0].new
    await ledger.close()
    ledger = await SqliteLedger.open(path, CLOCK)
    assert not (await ledger.intake.record([posted(2, "meanwhile")]))[0].new
    await ledger.close()
