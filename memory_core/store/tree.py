"""The workspace as a tree of files that cannot be led astray, and whose writes are whole or did not happen.

Blocking: every function here runs in a thread. Paths are relative to the workspace and are walked step by step, each
folder opened in the one before it and no link followed, so that neither a name nor a link swapped in at the last
moment leads outside (checking a resolved path first and opening it afterwards does).

A write is a temporary file in the page's own folder, written in full, synced, renamed over the page, and the folder
synced. A creation gives the temporary file its second name by link, which the system does for one caller only. A
crash leaves at most a temporary file: its name is known to `sweep` and is never a page.

Not covered: a person who saves the page in the microseconds between the last look at it and the rename.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from memory_core.errors import BadInput, PageChanged, PageExists, StoreFailed
from memory_core.store.base import Stamp, State
from memory_core.store.disk import Disk, EntryKind, failed, is_regular, translated
from memory_core.store.encoding import same, stamp

LARGEST_FILE_BYTES = 16 * 1024 * 1024
"""A page is for people to read; what is larger is a mistake and would fill the memory."""

_TEMPORARY = re.compile(r"\.remem-[0-9a-f]{16}\.tmp")
_SWEPT = ("memory", "people", ".remem")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True, slots=True)
class Raw:
    """A file's bytes and its time."""

    content: bytes
    mtime_ns: int

    @property
    def stamp(self) -> Stamp:
        """What tells this state from another."""
        return stamp(self.content, self.mtime_ns)


Mark: TypeAlias = tuple[int, int, int, int, int]
"""Device, inode, size and both times of a file: what the system changes with every write."""


class Tree:
    """The files below `root`. The folder that stands there at the first look is the workspace: if another one takes
    its place (an unmounted disk leaves an empty folder), every call raises StoreFailed."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self.disk = disk or Disk()
        self._identity: tuple[int, int] | None = None

    def read(self, file: PurePosixPath) -> Raw | None:
        """The file as it is now; None where there is none. Raises StoreFailed."""
        with translated(file):
            try:
                with self.folder(file.parent) as folder:
                    return self._read_in(folder, file)
            except FileNotFoundError:
                return None

    def mark(self, file: PurePosixPath) -> Mark | None:
        """What will differ after the next write of the file. None where there is no file, or one that was written so
        short a while ago that the next write could bear the same time. Raises StoreFailed."""
        with translated(file):
            try:
                with self.folder(file.parent) as folder:
                    descriptor = self.disk.open_file(file.name, folder)
            except FileNotFoundError:
                return None
            try:
                status = self.disk.status(descriptor)
            finally:
                self.disk.close(descriptor)
        if not _state(status).is_settled(self.disk.now_ns()):
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def create(self, file: PurePosixPath, content: bytes) -> Stamp:
        """Make a new file, and the folders to it. Raises PageExists (nothing is changed), StoreFailed."""
        with translated(file), self.folder(file.parent, create=True) as folder:
            with self._temporary(folder, content) as (temporary, mtime_ns):
                try:
                    self._give_name(folder, temporary, file.name)
                except FileExistsError:
                    raise PageExists(f"{file} exists already; it was not changed.") from None
                self.disk.sync_folder(folder)
            return stamp(content, mtime_ns)

    def replace(self, file: PurePosixPath, content: bytes, expect: Stamp) -> Stamp:
        """Put other bytes in the place of those that `expect` stands for. Raises PageChanged, StoreFailed.

        After PageChanged nothing has happened. After StoreFailed the old bytes stand; if the very last step failed,
        the sync of the folder, it may be the new ones.
        """
        with (
            translated(file),
            suppress(FileNotFoundError),
            self.folder(file.parent) as folder,
            self._temporary(folder, content) as (temporary, mtime_ns),
        ):
            if same(self._read_in(folder, file).stamp, expect):
                self.disk.rename(temporary, file.name, folder)
                self.disk.sync_folder(folder)
                return stamp(content, mtime_ns)
        raise PageChanged(f"{file} was changed since it was read; read it again, merge, and write again.")

    def remove(self, file: PurePosixPath, expect: Stamp) -> None:
        """Remove the file whose bytes `expect` stands for. Raises PageChanged (nothing has happened), StoreFailed."""
        with translated(file), suppress(FileNotFoundError), self.folder(file.parent) as folder:
            if same(self._read_in(folder, file).stamp, expect):
                self.disk.unlink(file.name, folder)
                self.disk.sync_folder(folder)
                return
        raise PageChanged(f"{file} was changed since it was read; read it again, merge, and write again.")

    def names(self, folder: PurePosixPath, kind: EntryKind = EntryKind.FILE) -> tuple[str, ...]:
        """The names of a folder's files (or folders), sorted; none where it does not exist. Raises StoreFailed."""
        with translated(folder):
            try:
                with self.folder(folder) as descriptor:
                    found = self.disk.scan(descriptor)
            except FileNotFoundError:
                return ()
        return tuple(sorted(name for name, entry in found if entry is kind and not _TEMPORARY.fullmatch(name)))

    def has(self, file: PurePosixPath) -> bool:
        """Does this file stand there? Its folder, which may hold thousands, is not read. Raises StoreFailed."""
        with translated(file):
            try:
                with self.folder(file.parent) as folder:
                    return self.disk.kind(file.name, folder) is EntryKind.FILE
            except FileNotFoundError:
                return False

    def states(self, folder: PurePosixPath) -> Mapping[str, State]:
        """The states of a folder's files by their names; none where it does not exist. Raises StoreFailed."""
        with translated(folder):
            try:
                with self.folder(folder) as descriptor:
                    found = self.disk.statuses(descriptor)
            except FileNotFoundError:
                return {}
        return {name: _state(status) for name, status in found if not _TEMPORARY.fullmatch(name)}

    def state(self, file: PurePosixPath) -> State | None:
        """One file's state, its folder is not read; None where there is no such file. Raises StoreFailed."""
        with translated(file):
            try:
                with self.folder(file.parent) as folder:
                    status = self.disk.named_status(file.name, folder)
            except FileNotFoundError:
                return None
        return _state(status) if is_regular(status) else None

    def sweep(self) -> tuple[PurePosixPath, ...]:
        """Remove left-over temporary files; the paths of those removed. Only for who holds the workspace."""
        removed: list[PurePosixPath] = []
        folders = [PurePosixPath()]
        while folders:
            folder = folders.pop()
            with translated(folder), self.folder(folder) as descriptor:
                for name, entry in self.disk.scan(descriptor):
                    if entry is EntryKind.FOLDER and (folder.parts or name in _SWEPT):
                        folders.append(folder / name)
                    elif entry is EntryKind.FILE and _TEMPORARY.fullmatch(name):
                        self.disk.unlink(name, descriptor)
                        removed.append(folder / name)
        return tuple(sorted(removed))

    @contextmanager
    def folder(self, folder: PurePosixPath, *, create: bool = False) -> Iterator[int]:
        """The descriptor of a folder, open during the body. Raises OSError, StoreFailed, BadInput."""
        if folder.is_absolute() or ".." in folder.parts:
            raise BadInput(f"{str(folder)[:80]!r} leads out of the workspace; give a path inside it.")
        descriptor = self._open_root()
        try:
            for part in folder.parts:
                child = self._step(descriptor, part, create)
                descriptor, parent = child, descriptor
                self.disk.close(parent)
            yield descriptor
        finally:
            self.disk.close(descriptor)

    def _open_root(self) -> int:
        try:
            descriptor = self.disk.open_root(self.root)
        except FileNotFoundError:
            raise StoreFailed(f"The workspace {self.root} is gone; mount it again or set REMEM_WORKSPACE.") from None
        status = self.disk.status(descriptor)
        identity = (status.st_dev, status.st_ino)
        self._identity = self._identity or identity
        if identity != self._identity:
            self.disk.close(descriptor)
            raise StoreFailed(
                f"Another folder took the place of the workspace {self.root}; mount it and start again."
            )
        return descriptor

    def _step(self, parent: int, name: str, create: bool) -> int:
        try:
            return self.disk.open_folder(name, parent)
        except FileNotFoundError:
            if not create:
                raise
        with suppress(FileExistsError):
            self.disk.make_folder(name, parent)
            self.disk.sync_folder(parent)
        return self.disk.open_folder(name, parent)

    def _open_in(self, folder: int, file: PurePosixPath) -> tuple[int, int]:
        descriptor = self.disk.open_file(file.name, folder)
        try:
            status = self.disk.status(descriptor)
            _readable(file, status)
        except BaseException:
            self.disk.close(descriptor)
            raise
        return descriptor, status.st_mtime_ns

    def _read_in(self, folder: int, file: PurePosixPath) -> Raw:
        descriptor, mtime_ns = self._open_in(folder, file)
        try:
            pieces = list(iter(lambda: self.disk.read(descriptor, 1 << 20), b""))
        finally:
            self.disk.close(descriptor)
        return Raw(b"".join(pieces), mtime_ns)

    @contextmanager
    def _temporary(self, folder: int, content: bytes) -> Iterator[tuple[str, int]]:
        """A synced file with `content` in the folder, and its time; gone after the body unless it was renamed."""
        name = f".remem-{self.disk.token()}.tmp"
        descriptor = self.disk.create_file(name, folder)
        try:
            try:
                self._write(descriptor, content)
                self.disk.sync(descriptor)
                mtime_ns = self.disk.status(descriptor).st_mtime_ns
            finally:
                self.disk.close(descriptor)
            yield name, mtime_ns
        finally:
            # The outcome is settled by now; a temporary file that cannot be removed is left to the next sweep.
            with suppress(OSError):
                self.disk.unlink(name, folder)

    def _write(self, descriptor: int, content: bytes) -> None:
        _fits("A page", len(content))
        left = memoryview(content)
        while left:
            left = left[self.disk.write(descriptor, left) :]

    def _give_name(self, folder: int, temporary: str, name: str) -> None:
        try:
            self.disk.link(temporary, name, folder)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # exFAT and some network file systems have no links: an exclusive empty file takes the name first. A crash
            # between the two steps leaves it empty, which reads as an empty page.
            self.disk.close(self.disk.create_file(name, folder))
            self.disk.rename(temporary, name, folder)


def _state(status: os.stat_result) -> State:
    return State(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _readable(file: PurePosixPath, status: os.stat_result) -> None:
    if not is_regular(status):
        raise failed(file, IsADirectoryError(errno.EISDIR, "no file"))
    _fits(str(file), status.st_size)


def _fits(what: str, size_bytes: int) -> None:
    if size_bytes > LARGEST_FILE_BYTES:
        raise StoreFailed(
            f"{what} has {size_bytes} bytes, the limit is {LARGEST_FILE_BYTES}; move a part of it away."
        )
