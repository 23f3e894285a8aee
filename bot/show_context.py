"""`remem show-context`: what a message would load, as a tree.

Reads only: it takes no lock and creates nothing, and so works while the bot runs.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.settings import Settings
from memory_core.disclosure import Disclosure, Loaded
from memory_core.errors import BadInput
from memory_core.friendly_name import slug
from memory_core.ids import DirectScope, GroupScope, PersonKey, RoomKey, Scope
from memory_core.loading import Mode, disclose
from memory_core.names import Names
from memory_core.scopes import GROUPS
from memory_core.session import Session
from memory_core.store.tree import Tree as Files
from memory_core.text import counted
from memory_core.workspace import require

NAMED = 8
"""How many groups are named to somebody who asked for one that is not there."""


def show(message: str, room: str, workspace: Path | None) -> None:
    """Print the disclosure of `message` in `room`. Raises BadInput for a room that has no memory, WorkspaceGone."""
    disclosure = asyncio.run(disclosed(message, room, settings_for(workspace, quiet=True), known=KNOWN.expanduser()))
    Console().print(tree(message, disclosure))


async def disclosed(message: str, room: str, settings: Settings, *, known: Path | None = None) -> Disclosure:
    """What `message` would load in `room`, had the conversation just begun. Raises BadInput, RememError."""
    await asyncio.to_thread(require, settings.workspace, known)
    if not await asyncio.to_thread(settings.workspace.is_dir):
        raise BadInput(f"There is no workspace {settings.workspace} yet; `remem chat` or `remem init` makes it.")
    groups = await asyncio.to_thread(groups_in, settings.workspace)
    zone = await asyncio.to_thread(host_zone)
    async with reading(settings, zone, zones=False) as (handles, names):
        scope = await scope_named(room, names, settings, groups)
        handle = handles.open(scope)
        disclosure = await disclose(handle, Session(), message, title=room, mode=Mode(settings.disclosure.value))
    if not disclosure.indexed:
        named = ", ".join(groups[:NAMED]) + (", …" if len(groups) > NAMED else "")
        raise BadInput(
            f"There is no memory for {room[:80]!r} in {settings.workspace}; give `dm`, a room key, a person key, or "
            f"one of its groups: {named or 'none yet'}."
        )
    return disclosure


def groups_in(workspace: Path) -> tuple[str, ...]:
    """The names of all groups that have an index. Blocking. Raises StoreFailed."""
    names = Files(workspace).names(GROUPS) if workspace.is_dir() else ()
    return tuple(name.removesuffix(".md") for name in names if name.endswith(".md"))


async def scope_named(room: str, names: Names, settings: Settings, groups: tuple[str, ...]) -> Scope:
    """The scope of `dm` (the owner's), a person key, a room key, a group's name or its room's title.

    Raises BadInput, NamesDamaged.
    """
    if room != "dm" and ":" not in room:
        bare = room.lstrip("#")
        return GroupScope(bare if bare in groups else slug(bare) or bare)
    from adapters.rooms import Rooms  # a group is found without what the platforms bring with them
    from bot.welcoming import owners

    keys = owners(settings)
    if room == "dm":
        return DirectScope(keys[0], owner=True)
    name = await names.lookup(RoomKey(room))
    return GroupScope(name) if name is not None else Rooms(names, keys).person(PersonKey(room))


def tree(message: str, disclosure: Disclosure) -> Tree:
    """The disclosure as a tree: every step with what it loaded and why; what was left out; notes; the sum."""
    root = Tree(f"[bold]{escape(disclosure.title)}[/bold]: {escape(message)}", highlight=True)
    for step in dict.fromkeys([*(step for step, _ in disclosure.trail), *(part.step for part in disclosure.loaded)]):
        loaded = [part for part in disclosure.loaded if part.step == step]
        found = (
            "" if loaded else "; ".join(dict.fromkeys(found for taken, found in disclosure.trail if taken == step))
        )
        branch = root.add(f"[cyan]{step}[/cyan] {escape(found)}".rstrip())
        for part in loaded:
            branch.add(_loaded(part))
    if disclosure.left_out:
        left = root.add("[yellow]left out[/yellow]")
        for one in disclosure.left_out:
            left.add(f"{escape(one.page)}, {escape(one.what)}: {counted(one.tokens, 'token')} ({escape(one.why)})")
    for note in disclosure.notes:
        root.add(f"[red]note[/red] {escape(note)}")
    root.add(f"[bold]{disclosure.tokens} of {disclosure.budget_tokens} tokens[/bold]")
    return root


def _loaded(part: Loaded) -> str:
    priority = f" {part.priority.name}" if part.priority is not None else ""
    cut = ", cut" if part.cut else ""
    return (
        f"[bold]{escape(part.page)}[/bold]{priority}: {counted(part.tokens, 'token')}{cut}; why: {escape(part.why)}"
    )
