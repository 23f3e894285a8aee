"""Watching the program at its ports: every call of a scope's store and ledger with what went in and came out, and
everything that the agent was asked with.

A watched port does what the port does. The agent here is nosier than any model may be: it also searches, and tries to
open whatever page it can think of.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from bot.agent import Ask, Doors, Reply, Show
from bot.offline import OfflineAgent
from memory_core.disclosure import Disclosure
from memory_core.errors import Denied
from memory_core.ids import PageId, Scope
from memory_core.ledger.base import ScopeLedger, ScopeLedgers
from memory_core.store.base import Store, Stores


@dataclass(frozen=True, slots=True)
class Touch:
    """One call of a scope's port: `port` is `store` or `ledger`, `given` went in, `got` came out."""

    scope: Scope
    port: str
    call: str
    given: tuple[object, ...]
    got: object = None


class _Watched:
    """A port of one scope, every call of it told."""

    def __init__(self, port: str, inner: Store | ScopeLedger, touches: list[Touch]) -> None:
        self._port = port
        self._inner = inner
        self._touches = touches

    @property
    def scope(self) -> Scope:
        return self._inner.scope

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        method = getattr(self._inner, name)

        async def call(*given: object, **named: object) -> object:
            got: object = None
            try:
                got = await method(*given, **named)
            finally:
                self._touches.append(Touch(self.scope, self._port, name, (*given, *named.values()), got))
            return got

        return call


@dataclass(frozen=True, slots=True)
class WatchedStores:
    """Stores whose every call is told."""

    inner: Stores
    touches: list[Touch]

    def open(self, scope: Scope) -> Store:
        """The watched store bound to `scope`."""
        return cast(Store, _Watched("store", self.inner.open(scope), self.touches))


@dataclass(frozen=True, slots=True)
class WatchedLedgers:
    """Ledgers whose every call is told."""

    inner: ScopeLedgers
    touches: list[Touch]

    def open(self, scope: Scope) -> ScopeLedger:
        """The watched ledger bound to `scope`."""
        return cast(ScopeLedger, _Watched("ledger", self.inner.open(scope), self.touches))


_WANTED = (
    *("longterm", "experience", "attention", "project", "people", "user", "memory", "index", "daily-synced"),
    *("conventions/tools", "projects/atlas", "journal/2026-04-06", "archive/2026-04", "state/flush", "soul"),
    *("../main/longterm", "memory/main/index"),
)


@dataclass(slots=True)
class NosyAgent:
    """The offline agent, with all that it was asked and all that its own searches and openings brought."""

    asks: list[Ask] = field(default_factory=list)
    brought: list[Disclosure] = field(default_factory=list)
    asked: int = 0
    _inner: OfflineAgent = field(default_factory=OfflineAgent)

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """Answer; then look around."""
        self.asks.append(ask)
        self.asked += 1
        reply = await self._inner.reply(ask, doors, show)
        wanted = PageId(_WANTED[self.asked % len(_WANTED)])
        with suppress(Denied):
            looked = doors.open(wanted) if self.asked % 2 else doors.search(ask.message.text)
            self.brought.append(await looked)
        return reply
