"""Pages in memory: the twin of the file store, for tests and for whoever wants no disk.

It keeps bytes under the same paths and uses the same table, encoding and checks, so that what is left to differ is
the disk alone. `put` and `raw` are a person's editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from memory_core.ids import PageId, Scope
from memory_core.layouts import Layout
from memory_core.store.base import Change, PageText, Stamp, State
from memory_core.store.encoding import decode, encode
from memory_core.store.pages import ScopePages, check


class MemoryStores:
    """The stores of a workspace in memory. `reads` keeps which pages of which scope were read, in order."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.files: dict[PurePosixPath, tuple[bytes, int]] = {}
        self.reads: list[tuple[Scope, PageId]] = []
        self._writes = 0

    def open(self, scope: Scope) -> MemoryStore:
        """The store bound to `scope`; all of them share what is written. Raises BadInput."""
        return MemoryStore(self, ScopePages(self.layout, scope))

    def put(self, scope: Scope, page: PageId, content: bytes | None) -> Stamp | None:
        """Write (or, with None, remove) a page as a person would, unchecked."""
        return self._keep(ScopePages(self.layout, scope).file(page), page, content)

    def raw(self, scope: Scope, page: PageId) -> bytes | None:
        """The page's bytes, unrecorded."""
        return self.files.get(ScopePages(self.layout, scope).file(page), (None, 0))[0]

    def _keep(self, file: PurePosixPath, page: PageId, content: bytes | None) -> Stamp | None:
        self._writes += 1
        if content is None:
            self.files.pop(file, None)
            return None
        self.files[file] = (content, self._writes)
        return decode(page, *self.files[file]).stamp

    def _find(self, file: PurePosixPath, page: PageId) -> PageText | None:
        return decode(page, *self.files[file]) if file in self.files else None


class MemoryStore:
    """One scope's pages (implements Store)."""

    __slots__ = ("_pages", "_stores")

    def __init__(self, stores: MemoryStores, pages: ScopePages) -> None:
        self._stores = stores
        self._pages = pages

    @property
    def scope(self) -> Scope:
        """The one scope whose pages these are."""
        return self._pages.scope

    async def read(self, page: PageId) -> PageText | None:
        """The page as it is now; None where there is none. Raises UnknownPage."""
        file = self._pages.file(page)
        self._stores.reads.append((self.scope, page))
        return self._stores._find(file, page)

    async def stamp(self, page: PageId) -> Stamp | None:
        """The page's stamp. Raises UnknownPage."""
        found = await self.read(page)
        return found.stamp if found else None

    async def pages(self) -> tuple[PageId, ...]:
        """The ids of all pages that exist, sorted."""
        names: dict[PurePosixPath, list[str]] = {}
        for file in self._stores.files:
            names.setdefault(file.parent, []).append(file.name)
        return self._pages.existing(lambda folder: names.get(folder, []))

    async def states(self) -> Mapping[PageId, State]:
        """The same pages; the number of the write that made them stands for the times."""
        kept: dict[PurePosixPath, dict[str, State]] = {}
        for file, (content, number) in self._stores.files.items():
            kept.setdefault(file.parent, {})[file.name] = State(len(content), number, number, 0)
        return self._pages.found(lambda folder: kept.get(folder, {}))

    async def commit(self, changes: Sequence[Change]) -> tuple[Stamp, ...]:
        """Make the changes in order. Raises UnknownPage, BadInput, PageExists, PageChanged, PageDamaged."""
        work = [(self._pages.writable(change.page), change) for change in changes]
        stamps = []
        for file, change in work:
            standing = self._stores._find(file, change.page)
            check(change, standing)
            bom = standing.bom if standing else False
            content = encode(change.text, bom=bom) if change.text is not None else None
            stamps.append(self._stores._keep(file, change.page, content))
        return tuple(stamp for stamp in stamps if stamp)
