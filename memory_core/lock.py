"""One workspace, one writing process.

The lock is the system's (flock) on a file of its own, `.remem/lock`, never on a file that is replaced: such a lock
would hold a file that nobody looks at any more. It ends with the process, however that ends. The file tells who holds
it; what it says counts only while the lock is held.

Not covered: a network file system that does not pass locks on. There, run one process.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from memory_core.clock import Clock, SystemClock
from memory_core.errors import WorkspaceHeld
from memory_core.store.disk import Disk, translated
from memory_core.store.tree import Tree

PROGRAM = PurePosixPath(".remem")
LOCK = PROGRAM / "lock"
_LARGEST_NOTE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a workspace: process id, machine, and since when (aware)."""

    pid: int
    host: str
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since.isoformat(' ', 'seconds')}"


class Lock:
    """A held workspace. Released by `release`, at the end of a `with`, or with the process."""

    def __init__(self, descriptor: int, holder: Holder) -> None:
        self._descriptor: int | None = descriptor
        self.holder = holder

    def release(self) -> None:
        """Give the workspace back; may be called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def hold(workspace: Path, clock: Clock | None = None, disk: Disk | None = None) -> Lock:
    """Hold the workspace for this process. Blocking, but never waiting.

    Raises WorkspaceHeld naming the holder if another one has it, StoreFailed if the system refuses.
    """
    holder = Holder(os.getpid(), platform.node() or "this machine", (clock or SystemClock()).now())
    tree = Tree(workspace, disk)
    with translated(LOCK):
        with tree.folder(PROGRAM, create=True) as folder:
            descriptor = tree.disk.open_lock(LOCK.name, folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _note(tree.disk, descriptor, holder)
        except BlockingIOError:
            other = _noted(descriptor)
            os.close(descriptor)
            raise WorkspaceHeld(
                f"The workspace {workspace} is held by {other or 'another process'}; stop that one first."
            ) from None
        except OSError:
            os.close(descriptor)
            raise
    return Lock(descriptor, holder)


def _note(disk: Disk, descriptor: int, holder: Holder) -> None:
    note = {"pid": holder.pid, "host": holder.host, "since": holder.since.isoformat()}
    disk.truncate(descriptor)
    disk.write(descriptor, memoryview(json.dumps(note).encode()))


def _noted(descriptor: int) -> Holder | None:
    """What the lock file says; None while its holder is still writing it."""
    try:
        note = json.loads(os.pread(descriptor, _LARGEST_NOTE_BYTES, 0))
        return Holder(int(note["pid"]), str(note["host"]), datetime.fromisoformat(note["since"]))
    except (ValueError, TypeError, KeyError):
        return None
