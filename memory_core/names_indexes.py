"""Which group each room belongs to by the indexes: every group's index repeats the keys of its rooms (`rooms:`).

It is the second witness of the mapping (memory_core.names_file): a lost mapping is rebuilt from it, and a mapping
that gives a room to another group than the one whose index names it is not believed. An index that is missing, cannot
be read or names no rooms says nothing. Blocking; an index is read again only when its file changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memory_core.errors import BadInput, StoreFailed
from memory_core.ids import PageId, RoomKey
from memory_core.index import parse
from memory_core.layouts import Layout
from memory_core.scopes import GROUPS
from memory_core.store.disk import EntryKind
from memory_core.store.encoding import decode
from memory_core.store.tree import Mark, Tree


class NamesIndexes:
    """The rooms of every index of a workspace."""

    def __init__(self, tree: Tree, layout: Layout) -> None:
        self._tree = tree
        self._layout = layout
        self._read: dict[str, tuple[Mark, tuple[RoomKey, ...]]] = {}
        self._still = False
        self._found: dict[RoomKey, list[str]] | None = None

    @contextmanager
    def still(self) -> Iterator[None]:
        """In this block `groups_of` looks at all indexes once at most: what many rooms ask is asked of one moment."""
        self._still, self._found = True, None
        try:
            yield
        finally:
            self._still, self._found = False, None

    def groups(self) -> tuple[str, ...]:
        """Names that memory on disk has, sorted: an index, or a folder. Raises StoreFailed."""
        indexes = {name.removesuffix(".md") for name in self._tree.names(GROUPS) if name.endswith(".md")}
        folders = self._tree.names(GROUPS, EntryKind.FOLDER)
        # A folder in an index's place (`build.md/`) is no memory of a group of that name.
        found = indexes.union(name for name in folders if not name.endswith(".md"))
        return tuple(sorted(name for name in found if not name.startswith(".")))

    def rooms(self, name: str) -> tuple[RoomKey, ...]:
        """The rooms that a group's index names; none where it cannot be read."""
        file = GROUPS / f"{name}.md"
        try:
            # Taken before the read: what is written meanwhile makes the next mark differ.
            mark = self._tree.mark(file)
            known = self._read.get(name)
            if mark is not None and known is not None and known[0] == mark:
                return known[1]
            raw = self._tree.read(file)
        except StoreFailed:
            return ()
        if raw is None:
            return ()
        rooms: list[RoomKey] = []
        for room in parse(decode(PageId("index"), raw.content, raw.mtime_ns).text, self._layout.group).rooms:
            with suppress(BadInput):
                rooms.append(RoomKey(room))
        if mark is not None:
            self._read[name] = (mark, tuple(rooms))
        return tuple(rooms)

    def groups_of(self, room: RoomKey) -> tuple[str, ...]:
        """The groups whose indexes name the room. Raises StoreFailed where the groups cannot be listed."""
        if not self._still:
            return tuple(name for name in self.groups() if room in self.rooms(name))
        if self._found is None:
            self._found = {}
            for name in self.groups():
                for named in self.rooms(name):
                    self._found.setdefault(named, []).append(name)
        return tuple(dict.fromkeys(self._found.get(room, ())))
