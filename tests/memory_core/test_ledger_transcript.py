"""What the search index asks of the ledger: is the transcript as it was, what stands in it, and these messages."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import TypeAlias

import pytest
import pytest_asyncio

from memory_core.clock import ManualClock
from memory_core.ids import Conversation, DirectScope, GroupScope, PersonKey, RoomKey
from memory_core.ledger.base import Posted, ScopeLedger
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.rows import us_of
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from tests.memory_core.ledger_values import BUILD, MAIN, ROOM, START, at, deleted, edited, posted
from tests.scale import scale

Ledger: TypeAlias = MemoryLedger | OpenLedger

OTHERS = (GroupScope("build-2"), DirectScope(PersonKey("slack:T1:U2")))
_SIDE = Conversation(RoomKey("slack:T1:C0"), "T1")


@pytest_asyncio.fixture(params=("memory", "sqlite"))
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    clock = ManualClock(START)
    if request.param == "memory":
        yield MemoryLedger(clock)
        return
    opened = await SqliteLedger.open(tmp_path / "ledger.db", clock)
    yield opened
    await opened.close()


async def _numbers(own: ScopeLedger) -> tuple[int, int]:
    state = await own.transcript_state()
    return state.arrived, state.revised


@pytest.mark.asyncio
async def test_the_state_tells_of_all_that_becomes_of_a_text(ledger: Ledger) -> None:
    own = ledger.open(BUILD)
    assert await _numbers(own) == (0, 0)
    await ledger.intake.record([posted(1), posted(2, minutes=1), posted(9, scope=OTHERS[0]), posted(8, scope=None)])
    assert await _numbers(own) == (2, 0)
    states = [await own.transcript_state()]
    for event in (edited(1, "new", 2), deleted(2)):
        await ledger.intake.record([event])
        states.append(await own.transcript_state())
    await own.move_cursors({MAIN: 9})
    assert await own.transcript_state() == states[-1], "what was flushed still stands"
    assert await own.erase(at(60)) == 1
    states.append(await own.transcript_state())
    assert [state.arrived for state in states] == [2] * 4
    assert [state.revised for state in states] == sorted({state.revised for state in states})
    assert await own.erase(at(60)) == 0
    await ledger.intake.record([edited(1, "too late", 3), deleted(1), deleted(9)])
    assert await own.transcript_state() == states[-1], "nothing of this scope was there to change"


@pytest.mark.asyncio
async def test_the_outline_is_what_has_its_text_and_names_every_edition(ledger: Ledger) -> None:
    own = ledger.open(BUILD)
    await ledger.intake.record([posted(n, minutes=n) for n in (1, 2, 3)])
    await ledger.intake.record([posted("S", place=_SIDE), posted(7, scope=OTHERS[0])])
    before = await own.transcript_outline()
    assert [(line.conversation, line.seq) for line in before] == [(_SIDE, 4), (MAIN, 1), (MAIN, 2), (MAIN, 3)]
    assert [line.sent_us for line in before] == list(map(us_of, (START, at(1), at(2), at(3))))
    await ledger.intake.record([edited(1, "new", 5), deleted(2)])
    after = await own.transcript_outline()
    assert [line.seq for line in after] == [4, 1, 3]
    assert after[1].text_id not in {line.text_id for line in before}
    assert {after[0], after[2]} < set(before)


@pytest.mark.asyncio
async def test_messages_are_read_by_their_seqs_in_order(ledger: Ledger) -> None:
    own, many = ledger.open(BUILD), scale(10_000)
    await ledger.intake.record([posted(n, f"m{n}") for n in range(1, many + 1)])
    await ledger.intake.record([deleted(3), edited(2, "new", 1)])
    found = await own.transcript([4, 2, 3, 2, 0, -1, 10**6])
    assert [(one.seq, one.text) for one in found] == [(2, "new"), (4, "m4")]
    assert await own.transcript([]) == ()
    assert len(await own.transcript(range(many, 0, -1))) == many - 1


@pytest.mark.asyncio
async def test_another_scope_sees_nothing(ledger: Ledger) -> None:
    await ledger.intake.record([posted(1, "ours"), edited(1, "ours still", 1), posted(2), deleted(2)])
    for scope in OTHERS:
        other = ledger.open(scope)
        assert await _numbers(other) == (0, 0)
        assert (await other.transcript_outline(), await other.transcript([1, 2])) == ((), ())
    assert [one.text for one in await ledger.open(BUILD).transcript([1, 2])] == ["ours still"]


def _spread(count: int) -> list[Posted]:
    """Messages of twenty conversations in turns."""
    return [posted(n, f"message {n} " * 10, Conversation(ROOM, f"T{n % 20}"), minutes=n) for n in range(count)]


@pytest.mark.asyncio
async def test_what_an_outline_costs(tmp_path: Path) -> None:
    count = scale(10_000)
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", ManualClock(START))
    try:
        await ledger.intake.record(_spread(count))
        own = ledger.open(BUILD)
        times: dict[str, list[float]] = {"state": [], "outline": [], "100 read": []}
        for _ in range(21):
            for name, ask in (
                ("state", own.transcript_state()),
                ("outline", own.transcript_outline()),
                ("100 read", own.transcript(range(1, count, max(1, count // 100)))),
            ):
                start = time.perf_counter()
                await ask
                times[name].append(time.perf_counter() - start)
        told = ", ".join(f"{name} {median(taken) * 1e3:.2f} ms" for name, taken in times.items())
        print(f"{count} messages: {told}")  # noqa: T201
        assert len({id(line.conversation) for line in await own.transcript_outline()}) == 20
        assert median(times["state"]) < median(times["outline"])
    finally:
        await ledger.close()
