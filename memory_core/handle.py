"""A handle: all that may be done with ONE scope's memory, bound when it is made and never changed.

Reads for a conversation go through the gate (memory_core.gate), which takes a handle and gives an `OpenIndex`; writes
go through the flush and the commands of memory_core. Nothing outside memory_core touches `store` (tested).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from memory_core.clock import Clock
from memory_core.errors import BadInput
from memory_core.ids import GroupScope, Scope
from memory_core.layouts import Layout, Table
from memory_core.ledger.base import ScopeLedger, ScopeLedgers
from memory_core.search import Searches
from memory_core.store.base import Store, Stores
from memory_core.tokens import Counter


@dataclass(frozen=True, slots=True)
class Handle:
    """One scope's memory: its pages, its ledger, its layout, and the counter and clock that it is measured with.

    Raises BadInput when store and ledger belong to different scopes.
    """

    store: Store
    ledger: ScopeLedger
    layout: Layout
    counter: Counter
    clock: Clock
    host_zone: tzinfo = UTC
    """The zone of this scope until its index names one."""
    searches: Searches = field(default_factory=Searches)
    """Where the index of this scope's search is."""

    def __post_init__(self) -> None:
        if self.store.scope != self.ledger.scope:
            raise BadInput("A handle's store and ledger must be of one scope; open both with the same scope.")

    @property
    def scope(self) -> Scope:
        """The one scope."""
        return self.store.scope

    @property
    def table(self) -> Table:
        """The layout's table for this kind of scope."""
        return self.layout.table(self.scope)


def name_of(handle: Handle) -> str:
    """The group's name; '' in a DM."""
    return handle.scope.name if isinstance(handle.scope, GroupScope) else ""


@dataclass(frozen=True, slots=True)
class Handles:
    """Hands out handles: the only place where a scope is turned into access."""

    stores: Stores
    ledgers: ScopeLedgers
    layout: Layout
    counter: Counter
    clock: Clock
    host_zone: tzinfo = UTC
    searches: Searches = field(default_factory=Searches)
    """The indexes of search; by default in memory."""

    def open(self, scope: Scope) -> Handle:
        """The handle bound to `scope`."""
        store, ledger = self.stores.open(scope), self.ledgers.open(scope)
        return Handle(store, ledger, self.layout, self.counter, self.clock, self.host_zone, self.searches)
