"""docs/tutorial/first-chat.md, typed as it stands there, in every layout: it says what it says, where it says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory_core.layouts import LAYOUTS
from tests.scenarios.terminal import terminal

TUTORIAL = (Path(__file__).parents[2] / "docs/tutorial/first-chat.md").read_text("utf-8")


def _typed() -> list[tuple[str, str]]:
    """The lines that the tutorial has typed: the prompt before each, and the line."""
    return re.findall(r"^    (\w+(?:@#\w+)?)> (.+)$", TUTORIAL, re.MULTILINE)


def _column(layout: str) -> list[str]:
    """What the table of the tutorial says of that layout, row by row."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in TUTORIAL.splitlines() if line[:1] == "|"
    ]
    head, _, *others = rows
    return [row[head.index(f"`{layout}`")] for row in others]


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS)
async def test_the_first_chat_does_what_the_tutorial_says(tmp_path: Path, layout: str) -> None:
    workspace, typed = tmp_path / "w", [line for _, line in _typed()]
    again = typed.index("/join #build", typed.index("/join #build") + 1)
    async with terminal(workspace, layout=layout) as screen:
        said = await screen.type(*typed[:again])
        assert "db2, port 5433 (@me" in said[1]
        assert any("We decided to use Redis" in one and "@ana in #build" in one for one in said)
    async with terminal(workspace, layout=layout) as screen:
        said = await screen.type(*typed[again:])
        assert "We decided to use Redis" in said[0], "it still knows"
        assert typed[-3:] == ["/as me", "/dm", "where is the staging database?"]
        assert "db2, port 5433 (@me" in said[-1], "and is in one's own DM again"
        decided, show, remembered = _column(layout)
        (shown,) = await screen.type("/join #build", f"/remem {show.strip('`')}")
        assert "We decided to use Redis" in shown
    (file,) = re.findall(r"`(.+?)`", decided)
    assert "We decided to use Redis" in (workspace / file).read_text("utf-8")
    (file,) = re.findall(r"`(.+?)`", remembered)
    assert "5433" in (workspace / file.replace("YYYY-MM-DD", "2026-04-06")).read_text("utf-8")
