"""The ledger on SQLite: one file, one thread, three doors.

    ledger = await SqliteLedger.open(path, clock)
    ledger.intake · ledger.timers · ledger.open(scope)
    await ledger.close()

How it is kept: opening (made, checked, set aside), schema (tables, and how text leaves no byte), worker (one
transaction for all that waits), failures (SQLite's errors in our terms).
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from memory_core.clock import Clock
from memory_core.ids import Scope
from memory_core.ledger.database import Database, Faults, Trace, no_faults
from memory_core.ledger.opening import open_database
from memory_core.ledger.rows import moment_of, us_of
from memory_core.ledger.sqlite_intake import SqliteIntake
from memory_core.ledger.sqlite_scope import SqliteScopeLedger
from memory_core.ledger.sqlite_usage import SqliteReports
from memory_core.ledger.timers import Timer
from memory_core.ledger.values import storable
from memory_core.ledger.worker import Worker
from memory_core.store.disk import Disk


class SqliteTimers:
    """What is due when, across restarts."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def set(self, timer: Timer) -> None:
        """Set or move the timer of that key. Raises LedgerFailed."""

        def work(database: Database) -> None:
            database.run(
                "INSERT OR REPLACE INTO timers (key, due_us, about) VALUES (?, ?, ?)",
                (timer.key, us_of(timer.due_at), storable(timer.about)),
            )

        await self._worker.run(work)

    async def cancel(self, key: str) -> None:
        """Remove the timer of that key, if any. Raises LedgerFailed."""

        def work(database: Database) -> None:
            database.run("DELETE FROM timers WHERE key = ?", (key,))

        await self._worker.run(work)

    async def due(self, now: datetime) -> tuple[Timer, ...]:
        """Timers with `due_at` up to and including `now`, earliest first. Raises LedgerFailed."""
        rows = await self._worker.run(
            lambda database: database.rows(
                "SELECT key, due_us, about FROM timers WHERE due_us <= ? ORDER BY due_us, key", (us_of(now),)
            )
        )
        return tuple(Timer(key, moment_of(due_us), about) for key, due_us, about in rows)

    async def next_due(self) -> datetime | None:
        """The earliest `due_at`; None where nothing is set. Raises LedgerFailed."""
        row = await self._worker.run(
            lambda database: database.row("SELECT due_us FROM timers ORDER BY due_us LIMIT 1")
        )
        return moment_of(row[0]) if row is not None else None


class OpenLedger:
    """Intake, timers, reports and every scope's ledger, in one open file. `SqliteLedger.open` gives it."""

    def __init__(self, worker: Worker, clock: Clock) -> None:
        self._worker = worker
        self.intake = SqliteIntake(worker, clock)
        self.timers = SqliteTimers(worker)
        self.reports = SqliteReports(worker)

    def open(self, scope: Scope) -> SqliteScopeLedger:
        """The ledger bound to `scope`."""
        return SqliteScopeLedger(scope, self._worker)

    async def close(self) -> None:
        """Finish what was asked, then close the file. May be called twice."""
        await self._worker.stop()


class SqliteLedger:
    """The way to an open ledger file."""

    @staticmethod
    async def open(
        path: Path,
        clock: Clock,
        *,
        begin_anew: bool = False,
        trace: Trace | None = None,
        faults: Faults = no_faults,
        disk: Disk | None = None,
    ) -> OpenLedger:
        """The ledger at `path`; its folder exists, and no other process writes it (the workspace lock sees to that).

        A damaged file is set aside under a dated name; from then on opening is refused until a backup stands at
        `path` or the caller says `begin_anew`. `trace` and `faults`: see memory_core.ledger.database; `disk`
        makes, moves and renames the file. Raises LedgerDamaged, LedgerFailed.
        """
        now = clock.now()

        def opened() -> Database:
            return open_database(path, now, begin_anew=begin_anew, trace=trace, faults=faults, disk=disk)

        return OpenLedger(await Worker.start(opened), clock)
