"""The program with a model of its own server, and a second try that does not wait: what scenarios of models share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.models.limits import TurnLimits
from bot.models.providers import chosen, patience_s
from bot.models.speaker import Speaker
from bot.models.spending import Run
from bot.settings import Settings
from memory_core.ids import Scope
from memory_core.ledger.usage import Purpose
from memory_core.tokens import load_counter
from tests.peers.openai_server import OpenAIServer
from tests.scenarios.stage import Stage, rows, stage
from tests.scenarios.terminal import Terminal, settings, terminal


class Free:
    """A meter that lets everything pass (bot.models.spending.Meter)."""

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """Nothing is used up."""

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Nothing is kept."""

    def factor(self, model: str) -> float:
        """Nothing is learnt."""
        return 1.0


@dataclass(slots=True)
class Pauses:
    """How long was to be waited before second tries, in seconds; nobody waits."""

    seconds: list[float] = field(default_factory=list)

    async def __call__(self, wait_s: float) -> None:
        """Do not wait."""
        self.seconds.append(wait_s)


def model_settings(server: OpenAIServer, workspace: Path, **given: object) -> Settings:
    """Settings that lead to the server."""
    model = {"model": f"openai:{server.models[0]}", "model_base_url": server.base_url, "model_timeout_s": 20}
    return settings(workspace, **{**model, **given})


@asynccontextmanager
async def speaker(of: Settings, pauses: Pauses) -> AsyncIterator[Speaker]:
    """What the program builds of these settings, but for the waiting before a second try."""
    models = await asyncio.to_thread(chosen, of)
    assert models.reply is not None
    async with models.reply:
        yield Speaker(
            models.reply,
            counter=await asyncio.to_thread(load_counter),
            meter=Free(),
            limits=TurnLimits(of.turn_requests, of.turn_tool_calls, of.turn_tokens, of.turn_s),
            window_tokens=models.window_tokens,
            timeout_s=patience_s(models.reply, of.model_timeout_s),
            pause=pauses,
        )


@asynccontextmanager
async def modelled_terminal(
    workspace: Path, server: OpenAIServer, pauses: Pauses | None = None, **given: object
) -> AsyncIterator[Terminal]:
    """A terminal where the server's model answers."""
    async with (
        speaker(model_settings(server, workspace, **given), pauses or Pauses()) as agent,
        terminal(workspace, agent=agent) as screen,
    ):
        yield screen


@asynccontextmanager
async def modelled_stage(
    workspace: Path, server: OpenAIServer, pauses: Pauses | None = None, **given: object
) -> AsyncIterator[Stage]:
    """A platform where the server's model answers."""
    async with (
        speaker(model_settings(server, workspace, **given), pauses or Pauses()) as agent,
        stage(workspace, agent=agent) as on,
    ):
        yield on


def transcript(workspace: Path) -> str:
    """Everything that the ledger holds as said."""
    return "\n".join(str(row) for row in rows(workspace, "SELECT * FROM texts"))


def memory(workspace: Path) -> str:
    """Everything that people may read in the workspace."""
    paths = sorted(path for path in workspace.rglob("*") if path.is_file() and ".remem" not in path.parts)
    return "\n".join(path.read_text("utf-8") for path in paths)
