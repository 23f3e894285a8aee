"""A workspace with something in it, and the ways in which its files go wrong."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import TypeAlias

from bot.app import opened
from memory_core.clock import ManualClock
from tests.memory_core.disks import FailingDisk
from tests.scenarios.terminal import START, Terminal, settings, terminal

INDEX = "memory/groups/build.md"
PAGES = "memory/groups/build"
DECIDED = "We decided to use Redis for the session cache because sessions must survive a restart."
ASK = "@remem what did we decide about the session cache?"
WRITES = ("create_file", "make_folder", "write", "sync", "sync_folder", "rename", "link")
"""Every call of a disk that a full one may refuse."""

Damage: TypeAlias = Callable[[Path], None]
_ids = count(1)


async def lay_down(workspace: Path) -> None:
    """A workspace whose group `build` has a purpose and one saved decision."""
    async with terminal(workspace) as screen:
        await screen.type("/join #build", "/remem purpose We run the build servers", DECIDED, "/remem")


def as_folder(path: Path) -> None:
    """A folder in the file's place; what was in the file stands beside it."""
    away(path)
    path.mkdir(parents=True)


def as_link(path: Path) -> None:
    """A symbolic link in the file's place."""
    path.symlink_to(away(path))


def as_bytes(change: Callable[[str], bytes]) -> Damage:
    """Other bytes in the file, made from its text."""

    def damage(path: Path) -> None:
        text = path.read_text("utf-8")
        away(path)
        path.write_bytes(change(text))

    return damage


def away(path: Path) -> Path:
    """The sound file, put where no page is."""
    kept = path.with_name(path.name + ".sound")
    if path.exists():
        path.rename(kept)
    return kept


def mend(path: Path) -> None:
    """Undo a damage."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    kept = path.with_name(path.name + ".sound")
    if kept.exists():
        kept.rename(path)


def sentence(said: str) -> str:
    """What was said, which must be short, in words for people, and one paragraph."""
    assert "Traceback" not in said
    assert "Error" not in said
    assert said.count("\n") == 0
    assert said.rstrip().endswith((".", ")"))
    return said


def contents(folder: Path, names: Iterable[str] = ("*.md", "*.json")) -> dict[str, bytes]:
    """Every page of a folder by name, to see later that none of it changed."""
    found = (path for name in names for path in folder.rglob(name) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def grown(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """No line of what people may have written is gone; state files are the program's and may be other ones."""
    for name, content in before.items():
        if name.endswith(".md"):
            assert set(content.splitlines()) <= set(after[name].splitlines()), name


def unlike(number: int) -> str:
    """Five words that no other number's share, so that no decision is taken for a correction of another."""
    digest = (
        hashlib.sha256(str(number).encode()).hexdigest().translate(str.maketrans("0123456789", "ghiklmnoprs"[:10]))
    )
    return " ".join(digest[at : at + 7] for at in range(0, 35, 7))


class FullDisk(FailingDisk):
    """A disk that is full from the `fill`-th call of a write on, until it is freed."""

    def __init__(self) -> None:
        super().__init__(errno.ENOSPC, *WRITES, after=1_000_000)

    def fill(self, after: int) -> None:
        """Refuse every call of a write after the next `after`."""
        self.left = after

    def free(self) -> int:
        """Take everything again; how many calls were not refused since the last `fill(1_000_000)`."""
        left, self.left = self.left, 1_000_000
        return 1_000_000 - left


@asynccontextmanager
async def on_disk(workspace: Path, disk: FullDisk) -> AsyncIterator[Terminal]:
    """The program, its pages on `disk`."""
    clock = ManualClock(START)
    async with opened(settings(workspace), clock=clock, zone=UTC, new_id=lambda: f"d{next(_ids)}", disk=disk) as app:
        yield Terminal(app, clock, [])
