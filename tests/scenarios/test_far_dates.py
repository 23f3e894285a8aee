"""A day by which something is due is kept as it was said, however far, and nothing stumbles over it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from memory_core.extract.dates import due_in
from tests.scenarios.stage import ANA, channel, stage

BUILD = channel(1, "build")
FAR = ("2199-01-01", "2200-01-01", "9999-12-31", "0001-01-01")
WHAT = ("renews the certificate", "cancels the lease of the office", "deletes the archive", "pays the old invoice")


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
async def test_far_days_are_kept_shown_and_taken_back_like_near_ones(tmp_path: Path, layout: str) -> None:
    async with stage(tmp_path, layout=layout) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "we decided to keep PostgreSQL for the orders")
        told = [f"TODO: @ben {what} by {day}" for what, day in zip(WHAT, FAR, strict=True)]
        (answer,) = await on.says(BUILD, ANA, "\n".join(told))
        assert answer.count("Noted as a task") == len(FAR), answer
        assert sorted(task["due"] for task in json.loads(on.page("build/pending_tasks.json"))["tasks"]) == sorted(FAR)
        assert "Saved (no. 1)" in await on.command(BUILD, ANA)
        assert "overdue since 0001-01-01" in await on.command(BUILD, ANA, "status")
        (answer,) = await on.says(BUILD, ANA, "what are our tasks?")
        assert "went wrong" not in answer
        assert "went wrong" not in await on.command(BUILD, ANA, "sleep")
        for _ in range(3):
            taken = await on.command(BUILD, ANA, "undo")
            assert "Taken back" in taken, taken
            if "noted last" in taken:
                break
        assert json.loads(on.page("build/pending_tasks.json") or '{"tasks": []}')["tasks"] == []


@pytest.mark.parametrize("day", [date(2026, 4, 6), date.max, date.min])
def test_no_day_of_the_calendar_is_too_far_to_be_reckoned_from(day: date) -> None:
    for text in (
        "by Friday",
        "next Friday",
        "in 999 days",
        "end of month",
        "by the 31st",
        "12 June",
        "下周五",
        "本周一",
    ):
        due_in(text, day)
