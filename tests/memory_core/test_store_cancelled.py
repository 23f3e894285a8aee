"""Cancelled calls of the file store: what was begun is finished first, and nothing stays open."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from memory_core.ids import GroupScope
from memory_core.layouts import APM, INDEX
from memory_core.store.base import Change
from memory_core.store.disk import Disk
from memory_core.store.files import FileStores
from tests.memory_core.disks import temporary_files

BUILD = GroupScope("build")


class _Gate(Disk):
    """Lets a test look while a write is under way."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def sync(self, descriptor: int) -> None:
        self.reached.set()
        self.go_on.wait(10)
        super().sync(descriptor)


@pytest.mark.asyncio
async def test_a_cancelled_commit_is_finished_before_the_cancellation_is_felt(tmp_path: Path) -> None:
    gate = _Gate()
    store = FileStores(tmp_path, APM, disk=gate).open(BUILD)
    task = asyncio.create_task(store.commit([Change(INDEX, "new", None)]))
    await asyncio.to_thread(gate.reached.wait, 10)
    for _ in range(3):
        task.cancel()
        await asyncio.wait([task], timeout=0.01)
        assert not task.done()
    gate.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (tmp_path / "memory/groups/build.md").read_text() == "new"
    assert temporary_files(tmp_path) == []


@pytest.mark.asyncio
async def test_a_cancelled_commit_that_waits_behind_others_never_happens(tmp_path: Path) -> None:
    gate = _Gate()
    stores = FileStores(tmp_path, APM, disk=gate)
    groups = [f"room-{number}" for number in range(20)]
    tasks = [
        asyncio.create_task(stores.open(GroupScope(group)).commit([Change(INDEX, group, None)])) for group in groups
    ]
    await asyncio.to_thread(gate.reached.wait, 10)
    for task in tasks:
        task.cancel()
    done, begun = await asyncio.wait(tasks, timeout=0.2)
    assert len(begun) <= 2, "only what the two threads are at is waited for"
    assert all(task.cancelled() for task in done)
    gate.go_on.set()
    await asyncio.wait(tasks)
    await asyncio.to_thread(stores.close)
    written = sorted(file.stem for file in (tmp_path / "memory/groups").glob("*.md"))
    assert len(written) <= 2
    assert all((tmp_path / f"memory/groups/{group}.md").read_text() == group for group in written)
    assert temporary_files(tmp_path) == []


class _OpeningGate(_Gate):
    """Lets a test look while a file is being opened for reading."""

    def open_file(self, name: str, parent: int) -> int:
        self.reached.set()
        self.go_on.wait(10)
        self.opened = super().open_file(name, parent)
        return self.opened


@pytest.mark.asyncio
async def test_a_cancelled_read_leaves_no_file_open(tmp_path: Path) -> None:
    gate = _OpeningGate()
    (tmp_path / "memory/groups").mkdir(parents=True)
    (tmp_path / "memory/groups/build.md").write_text("text")
    task = asyncio.create_task(FileStores(tmp_path, APM, disk=gate).open(BUILD).read(INDEX))
    await asyncio.to_thread(gate.reached.wait, 10)
    task.cancel()
    await asyncio.wait([task], timeout=0.01)
    gate.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(gate.opened)
