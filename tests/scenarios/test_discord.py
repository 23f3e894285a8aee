"""Issue scenario 4 for Discord: `remem run` as a process of its own, over sockets, to its restart."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.wording import TOPIC_BUTTON
from tests.peers.discord import Said
from tests.peers.discord.interactions import ACKNOWLEDGE_S
from tests.peers.discord.rules import CONTENT_CHARACTERS
from tests.peers.discord.world import PRIVATE_THREAD, PUBLIC_THREAD, Channel, User
from tests.scenarios.discord_world import World, discord_world

QUESTION = "what did we decide about the session cache?"
DECISION = "We decided to use Redis for the session cache because sessions must survive a restart."
ROOMS = (
    "general", "build", "ops", "design", "lobby", "town-hall", "handbook", "night", "twice", "quiet", "team", "saved"
)  # fmt: skip

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One server and one process for this file; every test has channels and people of its own."""
    async with discord_world(tmp_path_factory.mktemp("discord"), ROOMS) as made:
        yield made


async def _teach(world: World, channel: Channel, user: User) -> None:
    """A channel that knows of Redis."""
    await world.enter(channel, user)
    await world.talk(channel, (user, DECISION))
    await world.command(channel, user)


# -- first join ----------------------------------------------------------------------------------------------------


async def test_a_server_that_is_joined_is_greeted_once_and_no_channel_is_recorded(world: World) -> None:
    guild, greeting = await world.invited("Guild of Cooks", "hall", "kitchen")
    hall, cook = guild.channels[0], world.peer.add_user("cook", guild)
    assert "Guild of Cooks" in greeting.text
    assert "record nothing until somebody mentions me" in greeting.text
    await world.talk(hall, (cook, "We decided to use copper pots."))
    direct = await world.tell(cook, "hello")
    assert "Hello" in direct.text
    assert not world.names().keys() & {f"discord:{channel.id}" for channel in guild.channels}
    status = await world.command(hall, cook, "status")
    assert "I do not record this room" in status.text
    assert "0 messages not saved yet" in status.text
    assert world.said_in(hall) == [greeting, status]
    assert "copper" not in world.all_files()


async def test_a_first_mention_is_greeted_asked_and_answered(world: World) -> None:
    lobby = world["lobby"]
    await world.talk(lobby, (world.ana, "We decided to paint the lobby green."))
    message = await world.peer.message(lobby, world.ben, f"{world.me} what did we decide about the lobby?")
    greeting, answer = await world.reply(message), await world.reply(message, answer=2)
    assert "What is this group for?" in greeting.text
    assert "From now on I record" in greeting.text
    assert "green" not in answer.text, "what was said before the bot was called is not its business"
    again = await world.ask(lobby, world.ben, "hello")
    assert "What is this group for?" not in again.text


async def test_a_reply_to_the_greeting_makes_the_index(world: World) -> None:
    channel = world["ops"]
    greeting = await world.enter(channel, world.ana)
    assert world.file("memory/groups/ops.md") == ""
    answer = await world.peer.message(channel, world.ben, "We keep the lights on", reply_to=greeting.message)
    thanks = await world.reply(answer)
    assert "We keep the lights on" in thanks.text
    index = world.file("memory/groups/ops.md")
    assert re.search(r"^purpose: .*We keep the lights on", index, re.MULTILINE)
    assert f"discord:{channel.id}" in index
    later = await world.command(channel, world.ben, "purpose", "We do nothing")
    assert "admin" in later.text
    assert "We keep the lights on" in world.file("memory/groups/ops.md")


async def test_the_topic_button_makes_the_index(world: World) -> None:
    channel = await world.open_channel("atelier", topic="Drawings for the spring catalogue")
    greeting = await world.enter(channel, world.ana)
    assert "Drawings for the spring catalogue" in greeting.text
    assert [button for button, _ in greeting.buttons] == [TOPIC_BUTTON]
    click = await world.peer.click(greeting, world.ben, TOPIC_BUTTON)
    said = await world.remem.while_running(world.peer.sent(lambda said: said.interaction is click))
    assert "Drawings for the spring catalogue" in said.text
    assert "Drawings for the spring catalogue" in world.file("memory/groups/atelier.md")


# -- commands ------------------------------------------------------------------------------------------------------


async def test_status_is_for_the_asker_alone_and_in_time(world: World) -> None:
    said = await world.command(world["quiet"], world.ana, "status")
    assert said.ephemeral
    assert said.interaction is not None
    assert said.interaction.acknowledged_s is not None
    assert said.interaction.acknowledged_s - said.interaction.born_s < ACKNOWLEDGE_S


async def test_a_receipt_is_public_and_every_other_answer_private(world: World) -> None:
    channel = world["saved"]
    await world.enter(channel, world.ana)
    await world.talk(channel, (world.ana, DECISION), (world.ben, "lol"))
    receipt = await world.command(channel, world.ben)
    assert not receipt.ephemeral
    assert "1 decision" in receipt.text
    assert "experience" in receipt.text
    assert "0 messages not saved yet" in (await world.command(channel, world.ana, "status")).text
    for action, text in (
        ("status", ""), ("why", ""), ("show", ""), ("show", "experience"), ("search", "Redis"), ("help", ""),
        ("note", "decision: tea at four"), ("purpose", "Caches"), ("zone", "Europe/Berlin"), ("rule", "be kind"),
        ("nonsense", ""),
    ):  # fmt: skip
        said = await world.command(channel, world.ana, action, text)
        assert said.ephemeral, f"{action} is private"
    assert "tea at four" in world.file("memory/groups/saved/experience.md")
    assert "be kind" not in world.file("memory/groups/saved.md"), "a hard rule is an admin's"


# -- memory --------------------------------------------------------------------------------------------------------


async def test_a_mention_is_answered_in_its_place_with_the_groups_memory(world: World) -> None:
    await _teach(world, world["build"], world.ana)
    answer = await world.ask(world["build"], world.ben, QUESTION)
    assert answer.channel is world["build"]
    assert "Redis" in answer.text
    assert "@ana" in answer.text
    assert answer.pings == frozenset()
    elsewhere = await world.ask(world["design"], world.ben, QUESTION, answer=2)
    assert "Redis" not in elsewhere.text


async def test_a_dm_has_its_own_memory_and_nobody_elses(world: World) -> None:
    await _teach(world, world["team"], world.ana)
    await world.tell(world.ana, "Remember that my locker is number 12.")
    await world.tell(world.ana, "remem")
    answer = await world.tell(world.ana, "which number is my locker?")
    assert "12" in answer.text
    assert answer.channel is world.peer.dm(world.ana)
    assert "Redis" not in (await world.tell(world.ana, QUESTION)).text
    assert "12" not in (await world.tell(world.ben, "which number is my locker?")).text
    assert "locker" not in (await world.ask(world["team"], world.ana, "which number is my locker?")).text
    homes = [path.name for path in (world.workspace / "people").iterdir()]
    assert f"discord-{world.ana.id}" in homes


async def test_threads_keep_their_conversations_apart_and_share_the_rooms_memory(world: World) -> None:
    channel = await world.open_channel("yard")
    await _teach(world, channel, world.ana)
    north = await world.peer.add_thread(channel, "north", PUBLIC_THREAD, world.ana)
    south = await world.peer.add_thread(channel, "south", PUBLIC_THREAD, world.ben)
    await world.ask(north, world.ana, "the northern gate squeaks")
    await world.ask(south, world.ben, "the southern gate is painted blue")
    here = await world.ask(north, world.ben, "which gate squeaks?")
    assert "was said here" in here.text
    assert "squeaks" in here.text
    assert here.channel is north
    there = await world.ask(south, world.ana, "which gate squeaks?")
    assert "was said here" not in there.text, "it is the room's, and found by a search of it"
    assert there.channel is south
    for thread in (north, south):
        assert "Redis" in (await world.ask(thread, world.ana, QUESTION)).text
    assert [name for name in world.names().values() if name in {"north", "south"}] == []


async def test_a_private_thread_does_not_share_the_rooms_memory(world: World) -> None:
    channel = await world.open_channel("office")
    await _teach(world, channel, world.ana)
    thread = await world.peer.add_thread(
        channel, "salaries", PRIVATE_THREAD, world.ana, members=(world.ben, world.peer.bot)
    )
    said = await world.remem.while_running(world.peer.sent(lambda said: said.channel is thread))
    assert "What is this group for?" in said.text, "a private thread that the bot is taken into is a room of its own"
    assert "Redis" not in (await world.ask(thread, world.ben, QUESTION)).text
    await world.talk(thread, (world.ana, "We decided that Ben gets a raise."))
    await world.command(thread, world.ana)
    assert "raise" in (await world.ask(thread, world.ben, "what did we decide about a raise?")).text
    assert "raise" not in (await world.ask(channel, world.ben, "what did we decide about a raise?")).text


# -- the wire ------------------------------------------------------------------------------------------------------


async def test_a_long_fenced_answer_arrives_in_valid_pieces(world: World) -> None:
    channel = world["handbook"]
    await world.enter(channel, world.ana)
    await world.command(channel, world.ana, "purpose", "How we deploy")
    code = [f"step {number:03}: copy the build of stage {number} to its server" for number in range(105)]
    page = "\n".join(["# Deploy", "", "```sh", *code, "```", ""])
    assert 5000 <= len(page) <= 5800
    folder = world.workspace / "memory/groups/handbook/conventions"
    folder.mkdir(parents=True)
    (folder / "deploy.md").write_text(page, "utf-8")
    for public in (True, False):
        if public:
            first = await world.ask(channel, world.ben, "remem show conventions/deploy")
        else:
            first = await world.command(channel, world.ben, "show", "conventions/deploy")
        assert first.ephemeral is not public
        pieces = await _pieces(world, first, last=code[-1])
        assert len(pieces) >= 3
        assert all(len(piece) <= CONTENT_CHARACTERS for piece in pieces)
        assert all(piece.count("```") % 2 == 0 for piece in pieces), "every piece closes what it opens"
        lines = "\n".join(pieces).splitlines()
        assert [line for line in lines if line.startswith("step ")] == code


async def _pieces(world: World, first: Said, *, last: str) -> list[str]:
    """The pieces of one answer, from its first to the one that holds `last`."""
    start = world.peer.said.index(first)
    await world.remem.while_running(
        world.peer.sent(lambda said: last in said.text and world.peer.said.index(said) >= start)
    )
    return [said.text for said in world.peer.said[start:]]


async def test_the_same_event_twice_gives_one_answer(world: World) -> None:
    channel = world["twice"]
    await world.enter(channel, world.ana)
    message = await world.peer.message(channel, world.ana, f"{world.me} {QUESTION}")
    await world.peer.twice(message)
    await world.reply(message)
    await world.peer.twice(message)
    await world.ask(channel, world.ben, "thanks")
    assert [said for said in world.said_in(channel) if said.reply_to is message] == [await world.reply(message)]
    direct = await world.peer.message(world.peer.dm(world.ben), world.ben, "hello")
    await world.peer.twice(direct)
    await world.tell(world.ben, "thanks")
    assert len([said for said in world.peer.said if said.reply_to is direct]) == 1


async def test_what_was_said_while_the_gateway_was_away_is_answered_once(world: World) -> None:
    channel, gateway = world["night"], world.peer.gateway
    resumed, identified = gateway.resumed, gateway.identified
    await world.enter(channel, world.ana)
    with world.peer.gateway_down():
        await world.talk(channel, (world.ana, DECISION))
        missed = await world.peer.message(channel, world.ben, f"{world.me} {QUESTION}")
        direct = await world.peer.message(world.peer.dm(world.ben), world.ben, "hello")
    assert "Redis" in (await world.reply(missed)).text
    await world.reply(direct)
    await world.ask(channel, world.ben, "thanks")
    assert (gateway.resumed, gateway.identified) == (resumed + 1, identified)
    assert len([said for said in world.peer.said if said.reply_to in {missed, direct}]) == 2


# -- the life of the process ---------------------------------------------------------------------------------------


async def test_after_a_clean_end_and_a_restart_it_still_knows_and_greets_nobody_again(world: World) -> None:
    guild, _ = await world.invited("Guild of Smiths", "forge", "yard")
    forge, smith = guild.channels[0], world.peer.add_user("smith", guild)
    await _teach(world, forge, smith)
    before = len(world.peer.said)
    await world.restart()
    answer = await world.ask(forge, smith, QUESTION)
    assert "Redis" in answer.text
    assert world.peer.said[before:] == [answer]
