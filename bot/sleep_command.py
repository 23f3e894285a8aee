"""`remem sleep`: let memories sleep now, all or one, whatever is due. For people a few lines a scope.

It writes, so it holds the workspace and refuses, naming the holder, while the bot runs (there: `/remem sleep`).
`--dry-run` says what would be done and writes nothing, not a byte: it takes no lock and opens no ledger for writing.
Exit code 0: done, or nothing to do; 1: a scope could not sleep; 2: it could not run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from bot.app import App, opened
from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.scopes import chosen, every_scope, named
from bot.settings import Settings
from memory_core.answers_sleep import slept_text
from memory_core.errors import BadInput, NoIndex, RememError
from memory_core.handle import Handles
from memory_core.ids import Scope
from memory_core.ledger.overview import look_at
from memory_core.sleep.report import Report, Stage
from memory_core.sleep.stages import sleep as sleep_scope
from memory_core.workspace import LEDGER, require

DONE, FAILED, COULD_NOT = 0, 1, 2
_TOLD = 40


@dataclass(frozen=True, slots=True)
class Slept:
    """What became of one scope. `report` None: it has no memory yet. `first`: what a real run would save first."""

    scope: Scope
    report: Report | None
    first: str = ""


def sleep(workspace: Path | None, *, scope: str, stage: str, dry_run: bool) -> int:
    """Let them sleep and print the reports; the exit code."""
    try:
        settings = settings_for(workspace, quiet=True)
        done = asyncio.run(slept(settings, _stage(stage), scope, dry_run=dry_run, known=KNOWN.expanduser()))
    except RememError as refused:
        sys.stderr.write(f"remem: {refused}\n")
        return COULD_NOT
    sys.stdout.write(text(done, dry_run=dry_run))
    return FAILED if any(one.report is not None and one.report.problem for one in done) else DONE


def _stage(word: str) -> Stage:
    try:
        return Stage(word)
    except ValueError:
        raise BadInput(f"--stage is {word[:40]!r}; it must be one of: {', '.join(Stage)}.") from None


async def slept(
    settings: Settings, stage: Stage, wanted: str = "", *, dry_run: bool = False, known: Path | None = None
) -> tuple[Slept, ...]:
    """Do one stage in all scopes or the wanted one. Raises BadInput, WorkspaceGone, WorkspaceHeld, and RememError."""
    await asyncio.to_thread(require, settings.workspace, known)
    if not await asyncio.to_thread(settings.workspace.is_dir):
        raise BadInput(f"There is no workspace {settings.workspace}; give a folder that holds a memory.")
    looks = await asyncio.to_thread(look_at, settings.workspace / LEDGER)
    async with reading(settings, await asyncio.to_thread(host_zone)) as (handles, names):
        scopes = await chosen(await asyncio.to_thread(every_scope, settings, looks), wanted, settings, names)
        if dry_run:
            unsaved = frozenset(look.scope for look in looks if look.changed or look.open_plans)
            return tuple([await _tried(handles, scope, stage, unsaved) for scope in scopes])
    async with opened(settings, known=known) as app:
        return tuple([await _done(app, scope, stage) for scope in scopes])


async def _done(app: App, scope: Scope, stage: Stage) -> Slept:
    try:
        report = await app.sleeping.now(scope, stage)
        saving = Report(stage, 0, app.parts.clock.now(), problem="it is being saved just now; run it again")
        return Slept(scope, report or saving)
    except NoIndex:
        return Slept(scope, None)
    except RememError as refused:
        return Slept(scope, Report(stage, 0, app.parts.clock.now(), problem=str(refused)))


async def _tried(handles: Handles, scope: Scope, stage: Stage, unsaved: Collection[Scope]) -> Slept:
    """What would be done, had nobody changed anything meanwhile."""
    first = "a real run first flushes what was edited, deleted or left half done" if scope in unsaved else ""
    try:
        return Slept(scope, await sleep_scope(handles.open(scope), stage, dry_run=True), first)
    except NoIndex:
        return Slept(scope, None)


def text(done: tuple[Slept, ...], *, dry_run: bool) -> str:
    """The reports, scope by scope; scopes without anything to tell in one line."""
    told: list[str] = []
    for one in done:
        if one.report is None:
            told.append(f"{named(one.scope)}: no memory yet")
            continue
        head, *rest = slept_text(one.report, _TOLD).splitlines()
        told += [f"{named(one.scope)}: {head}", *(f"  {line}" for line in rest)]
        told += [f"  - {one.first}"] if one.first else []
    if dry_run:
        told.append("This was a dry run: nothing was written.")
    return "\n".join(told) + "\n"
