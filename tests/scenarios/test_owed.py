"""Whole program, in this process: what is owed after an end, when silent rooms and ended days are saved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from adapters.messages import Author, Delivery, Incoming, Room
from bot.agent import Ask, Doors, Reply, Show
from bot.app import App, opened
from memory_core.candidates import Candidate, Extractor, Request
from memory_core.clock import ManualClock
from memory_core.extract import RulesExtractor
from memory_core.flush.engine import read_state
from memory_core.ids import GroupScope, PersonKey, RoomKey, RoomKind
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.terminal import START, settings

pytestmark = pytest.mark.asyncio

_ids = count(1)

ANA = Author(PersonKey("discord:1"), "ana")
BUILD = Spot(Room(RoomKey("discord:7"), RoomKind.CHANNEL, "#build"))
DM = Spot(Room(RoomKey("discord:8"), RoomKind.DIRECT))


@dataclass(slots=True)
class Model:
    """An agent that answers when `go` is set; `begun` is set when it was asked."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list)

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """Answer by naming the question."""
        self.asked.append(ask.message.text)
        self.begun.set()
        await self.go.wait()
        return Reply(f"to: {ask.message.text}")


@dataclass(slots=True)
class Counted:
    """An extractor that counts how often it is asked."""

    inner: Extractor = field(default_factory=RulesExtractor)
    requests: list[Request] = field(default_factory=list)

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """Ask the rules."""
        self.requests.append(request)
        return await self.inner.extract(request)


@dataclass(slots=True)
class Stage:
    """A workspace, its clock, and what goes on over several runs of the program."""

    workspace: Path
    clock: ManualClock = field(default_factory=lambda: ManualClock(START))
    model: Model = field(default_factory=Model)
    extractor: Counted = field(default_factory=Counted)
    adapter: RecordingAdapter = field(default_factory=lambda: RecordingAdapter("discord", lambda: str(next(_ids))))
    events: Events = field(init=False)

    def __post_init__(self) -> None:
        self.events = Events(self.clock)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[App]:
        """The program for the length of the block; it has answered what was owed when the block begins."""
        async with opened(
            settings(self.workspace, dm="everyone"),
            clock=self.clock,
            zone=UTC,
            agent=self.model,
            extractor=self.extractor,
        ) as app:
            app.add(self.adapter)
            running = asyncio.create_task(app.run())
            while not self.adapter.running:
                await asyncio.wait({running}, timeout=0.001)
                assert not running.done()
            if self.model.go.is_set():
                await app.parts.conversations.settled()
            yield app
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def says(self, spot: Spot, text: str, *, addressed: bool = True) -> Incoming:
        """Ana says something; it is durable."""
        said = self.events.said(spot, ANA, text, addressed=addressed)
        await self.adapter.happens(said)
        return said

    def answers(self) -> list[str]:
        """What was said to a question."""
        return [one.text.splitlines()[0] for one in self.adapter.sent if one.text.startswith("to: ")]


async def _ended_while_answering(stage: Stage, *texts: str, spot: Spot = BUILD) -> list[Incoming]:
    """The program was stopped while it was answering the first of these."""
    async with stage.run() as app:
        stage.model.go.set()
        await stage.says(spot, "hello")
        await app.parts.conversations.settled()
        stage.model.go.clear()
        stage.model.begun.clear()
        said = [await stage.says(spot, text) for text in texts]
        await stage.model.begun.wait()
    stage.model.go.set()
    stage.adapter.sent.clear()
    return said


async def test_the_end_waits_for_no_model_and_the_newest_question_is_answered_once_after_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    said = await _ended_while_answering(stage, "one", "two", "three")
    assert stage.answers() == []
    for _ in range(3):
        async with stage.run():
            assert stage.answers() == ["to: three"]
    assert stage.adapter.sent[0].reply_to == said[-1].message
    assert stage.model.asked[-1] == "three"
    assert stage.model.asked.count("three") == 1


async def test_each_conversation_gets_an_answer_of_its_own(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    thread = replace(BUILD, thread="t1")
    async with stage.run() as app:
        stage.model.go.set()
        await stage.says(BUILD, "hello")
        await app.parts.conversations.settled()
        stage.model.go.clear()
        for spot, text in ((BUILD, "b1"), (thread, "t1"), (BUILD, "b2"), (DM, "d1"), (thread, "t2")):
            await stage.says(spot, text)
    stage.model.go.set()
    stage.adapter.sent.clear()
    async with stage.run():
        assert sorted(stage.answers()) == ["to: b2", "to: d1", "to: t2"]


async def test_what_is_older_than_a_day_is_not_answered_any_more(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    await _ended_while_answering(stage, "old")
    stage.clock.advance(timedelta(hours=24, seconds=1).total_seconds())
    for _ in range(2):
        async with stage.run():
            assert stage.answers() == []
    assert stage.model.asked.count("old") == 1


@pytest.mark.parametrize("refusal", [Delivery.NOT_ALLOWED, Delivery.GONE])
async def test_an_answer_that_is_refused_does_not_come_back_at_every_start(tmp_path: Path, refusal: Delivery) -> None:
    stage = Stage(tmp_path / "w")
    await _ended_while_answering(stage, "question")
    stage.adapter.outcome = refusal
    async with stage.run():
        assert stage.model.asked.count("question") == 2
    stage.adapter.outcome = Delivery.SENT
    async with stage.run():
        assert stage.answers() == []
        assert stage.model.asked.count("question") == 2


@pytest.mark.parametrize("refusal", [Delivery.NOT_ALLOWED, Delivery.GONE])
async def test_where_the_greeting_is_refused_nothing_is_owed(tmp_path: Path, refusal: Delivery) -> None:
    stage = Stage(tmp_path / "w")
    stage.model.go.set()
    stage.adapter.outcome = refusal
    async with stage.run() as app:
        await stage.says(BUILD, "hello")
        await app.parts.conversations.settled()
    stage.adapter.outcome = Delivery.SENT
    async with stage.run():
        assert stage.adapter.sent == []


async def test_what_was_answered_in_another_way_is_not_owed(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    stage.model.go.set()
    async with stage.run() as app:
        await stage.says(BUILD, "hello")
        await app.parts.conversations.settled()
        question = next(sent for sent in stage.adapter.sent if sent.to_room)
        assert question.text
        greeting = stage.events.said(BUILD, ANA, "building the shop", addressed=True)
        state = await app.parts.intake.room(BUILD.room.key)
        await stage.adapter.happens(replace(greeting, reply_to=state.purpose_question))
        await stage.says(BUILD, "")
        await app.parts.conversations.settled()
        assert "building the shop" in "\n".join(sent.text for sent in stage.adapter.sent)
        assert await app.parts.intake.owed() == ()


async def test_a_room_that_belongs_to_another_memory_now_gets_no_answer_from_the_old_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    await _ended_while_answering(stage, "question")
    names = stage.workspace / "memory/groups/group_names.json"
    names.write_text(names.read_text("utf-8").replace('"build"', '"other"'), "utf-8")
    async with stage.run() as app:
        assert stage.answers() == []
        assert await app.parts.intake.owed() == ()


async def test_case_97_a_long_turn_is_not_cut_by_a_save_and_the_silence_counts_from_its_end(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    async with stage.run() as app:
        stage.model.go.set()
        await stage.says(DM, "hello")
        await app.parts.conversations.settled()
        stage.model.go.clear()
        stage.model.begun.clear()
        await stage.says(DM, "decision: we meet on Mondays. What do you think?")
        await stage.model.begun.wait()
        for _ in range(40):
            stage.clock.advance(60)
            await app.schedule.ring()
        assert stage.extractor.requests == [], "no save in the middle of a turn"
        stage.model.go.set()
        await app.parts.conversations.settled()
        stage.clock.advance(60)
        await stage.says(DM, "thanks")
        await app.parts.conversations.settled()
        stage.clock.advance(29 * 60)
        await app.schedule.ring()
        assert stage.extractor.requests == []
        stage.clock.advance(60)
        await app.schedule.ring()
        await app.schedule.ring()
        assert len(stage.extractor.requests) == 1


async def test_case_97_the_timer_is_armed_again_after_a_restart(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    await _ended_while_answering(stage, "decision: we meet on Mondays")
    stage.clock.advance(20 * 60)
    async with stage.run() as app:
        stage.clock.advance(29 * 60)
        await app.schedule.ring()
        assert stage.extractor.requests == [], "the late answer was the last activity"
        stage.clock.advance(60)
        await app.schedule.ring()
        assert len(stage.extractor.requests) == 1


async def test_case_90_a_restart_saves_nothing_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    stage.model.go.set()
    spots = [Spot(Room(RoomKey(f"discord:{100 + number}"), RoomKind.CHANNEL, f"#r{number}")) for number in range(40)]
    async with stage.run() as app:
        for spot in spots:
            await stage.says(spot, "We decided to meet on Mondays.")
        await app.parts.conversations.settled()
        stage.clock.advance(1800)
        await app.schedule.ring()
        assert len(stage.extractor.requests) == 40
        await stage.says(spots[0], "We decided to eat at noon.")
        await app.parts.conversations.settled()
    for _ in range(3):
        async with stage.run() as app:
            await app.schedule.ring()
    assert len(stage.extractor.requests) == 40, "a restart asks nobody about what is saved"
    async with stage.run() as app:
        stage.clock.advance(1800)
        await app.schedule.ring()
    said = [message.text for message in stage.extractor.requests[-1].messages if message.author == ANA.key]
    assert (len(stage.extractor.requests), said) == (41, ["We decided to eat at noon."])


async def test_a_room_that_never_pauses_is_saved_when_its_day_ends(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "w")
    stage.model.go.set()
    scope = GroupScope("build")
    async with stage.run() as app:
        await stage.says(BUILD, "hello")
        while stage.clock.now() < datetime(2026, 4, 6, 23, 50, tzinfo=UTC):
            await stage.says(BUILD, f"We decided to buy {stage.clock.now():%H%M} chairs.", addressed=False)
            await app.parts.conversations.settled()
            stage.clock.advance(1200)
            await app.schedule.ring()
        handle = app.parts.handles.open(scope)
        state = await read_state(handle)
        assert (state.trigger, state.last_flush_time) == ("day", datetime(2026, 4, 7, tzinfo=UTC))
        for _ in range(3):
            await stage.says(BUILD, "and so on", addressed=False)
            await app.parts.conversations.settled()
            stage.clock.advance(1200)
            await app.schedule.ring()
        assert (await read_state(handle)).flush_number == 1, "once"
        journal = stage.workspace / "memory/groups/build/journal/2026-04-06.md"
        assert "chairs" in journal.read_text("utf-8"), "on the day on which it was said"


async def _answered_at_the_end(stage: Stage, *replies: str) -> None:
    """The greeting is answered while the program ends: what is taken in then is durable, and not worked off."""
    stage.model.go.set()
    async with stage.run() as app:
        await stage.says(BUILD, "hello")
        await app.parts.conversations.settled()
        question = (await app.parts.intake.room(BUILD.room.key)).purpose_question
        assert question is not None
        await app.parts.conversations.close()
        for text in replies:
            await stage.adapter.happens(replace(stage.events.said(BUILD, ANA, text), reply_to=question))


@pytest.mark.asyncio
async def test_an_answer_to_the_greeting_that_was_taken_in_is_the_purpose_after_a_restart(tmp_path: Path) -> None:
    """A plain reply to our question waits for our thanks, as what is addressed waits for an answer."""
    stage = Stage(tmp_path)
    await _answered_at_the_end(stage, "We build the shop")
    async with stage.run() as app:
        await app.parts.conversations.settled()
    assert "purpose: We build the shop" in (tmp_path / "memory/groups/build.md").read_text("utf-8")
    assert sum("purpose is now" in one.text for one in stage.adapter.sent) == 1


@pytest.mark.asyncio
async def test_the_first_answer_to_the_greeting_is_the_purpose_also_if_more_was_said_before_the_end(
    tmp_path: Path,
) -> None:
    """Only the newest question of a conversation is answered late; what the group is for is said once only."""
    stage = Stage(tmp_path)
    await _answered_at_the_end(stage, "We build the shop", "and what can you do for us?")
    stage.clock.advance(90_000)
    async with stage.run() as app:
        await stage.says(BUILD, "and why?")
        await app.parts.conversations.settled()
    assert "purpose: We build the shop" in (tmp_path / "memory/groups/build.md").read_text("utf-8")
    assert sum("purpose is now" in one.text for one in stage.adapter.sent) == 1
