"""A fault that nobody foresaw costs one sentence: no silence, no traceback, and the next message is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent import Ask, Doors, Reply, Show
from bot.wording import UNFORESEEN
from tests.scenarios.terminal import terminal


class Stumbling:
    """An agent with a bug: it fails at its first question."""

    def __init__(self) -> None:
        self._asked = 0

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        self._asked += 1
        if self._asked == 1:
            raise ZeroDivisionError("a bug")
        return Reply("fine now")


@pytest.mark.asyncio
async def test_case_29_a_fault_nobody_foresaw_is_told_and_the_next_message_served(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w", agent=Stumbling()) as screen:
        said = await screen.type("how are things?", "and now?")
    assert UNFORESEEN in said[0]
    assert "ZeroDivisionError" not in "".join(said)
    assert "fine now" in said[1]
