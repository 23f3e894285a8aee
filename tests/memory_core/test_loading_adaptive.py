"""Adaptive: everything it has is there from the start, MEMORY.md with its share of the budget; the rest is search."""

from __future__ import annotations

from datetime import date

import pytest

from memory_core.disclosure import Step
from memory_core.index import new_index, with_front
from memory_core.layouts import ADAPTIVE, TASKS
from memory_core.loading import Mode
from memory_core.session import Session
from tests.memory_core.loading_parts import BUILD, OWNER, Workspace, pages, record, shown

DAY = date(2026, 4, 6)
TODAY, YESTERDAY = "journal/2026-04-06", "journal/2026-04-05"


def _sections(number: int) -> str:
    parts = []
    for section in ("Systems Built", "Lessons Learned", "Key Decisions", "Environment"):
        entries = [
            record(f"2026-03-{n + 1:02}", f"{section} {n}", f"{section} number {n} " + "word " * 30).replace(
                "## ", "### "
            )
            for n in range(number)
        ]
        parts.append(f"## {section}\n\n" + "\n".join(entries))
    return "# Memory\n\n" + "\n".join(parts)


def _day(day: str, lines: int) -> str:
    said = "\n".join(f"- line {n} of {day} {'word ' * 12}(@ana, 14:02)" for n in range(lines))
    return f"# {day}\n\n## 14:30 Notes\n\n### Learned\n\n{said}\n"


def direct(*, lines: int = 3, entries: int = 2, budget_tokens: int = 8000) -> Workspace:
    """The owner's DM with everything in it."""
    index = new_index(ADAPTIVE.direct, name="main", rooms=[], purpose="", created=DAY, zone="")
    return Workspace(layout=ADAPTIVE).put(
        OWNER,
        {
            "index": with_front(index, "memory_budget", str(budget_tokens)),
            "active_context": "# Active Context\n\n## In Progress\n\n- **Move the runner**: @ana\n",
            "memory": _sections(entries),
            TODAY: _day("2026-04-06", lines),
            YESTERDAY: _day("2026-04-05", lines),
            TASKS: '{"tasks": [{"title": "renew the certificate", "due": "2026-04-01"}]}',
        },
    )


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", list(Mode))
async def test_the_start_of_a_dm_in_its_order(mode: Mode) -> None:
    disclosure = await direct().ask(OWNER, "good morning!", mode=mode)
    assert pages(disclosure) == ["index", "active_context", TODAY, YESTERDAY, "memory", "state/tasks"]
    steps = [part.step for part in disclosure.loaded]
    assert steps == [Step.LAYER_0, Step.LAYER_1, Step.LAYER_2, Step.LAYER_2, Step.LAYER_1, Step.TASKS]
    assert "overdue since 2026-04-01" in shown(disclosure)
    assert not disclosure.breaker


@pytest.mark.asyncio
async def test_full_days_leave_memory_md_half_of_the_budget_and_what_fits_the_question_is_kept() -> None:
    disclosure = await direct(lines=200, entries=20).ask(OWNER, "what about Key Decisions number 3?")
    tokens: dict[str, int] = {part.page: part.tokens for part in disclosure.loaded}
    assert disclosure.spent_tokens <= 8000
    assert 3500 <= tokens["memory"] <= 4200
    assert tokens[TODAY] > 2000
    assert YESTERDAY not in tokens
    assert {"active_context", "state/tasks"} <= set(tokens)
    assert "Key Decisions number 3 " in shown(disclosure)
    assert "line 199 of 2026-04-06" in shown(disclosure)
    assert {"memory", TODAY, YESTERDAY} <= {left.page for left in disclosure.left_out}
    assert disclosure.breaker


@pytest.mark.asyncio
async def test_a_short_memory_md_takes_no_more_than_it_needs() -> None:
    disclosure = await direct(lines=400, entries=1).ask(OWNER, "hi")
    tokens: dict[str, int] = {part.page: part.tokens for part in disclosure.loaded}
    assert tokens["memory"] < 500
    assert disclosure.spent_tokens > 7500
    assert not next(part for part in disclosure.loaded if part.page == "memory").cut


@pytest.mark.asyncio
async def test_an_empty_page_is_named_once() -> None:
    workspace = direct()
    workspace.put(OWNER, {"memory": "# Memory\n"})
    disclosure = await workspace.ask(OWNER, "what did I decide, and why?")
    assert [left.page for left in disclosure.left_out] == ["memory"]


@pytest.mark.asyncio
async def test_a_groups_page_is_always_there_and_older_things_are_found_by_search() -> None:
    index = new_index(ADAPTIVE.group, name="build", rooms=[], purpose="", created=DAY, zone="")
    workspace = Workspace(layout=ADAPTIVE).put(
        BUILD,
        {
            "index": index,
            "channel_context": "# build\n\n## Current Topics\n\n- Python\n\n## Unresolved\n\n- the licence\n",
            "journal/2026-04-01": "# 2026-04-01\n\n- the walrus crate leaked file handles (@ana, 14:02)\n",
            TASKS: '{"tasks": [{"title": "renew the certificate"}]}',
        },
    )
    greeting = await workspace.ask(BUILD, "hello!")
    assert pages(greeting) == ["index", "channel_context", "state/tasks"]
    question = "what about the walrus crate and its handles?"
    first = await workspace.ask(BUILD, question)
    assert pages(first) == ["index", "channel_context", "journal/2026-04-01", "state/tasks"]
    later = await workspace.ask(BUILD, question, Session().with_(greeting))
    assert pages(later) == ["journal/2026-04-01"]
    asked = await workspace.ask(BUILD, "what is unresolved?")
    assert pages(asked) == ["index", "channel_context", "state/tasks"]  # once, though the message routes to it too
    assert next(part for part in asked.loaded if part.page == "channel_context").matched
