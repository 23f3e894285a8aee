"""The ledger's one thread: everything that waits is done in one transaction.

    queue → [take all that wait, at most GROUP] → BEGIN → a savepoint per job → COMMIT → futures
                                                                           └ emptied text? truncate the log → futures

One fsync serves all jobs of a group, so a burst of 10,000 events costs tens of them, and a caller hears of success
only after the commit. A job that fails takes back its own savepoint. If the commit fails, or SQLite ends the
transaction by itself (a full disk does), every job of the group hears LedgerFailed. Reads go the same way: they see
what the jobs before them wrote, and are told only if that was kept.

A caller that is cancelled does not stop its job. A job whose text must be gone (`must_purge`) fails if the log
could not be truncated; for others the truncation stays due and is tried again with the next group.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

from memory_core.errors import LedgerFailed
from memory_core.ledger.database import Database
from memory_core.ledger.failures import translated

GROUP = 1000
"""Most jobs in one transaction: bounds how long the first of them waits."""

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    work: Callable[[Database], T]
    scope: str | None
    must_purge: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[T]
    results: list[T] = field(default_factory=list)
    error: Exception | None = None
    purges: bool = False

    def resolve(self) -> None:
        """Tell the caller; runs on its loop."""
        if self.future.done():  # the caller was cancelled
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.results[0])


_AnyJob: TypeAlias = _Job[Any]  # what a job gives is between it and its caller


class Worker:
    """Runs jobs on a database that only its thread touches."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_AnyJob | None] = SimpleQueue()
        self._closed = False
        self._ended: asyncio.Future[None] | None = None

    @classmethod
    async def start(cls, open_database: Callable[[], Database]) -> Worker:
        """Start the thread, open the database in it. Raises what `open_database` raises."""
        worker = cls()
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = loop.create_future()
        worker._ended = loop.create_future()
        thread = threading.Thread(
            target=worker._serve, args=(open_database, loop, opened), name="remem-ledger", daemon=True
        )
        thread.start()
        await opened
        return worker

    async def run(self, work: Callable[[Database], T], scope: str | None = None, *, must_purge: bool = False) -> T:
        """What `work` gives, once it is durable. Raises LedgerFailed, LedgerDamaged, or what `work` raises."""
        if self._closed:
            raise _closed()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Job(work, scope, must_purge, loop, future))
        return await future

    async def stop(self) -> None:
        """Finish what was asked, close the database, end the thread. May be called twice."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        if self._ended is not None:
            await asyncio.shield(self._ended)

    def _serve(
        self, open_database: Callable[[], Database], loop: asyncio.AbstractEventLoop, opened: asyncio.Future[None]
    ) -> None:
        try:
            database = open_database()
        except Exception as error:  # noqa: BLE001  # the task ends here; the caller of `start` hears it
            _call(loop, _fail, opened, error)
            return
        _call(loop, _succeed, opened)
        try:
            while self._serve_group(database):
                pass
        finally:
            self._closed = True
            database.close()
            for job in self._waiting():
                job.error = _closed()
                _settle([job])
            _call(loop, _succeed, self._ended)

    def _waiting(self, first: _AnyJob | None = None) -> list[_AnyJob]:
        """All that waits, up to a full group; the end of the queue is put back for the next look."""
        jobs = [] if first is None else [first]
        while len(jobs) < GROUP:
            try:
                job = self._queue.get_nowait()
            except Empty:
                break
            if job is None:
                self._queue.put(None)
                break
            jobs.append(job)
        return jobs

    def _serve_group(self, database: Database) -> bool:
        """Do one group; False when the end of the queue was reached."""
        first = self._queue.get()
        if first is None:
            return False
        jobs = self._waiting(first)
        _commit(database, jobs)
        late = [job for job in jobs if job.purges or (job.must_purge and database.purge_due)]
        _settle([job for job in jobs if job not in late])
        _purge(database, late)
        return True


def _commit(database: Database, jobs: Sequence[_AnyJob]) -> None:
    try:
        database.run("BEGIN IMMEDIATE")
        for job in jobs:
            _attempt(database, job)
        database.must_stand()
        database.run("COMMIT")
    except Exception as error:  # noqa: BLE001  # the group ends here; each of its callers hears it
        for job in jobs:
            job.error = translated(error)
        with suppress(sqlite3.Error):  # the next BEGIN says what is wrong
            database.abandon()


def _attempt(database: Database, job: _AnyJob) -> None:
    due_before, database.purge_due, database.scope = database.purge_due, False, job.scope
    try:
        database.run("SAVEPOINT job")
        try:
            job.results.append(job.work(database))
        except Exception as error:  # the job ends here; its caller hears it
            if not database.in_transaction:
                raise
            job.error = translated(error) if isinstance(error, sqlite3.Error | OSError | UnicodeError) else error
            database.run("ROLLBACK TO job")
        database.run("RELEASE job")
    finally:
        job.purges = database.purge_due
        database.purge_due, database.scope = database.purge_due or due_before, None


def _purge(database: Database, jobs: Sequence[_AnyJob]) -> None:
    problem = database.purge() if database.purge_due else ""
    for job in jobs:
        if job.must_purge and problem and job.error is None:
            job.error = LedgerFailed(
                f"The text is erased, but bytes of it may stay in the ledger's log ({problem}); "
                "they go at the next write."
            )
    _settle(jobs)
    if any(job.must_purge for job in jobs):
        database.compact()


def _settle(jobs: Sequence[_AnyJob]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[_AnyJob]] = {}
    for job in jobs:
        loops.setdefault(job.loop, []).append(job)
    for loop, its_jobs in loops.items():
        _call(loop, _resolve, its_jobs)


def _resolve(jobs: Sequence[_AnyJob]) -> None:
    for job in jobs:
        job.resolve()


def _call(loop: asyncio.AbstractEventLoop, tell: Callable[..., None], *told: object) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(tell, *told)


def _succeed(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)


def _fail(future: asyncio.Future[None], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _closed() -> LedgerFailed:
    return LedgerFailed("The ledger is closed; nothing was kept. Open it again.")
