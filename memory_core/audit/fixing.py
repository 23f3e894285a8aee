"""`--fix`: what may be put right without touching a word that a person wrote. Each changed file is copied first.

    index-missing-row       a routing row is added under the last one
    index-catalogue-stale   the derived catalogue is written anew (also where the next flush would do it)
    tasks-done-left         tasks that were done more than 7 days ago leave pending_tasks.json

The caller holds the workspace. Copies stand in `.remem/backups/audit-<time>/`, under the file's own path. Run again,
it finds nothing to do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from memory_core.audit.index_page import pages_without_row
from memory_core.audit.scope import look
from memory_core.audit.snapshot import Catalogue, Snapshot
from memory_core.audit.upkeep import left_done
from memory_core.catalogue import rebuild_catalogue
from memory_core.errors import PageChanged
from memory_core.forms import tasks
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.index import first_route, with_route
from memory_core.layouts import INDEX, TASKS
from memory_core.lock import PROGRAM
from memory_core.store.base import Change, PageText
from memory_core.store.encoding import encode

BACKUPS = PROGRAM / "backups"

Keep = Callable[[PurePosixPath, bytes], Awaitable[None]]
"""Keeps the bytes of a file under its own path in the backup; raises StoreError where it cannot."""

_Copy = Callable[[PageText], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Fixed:
    """One thing that was put right: the code of its finding, the file, and what was done."""

    code: str
    file: str
    what: str


def backup_folder(now: datetime) -> PurePosixPath:
    """Where the copies of a run at that moment stand, relative to the workspace."""
    return BACKUPS / f"audit-{now:%Y%m%dT%H%M%S.%fZ}"


async def fix(handle: Handle, keep: Keep) -> tuple[Fixed, ...]:
    """Put right what is safe in this scope. Raises StoreError; what was done by then stands, with its copy."""
    seen = await look(handle)
    if any(page.bad_bytes for page in seen.pages.values() if page.page in (INDEX, TASKS)):
        return ()
    done: list[Fixed] = []
    kept: set[PageId] = set()

    async def copy(page: PageText) -> None:
        if page.page not in kept:
            await keep(PurePosixPath(seen.file(page.page)), encode(page.text, bom=page.bom))
            kept.add(page.page)

    done += await _tasks(handle, seen, copy)
    done += await _rows(handle, seen, copy)
    if seen.catalogue in (Catalogue.STALE, Catalogue.AWAITED):
        done += await _catalogue(handle, copy)
    return tuple(done)


async def _tasks(handle: Handle, seen: Snapshot, copy: _Copy) -> list[Fixed]:
    standing = seen.pages.get(TASKS)
    file = tasks.parse(standing.text if standing else "")
    gone = left_done(file, seen.now)
    if standing is None or not gone:
        return []
    await copy(standing)
    left = tuple(task for task in file.tasks if task not in gone)
    text = tasks.render(
        replace(file, tasks=left, last_updated=seen.now.astimezone(seen.zone).isoformat(timespec="seconds"))
    )
    await handle.store.commit([Change(TASKS, text, standing.stamp)])
    return [Fixed("tasks-done-left", seen.file(TASKS), f"took {len(gone)} off the list: {_titles(gone)}")]


def _titles(gone: tuple[tasks.Task, ...]) -> str:
    named = "; ".join(task.title[:60] for task in gone[:3])
    return f"{named} and {len(gone) - 3} more" if len(gone) > 3 else named


async def _rows(handle: Handle, seen: Snapshot, copy: _Copy) -> list[Fixed]:
    standing, index = seen.pages.get(INDEX), seen.index
    missing = pages_without_row(seen, index) if index else ()
    if standing is None or not missing:
        return []
    text = standing.text
    for page in missing:
        text = with_route(text, first_route(seen.table.rule(page), page))
    if text == standing.text:
        return []
    await copy(standing)
    await handle.store.commit([Change(INDEX, text, standing.stamp)])
    return [Fixed("index-missing-row", seen.file(INDEX), f"added rows to {', '.join(missing)}")]


async def _catalogue(handle: Handle, copy: _Copy) -> list[Fixed]:
    before = await handle.store.read(INDEX)
    if before is None:
        return []
    await copy(before)
    await rebuild_catalogue(handle)
    after = await handle.store.read(INDEX)
    if after is None:
        raise PageChanged("The index was removed while its catalogue was written; run the audit again.")
    file = str(handle.layout.file(handle.scope, INDEX))
    return [Fixed("index-catalogue-stale", file, "wrote the catalogue anew")] if after.text != before.text else []
