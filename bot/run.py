"""`remem chat`, `remem run` and `remem init`: from settings to a running program and back to a clean end."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import structlog

from adapters.base import Adapter
from bot.app import App, begin_ledger_anew, opened
from bot.platforms import platforms
from bot.reading import KNOWN, host_zone, settings_for
from bot.settings import Settings, effective
from bot.welcoming import owners
from memory_core.clock import SystemClock, day_in
from memory_core.layout_note import require_layout
from memory_core.layouts import layout_named
from memory_core.redact import mask as redact
from memory_core.store.tree import Tree
from memory_core.workspace import initialise

LEFT_S = 1.0
"""How long what a model was asked may take to end, after all else has."""

_log = structlog.get_logger()


def init(workspace: Path | None, *, new_ledger: bool = False) -> None:
    """Lay down what is missing and say which files are new; `new_ledger`: begin one where there is none."""
    settings, zone = settings_for(workspace, quiet=True), host_zone()
    layout = layout_named(settings.layout)
    if settings.workspace.is_dir():
        require_layout(Tree(settings.workspace), layout)
    created = initialise(settings.workspace, layout, day=day_in(zone, SystemClock().now()), zone=str(zone))
    for file in created:
        _write(f"created {file}")
    if new_ledger:
        asyncio.run(begin_ledger_anew(settings))
        _write("The ledger is ready; what was set aside is kept beside it.")
    _write(f"{settings.workspace} is ready" + ("." if created else "; nothing was missing."))


def chat(workspace: Path | None) -> None:
    """The console on this terminal."""
    _readable_streams()
    to_its_end(_chat(settings_for(workspace, quiet=True)))


def _readable_streams() -> None:
    """A byte that this terminal cannot show or say is replaced; it must not end the conversation."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


async def _chat(settings: Settings) -> None:
    from adapters.console.adapter import ConsoleAdapter

    at_prompt = False

    def prompt(text: str) -> None:
        nonlocal at_prompt
        at_prompt = True
        _show(text)

    async def typed() -> AsyncIterator[str]:
        nonlocal at_prompt
        async for line in _lines():
            at_prompt = False
            yield line

    def console_of(app: App) -> list[Adapter]:
        _write(
            f"remem remembers in {settings.workspace}. This is your DM with it; `/join #build` goes to a group room,"
        )
        _write("`/help` lists what this terminal can do, `/remem help` what the memory can do.")
        console = ConsoleAdapter(
            typed(),
            _write,
            SystemClock(),
            app.new_id,
            app.parts.conversations.settled,
            owners=owners(settings),
            show_prompt=prompt if sys.stdin.isatty() else _no_prompt,
            stream=_show,
        )
        return [console]

    await until_stopped(opened(settings, known=KNOWN.expanduser()), console_of, signal.SIGTERM)
    if at_prompt:
        _write("")  # nobody typed a line here, as after Ctrl-C: the shell's own prompt begins a new one


def _write(text: str) -> None:
    _show(text + "\n")


def _show(text: str) -> None:
    """Put text on the screen. Whoever read it may be gone (`remem chat | head`): what is still typed is taken in."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _no_prompt(prompt: str) -> None:
    """Piped input needs no prompt."""


async def _lines() -> AsyncIterator[str]:
    """Lines of standard input. A daemon thread reads them, so that waiting for a person never holds up the end."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(queue.put_nowait, line)
        loop.call_soon_threadsafe(queue.put_nowait, None)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


def run(workspace: Path | None) -> None:
    """All platforms that have tokens, until SIGTERM or Ctrl-C."""
    to_its_end(run_platforms(settings_for(workspace)))


async def run_platforms(settings: Settings) -> None:
    """Connect every platform that has tokens, until SIGTERM. Raises RememError where one is refused for good."""
    platforms(settings)  # a missing token is said before anything is laid down
    await asyncio.to_thread(redact.load)  # every line of the log is masked
    _log.info("settings", **effective(settings))

    def connected(app: App) -> list[Adapter]:
        found = platforms(settings, app)
        _log.info(
            "remem starts",
            workspace=str(settings.workspace),
            platforms=sorted(one.platform for one in found),
            layout=settings.layout,
        )
        return found

    opening = opened(settings, known=KNOWN.expanduser())
    await until_stopped(opening, connected, signal.SIGTERM, signal.SIGINT)


async def until_stopped(
    opening: AbstractAsyncContextManager[App], adapters: Callable[[App], Iterable[Adapter]], *signals: signal.Signals
) -> None:
    """Open the program and run it until it ends by itself or is told to, which counts from the first moment on: then
    nothing more is begun or taken in, and no model waited for. Raises RememError where it cannot start or go on.
    """
    running, loop = asyncio.create_task(_opened_and_run(opening, adapters)), asyncio.get_running_loop()

    def stop() -> None:
        running.cancel()
        for told in signals:  # once: a second signal must not cut short what the first one began
            loop.add_signal_handler(told, _patience)

    for told in signals:
        loop.add_signal_handler(told, stop)
    try:
        await running
    except asyncio.CancelledError:
        _log.info("remem stops: what is not answered yet is kept")


async def _opened_and_run(
    opening: AbstractAsyncContextManager[App], adapters: Callable[[App], Iterable[Adapter]]
) -> None:
    async with opening as app:
        for adapter in adapters(app):
            app.add(adapter)
        await app.run()


def _patience() -> None:
    _log.info("remem is stopping already")


def to_its_end(program: Coroutine[object, object, None]) -> None:
    """`asyncio.run`, but what still goes on when the program has ended (what was asked of a model, in a task that
    will not be cancelled or in a thread, which cannot be) is waited for LEFT_S and then left: all that must be kept
    is. Raises what `program` raises.
    """
    with asyncio.Runner() as runner:
        runner.run(program)
        if not runner.run(_nothing_left()):
            _log.warning("what was asked of a model goes on; it is not waited for")
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


async def _nothing_left() -> bool:
    """End the tasks and threads that are left; False where they do not end."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=LEFT_S)
    ending = asyncio.create_task(asyncio.get_running_loop().shutdown_default_executor())
    await asyncio.wait({ending}, timeout=LEFT_S)
    return ending.done() and all(task.done() for task in left)
