"""`/remem undo` of what was written when it was said, through the whole program: newest first, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, Stage, channel, direct, pages, stage
from tests.scenarios.terminal import terminal

BUILD, THREAD = channel(1, "build"), channel(1, "build", "77")
DM = direct(9, ANA)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "said",
    [
        "remember: the staging server is in Frankfurt",
        "we decided to use Valkey for the session cache",
        "决定：缓存用 Valkey",
        "TODO: @ben renew the certificate of the shop",
        "记住：测试服务器在法兰克福",
        "Entscheidung: wir nehmen Valkey für den Cache",
    ],
)
@pytest.mark.parametrize("spot", [BUILD, THREAD, DM])
async def test_what_was_written_when_it_was_said_is_taken_back(tmp_path: Path, said: str, spot: Spot) -> None:
    async with stage(tmp_path) as on:
        if spot is not DM:
            await on.enter(BUILD)
        await on.says(spot, ANA, "we decided to keep PostgreSQL for the orders")
        before = pages(tmp_path)
        (told,) = await on.says(spot, ANA, said)
        assert "Noted" in told
        assert pages(tmp_path) != before
        answer = await on.command(spot, ANA, "undo")
        assert answer.startswith("Taken back: what was noted last, the "), answer
        assert pages(tmp_path) == before
        await on.says(spot, ANA, "what about the weather?")
        receipt = await on.command(spot, ANA)
        assert "Saved (no. 1): 1 decision " in receipt, receipt  # what was taken back is not saved after all
        left = "".join(page.decode() for page in pages(tmp_path).values())
        assert all(word not in left for word in ("Valkey", "Frankfurt", "certificate", "法兰克福"))


@pytest.mark.asyncio
async def test_each_undo_takes_back_one_thing_and_a_save_stands_between_them(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        start = pages(tmp_path)
        await on.says(BUILD, ANA, "Decision: Redis for the session cache")
        first = pages(tmp_path)
        await on.command(BUILD, BEN, "note lesson: the queue stalled, because the disk was full; a quota fixed it")
        second = pages(tmp_path)
        assert "Saved (no. 1): 1 decision, 1 lesson" in await on.command(BUILD, ANA)
        saved = pages(tmp_path)
        await on.says(THREAD, ANA, "Decision: Kafka for the events")
        await on.command(BUILD, ANA, "correct session cache => Valkey for the session cache")
        assert "the last correction" in await on.command(BUILD, ANA, "undo")
        assert "Kafka for the events" in await on.command(BUILD, ANA, "undo")
        assert pages(tmp_path) == saved
        save = await on.command(BUILD, ANA, "undo")
        assert save.startswith("Taken back: flush no. 1. "), "what stays is not told as taken back"
        assert "stays where it was noted. Another `/remem undo` takes back the newest of it." in save
        assert pages(tmp_path) == second
        assert "the lesson “the queue stalled" in await on.command(BUILD, ANA, "undo")
        assert pages(tmp_path) == first
        assert "the decision “Redis for the session cache”" in await on.command(BUILD, ANA, "undo")
        assert pages(tmp_path) == start
        assert "nothing to undo" in await on.command(BUILD, ANA, "undo")
        assert "Saved" not in await on.command(BUILD, ANA)
        assert on.titles("build") == []


@pytest.mark.asyncio
async def test_what_was_taken_back_stays_so_after_a_restart_and_said_again_it_is_new(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "Decision: Redis for the session cache")
        await on.command(BUILD, ANA, "undo")
        events, clock = on.events, on.clock
    async with stage(tmp_path, events=events, clock=clock) as on:
        assert "nothing to undo" in await on.command(BUILD, ANA, "undo")
        await on.says(BUILD, BEN, "Decision: Redis for the session cache")
        assert on.titles("build") == ["Redis for the session cache"]
        assert "1 decision" in await on.command(BUILD, ANA)
        record = on.page("build/experience.md")
        assert "@ben" in record
        assert "@ana" not in record


@pytest.mark.asyncio
async def test_what_takes_the_place_of_another_gives_it_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "Decision: we use Redis for the session cache")
        await on.command(BUILD, ANA)
        before = pages(tmp_path)
        await on.says(BUILD, ANA, "Decision: we no longer use Redis for the session cache")
        assert pages(tmp_path) != before
        await on.command(BUILD, ANA, "undo")
        assert pages(tmp_path) == before


@pytest.mark.asyncio
async def test_a_task_that_was_done_is_open_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "TODO: @ben renew the certificate of the shop")
        before = pages(tmp_path)
        (told,) = await on.says(BUILD, ANA, "the certificate of the shop is done")
        assert "Noted" in told
        assert "is done" in await on.command(BUILD, ANA, "undo")
        assert pages(tmp_path) == before
        tasks = json.loads(on.page("build/pending_tasks.json"))["tasks"]
        assert [task["status"] for task in tasks] == ["pending"]


@pytest.mark.asyncio
async def test_what_a_hand_changed_since_stays_and_is_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "Decision: Redis for the session cache")
        page = tmp_path / "memory/groups/build/experience.md"
        page.write_text(page.read_text().replace("Body: Redis", "Body: surely Redis"))
        said = await on.command(BUILD, ANA, "undo")
        assert said.startswith("Not taken back: the decision"), said
        assert "surely Redis" in page.read_text()
        page.write_text("# Experience\n\nBy hand, before.\n" + page.read_text())
        await on.says(BUILD, ANA, "Decision: Kafka for the events")
        await on.command(BUILD, ANA, "undo")
        assert "Kafka" not in page.read_text()
        assert "By hand, before." in page.read_text()


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
async def test_in_every_layout(tmp_path: Path, layout: str) -> None:
    async with stage(tmp_path, layout=layout) as on:
        await on.enter(BUILD)
        for spot in (BUILD, DM):
            await on.says(spot, ANA, "we decided to keep PostgreSQL for the orders")
            before = pages(tmp_path)
            await on.says(spot, ANA, "we decided to use Valkey for the session cache")
            assert "Valkey" in await on.command(spot, ANA, "undo")
            assert pages(tmp_path) == before
            await on.says(spot, ANA, "good morning")
            await on.command(spot, ANA)
            assert "Valkey" not in "".join(page.decode() for page in pages(tmp_path).values())


@pytest.mark.asyncio
async def test_a_repeat_goes_with_what_it_repeats(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        before = pages(tmp_path)
        await on.says(BUILD, ANA, "Decision: Redis for the session cache")
        await on.says(BUILD, BEN, "Decision: Redis for the session cache")
        await on.command(BUILD, ANA, "undo")
        assert pages(tmp_path) == before


@pytest.mark.asyncio
async def test_the_console_of_the_owner(tmp_path: Path) -> None:
    async with terminal(tmp_path) as at:
        await at.type("remember: the boiler is serviced in May")
        said = await at.type("/remem undo")
        assert "Taken back: what was noted last" in said[-1], said
        assert "boiler" not in "".join(page.decode() for page in pages(tmp_path).values())
        said = await at.type("/remem")
        assert "Nothing new" in said[-1], said


async def _two_rooms(on: Stage) -> None:
    for spot in (BUILD, channel(2, "ops")):
        await on.enter(spot)
        await on.says(spot, ANA, "Decision: Redis for the session cache")


@pytest.mark.asyncio
async def test_another_group_keeps_its_own(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _two_rooms(on)
        await on.command(BUILD, ANA, "undo")
        assert (on.titles("build"), on.titles("ops")) == ([], ["Redis for the session cache"])


@pytest.mark.asyncio
async def test_a_note_names_who_gave_it_and_where(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.command(BUILD, BEN, "note decision: Redis for the session cache")
        await on.command(DM, ANA, "note decision: Redis for the session cache")
        assert "- Source: @ben (discord:2) in #build, 2026-04-06 12:00, " in on.page("build/experience.md")
        own = (tmp_path / "people/discord-1/memory/main/longterm.md").read_text()
        assert "- Source: @ana (discord:1) in DM, 2026-04-06 12:00, " in own
