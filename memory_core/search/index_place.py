"""Where a search index stands: a regular file of its owner's, under a folder that is no link. Blocking."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memory_core.errors import StoreFailed
from memory_core.store.base import State
from memory_core.store.disk import EntryKind, translated
from memory_core.store.tree import Tree

JOURNAL = "-journal"
"""How the name of the file ends that SQLite keeps beside one that it changes."""


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Where an index stands in a workspace. Everything raises StoreFailed, `make` OSError too."""

    tree: Tree
    file: PurePosixPath

    @property
    def path(self) -> Path:
        """Its path, for SQLite."""
        return self.tree.root / self.file

    def exists(self) -> bool:
        """Is there a file?"""
        return self.tree.has(self.file)

    def state(self) -> State | None:
        """What the system tells of the file, which is no link and under none; None where there is none."""
        return self.tree.state(self.file)

    def make(self) -> None:
        """Let there be a file that its owner alone may read. SQLite's would be for everybody, and follows links."""
        disk = self.tree.disk
        with self.tree.folder(self.file.parent, create=True) as folder:
            with suppress(FileExistsError):
                disk.close(disk.create_file(self.file.name, folder))
            if disk.kind(self.file.name, folder) is not EntryKind.FILE:
                raise StoreFailed(f"{self.file} is no file; nothing is searched there.")

    def remove(self) -> None:
        """Remove it, if it is there, and what SQLite left beside it when it was stopped in the middle of a change."""
        for name in (self.file.name, f"{self.file.name}{JOURNAL}"):
            with translated(self.file), suppress(FileNotFoundError), self.tree.folder(self.file.parent) as folder:
                self.tree.disk.unlink(name, folder)
