"""An answer that is written bit by bit, and a program that is stopped or killed in its middle."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adapters.messages import Outgoing, Sent
from bot.wording import INTERRUPTED
from tests.scenarios.growing_talk import Platform, Talk, rows, talk
from tests.scenarios.writing import until

pytestmark = pytest.mark.asyncio


async def test_sigterm_ends_what_stands_with_a_note_and_answers_the_rest_after_the_start(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace) as on:
        await on.begins()
        await on.shows("The first words ")
        platform = on.platform
        later = await on.asks("and then?")
    assert platform.revised[-1].text == f"The first words\n\n{INTERRUPTED}"
    platform.revised.clear()
    platform.sent.clear()
    async with talk(workspace, platform) as on:
        await on.settled()
        assert [one.text for one in platform.sent] == ["to: and then?"]
        assert platform.sent[0].reply_to == later.message
        assert platform.revised == []
        assert on.transcript()[-2:] == [f"The first words\n\n{INTERRUPTED}", "to: and then?"]
        assert on.writer.questions == ["and then?"]


async def test_sigterm_while_the_first_words_are_being_posted(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace) as on:
        await on.begins()
        platform = on.platform
        platform.open.clear()
        await on.writer.writes("The first words ")
        await until(lambda: platform.sent, "the first words")
        asyncio.get_running_loop().call_later(0.2, platform.open.set)
    assert platform.revised[-1].text == f"The first words\n\n{INTERRUPTED}"


async def _killed(on: Talk, to: Path) -> Platform:
    """A copy of the workspace as a kill leaves it, and a platform on which stands what stands now."""
    await asyncio.to_thread(shutil.copytree, on.platform.workspace, to)
    left = Platform(to)
    left.stands = dict(on.platform.stands)
    return left


async def test_after_a_kill_the_next_start_puts_the_note_under_what_stands(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("The first words ")
        await until(lambda: "first words" in str(_about(on)), "the timer")
        (key,) = on.platform.last.values()
        left = await _killed(on, tmp_path / "killed")
        await on.writer.ends("all")
    for _ in range(2):
        async with talk(tmp_path / "killed", left) as on:
            await on.settled()
            assert [one.text for one in left.revised] == [f"The first words\n\n{INTERRUPTED}"]
            assert left.stands[key] == f"The first words\n\n{INTERRUPTED}"
            assert left.sent == []
            assert on.transcript()[-1] == left.stands[key]
            assert (on.owed(), on.timers(), on.writer.questions) == (0, 0, [])


def _about(on: Talk) -> list[tuple[int, ...]]:
    return rows(on.platform.workspace, "SELECT about FROM timers WHERE key GLOB 'writing:*'")


async def test_after_a_kill_while_the_first_words_were_posted_a_line_says_so(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        said = await on.begins()
        on.platform.open.clear()
        await on.writer.writes("The first words ")
        await until(lambda: on.platform.sent, "the first words")
        left = await _killed(on, tmp_path / "killed")
        on.platform.open.set()
        await on.writer.ends("all")
    async with talk(tmp_path / "killed", left) as on:
        await on.settled()
        (line,) = left.sent
        assert "interrupted" in line.text
        assert line.reply_to == said.message
        assert (on.owed(), on.timers(), on.writer.questions) == (0, 0, [])


async def test_after_a_kill_in_the_last_revision_the_whole_answer_stands(tmp_path: Path) -> None:
    class Slow(Platform):
        async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
            await self.open.wait()
            return await super().revise(sent, outgoing)

    workspace = tmp_path / "w"
    async with talk(workspace) as first:
        pass
    async with talk(workspace, Slow(workspace)) as on:
        await on.begins()
        await on.shows("The first words ")
        on.platform.open.clear()
        await on.writer.ends("The first words and the last.")
        await until(lambda: "and the last" in str(_about(on)), "the timer")
        left = await _killed(on, tmp_path / "killed")
        on.platform.open.set()
        await on.settled()
    async with talk(tmp_path / "killed", left) as on:
        await on.settled()
        assert [one.text for one in left.revised] == ["The first words and the last."]
        assert on.transcript()[-1] == "The first words and the last."
    assert first.app is not on.app


async def test_after_a_kill_between_the_note_and_the_claim_the_question_is_answered(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("The first words ")
        left = await _killed(on, tmp_path / "killed")
        await on.writer.ends("all")
    with closing(sqlite3.connect(tmp_path / "killed/.remem/ledger.db")) as ledger:
        ledger.execute("UPDATE messages SET owed = 1 WHERE seq = (SELECT max(seq) FROM messages)")
        ledger.commit()
    async with talk(tmp_path / "killed", left) as on:
        await on.writer.asked()
        await on.writer.ends("The answer.")
        await on.settled()
        assert [one.text for one in left.sent] == ["The answer."]
        assert left.revised == []
        assert on.timers() == 0
