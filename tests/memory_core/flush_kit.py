"""What the flush's tests share: one scope with pages and a ledger, people who speak, an extractor of labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from memory_core.candidates import Candidate, Request, Value
from memory_core.clock import ManualClock
from memory_core.errors import RememError
from memory_core.flush.engine import Receipt, Trigger, flush, resume
from memory_core.flush.undo import undo
from memory_core.forms import records
from memory_core.handle import Handle
from memory_core.ids import (
    Conversation,
    EventKey,
    GroupScope,
    MessageKey,
    PageId,
    PersonKey,
    RoomKey,
    Scope,
    message_key,
)
from memory_core.index import new_index
from memory_core.layouts import APM, INDEX, Kind, Layout
from memory_core.ledger.base import Deleted, Edited, Hit, Plan, Posted, ScopeLedger
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import OpenLedger
from memory_core.messages import Message, Voice
from memory_core.store.base import Change, PageText, Stamp, State, Store
from memory_core.store.files import FileStores
from memory_core.store.memory import MemoryStores
from memory_core.tokens import EstimatingCounter

START = datetime(2026, 4, 6, 6, 0, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")
ROOM = RoomKey("slack:T1:C9")
GROUP = GroupScope("build")
_LABEL = re.compile(r"(?P<kind>[a-z]+)(?P<open>\?)?(?: (?P<mark>HIGH|done))?: (?P<body>.*)", re.DOTALL)


class LabelExtractor:
    """A real, tiny extractor: `decision: …`, `task: …`, `status done: …`; with `?` behind the kind it is unsettled;
    ` ||` ends a line where one message states several things.

    `fail` is raised instead of an answer, as often as it says; `requests` keeps what was asked.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.failures: list[RememError] = []
        self.invented: tuple[Candidate, ...] = ()

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """One candidate per labelled message of a person."""
        self.requests.append(request)
        if self.failures:
            raise self.failures.pop(0)
        spoken = [message for message in request.messages if message.voice is Voice.PERSON]
        return [*(one for message in spoken for one in all_labelled(message)), *self.invented]


def all_labelled(message: Message) -> list[Candidate]:
    """The candidates of a message that states several things: `decision: … ||`, `task: …`."""
    parts = (replace(message, text=part) for part in message.text.split(" ||\n"))
    return [one for one in map(labelled, parts) if one is not None]


def labelled(message: Message) -> Candidate | None:
    """The candidate that a labelled message states."""
    found = _LABEL.fullmatch(message.text)
    if found is None or found["kind"] not in set(Kind):
        return None
    return Candidate(
        kind=Kind(found["kind"]),
        title=found["body"][:80],
        body=found["body"],
        author=message.author,
        sources=(message.key,),
        value=Value.HIGH if found["mark"] == "HIGH" else Value.MEDIUM,
        settled=not found["open"],
        who=message.author_name if found["kind"] in ("task", "status", "blocker") else "",
        status="done" if found["mark"] == "done" else "",
    )


class Stop(Exception):
    """The process dies here."""


@dataclass(slots=True)
class Faults:
    """Which write-like call fails, counted over store and ledger: at call `at` with `error`, once."""

    at: int = 0
    error: type[Exception] = Stop
    after: bool = False
    calls: int = 0

    def step(self, *, done: bool) -> None:
        """One call; raises where it is the chosen one."""
        if done != self.after:
            return
        self.calls += 1
        if self.calls == self.at:
            raise self.error("the disk or the process went away")


@dataclass(slots=True)
class FaultyStore:
    """A store whose commits can fail; between a read and a commit `edit` may change a page like a person."""

    inner: Store
    faults: Faults
    edits: list[tuple[PageId, bytes]] = field(default_factory=list)
    put: MemoryStores | None = None

    @property
    def scope(self) -> Scope:
        """The scope."""
        return self.inner.scope

    async def read(self, page: PageId) -> PageText | None:
        """As the store."""
        return await self.inner.read(page)

    async def stamp(self, page: PageId) -> Stamp | None:
        """As the store."""
        return await self.inner.stamp(page)

    async def pages(self) -> tuple[PageId, ...]:
        """As the store."""
        return await self.inner.pages()

    async def states(self) -> Mapping[PageId, State]:
        """As the store."""
        return await self.inner.states()

    async def commit(self, changes: Sequence[Change]) -> tuple[Stamp, ...]:
        """As the store, unless it is this call's turn to fail."""
        for page, content in self.edits[:1]:
            if self.put is not None and any(change.page == page for change in changes):
                self.put.put(self.scope, page, content)
                self.edits.pop(0)
        self.faults.step(done=False)
        stamps = await self.inner.commit(changes)
        self.faults.step(done=True)
        return stamps


class FaultyLedger:
    """A ledger whose plans and cursors can fail."""

    def __init__(self, inner: ScopeLedger, faults: Faults) -> None:
        self._inner = inner
        self._faults = faults
        self.scope = inner.scope
        self.conversations = inner.conversations
        self.context = inner.context
        self.find = inner.find
        self.cursor = inner.cursor
        self.open_plans = inner.open_plans
        self.last_plan = inner.last_plan
        self.mark_written = inner.mark_written
        self.written = inner.written
        self.ways_back = inner.ways_back
        self.add_hits = inner.add_hits
        self.hits = inner.hits
        self.unflushed = inner.unflushed
        self.changed = inner.changed
        self.erase = inner.erase
        self.usage = inner.usage
        self.transcript_state = inner.transcript_state
        self.transcript_outline = inner.transcript_outline
        self.transcript = inner.transcript
        self.put_in_order = inner.put_in_order

    async def save_plan(self, plan: Plan) -> None:
        """As the ledger."""
        self._faults.step(done=False)
        await self._inner.save_plan(plan)
        self._faults.step(done=True)

    async def close_plan(self, plan: Plan) -> None:
        """As the ledger."""
        self._faults.step(done=False)
        await self._inner.close_plan(plan)
        self._faults.step(done=True)

    async def move_cursors(self, cursors: Mapping[Conversation, int]) -> None:
        """As the ledger."""
        self._faults.step(done=False)
        await self._inner.move_cursors(cursors)
        self._faults.step(done=True)


@dataclass(frozen=True, slots=True)
class Disk:
    """Files and SQLite in the place of the twins."""

    folder: Path
    stores: FileStores
    ledger: OpenLedger


class World:
    """One scope in memory: `say` something, `flush`, look at `text(page)`."""

    def __init__(
        self,
        scope: Scope = GROUP,
        zone: tzinfo = UTC,
        *,
        indexed: bool = True,
        clock: ManualClock | None = None,
        disk: Disk | None = None,
        layout: Layout = APM,
    ) -> None:
        self.layout = layout
        self.scope = scope
        self.zone = zone
        self.clock = clock or ManualClock(START)
        self.stores = MemoryStores(layout)
        self.ledger = MemoryLedger(self.clock)
        self.disk = disk
        self.extractor = LabelExtractor()
        self.faults = Faults()
        self.said = 0
        self.handle = self.open()
        if indexed:
            text = new_index(
                self.handle.table,
                name="build",
                rooms=[ROOM],
                purpose="",
                created=date(2026, 4, 6),
                zone="",
                form=layout.index_form,
            )
            self.stores.put(scope, INDEX, text.encode())

    def open(self) -> Handle:
        """A fresh handle, as after a restart."""
        store = self.disk.stores.open(self.scope) if self.disk else self.stores.open(self.scope)
        ledgers = self.disk.ledger if self.disk else self.ledger
        self.store = FaultyStore(store, self.faults, put=self.stores)
        ledger = FaultyLedger(ledgers.open(self.scope), self.faults)
        return Handle(self.store, ledger, self.layout, EstimatingCounter(), self.clock, self.zone)

    async def say(
        self,
        *texts: str,
        by: str = "ana",
        thread: str = "",
        voice: Voice = Voice.PERSON,
        reply_to: MessageKey | None = None,
    ) -> list[MessageKey]:
        """Messages of one person, a minute apart; their keys."""
        keys = []
        for text in texts:
            self.said += 1
            key = message_key(ROOM, f"17124.{self.said:06d}")
            message = Message(
                key,
                Conversation(ROOM, thread),
                PersonKey(f"slack:T1:{by.upper()}"),
                by,
                text,
                self.clock.now(),
                voice,
                "#build",
                reply_to=reply_to,
            )
            intake = self.disk.ledger.intake if self.disk else self.ledger.intake
            await intake.record([Posted(_event(key), message, self.scope)])
            self.clock.advance(60)
            keys.append(key)
        return keys

    async def edit(self, key: MessageKey, text: str) -> None:
        """The message gets another text on its platform."""
        now = self.clock.now()
        await self.ledger.intake.record([Edited(_event(f"{key}!{now.isoformat()}"), key, text, now)])

    async def delete(self, key: MessageKey) -> None:
        """The message is removed on its platform."""
        await self.ledger.intake.record([Deleted(_event(f"{key}!deleted"), key)])

    async def flush(self, trigger: Trigger = Trigger.COMMAND) -> Receipt:
        """Flush, a minute later."""
        self.clock.advance(60)
        return await flush(self.handle, self.extractor, trigger, self.zone)

    def text(self, page: str) -> str:
        """The page's text; '' where there is none."""
        if self.disk is not None:
            file = self.disk.folder / self.layout.file(self.scope, PageId(page))
            return file.read_text() if file.exists() else ""
        return (self.stores.raw(self.scope, PageId(page)) or b"").decode()

    def put(self, page: str, text: str) -> None:
        """Write a page by hand."""
        self.stores.put(self.scope, PageId(page), text.encode())

    def titles(self, page: str = "experience") -> list[str]:
        """The titles of a page's records."""
        return [placed.record.title for placed in records.parse(self.text(page)).records]

    def record(self, title: str, page: str = "experience") -> records.Record:
        """The record of that title."""
        return next(
            placed.record for placed in records.parse(self.text(page)).records if placed.record.title == title
        )

    async def use(self, title: str, page: str = "experience") -> None:
        """The record was quoted in an answer."""
        hit = Hit(PageId(page), self.record(title, page).identity, self.clock.now())
        await self.ledger.open(self.scope).add_hits([hit])


def _event(key: str) -> EventKey:
    return EventKey(key)


async def stopped_undo(world: World, at: int, *, after: bool) -> int:
    """Undo, stopped before (or `after`) its step number `at` (0: never) and taken up again; how many it took."""
    world.faults.calls, world.faults.at, world.faults.after = 0, at, after
    try:
        await undo(world.open())
    except Stop:
        await resume(world.open())
    world.faults.at = 0
    return world.faults.calls
