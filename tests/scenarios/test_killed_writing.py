"""`remem run` as a process, a model's server, a peer of Discord: SIGKILL in mid answer, then a new start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.wording import INTERRUPTED
from tests.peers.discord import DiscordPeer
from tests.peers.discord.world import Channel, User
from tests.peers.openai_server import OpenAIServer, Said, text
from tests.scenarios.program import Program, start
from tests.scenarios.stage import rows
from tests.scenarios.writing import until

pytestmark = pytest.mark.asyncio

WORDS = "Redis holds the sessions, because sessions must survive a restart; and this goes on for some more words."


@dataclass(slots=True)
class World:
    """Ana in #build of a Discord peer, and the process that is killed and started again."""

    peer: DiscordPeer
    server: OpenAIServer
    build: Channel
    ana: User
    workspace: Path
    remem: Program

    async def asks(self, question: str) -> None:
        """Ana asks remem something."""
        await self.peer.message(self.build, self.ana, f"{self.peer.bot.mention} {question}")

    def answers(self) -> list[str]:
        """What stands in the room of remem, without its greeting."""
        return self.peer.stands(self.build)[1:]

    async def stands(self, words: str) -> None:
        """Wait until `words` can be read in the room."""
        await self.remem.while_running(self.peer.until(lambda: any(words in one for one in self.answers()), words))

    async def killed_and_started(self) -> None:
        """SIGKILL, and a new start."""
        await self.remem.kill()
        self.peer.gateway.forget_sessions()
        self.remem = await self._started()

    async def _started(self) -> Program:
        environment = {**self.peer.environment(self.workspace.parent), **self.server.environment}
        remem = await start(self.workspace, environment)
        await remem.while_running(self.peer.connected(29))
        return remem

    def knows_where(self) -> bool:
        """Does the ledger know in which message the answer stands?"""
        found = rows(self.workspace, "SELECT about FROM timers WHERE key GLOB 'writing:*'")
        return any("Redis holds" in str(about) and '"keys": ["' in str(about) for (about,) in found)

    def is_settled(self) -> bool:
        """Do two answers stand, the last one ended and recorded, and is nothing left to do by the ledger's word?"""
        owed = rows(self.workspace, "SELECT 1 FROM messages WHERE owed = 1")
        writing = rows(self.workspace, "SELECT 1 FROM timers WHERE key GLOB 'writing:*'")
        recorded = rows(self.workspace, "SELECT 1 FROM messages WHERE voice = 'self'")
        return min(len(self.answers()), len(recorded)) >= 2 and not owed and not writing


@asynccontextmanager
async def _world(folder: Path) -> AsyncIterator[World]:
    async with DiscordPeer() as peer, OpenAIServer(otherwise=text("Hello.")) as server:
        guild = peer.add_guild("Acme", ["build"])
        ana, workspace = peer.add_user("ana", guild), folder / "workspace"
        remem = await start(workspace, {**peer.environment(folder), **server.environment})
        world = World(peer, server, guild.channel("build"), ana, workspace, remem)
        try:
            await remem.while_running(peer.connected(29))
            await world.asks("hello")
            await world.stands("Hello.")
            yield world
            await world.remem.end_cleanly()
        finally:
            await world.remem.kill()


@pytest.mark.parametrize("seen", [True, False], ids=["after the first words", "before the first word"])
async def test_after_sigkill_an_answer_is_ended_or_given_and_nothing_is_doubled(tmp_path: Path, seen: bool) -> None:
    async with _world(tmp_path) as world:
        held: Said = replace(text(WORDS), pieces=12, holds_after=7 if seen else 0)
        world.server.script(held)
        await world.asks("what holds the sessions?")
        await world.remem.while_running(world.server.was_asked(2))
        if seen:
            await world.stands("Redis holds")
            # Killed before it knows where they stand, a line of its own says so (test_streaming_killed).
            await world.remem.while_running(until(world.knows_where, "the keys of the first words"))
        for _ in range(2):
            await world.killed_and_started()
            await world.remem.while_running(until(world.is_settled, "the second answer's end"))
        assert len(world.answers()) == 2, (world.answers(), world.peer.edits, world.remem.stderr)
        first, answer = world.answers()
        assert first.endswith("Hello.")
        if seen:
            shown, line = answer.split("\n\n")
            assert WORDS.startswith(shown)
            assert line == INTERRUPTED
            assert len(world.server.asked) == 2, "nobody is asked again"
        else:
            assert answer == "Hello.", "it is owed, and answered after the start"
            assert len(world.server.asked) == 3
        said = rows(
            world.workspace, "SELECT text FROM messages JOIN texts ON texts.id = text_id WHERE voice = 'self'"
        )
        assert [str(one).count(answer) for (one,) in said[-1:]] == [1]
        assert sum(str(one) == answer for (one,) in said) == (1 if seen else 2), "recorded as it stands, once"
        await world.asks("and now?")
        await world.remem.while_running(world.peer.until(lambda: len(world.answers()) == 3, "the next answer"))
