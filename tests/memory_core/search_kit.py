"""Search as the gate does it, for tests that have no index page."""

from __future__ import annotations

from datetime import UTC

from memory_core.handle import Handle
from memory_core.search import Hit, ScopeSearch


async def searched(handle: Handle, words: str) -> tuple[Hit, ...]:
    """The hits in the whole scope, best first."""
    search = ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC)
    return await search.find(words, [], lambda page: True)
