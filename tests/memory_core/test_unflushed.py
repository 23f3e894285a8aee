"""A flush asks only the conversations in which something new was said, and misses none of them."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.flush.hearing import fresh
from memory_core.ids import Conversation
from memory_core.ledger.sqlite import SqliteLedger
from tests.memory_core.ledger_values import BUILD, ROOM, START, at, deleted, posted
from tests.scale import scale

PLACES = [Conversation(ROOM, f"T{number}") for number in range(700)]


@pytest.mark.asyncio
async def test_only_conversations_with_something_new_are_asked(tmp_path: Path) -> None:
    asked: list[str] = []
    path = tmp_path / "ledger.db"
    ledger = await SqliteLedger.open(path, ManualClock(START), trace=lambda scope, said: asked.append(said))
    try:
        own = ledger.open(BUILD)
        await ledger.intake.record([posted(n, place=place) for n, place in enumerate(PLACES)])
        start = time.perf_counter()
        assert [place for place, _ in await fresh(own)] == sorted(PLACES, key=str)
        all_new = time.perf_counter() - start
        await own.move_cursors({place: n + 1 for n, place in enumerate(PLACES)})
        await ledger.intake.record([posted("a", place=PLACES[3]), posted("b", place=PLACES[9])])
        await ledger.intake.record([deleted("b")])
        asked.clear()
        start = time.perf_counter()
        found = await fresh(own)
        print(  # noqa: T201
            f"{len(PLACES)} conversations: {all_new * 1e3:.0f} ms if all are new, one "
            f"{(time.perf_counter() - start) * 1e3:.1f} ms"
        )
        assert [(place, [one.message.key for one in context.fresh]) for place, context in found] == [
            (PLACES[3], [posted("a").message.key])
        ]
        assert sum("FROM messages" in statement for statement in asked) <= 3, asked
    finally:
        await ledger.close()


@pytest.mark.asyncio
async def test_none_is_missed(tmp_path: Path) -> None:
    chance = random.Random(7)
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", ManualClock(START))
    try:
        own, places = ledger.open(BUILD), PLACES[:8]
        for number in range(scale(600)):
            place = chance.choice(places)
            match chance.randrange(4):
                case 0 | 1:
                    await ledger.intake.record([posted(number, place=place, minutes=chance.randrange(90))])
                case 2:
                    await ledger.intake.record([deleted(chance.randrange(number + 1))])
                    await own.move_cursors({place: chance.randrange(number + 2)})
                case _:
                    await own.erase(at(chance.randrange(90)))
                    await own.put_in_order()
            everywhere = [(one, await own.context(one)) for one in await own.conversations()]
            assert await fresh(own) == [(one, context) for one, context in everywhere if context.fresh]
    finally:
        await ledger.close()
