"""What commands that only look begin with: settings, the host's zone, a workspace that is read and not held.

Apart from bot/app.py the only file that names concrete stores. It is small so that such a command (`show-context`,
`status`, …) need not load the whole program, whose import costs more than the look.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import tzinfo
from pathlib import Path

import tzlocal

from bot.logs import set_up
from bot.settings import Settings, load
from memory_core import zone_names
from memory_core.clock import SystemClock
from memory_core.errors import BadInput
from memory_core.handle import Handles
from memory_core.layout_note import require_layout
from memory_core.layouts import Layout, layout_named
from memory_core.ledger.memory import MemoryLedger
from memory_core.names_file import NamesFile
from memory_core.store.files import FileStores
from memory_core.store.tree import Tree
from memory_core.tokens import load_counter

KNOWN = Path("~/.local/state/remem/workspaces.json")
"""Which workspaces were opened before, so that one that is gone (not mounted) is not made anew."""


def settings_for(workspace: Path | None, *, quiet: bool = False) -> Settings:
    """The settings, with the command line's workspace on top; logging is set up. Raises BadInput.

    `quiet`: for commands that talk to a person themselves; unless REMEM_LOG_LEVEL says otherwise only warnings show.
    The settings stay as the bot itself would have them: `remem status` shows those.
    """
    settings = load(workspace=workspace) if workspace is not None else load()
    set_up(settings, quiet=quiet and "log_level" not in settings.model_fields_set)
    standing = next(path for path in (settings.workspace, *settings.workspace.parents) if os.path.lexists(path))
    if not os.path.isdir(standing):
        raise BadInput(
            f"The workspace {settings.workspace} cannot be: {standing} is no folder; "
            "give a folder with --workspace or REMEM_WORKSPACE."
        )
    return settings


def host_zone() -> tzinfo:
    """The zone of this machine. Blocking: reads the system's files."""
    return tzlocal.get_localzone()


@asynccontextmanager
async def reading(
    settings: Settings, zone: tzinfo, layout: Layout | None = None, *, zones: bool = True
) -> AsyncIterator[tuple[Handles, NamesFile]]:
    """Handles and names for a command that only reads: no lock is taken, nothing is created, no ledger is opened.

    `layout`: another one than the settings'; without it a workspace in another layout is refused. `zones` False: no
    index is read but through the gate, which sees to the time zones itself. Raises BadInput, StoreFailed.
    """
    if layout is None:
        layout = layout_named(settings.layout)
        if await asyncio.to_thread(settings.workspace.is_dir):
            await asyncio.to_thread(require_layout, Tree(settings.workspace), layout)
    if zones:
        await asyncio.to_thread(zone_names.load)
    clock = SystemClock()
    stores, names = FileStores(settings.workspace, layout), NamesFile(settings.workspace, layout, clock=clock)
    try:
        counter = await asyncio.to_thread(load_counter)
        yield Handles(stores, MemoryLedger(clock), layout, counter, clock, zone), names
    finally:
        await asyncio.to_thread(names.close)
        await asyncio.to_thread(stores.close)
