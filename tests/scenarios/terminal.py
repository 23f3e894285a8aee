"""A terminal for scenarios: the whole program, real files, real SQLite, driven by lines as a person types them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from adapters.console.adapter import ConsoleAdapter
from bot.agent import Agent
from bot.app import App, opened
from bot.settings import Settings, load
from memory_core.candidates import Extractor
from memory_core.clock import ManualClock
from memory_core.ids import PageId, Scope

START = datetime(2026, 4, 6, 12, 0, tzinfo=UTC)


async def _typed(lines: Sequence[str]) -> AsyncIterator[str]:
    for line in lines:
        yield line


@dataclass(slots=True)
class Terminal:
    """One running program and its terminal. `reads` are the pages that were read, `shown` everything on screen."""

    app: App
    clock: ManualClock
    reads: list[tuple[Scope, PageId]]
    shown: list[str] = field(default_factory=list)

    async def type(self, *lines: str) -> list[str]:
        """Type lines in a fresh console (DM of `me` first); what the bot said to them."""
        before = len(self.shown)
        console = ConsoleAdapter(
            _typed(lines), self.shown.append, self.clock, self.app.new_id, self.app.parts.conversations.settled
        )
        self.app.add(console)
        await console.run(self.app.turn.take_in)
        return self.shown[before:]

    async def silence(self, seconds: float) -> None:
        """Let time pass and ring what is due."""
        self.clock.advance(seconds)
        await self.app.schedule.ring()


def settings(workspace: Path, **given: object) -> Settings:
    """Settings of a scenario: nothing from the developer's environment or .env; people there talk without a pause."""
    return load(workspace=workspace, _env_file=None, **{"answers_per_person": 0, "answers_per_room": 0, **given})


_ids = count(1)


@asynccontextmanager
async def terminal(
    workspace: Path,
    *,
    clock: ManualClock | None = None,
    agent: Agent | None = None,
    extractor: Extractor | None = None,
    **given: object,
) -> AsyncIterator[Terminal]:
    """The program on `workspace`, on a clock that stands until it is moved."""
    clock = clock or ManualClock(START)
    reads: list[tuple[Scope, PageId]] = []
    async with opened(
        settings(workspace, **given),
        clock=clock,
        zone=UTC,
        agent=agent,
        extractor=extractor,
        new_id=lambda: f"m{next(_ids)}",
        on_read=lambda scope, page: reads.append((scope, page)),
    ) as app:
        yield Terminal(app, clock, reads)
