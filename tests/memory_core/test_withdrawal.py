"""What is deleted or edited on the platform leaves memory, or is corrected in it, and no plan keeps its words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.candidates import Candidate
from memory_core.flush.undo import undo
from memory_core.forms import attention, daily, journal
from memory_core.ids import DirectScope, EventKey, MessageKey, PersonKey
from memory_core.layouts import Kind
from memory_core.ledger.base import Edited
from tests.memory_core.flush_kit import World
from tests.scale import scale

ANA = PersonKey("slack:T1:ANA")
STATEMENTS = (
    "decision: decided: aardvark for the session cache",
    "lesson: the aardvark stalled on a full disk; a quota fixed it",
    "task: wake the aardvark",
    "blocker: the aardvark has expired",
    "environment: staging db is aardvark",
    "tool: use aardvark for linting",
    "agreement: agreed: no aardvark on Friday",
    "preference: I like the aardvark",
    "decision?: an aardvark for the event stream",
    "see https://example.org/aardvark",
)


async def _edit(world: World, key: MessageKey, text: str) -> None:
    """The message reads otherwise now."""
    event = EventKey(f"{key}!{world.clock.now().isoformat()}")
    await world.ledger.intake.record([Edited(event, key, text, world.clock.now())])


async def _everything(world: World) -> str:
    """All that memory and ledger hold as text, the transcript apart."""
    files = [content.decode() for content, _ in world.stores.files.values()]
    plans = [*(await world.handle.ledger.open_plans()), await world.handle.ledger.last_plan()]
    return "\n".join([*files, *(f"{plan.operations}{plan.receipt}" for plan in plans if plan)])


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "group"])
@pytest.mark.asyncio
async def test_case_25_what_was_flushed_and_deleted_since_leaves_at_the_next_pass(
    statement: str, direct: bool
) -> None:
    world = World(DirectScope(ANA)) if direct else World()
    await world.say("decision: decided: Kafka for events")
    (key,) = await world.say(statement)
    await world.flush()
    assert "aardvark" in await _everything(world)
    await world.delete(key)
    await world.flush()
    assert "aardvark" not in await _everything(world)
    await undo(world.open())
    assert "aardvark" not in await _everything(world)


@pytest.mark.asyncio
async def test_case_25_what_is_superseded_leaves_its_struck_line_and_copy_too() -> None:
    world = World()
    (key,) = await world.say("decision: decided: alerts on for the aardvark")
    await world.flush()
    await world.say("decision: decided: alerts off for the zoo")
    world.extractor.invented = ()
    (second,) = await world.say("we decided: silence")
    world.extractor.invented = (
        Candidate(
            Kind.DECISION, "decided: silence", "decided: silence", ANA, (second,),
            corrects="decided: alerts on for the aardvark",
        ),
    )  # fmt: skip
    await world.flush()
    world.extractor.invented = ()
    assert world.text("experience").count("~~[2026-04-06] decided: alerts on for the aardvark") == 2
    await world.delete(key)
    await world.flush()
    assert "aardvark" not in await _everything(world)
    assert "decided: silence" in world.titles()


@settings(max_examples=scale(200), deadline=None)
@given(
    st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(["decision: decided: Kafka for events", "task: feed the cat", "chatter"]), max_size=3),
    st.booleans(),
)
@pytest.mark.asyncio
async def test_of_whatever_is_deleted_no_word_stays(gone: list[str], kept: list[str], direct: bool) -> None:
    world = World(DirectScope(ANA)) if direct else World()
    keys = [(await world.say(text))[0] for text in gone]
    await world.say(*kept)
    await world.flush()
    for key in keys:
        await world.delete(key)
    await world.say("decision: decided: Postgres for accounts")
    await world.flush()
    assert "aardvark" not in await _everything(world)
    assert "decided: Postgres for accounts" in await _everything(world)


@pytest.mark.asyncio
async def test_an_edit_corrects_the_record_and_keeps_its_date_and_uses() -> None:
    world = World()
    (key,) = await world.say("decision: decided: Redis for sessions")
    await world.flush()
    await world.use("decided: Redis for sessions")
    await world.flush()
    await _edit(world, key, "decision: decided: Valkey for sessions")
    receipt = await world.flush()
    assert receipt.kinds == {Kind.DECISION: 1}
    assert world.titles() == ["decided: Valkey for sessions"]
    record = world.record("decided: Valkey for sessions")
    assert (record.hit_count, record.messages) == (1, (key,))
    notes = [note.text for note in journal.parse(world.text("journal/2026-04-06")).notes]
    assert notes == ["decided: Valkey for sessions"]
    assert "Redis" not in await _everything(world)
    assert not (await world.flush()).written


@pytest.mark.asyncio
async def test_an_edit_that_changes_nothing_that_was_kept_writes_nothing() -> None:
    world = World()
    (key, chat) = await world.say("decision: decided: Redis for sessions", "chatter")
    await world.flush()
    before = world.text("journal/2026-04-06"), world.text("experience")
    await _edit(world, key, "decision: decided: Redis for sessions")
    await _edit(world, chat, "chatting")
    assert not (await world.flush()).written
    assert (world.text("journal/2026-04-06"), world.text("experience")) == before


@pytest.mark.asyncio
async def test_an_edit_that_says_nothing_any_more_takes_the_record_out() -> None:
    world = World()
    (key,) = await world.say("decision: decided: Redis for sessions")
    await world.flush()
    await _edit(world, key, "never mind")
    await world.flush()
    assert world.titles() == []
    assert "Redis" not in await _everything(world)


@pytest.mark.asyncio
async def test_an_edit_changes_a_blocker_a_fact_and_a_task() -> None:
    world = World()
    blocker, fact, task = await world.say(
        "blocker: the certificate has expired", "environment: staging db is 10.0.0.9", "task: write the notes"
    )
    await world.flush()
    await _edit(world, blocker, "blocker: the domain has expired")
    await _edit(world, fact, "environment: staging db is 10.0.0.10")
    await _edit(world, task, "task: translate the handbook")
    await world.flush()
    page = attention.parse(world.text("attention"))
    assert page.blockers == ("the domain has expired (@ana, 2026-04-06)",)
    assert page.fact("staging db") == "10.0.0.10 (@ana, 2026-04-06)"
    assert [row.task for row in page.tasks] == ["translate the handbook"]
    assert "write the notes" not in world.text("state/tasks")


@pytest.mark.asyncio
async def test_a_record_with_other_sources_stays_told_by_them() -> None:
    world = World()
    (first,) = await world.say("decision: decided: Redis for sessions")
    (second,) = await world.say("decision: decided: for sessions Redis", by="bo")
    world.extractor.invented = (
        Candidate(
            Kind.DECISION, "decided: aardvark for sessions", "decided: aardvark for sessions", ANA, (first, second)
        ),
    )
    world.said += 1
    await world.flush()
    world.extractor.invented = ()
    await world.delete(first)
    await world.flush()
    titles = world.titles()
    assert "decided: aardvark for sessions" not in titles
    assert "aardvark" not in world.text("experience")
    assert all(first not in record for record in world.text("experience").splitlines())


@pytest.mark.asyncio
async def test_a_blocker_that_two_persons_named_stays_with_the_other() -> None:
    world = World()
    (first,) = await world.say("blocker: the certificate has expired")
    await world.flush()
    (second,) = await world.say("blocker: the certificate has expired", by="bo")
    await world.flush()
    assert attention.keys_of(world.text("attention"), blocker="the certificate has expired (@ana, 2026-04-06)") == (
        first,
        second,
    )
    await world.delete(first)
    await world.flush()
    assert len(attention.parse(world.text("attention")).blockers) == 1
    await world.delete(second)
    await world.flush()
    assert attention.parse(world.text("attention")).blockers == ()


def test_marks_are_read_back_and_a_persons_comment_is_none() -> None:
    keys = (MessageKey("slack:T1:C9:1"), MessageKey("discord:1:2"))
    text = daily.with_day("# Daily\n", "2026-04-06", ["a", "b"], [keys, ()])
    assert text == "# Daily\n\n- 2026-04-06: a <!-- slack:T1:C9:1 discord:1:2 -->; b\n"
    assert daily.parse(text)[0].points == ("a", "b")
    assert daily.without_message(text, keys[0]) == "# Daily\n\n- 2026-04-06: a <!-- discord:1:2 -->; b\n"
    assert daily.without_message(daily.without_message(text, keys[0]), keys[1]) == "# Daily\n\n- 2026-04-06: b\n"
    own = "## Blockers\n\n- the build <!-- ask Bo -->\n"
    assert attention.parse(own).blockers == ("the build <!-- ask Bo -->",)
    assert attention.with_blocker(own, "the build <!-- ask Bo -->", keys) == own
