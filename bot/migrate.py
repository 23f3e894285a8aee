"""`remem migrate`: a workspace moves to another layout.

Without `--yes` it prints what would happen, file by file, and writes nothing: no lock, no ledger. With it the
workspace is held (a running bot is named and refused), every page is copied to `.remem/backups/migrate-<time>/`,
and the memory is moved so that it may be killed at any moment: run again, it goes on (memory_core.migration.work).
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from bot.app import moving
from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.scopes import is_former_owner, named
from bot.settings import Settings
from bot.welcoming import owners
from memory_core.clock import Clock
from memory_core.errors import BadInput, RememError
from memory_core.flush.engine import resume
from memory_core.handle import Handle, Handles
from memory_core.ids import DirectScope, Scope
from memory_core.layout_note import layout_of
from memory_core.layouts import LAYOUTS, Layout, layout_named
from memory_core.ledger.base import Ledger
from memory_core.ledger.database import Faults, no_faults
from memory_core.migration import work
from memory_core.migration.ledger import Owed, close, closing, owed
from memory_core.migration.plan import Planned, plan_scope
from memory_core.scopes import scopes_in
from memory_core.store.disk import Disk
from memory_core.store.tree import Tree
from memory_core.text import counted
from memory_core.workspace import KEY, require

COULD_NOT = 2


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: the layout to move to and from ('': as the workspace is), and whether to do it."""

    to: str
    origin: str = ""
    yes: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """What a migration came to, or would. `lines` are for people; `backup` and `done` only where it was done."""

    old: str
    new: str
    lines: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    backup: str = ""
    copies: int = 0
    done: bool = False
    resumed: bool = False


def migrate(workspace: Path | None, *, to: str, origin: str, yes: bool) -> int:
    """Print what becomes of each file; the exit code (0, or 2 where it could not run)."""
    try:
        settings = settings_for(workspace, quiet=True)
        moved = asyncio.run(migrated(settings, Wanted(to, origin, yes), known=KNOWN.expanduser()))
    except RememError as refused:
        sys.stderr.write(f"remem: {refused}\n")
        return COULD_NOT
    sys.stdout.write("\n".join(told(moved)) + "\n")
    return 0


async def migrated(
    settings: Settings,
    wanted: Wanted,
    *,
    known: Path | None = None,
    zone: tzinfo | None = None,
    clock: Clock | None = None,
    disk: Disk | None = None,
    ledger_faults: Faults = no_faults,
) -> Moved:
    """Move the settings' workspace, or tell what would be moved. Raises RememError."""
    await asyncio.to_thread(require, settings.workspace, known)
    tree = Tree(settings.workspace, disk)
    if not await asyncio.to_thread(settings.workspace.is_dir) or await asyncio.to_thread(tree.read, KEY) is None:
        raise BadInput(f"{settings.workspace} is no workspace of remem yet; `remem init` makes it one.")
    begun = await asyncio.to_thread(work.standing, tree)
    layouts = await asyncio.to_thread(_layouts, tree, settings, wanted, begun)
    here = zone if zone is not None else await asyncio.to_thread(host_zone)
    if not wanted.yes:
        return await _would(settings, layouts, here, tree, begun)
    opening = moving(settings, here, layouts, clock=clock, disk=disk, ledger_faults=ledger_faults)
    async with opening as (old, new, ledger):
        await asyncio.to_thread(tree.sweep)
        begun = await asyncio.to_thread(work.standing, tree)
        if begun is not None:
            await _finish(tree, new, begun)
            return Moved(begun.old, begun.new, backup=begun.backup, done=True, resumed=True)
        return await _move(settings, tree, old, new, ledger)


def _layouts(tree: Tree, settings: Settings, wanted: Wanted, begun: work.Plan | None) -> tuple[Layout, Layout]:
    """From which layout to which. Raises BadInput, StoreFailed."""
    for option, name in (("--to", wanted.to), ("--from", wanted.origin)):
        if name and name not in LAYOUTS:
            raise BadInput(f"{option} is {name[:40]!r}; it must be one of: {', '.join(LAYOUTS)}.")
    if begun is not None:
        if wanted.to and wanted.to != begun.new:
            raise BadInput(
                f"A migration from {begun.old} to {begun.new} was interrupted; finish it first with "
                f"`remem migrate --to {begun.new} --yes`."
            )
        return layout_named(begun.old), layout_named(begun.new)
    if not wanted.to:
        raise BadInput(f"Say where to: --to, one of: {', '.join(LAYOUTS)}.")
    noted = layout_of(tree)
    if wanted.origin and noted and wanted.origin != noted:
        raise BadInput(f"--from is {wanted.origin}, but the workspace {tree.root} is in the layout {noted}.")
    old = layout_named(wanted.origin or noted or settings.layout)
    if old.name == wanted.to:
        raise BadInput(f"The workspace {tree.root} is in the layout {old.name} already; there is nothing to move.")
    return old, layout_named(wanted.to)


async def _would(
    settings: Settings, layouts: tuple[Layout, Layout], zone: tzinfo, tree: Tree, begun: work.Plan | None
) -> Moved:
    """What would happen; nothing is written, no lock taken, no ledger opened."""
    old, new = layouts
    if begun is not None:
        return Moved(begun.old, begun.new, backup=begun.backup, resumed=True)
    async with reading(settings, zone, old) as (from_handles, _), reading(settings, zone, new) as (to_handles, _):
        scopes = await asyncio.to_thread(scopes_in, tree, old, owners(settings)[0])
        plans = [
            (scope, await plan_scope(from_handles.open(scope), to_handles.open(scope), Owed())) for scope in scopes
        ]
    return Moved(old.name, new.name, _lines(plans), _counts(plans))


async def _move(settings: Settings, tree: Tree, old: Handles, new: Handles, ledger: Ledger) -> Moved:
    """The whole migration, from the look at the pages to the end. Raises RememError."""
    known = await ledger.intake.known()
    for scope in known:
        await resume(old.open(scope))
    folder = await asyncio.to_thread(work.backup_folder, tree, old.clock.now())
    now = [scope for scope in known if not is_former_owner(scope, settings)]
    scopes = _with_keys(await asyncio.to_thread(scopes_in, tree, old.layout, owners(settings)[0]), now)
    plans: list[tuple[Scope, Planned]] = []
    closings: list[work.Closing] = []
    for scope in scopes:
        handle = old.open(scope)
        found = await owed(handle)
        planned = await plan_scope(handle, new.open(scope), found)
        plans.append((scope, planned))
        closings.append(_closing(handle, found, planned, new))
    for scope in known:
        if scope not in scopes:
            handle = old.open(scope)
            closings.append(closing(handle, await owed(handle), {}, new.layout.table(scope), owner=_is_owner(scope)))
    plan = work.Plan(
        old.layout.name,
        new.layout.name,
        str(folder),
        tuple(
            work.Write(str(file), work.digest(content), one.was.get(file, ""))
            for _, one in plans
            for file, content in one.contents.items()
        ),
        tuple(work.Gone(str(file), was) for _, one in plans for file, was in one.removes.items()),
        tuple(closings),
    )
    contents = {file: content for _, one in plans for file, content in one.contents.items()}
    files = [file for _, one in plans for file in (*one.files, *one.contents)]
    copies = await asyncio.to_thread(work.back_up, tree, folder, files, old.layout.name)
    await asyncio.to_thread(work.stage, tree, plan, contents)
    await _finish(tree, new, plan)
    return Moved(old.layout.name, new.layout.name, _lines(plans), _counts(plans), str(folder), copies, done=True)


async def _finish(tree: Tree, new: Handles, plan: work.Plan) -> None:
    """Everything after the plan; each step may be repeated. Raises StoreError, LedgerError."""
    await asyncio.to_thread(work.write_all, tree, plan)
    for one in plan.closings:
        await close(new.open(one.of), one)
    await asyncio.to_thread(work.remove_all, tree, plan)
    await asyncio.to_thread(work.end, tree, plan)


def _closing(handle: Handle, found: Owed, planned: Planned, new: Handles) -> work.Closing:
    table = new.layout.table(handle.scope)
    return closing(handle, found, planned.after.where, table, owner=_is_owner(handle.scope))


def _with_keys(found: Sequence[Scope], known: Iterable[Scope]) -> tuple[Scope, ...]:
    """The scopes on disk, under the keys that the ledger has: a folder tells a person's key in lower case only."""
    keys = {_place(scope): scope for scope in known}
    return tuple(keys.get(_place(scope), scope) for scope in found)


def _place(scope: Scope) -> tuple[str, str]:
    if isinstance(scope, DirectScope):
        return ("owner", "") if scope.owner else ("person", scope.person.folder)
    return ("group", scope.name)


def _is_owner(scope: Scope) -> bool:
    return isinstance(scope, DirectScope) and scope.owner


def _lines(plans: Sequence[tuple[Scope, Planned]]) -> tuple[str, ...]:
    """Scope by scope and file by file what becomes of it."""
    lines: list[str] = []
    for scope, one in plans:
        if not (one.contents or one.removes):
            continue
        lines.append(f"{named(scope)}:")
        told_of: dict[str, list[str]] = {}
        for file, what in one.lines:
            told_of.setdefault(file, []).append(what)
        new = [str(file) for file in one.contents if file not in one.was]
        changed = [str(file) for file in one.contents if file in one.was]
        lines += _of("new", new, told_of) + _of("changed", changed, told_of)
        lines += _of("removed", [str(file) for file in one.removes], told_of)
        lines += [f"  {file}: {what}" for file, whats in told_of.items() for what in whats]
    return tuple(lines)


def _of(word: str, files: Sequence[str], told_of: dict[str, list[str]]) -> list[str]:
    return [f"  {word:8} {file}" + _why(told_of.pop(file, [])) for file in sorted(files)]


def _why(whats: Sequence[str]) -> str:
    return f": {'; '.join(whats)}" if whats else ""


def _counts(plans: Sequence[tuple[Scope, Planned]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for _, one in plans:
        total.update(one.after.counts)
        total.update({"file new or changed": len(one.contents), "file removed": len(one.removes)})
    return dict(total)


def told(moved: Moved) -> list[str]:
    """What the operator reads."""
    if moved.resumed and not moved.done:
        return [
            f"A migration from {moved.old} to {moved.new} was interrupted. `remem migrate --to {moved.new} --yes` "
            f"finishes it; the pages as they were stand in {moved.backup}."
        ]
    counts = ", ".join(counted(number, what) for what, number in moved.counts.items() if number) or "nothing to move"
    if not moved.done:
        return [
            *moved.lines,
            f"From {moved.old} to {moved.new}: {counts}.",
            "This was a dry run and nothing was written. `--yes` does it, with a copy of every page first. The last "
            "saves can then no longer be undone.",
        ]
    head = "The interrupted migration was finished" if moved.resumed else counts
    copies = f" ({counted(moved.copies, 'file')}, copied before anything was changed)" if moved.copies else ""
    return [
        *moved.lines,
        f"From {moved.old} to {moved.new}: {head}.",
        f"Backup: {moved.backup}{copies}.",
        f"Set REMEM_LAYOUT={moved.new} now (in .env or the environment): with another layout remem does not start.",
        "Undo does not reach back across a migration; what was said and not saved yet goes to the new pages.",
    ]
