"""`correct`: one record is superseded by what a person says, or nothing is; undo takes it back byte for byte."""

from __future__ import annotations

import pytest

from memory_core.errors import BadInput, NoIndex
from memory_core.flush.correct import Corrected, correct, split
from memory_core.flush.engine import resume
from memory_core.flush.undo import undo
from memory_core.forms import journal
from memory_core.forms.records import parse
from memory_core.forms.units import units_of
from memory_core.ids import Conversation, PersonKey, message_key
from memory_core.layouts import Form, Kind, journal_page
from memory_core.messages import Message
from tests.memory_core.flush_kit import ROOM, Stop, World


def _said(world: World, text: str) -> Message:
    """The words of a command: no message of the transcript."""
    key = message_key(ROOM, "17199.000001")
    return Message(
        key, Conversation(ROOM), PersonKey("slack:T1:BO"), "bo", text, world.clock.now(), room_title="#build"
    )


async def _correct(world: World, words: str, text: str) -> Corrected:
    return await correct(world.open(), words, _said(world, text), world.zone)


async def _world() -> World:
    world = World()
    await world.say(
        "decision: decided: Redis for the session cache",
        "decision: decided: Redis for the event queue",
        "agreement: agreed: no deploys on Friday",
    )
    await world.flush()
    return world


@pytest.mark.asyncio
async def test_the_one_record_is_superseded_on_its_page_and_noted_by_the_next_flush() -> None:
    world = await _world()
    corrected = await _correct(world, "session cache", "we use Valkey for the session cache")
    assert corrected.page == "experience"
    text = world.text("experience")
    assert "- Supersedes: ~~[2026-04-06] decided: Redis for the session cache" in text
    assert "\n~~[2026-04-06] decided: Redis for the session cache" in text
    record = world.record("we use Valkey for the session cache")
    assert (record.sources[0].name, record.sources[0].place) == ("bo", "#build")
    assert parse(text).problems == ()
    receipt = await world.flush()
    assert (receipt.kinds, receipt.messages) == ({Kind.DECISION: 1}, 0)
    notes = journal.parse(world.text("journal/2026-04-06")).notes
    assert ("we use Valkey for the session cache", "bo") in [(note.text, note.name) for note in notes]
    assert world.text("experience").count("## ") == 2


@pytest.mark.asyncio
async def test_what_was_corrected_is_not_told_from_the_day_s_journal_either() -> None:
    world = await _world()
    await _correct(world, "session cache", "we use Valkey for the session cache")
    notes = journal.parse(world.text("journal/2026-04-06")).notes
    assert [note.text for note in notes if note.absorbed] == ["decided: Redis for the session cache"]
    page = journal_page("2026-04-06")
    shown = units_of(page, Form.JOURNAL, world.text(page)).text
    assert "session cache" not in shown
    assert "event queue" in shown


@pytest.mark.asyncio
async def test_what_a_flush_superseded_is_not_told_from_the_journal_either() -> None:
    world = await _world()
    await world.say("decision: decided: we no longer use Redis for the session cache")
    await world.flush()
    page = journal_page("2026-04-06")
    notes = {note.text: note.absorbed for note in journal.parse(world.text(page)).notes}
    assert notes["decided: Redis for the session cache"], notes
    assert not notes["decided: Redis for the event queue"]


@pytest.mark.asyncio
async def test_words_of_several_records_change_nothing_and_name_them() -> None:
    world = await _world()
    before = dict(world.stores.files)
    corrected = await _correct(world, "Redis", "Valkey")
    assert sorted(record.title for _, record in corrected.candidates) == [
        "decided: Redis for the event queue",
        "decided: Redis for the session cache",
    ]
    near = await _correct(world, "the cache of our Postgres", "Valkey")
    assert [record.title for _, record in near.candidates][:1] == ["decided: Redis for the session cache"]
    assert (await _correct(world, "kubernetes", "Nomad")) == Corrected()
    assert world.stores.files == before
    assert await world.handle.ledger.written() == ()


@pytest.mark.asyncio
async def test_a_correction_is_undone_before_the_flush_and_each_once() -> None:
    world = await _world()
    before = {page: world.text(page) for page in ("experience", "project", "attention", "journal/2026-04-06")}
    await _correct(world, "session cache", "we use Valkey for the session cache")
    undone = await undo(world.open())
    assert (undone.correction, undone.kept, undone.pages) == (True, (), ("journal/2026-04-06", "experience"))
    assert {page: world.text(page) for page in before} == before
    assert not (await world.flush()).written  # taken back: neither counted nor noted
    assert (await undo(world.open())).number == 1
    assert world.titles() == []
    assert (await undo(world.open())).nothing


@pytest.mark.asyncio
async def test_a_crash_at_any_step_of_a_correction_ends_like_none() -> None:
    for after in (True, False):
        step = 1
        while True:
            world = await _world()
            world.faults.calls, world.faults.at, world.faults.after = 0, step, after
            try:
                await _correct(world, "session cache", "we use Valkey for the session cache")
                break
            except Stop:
                await resume(world.open())
            if step > 1 or after:
                assert "we use Valkey for the session cache" in world.titles()
                assert (await world.flush()).kinds == {Kind.DECISION: 1}
            else:
                assert not (await world.flush()).written  # nothing had begun
            assert await world.handle.ledger.open_plans() == ()
            step += 1
        assert step > 3


@pytest.mark.asyncio
async def test_what_is_said_already_and_a_memory_without_index_are_refused() -> None:
    world = await _world()
    with pytest.raises(BadInput, match="says that already"):
        await _correct(world, "session cache", "decided: Redis for the session cache")
    with pytest.raises(NoIndex):
        await _correct(World(indexed=False), "a", "b")


@pytest.mark.asyncio
async def test_a_corrected_record_leaves_with_the_message_that_it_replaced() -> None:
    world = World()
    (key,) = await world.say("decision: decided: aardvark for the session cache")
    await world.flush()
    await _correct(world, "aardvark", "we use Valkey")
    await world.delete(key)
    await world.flush()
    plan = await world.handle.ledger.last_plan()
    files = "".join(content.decode() for content, _ in world.stores.files.values())
    assert "aardvark" not in files + (plan.operations if plan else "")
    assert world.titles() == ["we use Valkey"]


def test_the_two_halves() -> None:
    assert split("session cache => we use Valkey") == ("session cache", "we use Valkey")
    assert split("a → b => c") == ("a → b", "c")
    assert split("缓存 → 用 Valkey") == ("缓存", "用 Valkey")
    assert [split(text) for text in ("a", "=> b", "a =>", "")] == [None] * 4
