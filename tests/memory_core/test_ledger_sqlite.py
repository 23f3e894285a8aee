"""What only the SQLite ledger has to prove: durability, grouped commits, faults, speed."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from memory_core.clock import ManualClock
from memory_core.errors import LedgerDamaged, LedgerError, LedgerFailed
from memory_core.ids import Conversation, EventKey, GroupScope, MessageKey, PageId
from memory_core.ledger.base import Hit, Noted, Plan
from memory_core.ledger.database import Database
from memory_core.ledger.failures import TABLE, translated
from memory_core.ledger.opening import open_database
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.ledger.timers import Timer
from memory_core.ledger.worker import GROUP, Worker
from tests.memory_core.ledger_values import BUILD, MAIN, ROOM, START, Faults, at, deleted, edited, key, posted
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
    await ledger.intake.rooms("slack")
    await ledger.intake.reached("slack")
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
