"""Putting remem together: the only file that names a concrete store, ledger or model (platforms: bot/platforms.py).

opened     the workspace held, swept and laid down; the ledger checked; parts built; open plans finished
run        adapters deliver into the turn, the schedule rings
closed     intake stops; what is durable and not answered is kept for the next flush; everything is closed
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import structlog

from adapters.base import Adapter
from adapters.rooms import Rooms
from bot.agent import Agent
from bot.conversations import CLOSING_S, Conversations
from bot.offline import OfflineAgent
from bot.parts import Parts
from bot.profiles import WithoutProfiles
from bot.reading import host_zone
from bot.saving import Saving
from bot.schedule import Schedule
from bot.settings import EmbedderName, Settings, Switch
from bot.sleeping import Sleeping
from bot.troubles import Troubles
from bot.turn import Turn
from bot.upkeep import Upkeep
from bot.welcoming import owners, welcome
from memory_core import lexicon, zone_names
from memory_core.aggregate import Aggregate
from memory_core.candidates import Extractor
from memory_core.clock import Clock, SystemClock, day_in
from memory_core.errors import LedgerDamaged
from memory_core.extract import RulesExtractor
from memory_core.handle import Handles
from memory_core.layouts import Layout, layout_named
from memory_core.ledger.base import Ledger
from memory_core.ledger.database import Faults, no_faults
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.loading import Mode
from memory_core.lock import hold
from memory_core.names import Names
from memory_core.names_file import NamesFile
from memory_core.redact import mask as redact
from memory_core.search import Searches
from memory_core.store.disk import Disk
from memory_core.store.files import FileStores, OnRead, finished
from memory_core.store.tree import Tree
from memory_core.tokens import Counter, load_counter
from memory_core.workspace import LEDGER, Workspace

if TYPE_CHECKING:  # what models and an embedder need is imported where one is set, and only there
    from bot.models.meter import LedgerMeter
    from bot.models.providers import Chosen
    from memory_core.search.meaning import Meaning

T = TypeVar("T")

_log = structlog.get_logger()


@dataclass(slots=True)
class App:
    """The running program."""

    parts: Parts
    turn: Turn
    saving: Saving
    schedule: Schedule
    new_id: Callable[[], str]
    upkeep: Upkeep
    sleeping: Sleeping
    adapters: dict[str, Adapter] = field(default_factory=dict)

    def add(self, adapter: Adapter) -> None:
        """Let an adapter speak and be spoken to."""
        self.adapters[adapter.platform] = adapter

    async def take_up(self) -> None:
        """Take up what an earlier run left: what waits to be saved, who waits for an answer. Raises LedgerFailed."""
        now = self.parts.clock.now()
        waiting = await self.saving.waiting(await self.parts.intake.scopes())
        # A message of a later time than now: the wall clock was set back. It cannot have been silent for longer.
        await self.schedule.rearm(replace(one, last_active=min(one.last_active, now)) for one in waiting)
        await self.turn.take_up()

    async def run(self) -> None:
        """Run all adapters and the schedule until every adapter has ended. Raises what the first one fails with."""
        await self.take_up()
        ringing = asyncio.create_task(self.schedule.run(), name="schedule")
        keeping = asyncio.create_task(self.upkeep.run(), name="upkeep")
        tasks = [
            asyncio.create_task(one.run(self.turn.take_in, partial(self.turn.answer_owed, name)), name=name)
            for name, one in self.adapters.items()
        ]
        try:
            # Not gather: a cancellation would end the adapters at once, before what they are saying is said.
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            await self.parts.conversations.close()
            await asyncio.gather(*(one.close() for one in self.adapters.values()))
            for task in (*tasks, ringing, keeping):
                task.cancel()
            # Bounded: a model's library may swallow the cancellation, and is not waited for.
            await asyncio.wait({*tasks, ringing, keeping}, timeout=CLOSING_S)


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    clock: Clock | None = None,
    zone: tzinfo | None = None,
    agent: Agent | None = None,
    extractor: Extractor | None = None,
    new_id: Callable[[], str] | None = None,
    on_read: OnRead | None = None,
    known: Path | None = None,
    disk: Disk | None = None,
    ledger_faults: Faults = no_faults,
) -> AsyncIterator[App]:
    """The program, ready for adapters, holding its workspace. Raises RememError where it cannot start.

    `on_read` hears of every page that is read; `known` lists workspaces that were opened before; `disk` makes the
    system's calls for all files but for what SQLite writes, `ledger_faults` hears of the ledger's statements before
    they run.
    """
    clock = clock or SystemClock()
    models = await asyncio.to_thread(_models, settings)  # a wrong one is said before anything is laid down
    meaning = await asyncio.to_thread(_meaning, settings)
    here = zone if zone is not None else await asyncio.to_thread(host_zone)
    layout = layout_named(settings.layout)
    day = day_in(here, clock.now())
    holding = asyncio.to_thread(
        Workspace.open, settings.workspace, layout, day=day, zone=str(here), known=known, clock=clock, disk=disk
    )
    workspace = await _whole(holding, lambda held: asyncio.to_thread(held.close))
    stores = FileStores(settings.workspace, layout, disk=disk, on_read=on_read)
    names = NamesFile(settings.workspace, layout, disk=disk, clock=clock, tell=_names_mended)
    try:
        opening = SqliteLedger.open(workspace.ledger, clock, faults=ledger_faults, disk=disk)
        ledger = await _whole(opening, OpenLedger.close)
        try:
            counter: Counter = await asyncio.to_thread(load_counter)
            await asyncio.to_thread(redact.load)
            await asyncio.to_thread(lexicon.load)
            await asyncio.to_thread(zone_names.load)
            searches = Searches(Tree(settings.workspace, disk), meaning)
            handles = Handles(stores, ledger, layout, counter, clock, here, searches)
            overview = Aggregate(settings.workspace, layout, disk)
            meter: LedgerMeter | None = None
            if models is not None:
                speaks, reads, meter = await _minds(models, settings, handles, ledger)
                agent, extractor = agent or speaks, extractor or reads
            app = assembled(
                settings, handles, ledger, names, agent=agent, extractor=extractor, new_id=new_id, overview=overview
            )
            await app.saving.finish_plans(await ledger.intake.scopes())
            async with _in_use(models, meter):
                yield app
            await _aside(searches.close)
        finally:
            await ledger.close()
    finally:
        await _aside(names.close)
        await _aside(stores.close)
        workspace.close()


async def _aside(close: Callable[[], None]) -> None:
    """Close in a thread of its own: those of the loop may all be held by what was asked of a model, and never end."""
    thread = ThreadPoolExecutor(1, "remem-close")
    try:
        await asyncio.get_running_loop().run_in_executor(thread, close)
    finally:
        thread.shutdown(wait=False)


def _models(settings: Settings) -> Chosen | None:
    """The models that are set, None without one. Blocking: loads their libraries. Raises BadInput for a wrong one."""
    if not (settings.model or settings.memory_model):
        return None
    from bot.models import extraction, meter, speaker  # noqa: F401  # loaded here, where it may take its time
    from bot.models.providers import chosen
    from bot.models.room import reads_nothing, require_room

    models, counter = chosen(settings), load_counter()
    require_room(models, settings, counter)
    for doubt in (*models.doubts, *reads_nothing(models, counter)):
        _log.warning("a doubt about a model", doubt=doubt)
    return models


def _meaning(settings: Settings) -> Meaning | None:
    """Search by meaning, None where no embedder is set. Blocking. Raises BadInput where its package is missing."""
    if settings.embedder is EmbedderName.OFF:
        return None
    from bot.embedding import Reporting, embedder
    from memory_core.search.meaning import Meaning

    chosen = embedder(settings)
    return Meaning(Reporting(chosen)) if chosen is not None else None


async def _minds(
    models: Chosen, settings: Settings, handles: Handles, ledger: Ledger
) -> tuple[Agent | None, Extractor, LedgerMeter]:
    """What answers (None: rules), what reads conversations when they are saved, and the one meter of both."""
    from bot.models.extraction import ModelExtractor
    from bot.models.limits import TurnLimits
    from bot.models.meter import metered
    from bot.models.providers import patience_s
    from bot.models.speaker import Speaker

    meter = await metered(settings, handles, ledger.reports)
    reads = ModelExtractor(
        models.memory,
        RulesExtractor(),
        counter=handles.counter,
        meter=meter,
        window_tokens=models.window_tokens,
        timeout_s=patience_s(models.memory, settings.model_timeout_s),
    )
    if models.reply is None:
        return None, reads, meter
    speaks = Speaker(
        models.reply,
        counter=handles.counter,
        meter=meter,
        limits=TurnLimits(settings.turn_requests, settings.turn_tool_calls, settings.turn_tokens, settings.turn_s),
        window_tokens=models.window_tokens,
        timeout_s=patience_s(models.reply, settings.model_timeout_s),
    )
    return speaks, reads, meter


@asynccontextmanager
async def _in_use(models: Chosen | None, meter: LedgerMeter | None) -> AsyncIterator[None]:
    """The models' connections, closed at the end; then the meter, which may still be keeping what a run used."""
    async with AsyncExitStack() as stack:
        if meter is not None:
            stack.push_async_callback(meter.close)
        for model in (models.reply, models.memory) if models is not None else ():
            if model is not None:
                await stack.enter_async_context(model)
        yield


async def _whole(opening: Coroutine[object, object, T], close: Callable[[T], Awaitable[None]]) -> T:
    """What is being opened. A cancellation waits until it is open, and closes it: no thread is left at work on it."""
    task = asyncio.ensure_future(opening)
    try:
        return await finished(task)
    except asyncio.CancelledError:
        if not task.cancelled() and task.exception() is None:
            await close(task.result())
        raise


def _names_mended(what: str) -> None:
    _log.error("room names were mended", what=what)


async def begin_ledger_anew(settings: Settings) -> None:
    """Begin a new ledger where a damaged one was set aside; a sound one stays. Raises WorkspaceHeld, LedgerFailed."""
    clock = SystemClock()
    lock = await asyncio.to_thread(hold, settings.workspace, clock)
    try:
        ledger = await _ledger_anew(settings.workspace / LEDGER, clock)
        await ledger.close()
    finally:
        lock.release()


async def _ledger_anew(path: Path, clock: Clock) -> OpenLedger:
    try:
        return await SqliteLedger.open(path, clock, begin_anew=True)
    except LedgerDamaged:  # it was set aside just now
        return await SqliteLedger.open(path, clock, begin_anew=True)


@asynccontextmanager
async def moving(
    settings: Settings,
    zone: tzinfo,
    layouts: tuple[Layout, Layout],
    *,
    clock: Clock | None = None,
    disk: Disk | None = None,
    ledger_faults: Faults = no_faults,
) -> AsyncIterator[tuple[Handles, Handles, Ledger]]:
    """Handles in two layouts for a command that moves the memory: the workspace is held, the ledger open.

    Nothing is laid down, and no plan finished. Raises WorkspaceHeld, LedgerError, StoreError.
    """
    clock = clock or SystemClock()
    lock = await asyncio.to_thread(hold, settings.workspace, clock, disk)
    stores = [FileStores(settings.workspace, layout, disk=disk) for layout in layouts]
    try:
        opening = SqliteLedger.open(settings.workspace / LEDGER, clock, faults=ledger_faults, disk=disk)
        ledger = await _whole(opening, OpenLedger.close)
        try:
            counter: Counter = await asyncio.to_thread(load_counter)
            await asyncio.to_thread(lexicon.load)
            await asyncio.to_thread(zone_names.load)
            old, new = (
                Handles(store, ledger, layout, counter, clock, zone)
                for store, layout in zip(stores, layouts, strict=True)
            )
            yield old, new, ledger
        finally:
            await ledger.close()
    finally:
        for store in stores:
            await asyncio.to_thread(store.close)
        lock.release()


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def assembled(
    settings: Settings,
    handles: Handles,
    ledger: Ledger,
    names: Names,
    *,
    agent: Agent | None = None,
    extractor: Extractor | None = None,
    new_id: Callable[[], str] | None = None,
    overview: Aggregate | None = None,
) -> App:
    """All parts in their places, on whatever stores and ledgers `handles` and `ledger` are."""
    conversations, adapters = Conversations(), dict[str, Adapter]()
    people = settings.discord_people is Switch.ON
    extractor = extractor or RulesExtractor()
    saving = Saving(handles, extractor if people else WithoutProfiles(extractor), conversations)
    parts = Parts(
        handles=handles,
        intake=ledger.intake,
        timers=ledger.timers,
        rooms=Rooms(names, owners(settings), shared_rooms=settings.slack_connect is Switch.ON),
        conversations=conversations,
        agent=agent or OfflineAgent(),
        adapters=adapters,
        mode=Mode(settings.disclosure.value),
        context_tokens=settings.context_tokens,
        people_on_discord=people,
        has_model=bool(settings.model or settings.memory_model),
        welcome=welcome(settings),
        answers_per_person=settings.answers_per_person,
        answers_per_room=settings.answers_per_room,
    )
    schedule = Schedule(ledger.timers, handles.clock, settings.idle_s, saving.save, saving.zone_of)
    saving.retries.later = schedule.again
    saving.upkeep = upkeep = Upkeep(handles, ledger.intake, settings.raw_days, overview)
    sleeping = Sleeping(handles, ledger.timers, saving.sleep, on=settings.sleep is Switch.ON)
    saving.sleeping, schedule.sleeper = sleeping, sleeping.ring
    saving.troubles = Troubles(ledger.timers, handles.clock)
    return App(parts, Turn(parts, saving, schedule), saving, schedule, new_id or _new_id, upkeep, sleeping, adapters)
