"""Six memories, two platforms, and a word for each memory that must never be seen in another one.

    a  #general on Discord, with a thread and a forum post      d  Ana, the owner: her DMs on both platforms
    b  #general on Slack, with a thread                         e  Ben's DM on Discord
    c  a group DM on Slack, named like the two                  f  Ben's DM on Slack: another key, another memory
    x  no memory: places of unknown kind, a channel shared with another organisation

A canary is `kanari`, the letter of its memory, and a number. Whose a conversation or a file is, this file knows by
itself, from the design; it never asks the program.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from datetime import UTC
from pathlib import Path, PurePosixPath
from typing import Protocol

from adapters.messages import Author, Room
from bot.app import App, assembled
from bot.settings import Settings
from memory_core.clock import ManualClock
from memory_core.handle import Handles
from memory_core.ids import DirectScope, PersonKey, RoomKey, RoomKind, Scope
from memory_core.layouts import APM
from memory_core.ledger.base import Ledger, ScopeLedger, ScopeLedgers
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.names import MemoryNames, Names
from memory_core.names_file import NamesFile
from memory_core.store.base import Stores
from memory_core.store.files import FileStores
from memory_core.store.memory import MemoryStores
from memory_core.tokens import EstimatingCounter
from memory_core.workspace import Workspace
from tests.scenarios.recording import Spot
from tests.scenarios.watching import NosyAgent, Touch, WatchedLedgers, WatchedStores

NOWHERE = "kanarix"
CANARY = re.compile(r"kanari([a-z])\d+")
GROUPS = "abc"
MEMORIES = "abcdef"
OWNERS = "discord:1,slack:T1:U1"
ANA, BEN = {"discord": "discord:1", "slack": "slack:T1:U1"}, {"discord": "discord:2", "slack": "slack:T1:U2"}


def canary(code: str, number: int) -> str:
    """A word of that memory."""
    return f"kanari{code}{number}"


def _room(code: str, key: str, kind: RoomKind, title: str = "", *, shared: bool = False) -> Room:
    topic = f"all about {canary(code, 0)}" if code in GROUPS else ""
    return Room(RoomKey(key), kind, title, topic, "Acme", shared)


_GENERAL = ("discord:100", "#general")
_NAMESAKE = ("slack:T1:C1", "#general")
SPOTS = {
    "a": Spot(_room("a", _GENERAL[0], RoomKind.CHANNEL, _GENERAL[1])),
    "a thread": Spot(_room("a", _GENERAL[0], RoomKind.PUBLIC_THREAD, _GENERAL[1]), "101"),
    "a forum post": Spot(_room("a", _GENERAL[0], RoomKind.FORUM_POST, _GENERAL[1]), "102"),
    "b": Spot(_room("b", _NAMESAKE[0], RoomKind.CHANNEL, _NAMESAKE[1])),
    "b thread": Spot(_room("b", _NAMESAKE[0], RoomKind.PUBLIC_THREAD, _NAMESAKE[1]), "17.1"),
    "c": Spot(_room("c", "slack:T1:G1", RoomKind.GROUP_DM, "general")),
    "d on discord": Spot(_room("d", "discord:200", RoomKind.DIRECT, "ana")),
    "d on slack": Spot(_room("d", "slack:T1:D1", RoomKind.DIRECT, "ana")),
    "e": Spot(_room("e", "discord:201", RoomKind.DIRECT, "ben")),
    "f": Spot(_room("f", "slack:T1:D2", RoomKind.DIRECT, "ben")),
    "x on discord": Spot(_room("x", "discord:300", RoomKind.UNKNOWN)),
    "x on slack": Spot(_room("x", "slack:T1:X1", RoomKind.UNKNOWN, "#general")),
    "x shared": Spot(_room("x", "slack:T1:C2", RoomKind.CHANNEL, "#partners", shared=True)),
}
"""The places; the first letter is whose memory they are of."""

CODES = {spot.room.key: name[0] for name, spot in SPOTS.items()}
"""Whose memory a room is of."""

DIRECT: dict[str, DirectScope] = {
    "d": DirectScope(PersonKey("discord:1"), owner=True),
    "e": DirectScope(PersonKey("discord:2")),
    "f": DirectScope(PersonKey("slack:T1:U2")),
}


def persons_at(spot: Spot) -> tuple[Author, ...]:
    """Who may speak there."""
    platform = spot.room.key.platform
    ana = Author(PersonKey(ANA[platform]), "ana", admin=True if platform == "discord" else None)
    ben = Author(PersonKey(BEN[platform]), "ben", admin=False if platform == "discord" else None)
    return {"d": (ana,), "e": (ben,), "f": (ben,)}.get(CODES[spot.room.key], (ana, ben))


def memory_of(path: PurePosixPath, groups: dict[str, str]) -> str:
    """Whose the file is (`groups`: names to letters); '' for one that no memory may leave a word in."""
    match path.parts:
        case ("memory", "groups", "group_names.json" | "flush-state.json") | ("SOUL.md",) | (".remem", *_):
            return ""
        case ("memory", "groups", name, *_):
            return groups.get(name.removesuffix(".md"), "")
        case ("people", folder, *_):
            return {scope.person.folder: code for code, scope in DIRECT.items() if not scope.owner}.get(folder, "")
    return "d"


class Ground(Protocol):
    """What the program stands on. `touches` are the calls of all its scopes' ports."""

    touches: list[Touch]
    names: Names

    async def start(self, clock: ManualClock, agent: NosyAgent) -> App:
        """The program, its adapters not added yet."""
        ...

    async def stop(self) -> None:
        """Give everything back that a process gives back when it ends; what is durable stays."""
        ...

    def plain(self, scope: Scope) -> ScopeLedger:
        """The scope's ledger, unwatched."""
        ...

    def fresh(self) -> dict[PurePosixPath, str]:
        """The files that changed since the last call."""
        ...

    def statements(self) -> list[tuple[str | None, str]]:
        """What SQLite ran since the last call, with the scope that it ran for."""
        ...

    def everything(self) -> str:
        """All that the ledger holds."""
        ...


async def _started(
    settings: Settings,
    stores: Stores,
    ledger: Ledger,
    ledgers: ScopeLedgers,
    names: Names,
    clock: ManualClock,
    agent: NosyAgent,
    touches: list[Touch],
) -> App:
    handles = Handles(
        WatchedStores(stores, touches), WatchedLedgers(ledgers, touches), APM, EstimatingCounter(), clock, UTC
    )
    app = assembled(settings, handles, ledger, names, agent=agent)
    await app.saving.finish_plans(await ledger.intake.scopes())
    return app


class Twins:
    """The in-memory twins; they outlive the program that is assembled on them."""

    def __init__(self, settings: Settings, clock: ManualClock) -> None:
        self.touches: list[Touch] = []
        self.names: Names = MemoryNames()
        self._settings = settings
        self._stores = MemoryStores(APM)
        self._ledger = MemoryLedger(clock)
        self._seen = 0

    async def start(self, clock: ManualClock, agent: NosyAgent) -> App:
        """The program on the twins."""
        ledger = self._ledger
        return await _started(self._settings, self._stores, ledger, ledger, self.names, clock, agent, self.touches)

    async def stop(self) -> None:
        """Nothing is held."""

    def plain(self, scope: Scope) -> ScopeLedger:
        """The scope's ledger, unwatched."""
        return self._ledger.open(scope)

    def fresh(self) -> dict[PurePosixPath, str]:
        """The files that changed since the last call; each write has a number."""
        files = self._stores.files
        found = {path: raw.decode() for path, (raw, number) in files.items() if number > self._seen}
        self._seen = max((number for _, number in files.values()), default=0)
        return found

    def statements(self) -> list[tuple[str | None, str]]:
        """There is no SQLite here."""
        return []

    def everything(self) -> str:
        """All that the ledger holds: its intake shows its book."""
        return repr(self._ledger.intake)


class Files:
    """Real files and real SQLite in a folder."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.touches: list[Touch] = []
        self._settings = settings
        self.folder = folder
        self._ran: list[tuple[str | None, str]] = []
        self._stats: dict[PurePosixPath, tuple[int, int, int]] = {}

    async def start(self, clock: ManualClock, agent: NosyAgent) -> App:
        """Open the workspace as the program does."""
        day = clock.now().date()
        self._workspace = await asyncio.to_thread(Workspace.open, self.folder, APM, day=day, clock=clock)
        self._stores = FileStores(self.folder, APM)
        self.names: Names = NamesFile(self.folder, APM, clock=clock)
        self._ledger: OpenLedger = await SqliteLedger.open(
            self._workspace.ledger, clock, trace=lambda scope, ran: self._ran.append((scope, ran))
        )
        return await _started(
            self._settings, self._stores, self._ledger, self._ledger, self.names, clock, agent, self.touches
        )

    async def stop(self) -> None:
        """Close everything."""
        await self._ledger.close()
        if isinstance(self.names, NamesFile):
            await asyncio.to_thread(self.names.close)
        await asyncio.to_thread(self._stores.close)
        self._workspace.close()

    def plain(self, scope: Scope) -> ScopeLedger:
        """The scope's ledger, unwatched."""
        return self._ledger.open(scope)

    def fresh(self) -> dict[PurePosixPath, str]:
        """The files that changed since the last call. The ledger is every memory's: `everything` looks at it."""
        found = {}
        for path in self.folder.rglob("*"):
            name = PurePosixPath(path.relative_to(self.folder))
            if name.name.startswith("ledger.db"):
                continue
            with suppress(FileNotFoundError, IsADirectoryError):
                stat = path.stat()
                state = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
                if path.is_file() and self._stats.get(name) != state:
                    self._stats[name], found[name] = state, path.read_bytes().decode("utf-8", "replace")
        return found

    def statements(self) -> list[tuple[str | None, str]]:
        """What SQLite ran since the last call."""
        ran, self._ran[:] = list(self._ran), []
        return ran

    def everything(self) -> str:
        """The bytes of the ledger and of its log."""
        files = sorted((self.folder / ".remem").glob("ledger.db*"))
        return "".join(path.read_bytes().decode("latin-1") for path in files)
