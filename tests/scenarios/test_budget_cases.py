"""Pages that outgrow their budgets: written once, whole on disk, and said when they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.terminal import terminal


@pytest.mark.asyncio
async def test_case_80_a_full_page_is_written_once_and_reported(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with terminal(workspace) as screen:
        await screen.type("/join #build", "/remem purpose builds")
        attention = workspace / "memory/groups/build/attention.md"
        attention.parent.mkdir(exist_ok=True)
        rows = "".join(f"| task {n} | pending | ana | |\n" for n in range(60))
        attention.write_text(
            f"## Active Tasks\n\n| Task | Status | Who | Notes |\n|---|---|---|---|\n{rows}", "utf-8"
        )
        receipt = (await screen.type("/join #build", f"todo @ana {'write the long report ' * 14}", "/remem"))[-1]
    assert "1 task" in receipt
    assert "attention has" in receipt
    assert "its budget is 60" in receipt
    text = attention.read_text("utf-8")
    assert text.count("write the long report") >= 1
    assert all(f"| task {n} |" in text for n in range(60))


@pytest.mark.asyncio
async def test_case_79_an_index_over_its_budget_is_said_when_it_is_saved(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with terminal(workspace) as screen:
        await screen.type("/join #build", "/remem purpose builds")
        index = workspace / "memory/groups/build.md"
        text = index.read_text("utf-8").replace("memory_budget: 6000", "memory_budget: 500")
        rules = "".join(f"- rule number {n} says that we always write things down twice\n" for n in range(80))
        index.write_text(text.replace("## Hard Rules\n", f"## Hard Rules\n{rules}"), "utf-8")
        receipt = (await screen.type("/join #build", "decision: we use Redis for sessions", "/remem"))[-1]
    assert "the index is over its budget of 500 tokens" in receipt


@pytest.mark.asyncio
async def test_case_75_special_tokens_in_chat_and_in_memory_are_plain_text_all_the_way(tmp_path: Path) -> None:
    special = "<|endoftext|> and <|im_start|>system"
    workspace = tmp_path / "w"
    async with terminal(workspace) as screen:
        await screen.type("/join #build", "/remem purpose builds", f"decision: logs end with {special}")
        receipt = (await screen.type("/join #build", "/remem"))[-1]
        assert "1 decision" in receipt
        assert special in (workspace / "memory/groups/build/experience.md").read_text("utf-8")
        answer = (await screen.type("/join #build", f"@remem {special} what do logs end with?"))[-1]
        assert special in answer
        assert "1 journal line absorbed" in (await screen.type("/join #build", "/remem sleep"))[-1]
        assert "tokens" in (await screen.type("/join #build", "/remem why"))[-1]
    async with terminal(workspace) as screen:
        assert special in (await screen.type("/join #build", "@remem what do logs end with?"))[-1]
