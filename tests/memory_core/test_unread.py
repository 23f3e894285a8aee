"""Extraction that fails, and pages that cannot be written: nothing is lost, nothing else is held up."""

from __future__ import annotations

import pytest

from memory_core.answers import receipt_text
from memory_core.candidates import Candidate
from memory_core.errors import RememError
from memory_core.flush.engine import Trigger, flush, read_state
from memory_core.flush.plans import reach_of
from memory_core.flush.raw_notes import erase_raw
from memory_core.flush.undo import undo
from memory_core.forms import journal
from memory_core.ids import DirectScope, PageId, PersonKey
from memory_core.layouts import INDEX, Kind
from tests.memory_core.flush_kit import START, World

REFUSED = RememError('<think>NO_REPLY</think> {"tool": "save"}')


async def _failing(world: World, *, raw: bool = False) -> str:
    """A flush whose extraction fails: what the room hears."""
    world.extractor.failures = [REFUSED]
    receipt = await flush(world.handle, world.extractor, Trigger.IDLE, world.zone, raw=raw)
    assert (receipt.written, receipt.why, receipt.raw) == (False, str(REFUSED), raw)
    return receipt_text(receipt)


@pytest.mark.asyncio
async def test_case_95_and_100_a_failed_extraction_moves_nothing_and_its_words_reach_no_room() -> None:
    world = World()
    await world.say("decision: decided: Redis for sessions")
    before = dict(world.stores.files)
    heard = await _failing(world)
    assert all(word not in heard for word in ("NO_REPLY", "think", "tool"))
    assert "kept" in heard
    assert world.stores.files == before
    assert (await world.flush()).kinds == {Kind.DECISION: 1}


@pytest.mark.asyncio
async def test_case_101_the_next_try_asks_the_same_whatever_came_since() -> None:
    world = World()
    await world.say("decision: decided: Redis for sessions", "chatter")
    world.extractor.failures = [REFUSED]
    failed = await world.flush()
    await world.say("decision: decided: Kafka for events")
    again = await flush(world.handle, world.extractor, Trigger.IDLE, world.zone, until=reach_of(failed))
    assert world.extractor.requests[0] == world.extractor.requests[1]
    assert (again.messages, world.titles()) == (2, ["decided: Redis for sessions"])
    assert (await world.flush()).messages == 1
    assert len(world.titles()) == 2


@pytest.mark.asyncio
async def test_case_86_at_the_last_try_what_was_said_stands_in_the_journal_until_it_is_read_through() -> None:
    world = World()
    await world.say("decision: decided: Redis for sessions", "## [2026-01-01] Admin rule\n- Fitness: x", "chatter")
    await _failing(world, raw=True)
    raw = journal.raw_in(world.text("journal/2026-04-06"))
    assert [note.text for note in raw] == [
        "decision: decided: Redis for sessions",
        "## [2026-01-01] Admin rule - Fitness: x",
        "chatter",
    ]
    first = world.text("journal/2026-04-06")
    await world.say("more")
    await _failing(world, raw=True)
    assert world.text("journal/2026-04-06").startswith(first)
    assert len(journal.raw_in(world.text("journal/2026-04-06"))) == 4
    receipt = await world.flush()
    assert (receipt.kinds, receipt.messages) == ({Kind.DECISION: 1}, 4)
    notes = journal.parse(world.text("journal/2026-04-06")).notes
    assert [note.text for note in notes] == ["decided: Redis for sessions"]
    await undo(world.open())
    assert journal.raw_in(world.text("journal/2026-04-06")) == ()


@pytest.mark.asyncio
async def test_raw_lines_of_mere_talk_go_too_and_deleted_ones_at_once() -> None:
    world = World(DirectScope(PersonKey("slack:T1:ANA")))
    (key, _) = await world.say("my door code is 4417", "chatter")
    await _failing(world, raw=True)
    await world.delete(key)
    await world.flush()
    assert "4417" not in world.text("journal/2026-04-06")
    assert journal.parse(world.text("journal/2026-04-06")).notes == ()


@pytest.mark.asyncio
async def test_raw_lines_are_erased_by_their_day() -> None:
    world = World()
    await world.say("chatter", "more")
    await _failing(world, raw=True)
    world.put(
        "journal/2026-04-07",
        "# 2026-04-07 (+00:00)\n\n### Raw\n- kept (@a, 14:02) <!-- slack:T1:A; slack:T1:C:1 -->\n",
    )
    assert await erase_raw(world.handle, START.date()) == 2
    assert journal.raw_in(world.text("journal/2026-04-06")) == ()
    assert len(journal.raw_in(world.text("journal/2026-04-07"))) == 1
    assert (await world.flush()).messages == 2  # the transcript has them still


DAMAGED = b"# Experience\n\n## [2026-04-01] By hand caf\xe9\n\ntext\n"


@pytest.mark.asyncio
async def test_a_damaged_page_holds_up_only_what_belongs_on_it() -> None:
    world = World()
    world.stores.put(world.scope, PageId("experience"), DAMAGED)
    await world.say("decision: decided: Redis for sessions", "agreement: agreed: no deploys on Friday")
    receipt = await world.flush()
    assert (receipt.written, receipt.waits, receipt.kinds) == (True, ("experience",), {Kind.AGREEMENT: 1})
    assert "experience" in receipt_text(receipt)
    assert "experience" not in receipt.pages
    assert world.stores.raw(world.scope, PageId("experience")) == DAMAGED
    assert world.titles("project") == ["agreed: no deploys on Friday"]
    assert (await read_state(world.handle)).flush_number == 1
    assert await world.handle.ledger.open_plans() == ()
    await world.say("decision: decided: Kafka for events", "blocker: the certificate has expired")
    assert (await world.flush()).kinds == {Kind.BLOCKER: 1}
    assert not (await world.flush()).written  # nothing new, and still damaged
    world.put("experience", "# Experience\n\n## [2026-04-01] By hand café\n\ntext\n")
    await world.flush()
    assert sorted(world.titles()) == ["By hand café", "decided: Kafka for events", "decided: Redis for sessions"]
    text = world.text("experience")
    await world.flush()
    assert world.text("experience") == text


@pytest.mark.asyncio
async def test_what_waits_leaves_with_its_message_and_with_undo() -> None:
    world = World()
    world.stores.put(world.scope, PageId("experience"), DAMAGED)
    (key,) = await world.say("decision: decided: aardvark for sessions")
    await world.flush()
    await world.delete(key)
    await world.say("decision: decided: Kafka for events")
    await world.flush()
    plan = await world.handle.ledger.last_plan()
    assert plan is not None
    assert "aardvark" not in plan.operations
    assert "Kafka" in plan.operations
    assert (await undo(world.open())).kept == ()
    world.put("experience", "# Experience\n")
    await world.flush()
    assert world.titles() == []


@pytest.mark.asyncio
async def test_a_damaged_index_does_not_hold_up_the_pages() -> None:
    world = World()
    index = world.text("index").encode() + b"caf\xe9\n"
    world.stores.put(world.scope, INDEX, index)
    await world.say("decision: decided: Redis for sessions")
    receipt = await world.flush()
    assert (receipt.written, receipt.waits) == (True, (INDEX,))
    assert world.titles() == ["decided: Redis for sessions"]
    assert world.stores.raw(world.scope, INDEX) == index


@pytest.mark.asyncio
async def test_a_candidate_of_an_extractor_is_never_posted() -> None:
    world = World()
    (key,) = await world.say("chatter")
    inner = Candidate(Kind.DECISION, "NO_REPLY", "<think>NO_REPLY</think>", PersonKey("slack:T1:ANA"), (key,))
    world.extractor.invented = (inner,)
    assert "NO_REPLY" not in receipt_text(await world.flush())
