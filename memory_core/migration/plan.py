"""The plan of one scope's migration: its pages read, moved, the index made whole, and set against the files.

Reads only. A page with bytes that are no text may stay where it is, but cannot be moved: then nothing is, and the
error names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from memory_core.catalogue import rebuild_catalogue
from memory_core.errors import PageDamaged, StoreError
from memory_core.handle import Handle, name_of
from memory_core.ids import PageId
from memory_core.index import parse as parse_index
from memory_core.layouts import INDEX, Layout
from memory_core.ledger.memory import MemoryLedger
from memory_core.migration.ledger import Owed, caught_up
from memory_core.migration.scope import After, Before, migrated
from memory_core.store.base import PageText, Store
from memory_core.store.encoding import encode
from memory_core.store.memory import MemoryStores


@dataclass(frozen=True, slots=True)
class Planned:
    """What becomes of a scope's files. `contents`: the new bytes of files that are new or other; `was`: the hash of
    what stands there now; `removes`: files that go, with their hashes; `files`: every page as it stands."""

    after: After
    contents: Mapping[PurePosixPath, bytes] = field(default_factory=dict)
    was: Mapping[PurePosixPath, str] = field(default_factory=dict)
    removes: Mapping[PurePosixPath, str] = field(default_factory=dict)
    files: tuple[PurePosixPath, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    """Per file of the old layout, what becomes of it, for people."""


async def plan_scope(handle: Handle, target: Handle, found: Owed) -> Planned:
    """The migration of the handle's scope; `target` is its handle in the new layout.

    Raises StoreError, PageDamaged for a page that would have to be moved.
    """
    old, new, scope = handle.layout, target.layout, handle.scope
    pages, damaged = await _read(handle.store, handle)
    files = {page: old.file(scope, page) for page in (*pages, *damaged)}
    taken = set(files.values())
    beside = {
        page: read
        for page in await target.store.pages()
        if new.file(scope, page) not in taken and not _shared(new, handle, page)
        if (read := await target.store.read(page)) is not None
    }
    texts = {page: one.text for page, one in pages.items()}
    index = parse_index(texts.get(INDEX, ""), handle.table)
    zone = index.zone or handle.host_zone
    texts = caught_up(texts, handle.table, found, zone, name_of(handle))
    name = index.front.get("group_name", "") or name_of(handle) or "main"
    before = Before(
        scope,
        old,
        new,
        texts,
        {page: one.text for page, one in beside.items()},
        handle.clock.now().astimezone(zone),
        name,
    )
    after = migrated(before)
    after = replace(after, pages=await _with_catalogue(handle, new, after.pages))
    seen = {files[page]: one for page, one in pages.items()} | {
        new.file(scope, page): one for page, one in beside.items()
    }
    wanted = {new.file(scope, page): text for page, text in after.pages.items()}
    contents = {
        file: content
        for file, text in wanted.items()
        if (content := _bytes(text, seen.get(file))) != _raw(seen.get(file))
    }
    kept = set(wanted)
    for page, why in damaged.items():
        if files[page] in contents or not _may_stay(handle, new, page):
            raise PageDamaged(why)
        kept.add(files[page])
    removes = {file: _hash(seen[file]) for page, file in files.items() if file not in kept and page not in damaged}
    lines = tuple((str(old.file(scope, page)), what) for page, what in after.told)
    return Planned(
        after,
        contents,
        {file: _hash(seen[file]) for file in contents if file in seen},
        removes,
        tuple(seen),
        lines,
    )


async def _read(store: Store, handle: Handle) -> tuple[dict[PageId, PageText], dict[PageId, str]]:
    """The scope's own pages, and those that cannot be moved with the reason."""
    pages: dict[PageId, PageText] = {}
    damaged: dict[PageId, str] = {}
    for page in await store.pages():
        if _shared(handle.layout, handle, page):
            continue
        try:
            read = await store.read(page)
        except StoreError as refused:
            damaged[page] = str(refused)
            continue
        if read is not None and read.bad_bytes:
            file = handle.layout.file(handle.scope, page)
            damaged[page] = f"{file} holds bytes that are not UTF-8; save it as UTF-8, then run the migration again."
        elif read is not None:
            pages[page] = read
    return pages, damaged


def _shared(layout: Layout, handle: Handle, page: PageId) -> bool:
    return layout.table(handle.scope).rule(page).shared


def _may_stay(handle: Handle, new: Layout, page: PageId) -> bool:
    """Is the page the same file in both layouts, and no index?"""
    table = new.table(handle.scope)
    if page == INDEX or not any(rule.name_in(page) is not None for rule in table.rules):
        return False
    same = new.file(handle.scope, page) == handle.layout.file(handle.scope, page)
    return same and table.rule(page).form is handle.table.rule(page).form


async def _with_catalogue(handle: Handle, new: Layout, pages: Mapping[PageId, str]) -> dict[PageId, str]:
    """The pages with the index's catalogue made anew, on a copy in memory."""
    stores = MemoryStores(new)
    now_ns = int(handle.clock.now().timestamp() * 1e9)
    for page, text in pages.items():
        stores.files[new.file(handle.scope, page)] = (encode(text, bom=False), now_ns)
    ledger = MemoryLedger(handle.clock).open(handle.scope)
    copy = replace(handle, store=stores.open(handle.scope), ledger=ledger, layout=new)
    if not await rebuild_catalogue(copy):
        return dict(pages)
    index = await copy.store.read(INDEX)
    return {**pages, INDEX: index.text} if index is not None else dict(pages)


def _bytes(text: str, seen: PageText | None) -> bytes:
    return encode(text, bom=bool(seen and seen.bom))


def _raw(seen: PageText | None) -> bytes | None:
    return encode(seen.text, bom=seen.bom) if seen is not None else None


def _hash(seen: PageText) -> str:
    return seen.stamp.sha256
