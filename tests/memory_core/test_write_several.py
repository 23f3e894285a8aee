"""What one message says that cannot wait is one step: all of it on its pages, one mark, one way back; never twice."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.answers import undone_text
from memory_core.candidates import Candidate, Request
from memory_core.errors import BadInput
from memory_core.extract import at_once, candidates_in
from memory_core.flush.engine import write_all
from memory_core.flush.plans import Receipt
from memory_core.flush.undo import undo
from memory_core.forms import journal, tasks
from memory_core.ids import Conversation, DirectScope, MessageKey, PageId, PersonKey, message_key
from memory_core.layouts import LAYOUTS as LAYOUTS_BY_NAME
from memory_core.layouts import Kind
from memory_core.messages import Message
from tests.memory_core.flush_kit import GROUP, ROOM, Stop, World, all_labelled, stopped_undo
from tests.memory_core.test_undo import _files
from tests.scale import scale

pytestmark = pytest.mark.asyncio

_OF_A_DAY = re.compile(r"/20|daily-synced")
_WRITTEN = re.compile(r'"lastUpdated".*|^- last flush:.*|^last_updated:.*', re.MULTILINE)

MIXED = " ||\n".join(
    (
        "decision: Redis for sessions",
        "task: ship it",
        "decision: Kafka for events",
        "environment: staging is in Frankfurt",
    )
)
PARTS = (
    "decision: Redis for sessions",
    "decision: Kafka for events",
    "task: ship it",
    "task: renew the certificate of the shop",
    "status done: migrate the blog",
    "blocker: the staging certificate has expired",
    "environment: staging db is 10.0.0.9",
    "environment: the cache is 10.0.0.8",
    "role: ana leads the build",
    "stack: the build runs on Bazel",
)
SAID = st.lists(st.sampled_from(PARTS), min_size=2, max_size=5, unique=True).map(" ||\n".join)
DENIED = st.lists(
    st.sampled_from((*PARTS, "decision: no longer Redis for sessions")), min_size=2, max_size=5, unique=True
).map(" ||\n".join)
"""The message may take back what it says itself."""
LAYOUTS = st.sampled_from(["apm", "adaptive", "dreaming"])


def _world(layout: str = "apm", *, direct: bool = False) -> World:
    return World(DirectScope(PersonKey("slack:T1:ANA")) if direct else GROUP, layout=LAYOUTS_BY_NAME[layout])


async def _begun(layout: str, *, direct: bool = False) -> World:
    """A memory in which one task stands that may be done."""
    world = _world(layout, direct=direct)
    await world.say("task: migrate the blog")
    await world.flush()
    return world


async def _candidates(world: World, key: MessageKey) -> list[Candidate]:
    entry = await world.handle.ledger.find(key)
    assert entry is not None
    return [one for one in all_labelled(entry.message) if one.kind not in world.handle.table.not_kept]


async def _write(world: World, key: MessageKey) -> tuple[tuple[Candidate, PageId, str], ...]:
    world.handle = world.open()
    written = await write_all(world.handle, await _candidates(world, key), UTC)
    return tuple((candidate, page, record.title) for candidate, page, record in written)


async def _said(world: World, text: str) -> MessageKey:
    (key,) = await world.say(text)
    await _write(world, key)
    return key


def _notes(world: World) -> list[tuple[str, str]]:
    return [(note.part, note.text) for note in journal.parse(world.text("journal/2026-04-06")).notes]


def _last(world: World) -> MessageKey:
    return message_key(ROOM, f"17124.{world.said:06d}")


def _pages(world: World) -> dict[str, str]:
    """The pages that facts go to, without the times of their writing."""
    own = {name: content.decode() for name, content in _files(world).items() if "state.json" not in name}
    return {name: _WRITTEN.sub("", text) for name, text in own.items() if not _OF_A_DAY.search(name)}


async def _done(world: World) -> Receipt:
    receipt = await world.flush()
    assert receipt.problem == ""
    again = await world.flush()
    assert (again.written, again.kinds) == (False, {})
    return receipt


async def test_all_of_it_is_read_back_counted_and_noted_once() -> None:
    world = _world()
    (key,) = await world.say(MIXED)
    written = await _write(world, key)
    assert [(page, title) for _, page, title in written] == [
        ("experience", "Redis for sessions"),
        ("attention", "ship it"),
        ("experience", "Kafka for events"),
        ("attention", "staging is in Frankfurt"),
    ]
    assert len(await world.handle.ledger.written()) == 1
    assert not world.text("journal/2026-04-06")
    receipt = await _done(world)
    assert receipt.kinds == {Kind.DECISION: 2, Kind.TASK: 1, Kind.ENVIRONMENT: 1}
    assert receipt.pages == ("experience", "attention", "journal/2026-04-06")
    assert _notes(world) == [
        ("Decisions", "Redis for sessions"),
        ("Decisions", "Kafka for events"),
        ("Learned", "staging is in Frankfurt"),
        ("Tasks", "ship it"),
    ]
    assert [world.record(title).hit_count for title in sorted(world.titles())] == [0, 0]
    assert len(tasks.parse(world.text("state/tasks")).tasks) == 1


@pytest.mark.parametrize("direct", [False, True])
@settings(max_examples=scale(300), deadline=None)
@given(text=SAID, layout=LAYOUTS)
async def test_what_was_written_at_once_is_what_a_flush_alone_would_have_written(
    text: str, layout: str, direct: bool
) -> None:
    early, late = await _begun(layout, direct=direct), await _begun(layout, direct=direct)
    await _said(early, text)
    await late.say(text)
    receipts = [await _done(world) for world in (early, late)]
    assert receipts[0].kinds == receipts[1].kinds
    assert _pages(early) == _pages(late)
    assert sorted(_notes(early)) == sorted(_notes(late))


@pytest.mark.parametrize("after", [False, True])
@settings(max_examples=scale(150), deadline=None)
@given(text=SAID, layout=LAYOUTS)
async def test_a_crash_in_between_leaves_each_of_them_once(text: str, layout: str, after: bool) -> None:
    async def run(crash_at: int) -> tuple[World, int]:
        world = await _begun(layout)
        (key,) = await world.say(text)
        world.faults.calls, world.faults.at, world.faults.after = 0, crash_at, after
        with suppress(Stop):
            await _write(world, key)
        world.faults.at = 0
        return world, world.faults.calls

    whole, steps = await run(0)
    kinds = (await _done(whole)).kinds
    for step in range(1, steps + 1):
        for again in (False, True):  # the program goes on with the message, or the flush finds it
            crashed, _ = await run(step)
            if again:
                await _write(crashed, _last(crashed))
            assert (await _done(crashed)).kinds == kinds, f"crash at {step}"
            assert _pages(crashed) == _pages(whole), f"crash at {step}"
            assert sorted(_notes(crashed)) == sorted(_notes(whole))


@pytest.mark.parametrize("direct", [False, True])
@settings(max_examples=scale(200), deadline=None)
@given(text=DENIED, layout=LAYOUTS, saved=st.booleans())
async def test_undo_takes_all_of_it_back_byte_for_byte(text: str, layout: str, saved: bool, direct: bool) -> None:
    world = _world(layout, direct=direct)
    await world.say("decision: Terraform for the machines")
    await world.flush()
    before = _files(world)
    await _said(world, text)
    if saved:
        await world.flush()
        assert (await undo(world.open())).number == 2
    undone = await undo(world.open())
    told = [one.title for one in await _candidates(world, _last(world))]
    assert {title for _, title in undone.noted} <= set(told)
    assert len(undone.noted) == len(told) or "no longer" in text or "done" in text
    pages = {name: text for name, text in _files(world).items() if "flush-state" not in name}
    assert pages == {name: text for name, text in before.items() if "flush-state" not in name}
    assert not (await world.flush()).written
    assert (await undo(world.open())).number == (0 if saved else 1)  # a flush begins the chain anew


async def test_a_crash_while_all_of_it_is_taken_back_ends_like_none() -> None:
    async def run(crash_at: int, after: bool) -> tuple[World, int]:
        world = _world()
        await _said(world, MIXED)
        return world, await stopped_undo(world, crash_at, after=after)

    for after in (False, True):
        whole, steps = await run(0, after)
        for step in range(1, steps + 1):
            crashed, _ = await run(step, after)
            if step == 1 and not after:
                await undo(crashed.open())  # nothing had begun
            assert _files(crashed) == _files(whole), f"crash at step {step}, after={after}"
            assert not (await crashed.flush()).written


@pytest.mark.parametrize("saved", [False, True])
async def test_an_edit_or_a_deletion_of_the_message_reaches_all_of_it(saved: bool) -> None:
    edited, deleted = _world(), _world()
    keys = [await _said(world, MIXED) for world in (edited, deleted)]
    for world in (edited, deleted):
        if saved:
            await world.flush()
    await edited.edit(keys[0], "decision: Redis for sessions ||\ntask: ship both ||\ndecision: Pulsar for events")
    await deleted.delete(keys[1])
    for world in (edited, deleted):
        await _done(world)
    assert sorted(edited.titles()) == ["Pulsar for events", "Redis for sessions"]
    assert [task.title for task in tasks.parse(edited.text("state/tasks")).tasks] == ["ship both"]
    assert "Frankfurt" not in edited.text("attention")
    assert deleted.titles() == []
    left = b"".join(content for content, _ in deleted.stores.files.values())
    assert not any(word in left for word in (b"Redis", b"ship it", b"Kafka", b"Frankfurt"))
    plan = await deleted.handle.ledger.last_plan()
    assert plan is not None
    assert not any(word in plan.operations for word in ("Redis", "ship it", "Kafka", "Frankfurt"))


async def test_what_a_message_says_besides_is_written_by_the_flush() -> None:
    world = _world()
    (key,) = await world.say(f"{MIXED} ||\nstack: the build runs on Bazel ||\ndecision: Terraform for the machines")
    world.handle = world.open()
    await write_all(world.handle, (await _candidates(world, key))[:4], UTC)
    receipt = await _done(world)
    assert receipt.kinds == {Kind.DECISION: 3, Kind.TASK: 1, Kind.ENVIRONMENT: 1, Kind.STACK: 1}
    assert sorted(world.titles()) == ["Kafka for events", "Redis for sessions", "Terraform for the machines"]


async def test_what_an_extractor_puts_otherwise_is_passed_over_one_by_one() -> None:
    """Each finds its own statement: two of one page are not both taken for the first."""
    world = _world()
    key = await _said(world, "decision: Redis for the user sessions ||\ndecision: Redis for the job queue")
    await world.edit(key, "decision: Redis for the user sessions ||\ndecision: Redis for the job queue")
    assert (await _done(world)).kinds == {Kind.DECISION: 2}
    other = _world()
    (key,) = await other.say("decision: the user sessions go to Redis ||\ndecision: the job queue goes to Redis")
    candidates = await _candidates(other, key)
    told = ("Redis for the user sessions", "Redis for the job queue")
    spoken = [
        Candidate(one.kind, text, text, one.author, one.sources) for one, text in zip(candidates, told, strict=True)
    ]
    other.handle = other.open()
    await write_all(other.handle, spoken, UTC)
    assert (await _done(other)).kinds == {Kind.DECISION: 2}
    assert sorted(other.titles()) == sorted(told)


async def test_where_a_kind_is_not_kept_nothing_is_written() -> None:
    world = _world("adaptive")
    (key,) = await world.say("decision: Redis for sessions ||\nrole: ana leads")
    entry = await world.handle.ledger.find(key)
    assert entry is not None
    before = _files(world)
    with pytest.raises(BadInput, match="'role'"):
        await write_all(world.handle, all_labelled(entry.message), UTC)
    assert _files(world) == before
    assert await world.handle.ledger.written() == ()


async def test_what_a_message_takes_back_itself_is_not_told_as_noted_and_stays_taken_back() -> None:
    world = _world()
    (key,) = await world.say(
        "decision: Redis for sessions ||\ndecision: no longer Redis for sessions ||\ntask: ship it"
    )
    written = await _write(world, key)
    assert [title for _, _, title in written] == ["no longer Redis for sessions", "ship it"]
    assert (await _done(world)).kinds == {Kind.DECISION: 1, Kind.TASK: 1}
    assert world.titles() == ["no longer Redis for sessions"]


async def test_two_statements_of_one_title_are_two() -> None:
    world = _world()
    await _said(world, "task: ship it ||\nstatus done: ship it")
    assert (await _done(world)).kinds == {Kind.TASK: 1, Kind.STATUS: 1}


async def test_a_topic_that_a_crash_kept_from_being_marked_is_counted() -> None:
    world = _world("adaptive")
    (key,) = await world.say("stack: the build runs on Bazel")
    world.faults.at, world.faults.after = 1, True
    with suppress(Stop):
        await _write(world, key)
    world.faults.at = 0
    assert await world.handle.ledger.written() == ()
    assert (await _done(world)).kinds == {Kind.STACK: 1}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Kind.TASK, ("fix bug 1023", "fix bug 1024", "fix bug 1025")),
        (Kind.TASK, ("update server1", "update server2")),
        (Kind.DECISION, ("team A owns the checkout", "team B owns the search")),
        (Kind.DECISION, ("team A owns the checkout page", "team B owns the checkout page")),
        (Kind.DECISION, ("eu servers run Debian 12", "us servers run Debian 13")),
        (Kind.DECISION, tuple(f"service s{number} keeps its data in d{number}" for number in range(12))),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
async def test_a_list_of_like_statements_is_kept_whole(kind: Kind, told: tuple[str, ...], apart: bool) -> None:
    """None is taken for a repeat or a change of another one; tasks not even in messages of their own."""
    label = "TODO: @ben will" if kind is Kind.TASK else "Decision:"
    lines = [f"{label} {one}" for one in told]
    if apart and kind is not Kind.TASK:
        return
    messages = [
        Message(
            message_key(ROOM, str(number)),
            Conversation(ROOM),
            PersonKey("slack:T1:ANA"),
            "ana",
            text,
            datetime(2026, 4, 6, 12, number, tzinfo=UTC),
        )
        for number, text in enumerate(lines if apart else ["\n".join(lines)])
    ]
    kept = candidates_in(Request(tuple(messages)))
    assert [(one.kind, one.settled) for one in kept] == [(kind, True)] * len(told)
    assert all(one in other.body for one, other in zip(told, kept, strict=True))
    if not apart:
        assert at_once(messages[0], direct=False) == kept


async def test_what_a_message_corrects_itself_is_taken_back_by_its_name() -> None:
    """It took nothing back of what was written: that is neither written anew nor forgotten by undo."""
    world = _world()
    (key,) = await world.say("decision: we run 3 replicas. decision: we run 4 replicas of the cache")
    entry = await world.handle.ledger.find(key)
    assert entry is not None
    world.handle = world.open()
    await write_all(world.handle, at_once(entry.message, direct=False), UTC)
    await _done(world)
    assert (await undo(world.open())).number == 1
    undone = await undo(world.open())
    assert undone.noted == (("decision", "we run 4 replicas of the cache"),)
    assert undone_text(undone).startswith("Taken back: what was noted last, the decision “we run 4 replicas")
    assert world.titles() == []


@pytest.mark.parametrize("deleted", [False, True])
async def test_of_a_message_that_was_changed_since_undo_names_nothing_that_is_gone(deleted: bool) -> None:
    world = _world()
    key = await _said(world, "decision: Redis for sessions ||\ntask: ship it")
    await (world.delete(key) if deleted else world.edit(key, "decision: Kafka for sessions"))
    await world.flush()
    for _ in range(4):
        answer = undone_text(await undo(world.open()))
        assert not re.search(r"the \.|the ,|the  |“”|Redis|ship", answer), answer
