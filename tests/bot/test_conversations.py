"""Queues: order kept in a room, rooms side by side, bursts bounded, a failing event harms no other."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from bot.conversations import BURST, Conversations
from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.errors import StoreFailed
from memory_core.ids import Conversation, GroupScope, PageId, RoomKey

A, B = RoomKey("console:a"), RoomKey("console:b")


@pytest.mark.asyncio
async def test_a_room_keeps_its_order_and_does_not_wait_for_another() -> None:
    conversations, done = Conversations(), list[str]()
    gate, other_done = asyncio.Event(), asyncio.Event()

    async def work(name: str, wait: asyncio.Event | None = None) -> None:
        if wait is not None:
            await wait.wait()
        done.append(name)

    async def reached() -> None:
        other_done.set()

    conversations.put(A, partial(work, "a1", gate))
    conversations.put(A, partial(work, "a2"))
    conversations.put(B, partial(work, "b1"))
    conversations.put(B, reached)
    await other_done.wait()
    assert done == ["b1"]
    gate.set()
    await conversations.settled()
    assert done == ["b1", "a1", "a2"]


@pytest.mark.asyncio
async def test_a_burst_is_bounded_and_the_rest_is_refused() -> None:
    conversations, gate = Conversations(), asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    taken = [conversations.put(A, wait) for _ in range(BURST + 5)]
    assert taken.count(True) == BURST
    gate.set()
    await conversations.settled()
    assert conversations.put(A, wait)
    await conversations.settled()


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [StoreFailed("disk is full"), ValueError("a bug")])
async def test_an_event_that_fails_harms_no_other(error: Exception) -> None:
    conversations, done = Conversations(), list[str]()

    async def fail() -> None:
        raise error

    async def work() -> None:
        done.append("next")

    conversations.put(A, fail)
    conversations.put(A, work)
    await conversations.settled()
    assert done == ["next"]


@pytest.mark.asyncio
async def test_closing_ends_what_runs() -> None:
    conversations, never = Conversations(), asyncio.Event()

    async def hang() -> None:
        await never.wait()

    conversations.put(A, hang)
    await asyncio.sleep(0)
    await conversations.close()
    await conversations.settled()


def test_a_flush_ends_the_sessions_of_its_scope_only() -> None:
    conversations = Conversations()
    ours, theirs = GroupScope("a"), GroupScope("b")
    loaded = Disclosure(ours, "#a", (Loaded(PageId("attention"), Step.PAGE, "x", 1, "because"),))
    for scope, room in ((ours, A), (theirs, B)):
        talk = conversations.talk(Conversation(room), scope)
        talk.session = talk.session.with_(loaded)
    conversations.end_sessions(ours)
    assert not conversations.talk(Conversation(A), ours).session.started
    assert conversations.talk(Conversation(B), theirs).session.started


def test_a_conversation_whose_room_got_another_scope_begins_anew() -> None:
    conversations = Conversations()
    first = conversations.talk(Conversation(A), GroupScope("a"))
    assert conversations.talk(Conversation(A), GroupScope("a")) is first
    assert conversations.talk(Conversation(A), GroupScope("other")) is not first
