"""After an absence, at the whole program on Discord: what was said meanwhile is kept once, and answered at most once.

Cases 12, 13 and 17 (an edit that adds a mention), and the end by SIGTERM. Stopped, killed or cut off, the process
starts again on the same workspace; Discord has forgotten its session.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing

import pytest
import pytest_asyncio

from tests.peers.discord.rules import rate_limited
from tests.peers.discord.world import PUBLIC_THREAD, Channel, Message
from tests.scenarios.discord_world import World, discord_world
from tests.scenarios.program import start

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOMS = ("general", "build", "crash", "stopped", "lost", "twice", "edited")
LONG_S = 30.0
"""Longer than any test waits: what hangs on this is never done."""

QUESTION = "what did we decide about the cache?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One server and one workspace for this file; every test has channels of its own."""
    async with discord_world(tmp_path_factory.mktemp("late"), ROOMS) as made:
        yield made


async def _again(world: World) -> None:
    """Start the process again; it has caught up, and answered, when its answer to a later question is there."""
    world.peer.gateway.forget_sessions()
    world.remem = await start(world.workspace, world.peer.environment(world.workspace.parent))
    await world.remem.while_running(world.peer.connected())


async def _transcript(world: World, channel: Channel) -> list[str]:
    """What people said in a channel, as the ledger keeps it, in its order."""

    def read() -> list[str]:
        with closing(sqlite3.connect(f"file:{world.workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
            rows = ledger.execute(
                """SELECT t.text FROM messages m JOIN texts t ON t.id = m.text_id
                    WHERE m.room = ? AND m.voice = 'person' ORDER BY m.seq""",
                (f"discord:{channel.id}",),
            )
            return [str(row[0]) for row in rows]

    return await asyncio.to_thread(read)


def _replies(world: World, *messages: Message) -> list[int]:
    """How often the bot has replied to each message."""
    return [sum(said.reply_to is one for said in world.peer.said) for one in messages]


async def _hanging(world: World, channel: Channel, text: str) -> Message:
    """Mention the bot; it is at its answer, and hangs there: Discord makes the typing before it wait."""
    path, before = f"/channels/{channel.id}/typing", len(world.peer.calls)
    world.peer.refuse("POST", path, rate_limited(LONG_S))
    message = await world.peer.message(channel, world.ana, f"{world.me} {text}")
    await world.remem.while_running(
        world.peer.called(lambda call: call.path == path and call in world.peer.calls[before:])
    )
    return message


async def test_case_12_what_was_said_while_it_was_down_is_kept_once_and_answered_once(world: World) -> None:
    build, dm = world["build"], world.peer.dm(world.ben)
    await world.enter(build, world.ana)
    thread = await world.peer.add_thread(build, "plans", PUBLIC_THREAD, world.ana)
    await world.ask(thread, world.ana, "hello")
    await world.tell(world.ben, "hello")
    known = await _transcript(world, build)
    await world.remem.end_cleanly()
    world.peer.gateway.forget_sessions()
    missed = await world.talk(
        build,
        (world.ana, "We decided to use Redis for the cache."),
        (world.ben, f"{world.me} {QUESTION}"),
        (world.ana, "and what about the queue?"),
        (world.ana, f"{world.me} anybody there? {QUESTION}"),
        (world.ben, "it seems to sleep"),
    )
    in_thread = await world.peer.message(thread, world.ana, f"{world.me} and here?")
    in_dm = await world.peer.message(dm, world.ben, "remember my desk is by the window")
    later = await world.open_channel("later")
    await world.talk(later, (world.ana, "nobody invited the bot here"))
    await _again(world)
    for message in (missed[3], in_thread, in_dm):
        await world.reply(message)
    await world.ask(build, world.ben, "thanks")
    assert _replies(world, *missed, in_thread, in_dm) == [0, 0, 0, 1, 0, 1, 1]
    answer = next(said for said in world.peer.said if said.reply_to is missed[3])
    assert "Redis" in answer.text
    texts = [one.text.replace(f"{world.me} ", "") for one in missed]
    main = [text for text in (await _transcript(world, build))[len(known) :] if text != "and here?"]
    assert main == [*texts, "thanks"]
    assert (await _transcript(world, dm))[-1] == in_dm.text
    assert await _transcript(world, later) == []
    receipt = await world.command(build, world.ana)
    assert "1 decision" in receipt.text
    assert world.file("memory/groups/build/experience.md").count("## [") == 1


async def test_an_answer_that_was_being_made_is_made_after_a_crash(world: World) -> None:
    crash = world["crash"]
    await world.enter(crash, world.ana)
    await world.talk(crash, (world.ana, "We decided to use Redis for the cache."))
    message = await _hanging(world, crash, QUESTION)
    older = await world.peer.message(crash, world.ben, f"{world.me} what is the plan?")
    newer = await world.peer.message(crash, world.ben, f"{world.me} who decided about the cache?")
    await world.command(world["general"], world.ana, "status")  # by now all of them are durable
    await world.remem.kill()
    await _again(world)
    await world.reply(newer)
    await world.ask(crash, world.ana, "thanks")
    assert _replies(world, message, older, newer) == [0, 0, 1], "one late answer, to the newest"


async def test_sigterm_waits_for_no_answer_and_loses_none(world: World) -> None:
    stopped = world["stopped"]
    await world.enter(stopped, world.ana)
    message = await _hanging(world, stopped, "who are you?")
    began = asyncio.get_running_loop().time()
    await world.remem.end_cleanly()
    took_s = asyncio.get_running_loop().time() - began
    sys.stdout.write(f"stopped in {took_s:.1f} s with an answer being made\n")
    assert took_s < LONG_S / 2, "it waited for the answer"
    assert _replies(world, message) == [0]
    await _again(world)
    await world.reply(message)
    await world.ask(stopped, world.ana, "thanks")
    assert _replies(world, message) == [1]


async def test_case_12_a_session_that_is_lost_while_it_runs_is_caught_up_with(world: World) -> None:
    lost = world["lost"]
    await world.enter(lost, world.ana)
    with world.peer.gateway_down():
        world.peer.gateway.forget_sessions()
        first = await world.peer.message(lost, world.ana, "We decided to close on Mondays.")
        second = await world.peer.message(lost, world.ben, f"{world.me} when do we close?")
    answer = await world.reply(second)
    assert "Mondays" in answer.text
    await world.ask(lost, world.ben, "thanks")
    assert _replies(world, first, second) == [0, 1]
    assert (await _transcript(world, lost))[-3:] == [first.text, "when do we close?", "thanks"]


async def test_case_13_a_message_that_comes_again_while_it_is_answered_is_answered_once(world: World) -> None:
    twice, cyn = world["twice"], world.peer.add_user("cyn", world.guild)
    dm = world.peer.dm(cyn)
    await world.enter(twice, world.ana)
    path, before = f"/channels/{dm.id}/typing", len(world.peer.calls)
    world.peer.refuse("POST", path, rate_limited(0.5))
    message = await world.peer.message(dm, cyn, "decision: the meetings are held under the walnut tree")
    await world.remem.while_running(
        world.peer.called(lambda call: call.path == path and call in world.peer.calls[before:])
    )
    await world.peer.twice(message)
    await world.reply(message)
    await world.peer.twice(message)
    await world.tell(cyn, "thanks")
    assert _replies(world, message) == [1]
    assert (await _transcript(world, dm)).count(message.text) == 1
    await world.command(dm, cyn)
    (page,) = (world.workspace / "people").glob(f"*{cyn.id}/**/longterm.md")
    assert page.read_text("utf-8").count("## [") == 1


async def test_case_17_an_edit_that_adds_a_mention_starts_no_answer(world: World) -> None:
    edited = world["edited"]
    await world.enter(edited, world.ana)
    (message,) = await world.talk(edited, (world.ana, "what about the deploy?"))
    await world.peer.edit(message, f"{world.me} what about the deploy?")
    await world.peer.unfurl(message, {"type": "link", "title": "Deploys"})
    await world.ask(edited, world.ben, "thanks")
    assert _replies(world, message) == [0]


async def test_after_one_more_restart_nothing_comes_back(world: World) -> None:
    before = [(said.channel, said.text) for said in world.peer.said]
    rows = {name: await _transcript(world, world[name]) for name in ROOMS}
    await world.restart()
    for name in ROOMS[1:]:
        await world.ask(world[name], world.peer.add_user(f"new in {name}", world.guild), "hello again")
    after = [(said.channel, said.text) for said in world.peer.said]
    assert len(after) == len(before) + len(ROOMS) - 1
    assert {name: (await _transcript(world, world[name]))[:-1] for name in ROOMS[1:]} == {
        name: rows[name] for name in ROOMS[1:]
    }
