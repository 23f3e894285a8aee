"""What tests let other processes do; apart, so that starting one imports little."""

from __future__ import annotations

import os
from datetime import date
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path, PurePosixPath

from memory_core.errors import PageExists
from memory_core.layouts import APM
from memory_core.store.disk import Disk
from memory_core.store.tree import Tree
from memory_core.workspace import initialise


class CrashingDisk(Disk):
    """Ends the process, with no cleaning up, at the call after the `after`-th of a write."""

    def __init__(self, after: int) -> None:
        self.left = after

    def _count(self) -> None:
        if self.left == 0:
            os._exit(9)
        self.left -= 1

    def write(self, descriptor: int, content: memoryview) -> int:
        self._count()
        return super().write(descriptor, content[:5])

    def sync(self, descriptor: int) -> None:
        self._count()
        super().sync(descriptor)

    def rename(self, old: str, new: str, parent: int) -> None:
        self._count()
        super().rename(old, new, parent)
        self._count()


def crash_while_writing(workspace: Path, file: PurePosixPath, content: bytes, after: int) -> None:
    """Replace a file and die after that many calls; content is written five bytes a call."""
    tree = Tree(workspace, CrashingDisk(after))
    raw = tree.read(file)
    assert raw
    tree.replace(file, content, raw.stamp)


def create_pages(workspace: Path, names: list[str], content: bytes, start: Barrier, won: SimpleQueue[str]) -> None:
    """Create each file at the same time as the others that wait at `start`; tell the names that were ours."""
    tree = Tree(workspace)
    for name in names:
        start.wait()
        try:
            tree.create(PurePosixPath("memory/groups", name), content)
        except PageExists:
            continue
        won.put(name)


def initialise_many(folder: Path, count: int, start: Barrier) -> None:
    """Initialise workspaces 0, 1, … in `folder`, each at the same time as the others that wait at `start`."""
    for number in range(count):
        start.wait()
        initialise(folder / str(number), APM, day=date(2026, 4, 6))
