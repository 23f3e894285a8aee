"""The import of one memory's history: rooms of a file into a workspace that lives, beside what was said there since.

Messages go the way in of live ones (masked, under the keys that the live adapters give them, once each), but no
further: nothing is answered, no command obeyed, nobody greeted. They are saved when they would have been: by the
silences and days of a schedule of their own, on the messages' clock (bot/message_clock.py), which no live timer is
part of. The saves themselves happen today, on the real clock: what they keep is dated by the messages and counts as
referenced today; flush state and tasks tell of today; memory sleeps in its next night, not on the messages' clock.

    first      what waits in this memory is saved, as it is; noted is which conversations were heard before
    journey    groups of messages; after each group, and when timers rang, a mark in the ledger says how far it came
    last       what is left is saved; the transcript is put in the order of time; raw text goes as REMEM_RAW_DAYS says

The mark bears the file's fingerprint and the rooms; with the same command another process goes on from it. It holds
the schedule's timers, so the journey goes on as if nobody had stopped it: from the mark on all is done again, and
what was done already changes nothing. The mark goes when all is done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

from adapters.messages import Incoming
from bot.app import App
from bot.heard import event_of, masked
from bot.message_clock import Ahead, Figures, Journey, Moved, time_passes
from bot.schedule import Schedule
from bot.turn import FULL
from memory_core.clock import ManualClock
from memory_core.errors import BadInput, RememError, StoreFailed
from memory_core.flush.engine import Receipt, Trigger
from memory_core.ids import GroupScope, RoomKey, Scope
from memory_core.ledger.base import Posted, RoomState
from memory_core.ledger.memory_timers import MemoryTimers
from memory_core.ledger.timers import NEVER, Timer
from memory_core.messages import Voice

IMPORT = "import:"
"""How the keys of marks begin."""


@dataclass(slots=True)
class Mark:
    """How far an import came. `tokens`: of what was taken in since the last flush; `known`: how many messages were
    known when it began; `kept`: entries that its flushes wrote; `heard`: conversations that were heard before it."""

    at: int = 0
    tokens: int = 0
    known: int = 0
    kept: int = 0
    heard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """Rooms of a file that are one memory: the file's fingerprint, how many messages it has, how many are known."""

    scope: GroupScope
    rooms: tuple[RoomKey, ...]
    sha256: str
    messages: int
    known: int

    @property
    def key(self) -> str:
        """The key of its mark."""
        rooms = hashlib.sha256("\n".join(sorted(self.rooms)).encode()).hexdigest()
        return f"{IMPORT}{self.sha256[:16]}:{rooms[:16]}"


@dataclass(slots=True)
class _Import:
    """The journey of one job."""

    app: App
    job: Job
    clock: ManualClock
    idle_s: int
    full_tokens: float
    figures: Figures
    moved: Moved
    mark: Mark = field(default_factory=Mark)
    timers: MemoryTimers = field(default_factory=MemoryTimers)
    states: dict[RoomKey, RoomState] = field(default_factory=dict)
    failed: RememError | None = None
    schedule: Schedule = field(init=False)

    def __post_init__(self) -> None:
        self.schedule = Schedule(self.timers, self.clock, self.idle_s, self.save, self.app.saving.zone_of)

    # -- how far it came -------------------------------------------------------------------------------------------

    async def take_up(self) -> bool:
        """Take up the mark of an earlier process; False where there is none. Raises LedgerFailed."""
        every = await self.app.parts.timers.due(NEVER)
        found = next((timer for timer in every if timer.key == self.job.key), None)
        if found is None:
            return False
        for key, due_at, about in json.loads(found.about)["timers"]:
            await self.timers.set(Timer(key, datetime.fromisoformat(due_at), about))
        told = json.loads(await self.schedule.go_on())
        self.mark = Mark(**{**told, "heard": tuple(told["heard"])})
        return True

    async def keep(self) -> None:
        """Keep how far it came, durably. Raises LedgerFailed."""
        await self.schedule.rest(json.dumps(asdict(self.mark)))
        timers = [(one.key, one.due_at.isoformat(), one.about) for one in await self.timers.due(NEVER)]
        about = json.dumps({"scope": self.job.scope.key, "owner": False, "timers": timers})
        await self.app.parts.timers.set(Timer(self.job.key, NEVER, about))

    # -- the traveller ---------------------------------------------------------------------------------------------

    async def arrived(self, rang: bool) -> None:
        """What rang was saved: it is not to be saved again together with what comes."""
        if rang:
            self.check()
            await self.keep()

    async def take(self, group: Sequence[Incoming]) -> int:
        """Take in as many as fit before a flush; a conversation that is full is saved at once."""
        with self.figures.stage("take in"):
            group, full = self._until_full([masked(one)[0] for one in group])
            events = [self._event(one) for one in group]
            await self.app.parts.intake.record(events)
        for one, event in zip(group, events, strict=True):
            self.clock.move_to(max(one.sent_at, self.clock.now()))
            if event.scope is not None and one.author.voice is Voice.PERSON:
                await self.schedule.active(one.conversation, self.job.scope)
        if full:
            with self.figures.stage("save"):
                await self.save(self.job.scope, Trigger.CONTEXT)
            self.check()
        return len(group)

    async def rest(self, taken: int) -> None:
        """Count and keep them."""
        self.mark.at += taken
        await self.keep()
        self.moved(self.mark.at, self.job.messages)

    def _until_full(self, group: Sequence[Incoming]) -> tuple[Sequence[Incoming], bool]:
        """As many as fill what is saved at once, and whether they do; their tokens are counted in the mark."""
        count = self.app.parts.counter.count
        for at, one in enumerate(group, 1):
            self.mark.tokens += count(one.text)
            if self.mark.tokens >= self.full_tokens:
                return group[:at], True
        return group, False

    def _event(self, incoming: Incoming) -> Posted:
        """As the ledger keeps it: what was said to us is marked so, but nothing of the past waits for an answer."""
        state = self.states[incoming.room.key]
        event = event_of(incoming, self.job.scope, state)
        if not isinstance(event, Posted):
            raise BadInput(f"{incoming.event} is no message; a history holds messages alone.")
        return replace(event, owed=False, past=str(incoming.conversation) in self.mark.heard)

    # -- saves -----------------------------------------------------------------------------------------------------

    async def save(self, scope: Scope, trigger: Trigger) -> None:
        """Save what was taken in. What fails is kept for `check`: the schedule that calls this only logs it."""
        try:
            receipt = await self.app.saving.save(scope, trigger, past=True)
        except RememError as refused:
            self.failed = refused
            return
        self.failed = _failure(receipt)
        if self.failed is None:
            self.mark.tokens = 0
            self.mark.kept += sum(receipt.kinds.values())

    def check(self) -> None:
        """Raise what a flush failed with: nothing more is taken in on top of it."""
        if self.failed is not None:
            raise self.failed


def _failure(receipt: Receipt) -> RememError | None:
    if not receipt.problem:
        return None
    return StoreFailed(f"What was imported is not saved yet: {receipt.problem} The same command goes on from here.")


async def import_one(
    app: App, job: Job, events: Iterator[Incoming], idle_s: int, figures: Figures, moved: Moved
) -> Mark:
    """Import the events, in the order of their times, from where an earlier process came to; how it ended.

    Raises RememError; then, as after a crash, the same call goes on.
    """
    ahead = Ahead(events)
    first = await ahead.next(1)
    if not first:
        return Mark()
    going = _Import(app, job, ManualClock(first[0].sent_at), idle_s, FULL * app.parts.context_tokens, figures, moved)
    going.states = {room: await app.parts.intake.room(room) for room in job.rooms}
    if await going.take_up():
        await ahead.drop(going.mark.at - 1)
        going.clock.move_to((await ahead.next(1))[0].sent_at)
        await ahead.drop(min(going.mark.at, 1))
        figures.known += going.mark.at
    elif job.known == job.messages:
        figures.known += job.messages
        return Mark(job.messages, known=job.known)
    else:
        await _begin(going)
    zone, idle = await app.saving.zone_of(job.scope), timedelta(seconds=idle_s)
    await Journey(going.clock, going.schedule, idle, zone, figures).go(ahead, going)
    with figures.stage("save"):
        await _end(going)
    return going.mark


async def _begin(going: _Import) -> None:
    """Save what waits in this memory, and note what was heard of it before. Raises RememError."""
    app, scope = going.app, going.job.scope
    if scope in await app.parts.intake.scopes():
        receipt = await app.saving.save(scope, Trigger.IDLE)
        if receipt.problem:
            raise StoreFailed(
                f"What was said in {scope.name} since its last flush could not be saved: {receipt.problem} Nothing "
                "was imported; start `remem run` to have it saved, then import again."
            )
    reached = await app.parts.intake.reached(going.job.rooms[0].platform)
    heard = [one.conversation for one in reached if one.scope == scope and one.message is not None]
    going.mark = Mark(known=going.job.known, heard=tuple(str(one) for one in heard if one.room in going.job.rooms))
    await going.keep()


async def _end(going: _Import) -> None:
    """Save what is left, put the transcript in order, and let go of the mark. Raises RememError."""
    app, scope = going.app, going.job.scope
    await time_passes(going.schedule, going.clock, going.clock.now() + 2 * timedelta(seconds=going.idle_s))
    going.check()
    await going.save(scope, Trigger.IDLE)  # what apps said where nobody spoke since
    going.check()
    await app.parts.handles.open(scope).ledger.put_in_order()
    await app.upkeep.erase(scope)
    await app.upkeep.revise(scope)
    await app.upkeep.overview(now=True)
    await app.parts.timers.cancel(going.job.key)
