"""What both ledgers promise of events: each once, edits and deletes in any order, nothing answered twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
import pytest_asyncio

from memory_core.clock import ManualClock
from memory_core.errors import LedgerFailed
from memory_core.ids import Conversation, DirectScope, EventKey, GroupScope, PageId, RoomKey
from memory_core.ledger.base import Accepted, Changed, Hit, Noted, Plan, Reached, RoomState
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.ledger.values import out_of_order
from memory_core.messages import Voice
from tests.memory_core.ledger_values import ANA, BUILD, MAIN, ROOM, START, at, deleted, edited, key, posted

Ledger: TypeAlias = MemoryLedger | OpenLedger


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Ledger]:
    if request.param == "memory":
        yield MemoryLedger(clock)
        return
    opened = await SqliteLedger.open(tmp_path / "ledger.db", clock)
    yield opened
    await opened.close()


async def texts(ledger: Ledger, place: Conversation = MAIN) -> list[str]:
    """What a flush would see."""
    return [entry.message.text for entry in (await ledger.open(BUILD).context(place)).fresh]


@pytest.mark.asyncio
async def test_case_13_the_same_dm_twice_is_one_row(ledger: Ledger) -> None:
    dm = DirectScope(ANA)
    first = await ledger.intake.record([posted("M1", "hi", scope=dm, owed=True)])
    again = await ledger.intake.record([posted("M1", "hi", scope=dm, owed=True)])
    assert [first[0].new, again[0].new] == [True, False]
    assert first[0].seq == again[0].seq == 1
    assert len((await ledger.open(dm).context(MAIN)).fresh) == 1
    assert [await ledger.intake.answered(key("M1")) for _ in range(3)] == [True, False, False]


@pytest.mark.asyncio
async def test_case_19_a_redelivered_envelope_is_a_repeat_in_one_batch_too(ledger: Ledger) -> None:
    accepted = await ledger.intake.record([posted("M"), posted("M"), posted("N"), posted("M")])
    assert accepted == (
        Accepted(posted("M").event, True, 1),
        Accepted(posted("M").event, False, 1),
        Accepted(posted("N").event, True, 2),
        Accepted(posted("M").event, False, 1),
    )
    assert await texts(ledger) == ["hello", "hello"]


@pytest.mark.asyncio
@pytest.mark.parametrize("mention_first", [True, False])
async def test_case_22_mention_and_message_are_one_message(ledger: Ledger, mention_first: bool) -> None:
    message = posted("M", "@bot status?", owed=True)
    mention = replace(message, event=EventKey("slack:mention:Ev1"))
    both = [mention, message] if mention_first else [message, mention]
    assert [accepted.new for accepted in await ledger.intake.record(both)] == [True, False]
    assert len(await ledger.intake.owed()) == 1


@pytest.mark.asyncio
async def test_case_23_what_was_seen_and_answered_survives_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", clock)
    await ledger.intake.record([posted("M", owed=True), posted("N", owed=True), Noted(EventKey("slack:trigger:7"))])
    assert await ledger.intake.answered(key("M"))
    await ledger.close()
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", clock)
    repeats = await ledger.intake.record([posted("M", owed=True), Noted(EventKey("slack:trigger:7"))])
    assert [accepted.new for accepted in repeats] == [False, False]
    assert not await ledger.intake.answered(key("M"))
    assert [(scope, entry.message.key) for scope, entry in await ledger.intake.owed()] == [(BUILD, key("N"))]
    await ledger.close()


@pytest.mark.asyncio
async def test_case_24_an_edit_shows_the_new_text_and_owes_nothing(ledger: Ledger) -> None:
    await ledger.intake.record([posted("M", "teh plan", owed=True)])
    assert await ledger.intake.answered(key("M"))
    edit = edited("M", "the plan", 1)
    assert [(await ledger.intake.record([edit]))[0].new for _ in range(2)] == [True, False]
    assert await texts(ledger) == ["the plan"]
    assert await ledger.intake.owed() == ()


@pytest.mark.asyncio
async def test_case_25_a_deleted_message_is_not_flushed(ledger: Ledger) -> None:
    await ledger.intake.record([posted("M", "my door code is 4417"), posted("N")])
    await ledger.intake.record([deleted("M")])
    assert await texts(ledger) == ["hello"]
    assert await ledger.open(BUILD).find(key("M")) is None
    await ledger.intake.record([posted("M", "my door code is 4417"), edited("M", "4417", 5)])
    assert await texts(ledger) == ["hello"]


@pytest.mark.asyncio
async def test_case_25_the_flush_hears_of_a_delete_after_it(ledger: Ledger) -> None:
    await ledger.intake.record([posted("M", "my door code is 4417"), posted("N", "at noon")])
    build = ledger.open(BUILD)
    plan = Plan("p1", 1, "[]", {MAIN: 2})
    await build.save_plan(plan)
    await ledger.intake.record([deleted("M"), edited("N", "at one", 3)])
    await build.close_plan(plan)
    changes = (Changed(key("M"), deleted=True), Changed(key("N"), deleted=False))
    assert await build.changed() == changes
    assert await ledger.open(GroupScope("other")).changed() == ()
    await build.move_cursors({MAIN: 2})  # the next pass looked at them and had nothing to write
    assert await build.changed() == ()


@pytest.mark.asyncio
async def test_case_25_a_change_after_a_change_that_a_plan_covers_is_told_anew(ledger: Ledger) -> None:
    await ledger.intake.record([posted("M"), edited("M", "my door code is 4417", 1)])
    build, plan = ledger.open(BUILD), Plan("p1", 1, "[]", {MAIN: 1})
    assert await build.changed() == (Changed(key("M"), deleted=False),)
    await build.save_plan(plan)
    await ledger.intake.record([deleted("M")])
    await build.close_plan(plan)
    assert await build.changed() == (Changed(key("M"), deleted=True),)


@pytest.mark.asyncio
async def test_case_25_a_delete_of_erased_text_is_still_told(ledger: Ledger) -> None:
    await ledger.intake.record([posted("M")])
    build = ledger.open(BUILD)
    await build.move_cursors({MAIN: 1})
    assert await build.erase(at(1)) == 1
    await ledger.intake.record([deleted("M")])
    assert await build.changed() == (Changed(key("M"), deleted=True),)


@pytest.mark.asyncio
async def test_a_delete_before_its_message_wins(ledger: Ledger) -> None:
    early, late = await ledger.intake.record([deleted("M"), posted("M", owed=True)])
    assert (early.seq, late) == (None, Accepted(posted("M").event, True, None))
    assert await texts(ledger) == []
    assert await ledger.intake.owed() == ()
    assert not await ledger.intake.answered(key("M"))


@pytest.mark.asyncio
async def test_edits_before_their_message_count_and_the_newest_wins(ledger: Ledger) -> None:
    await ledger.intake.record([edited("M", "third", 3), edited("M", "second", 2), posted("M", "first")])
    assert await texts(ledger) == ["third"]
    await ledger.intake.record([edited("M", "late delivery of the second", 2.5)])
    entry = await ledger.open(BUILD).find(key("M"))
    assert entry is not None
    assert (entry.message.text, entry.message.edited_at) == ("third", at(3))


@pytest.mark.asyncio
async def test_an_edit_without_its_message_is_erased_after_a_day(ledger: Ledger, clock: ManualClock) -> None:
    await ledger.intake.record([edited("M", "from a room that is not recorded", 1)])
    clock.advance(25 * 3600)
    await ledger.intake.record([posted("M", "first")])
    assert await texts(ledger) == ["first"]


@pytest.mark.asyncio
async def test_without_a_scope_only_the_key_is_kept(ledger: Ledger) -> None:
    first = await ledger.intake.record([posted("M", scope=None, owed=True), edited("M", "new", 1)])
    assert [accepted.seq for accepted in first] == [None, None]
    again = await ledger.intake.record([posted("M", scope=BUILD)])
    assert again == (Accepted(posted("M").event, False, None),)
    assert await ledger.intake.owed() == ()
    assert await ledger.intake.scopes() == ()


@pytest.mark.asyncio
async def test_places_are_never_used_twice(ledger: Ledger) -> None:
    await ledger.intake.record([posted(1), posted(2), deleted(2)])
    accepted = await ledger.intake.record([posted(3)])
    assert accepted[0].seq == 3


@pytest.mark.asyncio
async def test_the_tail_stays_small_and_the_fresh_part_whole(ledger: Ledger) -> None:
    thread = Conversation(ROOM, "T9")
    await ledger.intake.record([posted(n, f"m{n}", thread if n % 5 == 0 else MAIN) for n in range(1, 41)])
    build = ledger.open(BUILD)
    await build.move_cursors({MAIN: 31})
    await build.move_cursors({MAIN: 4})
    context = await build.context(MAIN, tail=3)
    assert [entry.message.text for entry in context.tail] == ["m28", "m29", "m31"]
    assert [entry.seq for entry in context.fresh] == [32, 33, 34, 36, 37, 38, 39]
    assert await build.conversations() == (MAIN, thread)
    assert await build.cursor(MAIN) == 31


@pytest.mark.asyncio
async def test_erasing_leaves_what_is_not_flushed_too_young_or_owed(ledger: Ledger) -> None:
    await ledger.intake.record(
        [posted(1, minutes=1), posted(2, minutes=2, owed=True), posted(3, minutes=9), posted(4, minutes=1)]
    )
    build = ledger.open(BUILD)
    await build.move_cursors({MAIN: 3})
    assert await build.erase(at(5)) == 1
    left = await build.context(MAIN)
    assert [entry.seq for entry in left.tail + left.fresh] == [2, 3, 4]
    assert (await ledger.intake.record([posted(1)]))[0] == Accepted(posted(1).event, False, 1)


@pytest.mark.asyncio
async def test_a_plan_covers_what_was_handed_out_before_it_was_saved(ledger: Ledger) -> None:
    build, page = ledger.open(BUILD), PageId("experience")
    await build.add_hits([Hit(page, "r1", at(1))])
    assert await build.mark_written(key("M"), page, "r1")
    assert not await build.mark_written(key("M"), page, "r1")
    assert len(await build.hits()) == len(await build.written()) == 1
    await build.add_hits([Hit(page, "r2", at(2))])  # meanwhile
    await build.save_plan(Plan("p1", 1, "[]"))
    assert await ledger.intake.scopes() == (BUILD,)
    await build.mark_written(key("N"), page, "r2")
    await build.close_plan(Plan("p1", 1, "[]", receipt="done"))
    assert await build.hits() == (Hit(page, "r2", at(2)),)
    assert [mark[0] for mark in await build.written()] == [key("N")]
    assert await build.last_plan() == Plan("p1", 1, "[]", receipt="done")
    assert await build.open_plans() == ()
    with pytest.raises(LedgerFailed, match="p1 is closed"):
        await build.save_plan(Plan("p1", 2, "[]"))


@pytest.mark.asyncio
async def test_what_is_known_of_a_room_is_kept(ledger: Ledger) -> None:
    assert await ledger.intake.room(ROOM) == RoomState()
    state = RoomState(recorded=True, greeted_at=at(3), purpose_question=key("Q"))
    await ledger.intake.keep_room(ROOM, state)
    assert await ledger.intake.room(ROOM) == state
    other = RoomKey("slack:T1:C0")
    await ledger.intake.keep_room(other, RoomState(stopped=True))
    assert await ledger.intake.rooms("slack") == ((other, RoomState(stopped=True)), (ROOM, state))
    assert await ledger.intake.rooms("slac") == await ledger.intake.rooms("discord") == ()


@pytest.mark.asyncio
async def test_where_a_conversation_stands_is_what_others_said_last(ledger: Ledger) -> None:
    own = posted("own", minutes=3)
    own = replace(own, message=replace(own.message, voice=Voice.SELF))
    spoken = Conversation(RoomKey("discord:1"), "t")
    alone = replace(own, event=EventKey("x"), message=replace(own.message, key=key("x"), conversation=spoken))
    await ledger.intake.record([posted(1), posted(2), own, alone, posted(3, scope=None)])
    assert await ledger.intake.reached("slack") == (Reached(BUILD, MAIN, key(2)),)
    assert await ledger.intake.reached("discord") == (Reached(BUILD, spoken, None),)
    await ledger.intake.record([deleted(2)])
    assert (await ledger.intake.reached("slack"))[0].message == key(2), "what is gone was heard all the same"


@pytest.mark.asyncio
async def test_every_scope_stays_known_when_nothing_of_it_waits(ledger: Ledger) -> None:
    dm = DirectScope(ANA, owner=True)
    await ledger.intake.record([posted("M1", "hi", scope=dm), posted("M2", "ho")])
    await ledger.open(GroupScope("other")).save_plan(Plan("1.0", 1, "{}"))
    await ledger.open(GroupScope("other")).close_plan(Plan("1.0", 1, "{}"))
    assert await ledger.intake.known_scopes() == (dm, BUILD, GroupScope("other"))


@pytest.mark.asyncio
async def test_history_leaves_how_far_a_conversation_was_heard_and_stands_before_what_came_later(
    ledger: Ledger,
) -> None:
    own = ledger.open(BUILD)
    live = [posted(f"L{number}", minutes=20 + number) for number in range(2)]
    past = [replace(posted(f"P{number}", minutes=number), past=True) for number in range(3)]
    await ledger.intake.record([*live])
    await own.move_cursors({MAIN: 2})
    await ledger.intake.record(past)
    assert [one.message for one in await ledger.intake.reached("slack")] == [key("L1")]
    await own.put_in_order()  # not flushed yet: it stays
    assert [entry.message.key for entry in (await own.context(MAIN)).tail] == [key("L0"), key("L1")]
    await own.move_cursors({MAIN: 5})
    await own.put_in_order()
    context = await own.context(MAIN, tail=3)
    assert [entry.message.key for entry in context.tail] == [key("P2"), key("L0"), key("L1")]
    assert context.fresh == ()
    assert [entry.seq for entry in context.tail] == [5, 6, 7]
    found = await own.find(key("L1"))
    assert found is not None
    assert found.seq == await own.cursor(MAIN) == 7
    (again,) = await ledger.intake.record(live[1:])
    assert (again.new, again.seq) == (False, 7)
    await ledger.intake.record([posted("L2", minutes=30)])
    assert [entry.seq for entry in (await own.context(MAIN)).fresh] == [8]
    await own.put_in_order()
    assert await ledger.intake.scopes() == (BUILD,)


@pytest.mark.parametrize(
    ("times", "moved"),
    [
        ([1, 2, 3], []),
        ([5, 1, 9], [0, 2]),
        ([1, 2, 3, 0], [0, 1, 2]),
        ([3, 3, 3], []),
        ([1, 9, 2, 8], [1]),
        ([], []),
    ],
)
def test_what_is_out_of_order_goes_to_the_end(times: list[int], moved: list[int]) -> None:
    rows = list(enumerate(times))
    assert out_of_order(rows) == moved
    left = [time for place, time in rows if place not in moved] + [times[place] for place in moved]
    assert left == sorted(times)
