"""The recall bench by the shipped search: the rooms' messages in a ledger, asked through the index of their scope.

Every room is a group of its own. Its messages are recorded in their order; where a question is asked as of a turn,
the index is asked before the next one is recorded, and catches up then as it does in the program. What remem says
itself and questions put to it are no part of search; no data set has any. Talks end with a pause of half an hour,
whatever the data set calls a session. With an embedder a question is asked when everything has its vector.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from datetime import UTC

from memory_core.clock import ManualClock
from memory_core.handle import Handles
from memory_core.ids import EventKey, GroupScope
from memory_core.layouts.apm import APM
from memory_core.ledger.base import Posted
from memory_core.ledger.memory import MemoryLedger
from memory_core.search import ScopeSearch, Searches
from memory_core.search.embedding import Embedder
from memory_core.search.meaning import Meaning
from memory_core.store.memory import MemoryStores
from memory_core.tokens import Counter, EstimatingCounter
from tests.bench.recall_data import Question, Room
from tests.bench.recall_rankings import Filling, Share, messages, number_of, today

MOST = 400
"""How many hits are asked for: more than fit into any budget."""


def measured_by_index(
    rooms: Sequence[Room], budgets: Sequence[int], counter: Counter, embedder: Embedder | None = None
) -> dict[int, list[Share]]:
    """Every question's share at every budget, as the search of its room orders what was said."""
    return asyncio.run(_measured(rooms, budgets, counter, embedder))


async def _measured(
    rooms: Sequence[Room], budgets: Sequence[int], counter: Counter, embedder: Embedder | None
) -> dict[int, list[Share]]:
    shares: dict[int, list[Share]] = {budget: [] for budget in budgets}
    for room in rooms:
        filling = Filling(room.turns, counter)
        async for question, order in asked_of(room, embedder):
            for budget in budgets:
                shares[budget].append(filling.share(question, order, budget))
    return shares


async def asked_of(room: Room, embedder: Embedder | None = None) -> AsyncIterator[tuple[Question, list[int]]]:
    """Every question of the room with the numbers of the turns that search finds, best first."""
    scope, said, kept = GroupScope("room"), messages(room.turns), 0
    clock = ManualClock(said[0].sent_at) if said else ManualClock(room.turns[0].at)
    ledger = MemoryLedger(clock)
    meaning = Meaning(embedder) if embedder is not None else None
    with closing(Searches(meaning=meaning)) as searches:
        handle = Handles(MemoryStores(APM), ledger, APM, EstimatingCounter(), clock, UTC, searches).open(scope)
        search = ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC)
        for question in sorted(room.questions, key=lambda one: one.until):
            new = said[kept : question.until]
            kept = question.until
            await ledger.intake.record([Posted(EventKey(one.key), one, scope) for one in new])
            day = today(room.turns[: question.until])
            if meaning is not None and new:
                await search.find(question.text, [], lambda page: True, 1, day)  # whoever asks begins it
                await meaning.settled()
            hits = await search.find(question.text, [], lambda page: True, MOST, day)
            yield question, [number_of(key) for hit in hits if (key := hit.placed.message) is not None]
