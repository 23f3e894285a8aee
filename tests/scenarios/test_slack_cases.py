"""What went wrong for people who run bots on Slack, shown at the whole program: a process of its own, over sockets.

The adapter's own tests (tests/adapters/test_slack_*.py) show the cases within the adapter; here is what only the
whole shows: answers, transcripts, files. Slack Connect is switched on; test_slack.py shows it switched off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

import pytest
import pytest_asyncio

from tests.peers.slack import SlackRefuses
from tests.scenarios.slack_world import DECISION, QUESTION, World, slack_world

ROOMS = (
    "slow", "app_mention", "message", "words", "limits", "workshop", "threads", "old-name", "busy", "alerts", "vault"
)  # fmt: skip
TOOLS = "remember the list of our 5 tools: the hammer, the saw, the file, the plane and the chisel"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One workspace and one process for this file; every test has channels of its own."""
    settings = {"REMEM_SLACK_CONNECT": "on", "REMEM_LOG_LEVEL": "debug"}
    async with slack_world(tmp_path_factory.mktemp("cases"), "http", rooms=ROOMS, **settings) as made:
        yield made


async def test_case_19_what_comes_again_while_it_is_being_answered_is_answered_once(world: World) -> None:
    channel = await world.teach("slow")
    with world.peer.hold("chat.postMessage"):
        ts = await world.peer.mention(channel, world.ben, QUESTION)
        events = world.peer.deliveries[-2:]
        for retry in (1, 2, 3):
            for event in events:
                assert (await world.peer.again(event, retry)).acknowledged
    await world.posts(channel, thread=ts)
    await world.settled(channel)
    assert len([post for post in world.said_in(channel) if post.thread_ts]) == 1
    assert world.transcript(channel).count(f"ben: {QUESTION}") == 1


@pytest.mark.parametrize("first", ["app_mention", "message"])
async def test_case_22_the_two_events_of_one_mention_give_one_answer(
    world: World, first: Literal["app_mention", "message"]
) -> None:
    channel = await world.teach(first)
    ts = await world.peer.mention(channel, world.ben, QUESTION, first=first)
    await world.posts(channel, thread=ts)
    await world.settled(channel)
    assert len([post for post in world.said_in(channel) if post.thread_ts]) == 1
    assert world.transcript(channel).count(f"ben: {QUESTION}") == 1


async def test_case_27_words_serve_in_threads_where_slack_has_no_commands(world: World) -> None:
    channel = world.rooms["words"]
    root = await world.peer.say(channel, world.ana, "about the calendar")
    with pytest.raises(SlackRefuses):
        await world.peer.command(channel, world.ana, thread=root)
    await world.peer.say(channel, world.ana, "!remembrance day is Monday", thread=root)
    await world.peer.say(channel, world.ana, DECISION, thread=root)
    await world.peer.say(channel, world.ben, "!remem", thread=root)
    (receipt,) = await world.posts(channel, thread=root)
    assert "1 decision" in receipt.text
    assert "Redis" in world.page(channel, "experience")
    again = await world.ask(channel, world.ana, "remem", thread=root)
    assert "Nothing new" in again.text
    said = [line for line in world.transcript(channel, root) if not line.startswith("remem: ")]
    assert said == ["ana: !remembrance day is Monday", f"ana: {DECISION}"], "a command in words is no talk"


async def test_case_28_a_command_where_the_bot_is_not_says_so_and_leaves_nothing(world: World) -> None:
    before = world.names()
    secret = world.peer.channel("secret-garden", members=[world.ana], private=True, bot=False)
    for place in (secret, world.peer.dm_between(world.ana, world.ben)):
        told = await world.command(place, world.ana, "")
        assert (told.to, told.via) == (world.ana.id, "response")
        assert "/invite" in told.text
    assert world.names() == before
    assert not list((world.workspace / "memory/groups").glob("*garden*"))
    await world.tell(world.ben, "We decided to meet on Fridays.")
    receipt = await world.save(world.peer.dm(world.ben), world.ben)
    assert "1 decision" in receipt.text


async def test_case_29_slow_names_and_failing_work_hold_up_no_acknowledgement_and_are_told(world: World) -> None:
    channel, dot = world.rooms["limits"], world.peer.user("dot")
    with world.peer.hold("users.info"):
        refused = await world.command(channel, dot, "rule be kind")
    assert "admin" in refused.text
    (world.workspace / "memory/groups/limits/experience.md").mkdir(parents=True)
    failed = await world.command(channel, dot, "note decision: tea at four")
    assert "That did not work" in failed.text
    assert failed.to == dot.id


async def test_case_34_a_thread_knows_its_root_and_what_the_bot_answered(world: World) -> None:
    channel = world.rooms["workshop"]
    await world.peer.say(channel, world.ana, TOOLS)
    listed = await world.ask(channel, world.ben, "list 5 tools")
    assert "chisel" in listed.text
    assert "chisel" in (await world.ask(channel, world.ben, "what did you list?", thread=listed.thread_ts)).text


async def test_case_34_a_dm_is_one_conversation_and_its_threads_know_their_roots(world: World) -> None:
    cyn = world.peer.user("cyn")
    await world.command(world.peer.dm(cyn), cyn, TOOLS.replace("remember", "note"))
    listed = await world.tell(cyn, "list 5 tools")
    assert "chisel" in listed.text
    assert "chisel" in (await world.tell(cyn, "what did you list?", thread=listed.ts)).text
    await world.peer.say(world.peer.dm(cyn), cyn, "thanks")
    main = [line for line in world.transcript(world.peer.dm(cyn), "") if line.startswith("cyn: ")]
    assert main == ["cyn: list 5 tools", "cyn: thanks"]


async def test_case_36_an_answer_goes_to_its_thread_or_nowhere(world: World) -> None:
    channel = await world.teach("threads")
    older = await world.peer.say(channel, world.ana, "about tea")
    newer = await world.peer.say(channel, world.ben, "about coffee")
    await world.ask(channel, world.ana, QUESTION, thread=newer)
    await world.ask(channel, world.ben, QUESTION, thread=older)
    before = world.said_in(channel)
    world.peer.refuse("chat.postMessage", "thread_not_found")
    await world.peer.mention(channel, world.ana, QUESTION, thread=newer)
    await world.remem.logged("answer not delivered", channel.id)
    assert world.said_in(channel) == before


async def test_case_37_notices_start_no_answer_and_an_answer_under_one_is_given_once_in_the_main_line(
    world: World,
) -> None:
    channel = await world.teach("old-name")
    notice = await world.peer.notice(channel, "channel_name", world.ana, "has renamed the channel")
    await world.peer.rename(channel, "new-name")
    before = world.said_in(channel)
    since = len(world.peer.posts)
    await world.peer.mention(channel, world.ben, QUESTION, thread=notice)
    (answer,) = await world.posts(channel, since=since)
    assert "Redis" in answer.text
    assert answer.thread_ts == ""
    status = await world.command(channel, world.ana, "status")
    assert "#new-name" in status.text
    assert world.said_in(channel) == [*before, answer]
    assert world.name(channel) == "old-name"


async def test_case_38_a_shared_channel_belongs_to_our_workspace_whoever_writes(world: World) -> None:
    guest = world.peer.user("gil", team="T9")
    channel = world.peer.channel("partners", members=[world.ana, guest], shared=True)
    await world.ask(channel, guest, DECISION)
    assert [key for key in world.names() if key.endswith(channel.id)] == [f"slack:T1:{channel.id}"]
    assert f"slack:T9:{guest.id}" in world.page(channel, "experience")


async def test_case_46_mentions_in_other_threads_wait_for_a_long_turn_and_are_all_answered(world: World) -> None:
    channel = await world.teach("busy")
    roots = [await world.peer.say(channel, world.ana, f"topic {number}") for number in range(4)]
    with world.peer.hold("chat.postMessage"):
        for root in roots:
            await world.peer.mention(channel, world.ben, QUESTION, thread=root)
        status = await world.peer.command(channel, world.ana, "status")
        assert status.acknowledged
    for root in roots:
        (answer,) = await world.posts(channel, thread=root)
        assert "Redis" in answer.text
        assert world.transcript(channel, root)[0] == f"ben: {QUESTION}"


async def test_case_47_another_apps_alert_is_read_as_context_and_marked(world: World) -> None:
    channel = world.rooms["alerts"]
    disk = {"type": "section", "text": {"type": "mrkdwn", "text": "Disk full on host *db-7*"}}
    alert = await world.peer.app_post(channel, "pager", blocks=[disk])
    answer = await world.ask(channel, world.ben, "what is this?", thread=alert)
    assert "db-7" in answer.text
    assert "pager (app)" in answer.text
    await world.save(channel, world.ana)
    files = (world.workspace / "memory/groups/alerts").rglob("*.md")
    assert "db-7" not in "".join(file.read_text("utf-8") for file in files), "an app's words are no facts"


SECRETS = {
    "an assignment": ("export DB_PASS=hunter2-prod", "hunter2-prod"),
    "a Slack token": ("our bot uses xoxb-2048-998877-AbCdEfGhIjKlMnOpQrSt", "AbCdEfGhIjKlMnOpQrSt"),
    "a cloud key": ("the key is AKIAIOSFODNN7QQQQQQ2", "AKIAIOSFODNN7QQQQQQ2"),
    "an address": ("clone https://deploy:s3cr3tWordHere@git.example.com/app.git", "s3cr3tWordHere"),
    "a key block": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAuTfakeLineOne\n-----END RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEAuTfakeLineOne",
    ),
}


async def test_case_124_a_secret_is_in_no_file_no_log_and_no_answer(world: World) -> None:
    channel = world.rooms["vault"]
    for text, _ in SECRETS.values():
        await world.peer.say(channel, world.ben, f"remember: {text}")
    answer = await world.ask(channel, world.ben, "\n".join(text for text, _ in SECRETS.values()))
    assert "I saw a secret" in answer.text
    await world.tell(world.ben, f"remember: {SECRETS['an assignment'][0]}")
    await world.command(channel, world.ana, f"note {SECRETS['a cloud key'][0]}")
    await world.save(channel, world.ana)
    await world.peer.quiet()
    await world.remem.kill()
    kept = [path.read_bytes() for path in world.workspace.rglob("*") if path.is_file()]
    told = "\n".join([world.remem.stderr, *(f"{post.text} {post.blocks}" for post in world.peer.posts)])
    for _, secret in SECRETS.values():
        assert not any(secret.encode() in content for content in kept)
        assert secret not in told
    assert "[secret: " in "\n".join(world.transcript(channel))
