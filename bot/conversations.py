"""Conversations in flight: one queue per room, so that order is kept, and what is known of each conversation now.

A room's task lives as long as its queue has work. The queue is bounded: what comes on top of a burst is in the
ledger already and is not lost, it is only not answered (the log counts it). Nothing here is memory: after a restart
all of it is rebuilt from the ledger, a session begins anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import structlog

from memory_core.disclosure import Disclosure
from memory_core.errors import RememError
from memory_core.ids import Conversation, MessageKey, RoomKey, Scope
from memory_core.session import Session

BURST = 200
"""How many events of one room may wait at once."""

SAYING_S = 2.0
"""How long the end waits for an answer that is on its way to its platform."""

CLOSING_S = SAYING_S + 1.0
"""How long the end waits for what is being done: for what is being said, and for a page that is being written."""

Work: TypeAlias = Callable[[], Awaitable[None]]
"""What is to be done for one event."""

_T = TypeVar("_T")

_held: ContextVar[list[Work] | None] = ContextVar("held", default=None)

_log = structlog.get_logger()


@contextmanager
def held() -> Iterator[list[Work]]:
    """In this block, and this task, work is not queued but collected, for a caller who does it at its own moment."""
    collected: list[Work] = []
    token = _held.set(collected)
    try:
        yield collected
    finally:
        _held.reset(token)


async def done(room: RoomKey, work: Work) -> None:
    """Do one piece of work; its failure is logged and ends nothing else."""
    try:
        await work()
    except RememError as refused:
        _log.error("event failed", room=room, why=str(refused))
    except Exception:  # noqa: BLE001  # a task's end: one event must not take its room down
        _log.exception("event failed", room=room)


async def to_its_end(saying: Awaitable[_T]) -> _T:
    """Await `saying`; a cancellation waits for it, up to SAYING_S: an answer that was claimed must not get lost."""
    task = asyncio.ensure_future(saying)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=SAYING_S)
        task.cancel()
        raise


@dataclass(slots=True)
class Talk:
    """What is known of one conversation: its session and its tokens since the cursor."""

    scope: Scope
    session: Session = field(default_factory=Session)
    tokens: int | None = None
    """None: not counted yet (after a start or a flush)."""
    last_disclosure: Disclosure | None = None
    used: set[str] = field(default_factory=set)
    """Identities of records that this session has counted a hit for."""
    answered: bool = False
    """Was a reply given in this session? (A memory without an index discloses nothing, and yet one was.)"""
    shown_at: list[MessageKey] = field(default_factory=list)
    """For each disclosure of the session the message at whose turn it was made."""
    persona: str | None = None
    """SOUL.md as it stood when the session began; None: not read yet."""

    def disclosed(self, disclosure: Disclosure, at: MessageKey) -> None:
        """Count a disclosure that was made at the turn of the message `at` in the session."""
        self.session = self.session.with_(disclosure)
        if len(self.session.disclosures) > len(self.shown_at):
            self.shown_at.append(at)

    def end_session(self) -> None:
        """Budget, ceilings and hits start anew (flush, compaction, idle end, room switch)."""
        self.session = Session()
        self.used.clear()
        self.answered = False
        self.shown_at.clear()
        self.persona = None


class Conversations:
    """The queues and the talks of all rooms."""

    def __init__(self) -> None:
        self._queues: dict[RoomKey, asyncio.Queue[Work]] = {}
        self._tasks: dict[RoomKey, asyncio.Task[None]] = {}
        self._talks: dict[Conversation, Talk] = {}
        self._closed = False

    def talk(self, conversation: Conversation, scope: Scope) -> Talk:
        """The talk of a conversation; a new one if it is unknown or its room now belongs to another scope."""
        talk = self._talks.get(conversation)
        if talk is None or talk.scope != scope:
            talk = self._talks[conversation] = Talk(scope)
        return talk

    def end_sessions(self, scope: Scope) -> None:
        """End every session of the scope: after a flush what was disclosed leaves the prompt."""
        for talk in self._talks.values():
            if talk.scope == scope:
                talk.end_session()
                talk.tokens = None

    def recount(self, conversation: Conversation) -> None:
        """Count the tokens of the conversation anew when they are asked for next."""
        if (talk := self._talks.get(conversation)) is not None:
            talk.tokens = None

    def forget(self, conversation: Conversation) -> None:
        """Drop what is known of a conversation that ended (the bot was removed, the client left it)."""
        self._talks.pop(conversation, None)

    def put(self, room: RoomKey, work: Work) -> bool:
        """Queue work of a room; False if its queue is full. The room's task is started if there is none."""
        if (collected := _held.get()) is not None:
            collected.append(work)
            return True
        if self._closed:
            return True
        queue = self._queues.setdefault(room, asyncio.Queue(BURST))
        try:
            queue.put_nowait(work)
        except asyncio.QueueFull:
            return False
        if room not in self._tasks:
            self._tasks[room] = asyncio.create_task(self._work_off(room, queue), name=f"room {room}")
        return True

    async def _work_off(self, room: RoomKey, queue: asyncio.Queue[Work]) -> None:
        try:
            while not queue.empty():
                await done(room, queue.get_nowait())
        finally:
            # No await between the last `empty` and here, so that no work can be put in between and be left lying.
            self._tasks.pop(room, None)
            self._queues.pop(room, None)

    async def settled(self) -> None:
        """Wait until no room has work left."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    async def close(self) -> None:
        """Stop at once, and begin nothing new: what was not answered is in the ledger, and is owed at the next start.

        Only what is being said is said to its end (`to_its_end`).
        """
        self._closed = True
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:  # bounded: a model's library may swallow the cancellation, and is not waited for
            await asyncio.wait(tasks, timeout=CLOSING_S)
