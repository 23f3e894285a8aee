"""What models cost: no run is lost or counted twice, whatever is asked at once, cancelled, refused, or begun anew."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.clock import ManualClock
from memory_core.errors import BadInput, LedgerDamaged, LedgerFailed
from memory_core.ids import DirectScope, GroupScope, PersonKey, Scope
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.overview import look_at, usage_at
from memory_core.ledger.schema import MIGRATIONS
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.ledger.usage import KEPT_REPORTS, MOST_PER_RUN, Purpose, Report, Spent, Usage, report_of
from tests.memory_core.ledger_values import ANA, BUILD, START, Faults, posted
from tests.scale import scale

DAY = date(2026, 4, 6)
EVE = date(2026, 4, 5)
SCOPES: tuple[Scope, ...] = (BUILD, GroupScope("build-2"), DirectScope(PersonKey("discord:7"), owner=True))


def used(tokens: int = 100, day: date = DAY, purpose: Purpose = Purpose.REPLY, cost: int | None = 5) -> Usage:
    return Usage(day, purpose, "openai:a", 1, 0, tokens, 0, 10, 90, cost)


# -- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [-1, MOST_PER_RUN + 1])
def test_numbers_that_no_run_can_have_are_refused(wrong: int) -> None:
    with pytest.raises(BadInput, match=r"\(cost_micro_usd\)"):
        used(cost=wrong)
    with pytest.raises(BadInput, match="input_tokens"):
        used(wrong)
    with pytest.raises(BadInput, match="teaches nothing"):
        Report("openai:a", 0, 5)


def test_a_price_that_nobody_knows_is_no_price_of_nothing() -> None:
    assert used(cost=None).unpriced
    assert not used(cost=0).unpriced
    assert Usage(DAY, Purpose.REPLY, "local:a").unpriced, "a server that reports no use is not known to be free"


# -- sums ------------------------------------------------------------------------------------------------------------

Step: TypeAlias = tuple[Scope, Purpose, date, int | None]
steps = st.tuples(
    st.sampled_from(SCOPES), st.sampled_from(Purpose), st.sampled_from((EVE, DAY)), st.sampled_from((None, 0, 7))
)


async def _batch(ledger: OpenLedger, batch: list[Step], rng: random.Random) -> None:
    """All at once, as when many rooms are answered; a third of the callers is cancelled: their runs count too."""
    tasks = [
        asyncio.ensure_future(ledger.open(scope).usage.spend(used(3, day, purpose, cost)))
        for scope, purpose, day, cost in batch
    ]
    await asyncio.sleep(0)  # every job is handed in
    for task in rng.sample(tasks, len(tasks) // 3):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _no_run_is_lost(path: Path, batches: list[list[Step]]) -> None:
    rng, told = random.Random(1), Counter[tuple[Scope, Purpose, date]]()
    costs, unpriced = Counter[Scope](), Counter[Scope]()
    for batch in batches:
        ledger = await SqliteLedger.open(path, ManualClock(START))
        await _batch(ledger, batch, rng)
        await ledger.close()
        for scope, purpose, day, cost in batch:
            told[scope, purpose, day] += 1
            costs[scope] += cost or 0
            unpriced[scope] += cost is None
    ledger = await SqliteLedger.open(path, ManualClock(START))
    for scope in SCOPES:
        found = await ledger.open(scope).usage.spent(EVE)
        assert {(scope, one.purpose, one.day): one.runs for one in found} == {
            place: runs for place, runs in told.items() if place[0] == scope
        }
        assert sum(one.tokens for one in found) == 13 * sum(one.runs for one in found)
        assert sum(one.cost_micro_usd for one in found) == costs[scope]
        assert sum(one.unpriced_runs for one in found) == unpriced[scope]
    reports = await ledger.reports.latest()
    assert len(reports) == min(KEPT_REPORTS, sum(map(len, batches)))
    await ledger.close()
    seen = {
        scope: sum(one.runs for one in spent)
        for scope, spent in (await asyncio.to_thread(usage_at, path, EVE)).items()
    }
    assert seen == dict(Counter(scope for batch in batches for scope, *_ in batch))


@settings(max_examples=scale(400), deadline=None)
@given(st.lists(st.lists(steps, min_size=1, max_size=40), min_size=1, max_size=3))
def test_sums_never_lose_a_run_under_concurrency_and_restart(
    batches: list[list[Step]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_no_run_is_lost(Path(folder) / "ledger.db", batches))


@pytest.mark.asyncio
async def test_a_run_that_could_not_be_kept_whole_is_not_kept_in_part(tmp_path: Path) -> None:
    faults = Faults()
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", ManualClock(START), faults=faults)
    try:
        faults.fail = lambda statement: statement.startswith("INSERT INTO usage_reports")
        with pytest.raises(LedgerFailed):
            await ledger.open(BUILD).usage.spend(used())
        faults.fail = lambda statement: False
        assert await ledger.open(BUILD).usage.spent(EVE) == ()
        await ledger.open(BUILD).usage.spend(used())
        assert [one.runs for one in await ledger.open(BUILD).usage.spent(EVE)] == [1]
    finally:
        await ledger.close()


@pytest.mark.asyncio
async def test_the_last_reports_of_each_model_stay_and_the_file_does_not_grow(tmp_path: Path) -> None:
    path, memory = tmp_path / "ledger.db", MemoryLedger(ManualClock(START))
    ledger = await SqliteLedger.open(path, ManualClock(START))
    both: tuple[OpenLedger | MemoryLedger, ...] = (ledger, memory)
    for one in both:
        own, other = one.open(BUILD).usage, one.open(SCOPES[1]).usage
        await other.spend(replace(used(), model="local:b"))
        await asyncio.gather(*(own.spend(used(n)) for n in range(1, 2 * KEPT_REPORTS + 1)))
        await other.spend(used(999))
        reports = await one.reports.latest()
        assert [report.input_tokens for report in reports if report.model == "openai:a"] == [
            *range(KEPT_REPORTS + 2, 2 * KEPT_REPORTS + 1), 999
        ]  # fmt: skip
        assert [report.input_tokens for report in reports if report.model == "local:b"] == [100]
    await ledger.close()

    def kept() -> list[tuple[str, int]]:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT scope, count(*) FROM usage_reports GROUP BY scope").fetchall()

    assert await asyncio.to_thread(kept) == [(BUILD.key, KEPT_REPORTS), (SCOPES[1].key, 2)]


@pytest.mark.asyncio
async def test_usage_stays_when_text_is_erased(tmp_path: Path) -> None:
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", ManualClock(START))
    try:
        await ledger.intake.record([posted(1)])
        own = ledger.open(BUILD)
        await own.usage.spend(used())
        await own.move_cursors({(await own.conversations())[0]: 9})
        assert await own.erase(START.replace(year=2027)) == 1
        assert [one.tokens for one in await own.usage.spent(EVE)] == [110]
    finally:
        await ledger.close()


# -- the file --------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE usage SET day = 'yesterday'",
        "UPDATE usage SET purpose = 'fun'",
        "UPDATE usage SET runs = -1",
        "UPDATE usage SET input_tokens = 'many'",
        "UPDATE usage SET cost_micro_usd = 0.5",
        "UPDATE usage_reports SET counted_tokens = 0",
    ],
)
async def test_a_row_that_no_remem_wrote_is_damage(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "ledger.db"
    ledger = await SqliteLedger.open(path, ManualClock(START))
    await ledger.open(BUILD).usage.spend(used())
    await ledger.close()

    def change() -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(spoil)

    await asyncio.to_thread(change)
    with pytest.raises(LedgerDamaged, match="set aside"):
        await SqliteLedger.open(path, ManualClock(START))


def _second_version(path: Path) -> None:
    """The ledger as remem wrote it before it knew models."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in (*MIGRATIONS[0], *MIGRATIONS[1]):
            connection.execute(statement)
        connection.execute("INSERT INTO scopes VALUES (?, 0)", (BUILD.key,))
        connection.execute("INSERT INTO timers VALUES ('t', 0, '')")
        connection.execute("PRAGMA user_version = 2")


def test_a_ledger_from_before_estimates_can_be_looked_at_and_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in [one for version in MIGRATIONS[:4] for one in version]:
            connection.execute(statement)
        connection.execute("INSERT INTO scopes VALUES (?, 0)", (BUILD.key,))
        row = (BUILD.key, DAY.isoformat(), "reply", "openai:a", 1, 1, 0, 100, 0, 10, 5, 0)
        connection.execute("INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("PRAGMA user_version = 4")
    assert usage_at(path, EVE) == {BUILD: (Spent(DAY, Purpose.REPLY, "openai:a", 1, 1, 0, 100, 0, 10, 5, 0, 0),)}

    async def spend() -> None:
        ledger = await SqliteLedger.open(path, ManualClock(START))
        await ledger.open(BUILD).usage.spend(replace(used(cost=None), estimated=True))
        await ledger.close()

    asyncio.run(spend())
    assert usage_at(path, EVE) == {BUILD: (Spent(DAY, Purpose.REPLY, "openai:a", 2, 2, 0, 200, 0, 20, 5, 1, 1),)}


def test_nothing_is_learnt_from_an_estimate() -> None:
    assert report_of(used()) is not None
    assert report_of(replace(used(), estimated=True)) is None


def test_a_ledger_from_before_models_can_be_looked_at_and_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    assert usage_at(path, EVE) == {}, "no ledger"
    _second_version(path)
    before = path.read_bytes()
    assert usage_at(path, EVE) == {}
    assert [look.scope for look in look_at(path)] == [BUILD]
    assert path.read_bytes() == before

    async def spend() -> None:
        ledger = await SqliteLedger.open(path, ManualClock(START))
        assert [timer.key for timer in await ledger.timers.due(START)] == ["t"]
        await ledger.open(BUILD).usage.spend(used())
        await ledger.open(DirectScope(ANA, owner=True)).usage.spend(used(cost=None))
        seen = await asyncio.to_thread(usage_at, path, DAY)
        assert seen == {
            BUILD: (Spent(DAY, Purpose.REPLY, "openai:a", 1, 1, 0, 100, 0, 10, 5, 0),),
            DirectScope(ANA, owner=True): (Spent(DAY, Purpose.REPLY, "openai:a", 1, 1, 0, 100, 0, 10, 0, 1),),
        }
        await ledger.close()

    asyncio.run(spend())
    assert set(usage_at(path, DAY)) == {BUILD, DirectScope(ANA, owner=True)}
    assert usage_at(path, date(2026, 4, 7)) == {}
