"""Old questions to the bot come with an import and are no memories: search passes them over, as those asked live."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.import_command import imported, open_history
from memory_core.clock import ManualClock
from memory_core.ids import GroupScope
from tests.adapters.test_addressed_past import discord_file, slack_file
from tests.memory_core.search.kit import searched
from tests.scenarios.import_checks import TODAY, ask
from tests.scenarios.stage import stage
from tests.scenarios.terminal import settings

_SAID = "SELECT t.text, m.addressed, m.owed, m.voice FROM messages m JOIN texts t ON t.id = m.text_id ORDER BY seq"


def _bring(kind: str, tmp_path: Path, bot: str = "") -> Path:
    path = slack_file(tmp_path / "acme.zip") if kind == "slack" else discord_file(tmp_path / "acme")
    workspace = tmp_path / "memory"
    made = settings(workspace, raw_days="never")
    asyncio.run(imported(open_history(path, bot), made, ("build",), clock=ManualClock(TODAY)))
    return workspace


@pytest.mark.parametrize("kind", ["slack", "discord"])
def test_a_question_to_the_bot_is_marked_owes_nothing_and_is_found_by_no_search(kind: str, tmp_path: Path) -> None:
    workspace = _bring(kind, tmp_path)
    rows = {str(text): (addressed, owed, voice) for text, addressed, owed, voice in ask(workspace, _SAID)}
    assert rows["what do we use for sessions?"] == (1, 0, "person")
    assert rows["I do not know that yet."] == (0, 0, "self")
    assert rows["good morning"] == (0, 0, "person")
    assert sum(bool(addressed) for addressed, _, _ in rows.values()) == 5

    async def found() -> list[str]:
        async with stage(workspace, clock=ManualClock(TODAY)) as on:
            handle = on.app.parts.handles.open(GroupScope("build"))
            return [
                hit.placed.unit.body for hit in await searched(handle, "sessions queues retry three times morning")
            ]

    bodies = asyncio.run(found())
    assert "good morning" in bodies
    assert "how often do we retry?" in bodies  # people asked each other that
    assert not {"what do we use for sessions?", "and for queues?", "is it three times?"} & set(bodies)
    assert "I do not know that yet." not in bodies


def test_the_command_takes_the_name(tmp_path: Path) -> None:
    workspace = _bring("slack", tmp_path, "ci-bot")
    rows = {str(text): addressed for text, addressed, _, _ in ask(workspace, _SAID)}
    assert [text for text, addressed in rows.items() if addressed] == ["what did @ci-bot (U8) say?"]
