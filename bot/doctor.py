"""`remem doctor`: looks at settings, disk, ledger, vocabulary, memory, models, platforms; names each next step.

It changes nothing and takes no lock, so it works while the bot runs.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from adapters.base import Check
from bot.embedding import embedder
from bot.platforms import platforms
from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.settings import Settings
from bot.show_context import groups_in
from bot.welcoming import owners
from memory_core.errors import BadInput, RememError
from memory_core.faults import faults_in
from memory_core.handle import Handles
from memory_core.ids import DirectScope, GroupScope, Scope
from memory_core.ledger.opening import fault_in
from memory_core.names import Names
from memory_core.store.pages import is_group_name
from memory_core.text import counted
from memory_core.workspace import LEDGER, require

LITTLE_BYTES = 200 * 1024 * 1024
"""Less free disk than this is reported."""
FAULTS = 8
"""How many faulty memories are told one by one."""


def doctor(workspace: Path | None) -> int:
    """Print every finding with its next step; the exit code is 0 if all is well, else 1."""
    try:
        settings = settings_for(workspace, quiet=True)
        checks = (Check("settings", ok=True, found="all well"), *asyncio.run(_checks(settings)))
    except BadInput as refused:
        checks = (Check("settings", ok=False, found="to correct", next_step=str(refused)),)
    Console().print(table(checks))
    return 0 if all(check.ok for check in checks) else 1


def table(checks: Sequence[Check]) -> Table:
    """The findings as a table."""
    shown = Table()
    for title in ("", "what", "found", "next step"):
        shown.add_column(title, overflow="fold")  # an address is needed whole: it is broken, never cut
    for check in checks:
        mark = "[green]ok[/green]" if check.ok else "[red]!![/red]"
        shown.add_row(mark, escape(check.name), escape(check.found), escape(check.next_step))
    return shown


async def _checks(settings: Settings) -> tuple[Check, ...]:
    found = list(await asyncio.to_thread(_workspace, settings.workspace))
    if all(check.ok for check in found):
        found += await asyncio.to_thread(_ledger, settings.workspace / LEDGER)
    found += await _memory(settings)
    found += await asyncio.to_thread(_embedder, settings)
    return (*found, *await _models(settings), *await _platforms(settings))


def _workspace(workspace: Path) -> tuple[Check, ...]:
    """Is the workspace where it was, can it be written, is there room? Who holds it is only told."""
    try:
        require(workspace, KNOWN.expanduser())
    except RememError as refused:
        return (Check("workspace", ok=False, found="gone", next_step=str(refused)),)
    standing = next(folder for folder in (workspace, *workspace.parents) if folder.exists())
    if not os.access(standing, os.W_OK | os.X_OK):
        step = "give the user that runs remem the right to write there"
        return (Check("workspace", ok=False, found=f"{standing} cannot be written", next_step=step),)
    free = shutil.disk_usage(standing).free
    room = f"{free // (1024 * 1024)} MiB free"
    if free < LITTLE_BYTES:
        return (Check("workspace", ok=False, found=f"{workspace}: {room}", next_step="free some disk space"),)
    made = "" if workspace.exists() else " (made at first use)"
    return (Check("workspace", ok=True, found=f"{workspace}{made}, {room}"),)


def _ledger(path: Path) -> tuple[Check, ...]:
    """Does the ledger pass its check? One that was set aside waits for a person."""
    if not path.exists():
        aside = sorted(found.name for found in path.parent.glob(f"{path.name}.damaged-*"))
        if not aside:
            return (Check("ledger", ok=True, found="none yet"),)
        step = f"put a backup at {path}, or begin anew with `remem init --new-ledger`"
        return (Check("ledger", ok=False, found=f"damaged, set aside as {aside[-1]}", next_step=step),)
    try:
        fault = fault_in(path)
    except RememError as refused:
        return (Check("ledger", ok=False, found="cannot be read", next_step=str(refused)),)
    if fault:
        step = f"put a backup at {path}; the next start sets the damaged file aside"
        return (Check("ledger", ok=False, found=f"damaged: {fault}", next_step=step),)
    return (Check("ledger", ok=True, found=f"sound, {path.stat().st_size // 1024} KiB"),)


async def _memory(settings: Settings) -> tuple[Check, ...]:
    """The vocabulary, the mapping of rooms to names, every index."""
    zone = await asyncio.to_thread(host_zone)
    async with reading(settings, zone) as (handles, names):
        why = handles.counter.why
        step = "install remem again; until then tokens are estimated" if why else ""
        counting = Check("token counting", ok=not why, found=why or "exact, without a network", next_step=step)
        if not await asyncio.to_thread(settings.workspace.is_dir):
            return (counting,)
        return (counting, await _names(names), *await _scopes(settings, handles))


async def _names(names: Names) -> Check:
    try:
        faults = await names.faults()
    except RememError as refused:
        return Check("room names", ok=False, found="cannot be read", next_step=str(refused))
    if faults:
        return Check("room names", ok=False, found=counted(len(faults), "fault"), next_step=" ".join(faults[:3]))
    return Check("room names", ok=True, found="sound")


async def _scopes(settings: Settings, handles: Handles) -> tuple[Check, ...]:
    """The files of the owner's DM and of every group; the first faulty ones are told one by one."""
    try:
        groups = await asyncio.to_thread(groups_in, settings.workspace)
    except RememError as refused:
        return (Check("memory", ok=False, found="cannot be listed", next_step=str(refused)),)
    scopes: list[Scope] = [DirectScope(owners(settings)[0], owner=True)]
    scopes += [GroupScope(name) for name in groups if is_group_name(name)]
    found: list[Check] = []
    for scope in scopes:
        name = f"group {scope.name}" if isinstance(scope, GroupScope) else "the owner's DM"
        if faults := await faults_in(handles.open(scope)):
            found.append(
                Check(
                    f"memory of {name}", ok=False, found=counted(len(faults), "fault"), next_step=" ".join(faults[:3])
                )
            )
    well = Check("memory", ok=True, found=f"{len(scopes) - len(found)} of {len(scopes)} are sound")
    if (more := len(found) - FAULTS) > 0:
        found[FAULTS:] = [
            Check("memory", ok=False, found=f"{more} more are faulty", next_step="mend those above first")
        ]
    return (well, *found)


def _embedder(settings: Settings) -> tuple[Check, ...]:
    """The embedder that is set, asked for one vector; nothing is said of none."""
    try:
        chosen = embedder(settings)
        if chosen is None:
            return ()
        began = time.monotonic()
        chosen.embed(["a question"])
    except RememError as refused:
        return (Check("embedder", ok=False, found="does not work", next_step=str(refused)),)
    return (Check("embedder", ok=True, found=f"{chosen.name}, loaded in {time.monotonic() - began:.1f} s"),)


async def _models(settings: Settings) -> tuple[Check, ...]:
    """The models that are set, asked a few words each."""
    if not (settings.model or settings.memory_model):
        step = "set REMEM_MODEL to let a model answer"
        given = (settings.model_base_url, settings.model_key, settings.model_fallbacks, settings.model_window)
        if any(given):
            found = "settings for a model, but none is named"
            return (Check("model", ok=False, found=found, next_step=step),)
        return (Check("model", ok=True, found="none is set: rules answer, in quotations", next_step=step),)
    checks = await asyncio.to_thread(_model_checks)
    return await checks(settings)


def _model_checks() -> Callable[[Settings], Awaitable[tuple[Check, ...]]]:
    """The looking at models, whose libraries are loaded where one is set."""
    from bot.models.doctor import model_checks

    return model_checks


async def _platforms(settings: Settings) -> tuple[Check, ...]:
    tokens = (settings.discord_token, settings.slack_bot_token, settings.slack_app_token)
    if not any((*tokens, settings.slack_signing_secret)):
        step = "for Discord set DISCORD_TOKEN, for Slack SLACK_BOT_TOKEN and SLACK_APP_TOKEN"
        return (Check("platforms", ok=True, found="no token set; `remem chat` works", next_step=step),)
    try:
        adapters = platforms(settings)
    except RememError as refused:
        return (Check("platforms", ok=False, found="cannot start", next_step=str(refused)),)
    return tuple([check for adapter in adapters for check in await adapter.check()])
