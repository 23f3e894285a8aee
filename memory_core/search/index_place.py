"""Where a search index stands in a workspace: its file is made, found and removed without following links."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memory_core.store.tree import Tree


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Where an index stands in a workspace. Raises OSError, StoreFailed."""

    tree: Tree
    file: PurePosixPath

    @property
    def path(self) -> Path:
        """Its path, for SQLite."""
        return self.tree.root / self.file

    def exists(self) -> bool:
        """Is there a file?"""
        return self.tree.has(self.file)

    def make(self) -> None:
        """Let there be a file that its owner alone may read; SQLite's would be for everybody."""
        with self.tree.folder(self.file.parent, create=True) as folder, suppress(FileExistsError):
            self.tree.disk.close(self.tree.disk.create_file(self.file.name, folder))

    def remove(self) -> None:
        """Remove it, if it is there."""
        with suppress(FileNotFoundError), self.tree.folder(self.file.parent) as folder:
            self.tree.disk.unlink(self.file.name, folder)
