"""A disk whose every write and flush is on record, so that the power can be cut between any two of them.

    ext4 → loop device → one file, served by this process over FUSE → the log

Copying an image while something writes to it gives a picture of no moment at all, and a frozen file system has been
flushed. So the image is not copied: the file behind the loop device is served from here, and each request is appended
to a log before it is answered. Whatever the file system was told to be durable is in the log by then, and the file's
content at any moment is the image as it was at first with a prefix of the log on top. As the log only grows, its
length is a clock: what was acknowledged when it was `at` bytes long must be there after every cut at `at` or later.
What the kernel still holds in its own cache never came here, and is gone with the power.

A real disk has a cache of its own. After the last flush before the cut, each block of 4,096 bytes that was written
may have reached the platter or not, in any order: `after_cut` draws that. All before that flush is there.

The protocol is that of linux/fuse.h, as far as one regular file needs it; the file is the root of its mount. Started
by `attached` as a process, which ends when the file is unmounted, or with the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EINTR, ENODEV, ENOENT, ENOSYS
from pathlib import Path
from random import Random

BLOCK = 4096
"""Bytes that a disk writes whole or not at all; the file system's blocks too."""

_MOST_BYTES = 1 << 20
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_BIG_WRITES, _MAX_PAGES = 1 << 5, 1 << 22
_GETATTR, _SETATTR, _OPEN, _READ, _WRITE, _RELEASE = 3, 4, 14, 15, 16, 18
_FSYNC, _FLUSH, _INIT, _DESTROY = 20, 25, 26, 38
_UNANSWERED = frozenset({2, 36, 42})  # FORGET, INTERRUPT, BATCH_FORGET

_IN = struct.Struct("<IIQQIIII")
_OUT = struct.Struct("<IiQ")
_ENTRY = struct.Struct("<QI")
"""Of the log: where, and how many bytes follow; a flush has none."""


class Served:
    """The file `image`, served on `fuse`, all that changes it appended to `log`."""

    def __init__(self, fuse: int, image: Path, log: Path) -> None:
        self._fuse = fuse
        self._image = os.open(image, os.O_RDWR)
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def serve(self) -> None:
        """Answer one request after the other until the file is unmounted."""
        while True:
            try:
                request = os.read(self._fuse, _MOST_BYTES + BLOCK)
            except OSError as error:
                if error.errno in (EINTR, ENOENT):
                    continue
                if error.errno == ENODEV:
                    return
                raise
            _, operation, unique, *_ = _IN.unpack_from(request)
            if operation in _UNANSWERED:
                continue
            answer = self._answer(operation, memoryview(request)[_IN.size :])
            failed = 0 if answer is not None else -ENOSYS
            body = answer or b""
            os.write(self._fuse, _OUT.pack(_OUT.size + len(body), failed, unique) + body)

    def _answer(self, operation: int, body: memoryview) -> bytes | None:
        """What the kernel is told; None for what this file does not do."""
        if operation == _INIT:
            ahead = struct.unpack_from("<I", body, 8)[0]
            flags, pages = _BIG_WRITES | _MAX_PAGES, _MOST_BYTES // BLOCK
            return struct.pack("<IIIIHHIIHH", 7, 31, ahead, flags, 16, 12, _MOST_BYTES, 1, pages, 0).ljust(64, b"\0")
        if operation in (_GETATTR, _SETATTR):
            return struct.pack("<QII", 3600, 0, 0) + self._attributes()
        if operation == _OPEN:
            return struct.pack("<QII", 1, 0, 0)
        if operation == _READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return os.pread(self._image, size, offset)
        if operation == _WRITE:
            offset, size = struct.unpack_from("<QI", body, 8)
            content = body[40 : 40 + size]
            self._record(offset, content)
            os.pwrite(self._image, content, offset)
            return struct.pack("<II", size, 0)
        if operation == _FSYNC:
            self._record(0, memoryview(b""))
            return b""
        return b"" if operation in (_RELEASE, _FLUSH, _DESTROY) else None

    def _attributes(self) -> bytes:
        size = os.fstat(self._image).st_size
        sizes = struct.pack("<6Q", 1, size, size // 512, 0, 0, 0)
        return sizes + struct.pack("<10I", 0, 0, 0, stat.S_IFREG | 0o600, 1, 0, 0, 0, BLOCK, 0)

    def _record(self, offset: int, content: memoryview) -> None:
        entry = _ENTRY.pack(offset, len(content))
        if os.writev(self._log, (entry, content)) != len(entry) + len(content):
            raise OSError("the log's disk is full")


@contextmanager
def attached(image: Path, log: Path, where: Path) -> Iterator[Path]:
    """`image` behind a file that can be loop-mounted, every change of it in `log`; `where` is a folder to work in.

    Raises OSError where FUSE is missing or may not be mounted.
    """
    served = where / "disk"
    served.touch()
    fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        _mount(served, fuse)
        command = [sys.executable, "-m", __spec__.name, str(fuse), str(image), str(log)]
        server = subprocess.Popen(command, pass_fds=(fuse,), stdin=subprocess.DEVNULL)
    finally:
        os.close(fuse)
    try:
        yield served
    finally:
        _run("umount", str(served))
        if server.wait(30) != 0:
            raise OSError(f"the disk failed with {server.returncode}")


def _mount(served: Path, fuse: int) -> None:
    options = f"fd={fuse},rootmode={stat.S_IFREG:o},user_id=0,group_id=0,max_read={_MOST_BYTES}"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"remem-disk", os.fsencode(served), b"fuse", 0, options.encode()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(served))


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    """The file system of `image`, mounted in `folder`. Raises OSError where it cannot be.

    `noauto_da_alloc`: without it ext4 syncs a file's bytes before a rename, whether the program asked for it or not.
    """
    mount = folder / "mount"
    mount.mkdir(exist_ok=True)
    _run("mount", "-t", "ext4", "-o", "loop,data=ordered,noauto_da_alloc", str(image), str(mount))
    try:
        yield mount
    finally:
        _run("umount", str(mount))


@contextmanager
def in_memory(folder: Path) -> Iterator[Path]:
    """A folder in main memory, where a sync costs nothing. Raises OSError."""
    memory = folder / "memory"
    memory.mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", "size=50%", "remem-look", str(memory))
    try:
        yield memory
    finally:
        _run("umount", str(memory))


def formatted(image: Path, size_bytes: int) -> Path:
    """A new image with an empty ext4 file system. Raises OSError."""
    with image.open("wb") as empty:
        empty.truncate(size_bytes)
    _run("mkfs.ext4", "-q", "-b", str(BLOCK), str(image))
    return image


def unsound(image: Path) -> list[str]:
    """What is wrong with the file system of an image that is not mounted: nothing, or what the check says."""
    try:
        _run("e2fsck", "-fn", str(image))
    except OSError as fault:
        return [str(fault)]
    return []


def _run(*command: str) -> None:
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    if ran.returncode != 0:
        raise OSError(f"{command[0]}: {' '.join(ran.stdout.split())}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A write of the log, or with no bytes a flush; `end` is the log's length when it was recorded."""

    offset: int
    content: bytes
    end: int

    @property
    def flushes(self) -> bool:
        """Is all before it durable?"""
        return not self.content

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The blocks that it writes, or what it writes of them."""
        at = self.offset
        while at < self.offset + len(self.content):
            upto = min((at // BLOCK + 1) * BLOCK, self.offset + len(self.content))
            yield at, self.content[at - self.offset : upto - self.offset]
            at = upto


def entries(log: Path) -> Iterator[Entry]:
    """All that the log holds, in order; what was just being recorded when the process ended is left out."""
    with log.open("rb") as stream:
        while len(head := stream.read(_ENTRY.size)) == _ENTRY.size:
            offset, size = _ENTRY.unpack(head)
            content = stream.read(size)
            if len(content) == size:
                yield Entry(offset, content, stream.tell())


class Cuts:
    """Makes the images that power cuts leave, in the order of the cuts, from the image as it was at first."""

    def __init__(self, first: Path, log: Path, folder: Path) -> None:
        self._log = entries(log)
        self._durable = copied(first, folder / "durable.img")
        self._cached: list[tuple[int, bytes]] = []
        self._at = 0

    def after_cut(self, at: int, random: Random, image: Path) -> Path:
        """`image` made to what the disk holds after a cut when the log was `at` bytes long, where an entry ends."""
        with self._durable.open("r+b") as durable:
            while self._at < at:
                entry = next(self._log)
                self._at = entry.end
                if entry.flushes:
                    _write(durable.fileno(), self._cached)
                    self._cached = []
                else:
                    self._cached += entry.blocks()
        copied(self._durable, image)
        share = random.choice((0.0, 0.5, 1.0))
        with image.open("r+b") as left:
            _write(left.fileno(), [block for block in self._cached if random.random() < share])
        return image


def _write(file: int, blocks: list[tuple[int, bytes]]) -> None:
    for offset, content in blocks:
        os.pwrite(file, content, offset)


def copied(image: Path, target: Path) -> Path:
    """A copy of an image that nobody writes to, holes kept."""
    _run("cp", "--sparse=always", str(image), str(target))
    return target


def why_not(folder: Path) -> str:
    """Why the power cannot be cut on this machine; empty where it can. It is tried, in `folder`."""
    if sys.platform != "linux":
        return f"needs Linux's loop devices; this is {sys.platform}"
    if os.geteuid() != 0:
        return "needs root, to mount a file system image"
    for command in ("unshare", "mkfs.ext4", "mount", "umount", "e2fsck", "cp"):
        if shutil.which(command) is None:
            return f"needs the command {command}"
    if not Path("/dev/fuse").exists():
        return "needs /dev/fuse, behind which the disk's writes are recorded"
    tried = subprocess.run(apart(__spec__.name, "try", str(folder)), capture_output=True, check=False, text=True)
    return "" if tried.returncode == 0 else f"cannot mount here: {(tried.stderr.splitlines() or ['?'])[-1]}"


def apart(module: str, *arguments: str) -> list[str]:
    """The command that runs a module in a mount namespace of its own."""
    return ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", module, *arguments]


def _try(folder: Path) -> None:
    image = formatted(folder / "try.img", 16 << 20)
    with attached(image, folder / "try.log", folder) as served, mounted(served, folder):
        pass


if __name__ == "__main__":
    if sys.argv[1] == "try":
        _try(Path(sys.argv[2]))
    else:
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        Served(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])).serve()
