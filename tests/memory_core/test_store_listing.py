"""Which pages of a group exist is told without reading the names of all other groups."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import pytest

from memory_core.errors import StoreFailed
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, Scope
from memory_core.layouts import INDEX, READY, layout_named
from memory_core.store.base import Change, State, Store
from memory_core.store.disk import Disk, EntryKind
from memory_core.store.files import FileStores
from memory_core.store.pages import ScopePages
from memory_core.store.tree import Tree

OTHERS = 50
SCOPES: tuple[Scope, ...] = (GroupScope("build"), DirectScope(PersonKey("console:me"), owner=True))


class ListingDisk(Disk):
    """Keeps every name that a folder's listing gave."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def statuses(self, descriptor: int) -> list[tuple[str, os.stat_result]]:
        found = super().statuses(descriptor)
        self.names += [name for name, _ in found]
        return found

    def scan(self, descriptor: int) -> list[tuple[str, EntryKind]]:
        found = super().scan(descriptor)
        self.names += [name for name, _ in found]
        return found


class OpeningDisk(Disk):
    """Counts the files that were opened to be read."""

    opened = 0

    def open_file(self, name: str, parent: int) -> int:
        self.opened += 1
        return super().open_file(name, parent)


def _put(workspace: Path, scope: Scope, layout: str) -> None:
    pages = ScopePages(layout_named(layout), scope)
    for rule in layout_named(layout).table(scope).rules:
        path = workspace / pages.layout.place(scope, rule, "2026-09-01")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", "utf-8")


async def _pages(stores: FileStores, *scopes: Scope) -> list[tuple[PageId, ...]]:
    return [await stores.open(scope).pages() for scope in scopes]


async def _states(stores: FileStores, *scopes: Scope) -> list[Mapping[PageId, State]]:
    return [await stores.open(scope).states() for scope in scopes]


@pytest.mark.parametrize("layout", sorted(READY))
def test_the_names_of_other_groups_are_not_read(tmp_path: Path, layout: str) -> None:
    for number in range(OTHERS):
        _put(tmp_path, GroupScope(f"other-{number}"), layout)
    for scope in SCOPES:
        _put(tmp_path, scope, layout)
    disk = ListingDisk()
    stores = FileStores(tmp_path, layout_named(layout), disk=disk)
    try:
        (found,) = asyncio.run(_pages(stores, SCOPES[0]))
        assert not [name for name in disk.names if name.startswith("other-")]
        assert len(found) >= 8
        assert tuple(asyncio.run(_states(stores, SCOPES[0]))[0]) == found
        assert not [name for name in disk.names if name.startswith("other-")]
        for scope, pages in zip(SCOPES, asyncio.run(_pages(stores, *SCOPES)), strict=True):
            assert pages == ScopePages(layout_named(layout), scope).existing(Tree(tmp_path).names)
    finally:
        stores.close()


def test_what_is_no_file_is_no_page(tmp_path: Path) -> None:
    groups = tmp_path / "memory/groups"
    (groups / "build.md").mkdir(parents=True)
    (groups / "linked.md").symlink_to(groups / "elsewhere.md")
    (groups / "elsewhere.md").write_text("x", "utf-8")
    stores = FileStores(tmp_path, layout_named("apm"))
    try:
        names = tuple(map(GroupScope, ("build", "linked", "absent", "elsewhere")))
        assert asyncio.run(_pages(stores, *names)) == [(), (), (), (INDEX,)]
        assert [tuple(one) for one in asyncio.run(_states(stores, *names))] == [(), (), (), (INDEX,)]
    finally:
        stores.close()


def test_a_page_that_is_led_elsewhere_has_no_state(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "2026-09-01.md").write_text("not ours", "utf-8")
    workspace = tmp_path / "workspace"
    journal = workspace / ScopePages(layout_named("apm"), SCOPES[0]).file(PageId("journal/2026-09-01"))
    journal.parent.mkdir(parents=True)
    journal.symlink_to(outside / "2026-09-01.md")
    stores = FileStores(workspace, layout_named("apm"))
    try:
        assert asyncio.run(_states(stores, SCOPES[0])) == [{}]
        journal.unlink()
        journal.parent.rmdir()
        journal.parent.symlink_to(outside)
        for ask in (_pages, _states):
            with pytest.raises(StoreFailed, match="link"):
                asyncio.run(ask(stores, SCOPES[0]))
    finally:
        stores.close()


def test_every_commit_gives_another_state_and_no_page_is_opened(tmp_path: Path) -> None:
    page, (scope, _) = PageId("conventions/api"), SCOPES
    disk = OpeningDisk()
    stores = FileStores(tmp_path, layout_named("apm"), disk=disk)

    async def written() -> None:
        store, seen = stores.open(scope), set[State]()
        (stamp,) = await store.commit([Change(page, "a", None)])
        for text in ("b", "c", "d"):
            before = disk.opened
            seen.add((await store.states())[page])
            assert disk.opened == before
            (stamp,) = await store.commit([Change(page, text, stamp)])
        seen.add((await store.states())[page])
        assert len(seen) == 4
        assert {state.size for state in seen} == {1}

    try:
        asyncio.run(written())
    finally:
        stores.close()


def test_states_cost_no_more_than_the_list_of_pages_and_a_look_at_each(tmp_path: Path) -> None:
    for count in (15, 150):
        scope = GroupScope(f"build-{count}")
        pages = ScopePages(layout_named("apm"), scope)
        for number in range(count):
            path = tmp_path / pages.file(PageId(f"conventions/c{number}"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x" * 500, "utf-8")
        stores = FileStores(tmp_path, layout_named("apm"))
        try:
            listed, told = asyncio.run(_timed(stores.open(scope), count))
        finally:
            stores.close()
        figures = f"pages() {listed * 1e3:.2f} ms, states() {told * 1e3:.2f} ms, {told / listed:.1f} x"
        print(f"{count} pages: {figures}")  # noqa: T201
        assert told < 20 * listed


async def _timed(store: Store, count: int) -> tuple[float, float]:
    """The medians of both, in turns."""
    listed, told = [], []
    for _ in range(51):
        start = time.perf_counter()
        await store.pages()
        middle = time.perf_counter()
        assert len(await store.states()) == count
        listed.append(middle - start)
        told.append(time.perf_counter() - middle)
    return median(listed), median(told)
