"""Disks that go wrong at a chosen call: the seam of the file store, used by tests."""

from __future__ import annotations

import os
from pathlib import Path

from memory_core.store.disk import Disk


class FailingDisk(Disk):
    """Fails the named calls with an errno, from the `after`-th on; every other call is the system's."""

    def __init__(self, errno: int, *calls: str, after: int = 0) -> None:
        self.errno = errno
        self.calls = calls
        self.left = after

    def _meet(self, call: str) -> None:
        if call in self.calls:
            if self.left == 0:
                raise OSError(self.errno, os.strerror(self.errno))
            self.left -= 1

    def open_root(self, folder: Path) -> int:
        self._meet("open_root")
        return super().open_root(folder)

    def open_folder(self, name: str, parent: int) -> int:
        self._meet("open_folder")
        return super().open_folder(name, parent)

    def open_file(self, name: str, parent: int) -> int:
        self._meet("open_file")
        return super().open_file(name, parent)

    def create_file(self, name: str, parent: int) -> int:
        self._meet("create_file")
        return super().create_file(name, parent)

    def make_folder(self, name: str, parent: int) -> None:
        self._meet("make_folder")
        super().make_folder(name, parent)

    def read(self, descriptor: int, size_bytes: int) -> bytes:
        self._meet("read")
        return super().read(descriptor, size_bytes)

    def write(self, descriptor: int, content: memoryview) -> int:
        self._meet("write")
        return super().write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        self._meet("sync")
        super().sync(descriptor)

    def sync_folder(self, descriptor: int) -> None:
        self._meet("sync_folder")
        super().sync_folder(descriptor)

    def status(self, descriptor: int) -> os.stat_result:
        self._meet("status")
        return super().status(descriptor)

    def rename(self, old: str, new: str, parent: int) -> None:
        self._meet("rename")
        super().rename(old, new, parent)

    def link(self, old: str, new: str, parent: int) -> None:
        self._meet("link")
        super().link(old, new, parent)

    def unlink(self, name: str, parent: int) -> None:
        self._meet("unlink")
        super().unlink(name, parent)


class SlowDisk(Disk):
    """Takes seven bytes a write, as a nearly full disk or a signal may."""

    def write(self, descriptor: int, content: memoryview) -> int:
        return super().write(descriptor, content[:7])


class FillingDisk(Disk):
    """Takes `room_bytes` bytes in all, the last piece short, then is full."""

    def __init__(self, room_bytes: int) -> None:
        self.room_bytes = room_bytes

    def write(self, descriptor: int, content: memoryview) -> int:
        if self.room_bytes == 0:
            raise OSError(28, os.strerror(28))
        taken = super().write(descriptor, content[: self.room_bytes])
        self.room_bytes -= taken
        return taken


class EditingDisk(Disk):
    """Lets a person save a page at the worst moment: when our new text is on disk and not yet in place."""

    def __init__(self, page: Path, content: bytes) -> None:
        self.page = page
        self.content = content

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self.page.write_bytes(self.content)


def temporary_files(workspace: Path) -> list[Path]:
    """Left-over temporary files anywhere in the workspace."""
    return list(workspace.rglob(".remem-*.tmp"))
