"""`remem show-context`: what a message would load, as a tree. Reads only: takes no lock, creates nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console
from rich.tree import Tree

from bot.app import host_zone, owners, reading
from bot.run import settings_for
from bot.settings import Settings
from memory_core.disclosure import Disclosure
from memory_core.errors import BadInput
from memory_core.ids import DirectScope, GroupScope, PersonKey, RoomKey, Scope
from memory_core.loading import Mode, disclose
from memory_core.names import Names
from memory_core.session import Session


def show(message: str, room: str, workspace: Path | None) -> None:
    """Print the disclosure of `message` in `room`. Raises BadInput for a room that has no memory."""
    disclosure = asyncio.run(_disclosure(message, room, settings_for(workspace)))
    Console().print(tree(message, disclosure))


async def _disclosure(message: str, room: str, settings: Settings) -> Disclosure:
    zone = await asyncio.to_thread(host_zone)
    async with reading(settings, zone) as (handles, names):
        scope = await scope_named(room, names, settings)
        handle = handles.open(scope)
        disclosure = await disclose(handle, Session(), message, title=room, mode=Mode(settings.disclosure.value))
    if not disclosure.indexed:
        raise BadInput(
            f"There is no memory for {room!r} in {settings.workspace}; its folder memory/groups lists the groups."
        )
    return disclosure


async def scope_named(room: str, names: Names, settings: Settings) -> Scope:
    """The scope of `dm` (the owner's), a person key, a room key or a group's name. Raises BadInput."""
    if room == "dm":
        return DirectScope(owners(settings)[0], owner=True)
    if ":" not in room:
        return GroupScope(room.lstrip("#"))
    name = await names.lookup(RoomKey(room))
    return GroupScope(name) if name is not None else DirectScope(PersonKey(room))


def tree(message: str, disclosure: Disclosure) -> Tree:
    """The disclosure as a tree: step, page, why, tokens; then what was left out; then the sum."""
    root = Tree(f"[bold]{disclosure.title}[/bold]: {message}", highlight=True)
    for part in disclosure.loaded:
        priority = f" {part.priority.name}" if part.priority is not None else ""
        cut = ", cut" if part.cut else ""
        branch = root.add(f"[cyan]{part.step}[/cyan] {part.page}{priority}: {part.tokens} tokens{cut}")
        branch.add(f"why: {part.why}")
    if disclosure.left_out:
        left = root.add("[yellow]left out[/yellow]")
        for one in disclosure.left_out:
            left.add(f"{one.page}, {one.what}: {one.tokens} tokens ({one.why})")
    for note in disclosure.notes:
        root.add(f"[red]note[/red] {note}")
    root.add(f"[bold]{disclosure.tokens} of {disclosure.budget_tokens} tokens[/bold]")
    return root
