"""Pages as files: whole or not at all, whatever the disk, a person, a link or a second process does."""

from __future__ import annotations

import asyncio
import errno
import multiprocessing
import os
import stat
import threading
from pathlib import Path

import pytest

from memory_core.errors import (
    BadInput,
    PageChanged,
    PageExists,
    StoreFailed,
    UnknownPage,
)
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, Scope
from memory_core.layouts import APM, FLUSH_STATE, INDEX
from memory_core.store.base import Change
from memory_core.store.disk import _ADVICE, Disk, failed
from memory_core.store.files import FileStores
from memory_core.store.tree import LARGEST_FILE_BYTES, Tree
from tests.memory_core.disks import EditingDisk, FailingDisk, FillingDisk, SlowDisk, temporary_files
from tests.memory_core.processes import crash_while_writing, create_pages

BUILD = GroupScope("build")
OWNER = DirectScope(PersonKey("console:owner"), owner=True)
EXPERIENCE = PageId("experience")
OLD = "# Experience\n\n## [2026-04-06] Redis\n- Body: old\n"


def put(workspace: Path, file: str, content: bytes) -> Path:
    path = workspace / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes_below(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in folder.rglob("*")}


async def rewrite(stores: FileStores, text: str, page: PageId = EXPERIENCE) -> None:
    """Read a page and write `text` in its place."""
    store = stores.open(BUILD)
    seen = await store.read(page)
    assert seen
    await store.commit([Change(page, text, seen.stamp)])


@pytest.mark.asyncio
async def test_reading_creates_nothing(tmp_path: Path) -> None:
    store = FileStores(tmp_path, APM).open(BUILD)
    assert await store.read(INDEX) is None
    assert await store.stamp(INDEX) is None
    assert await store.pages() == ()
    assert os.listdir(tmp_path) == []


@pytest.mark.asyncio
async def test_pages_and_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    await FileStores(tmp_path, APM).open(BUILD).commit([Change(PageId("conventions/api"), "# API\n", None)])
    assert modes_below(tmp_path) == {
        "memory": 0o700,
        "groups": 0o700,
        "build": 0o700,
        "conventions": 0o700,
        "api.md": 0o600,
    }


@pytest.mark.asyncio
async def test_a_rewritten_page_is_private_even_if_it_was_not(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    path.chmod(0o644)
    await rewrite(FileStores(tmp_path, APM), "new")
    assert mode(path) == 0o600


@pytest.mark.asyncio
async def test_every_read_is_recorded_with_its_scope(tmp_path: Path) -> None:
    reads: list[tuple[Scope, PageId]] = []
    stores = FileStores(tmp_path, APM, on_read=lambda scope, page: reads.append((scope, page)))
    await stores.open(BUILD).read(INDEX)
    await stores.open(OWNER).stamp(PageId("longterm"))
    assert reads == [(BUILD, INDEX), (OWNER, PageId("longterm"))]


@pytest.mark.parametrize("name", ["..", "../main", "a/b", "", ".hidden", "x\0", "x\n", "trailing.", "日" * 90])
def test_case_54_a_group_name_that_is_a_path_opens_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="cannot be a group's name"):
        FileStores(tmp_path, APM).open(GroupScope(name))


@pytest.mark.parametrize(
    "page", ["../build", "conventions/../index", "conventions/", "conventions/a/b", "x", "index.md"]
)
@pytest.mark.asyncio
async def test_a_page_that_the_layout_does_not_list_is_unknown(tmp_path: Path, page: str) -> None:
    store = FileStores(tmp_path, APM).open(BUILD)
    with pytest.raises(UnknownPage):
        await store.read(PageId(page))
    with pytest.raises(UnknownPage):
        await store.commit([Change(INDEX, "x", None), Change(PageId(page), "x", None)])
    assert await store.read(INDEX) is None


@pytest.mark.asyncio
async def test_the_shared_persona_is_read_and_never_written(tmp_path: Path) -> None:
    put(tmp_path, "SOUL.md", b"# Soul\n")
    store = FileStores(tmp_path, APM).open(BUILD)
    seen = await store.read(PageId("soul"))
    assert seen
    with pytest.raises(BadInput, match="changed by hand only"):
        await store.commit([Change(PageId("soul"), "obey", seen.stamp)])


@pytest.mark.asyncio
async def test_a_later_change_that_fails_leaves_the_earlier_one(tmp_path: Path) -> None:
    put(tmp_path, "memory/groups/build/people.md", b"hand")
    store = FileStores(tmp_path, APM).open(BUILD)
    with pytest.raises(PageExists):
        await store.commit(
            [Change(INDEX, "i", None), Change(PageId("people"), "p", None), Change(EXPERIENCE, "e", None)]
        )
    assert await store.pages() == (INDEX, "people")


# Edits by hand


@pytest.mark.asyncio
async def test_case_108_a_hand_edit_is_noticed_and_both_texts_can_stand(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    store = FileStores(tmp_path, APM).open(BUILD)
    page = await store.read(EXPERIENCE)
    assert page
    times = path.stat()
    by_hand = OLD.replace("old", "OLD") + "by hand\n" * 30
    path.write_text(by_hand)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(PageChanged):
        await store.commit([Change(EXPERIENCE, page.text + "ours\n", page.stamp)])
    again = await store.read(EXPERIENCE)
    assert again
    await store.commit([Change(EXPERIENCE, again.text + "ours\n", again.stamp)])
    assert path.read_text() == by_hand + "ours\n"


@pytest.mark.asyncio
async def test_an_edit_while_our_text_is_written_is_not_lost(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    stores = FileStores(tmp_path, APM, disk=EditingDisk(path, b"by hand"))
    with pytest.raises(PageChanged):
        await rewrite(stores, "ours")
    assert path.read_bytes() == b"by hand"
    assert temporary_files(tmp_path) == []


@pytest.mark.asyncio
async def test_a_page_removed_by_hand_is_told_as_changed(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    store = FileStores(tmp_path, APM).open(BUILD)
    page = await store.read(EXPERIENCE)
    assert page
    path.unlink()
    with pytest.raises(PageChanged, match="gone"):
        await store.commit([Change(EXPERIENCE, "x", page.stamp)])
    assert not path.exists()


@pytest.mark.asyncio
async def test_a_touched_page_is_the_same_page(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    store = FileStores(tmp_path, APM).open(BUILD)
    page = await store.read(EXPERIENCE)
    assert page
    os.utime(path, ns=(1, 1))
    (stamp,) = await store.commit([Change(EXPERIENCE, "new", page.stamp)])
    assert stamp == await store.stamp(EXPERIENCE)


# Disks that fail


@pytest.mark.parametrize("room_bytes", [0, 1, 17, 40])
@pytest.mark.parametrize("page", [EXPERIENCE, FLUSH_STATE])
@pytest.mark.asyncio
async def test_case_111_a_full_disk_leaves_the_old_content(tmp_path: Path, room_bytes: int, page: PageId) -> None:
    path = put(tmp_path, str(APM.file(BUILD, page)), OLD.encode())
    with pytest.raises(StoreFailed, match="disk is full"):
        await rewrite(FileStores(tmp_path, APM, disk=FillingDisk(room_bytes)), "n" * 41, page)
    assert path.read_text() == OLD
    assert temporary_files(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("call", ["create_file", "write", "sync", "status", "rename", "open_file", "read"])
@pytest.mark.asyncio
async def test_a_refused_call_leaves_the_old_content(tmp_path: Path, call: str, code: int) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    seen = await FileStores(tmp_path, APM).open(BUILD).read(EXPERIENCE)
    assert seen
    store = FileStores(tmp_path, APM, disk=FailingDisk(code, call)).open(BUILD)
    with pytest.raises(StoreFailed):
        await store.commit([Change(EXPERIENCE, "new", seen.stamp)])
    assert path.read_text() == OLD
    assert temporary_files(tmp_path) == []


@pytest.mark.parametrize("call", ["create_file", "write", "sync", "link", "make_folder", "open_root", "open_folder"])
@pytest.mark.asyncio
async def test_a_refused_call_creates_no_page(tmp_path: Path, call: str) -> None:
    store = FileStores(tmp_path, APM, disk=FailingDisk(errno.EIO, call)).open(BUILD)
    with pytest.raises(StoreFailed, match="input/output"):
        await store.commit([Change(INDEX, "new", None)])
    assert await FileStores(tmp_path, APM).open(BUILD).read(INDEX) is None


@pytest.mark.asyncio
async def test_a_folder_that_cannot_be_synced_is_a_failed_write_with_a_whole_page(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    with pytest.raises(StoreFailed):
        await rewrite(FileStores(tmp_path, APM, disk=FailingDisk(errno.EIO, "sync_folder")), "new")
    assert path.read_text() in {OLD, "new"}


@pytest.mark.asyncio
async def test_a_temporary_file_that_cannot_be_removed_spoils_nothing(tmp_path: Path) -> None:
    store = FileStores(tmp_path, APM, disk=FailingDisk(errno.EIO, "unlink")).open(BUILD)
    await store.commit([Change(INDEX, "new", None)])
    assert await store.pages() == (INDEX,)
    assert len(await asyncio.to_thread(Tree(tmp_path).sweep)) == 1
    assert temporary_files(tmp_path) == []
    assert await store.pages() == (INDEX,)


@pytest.mark.asyncio
async def test_short_writes_are_finished(tmp_path: Path) -> None:
    text = "日常\n" * 50
    store = FileStores(tmp_path, APM, disk=SlowDisk()).open(BUILD)
    await store.commit([Change(INDEX, text, None)])
    page = await store.read(INDEX)
    assert page
    assert page.text == text


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP])
@pytest.mark.asyncio
async def test_case_55_a_file_system_without_links_still_creates_exclusively(tmp_path: Path, code: int) -> None:
    store = FileStores(tmp_path, APM, disk=FailingDisk(code, "link")).open(BUILD)
    await store.commit([Change(INDEX, "first", None)])
    with pytest.raises(PageExists):
        await store.commit([Change(INDEX, "second", None)])
    page = await store.read(INDEX)
    assert page
    assert page.text == "first"
    assert temporary_files(tmp_path) == []


def test_every_refusal_has_a_next_step() -> None:
    for code, advice in _ADVICE.items():
        assert advice in str(failed("memory/x.md", OSError(code, os.strerror(code))))
        assert ";" in advice
    assert "Invalid argument" in str(failed("memory/x.md", OSError(errno.EINVAL, os.strerror(errno.EINVAL))))


@pytest.mark.asyncio
async def test_a_page_beyond_the_limit_is_refused_by_name_and_size(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build.md", b"")
    os.truncate(path, LARGEST_FILE_BYTES + 1)
    with pytest.raises(StoreFailed, match=rf"build\.md has {LARGEST_FILE_BYTES + 1} bytes"):
        await FileStores(tmp_path, APM).open(BUILD).read(INDEX)


@pytest.mark.asyncio
async def test_what_is_no_ordinary_file_is_not_read_and_does_not_hang(tmp_path: Path) -> None:
    put(tmp_path, "memory/groups/x", b"")
    os.mkfifo(tmp_path / "memory/groups/build.md")
    store = FileStores(tmp_path, APM).open(BUILD)
    with pytest.raises(StoreFailed, match="folder where a file belongs"):
        await store.read(INDEX)
    assert await store.pages() == ()


# Links


@pytest.mark.parametrize(
    "link", ["memory", "memory/groups", "memory/groups/build", "memory/groups/build/attention.md"]
)
@pytest.mark.asyncio
async def test_case_54_a_link_is_not_followed_at_any_step(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    put(outside, "memory/groups/build/attention.md", b"secret")
    workspace = tmp_path / "workspace"
    (workspace / link).parent.mkdir(parents=True)
    (workspace / link).symlink_to(outside / link)
    store = FileStores(workspace, APM).open(BUILD)
    with pytest.raises(StoreFailed):
        await store.read(PageId("attention"))
    with pytest.raises(StoreFailed):
        await store.commit([Change(PageId("attention"), "x", None)])
    assert (outside / "memory/groups/build/attention.md").read_bytes() == b"secret"
    assert [path for path in outside.rglob("*") if path.is_file()] == [outside / "memory/groups/build/attention.md"]


class _SwappingDisk(Disk):
    """Swaps a folder for a link to another one right before the chosen call, as an attacker would."""

    def __init__(self, folder: Path, target: Path, at: int) -> None:
        self.folder, self.target, self.left = folder, target, at

    def _count(self) -> None:
        if self.left == 0:
            self.folder.rename(self.folder.with_name("aside"))
            self.folder.symlink_to(self.target)
        self.left -= 1

    def open_folder(self, name: str, parent: int) -> int:
        self._count()
        return super().open_folder(name, parent)

    def open_file(self, name: str, parent: int) -> int:
        self._count()
        return super().open_file(name, parent)

    def read(self, descriptor: int, size_bytes: int) -> bytes:
        self._count()
        return super().read(descriptor, size_bytes)


@pytest.mark.parametrize("folder", ["memory", "memory/groups", "memory/groups/build"])
@pytest.mark.parametrize("at", range(5))
def test_a_folder_swapped_for_a_link_while_we_read_gives_nothing_away(tmp_path: Path, folder: str, at: int) -> None:
    file = APM.file(BUILD, PageId("attention"))
    put(tmp_path / "outside", str(file), b"secret")
    put(tmp_path / "w", str(file), b"ours")
    tree = Tree(tmp_path / "w", _SwappingDisk(tmp_path / "w" / folder, tmp_path / "outside" / folder, at))
    opened = at > folder.count("/")
    if opened:
        raw = tree.read(file)
        assert raw
        assert raw.content == b"ours"
    else:
        with pytest.raises(StoreFailed, match="link"):
            tree.read(file)


# The workspace as a whole


@pytest.mark.asyncio
async def test_a_workspace_that_disappears_is_no_empty_memory(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    put(workspace, "memory/groups/build.md", b"x")
    store = FileStores(workspace, APM).open(BUILD)
    assert await store.read(INDEX)
    workspace.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreFailed, match="is gone"):
        await store.read(INDEX)
    workspace.mkdir()
    with pytest.raises(StoreFailed, match="Another folder took the place"):
        await store.commit([Change(INDEX, "x", None)])
    assert list(workspace.iterdir()) == []


def test_case_113_killed_writes_leave_whole_pages_and_are_swept(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.encode())
    spawn = multiprocessing.get_context("spawn")
    left = 0
    for after in range(6):
        path.write_text(OLD)
        file = APM.file(BUILD, EXPERIENCE)
        process = spawn.Process(target=crash_while_writing, args=(tmp_path, file, b"a new text", after))
        process.start()
        process.join()
        assert process.exitcode == (0 if after == 5 else 9)
        assert path.read_text() == (OLD if after < 4 else "a new text")
        left += after < 4
    assert len(temporary_files(tmp_path)) == left == 4
    assert asyncio.run(FileStores(tmp_path, APM).open(BUILD).pages()) == (EXPERIENCE,)
    assert len(Tree(tmp_path).sweep()) == left
    assert temporary_files(tmp_path) == []
    assert path.exists()


def test_the_sweep_touches_nothing_else(tmp_path: Path) -> None:
    name = ".remem-0123456789abcdef.tmp"
    ours = [put(tmp_path, f"{folder}{name}", b"") for folder in ["", "memory/", "people/x/memory/", ".remem/"]]
    others = [put(tmp_path, file, b"") for file in [f"projects/{name}", ".remem-x.tmp", f"memory/{name}.md", "a.tmp"]]
    (tmp_path / "memory/link").symlink_to(tmp_path / "projects")
    assert len(Tree(tmp_path).sweep()) == len(ours)
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)


def test_case_107_of_two_processes_one_creates_a_page(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    barrier, won = spawn.Barrier(2), spawn.SimpleQueue()
    names = [f"g{number}.md" for number in range(40)]
    asked = [(tmp_path, names, letter * 1000, barrier, won) for letter in (b"a", b"b")]
    processes = [spawn.Process(target=create_pages, args=one) for one in asked]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    winners = [won.get() for _ in range(40)]
    assert won.empty()
    assert sorted(winners) == sorted(names)
    assert all(len(set(path.read_bytes())) == 1 for path in tmp_path.rglob("g*.md"))
    assert temporary_files(tmp_path) == []


@pytest.mark.asyncio
async def test_commits_of_one_page_at_once_lose_nothing(tmp_path: Path) -> None:
    stores = FileStores(tmp_path, APM)
    await stores.open(BUILD).commit([Change(EXPERIENCE, "", None)])

    async def append(number: int) -> None:
        store = stores.open(BUILD)
        while True:
            page = await store.read(EXPERIENCE)
            assert page
            try:
                await store.commit([Change(EXPERIENCE, page.text + f"{number}\n", page.stamp)])
            except PageChanged:
                continue
            return

    await asyncio.gather(*(append(number) for number in range(12)))
    page = await stores.open(BUILD).read(EXPERIENCE)
    assert page
    assert sorted(page.text.split(), key=int) == [str(number) for number in range(12)]


def test_closing_ends_the_threads(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    stores = FileStores(tmp_path, APM)
    asyncio.run(stores.open(BUILD).commit([Change(INDEX, "x", None)]))
    assert set(threading.enumerate()) > before
    stores.close()
    stores.close()
    assert set(threading.enumerate()) <= before
