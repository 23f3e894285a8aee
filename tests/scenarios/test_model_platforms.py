"""A model speaks on Discord and Slack: it opens a page by tool, searches, remembers, and is seen to write.

The whole program with the platform's real adapter, on a real connection to its peer; only the model is scripted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pytest

from adapters.base import Adapter
from adapters.discord.adapter import DiscordAdapter
from adapters.slack.adapter import SlackAdapter
from bot.agent import Agent
from bot.app import opened
from memory_core.clock import SystemClock
from tests.peers.discord import DiscordPeer
from tests.peers.slack import SlackPeer
from tests.scenarios.models import Model, calls, speaking, texts
from tests.scenarios.terminal import settings
from tests.scenarios.writing import until

pytestmark = pytest.mark.asyncio

DECISION = "We decided to use Redis for the session cache because sessions must survive a restart."
QUESTION = "the runner stands in Frankfurt. Anything to add?"
ANSWER = "Redis holds the sessions, because sessions must survive a restart; and this goes on for some more words."
NOTED = "Noted as a fact about the environment"


@asynccontextmanager
async def _running(workspace: Path, adapter: Adapter, agent: Agent) -> AsyncIterator[None]:
    """The program with one platform; then it is stopped as by SIGTERM."""
    async with opened(settings(workspace, dm="everyone"), clock=SystemClock(), zone=UTC, agent=agent) as app:
        app.add(adapter)
        runs = asyncio.create_task(app.run())
        try:
            yield
        finally:
            runs.cancel()
            await asyncio.gather(runs, return_exceptions=True)


@dataclass(slots=True)
class Room:
    """#build of a platform. `asks` mentions the bot, `says` does not; `stands` is what the bot has said there."""

    asks: Callable[[str], Awaitable[object]]
    says: Callable[[str], Awaitable[object]]
    saves: Callable[[], Awaitable[object]]
    stands: Callable[[], list[str]]
    edits: Callable[[], list[str]]


@asynccontextmanager
async def _discord(workspace: Path, agent: Agent) -> AsyncIterator[Room]:
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ["build"])
        ana, build = peer.add_user("ana", guild), guild.channel("build")
        adapter = DiscordAdapter(
            peer.token, peer.proxy_url, connector=peer.connector, guild_ready_timeout_s=0.02, revise_s=0.01
        )
        async with _running(workspace, adapter, agent):
            await until(lambda: peer.gateway.identified and peer.gateway.connected, "the bot")
            yield Room(
                asks=lambda text: peer.message(build, ana, f"{peer.bot.mention} {text}"),
                says=lambda text: peer.message(build, ana, text),
                saves=lambda: peer.command(build, ana, ""),
                stands=lambda: peer.stands(build),
                edits=lambda: [edit.text for edit in peer.edits if edit.message.channel is build],
            )


@asynccontextmanager
async def _slack(workspace: Path, agent: Agent) -> AsyncIterator[Room]:
    async with SlackPeer() as peer:
        ana = peer.user("ana", admin=True)
        build = peer.channel("build", members=[ana], bot=False)
        given = {"api_url": peer.api_url, "pace_s": 0.0, "revise_s": 0.01}
        adapter = SlackAdapter(peer.bot_token, peer.app_token, peer.signing_secret, **given)  # type: ignore[arg-type]
        async with _running(workspace, adapter, agent):
            await asyncio.wait_for(adapter.ready.wait(), 20)
            await peer.invite_bot(build, ana)
            await peer.sent(channel=build)
            yield Room(
                asks=lambda text: peer.mention(build, ana, text),
                says=lambda text: peer.say(build, ana, text),
                saves=lambda: peer.command(build, ana),
                stands=lambda: peer.stands(build),
                edits=lambda: [edit.text for edit in peer.edits],
            )
            await peer.quiet()


@pytest.mark.parametrize("platform", [_discord, _slack])
async def test_a_model_opens_a_page_searches_remembers_and_is_seen_to_write(
    tmp_path: Path, platform: Callable[[Path, Agent], object]
) -> None:
    model, workspace = Model(), tmp_path / "w"
    on: Room
    async with platform(workspace, speaking(model)) as on:  # type: ignore[attr-defined]
        await on.asks("hello")
        await until(lambda: model.otherwise in "\n".join(on.stands()), "the first answer")
        await on.says(DECISION)
        await on.says("I am responsible for the nightly builds, as ever.")
        await on.saves()
        folder = workspace / "memory/groups/build"
        await until(lambda: "Saved" in "\n".join(on.stands()), "the receipt")
        model.script += [
            calls("memory_open", page="experience"),
            calls("memory_search", words="nightly builds"),
            calls("remember", kind="environment", text="the runner stands in Frankfurt"),
            ANSWER.replace(" must ", " must | "),
        ]
        await on.asks(QUESTION)
        await until(lambda: ANSWER[:40] in "\n".join(on.stands()), "the first words")
        assert NOTED not in "\n".join(on.stands())
        model.go_on.set()
        await until(lambda: NOTED in "\n".join(on.stands()), "the answer")
        (answer,) = [text for text in on.stands() if ANSWER in text]
        assert answer.count(ANSWER) == 1
        assert on.edits()
        assert answer.index(ANSWER) < answer.index(NOTED)
        assert not model.script
        sent = texts(model.requests)
        assert '<memory page="experience" step="open" source="#build">' in sent
        assert "It will be noted as a fact about the environment" in sent
        assert f"ana: {QUESTION}" in sent
        assert all("memory page" not in text and "<" not in text for text in (*on.edits(), answer.replace("<@", "")))
        kept = "\n".join(await asyncio.to_thread(_pages, folder))
        assert "the runner stands in Frankfurt" in kept
        requests = len(model.requests)
        await on.asks("sure about that?")
        await until(lambda: len(model.requests) > requests, "the next question")
        told = model.told
        assert told[-1].endswith("ana: sure about that?")
        (at,) = [at for at, text in enumerate(told) if text.endswith(f"ana: {QUESTION}")]
        assert '<memory page="experience" step="open"' in told[at + 1]


def _pages(folder: Path) -> list[str]:
    return [path.read_text("utf-8") for path in folder.rglob("*.md")]
