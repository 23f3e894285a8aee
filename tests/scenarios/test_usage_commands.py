"""What models cost, as people see it: `/remem status`, `remem status`, `remem usage`; beside a running bot, too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.models.limits import DayLimits
from bot.models.meter import LedgerMeter
from bot.models.spending import Run
from bot.offline import OfflineAgent
from memory_core.answers_usage import dollars, usage_text
from memory_core.clock import ManualClock
from memory_core.extract import RulesExtractor
from memory_core.ids import DirectScope, GroupScope, Scope
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.usage import Purpose, Spent
from memory_core.lock import hold
from tests.bot.command_line import CommandLine, remem
from tests.scenarios.stage import ANA, BEN, Stage, channel, direct, stage
from tests.scenarios.terminal import START

__all__ = ["remem"]

BUILD, OPS, DM = channel(1, "build"), channel(2, "ops"), direct(50, BEN)
GROUP, OTHER, BENS = GroupScope("build"), GroupScope("ops"), DirectScope(BEN.key)
REPLY, MEMORY = Purpose.REPLY, Purpose.MEMORY


def _run(tokens: int, cost: float | None = None, model: str = "openai:a") -> Run:
    return Run(model, 2, 1, tokens, tokens // 2, 10, tokens, cost)


async def _spend(on: Stage, *spent: tuple[Scope, Purpose, Run]) -> None:
    meter = LedgerMeter(on.app.parts.handles, MemoryLedger(on.clock).reports, {REPLY: DayLimits()})
    for scope, purpose, run in spent:
        await meter.spend(scope, purpose, run)


def _line(answer: str) -> str:
    """What a status says of the model; '' where it says nothing."""
    return next((line for line in answer.splitlines() if "the model today" in line), "")


@pytest.mark.asyncio
@pytest.mark.parametrize("setting", ["model", "memory_model"])
async def test_status_in_a_room_tells_what_its_own_memory_cost_today_and_no_other(
    tmp_path: Path, setting: str
) -> None:
    async with stage(
        tmp_path / "w",
        agent=OfflineAgent(),
        extractor=RulesExtractor(),
        model="openai:small" if setting == "model" else "",
        memory_model="openai:small" if setting == "memory_model" else "",
        model_base_url="http://127.0.0.1:9/v1",
        model_key="none",
    ) as on:
        await on.enter(BUILD)
        assert _line(await on.command(BUILD, BEN, "status")) == "- the model today: nothing"
        await _spend(on, (GROUP, REPLY, _run(12_000, 0.04)), (GROUP, MEMORY, _run(790)), (OTHER, REPLY, _run(77_777)))
        await _spend(on, (BENS, REPLY, _run(55_555, 1.0)))
        assert _line(await on.command(BUILD, BEN, "status")) == (
            "- the model today: answers 12,010 tokens in 1 run ($0.04); saving 800 tokens in 1 run (price unknown)"
        )
        assert _line(await on.command(DM, BEN, "status")) == (
            "- the model today: answers 55,565 tokens in 1 run ($1.00)"
        )
        on.clock.advance(86_400)
        assert _line(await on.command(BUILD, BEN, "status")) == "- the model today: nothing"


@pytest.mark.asyncio
async def test_without_a_model_a_status_says_nothing_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as on:
        await on.enter(BUILD)
        assert _line(await on.command(BUILD, BEN, "status")) == ""


async def _lived(workspace: Path, now: datetime) -> None:
    """Two days of a group, one of a DM; what was said holds a word that no command may repeat."""
    clock = ManualClock(now - timedelta(days=1))
    async with stage(workspace, clock=clock) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "Decision: the canary sings at noon")
        await on.says(DM, BEN, "remember the canary")
        await _spend(on, (GROUP, REPLY, _run(100, 0.5)), (GROUP, REPLY, _run(100, None, "local:b")))
        clock.advance(86_400)
        await _spend(on, (GROUP, REPLY, _run(200, 0.0004)), (GROUP, MEMORY, _run(300)), (BENS, REPLY, _run(400, 0.0)))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_usage_tells_scope_by_scope_and_day_by_day_and_writes_no_byte(remem: CommandLine) -> None:
    workspace, now = remem.home / "memory", datetime.now(UTC)
    today, eve = now.date().isoformat(), (now - timedelta(days=1)).date().isoformat()
    asyncio.run(_lived(workspace, now))
    remem("init", "-w", workspace, TZ="UTC")
    with hold(workspace):  # as a running bot does
        before = _files(workspace)
        # A day more than was lived: midnight may pass while this runs.
        asked = ("usage", workspace, "--days", "3")
        text, data = remem(*asked, TZ="UTC"), remem(*asked, "--json", TZ="UTC")
        assert _files(workspace) == before
    assert (text.code, text.err, data.code) == (0, "", 0)
    assert text.out.splitlines() == [
        f"{workspace}: the last 3 days, 2 scopes: answers 840 tokens in 4 runs ($0.50 and 1 run of unknown price); "
        "saving 310 tokens in 1 run (price unknown)",
        "dm of discord:2: answers 410 tokens in 1 run ($0.00)",
        f"  {today}  answers 410 tokens in 1 run ($0.00), openai:a",
        "group build: answers 430 tokens in 3 runs ($0.50 and 1 run of unknown price); "
        "saving 310 tokens in 1 run (price unknown)",
        f"  {eve}  answers 220 tokens in 2 runs ($0.50 and 1 run of unknown price), local:b, openai:a",
        f"  {today}  saving 310 tokens in 1 run (price unknown), openai:a",
        f"  {today}  answers 210 tokens in 1 run ($0.0004), openai:a",
    ]
    found = json.loads(data.out)
    assert [(one["scope"], one["zone"].removeprefix("Etc/")) for one in found["scopes"]] == [
        ("direct:discord:2", "UTC"),
        ("group:build", "UTC"),
    ]
    group = found["scopes"][1]["usage"]
    assert [(one["model"], one["purpose"], one["cost_usd"], one["unpriced_runs"]) for one in group] == [
        ("local:b", "reply", None, 1),
        ("openai:a", "reply", 0.5, 0),
        ("openai:a", "memory", None, 1),
        ("openai:a", "reply", 0.0004, 0),
    ]
    assert group[0] | {"day": eve, "input_tokens": 100, "cached_tokens": 50, "output_tokens": 10} == group[0]
    assert "canary" not in text.out + data.out


def test_the_status_of_all_memories_tells_today_of_each(remem: CommandLine) -> None:
    workspace, now = remem.home / "memory", datetime.now(UTC)
    asyncio.run(_lived(workspace, now))
    ran, data = remem("status", workspace, TZ="UTC"), remem("status", workspace, "--json", TZ="UTC")
    if datetime.now(UTC).date() != now.date():
        return  # what was today is yesterday by now
    told = [line for line in ran.out.splitlines() if "the model today" in line]
    assert told == [
        "  the model today: answers 210 tokens in 1 run ($0.0004); saving 310 tokens in 1 run (price unknown)",
        "  the model today: answers 410 tokens in 1 run ($0.00)",
    ]
    by_scope = {one["scope"]: one["usage_today"] for one in json.loads(data.out)["scopes"]}
    assert [one["input_tokens"] for one in by_scope["group:build"]] == [300, 200]


@pytest.mark.parametrize(
    ("words", "why"),
    [(("nowhere",), "There is no workspace"), (("--days", "0"), "--days"), (("--days", "x"), "--days")],
)
def test_what_cannot_run_is_said_with_exit_code_two(remem: CommandLine, words: Sequence[str], why: str) -> None:
    ran = remem("usage", *words)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err


def test_a_workspace_without_a_ledger_has_cost_nothing(remem: CommandLine) -> None:
    (remem.home / "empty").mkdir()
    ran = remem("usage", "empty", "--days", "1")
    assert ran.code == 0
    assert ran.out.endswith("empty: today, 0 scopes: nothing\n")
    assert list((remem.home / "empty").iterdir()) == []


def test_the_owners_dm_of_once_is_that_persons_own(remem: CommandLine) -> None:
    workspace, now = remem.home / "memory", datetime.now(UTC)

    async def life() -> None:
        async with stage(workspace, clock=ManualClock(now), owner=str(BEN.key)) as on:
            await _spend(on, (DirectScope(BEN.key, owner=True), REPLY, _run(100)))

    asyncio.run(life())
    assert "\ndm: answers 110" in remem("usage", workspace, REMEM_OWNER=BEN.key).out
    assert "\ndm of discord:2: answers 110" in remem("usage", workspace, REMEM_OWNER=ANA.key).out


def test_money_is_never_rounded_to_nothing() -> None:
    assert [dollars(micro) for micro in (0, 1, 50, 9_999, 10_000, 1_234_567_890)] == [
        "$0.00", "$0.000001", "$0.00005", "$0.009999", "$0.01", "$1,234.57"
    ]  # fmt: skip
    nothing_known = Spent(START.date(), REPLY, "a", 1, 1, input_tokens=1, unpriced_runs=1)
    assert usage_text([nothing_known]) == "answers 1 token in 1 run (price unknown)"
    assert usage_text([Spent(START.date(), REPLY, "a", 1, 1)]) == "answers 0 tokens in 1 run ($0.00)"
