"""A DM's disclosure: three layers, and what goes first when they are too much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory_core.clock import ManualClock
from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.loading import disclose
from memory_core.session import Session
from tests.memory_core.loading_parts import (
    ANA,
    ATTENTION,
    DIRECT_INDEX,
    EXPERIENCE,
    OWNER,
    Workspace,
    pages,
    shown,
)

LINES = 40


def _journal(day: str, lines: int) -> str:
    said = "\n".join(f"- line {n} of {day} {'word ' * 8}(@ana, 14:{n:02}) <!-- k -->" for n in range(lines))
    return f"# {day} (+00:00)\n\n## 14:30 Notes\n\n### Decisions\n\n{said}\n"


def direct(budget_tokens: int = 8000, memory_lines: int = 3) -> Workspace:
    """The owner's DM with every layer filled."""
    return Workspace().put(
        OWNER,
        {
            "soul": "I am remem.\n",
            "user": "# User\n\nSpeaks German.\n",
            "memory": "# Memory\n\n" + "\n".join(f"- lean fact {n} about things" for n in range(memory_lines)),
            "index": DIRECT_INDEX.replace("---\n\n# build", f"memory_budget: {budget_tokens}\n---\n\n# build"),
            "attention": ATTENTION,
            "longterm": EXPERIENCE,
            "projects/atlas": "# Atlas\n\nMaps.\n",
            "journal/2026-04-06": _journal("2026-04-06", LINES),
            "journal/2026-04-05": _journal("2026-04-05", LINES),
        },
    )


LAYER_0 = ["soul", "user", "memory", "index"]
TODAY, YESTERDAY = "journal/2026-04-06", "journal/2026-04-05"


@pytest.mark.asyncio
async def test_the_three_layers_in_their_order() -> None:
    disclosure = await direct().ask(OWNER, "What is the background of the Redis decision?")
    assert pages(disclosure) == [*LAYER_0, "attention", "longterm", TODAY, YESTERDAY]
    steps: dict[str, Step] = {part.page: part.step for part in disclosure.loaded}
    assert [steps[page] for page in LAYER_0] == [Step.LAYER_0] * 4
    assert (steps["attention"], steps["longterm"]) == (Step.LAYER_1, Step.LAYER_1)
    assert (steps[TODAY], steps[YESTERDAY]) == (Step.LAYER_2, Step.LAYER_2)
    assert "<!--" not in shown(disclosure).replace("<!-- remem", "")
    assert not disclosure.breaker


@pytest.mark.asyncio
async def test_a_greeting_gets_every_layer_but_no_routed_page() -> None:
    workspace = direct()
    disclosure = await workspace.ask(OWNER, "good morning!")
    assert pages(disclosure) == [*LAYER_0, "attention", TODAY, YESTERDAY]
    session = Session().with_(disclosure)
    assert pages(await workspace.ask(OWNER, "What about atlas?", session)) == ["projects/atlas"]


@pytest.mark.asyncio
async def test_attention_and_one_routed_page_are_the_ceiling_of_p0_to_p2() -> None:
    workspace = direct()
    session = Session().with_(await workspace.ask(OWNER, "What is the background of the Redis decision?"))
    later = await workspace.ask(OWNER, "What happened yesterday, and last week?", session)
    assert all(part.step is Step.SEARCH for part in later.loaded)
    session = session.with_(later)
    assert pages(await workspace.ask(OWNER, "And atlas?", session)) == ["projects/atlas"]


async def _with_budget(tokens: int, memory_lines: int = 3) -> Disclosure:
    return await direct(tokens, memory_lines).ask(OWNER, "What is the background of the Redis decision?")


@pytest.mark.asyncio
async def test_over_the_budget_yesterday_goes_first_then_todays_oldest_lines_then_the_weakest_records() -> None:
    full = await _with_budget(8000)
    total = full.spent_tokens
    seen: list[tuple[bool, int, int]] = []
    for tokens in range(total + 20, 500, -25):
        disclosure = await _with_budget(tokens)
        assert disclosure.spent_tokens <= max(tokens, 500)
        assert [page for page in LAYER_0 if page not in pages(disclosure)] == []
        text = shown(disclosure)
        today = sum(f"line {n} of 2026-04-06" in text for n in range(LINES))
        records = sum(word in text for word in ("Redis over", "weekends", "GPU driver"))
        seen.append((YESTERDAY in pages(disclosure), today, records))
        if 0 < today < LINES:
            assert f"line {LINES - 1} of 2026-04-06" in text
            assert "line 0 of 2026-04-06" not in text
        if records:
            assert "Redis over" in text
    assert seen == sorted(seen, reverse=True)
    assert seen[0] == (True, LINES, 3)
    assert {yesterday for yesterday, today, _ in seen if today < LINES} == {False}
    assert {today for _, today, records in seen if records < 3} <= {0, 1}


@pytest.mark.asyncio
async def test_memory_md_is_cut_last_and_leaves_the_index_its_rules() -> None:
    disclosure = await _with_budget(500, memory_lines=60)
    parts: dict[str, Loaded] = {part.page: part for part in disclosure.loaded}
    assert set(parts) == {"memory", "index"}
    assert "Answer in English" in parts["index"].text
    assert parts["memory"].cut
    assert disclosure.breaker
    assert disclosure.spent_tokens <= 500
    named = {left.page for left in disclosure.left_out}
    assert named >= {"soul", "user", "memory", "attention", "longterm", TODAY, YESTERDAY}


@pytest.mark.asyncio
async def test_case_73_today_is_the_day_in_the_scopes_zone() -> None:
    workspace = direct()
    shanghai = DIRECT_INDEX.replace("---\n\n# build", "timezone: Asia/Shanghai\n---\n\n# build")
    workspace.put(OWNER, {"index": shanghai, "journal/2026-04-07": _journal("2026-04-07", 1)})
    workspace.clock = ManualClock(datetime(2026, 4, 6, 15, 59, 50, tzinfo=UTC))
    assert pages(await workspace.ask(OWNER, "hi"))[-2:] == [TODAY, YESTERDAY]
    workspace.clock.move_to(workspace.clock.at + timedelta(seconds=30))
    assert pages(await workspace.ask(OWNER, "hi"))[-2:] == ["journal/2026-04-07", TODAY]
    workspace.put(OWNER, {"index": DIRECT_INDEX})
    assert pages(await workspace.ask(OWNER, "hi"))[-2:] == [TODAY, YESTERDAY]
    workspace.zone = ZoneInfo("Asia/Shanghai")
    assert pages(await workspace.ask(OWNER, "hi"))[-2:] == ["journal/2026-04-07", TODAY]


@pytest.mark.asyncio
async def test_the_trail_names_the_scope_and_another_persons_dm_is_its_own() -> None:
    workspace = direct()
    disclosure = await disclose(workspace.handle(OWNER), Session(), "hi", title="DM")
    assert disclosure.trail[0] == (Step.NAME, "DM: direct:console:me")
    assert not (await workspace.ask(ANA, "any news from the team?")).indexed
    assert workspace.read_by(ANA) == ["index"]
