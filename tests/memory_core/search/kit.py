"""Search as the gate does it, for tests that have no index page, and memories on a real disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from memory_core.clock import ManualClock
from memory_core.handle import Handle, Handles
from memory_core.ids import Conversation, EventKey, GroupScope, MessageKey, PersonKey, RoomKey, Scope, message_key
from memory_core.layouts.apm import APM
from memory_core.ledger.base import Deleted, Edited, Posted
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import OpenLedger
from memory_core.messages import Message, Voice
from memory_core.search import Hit, ScopeSearch, Searches
from memory_core.store.files import FileStores
from memory_core.store.tree import Tree
from memory_core.tokens import EstimatingCounter

NOON = datetime(2026, 4, 6, 12, tzinfo=UTC)
BUILD = GroupScope("build")
ROOM = RoomKey("console:build")


async def searched(handle: Handle, words: str) -> tuple[Hit, ...]:
    """The hits in the whole scope, best first."""
    search = ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC)
    return await search.find(words, [], lambda page: True)


@dataclass
class Memory:
    """A workspace on the disk, its ledger in memory; `said` and the pages are written as they would be."""

    root: Path
    handles: Handles
    ledger: MemoryLedger | OpenLedger
    clock: ManualClock
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def file(self, page: str, scope: Scope = BUILD) -> Path:
        """Where a page is."""
        names = {"index": "memory/groups/build.md"}
        assert scope == BUILD or isinstance(scope, GroupScope)
        return self.root / names.get(page, f"memory/groups/{scope.name}/{page}.md").replace(
            "/build", f"/{scope.name}"
        )

    def put(self, page: str, text: str, scope: Scope = BUILD) -> None:
        """Write a page by hand."""
        path = self.file(page, scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    async def says(
        self,
        text: str,
        who: str = "ana",
        *,
        scope: Scope = BUILD,
        thread: str = "",
        voice: Voice = Voice.PERSON,
        addressed: bool = False,
    ) -> MessageKey:
        """Somebody says something; its key."""
        number = next(self._numbers)
        self.clock.advance(20)
        key = message_key(ROOM, str(number))
        message = Message(
            key=key,
            conversation=Conversation(ROOM, thread),
            author=PersonKey(f"console:{who}"),
            author_name=who,
            text=text,
            sent_at=self.clock.now(),
            voice=voice,
            addressed=addressed,
        )
        await self.ledger.intake.record([Posted(EventKey(key), message, scope)])
        return key

    async def edits(self, key: MessageKey, text: str) -> None:
        """A message gets another text."""
        self.clock.advance(1)
        event = EventKey(f"{key}@{next(self._numbers)}")
        await self.ledger.intake.record([Edited(event, key, text, self.clock.now())])

    async def deletes(self, key: MessageKey) -> None:
        """A message is removed."""
        await self.ledger.intake.record([Deleted(EventKey(f"{key}!deleted"), key)])

    async def erases(self, scope: Scope = BUILD) -> int:
        """All that was said is saved, and old enough to go."""
        ledger = self.handles.open(scope).ledger
        for conversation in await ledger.conversations():
            await ledger.move_cursors({conversation: 10**6})
        return await ledger.erase(self.clock.now() + timedelta(days=1))

    async def finds(self, words: str, scope: Scope = BUILD) -> list[str]:
        """What the hits say, best first."""
        return [hit.placed.unit.body for hit in await searched(self.handles.open(scope), words)]

    def index_files(self) -> list[Path]:
        """The files of the indexes, and what SQLite leaves beside them."""
        return sorted((self.root / ".remem/search").glob("*"))


@asynccontextmanager
async def memory(
    root: Path, searches: Searches | None = None, ledger: MemoryLedger | OpenLedger | None = None, first: int = 1
) -> AsyncIterator[Memory]:
    """A workspace with the group `build`, without any page; its messages are numbered from `first` on."""
    clock = ManualClock(NOON)
    ledger, stores = ledger or MemoryLedger(clock), FileStores(root, APM)
    searches = searches or Searches(Tree(root))
    handles = Handles(stores, ledger, APM, EstimatingCounter(), clock, UTC, searches)
    try:
        yield Memory(root, handles, ledger, clock, count(first))
    finally:
        await asyncio.to_thread(searches.close)
        await asyncio.to_thread(stores.close)
