"""Write points, counted and killed at: each call of a disk, each writing statement of a ledger, each call of SQLite.

    Point       which one of its kind ("disk rename", "ledger COMMIT", "sqlite pwrite ledger.db-wal") in this process
    moment      before the call, after it, or torn: half of the bytes are written

To die is SIGKILL to oneself, so nothing is closed, flushed or told any more. A statement dies only before it runs:
what it writes are SQLite's own calls, which are points of their own. Those are met below Python, where SQLite makes
them (its VFS lets a caller replace single system calls); where its library cannot be reached, they are not counted.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NoReturn, TypeAlias

from memory_core.store.disk import Disk

BEFORE, TORN, AFTER = "before", "torn", "after"
ANY = "any"
"""Stands for whichever kind: the point is counted over all of them."""

Report: TypeAlias = Callable[..., None]
"""Tells whoever watches, by keys; what was told is out of the process when it returns."""


@dataclass(frozen=True, slots=True)
class Point:
    """One write point: the `nth` (from 1) of its kind."""

    kind: str
    nth: int
    moment: str = BEFORE


@dataclass(slots=True)
class Killer:
    """Counts the write points of this process, and ends it at the chosen one."""

    report: Report
    chosen: Point | None = None
    counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _inside: threading.local = field(default_factory=threading.local)

    @property
    def inside(self) -> bool:
        """Is this thread within a point now?"""
        return bool(getattr(self._inside, "depth", 0))

    def meet(self, kind: str) -> str:
        """A point comes: the moment at which to die in it; '' for none. Dies here if that is before it."""
        with self._lock:
            self.counts[kind] += 1
            self.counts[ANY] += 1
            chosen = self.chosen
            if chosen is None or chosen.kind not in (kind, ANY) or chosen.nth != self.counts[chosen.kind]:
                return ""
            if chosen.moment == BEFORE:
                self.die(kind, BEFORE)
            return chosen.moment

    def die(self, kind: str, moment: str) -> NoReturn:
        """The end."""
        self.report(died=kind, nth=self.counts[kind], moment=moment)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("SIGKILL came back")

    @contextmanager
    def at(self, kind: str) -> Iterator[str]:
        """The block is a point. Gives the moment, for who can tear it; else torn is after."""
        moment = self.meet(kind)
        self._inside.depth = getattr(self._inside, "depth", 0) + 1
        try:
            yield moment
        finally:
            self._inside.depth -= 1
        if moment:
            self.die(kind, AFTER)

    def hear(self, statement: str) -> None:
        """Hear of a statement of the ledger before it runs (the ledger's `faults`)."""
        kind = kind_of(statement)
        if kind:
            self.meet(f"ledger {kind}")


_TABLE = re.compile(r"\s*(?:(INSERT)(?: OR \w+)? INTO|(UPDATE)|(DELETE) FROM)\s+(\w+)")
_WRITING_PRAGMA = re.compile(r"PRAGMA (wal_checkpoint|journal_mode|user_version =|application_id =)")


def kind_of(statement: str) -> str:
    """What a statement writes, in few words; '' for one that only reads, or sets up the connection alone."""
    if found := _TABLE.match(statement):
        return f"{found[1] or found[2] or found[3]} {found[4]}"
    if found := _WRITING_PRAGMA.match(statement):
        return f"PRAGMA {found[1]}".removesuffix(" =")
    verb = statement.split(maxsplit=1)[0]
    return "" if verb in ("SELECT", "PRAGMA") else verb


def _path(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


class KilledDisk(Disk):
    """Every call that writes is a point. What is about to get a name is told first: its path and its bytes' hash."""

    def __init__(self, killer: Killer, life: int) -> None:
        self._killer = killer
        self._life = life
        self._tokens = 0
        self._lock = threading.Lock()
        self._drafts: dict[str, hashlib._Hash] = {}
        """By path: what was written into a new file so far."""

    def token(self) -> str:
        with self._lock:
            self._tokens += 1
            return f"{self._life:04x}{self._tokens:012x}"

    def create_file(self, name: str, parent: int) -> int:
        with self._killer.at("disk create_file"):
            descriptor = super().create_file(name, parent)
            self._drafts[_path(descriptor)] = hashlib.sha256()
            return descriptor

    def open_lock(self, name: str, parent: int) -> int:
        with self._killer.at("disk open_lock"):
            return super().open_lock(name, parent)

    def truncate(self, descriptor: int) -> None:
        with self._killer.at("disk truncate"):
            super().truncate(descriptor)

    def make_folder(self, name: str, parent: int) -> None:
        with self._killer.at("disk make_folder"):
            super().make_folder(name, parent)

    def write(self, descriptor: int, content: memoryview) -> int:
        with self._killer.at("disk write") as moment:
            if moment == TORN:
                super().write(descriptor, content[: len(content) // 2])
                self._killer.die("disk write", TORN)
            taken = super().write(descriptor, content)
            draft = self._drafts.get(_path(descriptor))
            if draft is not None:
                draft.update(content[:taken])
            return taken

    def sync(self, descriptor: int) -> None:
        with self._killer.at("disk sync"):
            super().sync(descriptor)

    def sync_folder(self, descriptor: int) -> None:
        with self._killer.at("disk sync_folder"):
            super().sync_folder(descriptor)

    def rename(self, old: str, new: str, parent: int) -> None:
        self._tell(old, new, parent)
        with self._killer.at("disk rename"):
            super().rename(old, new, parent)

    def link(self, old: str, new: str, parent: int) -> None:
        self._tell(old, new, parent)
        with self._killer.at("disk link"):
            super().link(old, new, parent)

    def unlink(self, name: str, parent: int) -> None:
        with self._killer.at("disk unlink"):
            super().unlink(name, parent)

    def _tell(self, old: str, new: str, parent: int) -> None:
        folder = _path(parent)
        draft = self._drafts.pop(f"{folder}/{old}", None)
        if draft is not None:
            self._killer.report(put=f"{folder}/{new}", sha256=draft.hexdigest())


# -- SQLite's own calls ----------------------------------------------------------------------------------------------

_WRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)
_CUT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, use_errno=True)
_REMOVE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, use_errno=True)
_OPEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, use_errno=True)
_SET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_GET = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_Call: TypeAlias = "ctypes._FuncPointer"


class _Vfs(ctypes.Structure):
    """The head of struct sqlite3_vfs, as sqlite3.h has it since 3.7.6 (https://sqlite.org/c3ref/vfs.html)."""

    _fields_: ClassVar = [
        ("version", ctypes.c_int),
        ("file_bytes", ctypes.c_int),
        ("path_bytes", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        *[(f"call{number}", ctypes.c_void_p) for number in range(13)],
        ("set_system_call", _SET),
        ("get_system_call", _GET),
    ]


def _library() -> ctypes.CDLL | None:
    """The SQLite that Python's own module is bound to, if it is a library of its own."""
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        path = line.rpartition(" ")[2]
        if "libsqlite3" in path:
            library = ctypes.CDLL(path)
            library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
            return library
    return None


class SqliteCalls:
    """SQLite's writing system calls, each of them a point of whichever killer is set. For the life of the process."""

    def __init__(self) -> None:
        self.killer: Killer | None = None
        self._kept: list[_Call] = []
        library = _library() if sys.platform == "linux" else None
        self.reached = library is not None
        if library is None:
            return
        vfs = library.sqlite3_vfs_find(None)
        for name in (b"pwrite", b"pwrite64"):
            self._replace(vfs, name, _WRITE, self._writing)
        self._replace(vfs, b"ftruncate", _CUT, self._cutting)
        self._replace(vfs, b"unlink", _REMOVE, self._removing)
        self._replace(vfs, b"open", _OPEN, self._opening)

    def _replace(
        self, vfs: ctypes._Pointer[_Vfs], name: bytes, form: type[_Call], made: Callable[[_Call], Callable[..., int]]
    ) -> None:
        address = vfs.contents.get_system_call(vfs, name)
        if address:
            ours = form(made(form(address)))
            self._kept.append(ours)
            vfs.contents.set_system_call(vfs, name, ctypes.cast(ours, ctypes.c_void_p))

    def _writing(self, system: _Call) -> Callable[..., int]:
        def write(descriptor: int, content: int, size_bytes: int, at: int) -> int:
            if self.killer is None:
                return int(system(descriptor, content, size_bytes, at))
            kind = f"sqlite pwrite {_path(descriptor).rpartition('/')[2]}"
            with self.killer.at(kind) as moment:
                if moment == TORN:
                    system(descriptor, content, size_bytes // 2, at)
                    self.killer.die(kind, TORN)
                return int(system(descriptor, content, size_bytes, at))

        return write

    def _cutting(self, system: _Call) -> Callable[..., int]:
        def cut(descriptor: int, size_bytes: int) -> int:
            if self.killer is None:
                return int(system(descriptor, size_bytes))
            with self.killer.at(f"sqlite ftruncate {_path(descriptor).rpartition('/')[2]}"):
                return int(system(descriptor, size_bytes))

        return cut

    def _removing(self, system: _Call) -> Callable[..., int]:
        def remove(path: bytes) -> int:
            if self.killer is None:
                return int(system(path))
            with self.killer.at(f"sqlite unlink {os.fsdecode(path).rpartition('/')[2]}"):
                return int(system(path))

        return remove

    def _opening(self, system: _Call) -> Callable[..., int]:
        def open_(path: bytes, flags: int, mode: int) -> int:
            if self.killer is None or not flags & os.O_CREAT or Path(os.fsdecode(path)).exists():
                return int(system(path, flags, mode))
            with self.killer.at(f"sqlite open {os.fsdecode(path).rpartition('/')[2]}"):
                return int(system(path, flags, mode))

        return open_


# -- proof that no write goes elsewhere ------------------------------------------------------------------------------

_MAKING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGING = {"os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.truncate", "os.chmod"}


def watch(killer: Killer, workspace: Path) -> None:
    """Tell (`unseen`) of every change of files below the workspace's folder that Python makes outside of a point."""

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if killer.inside or (event != "open" and event not in _CHANGING):
            return
        path, flags = str(arguments[0]), arguments[2] if event == "open" else _MAKING
        ours = not path.startswith("/") or path.startswith(str(workspace.parent))
        if ours and isinstance(flags, int) and flags & _MAKING:
            killer.report(unseen=event, path=path)

    sys.addaudithook(hear)


def reporter(descriptor: int) -> Report:
    """Reports as lines of JSON on a pipe, each whole."""

    def report(**told: object) -> None:
        os.write(descriptor, json.dumps(told).encode() + b"\n")

    return report
