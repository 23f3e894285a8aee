"""Saves that meet: commands in two conversations and the idle timer within one moment, and a second process.

Everything runs on one loop; which of them begins first, and how far it is when the next one begins, is drawn anew in
every round.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from adapters.messages import Happening, Outgoing
from memory_core.errors import WorkspaceHeld
from tests.scale import scale
from tests.scenarios.damage import contents, unlike
from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, Stage, channel, stage
from tests.scenarios.terminal import settings

pytestmark = pytest.mark.asyncio

BUILD = channel(10, "build")
THREADS = (replace(BUILD, thread="101"), replace(BUILD, thread="102"))
ROOMS = (BUILD, channel(11, "build-too"))
DECISION, LESSON = "decision: ", "The nightly job failed because of "


async def _share_one_name(on: Stage, workspace: Path) -> None:
    """The operator lets two rooms share a memory."""
    for spot in ROOMS:
        await on.hears(on.events.about_room(Happening.JOINED, spot, ANA))
    path = workspace / "memory/groups/group_names.json"
    names = json.loads(path.read_text("utf-8"))
    names["discord:11"]["name"] = names["discord:10"]["name"]
    path.write_text(json.dumps(names), "utf-8")
    await on.command(BUILD, ANA, "purpose We build things")


async def _round(on: Stage, places: tuple[Spot, Spot], number: int, random: Random) -> list[Outgoing]:
    """Both conversations have something new, fell silent, and are saved by two people and the timer at once."""
    one, other = places
    await on.hears(
        on.events.said(one, ANA, f"{DECISION}{unlike(2 * number)}"),
        on.events.said(other, BEN, f"{LESSON}{unlike(2 * number + 1)}; fixed by restarting it."),
    )
    on.clock.advance(1800)
    before = len(on.sent())

    async def soon(steps: int, what: str) -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        if what == "timer":
            await on.app.schedule.ring()
        else:
            spot, author = (one, ANA) if what == "one" else (other, BEN)
            await on.takes(on.events.command(spot, author, ""))

    order = random.sample(("one", "other", "timer"), 3)
    await asyncio.gather(*(soon(random.randrange(60), what) for what in order))
    await on.settled()
    return list(on.sent(before))


@pytest.mark.parametrize("kind", ["threads of one room", "rooms of one memory"])
async def test_case_88_and_93_commands_and_the_idle_timer_at_once_keep_every_entry_once(
    tmp_path: Path, kind: str
) -> None:
    rounds, random, places = scale(200), Random(88), THREADS if kind.startswith("threads") else ROOMS
    async with stage(tmp_path / "w") as on:
        if places is ROOMS:
            await _share_one_name(on, tmp_path / "w")
        else:
            await on.enter(BUILD)
        heard = set[str]()
        for number in range(rounds):
            said = [outgoing.text for outgoing in await _round(on, places, number, random)]
            heard.update(text.partition(" ")[0] for text in said)
            assert len(said) == 2, said
            for text in said:
                assert text.startswith(("Saved", "Nothing new", "A flush", "Nothing was")) or "already" in text
                assert "could not" not in text, text
        assert places is THREADS or "A" in heard, "where two rooms ask, they met"
        await on.command(places[0], ANA)
        titles = on.titles("build")
        for number in range(2 * rounds):
            assert sum(unlike(number)[:23] in title for title in titles) == 1, (number, unlike(number))
        assert len(titles) == 2 * rounds, "nothing besides, and nothing torn"
        state = on.state("build")
        assert rounds <= int(str(state["flush_number"])) <= 3 * rounds
        again = contents(tmp_path / "w")
        on.clock.advance(7200)
        await on.app.schedule.ring()
        assert contents(tmp_path / "w", ("*.md",)) == {
            name: text for name, text in again.items() if name[-3:] == ".md"
        }


async def test_what_is_said_while_a_save_runs_is_answered_and_belongs_to_the_next(tmp_path: Path) -> None:
    rounds, random = scale(100), Random(2)
    async with stage(tmp_path / "w") as on:
        await on.enter(BUILD)
        for number in range(rounds):
            await on.hears(on.events.said(BUILD, ANA, f"{LESSON}{unlike(2 * number)}; fixed by restarting it."))
            saving = asyncio.ensure_future(on.takes(on.events.command(BUILD, ANA, "")))
            for _ in range(random.randrange(80)):
                await asyncio.sleep(0)
            late = f"{LESSON}{unlike(2 * number + 1)}; fixed by restarting it."
            elsewhere = replace(BUILD, thread=str(1000 + number))
            assert (await on.says(elsewhere, BEN, late))[-1]
            await saving
            await on.settled()
        await on.command(BUILD, ANA)
        titles = on.titles("build")
        assert [sum(unlike(n)[:23] in title for title in titles) for n in range(2 * rounds)] == [1] * 2 * rounds


async def test_case_109_and_153_a_second_process_refuses_names_the_holder_and_changes_nothing(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with stage(workspace) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, f"{DECISION}{unlike(1)}")
        before = contents(workspace)
        second = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from bot.cli import main; main()",
            "chat",
            "--workspace",
            str(workspace),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "HOME": str(tmp_path)},
            cwd=tmp_path,
        )
        said, _ = await second.communicate()
        assert second.returncode == 1
        assert f"held by process {os.getpid()}" in said.decode()
        assert b"Traceback" not in said
        with pytest.raises(WorkspaceHeld):
            async with stage(workspace):
                pass
        assert contents(workspace) == before
        assert "Noted" in (await on.says(BUILD, BEN, f"{DECISION}{unlike(2)}"))[-1], "the first one goes on"
    async with stage(workspace) as on:
        assert len(on.titles("build")) == 2
    assert settings(workspace).workspace == workspace
