"""Pages as files in the workspace.

A read and a commit are each one function in one hop to a thread (of aiofiles, for a read): to open, to read and to
close a file in a hop each takes longer than all the rest of a read. A commit that has begun is finished even when its
task is cancelled, and the cancellation waits for it: when the call ends, the write is done or did not happen.

Two commits of one page in this process are kept apart by a lock from the look at the standing page to the rename.
Other processes are kept out by the lock of the workspace (memory_core.workspace); a person's edit is noticed by the
page's stamp.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TypeVar

import aiofiles.os

from memory_core.ids import PageId, Scope
from memory_core.layouts import Layout
from memory_core.store.base import Change, PageText, Stamp, State
from memory_core.store.disk import Disk
from memory_core.store.encoding import decode, encode
from memory_core.store.pages import ScopePages, check
from memory_core.store.tree import Tree

T = TypeVar("T")

OnRead = Callable[[Scope, PageId], None]
"""Told of every read, before it happens."""

_LOCKS = 64


class FileStores:
    """The stores of a workspace. Opening one touches no file. `close` ends its threads; it may be called twice."""

    def __init__(
        self, workspace: Path, layout: Layout, *, disk: Disk | None = None, on_read: OnRead | None = None
    ) -> None:
        self._tree = Tree(workspace, disk)
        self._raw = aiofiles.os.wrap(self._tree.read)
        self._layout = layout
        self._on_read = on_read or (lambda scope, page: None)
        self._readers = ThreadPoolExecutor(4, "remem-read")
        self._writers = ThreadPoolExecutor(2, "remem-commit")
        # A fixed number of locks, shared out by path: one a page would grow with the workspace for ever.
        self._locks = tuple(Lock() for _ in range(_LOCKS))

    def open(self, scope: Scope) -> FileStore:
        """The store bound to `scope`. Raises BadInput for a group's name that is no file name."""
        return FileStore(self, ScopePages(self._layout, scope))

    def close(self) -> None:
        """End the threads; what they are at is finished first."""
        self._readers.shutdown()
        self._writers.shutdown()

    async def _read(self, pages: ScopePages, page: PageId) -> PageText | None:
        file = pages.file(page)
        self._on_read(pages.scope, page)
        # A cancelled read is finished too. Its time is from before it: an edit meanwhile makes the stamp differ.
        raw = await finished(asyncio.ensure_future(self._raw(file, executor=self._readers)))
        return decode(page, raw.content, raw.mtime_ns) if raw is not None else None

    async def _pages(self, pages: ScopePages) -> tuple[PageId, ...]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, pages.existing, self._tree.names, self._tree.has)

    async def _states(self, pages: ScopePages) -> Mapping[PageId, State]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, pages.found, self._tree.states, self._tree.state)

    async def _commit(self, pages: ScopePages, changes: Sequence[Change]) -> tuple[Stamp, ...]:
        work = [(pages.writable(change.page), change) for change in changes]
        return await _done_or_never(self._writers.submit(self._apply_all, work))

    def _apply_all(self, work: Sequence[tuple[PurePosixPath, Change]]) -> tuple[Stamp, ...]:
        stamps = [self._apply(file, change) for file, change in work]
        return tuple(stamp for stamp in stamps if stamp is not None)

    def _apply(self, file: PurePosixPath, change: Change) -> Stamp | None:
        with self._locks[hash(file) % _LOCKS]:
            raw = self._tree.read(file)
            standing = decode(change.page, raw.content, raw.mtime_ns) if raw else None
            check(change, standing)
            if change.text is None:
                if change.expect is not None:
                    self._tree.remove(file, change.expect)
                return None
            content = encode(change.text, bom=standing.bom if standing else False)
            if change.expect is None:
                return self._tree.create(file, content)
            return self._tree.replace(file, content, change.expect)


async def finished(work: asyncio.Future[T]) -> T:
    """The outcome of `work`, which a cancellation does not interrupt: it is raised when `work` is over."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # looked at, so that the loop does not report it as never retrieved
        raise


async def _done_or_never(work: Future[T]) -> T:
    """The outcome of `work`. A cancellation takes it out of the queue; what has begun is finished first.

    At the end of the program hundreds of scopes may stand in the queue: the end must not wait for all of them.
    """
    outcome = asyncio.wrap_future(work)
    try:
        return await asyncio.shield(outcome)
    except asyncio.CancelledError:
        if not work.cancel():
            await finished(asyncio.ensure_future(_over(outcome)))
        raise


async def _over(outcome: asyncio.Future[T]) -> None:
    """Wait for it, and look at it, so that the loop does not report it as never retrieved."""
    await asyncio.wait([outcome])
    if not outcome.cancelled():
        outcome.exception()


class FileStore:
    """One scope's pages (implements Store)."""

    __slots__ = ("_pages", "_stores")

    def __init__(self, stores: FileStores, pages: ScopePages) -> None:
        self._stores = stores
        self._pages = pages

    @property
    def scope(self) -> Scope:
        """The one scope whose pages these are."""
        return self._pages.scope

    async def read(self, page: PageId) -> PageText | None:
        """The page as it is now; None where there is none. Raises UnknownPage, StoreFailed."""
        return await self._stores._read(self._pages, page)

    async def stamp(self, page: PageId) -> Stamp | None:
        """The page's stamp: its bytes are read, since times alone miss changes. Raises UnknownPage, StoreFailed."""
        found = await self._stores._read(self._pages, page)
        return found.stamp if found else None

    async def pages(self) -> tuple[PageId, ...]:
        """The ids of all pages that exist, sorted. Raises StoreFailed."""
        return await self._stores._pages(self._pages)

    async def states(self) -> Mapping[PageId, State]:
        """The same pages with what the system tells of them; none is read. Raises StoreFailed."""
        return await self._stores._states(self._pages)

    async def commit(self, changes: Sequence[Change]) -> tuple[Stamp, ...]:
        """Write the changes in order, each atomic and durable.

        Raises UnknownPage and BadInput before anything is written; PageExists, PageChanged, PageDamaged, StoreFailed.
        """
        return await self._stores._commit(self._pages, changes)
