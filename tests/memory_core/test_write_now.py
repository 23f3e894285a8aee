"""What cannot wait: written when it is said, counted by the next flush, taken back when its author takes it back."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC

import pytest

from memory_core.candidates import Candidate
from memory_core.errors import NoIndex
from memory_core.flush.engine import write_now
from memory_core.forms import attention, journal
from memory_core.ids import MessageKey, PersonKey
from memory_core.layouts import Kind
from tests.memory_core.flush_kit import Stop, World, labelled

ANA = PersonKey("slack:T1:ANA")


@pytest.mark.asyncio
async def test_written_at_once_is_read_back_counted_and_not_written_again() -> None:
    world = World()
    (key,) = await world.say("decision: decided: Redis for sessions")
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    page, record = await write_now(world.handle, candidate, UTC)
    assert (page, record) == ("experience", world.record("decided: Redis for sessions"))
    assert not world.text("state/flush")
    receipt = await world.flush()
    assert (receipt.kinds, receipt.pages) == ({Kind.DECISION: 1}, ("experience", "journal/2026-04-06"))
    assert (len(world.titles()), world.record("decided: Redis for sessions").hit_count) == (1, 0)
    assert len(journal.parse(world.text("journal/2026-04-06")).notes) == 1
    assert not (await world.flush()).written


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("said", "commits"),
    [
        ("decision: decided: Redis for sessions", 1),
        ("task: ship it", 2),
        ("blocker: the staging certificate has expired", 1),
        ("environment: staging db is 10.0.0.9", 1),
    ],
)
async def test_what_a_crash_kept_from_being_marked_is_counted_like_what_was_marked(said: str, commits: int) -> None:
    whole, crashed = World(), World()
    for world in (whole, crashed):
        (key,) = await world.say(said)
        entry = await world.handle.ledger.find(key)
        candidate = labelled(entry.message) if entry else None
        assert candidate is not None
        world.faults.at, world.faults.after = (commits, True) if world is crashed else (0, False)
        with suppress(Stop):
            await write_now(world.handle, candidate, UTC)
        world.faults.at = 0
    assert len(await whole.handle.ledger.written()) == 1
    assert not await crashed.handle.ledger.written()
    receipts = [await world.flush() for world in (whole, crashed)]
    assert receipts[0].kinds == receipts[1].kinds
    assert receipts[0].pages == receipts[1].pages
    for page in ("experience", "attention", "state/tasks"):
        assert whole.text(page) == crashed.text(page)
    one, other = (journal.parse(world.text("journal/2026-04-06")).notes for world in (whole, crashed))
    assert [(note.part, note.keys) for note in one] == [(note.part, note.keys) for note in other]
    assert not (await crashed.flush()).written


@pytest.mark.asyncio
async def test_a_command_without_a_message_can_be_written_at_once() -> None:
    world = World()
    candidate = Candidate(Kind.TASK, "ship it", "ship it", ANA, (MessageKey("slack:T1:C9:note-1"),), who="ana")
    page, record = await write_now(world.handle, candidate, UTC)
    assert (page, record.title) == ("attention", "ship it")
    assert attention.parse(world.text("attention")).row("ship it") is not None
    receipt = await world.flush()
    assert receipt.kinds == {Kind.TASK: 1}
    assert "ship it" in world.text("journal/2026-04-06")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "text", "part"),
    [
        (Kind.TASK, "ship it", "Tasks"),
        (Kind.BLOCKER, "we wait for the DNS team\n## of the provider", "Blockers"),
        (Kind.ENVIRONMENT, "staging db is 10.0.0.9", "Learned"),
    ],
)
async def test_the_journal_tells_who_said_what_in_a_command(kind: Kind, text: str, part: str) -> None:
    world = World()
    key = MessageKey("slack:T1:C9:note-1")
    await write_now(world.handle, Candidate(kind, text, text, ANA, (key,), who="ana"), UTC)
    said_at = world.clock.now()
    world.clock.advance(3600)
    await world.flush()
    (note,) = [one for one in journal.parse(world.text("journal/2026-04-06")).notes if one.part == part]
    assert (note.text, note.name, note.person, note.keys) == (" ".join(text.split()), "ANA", ANA, (key,))
    assert note.at.startswith(f"{said_at:%H:%M}")


@pytest.mark.asyncio
async def test_what_was_written_at_once_and_taken_back_leaves() -> None:
    world = World()
    (key,) = await world.say("decision: we decided to use Redis for sessions")
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    await write_now(world.handle, candidate, UTC)
    await world.say("scratch that, we decided to use Memcached for sessions instead")
    await world.flush()
    assert "we decided to use Redis for sessions" not in world.titles()


@pytest.mark.asyncio
async def test_what_is_known_is_not_written_twice() -> None:
    world = World()
    await world.say("decision: decided: Redis for sessions")
    await world.flush()
    candidate = Candidate(
        Kind.DECISION,
        "decided: Redis for sessions",
        "decided: Redis for sessions",
        ANA,
        (MessageKey("slack:T1:C9:n1"),),
    )
    page, record = await write_now(world.handle, candidate, UTC)
    assert (page, record.hit_count, len(record.sources)) == ("experience", 1, 2)
    assert not (await world.flush()).written
    assert len(world.titles()) == 1


@pytest.mark.asyncio
async def test_without_an_index_nothing_is_written_at_once() -> None:
    world = World(indexed=False)
    candidate = Candidate(Kind.TASK, "ship it", "ship it", ANA, (MessageKey("slack:T1:C9:n1"),))
    with pytest.raises(NoIndex):
        await write_now(world.handle, candidate, UTC)


@pytest.mark.asyncio
async def test_tasks_of_one_make_about_other_things_are_tasks_of_their_own() -> None:
    world = World()
    said = (
        "task: renew the certificate of the shop",
        "task: renew the certificate of the blog",
        "task: renew it all",
    )
    for key in await world.say(*said):
        entry = await world.handle.ledger.find(key)
        candidate = labelled(entry.message) if entry else None
        assert candidate is not None
        await write_now(world.handle, candidate, UTC)
    titles = [row.task for row in attention.parse(world.text("attention")).tasks]
    assert titles == [one.removeprefix("task: ") for one in said]
    await world.flush()
    assert [row.task for row in attention.parse(world.text("attention")).tasks] == titles
