"""`remem audit`: is the memory in good order? For people as a table, for programs as JSON.

It reads only: no lock, no ledger, nothing created, so it works while the bot runs and on a workspace of another tool.
`--fix` writes, and so holds the workspace: it refuses, naming the holder, while the bot runs. Exit code 0: nothing to
do, 1: warnings or errors are left, 2: it could not run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.scopes import chosen, named
from bot.settings import Settings
from bot.welcoming import owners
from memory_core.audit.findings import Finding, Severity, worst
from memory_core.audit.fixing import Fixed, backup_folder, fix
from memory_core.audit.scope import audit as audit_scope
from memory_core.audit.scope import counts, in_order
from memory_core.audit.strangers import mapping_finding, stranger_findings
from memory_core.errors import BadInput, NamesDamaged, RememError
from memory_core.handle import Handles
from memory_core.ids import RoomKey, Scope
from memory_core.layout_note import require_layout
from memory_core.layouts import LAYOUTS, Layout, layout_named
from memory_core.lock import hold
from memory_core.names import Names
from memory_core.scopes import scopes_in
from memory_core.store.tree import Tree
from memory_core.text import counted
from memory_core.workspace import KEY, require

CLEAN, FOUND, COULD_NOT = 0, 1, 2
_COLOURS = {Severity.OK: "green", Severity.WATCH: "cyan", Severity.WARNING: "yellow", Severity.ERROR: "red"}


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit came to: findings by scope (`''`: the workspace itself), what was fixed, where the copies are."""

    workspace: Path
    layout: str
    findings: tuple[tuple[str, Finding], ...]
    fixed: tuple[tuple[str, Fixed], ...] = ()
    backup: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        return FOUND if worst(one for _, one in self.findings).rank >= Severity.WARNING.rank else CLEAN


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: the layout and the scope by name, '' for the settings' and all; whether to fix."""

    layout: str = ""
    scope: str = ""
    fix: bool = False


def audit(workspace: Path | None, *, layout: str, scope: str, as_json: bool, fix: bool) -> int:
    """Print what is found; the exit code."""
    try:
        settings = settings_for(workspace, quiet=True)
        done = asyncio.run(audited(settings, Wanted(layout, scope, fix), known=KNOWN.expanduser()))
    except RememError as refused:
        sys.stderr.write(f"remem: {refused}\n")
        return COULD_NOT
    if as_json:
        sys.stdout.write(as_text(done) + "\n")
    else:
        _print(done)
    return done.code


async def audited(settings: Settings, wanted: Wanted, *, known: Path | None = None) -> Audited:
    """The audit of the settings' workspace. Raises BadInput, WorkspaceGone, WorkspaceHeld, StoreError."""
    await asyncio.to_thread(require, settings.workspace, known)
    if not await asyncio.to_thread(settings.workspace.is_dir):
        raise BadInput(f"There is no workspace {settings.workspace}; give a folder that holds a memory.")
    layout = _layout(wanted.layout, settings)
    if not wanted.layout:
        await asyncio.to_thread(require_layout, Tree(settings.workspace), layout)
    zone = await asyncio.to_thread(host_zone)
    async with reading(settings, zone, layout) as (handles, names):
        scopes = await _scopes(settings, layout, names, wanted.scope)
        fixed, backup = await _fixed(settings.workspace, handles, scopes) if wanted.fix else ((), "")
        found: list[tuple[str, Finding]] = []
        if not wanted.scope:
            found += [("", one) for one in await _whole(settings.workspace, layout, names, scopes)]
        for scope in scopes:
            found += [(named(scope), one) for one in await audit_scope(handles.open(scope))]
    return Audited(settings.workspace, layout.name, tuple(found), fixed, backup)


def _layout(name: str, settings: Settings) -> Layout:
    """The layout to hold the memory against. Raises BadInput."""
    if not name:
        return layout_named(settings.layout)
    if name not in LAYOUTS:
        raise BadInput(f"--layout is {name[:40]!r}; it must be one of: {', '.join(LAYOUTS)}.")
    return LAYOUTS[name]


async def _scopes(settings: Settings, layout: Layout, names: Names, wanted: str) -> tuple[Scope, ...]:
    """All scopes on disk (no ledger is opened), or the one that is wanted. Raises BadInput, NamesDamaged."""
    every = await asyncio.to_thread(scopes_in, Tree(settings.workspace), layout, owners(settings)[0])
    return await chosen(every, wanted, settings, names)


async def _whole(workspace: Path, layout: Layout, names: Names, scopes: Sequence[Scope]) -> tuple[Finding, ...]:
    """What concerns no scope alone: the mapping of rooms, files that are no page."""
    found: list[Finding] = []
    try:
        await names.lookup(RoomKey("console:audit"))
    except NamesDamaged as damaged:
        found.append(await asyncio.to_thread(mapping_finding, Tree(workspace), str(damaged)))
    found += await asyncio.to_thread(stranger_findings, Tree(workspace), layout, scopes)
    return in_order(found)


async def _fixed(
    workspace: Path, handles: Handles, scopes: Sequence[Scope]
) -> tuple[tuple[tuple[str, Fixed], ...], str]:
    """Put right what is safe, while the workspace is held; what was done, and where the copies stand."""
    tree = Tree(workspace)
    if await asyncio.to_thread(tree.read, KEY) is None:
        raise BadInput(f"{workspace} is no workspace of remem yet, so it is only read; `remem init` makes it one.")
    lock = await asyncio.to_thread(hold, workspace)
    folder = backup_folder(handles.clock.now())
    done: list[tuple[str, Fixed]] = []
    try:
        await asyncio.to_thread(require_layout, tree, handles.layout)

        async def keep(file: PurePosixPath, content: bytes) -> None:
            await asyncio.to_thread(tree.create, folder / file, content)

        for scope in scopes:
            done += [(named(scope), one) for one in await fix(handles.open(scope), keep)]
    finally:
        await asyncio.to_thread(lock.release)
    return tuple(done), str(folder) if done else ""


def as_text(done: Audited) -> str:
    """The audit as JSON."""
    found = [
        {
            "scope": scope,
            "code": one.code,
            "severity": one.severity.value,
            "page": one.page,
            "file": one.file,
            "line": one.line,
            "last_line": one.last_line,
            "message": one.message,
            "fixable": one.fixable,
        }
        for scope, one in done.findings
    ]
    data = {
        "workspace": str(done.workspace),
        "layout": done.layout,
        "counts": {severity.value: count for severity, count in counts([one for _, one in done.findings]).items()},
        "findings": found,
        "fixed": [
            {"scope": scope, "code": one.code, "file": one.file, "what": one.what} for scope, one in done.fixed
        ],
        "backup": done.backup,
    }
    return json.dumps(data, ensure_ascii=False, indent=2)


def _print(done: Audited) -> None:
    console = Console(soft_wrap=False)
    for scope, one in done.fixed:
        console.print(escape(f"fixed in {scope}: {one.file}: {one.what}"))
    if done.backup:
        console.print(escape(f"The files as they were stand in {done.backup}."))
    if done.findings:
        console.print(_table(done))
    console.print(escape(summary(done)))


def _table(done: Audited) -> Table:
    shown = Table()
    for title in ("", "memory", "where", "what", "code"):
        shown.add_column(title, overflow="fold")  # a name or a path is needed whole: it is broken, never cut
    for scope, one in done.findings:
        mark = f"[{_COLOURS[one.severity]}]{one.severity.value}[/]"
        place = one.place.removesuffix("/")
        shown.add_row(mark, escape(scope or "workspace"), escape(place), escape(one.message), escape(one.code))
    return shown


def summary(done: Audited) -> str:
    """The last line: how many of what, and what `--fix` can do."""
    number = counts([one for _, one in done.findings])
    wrong, doubtful = counted(number[Severity.ERROR], "error"), counted(number[Severity.WARNING], "warning")
    fixable = sum(one.fixable for _, one in done.findings)
    more = f" `--fix` can put {fixable} of them right." if fixable else ""
    return f"{done.layout}: {wrong}, {doubtful}, {number[Severity.WATCH]} to watch.{more}"
