"""`remem import`: chosen rooms of a file of the past, into a workspace that lives.

    open      a Slack export (ZIP), or what DiscordChatExporter wrote (a JSON file, a folder of them)
    choose    rooms by name or id; without one the file's rooms are listed, and nothing is written
    place     a room that the workspace knows, by its id, goes on under its name; another one gets a name as live
    count     what each room holds, and what of it is known already; `--dry-run` ends here, nothing is written
    import    memory by memory (bot/importing.py)

The program's lock is held while it writes: not beside a running bot.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from adapters.history import Counted, History
from adapters.messages import Author, Incoming, Room
from bot.app import App, opened
from bot.importing import Job, Mark, import_one
from bot.message_clock import Figures, Moved, progress_bar
from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.settings import Settings
from bot.welcoming import owners, welcome
from memory_core.clock import Clock
from memory_core.errors import BadInput
from memory_core.friendly_name import RESERVED, Taken, friendly_name, slug
from memory_core.ids import GroupScope, MessageKey
from memory_core.layouts import layout_named
from memory_core.ledger.database import Faults, no_faults
from memory_core.ledger.overview import known_at
from memory_core.lock import LOCK, hold
from memory_core.messages import Voice
from memory_core.names import MemoryNames, Names
from memory_core.scopes import scopes_in
from memory_core.store.disk import Disk
from memory_core.store.tree import Tree
from memory_core.text import counted as numbered
from memory_core.workspace import LEDGER, require

LISTED = 50
"""How many rooms of a file are listed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A room that was asked for, and the name that it shall have here ('': its own, or the one that it has)."""

    room: Room
    name: str = ""


@dataclass(frozen=True, slots=True)
class Destination:
    """A room and the group that it is here; `known`: it has that name already. `wish`: the name was asked for."""

    room: Room
    name: str
    known: bool
    wish: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one room; `mark` None: nothing was written."""

    placed: Destination
    counted: Counted
    mark: Mark | None = None


def import_history(
    path: Path,
    workspace: Path | None,
    rooms: Sequence[str],
    *,
    bot: str = "",
    dry_run: bool = False,
    quiet: bool = False,
) -> None:
    """Import, or list, or count; prints what came of it. `bot`: its name or id in the file. Raises RememError."""
    settings = settings_for(workspace, quiet=True)
    history = open_history(path, bot)
    if not rooms:
        _say(listing(history))
        return
    figures, known = Figures(), KNOWN.expanduser()
    try:
        with progress_bar("importing", quiet=quiet or dry_run) as moved:
            done = asyncio.run(imported(history, settings, rooms, moved, figures, dry_run=dry_run, known=known))
    except KeyboardInterrupt:
        sys.stderr.write("remem: Stopped; the same command goes on from here.\n")
        raise SystemExit(130) from None
    _say(summary(history, done, figures, settings.workspace))


def _say(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def open_history(path: Path, bot: str = "") -> History:
    """The file as a history. `bot`: the name or id of the bot's account in it. Blocking. Raises BadInput for what is
    none."""
    if not path.exists():
        raise BadInput(f"There is no {path}; give a Slack export (ZIP), or what DiscordChatExporter wrote.")
    if path.is_file() and (zipfile.is_zipfile(path) or path.suffix.lower() == ".zip"):
        from adapters.slack.history import SlackHistory

        return SlackHistory.open(path, bot)
    if path.is_dir() and (path / "channels.json").is_file():
        raise BadInput(f"{path} is an unpacked Slack export; give the ZIP as Slack made it.")
    from adapters.discord.export import DiscordExport

    return DiscordExport.open(path, bot)


async def imported(
    history: History,
    settings: Settings,
    rooms: Sequence[str],
    moved: Moved = lambda done, total: None,
    figures: Figures | None = None,
    *,
    dry_run: bool = False,
    known: Path | None = None,
    clock: Clock | None = None,
    disk: Disk | None = None,
    ledger_faults: Faults = no_faults,
) -> tuple[Imported, ...]:
    """The import itself. Raises BadInput, and RememError of the start and of what cannot be saved.

    Stopped by an exception, a cancellation or a crash, the same call goes on. `clock` is the real one, `disk` and
    `ledger_faults` as in `opened`.
    """
    figures = figures or Figures()
    with figures.stage("read"):
        wanted = chosen(history, rooms)
        await asyncio.to_thread(_may_write, settings, known, dry_run)
        placed = await _placed(wanted, settings)
        ledger = settings.workspace / LEDGER
        held = [(one, await asyncio.to_thread(_count, history, one.room, ledger)) for one in placed]
    figures.messages = sum(counted.messages for _, counted in held)
    if dry_run:
        return tuple(Imported(one, counted) for one, counted in held)
    async with opened(settings, clock=clock, known=known, disk=disk, ledger_faults=ledger_faults) as app:
        return await _import_all(app, history, held, settings.idle_s, figures, moved)


def _may_write(settings: Settings, known: Path | None, dry_run: bool) -> None:
    """Refuse before a long file is read: a workspace that is gone, or that a running bot holds. Blocking."""
    require(settings.workspace, known)
    if not dry_run and (settings.workspace / LOCK).exists():
        hold(settings.workspace).release()


# -- rooms ---------------------------------------------------------------------------------------------------------


def chosen(history: History, wanted: Sequence[str]) -> tuple[Wanted, ...]:
    """The rooms that are asked for by name, `#name` or id, with `=name` behind it. Raises BadInput."""
    found: dict[Room, Wanted] = {}
    for text in wanted:
        title, _, name = text.rpartition("=") if "=" in text else (text, "", "")
        room = _room(history, title.strip())
        one = Wanted(room, name.strip())
        if found.setdefault(room, one) != one:
            raise BadInput(f"{room.title or room.key} was asked for twice, under two names; give it one.")
    return tuple(found.values())


def _room(history: History, title: str) -> Room:
    said = title.removeprefix("#").casefold()
    found = [
        one for one in history.rooms if one.title.removeprefix("#").casefold() == said or one.key.native == title
    ]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(f"{one.key.native} ({one.server or one.title})" for one in found)
        raise BadInput(f"{history.path} has several rooms {title[:80]!r}; choose one by its id: {ids}.")
    names = ", ".join(one.title for one in history.rooms[:LISTED]) or "none"
    private = f" Left out: {'; '.join(history.skipped[:5])}." if history.skipped else ""
    raise BadInput(f"{history.path} has no room {title[:80]!r}; it has: {names}.{private}")


async def _placed(wanted: Sequence[Wanted], settings: Settings) -> list[Destination]:
    """Which group each room is, or will be. Reads only. Raises BadInput for a name that cannot be, NamesDamaged."""
    layout, owner = layout_named(settings.layout), owners(settings)[0]
    for one in wanted:
        if not welcome(settings).serves(one.room.key.platform, one.room.server_id):
            raise BadInput(f"REMEM_SERVERS does not name {one.room.server_id}, where {one.room.title} is; add it.")
    if not await asyncio.to_thread(settings.workspace.is_dir):
        return await _place_all(wanted, MemoryNames(), Taken(()))
    standing = await asyncio.to_thread(scopes_in, Tree(settings.workspace), layout, owner)
    taken = Taken(one.name for one in standing if isinstance(one, GroupScope))
    async with reading(settings, await asyncio.to_thread(host_zone)) as (_, names):
        return await _place_all(wanted, names, taken)


async def _place_all(wanted: Sequence[Wanted], names: Names, taken: Taken) -> list[Destination]:
    found = list[Destination]()
    for one in wanted:
        found.append(await _place(one, names, taken))
        taken.add(found[-1].name)
    return found


async def _place(wanted: Wanted, names: Names, taken: Taken) -> Destination:
    room, name = wanted.room, wanted.name
    known = await names.lookup(room.key)
    if known is not None:
        if name not in ("", known):
            raise BadInput(
                f"{room.title} is the group {known!r} in this workspace, and goes on under that name; leave out "
                f"`={name[:80]}`."
            )
        return Destination(room, known, known=True, wish=False)
    if not name:
        return Destination(room, friendly_name(room.title, room.key, room.server, taken), known=False, wish=False)
    if slug(name) != name or name in RESERVED:
        other = slug(name) if slug(name) not in RESERVED else ""
        raise BadInput(f"{name[:80]!r} can be no group's name here" + (f"; {other!r} can." if other else "."))
    if name in taken or await names.rooms(name):
        raise BadInput(
            f"The name {name!r} belongs to another room already; choose another one, or write in "
            "memory/groups/group_names.json that both are one group."
        )
    return Destination(room, name, known=False, wish=True)


def _count(history: History, room: Room, ledger: Path) -> Counted:
    """What the room holds, and what of it the workspace knows. Blocking. Raises BadInput, LedgerError."""
    found = Counted()

    def keys() -> Iterator[MessageKey]:
        for message in history.messages(room, found):
            found.said(message, gone=history.is_gone(message.author))
            if message.message is not None:
                yield message.message

    found.known = known_at(ledger, keys())
    return found


# -- the import ----------------------------------------------------------------------------------------------------


async def _import_all(
    app: App,
    history: History,
    held: Sequence[tuple[Destination, Counted]],
    idle_s: int,
    figures: Figures,
    moved: Moved,
) -> tuple[Imported, ...]:
    """Memory by memory: rooms that are one group are taken in together, in the order of time."""
    scopes: dict[GroupScope, list[tuple[Destination, Counted]]] = {}
    for one, counted in held:
        scopes.setdefault(await _claimed(app, one), []).append((one, counted))
    done, before = list[Imported](), 0
    for scope, parts in scopes.items():
        messages, known = (sum(counts) for counts in zip(*((c.messages, c.known) for _, c in parts), strict=True))
        job = Job(scope, tuple(one.room.key for one, _ in parts), history.sha256, messages, known)
        told = partial(_told, moved, before, figures.messages)
        mark = await import_one(app, job, _merged(history, parts), idle_s, figures, told)
        before += messages
        for at, (one, counted) in enumerate(parts):
            if len(parts) == 1:
                counted.known = mark.known  # when it began, an earlier process maybe
            done.append(Imported(one, counted, mark if at == 0 else Mark()))
    return tuple(done)


def _told(moved: Moved, before: int, total: int, done: int, _: int) -> None:
    moved(before + done, total)


def _merged(history: History, parts: Sequence[tuple[Destination, Counted]]) -> Iterator[Incoming]:
    rooms = (history.messages(one.room) for one, _ in parts)
    return heapq.merge(*rooms, key=lambda event: (event.sent_at, event.event))


async def _claimed(app: App, one: Destination) -> GroupScope:
    """The room's group, its name given out now if it has none. Raises BadInput where it may have no memory."""
    if (await app.parts.intake.room(one.room.key)).stopped:
        raise BadInput(f"A member stopped recording in {one.room.title}: nothing of it may be kept. Leave it out.")
    room = replace(one.room, title=one.name) if one.wish else one.room
    placed = await app.parts.rooms.place(room, Author(app.parts.me(room.key.platform), "remem", Voice.SELF))
    if not isinstance(placed.scope, GroupScope):
        raise BadInput(f"{one.room.title} cannot be imported: {placed.why}")
    if one.wish:
        await app.parts.rooms.renamed(one.room)
    return placed.scope


# -- for people ----------------------------------------------------------------------------------------------------


def listing(history: History) -> list[str]:
    """What the file holds, and how to choose. Blocking. Raises BadInput."""
    lines = [f"{history.path} holds:"]
    for room in history.rooms[:LISTED]:
        found = Counted()
        for message in history.messages(room, found):
            found.said(message, gone=history.is_gone(message.author))
        lines.append(f"  {room.title or room.key.native} ({room.key.native}): {_held(found)}")
    if len(history.rooms) > LISTED:
        lines.append(f"  … and {numbered(len(history.rooms) - LISTED, 'more room')}")
    lines += [f"  left out: {one}" for one in history.skipped]
    example = history.rooms[0].title.removeprefix("#") if history.rooms else "general"
    lines.append(
        f"Nothing was imported. Choose with `--room {example}`, several times for several rooms; "
        f"`--room {example}=name` gives the group another name here."
    )
    return lines


def summary(history: History, done: Sequence[Imported], figures: Figures, workspace: Path) -> list[str]:
    """What was imported, or would be."""
    lines = []
    for one in done:
        group = f"group {one.placed.name}" + ("" if one.placed.known else " (new)")
        lines.append(f"{one.placed.room.title} → {group}: {_held(one.counted)}; {one.counted.known} known before")
        if one.counted.deleted:
            lines.append(f"  deleted users: {', '.join(sorted(set(one.counted.deleted.values())))}")
        if one.counted.malformed:
            lines.append(f"  malformed and left out: {one.counted.malformed} ({'; '.join(one.counted.where)})")
        if one.mark is not None and one.mark.at:
            lines.append(f"  kept in memory: {numbered(one.mark.kept, 'thing')}")
    lines += [f"left out: {one}" for one in history.skipped]
    dry = not any(one.mark for one in done)
    lines.append(
        "A dry run: nothing was written." if dry else f"{figures.times()}\nThe memory stands in {workspace}."
    )
    return lines


def _held(found: Counted) -> str:
    days = f" of {found.first:%Y-%m-%d} to {found.last:%Y-%m-%d}" if found.first and found.last else ""
    said = [
        f"{numbered(found.messages, 'message')}{days}",
        numbered(len(found.people), "person", "people"),
        numbered(len(found.threads), "thread"),
        f"{numbered(found.attachments, 'attachment')} noted",
        f"{found.bots} by bots (context, no source)",
        f"{numbered(found.notices, 'notice')} skipped",
    ]
    return ", ".join(said)
