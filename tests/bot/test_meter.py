"""The meter: what a day has left, for answers and for saving apart; what is learnt about a provider's tokenizer."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models.failures import Failure, ModelFailed
from bot.models.limits import DayLimits
from bot.models.meter import FEW, LARGEST, LEAST, SMALLEST_TOKENS, LedgerMeter, metered
from bot.models.spending import Run
from bot.settings import load
from memory_core.clock import ManualClock, day_in
from memory_core.handle import Handles
from memory_core.ids import GroupScope, Scope
from memory_core.layouts import APM, INDEX
from memory_core.ledger.base import Ledger
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import SqliteLedger
from memory_core.ledger.usage import MOST_PER_RUN, Purpose
from memory_core.store.memory import MemoryStores
from memory_core.tokens import EstimatingCounter
from tests.memory_core.loading_parts import ANA, BUILD, OTHER
from tests.scale import scale

NOON = datetime(2026, 4, 6, 12, 0, tzinfo=UTC)
REPLY, MEMORY = Purpose.REPLY, Purpose.MEMORY
MODEL = "openai:a"
NO_LIMIT = DayLimits()
SHANGHAI = "---\ngroup_name: build\ntimezone: Asia/Shanghai\n---\n\n# build\n"


@dataclass(slots=True)
class World:
    """A meter on a ledger, pages in memory, a clock that is moved."""

    clock: ManualClock
    ledger: Ledger
    handles: Handles
    stores: MemoryStores

    def meter(self, reply: DayLimits = NO_LIMIT, memory: DayLimits = NO_LIMIT) -> LedgerMeter:
        return LedgerMeter(self.handles, self.ledger.reports, {REPLY: reply, MEMORY: memory})


def world(ledgers: Callable[[ManualClock], MemoryLedger] = MemoryLedger) -> World:
    clock, stores = ManualClock(NOON), MemoryStores(APM)
    ledger = ledgers(clock)
    return World(clock, ledger, Handles(stores, ledger, APM, EstimatingCounter(), clock), stores)


def run(tokens: int = 100, cost: float | None = None, counted: int = 0) -> Run:
    return Run(MODEL, requests=1, input_tokens=tokens, counted_tokens=counted, cost_usd=cost)


async def refused(meter: LedgerMeter, scope: Scope = BUILD, purpose: Purpose = REPLY) -> str:
    """What a person is told; '' where a run may begin."""
    try:
        await meter.check(scope, purpose)
    except ModelFailed as failed:
        told = failed
    else:
        return ""
    assert told.failure is Failure.DAY
    assert "\n" not in str(told)
    assert told.why
    return str(told)


# -- the limits of a day ---------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_at_the_limit_the_next_run_is_refused_until_the_day_begins_anew() -> None:
    here = world()
    meter = here.meter(DayLimits(tokens=200))
    await meter.spend(BUILD, REPLY, run(199))
    assert not await refused(meter)
    await meter.spend(BUILD, REPLY, run(1))
    assert await refused(meter) == (
        "I have used up what I may use in a day to answer here. I answer again from 2026-04-07 00:00 (UTC) on."
    )
    assert not await refused(meter, OTHER), "another memory has a day of its own"
    here.clock.advance(12 * 3600 - 1)
    assert await refused(meter)
    here.clock.advance(1)
    assert not await refused(meter)


@pytest.mark.asyncio
async def test_a_day_is_the_memorys_own() -> None:
    here = world()
    here.stores.put(BUILD, INDEX, SHANGHAI.encode())
    meter = here.meter(DayLimits(tokens=10), DayLimits(tokens=10))
    for purpose in Purpose:
        await meter.spend(BUILD, purpose, run(10))
    told = await refused(meter, purpose=MEMORY)
    assert told == (
        "The model has used up what it may use in a day to save this. "
        "It helps again from 2026-04-07 00:00 (Asia/Shanghai) on."
    )
    here.clock.advance(4 * 3600)  # 16:00 in UTC is midnight there
    assert not await refused(meter)


@pytest.mark.asyncio
async def test_a_limit_in_dollars_counts_known_prices_and_says_once_that_one_is_unknown() -> None:
    here = world()
    meter = here.meter(DayLimits(usd=0.01))
    with structlog.testing.capture_logs() as logged:
        for _ in range(3):
            await meter.spend(BUILD, REPLY, run(10**9, cost=None))
    assert [line["model"] for line in logged] == [MODEL]
    assert not await refused(meter), "what nobody knows is not counted as something"
    await meter.spend(BUILD, REPLY, run(1, cost=0.009999))
    assert not await refused(meter)
    await meter.spend(BUILD, REPLY, run(1, cost=0.000001))
    assert await refused(meter)
    assert sum(one.unpriced_runs for one in await here.handles.open(BUILD).ledger.usage.spent(NOON.date())) == 3


Asked: TypeAlias = tuple[Scope, Purpose, int, float | None, int]
runs = st.tuples(
    st.sampled_from((BUILD, ANA)),
    st.sampled_from(Purpose),
    st.sampled_from((0, 1, 60, 150)),
    st.sampled_from((None, 0.0, 0.25, 0.5)),
    st.sampled_from((0, 0, 3600, 9 * 3600)),
)
limits = st.builds(DayLimits, tokens=st.sampled_from((0, 1, 150, 300)), usd=st.sampled_from((0.0, 0.25, 0.75)))


async def _limits_hold(reply: DayLimits, memory: DayLimits, asked: list[Asked]) -> None:
    here = world()
    meter, share = here.meter(reply, memory), {REPLY: reply, MEMORY: memory}
    tokens: dict[object, int] = {}
    usd: dict[object, float] = {}
    for scope, purpose, size, cost, wait_s in asked:
        here.clock.advance(wait_s)
        for one in Purpose:  # the other purpose's runs change nothing
            place, limit = (scope, one, day_in(UTC, here.clock.now())), share[one]
            full = 0 < limit.tokens <= tokens.get(place, 0) or 0 < limit.usd <= usd.get(place, 0.0)
            assert bool(await refused(meter, scope, one)) == full
        if not await refused(meter, scope, purpose):
            place = (scope, purpose, day_in(UTC, here.clock.now()))
            await meter.spend(scope, purpose, run(size, cost))
            tokens[place] = tokens.get(place, 0) + size
            usd[place] = usd.get(place, 0.0) + (cost or 0.0)


@settings(max_examples=scale(2000), deadline=None)
@given(limits, limits, st.lists(runs, max_size=20))
def test_a_run_is_refused_at_the_limit_of_its_own_purpose_scope_and_day_and_never_else(
    reply: DayLimits, memory: DayLimits, asked: list[Asked]
) -> None:
    asyncio.run(_limits_hold(reply, memory, asked))


@pytest.mark.asyncio
@pytest.mark.parametrize(("full", "free"), [(MEMORY, REPLY), (REPLY, MEMORY)])
async def test_upkeep_never_silences_replies_nor_they_it(full: Purpose, free: Purpose) -> None:
    meter = world().meter(DayLimits(tokens=10, usd=0.1), DayLimits(tokens=10, usd=0.1))
    await meter.spend(BUILD, full, run(10**6, cost=100.0))
    assert await refused(meter, purpose=full)
    assert not await refused(meter, purpose=free)


# -- what is kept ----------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize("cost", [math.nan, math.inf, -1.0, None])
async def test_what_a_server_reports_may_be_anything(cost: float | None) -> None:
    here = world()
    meter = here.meter()
    wild = Run("half \ud83d", -1, -(10**30), 10**30, -5, 10**30, -1, cost)
    await meter.spend(BUILD, REPLY, wild)
    (kept,) = await here.handles.open(BUILD).ledger.usage.spent(NOON.date())
    assert (kept.requests, kept.tool_calls, kept.input_tokens, kept.cached_tokens) == (0, 0, MOST_PER_RUN, 0)
    assert (kept.cost_micro_usd, kept.unpriced_runs) == (0, 1)
    assert meter.factor("half \ud83d") == 1.0


@pytest.mark.asyncio
async def test_a_run_is_kept_although_its_answer_is_cancelled(tmp_path: Path) -> None:
    clock, stores = ManualClock(NOON), MemoryStores(APM)
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", clock)
    meter = LedgerMeter(Handles(stores, ledger, APM, EstimatingCounter(), clock), ledger.reports, {})
    spending = asyncio.ensure_future(meter.spend(BUILD, REPLY, run()))
    await asyncio.sleep(0)
    spending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await spending
    await meter.close()
    await ledger.close()
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", clock)
    assert [one.runs for one in await ledger.open(BUILD).usage.spent(NOON.date())] == [1]
    await ledger.close()


# -- the factor ------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_factor_is_learnt_from_a_few_reports_and_each_model_has_its_own() -> None:
    meter = world().meter()
    for number in range(FEW):
        assert meter.factor(MODEL) == 1.0, number
        await meter.spend(BUILD, REPLY, run(1300, counted=1000))
    assert meter.factor(MODEL) == 1.3
    assert meter.factor("anthropic:b") == 1.0


@pytest.mark.asyncio
async def test_outliers_zero_counts_and_tiny_requests_teach_nothing() -> None:
    meter = world().meter()
    for _ in range(9):
        await meter.spend(BUILD, REPLY, run(1200, counted=1000))
        for strange in (run(0, counted=1000), run(1200, counted=0), run(10**12, counted=1000), run(1, counted=1000)):
            await meter.spend(OTHER, MEMORY, strange)
        await meter.spend(OTHER, MEMORY, run(SMALLEST_TOKENS * 5, counted=SMALLEST_TOKENS - 1))
    for _ in range(8):
        await meter.spend(OTHER, MEMORY, run(9000, counted=1000))
    assert meter.factor(MODEL) == 1.2


@settings(max_examples=scale(2000), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**13), st.integers(0, 10**5)), max_size=60))
def test_the_factor_stays_within_its_bounds_and_is_the_same_after_a_restart(reported: list[tuple[int, int]]) -> None:
    async def learn() -> None:
        here = world()
        meter = here.meter()
        for tokens, counted in reported:
            await meter.spend(BUILD, REPLY, run(tokens, counted=counted))
            assert LEAST <= meter.factor(MODEL) <= LARGEST
        again = here.meter()
        await again.learn()
        assert LEAST <= again.factor(MODEL) <= LARGEST
        sound = [one for one in reported if 0 < one[0] <= 10 * one[1] and one[1] <= 10 * one[0] and one[1] >= 100]
        if len(sound) == len(reported):  # reports that teach nothing take up room in the ledger
            assert again.factor(MODEL) == meter.factor(MODEL)

    asyncio.run(learn())


def test_what_was_learnt_survives_a_restart_of_the_program() -> None:
    chosen = load(day_tokens=5000, memory_day_usd=1.0)

    async def life(path: Path, reported: int) -> float:
        clock, stores = ManualClock(NOON), MemoryStores(APM)
        ledger = await SqliteLedger.open(path, clock)
        handles = Handles(stores, ledger, APM, EstimatingCounter(), clock)
        meter = await metered(chosen, handles, ledger.reports)
        before = meter.factor(MODEL)
        for number in range(10):
            await meter.spend(GroupScope(f"g{number}"), REPLY, run(reported, counted=1000))
        assert not await refused(meter, GroupScope("g1"))
        await ledger.close()
        return before

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        assert [asyncio.run(life(path, reported)) for reported in (1500, 1500, 900)] == [1.0, 1.5, 1.5]
