"""Issue scenario 4 for Slack: `remem run` as a process of its own, over sockets, in Socket Mode and in HTTP mode."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import ClientConnectorError

from tests.adapters.slack_bench import MODES
from tests.peers.slack.rules import SHOWN_CHARACTERS
from tests.scenarios.slack_world import DECISION, QUESTION, Mode, World, acknowledged, slack_world

PIECE_CHARACTERS = 3900

ROOMS = ("ops", "saved", "build", "design", "team", "yard", "handbook", "twice", "gate", "forge")

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest) -> Mode:
    """The two ways in."""
    given: Mode = request.param
    return given


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(mode: Mode, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One workspace and one process for each mode; every test has channels of its own."""
    async with slack_world(tmp_path_factory.mktemp(mode), mode, rooms=ROOMS) as made:
        cyn = made.peer.user("cyn")
        pair, three = made.enter_group_dm(made.ana, made.ben), made.enter_group_dm(made.ana, made.ben, cyn)
        await asyncio.gather(made.enter("board", private=True), pair, three)
        yield made


# -- first join ----------------------------------------------------------------------------------------------------


async def test_an_invited_bot_greets_once_and_a_reply_in_the_greetings_thread_is_the_purpose(world: World) -> None:
    channel = world.rooms["ops"]
    (greeting,) = world.said_in(channel)
    assert "From now on I record" in greeting.text
    assert "What is this group for?" in greeting.text
    assert (greeting.thread_ts, greeting.buttons) == ("", ())
    assert world.purpose(channel) == ""
    await world.peer.say(channel, world.ben, "We keep the lights on", thread=greeting.ts)
    (thanks,) = await world.posts(channel, thread=greeting.ts)
    assert "We keep the lights on" in thanks.text
    assert "We keep the lights on" in world.purpose(channel)
    await world.peer.remove_bot(channel)
    await world.peer.invite_bot(channel, world.ana)
    (back,) = await world.posts(channel, thread="", since=len(world.peer.posts))
    assert "still have this room's memory" in back.text
    assert "What is this group for?" not in back.text
    assert len(world.said_in(channel)) == 3


async def test_the_topics_button_is_the_purpose(world: World) -> None:
    channel = await world.enter("atelier", topic="Drawings for the spring catalogue")
    (greeting,) = world.said_in(channel)
    assert "Drawings for the spring catalogue" in greeting.text
    assert acknowledged(await world.peer.press(greeting, world.ben))
    (thanks,) = await world.posts(channel, to=world.ben)
    assert "Drawings for the spring catalogue" in thanks.text
    assert "Drawings for the spring catalogue" in world.purpose(channel)


async def test_a_channel_where_it_is_first_mentioned_is_greeted_and_the_question_answered(world: World) -> None:
    channel = world.peer.channel("lobby", members=[world.ana, world.ben])
    await world.peer.say(channel, world.ana, "We decided to paint the lobby green.")
    assert world.name(channel) == "", "a channel that it merely sees has no name"
    answer = await world.ask(channel, world.ben, "what did we decide about the lobby?")
    assert "green" not in answer.text, "what was said before the bot was called is not its business"
    (greeting,) = await world.posts(channel, thread="")
    assert "What is this group for?" in greeting.text
    await world.peer.say(channel, world.ana, "Where guests wait", thread=greeting.ts)
    await world.posts(channel, thread=greeting.ts)
    assert "Where guests wait" in world.purpose(channel)


# -- commands ------------------------------------------------------------------------------------------------------


async def test_status_is_for_the_asker_alone_and_a_receipt_for_all(world: World) -> None:
    channel = world.rooms["saved"]
    await world.peer.say(channel, world.ana, DECISION)
    await world.peer.say(channel, world.ben, "lol")
    status = await world.command(channel, world.ana, "status")
    assert (status.to, status.via) == (world.ana.id, "response")
    assert "2 messages not saved yet" in status.text
    receipt = await world.save(channel, world.ben)
    assert (receipt.to, receipt.thread_ts) == ("", "")
    assert "1 decision" in receipt.text
    assert "experience" in receipt.text
    assert "Redis" in world.page(channel, "experience")


async def test_a_command_where_the_bot_is_not_is_told_to_invite_it(world: World) -> None:
    for number, private in enumerate((False, True)):
        away = world.peer.channel(f"away-{number}", members=[world.ana], private=private, bot=False)
        told = await world.command(away, world.ana, "")
        assert "/invite" in told.text
        assert world.name(away) == ""
        assert not list((world.workspace / "memory/groups").glob("away*"))


# -- memory --------------------------------------------------------------------------------------------------------


async def test_a_mention_is_answered_in_its_place_with_the_groups_memory_alone(world: World) -> None:
    build = await world.teach("build")
    others = [world.rooms[name] for name in ("design", "board", "ana+ben")]
    answer = await world.ask(build, world.ben, QUESTION)
    assert "Redis" in answer.text
    assert "@ana" in answer.text
    assert answer.pings == ()
    asked = [world.ask(elsewhere, world.ben, QUESTION) for elsewhere in others]
    for answer in await asyncio.gather(*asked, world.tell(world.ben, QUESTION)):
        assert "Redis" not in answer.text
    assert len({world.name(channel) for channel in (build, *others)}) == 4


async def test_a_dm_has_its_own_memory(world: World) -> None:
    room = world.rooms["team"]
    await world.tell(world.ana, "remember that my locker is number 12")
    answer = await world.tell(world.ana, "which number is my locker?")
    assert "12" in answer.text
    assert answer.channel == world.peer.dm(world.ana).id
    assert "12" not in (await world.tell(world.ben, "which number is my locker?")).text
    assert "locker is" not in (await world.ask(room, world.ana, "which number is my locker?")).text
    homes = {path.name for path in (world.workspace / "people").iterdir()}
    assert f"slack-t1-{world.ana.id.lower()}" in homes


async def test_threads_keep_their_conversations_apart_and_share_the_rooms_memory(world: World) -> None:
    channel = world.rooms["yard"]
    north = await world.peer.say(channel, world.ana, "about the north side")
    south = await world.peer.say(channel, world.ben, "about the south side")
    await world.peer.say(channel, world.ana, "the northern gate squeaks", thread=north)
    await world.peer.say(channel, world.ana, DECISION, thread=north)
    await world.peer.say(channel, world.ben, "the southern gate is painted blue", thread=south)
    here = await world.ask(channel, world.ben, "which gate squeaks?", thread=north)
    assert "was said here" in here.text
    assert "squeaks" in here.text
    there = await world.ask(channel, world.ana, "which gate squeaks?", thread=south)
    assert "was said here" not in there.text, "it is the room's, and found by a search of it"
    assert "Redis" in (await world.ask(channel, world.ana, QUESTION, thread=south)).text


async def test_case_31_a_group_dm_is_a_group(world: World) -> None:
    people = world.rooms["ana+ben+cyn"]
    cyn = next(user for user in world.peer.world.users.values() if user.name == "cyn")
    assert people.id.startswith("C"), "as Slack names them now: only the flag tells"
    await world.peer.say(people, world.ana, DECISION)
    answer = await world.ask(people, cyn, QUESTION)
    assert "Redis" in answer.text
    assert (answer.channel, answer.thread_ts) == (people.id, "")
    assert "Redis" in world.page(people, "experience")
    assert "Redis" not in (await world.tell(cyn, QUESTION)).text


# -- the wire ------------------------------------------------------------------------------------------------------


async def test_a_long_fenced_answer_arrives_in_valid_pieces(world: World) -> None:
    channel = world.rooms["handbook"]
    await world.command(channel, world.ana, "purpose How we deploy")
    code = [f"step {number:03}: copy the build of stage {number} <& all> to its server" for number in range(90)]
    page = "\n".join(["# Deploy", "", "```sh", *code, "```", ""])
    assert 5000 <= len(page) <= 5800
    folder = world.workspace / "memory/groups/handbook/conventions"
    folder.mkdir(parents=True)
    (folder / "deploy.md").write_text(page, "utf-8")
    for public in (True, False):
        since = len(world.peer.posts)
        if public:
            first = await world.ask(channel, world.ben, "remem show conventions/deploy")
        else:
            first = await world.command(channel, world.ben, "show conventions/deploy")
        pieces = await world.posts_until(code[-1].split("<")[0], channel, since=since)
        assert {(piece.to, piece.thread_ts) for piece in pieces} == {
            ("" if public else world.ben.id, first.thread_ts)
        }
        assert all(len(piece.text) <= PIECE_CHARACTERS < SHOWN_CHARACTERS and not piece.cut for piece in pieces)
        assert all(piece.text.count("```") == 2 for piece in pieces), "every piece closes what it opens"
        lines = "\n".join(piece.text for piece in pieces).splitlines()
        shown = [line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for line in lines]
        assert [line for line in shown if line.startswith("step ")] == code


async def test_an_event_that_comes_again_is_answered_once(world: World) -> None:
    channel = await world.teach("twice")
    ts = await world.peer.mention(channel, world.ben, QUESTION)
    mention, message = world.peer.deliveries[-2:]
    for retry in (1, 2, 3):
        for event in (mention, message):
            assert (await world.peer.again(event, retry)).acknowledged
    await world.posts(channel, thread=ts)
    await world.peer.again(message, 3)
    await world.settled(channel)
    assert len([post for post in world.said_in(channel) if post.thread_ts]) == 1
    assert world.transcript(channel).count(f"ben: {QUESTION}") == 1
    assert world.events(channel, ts) == 1


async def test_a_wrong_signature_is_refused_and_socket_mode_listens_nowhere(world: World, mode: Mode) -> None:
    channel = world.rooms["gate"]
    event = {"type": "message", "user": world.ana.id, "text": "forged", "ts": "1.2", "channel_type": "channel"}
    forging = world.peer.forge(channel, {**event, "channel": channel.id})
    if mode == "http":
        assert await forging == 401
    else:
        with pytest.raises(ClientConnectorError):
            await forging
    await world.command(channel, world.ana, "status")
    assert "forged" not in "\n".join(world.transcript(channel))


async def test_a_channel_shared_with_another_organisation_gets_one_line_and_keeps_nothing(world: World) -> None:
    guest = world.peer.user("gil", team="T9")
    channel = world.peer.channel("partners", members=[world.ana, guest], shared=True)
    await world.peer.say(channel, guest, "We decided to share the walrus plans.")
    told = await world.ask(channel, guest, "what did we decide about the walrus?")
    assert "shared with another organisation" in told.text
    assert "walrus" not in told.text
    assert world.said_in(channel) == [told]
    assert world.name(channel) == ""
    kept = [path for path in world.workspace.rglob("*") if path.is_file() and b"walrus" in path.read_bytes()]
    assert kept == []


# -- the life of the process: last, because it ends the one that the tests above share -------------------------------


async def test_case_23_after_a_clean_end_and_a_restart_it_still_knows_and_answers_nothing_twice(world: World) -> None:
    channel = await world.teach("forge")
    ts = await world.peer.mention(channel, world.ben, QUESTION)
    answered = world.peer.deliveries[-2:]
    await world.posts(channel, thread=ts)
    await world.stop()
    before = len(world.peer.posts)
    await world.start()
    for event in answered:
        assert (await world.peer.again(event, 2)).acknowledged
    again = await world.ask(channel, world.ben, QUESTION)
    assert "Redis" in again.text
    await world.peer.say(channel, world.ana, "and why the session cache?", thread=ts)
    (there,) = await world.posts(channel, thread=ts, since=before)
    assert "Redis" in there.text, "a thread into which it was called is still one"
    assert world.peer.posts[before:] == [again, there]
