"""The system calls that remem's files are made of, behind one small object, and the one table of what they refuse.

Tests pass another `Disk` and so let a disk be full, a write be short, a folder not be synced, without touching the
code that must survive it. Everything above talks to the disk through this object and sees only StoreFailed.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path

from memory_core.errors import PageBlocked, StoreFailed

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EFBIG: "the file would be larger than the system allows; shorten the page",
    errno.EACCES: "permission is missing; give the bot's user access to it",
    errno.EPERM: "the system does not permit it; give the bot's user access to it",
    errno.EROFS: "the file system is read-only; mount it writable",
    errno.EIO: "the disk reports an input/output error; check the disk",
    errno.ELOOP: "it is a symbolic link, which is never followed; put the real file there",
    errno.ENOTDIR: "a part of it is a link or no folder; put a real folder there",
    errno.EISDIR: "it is a folder where a file belongs; move it away",
    errno.EMFILE: "too many files are open; raise the limit of open files",
    errno.ENFILE: "too many files are open on this machine; raise the limit of open files",
    errno.ENAMETOOLONG: "its name is too long for this file system; rename it",
    errno.ESTALE: "the network file system lost it; mount it again",
    errno.ENOENT: "it disappeared; look whether something else moves files there",
}


_IN_THE_WAY = frozenset({errno.ELOOP, errno.EISDIR})
"""What the system says of a file (not of a folder on the way to it) in whose place something else stands."""


def failed(what: object, error: OSError) -> StoreFailed:
    """What the system said, as our error: which file (relative to the workspace), what is wrong, what to do."""
    advice = _ADVICE.get(error.errno or 0, f"the system says: {error.strerror or type(error).__name__}")
    refused = PageBlocked if error.errno in _IN_THE_WAY else StoreFailed
    return refused(f"{what} could not be read or written: {advice}.")


@contextmanager
def translated(what: object) -> Iterator[None]:
    """Turn every OSError of the body into StoreFailed about `what`."""
    try:
        yield
    except OSError as error:
        raise failed(what, error) from error


class EntryKind(StrEnum):
    """What stands in a folder under a name."""

    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"
    """A link, a pipe, a device: never opened."""


class Disk:
    """The system's calls, one each. Every method raises OSError as the system does."""

    def open_root(self, folder: Path) -> int:
        """The descriptor of `folder`, which the operator chose: links on the way to it are his."""
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open_folder(self, name: str, parent: int) -> int:
        """The descriptor of a folder in `parent`; a link is refused (ENOTDIR or ELOOP)."""
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)

    def open_file(self, name: str, parent: int) -> int:
        """Open a file in `parent` for reading; a link is refused (ELOOP), a pipe does not make us wait."""
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)

    def create_file(self, name: str, parent: int) -> int:
        """Create and open a file in `parent` for writing, exclusively, for its owner only."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, FILE_MODE, dir_fd=parent)

    def open_lock(self, name: str, parent: int) -> int:
        """Open a file in `parent` for reading and writing, created if it is missing; a link is refused."""
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE, dir_fd=parent)

    def make_folder(self, name: str, parent: int) -> None:
        """Create a folder in `parent`, for its owner only."""
        os.mkdir(name, FOLDER_MODE, dir_fd=parent)

    def read(self, descriptor: int, size_bytes: int) -> bytes:
        """Up to `size_bytes` bytes; empty at the end."""
        return os.read(descriptor, size_bytes)

    def write(self, descriptor: int, content: memoryview) -> int:
        """Write what the system takes; how many bytes that were. On a nearly full disk that is less than asked."""
        return os.write(descriptor, content)

    def truncate(self, descriptor: int) -> None:
        """Empty an open file."""
        os.ftruncate(descriptor, 0)

    def sync(self, descriptor: int) -> None:
        """Make a file's bytes durable."""
        os.fsync(descriptor)

    def sync_folder(self, descriptor: int) -> None:
        """Make the names in a folder durable."""
        try:
            os.fsync(descriptor)
        except OSError as error:
            # Some network file systems cannot sync a folder and say EINVAL; there is nothing more we could do.
            if error.errno != errno.EINVAL:
                raise

    def status(self, descriptor: int) -> os.stat_result:
        """Size, times and type of an open file."""
        return os.fstat(descriptor)

    def rename(self, old: str, new: str, parent: int) -> None:
        """Give `old` in `parent` the name `new`, replacing what has it."""
        os.rename(old, new, src_dir_fd=parent, dst_dir_fd=parent)

    def link(self, old: str, new: str, parent: int) -> None:
        """Give `old` in `parent` a second name, exclusively."""
        os.link(old, new, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)

    def unlink(self, name: str, parent: int) -> None:
        """Remove a name from `parent`."""
        os.unlink(name, dir_fd=parent)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def scan(self, descriptor: int) -> list[tuple[str, EntryKind]]:
        """The names in a folder and what they are, links not followed; in no order."""
        with os.scandir(descriptor) as found:
            return [(entry.name, _kind(entry)) for entry in found]

    def statuses(self, descriptor: int) -> list[tuple[str, os.stat_result]]:
        """The ordinary files in a folder and what the system tells of them, links not followed; in no order."""
        found = []
        with os.scandir(descriptor) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # it went between the listing and the look
                    if entry.is_file(follow_symlinks=False):
                        found.append((entry.name, entry.stat(follow_symlinks=False)))
        return [(name, status) for name, status in found if is_regular(status)]

    def kind(self, name: str, parent: int) -> EntryKind:
        """What stands under one name in a folder, links not followed. Raises FileNotFoundError."""
        mode = self.named_status(name, parent).st_mode
        if stat.S_ISREG(mode):
            return EntryKind.FILE
        return EntryKind.FOLDER if stat.S_ISDIR(mode) else EntryKind.OTHER

    def named_status(self, name: str, parent: int) -> os.stat_result:
        """Size, times and type of what stands under one name, links not followed. Raises FileNotFoundError."""
        return os.stat(name, dir_fd=parent, follow_symlinks=False)

    def now_ns(self) -> int:
        """The wall time that the system gives to files."""
        return time.time_ns()

    def token(self) -> str:
        """What nothing else is called, in 16 hexadecimal digits: a part of a file's name, an opening, a version."""
        return secrets.token_hex(8)


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_file(follow_symlinks=False):
        return EntryKind.FILE
    return EntryKind.FOLDER if entry.is_dir(follow_symlinks=False) else EntryKind.OTHER


def is_regular(status: os.stat_result) -> bool:
    """Is it an ordinary file (no pipe, device, folder)?"""
    return stat.S_ISREG(status.st_mode)
