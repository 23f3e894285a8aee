"""The indexes of search of all scopes: where they stand, which are open, and what is known of those that are not.

A file that was not used for long is closed, so that there may be any number of scopes; what every question needs of
it is kept, so that the next one does not begin with reading it. It is looked at again when it is opened, and a search
asks for the version that it knows: what somebody else did to the file meanwhile is not missed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory_core.ids import GroupScope, Scope
from memory_core.lock import PROGRAM
from memory_core.search.index_file import IndexFile, Known
from memory_core.search.index_place import JOURNAL, IndexPlace
from memory_core.store.disk import Disk
from memory_core.store.tree import Tree

if TYPE_CHECKING:
    from memory_core.search.meaning import Meaning

FOLDER = PROGRAM / "search"
"""Where the indexes are; they may be thrown away at any time."""
_OPEN_FILES = 64
_KNOWN_UNITS = 1 << 17
"""Of so many units what ranking must know is kept in memory, some 300 bytes each."""


class Searches:
    """The indexes of all scopes, the least recently used ones closed. `meaning`: search by meaning too.

    What is known of a closed one is kept, as far as `_KNOWN_UNITS` go: its version tells whether it still holds.
    """

    def __init__(self, tree: Tree | None = None, meaning: Meaning | None = None) -> None:
        self._tree = tree
        self._disk = tree.disk if tree is not None else Disk()
        self.meaning = meaning
        self._open: OrderedDict[str, Opened] = OrderedDict()
        self._files: OrderedDict[str, IndexFile] = OrderedDict()  # those that may have their file open
        self._idle: deque[IndexFile] = deque()
        self._units = 0

    def index(self, scope: Scope, made_by: str) -> Opened:
        """The index of a scope. `made_by` tells what its contents depend on."""
        opened = self._open.get(scope.key)
        if opened is None or opened.made_by != made_by:
            self._forget(scope.key)
            vectors = self.meaning.vectors() if self.meaning is not None else None
            opened = Opened(IndexFile(self._place(scope), made_by, vectors, self._disk), made_by)
            self._open[scope.key] = opened
        self._files[scope.key] = opened.file
        self._open.move_to_end(scope.key)
        self._files.move_to_end(scope.key)
        while len(self._files) > _OPEN_FILES:
            key, file = self._files.popitem(last=False)
            if file.is_kept:
                self._idle.append(file)
            else:
                self._forget(key)
        return opened

    def used(self, scope: Scope, opened: Opened) -> None:
        """Note how much is known of an index that was used, and let go of others where that is too much."""
        if self._open.get(scope.key) is opened:
            self._units += opened.file.units - opened.units
            opened.units = opened.file.units
        while self._units > _KNOWN_UNITS and len(self._open) > 1:
            self._forget(next(iter(self._open)))

    def now_ns(self) -> int:
        """The wall time that the system gives to files."""
        return self._disk.now_ns()

    def close_idle(self) -> None:
        """Close the files that were not used for longest. Blocking."""
        for _ in range(len(self._idle)):
            with suppress(IndexError):  # another thread may take them too
                file = self._idle.popleft()
                if (self.meaning is not None and self.meaning.needs(file)) or not file.rest():
                    self._idle.append(file)

    def _forget(self, key: str) -> None:
        """Know nothing of an index any more; its file is closed by its last user's end."""
        self._files.pop(key, None)
        opened = self._open.pop(key, None)
        self._units -= opened.units if opened is not None else 0

    def _place(self, scope: Scope) -> IndexPlace | None:
        return IndexPlace(self._tree, FOLDER / _name(scope)) if self._tree is not None else None

    def has(self, scope: Scope) -> bool:
        """Is there an index of this scope? Blocking."""
        place = self._place(scope)
        return place.exists() if place is not None else scope.key in self._open

    def kept(self, scopes: Iterable[Scope]) -> tuple[Scope, ...]:
        """Those of the scopes that have an index. Blocking. Raises StoreFailed."""
        if self._tree is None:
            return tuple(scope for scope in scopes if scope.key in self._open)
        names = frozenset(self._tree.names(FOLDER))
        return tuple(scope for scope in scopes if _name(scope) in names)

    def remove_others(self, scopes: Iterable[Scope]) -> tuple[str, ...]:
        """Throw away what belongs to none of the scopes, as after another ledger came; what it was. Blocking.

        Raises StoreFailed.
        """
        if self._tree is None:
            return ()
        names = frozenset(_name(scope) for scope in scopes)
        others = [name for name in self._tree.names(FOLDER) if name.removesuffix(JOURNAL) not in names]
        for name in others:
            IndexPlace(self._tree, FOLDER / name).remove()
        return tuple(others)

    def remove(self, scope: Scope) -> None:
        """Throw the index of a scope away. Blocking."""
        opened = self._open.get(scope.key)
        self._forget(scope.key)
        if opened is not None:
            opened.file.close()
        place = self._place(scope)
        if place is not None:
            place.remove()

    def close(self) -> None:
        """Close all files. Blocking."""
        for file in (*(opened.file for opened in self._open.values()), *self._idle):
            file.close()
        self._open.clear()
        self._files.clear()
        self._idle.clear()
        self._units = 0


@dataclass(slots=True)
class Opened:
    """The index of a scope, what made it, and what it is known to hold. `units`: of so many something is kept."""

    file: IndexFile
    made_by: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    known: Known | None = None
    units: int = 0


def _name(scope: Scope) -> str:
    """The name of a scope's index file."""
    return f"group-{scope.name}.sqlite3" if isinstance(scope, GroupScope) else f"direct-{scope.person.folder}.sqlite3"
