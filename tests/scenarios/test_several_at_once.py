"""Several things that cannot wait, in one message, through the whole program: each is written before we say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, Stage, channel, direct, pages, stage

pytestmark = pytest.mark.asyncio

BUILD = channel(1, "build")
DM = direct(9, ANA)
SAID = (
    "Decision: Redis for the session cache.\nTODO: @ben renews the certificate\nDecision: Kafka for the event stream"
)


def _tasks(on: Stage) -> list[str]:
    return [task["title"] for task in json.loads(on.page("build/pending_tasks.json"))["tasks"]]


def _titles(on: Stage) -> list[str]:
    return sorted(on.titles("build"))


@pytest.mark.parametrize("addressed", [False, True])
async def test_each_is_on_its_page_before_the_answer_and_saved_once(tmp_path: Path, addressed: bool) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        answers = await on.says(BUILD, ANA, SAID, addressed=addressed)
        assert _titles(on) == ["Kafka for the event stream", "Redis for the session cache"]
        assert _tasks(on) == ["renews the certificate"]
        if addressed:
            assert "Noted as a decision in experience: Redis for the session cache" in answers[0]
            assert "Noted as a task in attention: renews the certificate" in answers[0]
            assert "Noted as a decision in experience: Kafka for the event stream" in answers[0]
        receipt = await on.command(BUILD, ANA)
        assert "Saved (no. 1): 2 decisions, 1 task" in receipt, receipt
        assert _titles(on) == ["Kafka for the event stream", "Redis for the session cache"]
        assert _tasks(on) == ["renews the certificate"]
        assert on.page("build/experience.md").count("hit_count=0") == 2
        assert "Nothing new" in await on.command(BUILD, ANA)


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("spot", [BUILD, DM])
async def test_one_undo_takes_all_of_it_back_and_says_so(tmp_path: Path, spot: Spot, saved: bool) -> None:
    async with stage(tmp_path) as on:
        if spot is not DM:
            await on.enter(BUILD)
        await on.says(spot, ANA, "we decided to keep PostgreSQL for the orders")
        before = pages(tmp_path)
        await on.says(spot, ANA, SAID)
        if saved:
            await on.command(spot, ANA)
            await on.command(spot, ANA, "undo")
        answer = await on.command(spot, ANA, "undo")
        assert answer.startswith(
            "Taken back: what was noted last, the decision “Redis for the session cache” and the"
        )
        assert "task “renews the certificate” and the decision “Kafka for the event stream”." in answer
        assert pages(tmp_path) == before
        await on.says(spot, ANA, "what about the weather?")
        await on.command(spot, ANA)
        left = "".join(page.decode() for page in pages(tmp_path).values())
        assert all(word not in left for word in ("Redis", "certificate", "Kafka"))


async def test_a_restart_before_the_save_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, SAID)
        events, clock = on.events, on.clock
    async with stage(tmp_path, events=events, clock=clock) as on:
        assert "Saved (no. 1): 2 decisions, 1 task" in await on.command(BUILD, ANA)
        assert _titles(on) == ["Kafka for the event stream", "Redis for the session cache"]


@pytest.mark.parametrize("saved", [False, True])
async def test_an_edit_and_a_deletion_on_the_platform(tmp_path: Path, saved: bool) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        said = on.events.said(BUILD, ANA, SAID)
        gone = on.events.said(BUILD, BEN, "Decision: Go for the importer\nDecision: Terraform for the machines")
        for event in (said, gone):
            await on.hears(event)
        if saved:
            await on.command(BUILD, ANA)
        await on.hears(on.events.edited(said, SAID.replace("Kafka", "Pulsar")))
        await on.hears(on.events.deleted(gone, BEN))
        await on.command(BUILD, ANA)
        assert _titles(on) == ["Pulsar for the event stream", "Redis for the session cache"]
        assert _tasks(on) == ["renews the certificate"]
        left = "".join(page.decode() for page in pages(tmp_path).values())
        assert all(word not in left for word in ("Kafka", "Terraform", "Go for"))


async def test_of_a_message_that_takes_one_of_them_back_the_others_stay(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "Decision: Redis for the session cache.\nDecision: Kafka for the event stream")
        await on.says(BUILD, ANA, "scratch that, no Kafka for the event stream")
        receipt = await on.command(BUILD, ANA)
        assert "1 decision" in receipt, receipt
        assert _titles(on) == ["Redis for the session cache"]


async def test_a_message_that_corrects_itself_keeps_what_it_says_last(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        text = "Decision: we run 3 replicas of the cache. Decision: we run 4 replicas of the cache"
        await on.says(BUILD, ANA, text)
        for _ in range(2):
            assert _titles(on) == ["we run 4 replicas of the cache"]
            await on.command(BUILD, ANA)


async def test_what_a_layout_keeps_not_is_said_and_the_rest_is_noted(tmp_path: Path) -> None:
    async with stage(tmp_path, layout="adaptive") as on:
        await on.enter(BUILD)
        (answer,) = await on.says(BUILD, ANA, "Remember: I prefer tabs to blanks.\nTODO: @ben renews the certificate")
        assert "Noted as a task" in answer, answer
        assert "renews the certificate" in "".join(_tasks(on))


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (["TODO: @ben fixes bug 1023", "Done: bug 1024 is fixed"], {"fixes bug 1023": "pending"}),
        (["TODO: @ben fixes bug 1023", "TODO: @ben fixes bug 1024"], dict.fromkeys(("1023", "1024"), "pending")),
        (
            ["TODO: @ben fixes bug 1023\nTODO: @ben fixes bug 1024", "bug 1024 is done"],
            {"1023": "pending", "1024": "done"},
        ),
        (["TODO: @ben ships release 2.3", "done: release 2.4 is shipped"], {"ships release 2.3": "pending"}),
        (["TODO: @ben ships the box by 14:00", "TODO: @ben ships the box by 15:00"], {"by 15:00": "pending"}),
        (["TODO: @ben renews the key by 5 May", "done: renewed the key on 3 May"], {"by 5 May": "done"}),
    ],
)
async def test_a_number_names_the_work_unless_it_tells_when(
    tmp_path: Path, told: list[str], kept: dict[str, str]
) -> None:
    """What was said of another bug takes no task away, and ends none; another hour moves it, another day ends it."""
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        for text in told:
            on.clock.advance(60)
            await on.says(BUILD, ANA, text)
        await on.command(BUILD, ANA)
        tasks = {task["title"]: task["status"] for task in json.loads(on.page("build/pending_tasks.json"))["tasks"]}
        for words, status in kept.items():
            assert [how for title, how in tasks.items() if words in title] == [status], tasks
