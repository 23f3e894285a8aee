"""Which pages of a group exist is told without reading the names of all other groups."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, Scope
from memory_core.layouts import INDEX, READY, layout_named
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

    def scan(self, descriptor: int) -> list[tuple[str, EntryKind]]:
        found = super().scan(descriptor)
        self.names += [name for name, _ in found]
        return found


def _put(workspace: Path, scope: Scope, layout: str) -> None:
    pages = ScopePages(layout_named(layout), scope)
    for rule in layout_named(layout).table(scope).rules:
        path = workspace / pages.layout.place(scope, rule, "2026-09-01")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", "utf-8")


async def _pages(stores: FileStores, *scopes: Scope) -> list[tuple[PageId, ...]]:
    return [await stores.open(scope).pages() for scope in scopes]


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
        names = map(GroupScope, ("build", "linked", "absent", "elsewhere"))
        assert asyncio.run(_pages(stores, *names)) == [(), (), (), (INDEX,)]
    finally:
        stores.close()
