"""`remem run` as a process of its own, unpatched, told where to go by its environment alone.

    async with program(workspace, peer.environment(folder)) as remem:
        await remem.while_running(peer.connected())
        …
    # left by the end of the block: SIGTERM, exit code 0, no traceback

A scenario talks to the platform's peer; here is only the process: its start, its standard error, its end. Everything
that waits does so on a condition, with a deadline; where the process ends meanwhile, the failure shows what it wrote.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

DEADLINE_S = 30.0
"""For one step of a scenario, on a loaded machine."""

_OURS = ("REMEM_", "SLACK_", "DISCORD_")
_T = TypeVar("_T")


@dataclass(slots=True)
class Program:
    """One running (or ended) `remem run`. `lines`: what it wrote to standard error."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _reading: asyncio.Task[None] | None = None

    @property
    def stderr(self) -> str:
        """All that it wrote until now."""
        return "\n".join(self.lines)

    async def logged(self, *wanted: str, count: int = 1) -> str:
        """Wait for the `count`-th line that holds all of `wanted`."""
        return await self.while_running(self._line(wanted, count))

    async def _line(self, wanted: tuple[str, ...], count: int) -> str:
        async with self._news:
            while len(found := self.lines_with(*wanted)) < count:
                await self._news.wait()
            return found[count - 1]

    def lines_with(self, *wanted: str) -> list[str]:
        """The lines so far that hold all of `wanted`."""
        return [line for line in self.lines if all(one in line for one in wanted)]

    async def while_running(self, waiting: Awaitable[_T]) -> _T:
        """The result of `waiting`. Where it fails, is late or the process ends, the failure shows standard error."""
        wanted, ended = asyncio.ensure_future(waiting), asyncio.ensure_future(self.process.wait())
        try:
            done, _ = await asyncio.wait({wanted, ended}, timeout=DEADLINE_S, return_when=asyncio.FIRST_COMPLETED)
            if wanted in done and wanted.exception() is None:
                return wanted.result()
            why = (
                wanted.exception() if wanted in done else f"ended with {ended.result()}" if ended in done else "late"
            )
            raise AssertionError(f"{why}; remem wrote:\n{self.stderr}")
        finally:
            await _dropped(wanted, ended)

    async def ended(self) -> int:
        """Wait until it ends by itself (or by what a test did to it): the exit code."""
        async with asyncio.timeout(DEADLINE_S):
            code = await self.process.wait()
            if self._reading is not None:
                await self._reading
        return code

    async def stop(self) -> int:
        """SIGTERM, as a service manager stops it: the exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        return await self.ended()

    async def end_cleanly(self) -> None:
        """SIGTERM; then exit code 0, and no traceback in all that it wrote since its start."""
        code = await self.stop()
        assert code == 0, f"exit code {code}; remem wrote:\n{self.stderr}"
        assert "Traceback" not in self.stderr, self.stderr

    async def kill(self) -> None:
        """SIGKILL, as a power cut ends it."""
        if self.process.returncode is None:
            self.process.kill()
        await self.ended()

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            async with self._news:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self._news.notify_all()


async def _dropped(*tasks: asyncio.Future[_T] | asyncio.Future[int]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def start(workspace: Path, environment: Mapping[str, str]) -> Program:
    """Start `remem run` on `workspace`, in a home of its own, without the developer's settings."""
    home = workspace.parent / "home"
    await asyncio.to_thread(home.mkdir, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    own = {"HOME": str(home), "TZ": "UTC", "REMEM_WORKSPACE": str(workspace), "PYTHONUNBUFFERED": "1"}
    own |= {"REMEM_ANSWERS_PER_PERSON": "0", "REMEM_ANSWERS_PER_ROOM": "0"}  # scenarios ask faster than people
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from bot.cli import main; main()",
        "run",
        env={**inherited, **own, **environment},
        cwd=home,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    program = Program(process)
    program._reading = asyncio.create_task(program._read())
    return program


@asynccontextmanager
async def program(workspace: Path, environment: Mapping[str, str]) -> AsyncIterator[Program]:
    """`remem run` for the length of the block; what still runs then must end cleanly."""
    remem = await start(workspace, environment)
    try:
        yield remem
        if remem.process.returncode is None:
            await remem.end_cleanly()
    finally:
        await remem.kill()
