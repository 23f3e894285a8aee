"""Disks and ledgers that fail at a chosen call, once or until they are mended, and take everything again then."""

from __future__ import annotations

import errno
import os
import sqlite3
from dataclasses import dataclass

from memory_core.store.disk import Disk
from tests.memory_core.disks import FailingDisk
from tests.scenarios.damage import WRITES

NEVER = 1_000_000

ADVICE = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EIO: "the disk reports an input/output error; check the disk",
    errno.EACCES: "permission is missing; give the bot's user access to it",
}
"""What a person is told."""


class FaultyDisk(FailingDisk):
    """Refuses the `after`-th call of a write, that one alone or every one from there on."""

    def __init__(self, number: int, *, once: bool) -> None:
        super().__init__(number, *WRITES, after=NEVER)
        self.name = f"disk {number} {once}"
        self._once = once

    def _meet(self, call: str) -> None:
        failing = call in self.calls and self.left == 0
        if failing and self._once:
            self.left = NEVER
            raise OSError(self.errno, os.strerror(self.errno))
        super()._meet(call)

    def arm(self, after: int) -> None:
        """Take `after` more calls, then refuse."""
        self.left = after

    def mend(self) -> int:
        """Take everything again; how many calls there were since `arm(NEVER)`."""
        left, self.left = self.left, NEVER
        return NEVER - left


class CrampedDisk(Disk):
    """Has room for so many bytes; the last piece is taken short, then it is full, until it is mended."""

    def __init__(self) -> None:
        self.name = "short"
        self._room_bytes = NEVER

    def write(self, descriptor: int, content: memoryview) -> int:
        """What there is room for."""
        if self._room_bytes <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(descriptor, content[: self._room_bytes])
        self._room_bytes -= taken
        return taken

    def arm(self, room_bytes: int) -> None:
        """Take so many bytes more."""
        self._room_bytes = room_bytes

    def mend(self) -> int:
        """Take everything again; how many bytes were taken since `arm(NEVER)`."""
        left, self._room_bytes = self._room_bytes, NEVER
        return NEVER - left


_SAYS = {
    errno.ENOSPC: (sqlite3.SQLITE_FULL, "SQLITE_FULL", "the disk is full"),
    errno.EIO: (sqlite3.SQLITE_IOERR, "SQLITE_IOERR", "the disk reported an error"),
    errno.EACCES: (sqlite3.SQLITE_READONLY, "SQLITE_READONLY", "the file may not be written"),
}


@dataclass(slots=True)
class FaultyLedger:
    """Refuses the `left`-th statement from now, that one alone or every one from there on, as SQLite does.

    Hands itself to the ledger as its `faults`.
    """

    number: int
    once: bool
    left: int = NEVER

    @property
    def name(self) -> str:
        """Which kind of fault this is."""
        return f"ledger {self.number} {self.once}"

    @property
    def advice(self) -> str:
        """What a person is told."""
        return _SAYS[self.number][2]

    def __call__(self, statement: str) -> None:
        """Hear of one statement before it runs."""
        if self.left > 0:
            self.left -= 1
            return
        if self.once:
            self.left = NEVER
        code, name, says = _SAYS[self.number]
        error = sqlite3.OperationalError(says)
        error.sqlite_errorcode, error.sqlite_errorname = code, name
        raise error

    def arm(self, after: int) -> None:
        """Run `after` more statements, then refuse."""
        self.left = after

    def mend(self) -> int:
        """Run everything again; how many statements there were since `arm(NEVER)`."""
        left, self.left = self.left, NEVER
        return NEVER - left
