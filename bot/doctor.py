"""`remem doctor`: looks at settings, disk, vocabulary and platforms, and names the next step for what is not well."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from adapters.base import Check
from bot.app import host_zone, platforms, reading
from bot.run import settings_for
from bot.settings import Settings
from memory_core.errors import BadInput, RememError
from memory_core.ids import RoomKey

LITTLE_BYTES = 200 * 1024 * 1024
"""Less free disk than this is reported."""


def doctor(workspace: Path | None) -> int:
    """Print every finding with its next step; the exit code is 0 if all is well, else 1."""
    try:
        settings = settings_for(workspace)
    except BadInput as refused:
        sys.stdout.write(f"settings: {refused}\n")
        return 1
    checks = (Check("settings", ok=True, found="all well"), *asyncio.run(_checks(settings)))
    Console().print(table(checks))
    return 0 if all(check.ok for check in checks) else 1


def table(checks: Sequence[Check]) -> Table:
    """The findings as a table."""
    shown = Table("", "what", "found", "next step")
    for check in checks:
        shown.add_row("[green]ok[/green]" if check.ok else "[red]!![/red]", check.name, check.found, check.next_step)
    return shown


async def _checks(settings: Settings) -> tuple[Check, ...]:
    found = [await asyncio.to_thread(_disk, settings.workspace), *await _memory(settings)]
    try:
        adapters = platforms(settings)
    except BadInput as refused:
        return (*found, Check("platforms", ok=True, found="no token set; `remem chat` works", next_step=str(refused)))
    except RememError as refused:
        return (*found, Check("platforms", ok=False, found="cannot start", next_step=str(refused)))
    for adapter in adapters:
        found += await adapter.check()
    return tuple(found)


def _disk(workspace: Path) -> Check:
    """Can the workspace be written, and is there room?"""
    standing = next(folder for folder in (workspace, *workspace.parents) if folder.exists())
    if not os.access(standing, os.W_OK | os.X_OK):
        return Check(
            "workspace", ok=False, found=f"{standing} cannot be written", next_step="give this user the right to"
        )
    free = shutil.disk_usage(standing).free
    room = f"{free // (1024 * 1024)} MiB free"
    if free < LITTLE_BYTES:
        return Check("workspace", ok=False, found=f"{workspace}: {room}", next_step="free some disk space")
    made = "" if workspace.exists() else " (made at first use)"
    return Check("workspace", ok=True, found=f"{workspace}{made}, {room}")


async def _memory(settings: Settings) -> tuple[Check, ...]:
    """The vocabulary, and the mapping of rooms to names."""
    zone = await asyncio.to_thread(host_zone)
    async with reading(settings, zone) as (handles, names):
        why = getattr(handles.counter, "why", "")
        step = "install remem again; until then tokens are estimated" if why else ""
        counting = Check("token counting", ok=not why, found=why or "exact, without a network", next_step=step)
        try:
            await names.lookup(RoomKey("console:doctor"))
        except RememError as refused:
            return (counting, Check("room names", ok=False, found="damaged", next_step=str(refused)))
        return (counting, Check("room names", ok=True, found="readable"))
