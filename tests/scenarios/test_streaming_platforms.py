"""Whole program at the console, Discord and Slack: an answer that grows, as the platform hears of it call by call."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path

import pytest

from adapters.console.adapter import ConsoleAdapter
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.revising import REVISE_S
from adapters.messages import Outgoing
from adapters.slack.adapter import SlackAdapter
from bot.models.failures import Failure, ModelFailed
from bot.wording import INTERRUPTED
from memory_core.clock import SystemClock
from memory_core.ids import Conversation, RoomKey
from tests.peers.discord import DiscordPeer
from tests.peers.discord import Edit as DiscordEdit
from tests.peers.discord.world import Channel as DiscordChannel
from tests.peers.discord.world import Message
from tests.peers.discord.world import User as DiscordUser
from tests.peers.slack import Channel, SlackPeer, User
from tests.scenarios.writing import Writer, growing, running, until

pytestmark = pytest.mark.asyncio

CODE = "\n".join(f"print('line {number} of the code')" for number in range(140))
LONG = (
    f"@everyone, this is how <@{{ana}}> does it:\n\n```python\n{CODE}\n```\n\nSee https://example.com/docs, and ask."
)

_ids = count(1)


def _ours(workspace: Path) -> list[str]:
    """What the ledger keeps of what we said, in order. Blocks."""
    kept = "SELECT texts.text FROM messages JOIN texts ON texts.id = messages.text_id WHERE voice = 'self'"
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
        return [str(text) for (text,) in ledger.execute(f"{kept} ORDER BY seq")]


def _kept(workspace: Path, text: str) -> int:
    """How many rows of ours hold `text`. Blocks."""
    return sum(text in kept for kept in _ours(workspace))


def _knows_keys(workspace: Path) -> bool:
    """Does the ledger know where an answer stands that is being written? Blocks."""
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
        found = ledger.execute("SELECT about FROM timers WHERE key GLOB 'writing:*'").fetchall()
    return any('"keys": ["' in about for (about,) in found)


async def _until(true: Callable[[], bool]) -> None:
    """Wait until the ledger's file says so."""
    async with asyncio.timeout(20):
        while not await asyncio.to_thread(true):  # noqa: ASYNC110  # a file rings no bell
            await asyncio.sleep(0.01)


def _apart(times: Sequence[float]) -> float:
    """The least time between two of these."""
    return min((later - sooner for sooner, later in pairwise(times)), default=9.9)


def _fences_are_whole(text: str) -> bool:
    return len(re.findall(r"^```", text, re.MULTILINE)) % 2 == 0


# -- Discord --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Discord:
    """A server in which Ana talks with remem in #build."""

    peer: DiscordPeer
    writer: Writer
    adapter: DiscordAdapter
    workspace: Path
    build: DiscordChannel
    ana: DiscordUser

    async def asks(self, text: str) -> Message:
        """Ana mentions the bot; it writes."""
        message = await self.peer.message(self.build, self.ana, f"{self.peer.bot.mention} {text}")
        await self.writer.asked()
        return message

    async def answered(self, message: Message) -> None:
        """All that Ana asked is answered."""
        await self.peer.sent(lambda said: said.reply_to is message)

    async def shown(self, text: str) -> None:
        """The room sees it."""
        await self.peer.until(lambda: any(text in one for one in self.peer.stands(self.build)), text)

    def edits(self) -> list[DiscordEdit]:
        """What was edited in #build."""
        return [edit for edit in self.peer.edits if edit.message.channel is self.build]


@asynccontextmanager
async def _connected(
    peer: DiscordPeer, workspace: Path, revise_s: float
) -> AsyncIterator[tuple[DiscordAdapter, Writer]]:
    adapter = DiscordAdapter(
        peer.token, peer.proxy_url, connector=peer.connector, guild_ready_timeout_s=0.02, revise_s=revise_s
    )
    writer, times = Writer(), peer.gateway.identified
    async with running(workspace, adapter, writer):
        await until(lambda: peer.gateway.identified > times and peer.gateway.connected, "the bot")
        yield adapter, writer


@asynccontextmanager
async def discord(folder: Path, revise_s: float = 0.01) -> AsyncIterator[Discord]:
    """remem in a server, greeted in #build."""
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ["build", "other"])
        ana = peer.add_user("ana", guild)
        async with _connected(peer, folder / "w", revise_s) as (adapter, writer):
            on = Discord(peer, writer, adapter, folder / "w", guild.channel("build"), ana)
            hello = await peer.message(on.build, ana, f"{peer.bot.mention} hello")
            await peer.sent(lambda said: said.reply_to is hello, 2)
            yield on


async def test_discord_sees_an_answer_grow_and_stand_as_if_it_had_been_sent_at_once(tmp_path: Path) -> None:
    async with discord(tmp_path, revise_s=0.15) as on:
        on.peer.edits_bucket.seconds *= 0.15 / REVISE_S
        text, other = LONG.format(ana=on.ana.id), on.peer.guilds[0].channel("other")
        whole = await on.adapter.send(Outgoing(Conversation(RoomKey(f"discord:{other.id}")), text))
        before = len(on.peer.said)
        asked = await on.asks("write it down")
        for part in growing(text, 150):
            await on.writer.writes(part)
            await asyncio.sleep(0.05)
        await on.writer.ends(text)
        await on.peer.until(lambda: on.peer.stands(on.build)[-len(whole.messages) :] == on.peer.stands(other), "it")
        posts = on.peer.said[before:]
        assert len(posts) == len(whole.messages) > 1
        assert [post.reply_to for post in posts] == [asked, *[None] * (len(posts) - 1)]
        texts = [*(post.text for post in posts), *(edit.text for edit in on.edits())]
        assert frozenset().union(*(post.pings for post in posts), *(edit.pings for edit in on.edits())) == set()
        assert all(len(text) <= 2000 and _fences_are_whole(text) for text in texts)
        changes = {
            post.message.id: [edit.at_s for edit in on.edits() if edit.message is post.message] for post in posts
        }
        assert min(map(_apart, changes.values())) >= 0.14, "never faster than the platform allows"
        assert sum(map(len, changes.values())) >= 3
        assert not [call for call in on.peer.calls if call.status >= 400]
        assert any(call.path.endswith("/typing") for call in on.peer.calls)
        await _until(lambda: _kept(on.workspace, "how <@") == 1)
        assert (await asyncio.to_thread(_ours, on.workspace))[-1] == text


async def test_discord_a_429_costs_time_and_no_word(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    async with discord(tmp_path) as on:
        on.peer.edits_bucket.calls, on.peer.edits_bucket.seconds = 3, 0.5
        message = await on.asks("write it down")
        for part in growing(text, 40):
            await on.writer.writes(part)
            await asyncio.sleep(0.03)
        await on.writer.ends(text)
        await on.shown(text)
        await on.answered(message)
        assert any(call.status == 429 for call in on.peer.calls), "the bucket was too small on purpose"
        assert on.peer.stands(on.build)[-1] == text


async def test_case_8_discord_a_question_that_is_deleted_takes_its_half_answer_with_it(tmp_path: Path) -> None:
    async with discord(tmp_path) as on:
        stood = on.peer.stands(on.build)
        asked = await on.asks("write about the door code 4417")
        await on.writer.writes("The door code 4417 ")
        await on.shown("4417")
        await on.peer.delete(asked)
        await on.peer.until(lambda: on.peer.stands(on.build) == stood, "the taking back")
        await on.writer.ends("The door code 4417 is for the cellar.")
        again = await on.asks("write something else")
        await on.writer.ends("Gladly.")
        await on.answered(again)
        await until(lambda: on.peer.stands(on.build) == [*stood, "Gladly."], "the other answer")
        assert await asyncio.to_thread(_kept, on.workspace, "4417") == 0


async def test_case_9_discord_an_answer_whose_right_is_lost_meanwhile_is_not_tried_again(tmp_path: Path) -> None:
    async with discord(tmp_path) as on:
        await on.asks("write it down")
        await on.writer.writes("The first words ")
        await on.shown("The first words")
        await on.peer.kick(on.peer.guilds[0])
        on.peer.calls.clear()
        for part in ("The first words and ", "The first words and more ", "The first words and more and "):
            await on.writer.writes(part)
            await asyncio.sleep(0.05)
        await on.writer.ends("The first words and more and more.")
        await until(lambda: not on.writer._told.qsize(), "the end")
        await asyncio.sleep(0.1)
        refused = [call for call in on.peer.calls if call.status in {403, 404}]
        assert 1 <= len(refused) <= 2, "once while it grew, once when it was whole"


async def test_discord_after_a_kill_the_next_start_puts_the_note_under_what_stands(tmp_path: Path) -> None:
    async with discord(tmp_path) as on:
        await on.asks("write it down")
        await on.writer.writes("```py\nprint('the first words') ")
        await on.shown("the first words")
        await _until(lambda: _knows_keys(on.workspace))
        await asyncio.to_thread(shutil.copytree, on.workspace, tmp_path / "killed")
        half = on.peer.said[-1].message
        await on.writer.breaks(ModelFailed(Failure.DOWN, "not of this run"))
        await on.shown("not of this run")
        half.text = "```py\nprint('the first words')\n```"
        on.peer.edits.clear()
        adapter = on.adapter
        await adapter.close()
        async with _connected(on.peer, tmp_path / "killed", 0.01):
            await on.peer.until(lambda: INTERRUPTED in half.text, "the note")
            assert half.text == f"```py\nprint('the first words')\n```\n\n{INTERRUPTED}"
            assert len(on.peer.edits) == 1
            await _until(lambda: not _knows_keys(tmp_path / "killed"))
        assert await asyncio.to_thread(_kept, tmp_path / "killed", INTERRUPTED) == 1


# -- Slack ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Slack:
    """A workspace in which Ana talks with remem in #build."""

    peer: SlackPeer
    writer: Writer
    adapter: SlackAdapter
    workspace: Path
    build: Channel
    ana: User

    async def asks(self, text: str) -> str:
        """Ana mentions the bot; it writes. The ts of the question."""
        ts = await self.peer.mention(self.build, self.ana, text)
        await self.writer.asked()
        return ts

    async def shown(self, text: str) -> None:
        """The room sees it."""
        await self.peer.world.until(lambda: any(text in one for one in self.peer.stands(self.build)), 20, text)


@asynccontextmanager
async def slack(folder: Path, revise_s: float = 0.01) -> AsyncIterator[Slack]:
    """remem in a workspace, invited into #build."""
    async with SlackPeer() as peer:
        ana = peer.user("ana", admin=True)
        build = peer.channel("build", members=[ana], bot=False)
        adapter = SlackAdapter(
            peer.bot_token,
            peer.app_token,
            peer.signing_secret,
            api_url=peer.api_url,
            pace_s=0.0,
            revise_s=revise_s,
        )
        writer = Writer()
        async with running(folder / "w", adapter, writer):
            await asyncio.wait_for(adapter.ready.wait(), 20)
            await peer.invite_bot(build, ana)
            await peer.sent(channel=build)
            yield Slack(peer, writer, adapter, folder / "w", build, ana)
            await peer.quiet()


async def test_slack_sees_an_answer_grow_and_stand_as_if_it_had_been_sent_at_once(tmp_path: Path) -> None:
    async with slack(tmp_path, revise_s=0.15) as on:
        text, other = LONG.format(ana=on.ana.id), on.peer.channel("other", members=[on.ana])
        whole = await on.adapter.send(Outgoing(Conversation(RoomKey(f"slack:T1:{other.id}")), text))
        before = len(on.peer.posts)
        ts = await on.asks("write it down")
        for part in growing(text, 150):
            await on.writer.writes(part)
            await asyncio.sleep(0.05)
        await on.writer.ends(text)
        size = len(whole.messages)
        there = on.peer.stands(other)
        await on.peer.world.until(lambda: on.peer.stands(on.build)[-size:] == there, 20, "the whole answer")
        posts = on.peer.posts[before:]
        assert len(posts) == size > 1
        assert {post.thread_ts for post in posts} == {ts}
        texts = [*(post.text for post in posts), *(edit.text for edit in on.peer.edits)]
        assert [
            *(post.pings for post in posts if post.pings),
            *(edit.pings for edit in on.peer.edits if edit.pings),
        ] == []
        assert all(len(text) <= 3900 and text.count("```") % 2 == 0 for text in texts)
        changes = {post.ts: [edit.at_s for edit in on.peer.edits if edit.ts == post.ts] for post in posts}
        assert min(map(_apart, changes.values())) >= 0.14, "never faster than the platform allows"
        assert sum(map(len, changes.values())) >= 3
        calls = on.peer.calls("chat.postMessage")
        assert all(call.arguments["unfurl_links"] is False for call in calls)
        assert {call.answer for call in on.peer.calls() if call.method.startswith("chat.")} == {"ok"}
        assert on.peer.calls("assistant.threads.setStatus")[0].arguments["thread_ts"] == ts
        await on.peer.quiet()
        await _until(lambda: _kept(on.workspace, "how <@") == 1)
        assert (await asyncio.to_thread(_ours, on.workspace))[-1] == text


async def test_slack_a_workspace_that_lets_nobody_edit_gets_the_whole_answer_once(tmp_path: Path) -> None:
    async with slack(tmp_path) as on:
        stood = on.peer.stands(on.build)
        on.peer.refuse("chat.update", "edit_window_closed", times=9)
        await on.asks("write it down")
        await on.writer.writes("The first words ")
        await on.shown("The first words")
        await on.writer.writes("The first words and ")
        await on.writer.ends("The first words and the last.")
        await on.shown("and the last")
        await on.peer.quiet()
        assert on.peer.stands(on.build) == [*stood, "The first words and the last."]
        assert await asyncio.to_thread(_kept, on.workspace, "The first words") == 1


async def test_slack_a_model_that_fails_after_the_first_words_ends_them_with_a_line(tmp_path: Path) -> None:
    async with slack(tmp_path) as on:
        await on.asks("write it down")
        await on.writer.writes("The first words ")
        await on.shown("The first words")
        await on.writer.breaks(ModelFailed(Failure.DOWN, "The model cannot be reached."))
        await on.shown("The model cannot be reached.")
        assert on.peer.stands(on.build)[-1].startswith("The first words\n\nThe model cannot be reached")
        await on.asks("write again")
        await on.writer.ends("Here it is.")
        await on.shown("Here it is.")
        await on.peer.quiet()
        assert await asyncio.to_thread(_kept, on.workspace, "The first words") == 1


# -- the console ----------------------------------------------------------------------------------------------------


async def test_the_console_prints_the_new_part_as_it_comes(tmp_path: Path) -> None:
    shown: list[str] = []
    typed: asyncio.Queue[str | None] = asyncio.Queue()

    async def lines() -> AsyncIterator[str]:
        while (line := await typed.get()) is not None:
            yield line

    async def settled() -> None:
        """Whoever types here does not wait."""

    writer = Writer()
    console = ConsoleAdapter(
        lines(),
        lambda text: shown.append(f"{text}\n"),
        SystemClock(),
        lambda: f"m{next(_ids)}",
        settled,
        stream=shown.append,
    )
    async with running(tmp_path / "w", console, writer):
        typed.put_nowait("write about Redis")
        await writer.asked()
        await writer.writes("We chose ")
        await until(lambda: "We chose" in "".join(shown), "the first words")
        await writer.writes("We chose Redis ")
        await until(lambda: "Redis" in "".join(shown), "more")
        await writer.ends("We chose Redis.")
        await until(lambda: "last flush" in "".join(shown), "the end")
        await until(lambda: "".join(shown).endswith("\n"), "the end of the line")
    assert shown[0] == "remem: We chose"
    answer, flush = "".join(shown).split("\n\n")
    assert answer == "remem: We chose Redis."
    assert flush.startswith("last flush: ")
    assert flush.count("\n") == 1
    assert await asyncio.to_thread(_kept, tmp_path / "w", "We chose") == 1
