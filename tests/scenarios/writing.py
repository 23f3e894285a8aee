"""An agent that writes bit by bit what a test tells it to, and the program around it with one adapter.

    writer = Writer()
    async with running(workspace, adapter, writer) as app:
        …                                      # somebody asks something that begins with "write"
        await writer.asked()
        await writer.writes("The first words ")
        await writer.ends("The first words and the last.")

Whatever else it is asked it answers at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from adapters.base import Adapter
from bot.agent import Ask, Doors, Reply, Show
from bot.app import App, opened
from memory_core.clock import Clock, SystemClock
from tests.scenarios.terminal import settings

DEADLINE_S = 20.0


@dataclass(slots=True)
class Writer:
    """The agent. `questions`: all that it was asked, in order."""

    questions: list[str] = field(default_factory=list)
    _told: asyncio.Queue[str | Reply | Exception] = field(default_factory=asyncio.Queue)
    _begun: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """Write what the test tells."""
        text = ask.message.text
        self.questions.append(text)
        if "write" not in text:
            return Reply(f"to: {text}")
        self._begun.put_nowait(text)
        while True:
            told = await self._told.get()
            self._told.task_done()
            match told:
                case str(part):
                    await show(part)
                case Reply():
                    return told
                case Exception():
                    raise told

    async def asked(self) -> str:
        """Wait until it writes; the question."""
        return await asyncio.wait_for(self._begun.get(), DEADLINE_S)

    async def writes(self, *texts: str) -> None:
        """Show these, each as far as the answer is written; returns when the last was shown to the program."""
        for text in texts:
            self._told.put_nowait(text)
        await self._told.join()

    async def ends(self, text: str) -> None:
        """The whole answer."""
        self._told.put_nowait(Reply(text))
        await self._told.join()

    async def breaks(self, error: Exception) -> None:
        """It cannot go on."""
        self._told.put_nowait(error)
        await self._told.join()


def growing(text: str, step: int = 7) -> list[str]:
    """A text as it grows, some characters at a time."""
    return [text[:end] for end in range(step, len(text), step)]


async def until(true: Callable[[], object], what: str) -> None:
    """Wait until something that the program does has made it `true`."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not true():  # noqa: ASYNC110  # what it waits for is the program's, and rings no bell
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise AssertionError(f"{what} did not come") from None


@asynccontextmanager
async def running(
    workspace: Path, adapter: Adapter, writer: Writer, *, clock: Clock | None = None, **given: object
) -> AsyncIterator[App]:
    """The program with one platform for the length of the block; then it is stopped as by SIGTERM."""
    told = settings(workspace, **{"dm": "everyone", **given})
    async with opened(told, clock=clock or SystemClock(), zone=UTC, agent=writer) as app:
        app.add(adapter)
        runs = asyncio.create_task(app.run())
        try:
            yield app
        finally:
            runs.cancel()
            await asyncio.gather(runs, return_exceptions=True)
