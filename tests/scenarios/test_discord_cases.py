"""Cases 1, 7, 8, 9, 10, 11, 15, 16 and 17 with the whole program: Discord goes wrong, people and bots misbehave."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.wording import SHORT_HELP
from tests.peers.discord import DiscordPeer
from tests.peers.discord.rules import rate_limited
from tests.peers.discord.world import PUBLIC_THREAD, SEND, Attached, Channel, Message
from tests.scenarios.discord_world import World, discord_world
from tests.scenarios.program import program

SLOW_S = 0.5
"""How long Discord makes an answer wait where a test needs something to happen meanwhile."""
ROOMS = ("general", "late", "loud", "swept", "news", "mute", "files", "talk", "bots", "ping", "short")

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One server and one process for this file; every test has channels of its own."""
    async with discord_world(tmp_path_factory.mktemp("discord"), ROOMS) as made:
        yield made


async def _slowly(world: World, channel: Channel, text: str) -> Message:
    """Mention the bot, and return while its answer waits: Discord has rate-limited the typing before it."""
    path = f"/channels/{channel.id}/typing"
    before = len(world.peer.calls)
    world.peer.refuse("POST", path, rate_limited(SLOW_S))
    message = await world.peer.message(channel, world.ana, f"{world.me} {text}")
    limited = world.peer.called(lambda call: call in world.peer.calls[before:] and call.path == path)
    assert (await world.remem.while_running(limited)).status == 429
    return message


def _posts(world: World, channel: Channel) -> list[int]:
    """The statuses of all attempts to post into a channel."""
    path = f"/channels/{channel.id}/messages"
    return [call.status for call in world.peer.calls if call.method == "POST" and call.path == path]


async def test_case_1_a_dead_token_still_saves_once_and_the_room_hears_of_it(world: World) -> None:
    late = world["late"]
    await world.enter(late, world.ana)
    await world.talk(late, (world.ana, "We decided to close the shop on Mondays."))
    before = len(world.said_in(late))
    await world.peer.command(late, world.ben, dead=True)
    receipt = await world.remem.while_running(
        world.peer.sent(lambda said: said.channel is late and said.text.startswith("Saved"))
    )
    assert receipt.interaction is None
    assert "1 decision" in receipt.text
    await world.ask(late, world.ben, "thanks")
    assert len(world.said_in(late)) == before + 2
    assert world.file("memory/groups/late/experience.md").count("## [") == 1
    status = await world.command(late, world.ben, "status")
    assert "(no. 1)" in status.text


async def test_case_7_nobody_is_pinged_also_not_from_memory(world: World) -> None:
    loud, role = world["loud"], world.peer.add_role(world.guild, "night watch")
    created = {"guild_id": str(world.guild.id), "role": role.payload(1)}
    await world.peer.gateway.emit("GUILD_ROLE_CREATE", created)
    pings = f"@everyone @here <@&{role.id}> {world.ben.mention}"
    await world.enter(loud, world.ana)
    await world.ask(loud, world.ana, f"repeat exactly: {pings}")
    await world.talk(loud, (world.ana, f"We decided that {pings} clean the kitchen on Fridays."))
    await world.command(loud, world.ana)
    answer = await world.ask(loud, world.ben, "who cleans the kitchen on Fridays?")
    for word in ("@everyone", "@here", "@night watch", "@ben"):
        assert word in answer.text, "the words stay readable"
    shown = await world.ask(loud, world.ben, "remem show experience")
    assert "@everyone" in shown.text
    await world.command(loud, world.ana, "purpose", f"to call {pings}")
    assert [said.text for said in world.peer.said if said.pings] == []


async def test_case_8_an_answer_to_a_message_that_was_deleted_meanwhile(world: World) -> None:
    swept = world["swept"]
    await world.enter(swept, world.ana)
    message = await _slowly(world, swept, "we decided that the vault code is 90210. What did we decide?")
    await world.peer.delete(message)
    await world.ask(swept, world.ben, "thanks")
    assert all(said.reply_to is not message for said in world.said_in(swept)), (
        "a message that is gone is not answered"
    )
    assert set(_posts(world, swept)) == {200}
    await world.command(swept, world.ben)
    assert "90210" not in world.all_files()


async def test_case_9_a_room_where_the_bot_may_not_speak_costs_one_log_line_and_no_retry(world: World) -> None:
    news = world["news"]
    news.deny(world.peer.bot, SEND)
    await world.peer.gateway.emit("CHANNEL_UPDATE", news.payload())
    await world.talk(news, (world.ana, f"{world.me} what is new?"))
    await world.remem.logged("answer not delivered", str(news.id), "not_allowed")
    receipt = await world.command(news, world.ana)
    assert not receipt.ephemeral
    assert "Nothing new" in receipt.text
    status = await world.command(news, world.ana, "status")
    assert status.ephemeral, "commands are answered through the interaction, which needs no permission"
    assert len(world.remem.lines_with("answer not delivered", str(news.id))) == 1
    assert _posts(world, news) == [403]
    news.overwrites.clear()
    await world.peer.gateway.emit("CHANNEL_UPDATE", news.payload())
    assert "From now on I record" in (await world.enter(news, world.ana)).text, "sooner or later people are told"


async def test_case_9_the_bot_is_kicked_during_an_answer(world: World) -> None:
    guild, _ = await world.invited("Guild of Sailors", "deck", "hold")
    hold, sailor = guild.channel("hold"), world.peer.add_user("sailor", guild)
    await world.enter(hold, sailor)
    await world.talk(hold, (sailor, "We decided to sail at dawn."))
    await _slowly(world, hold, "what did we decide?")
    await world.peer.kick(guild)
    await world.remem.logged("answer not delivered", str(hold.id), "gone")
    await world.remem.logged("saved", "group:hold")
    refused = _posts(world, hold)
    assert "sail at dawn" in world.file("memory/groups/hold/experience.md")
    assert world.file("memory/groups/hold/experience.md").count("## [") == 1
    await world.tell(sailor, "hello")
    assert _posts(world, hold) == refused
    assert [status for status in refused if status != 200] == [403]
    assert len(world.remem.lines_with("saved", "group:hold")) == 1


async def test_case_10_without_the_message_content_intent_it_says_so_and_ends(tmp_path: Path) -> None:
    async with DiscordPeer() as peer:
        peer.privileged_intents = 0
        peer.add_guild("Acme", ("general",))
        workspace = tmp_path / "workspace"
        async with program(workspace, peer.environment(tmp_path)) as remem:
            assert await remem.ended() == 1
        (sentence,) = [line for line in remem.lines if line.startswith("remem: ")]
        assert "MESSAGE CONTENT INTENT" in sentence
        assert "Traceback" not in remem.stderr
        assert list((workspace / "memory/groups").glob("*.md")) == []
        assert list(workspace.rglob("journal/*")) == []


async def test_case_11_a_mention_alone_gets_the_short_help(world: World) -> None:
    await world.enter(world["short"], world.ana)
    assert (await world.ask(world["short"], world.ben, "")).text == SHORT_HELP


async def test_case_11_pictures_stickers_and_long_pastes_are_noted(world: World) -> None:
    files = world["files"]
    await world.enter(files, world.ana)
    paste = "The harbour opens at seven.\n" + "and so on " * 300_000
    await world.peer.message(files, world.ana, files=[Attached("floorplan.png", b"\x89PNG", "image/png")])
    await world.peer.message(files, world.ana, stickers=["applauding walrus"])
    await world.peer.message(
        files, world.ana, files=[Attached("message.txt", paste.encode(), "text/plain; charset=utf-8")]
    )
    assert (
        "floorplan.png (image/png, 4 bytes)" in (await world.ask(files, world.ben, "what about floorplan.png?")).text
    )
    assert "applauding walrus" in (await world.ask(files, world.ben, "any applauding walrus?")).text
    answer = await world.ask(files, world.ben, "when does the harbour open?")
    assert "The harbour opens at seven." in answer.text
    assert f"message.txt (text/plain; charset=utf-8, {len(paste)} bytes)" in answer.text
    direct = await world.peer.message(
        world.peer.dm(world.ben), world.ben, files=[Attached("cat.png", b"\x89PNG", "image/png")]
    )
    assert (await world.reply(direct)).text


async def test_case_15_what_the_bot_says_itself_starts_nothing_and_is_no_memory(world: World) -> None:
    talk = world["talk"]
    await world.enter(talk, world.ana)
    thread = await world.peer.add_thread(talk, "plans", PUBLIC_THREAD, world.ana)
    await world.ask(thread, world.ana, "hello")
    await world.ask(thread, world.ana, "We decided to plant tulips.")
    receipt = await world.command(thread, world.ana)
    assert "1 decision" in receipt.text
    await world.peer.edit(receipt.message, "We decided to plant roses.")
    await world.peer.unfurl(receipt.message, {"type": "rich", "title": "We decided to plant roses."})
    hook = world.peer.add_user("remem status", bot=True)
    posted = Message(thread, hook, "We decided to plant roses.", application=world.peer.bot.id)
    thread.messages[posted.id] = posted
    await world.peer.announce("MESSAGE_CREATE", posted)
    before = len(world.said_in(thread))
    again = await world.command(thread, world.ana)
    assert "Nothing new" in again.text
    assert len(world.said_in(thread)) == before + 1
    assert "roses" not in world.all_files()
    journals = "".join(path.read_text("utf-8") for path in (world.workspace / "memory/groups/talk").rglob("*.md"))
    assert "Saved" not in journals


async def test_case_16_two_bots_do_not_thank_each_other(world: World) -> None:
    bots = world["bots"]
    other = world.peer.add_user("ticker", world.guild, bot=True)
    greeting = await world.enter(bots, world.ana)
    answer = await world.ask(bots, world.ana, "what did we decide about tea?")
    before = len(world.said_in(bots))
    for said in (greeting, answer):
        await world.peer.message(bots, other, f"{world.me} ✅ We decided to drink coffee.", reply_to=said.message)
    await world.peer.message(world.peer.dm(other), other, "hello")
    thread = await world.peer.add_thread(bots, "ticks", PUBLIC_THREAD, world.ana)
    await world.ask(thread, world.ana, "hello")
    await world.peer.message(thread, other, f"{world.me} ✅")
    await world.ask(thread, world.ana, "thanks")
    await world.ask(bots, world.ana, "thanks")
    assert len(world.said_in(bots)) == before + 1
    assert len(world.said_in(thread)) == 2
    assert [said for said in world.peer.said if said.channel is world.peer.dm(other)] == []
    await world.command(bots, world.ana)
    assert "coffee" not in world.all_files()


@pytest.mark.parametrize("waiting", [False, True])
async def test_case_17_what_is_saved_is_what_a_message_was_edited_to(world: World, waiting: bool) -> None:
    """Whether what was said first stands in its page already when it is edited, or waits for its turn."""
    plans = await world.open_channel(f"plans-{waiting}".lower())
    await world.enter(plans, world.ana)
    if waiting:
        await _slowly(world, plans, "hello")
    (message,) = await world.talk(plans, (world.ana, "We decided to deploy at fourteen."))
    if not waiting:
        await world.ask(plans, world.ben, "thanks")
        assert "fourteen" in world.file(f"memory/groups/{plans.name}/experience.md")
    await world.peer.edit(message, "We decided to deploy at fifteen.")
    await world.peer.unfurl(message, {"type": "link", "title": "Deploys"})
    await world.ask(plans, world.ben, "thanks")
    receipt = await world.command(plans, world.ana)
    assert "1 decision" in receipt.text
    saved = world.file(f"memory/groups/{plans.name}/experience.md")
    assert saved.count("## [") == 1
    assert "fifteen" in saved
    assert "fourteen" not in world.all_files()
