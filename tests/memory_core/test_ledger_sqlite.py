"""What only the SQLite ledger has to prove: durability, grouped commits, faults, damage, speed, no byte left."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import stat
import string
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from memory_core.clock import ManualClock
from memory_core.errors import LedgerDamaged, LedgerError, LedgerFailed
from memory_core.ids import Conversation, EventKey, GroupScope, MessageKey, PageId
from memory_core.ledger.base import Hit, Noted, Plan, Timer
from memory_core.ledger.database import Database
from memory_core.ledger.failures import TABLE, translated
from memory_core.ledger.opening import open_database
from memory_core.ledger.schema import VERSION
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.ledger.worker import GROUP, Worker
from tests.memory_core.ledger_values import BUILD, MAIN, ROOM, START, at, deleted, edited, key, posted
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


class Faults:
    """Fails, stops or counts chosen statements."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.fail: Callable[[str], bool] = lambda statement: False
        self.error: Exception = sqlite3.OperationalError("disk I/O error")

    def __call__(self, statement: str) -> None:
        self.counts[statement] = self.counts.get(statement, 0) + 1
        if self.fail(statement):
            raise self.error


def events_on_disk(path: Path) -> int:
    """What another process sees: what was committed."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


# Durability and groups


@pytest.mark.asyncio
async def test_a_burst_costs_tens_of_commits(path: Path) -> None:
    faults, burst = Faults(), scale(10_000)
    ledger = await SqliteLedger.open(path, CLOCK, faults=faults)
    before = faults.counts.get("COMMIT", 0)
    answers = await asyncio.gather(*(ledger.intake.record([posted(n, f"m{n}")]) for n in range(burst)))
    assert faults.counts["COMMIT"] - before <= burst // GROUP + 20
    assert [answer[0].seq for answer in answers] == list(range(1, burst + 1))
    await ledger.close()
    assert events_on_disk(path) == burst


@pytest.mark.asyncio
async def test_nothing_is_acknowledged_before_it_is_committed(path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def wait(statement: str) -> None:
        if statement == "COMMIT" and armed:
            reached.set()
            go_on.wait(10)

    armed = False
    ledger = await SqliteLedger.open(path, CLOCK, faults=wait)
    armed = True
    asked = asyncio.ensure_future(ledger.intake.record([posted("M")]))
    await asyncio.to_thread(reached.wait, 10)
    await asyncio.sleep(0)
    assert not asked.done()
    assert await asyncio.to_thread(events_on_disk, path) == 0
    go_on.set()
    assert (await asked)[0].new
    assert await asyncio.to_thread(events_on_disk, path) == 1
    await ledger.close()


_KILLED = """
import asyncio, os, pathlib, signal, sys
from memory_core.ledger.sqlite import SqliteLedger
from tests.memory_core.ledger_values import posted
from tests.memory_core.test_ledger_sqlite import CLOCK
commits = 0
def kill(statement):
    global commits
    commits += statement == sys.argv[2]
    if commits == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
async def main():
    ledger = await SqliteLedger.open(pathlib.Path(sys.argv[1]), CLOCK, faults=kill)
    for n in range(100):
        await ledger.intake.record([posted(n, owed=True)])
        print(n, flush=True)
asyncio.run(main())
"""


@pytest.mark.parametrize("statement", ["COMMIT", "BEGIN IMMEDIATE", "RELEASE job"])
def test_what_was_acknowledged_survives_a_kill(path: Path, statement: str) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, str(path), statement, "7"], capture_output=True, cwd=root, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    acknowledged = [int(line) for line in done.stdout.split()]
    assert len(acknowledged) >= 5

    async def owed() -> list[MessageKey]:
        ledger = await SqliteLedger.open(path, CLOCK)
        entries = await ledger.intake.owed()
        await ledger.close()
        return [entry.message.key for _, entry in entries]

    assert asyncio.run(owed())[: len(acknowledged)] == [key(n) for n in acknowledged]


@pytest.mark.asyncio
async def test_a_cancelled_caller_does_not_stop_its_job(ledger: OpenLedger) -> None:
    asked = asyncio.ensure_future(ledger.intake.record([posted("M")]))
    await asyncio.sleep(0)
    asked.cancel()
    assert [accepted.new for accepted in await ledger.intake.record([posted("M"), posted("N")])] == [False, True]


@pytest.mark.asyncio
async def test_a_closed_ledger_says_so(path: Path) -> None:
    ledger = await SqliteLedger.open(path, CLOCK)
    await ledger.close()
    await ledger.close()
    with pytest.raises(LedgerFailed, match="closed"):
        await ledger.intake.owed()


# Faults


@pytest.mark.asyncio
async def test_a_failed_job_takes_back_only_itself(path: Path) -> None:
    faults = Faults()
    ledger = await SqliteLedger.open(path, CLOCK, faults=faults)
    faults.fail = lambda statement: statement.startswith("INSERT INTO rooms") or "INTO timers" in statement
    answers = await asyncio.gather(
        ledger.intake.record([posted("M")]),
        ledger.timers.set(Timer("t", at(1))),
        ledger.intake.record([posted("N")]),
        return_exceptions=True,
    )
    assert isinstance(answers[1], LedgerFailed)
    assert "disk I/O error" not in str(answers[1])  # SQLite's words may hold values
    assert [row.message.key for row in (await ledger.open(BUILD).context(MAIN)).fresh] == [key("M"), key("N")]
    await ledger.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("statement", ["COMMIT", "BEGIN IMMEDIATE", "SAVEPOINT job", "RELEASE job"])
async def test_a_failed_commit_fails_the_whole_group_and_nothing_of_it_stays(path: Path, statement: str) -> None:
    faults = Faults()
    ledger = await SqliteLedger.open(path, CLOCK, faults=faults)
    faults.fail = lambda said: said == statement
    answers = await asyncio.gather(
        *(ledger.intake.record([posted(n, owed=True)]) for n in range(5)), return_exceptions=True
    )
    assert all(isinstance(answer, LedgerFailed) for answer in answers)
    faults.fail = lambda said: False
    assert await ledger.intake.owed() == ()
    assert [accepted.new for accepted in await ledger.intake.record([posted(n) for n in range(5)])] == [True] * 5
    await ledger.close()


@pytest.mark.asyncio
async def test_of_a_batch_all_or_nothing_is_kept(path: Path) -> None:
    faults = Faults()
    ledger = await SqliteLedger.open(path, CLOCK, faults=faults)
    faults.fail = lambda said: said.startswith("INSERT INTO events") and faults.counts[said] == 3
    with pytest.raises(LedgerFailed):
        await ledger.intake.record([posted(n) for n in range(5)])
    assert (await ledger.open(BUILD).context(MAIN)).fresh == ()
    assert (await ledger.intake.record([posted(9)]))[0].seq == 1
    await ledger.close()


@pytest.mark.asyncio
async def test_a_full_disk_ends_the_group_and_the_next_one_works(path: Path) -> None:
    worker = await Worker.start(lambda: open_database(path, START))

    def fill(database: Database) -> None:
        pages = database.rows("PRAGMA page_count")[0][0]
        database.run(f"PRAGMA max_page_count = {pages + 2}")
        database.put_text("group:x", "x" * 100_000)

    def note(database: Database) -> None:
        database.put_text("group:x", "small")

    answers = await asyncio.gather(worker.run(note), worker.run(fill), worker.run(note), return_exceptions=True)
    assert isinstance(answers[1], LedgerFailed)
    assert "disk is full" in str(answers[1])
    kept = await worker.run(lambda database: database.rows("SELECT text FROM texts"))
    assert len(kept) == sum(answer is None for answer in answers)
    await worker.stop()


def test_every_code_and_class_of_sqlite_is_translated() -> None:
    # https://sqlite.org/rescode.html: the primary codes are 1 to 28; 0, 100 and 101 are no errors.
    assert set(TABLE) == set(range(1, 29))
    for code, (kind, _) in TABLE.items():
        error = sqlite3.OperationalError("words that may hold values")
        error.sqlite_errorcode, error.sqlite_errorname = code | 3 << 8, "SQLITE_SOMETHING_EXTENDED"
        told = translated(error)
        assert type(told) is kind
        assert "SQLITE_SOMETHING_EXTENDED" in str(told)
        assert "values" not in str(told)
    classes, more = {sqlite3.Error}, [sqlite3.Error]
    while more:
        more = [child for parent in more for child in parent.__subclasses__()]
        classes.update(more)
    assert len(classes) >= 9
    assert all(isinstance(translated(kind("x")), LedgerFailed) for kind in classes)


@pytest.mark.parametrize(
    ("error", "expected", "says"),
    [
        (sqlite3.ProgrammingError("bad binding 'hunter2'"), LedgerFailed, "ProgrammingError"),
        (PermissionError(13, "Permission denied", "/x"), LedgerFailed, "Permission denied"),
        (LedgerDamaged("known"), LedgerDamaged, "known"),
        ("\ud800".encode, LedgerFailed, "no text"),
    ],
)
def test_errors_come_out_as_ours(error: object, expected: type[LedgerError], says: str) -> None:
    if callable(error):
        with pytest.raises(UnicodeError) as caught:
            error()
        error = caught.value
    assert isinstance(error, Exception)
    told = translated(error)
    assert type(told) is expected
    assert says in str(told)
    assert "hunter2" not in str(told)


# Damage


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


# No byte left


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
    ids = [database.put_text("group:x", f"<{n}>" + "x" * 500) for n in range(400)]
    assert not database.compact(least=100)
    for text_id in ids[:300]:
        database.empty_texts("group:x", "id = ?", (text_id,))
    before = path.stat().st_size
    assert not database.compact(least=1000)
    assert database.compact(least=100)
    assert path.stat().st_size < before / 2
    assert [row[0] for row in database.rows("SELECT id FROM texts ORDER BY id")] == ids[300:]
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


# Speed


@pytest.mark.asyncio
async def test_no_statement_reads_a_whole_table(path: Path) -> None:
    statements: set[str] = set()
    ledger = await SqliteLedger.open(path, CLOCK, trace=lambda scope, statement: statements.add(statement))
    build = ledger.open(BUILD)
    await ledger.intake.record(
        [posted(1, owed=True), edited(1, "new", 1), edited(2, "early", 1), Noted(EventKey("n"))]
    )
    await ledger.intake.record([posted(2), deleted(1), deleted(1)])
    await ledger.intake.answered(key(1))
    await ledger.intake.room(ROOM)
    await build.conversations()
    await build.context(MAIN)
    await build.find(key(2))
    await build.cursor(MAIN)
    await build.add_hits([Hit(PageId("experience"), "r", at(1))])
    await build.mark_written(key(2), PageId("experience"), "r")
    await build.hits()
    await build.written()
    await build.changed()
    plan = Plan("p", 1, "[]", {MAIN: 1})
    await build.save_plan(plan)
    await build.open_plans()
    await build.close_plan(plan)
    await build.last_plan()
    await build.erase(at(1))
    await ledger.timers.set(Timer("t", at(1)))
    await ledger.timers.due(at(2))
    await ledger.timers.next_due()
    await ledger.close()

    def full_scans() -> list[tuple[str, str]]:
        found = []
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                if statement.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
                    steps = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                    found += [(statement, step[3]) for step in steps if step[3].startswith("SCAN")]
        return found

    allowed = ("SELECT due_us FROM timers ORDER BY due_us LIMIT 1", "SELECT count(*) FROM texts WHERE emptied = 1")
    scans = [found for found in await asyncio.to_thread(full_scans) if found[0] not in allowed]
    assert scans == []


@pytest.mark.asyncio
async def test_many_scopes_and_conversations_stay_apart_and_quick(ledger: OpenLedger) -> None:
    groups = [GroupScope(f"g{n}") for n in range(scale(10_000))]
    await ledger.intake.record([posted(n, f"m{n}", scope=group) for n, group in enumerate(groups)])
    loop = asyncio.get_running_loop()
    began = loop.time()
    last = await ledger.open(groups[-1]).context(Conversation(ROOM))
    assert [entry.message.text for entry in last.fresh] == [f"m{len(groups) - 1}"]
    assert loop.time() - began < 1
    assert len(await ledger.intake.scopes()) == len(groups)
