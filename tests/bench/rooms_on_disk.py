"""The rooms of the data sets in a real workspace, written as remem itself writes them.

    opened_on   the whole program on a folder, ready for questions; `durable=False` while much is laid down: then no
                file is synced, which changes nothing but the time that it takes
    lay_down    a room as a group, or as the DM of a person: its name, its index, every turn as a recorded message
                (raw: nothing flushed), and where asked for one journal page for each day of it

Rooms get their names through the program's own table, indexes are made as at a first join, messages enter through the
ledger's intake, journal lines are the flush's own operation. Turns of a session are a minute apart.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from adapters import messages
from bot.app import App, opened
from memory_core.clock import ManualClock
from memory_core.first_join import ensure_index, set_front
from memory_core.forms.journal import Note, Part, local_day, local_time, offset_of
from memory_core.handle import Handle
from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, RoomKind, Scope, message_key
from memory_core.layouts import Form, journal_page
from memory_core.ledger.base import Event, Posted
from memory_core.messages import Message
from memory_core.operations.journal import AddNotes
from memory_core.store.base import Change
from memory_core.store.disk import Disk
from tests.bench.recall_data import Room, Turn
from tests.scenarios.terminal import settings

UNDATED = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""When a room that tells no times was talked in."""
BATCH = 500
"""So many events go into the ledger at once."""
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))?")
_NAME = re.compile(r"[^a-z0-9]+")

T = TypeVar("T")
Said = Callable[[Turn], str]
"""What stands in the ledger for a turn."""


class Unsynced(Disk):
    """The real disk, but that nothing waits until it is durable: for laying down what is measured later."""

    def sync(self, descriptor: int) -> None:
        """The system may take its time."""

    def sync_folder(self, descriptor: int) -> None:
        """The system may take its time."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A room that stands in the workspace: as which place of the platform, whose memory, what was said in it."""

    data: Room
    place: messages.Room
    author: messages.Author
    scope: Scope
    messages: tuple[Message, ...]

    @property
    def over_at(self) -> datetime:
        """An hour after the last word."""
        return max((one.sent_at for one in self.messages), default=UNDATED) + timedelta(hours=1)


@asynccontextmanager
async def opened_on(
    workspace: Path, *, durable: bool = True, **given: object
) -> AsyncIterator[tuple[App, ManualClock]]:
    """The program on `workspace`, on a clock that stands until it is moved."""
    clock = ManualClock(UNDATED)
    disk = None if durable else Unsynced()
    async with opened(settings(workspace, **given), clock=clock, zone=UTC, disk=disk) as app:
        yield app, clock


def slug(name: str) -> str:
    """A name as it may stand in a key of the console."""
    return _NAME.sub("-", name.lower()).strip("-") or "x"


def place_of(name: str, *, direct: bool) -> messages.Room:
    """The room of that name on the console."""
    if direct:
        return messages.Room(RoomKey(f"console:dm-{slug(name)}"), RoomKind.DIRECT)
    return messages.Room(RoomKey(f"console:{slug(name)}"), RoomKind.CHANNEL, f"#{slug(name)}")


def said_at(turns: Sequence[Turn]) -> list[datetime]:
    """When each turn was said, by the heading of its session: a minute apart, never before the turn before it."""
    found: list[datetime] = []
    session, at = "", UNDATED
    for turn in turns:
        if turn.session != session:
            told = _DAY.search(turn.heading)
            begun = datetime.fromisoformat(f"{told[1]}T{told[2] or '09:00'}+00:00") if told else UNDATED
            session, at = turn.session, max(begun, at + timedelta(minutes=1) if found else begun)
        else:
            at += timedelta(minutes=1)
        found.append(at)
    return found


def messages_of(room: Room, place: messages.Room, said: Said = lambda turn: turn.text) -> tuple[Message, ...]:
    """Every turn of the room as a message in that place."""
    return tuple(
        Message(
            key=message_key(place.key, turn.key.replace(":", "-")),
            conversation=Conversation(place.key),
            author=PersonKey(f"console:{slug(turn.speaker)}"),
            author_name=turn.speaker,
            text=said(turn),
            sent_at=at,
            room_title=place.title,
        )
        for turn, at in zip(room.turns, said_at(room.turns), strict=True)
    )


async def lay_down(
    app: App, clock: ManualClock, room: Room, *, direct: bool = False, pages: bool = False, budget_tokens: int = 0,
    said: Said = lambda turn: turn.text, name: str = "",
) -> Laid:  # fmt: skip
    """Put a room into the workspace: name, index, messages, and with `pages` the journals. Raises RememError."""
    place = place_of(name or room.name, direct=direct)
    author = messages.Author(PersonKey(f"console:of-{slug(name or room.name)}"), name or room.name)
    scope = (await app.parts.rooms.place(place, author)).scope
    assert scope is not None
    found = messages_of(room, place, said)
    laid = Laid(room, place, author, scope, found)
    if laid.over_at > clock.now():
        clock.move_to(laid.over_at)
    handle = app.parts.handles.open(scope)
    await ensure_index(handle, UTC, rooms=[] if direct else [place.key], purpose=f"what {room.name} is about")
    if budget_tokens:
        await set_front(handle, "memory_budget", str(budget_tokens))
    await record(app, scope, found)
    if pages:
        await write_journals(handle, found)
    return laid


async def record(app: App, scope: Scope, said: Iterable[Message]) -> None:
    """Take the messages in as the scope's. Raises LedgerFailed."""
    events: list[Event] = [Posted(EventKey(one.key), one, scope) for one in said]
    for some in in_batches(events, BATCH):
        await app.parts.intake.record(some)


async def write_journals(handle: Handle, said: Sequence[Message]) -> None:
    """One journal page for each day that was talked on, a line for each message. Raises StoreError."""
    by_day: dict[str, list[Message]] = {}
    for message in said:
        by_day.setdefault(local_day(message.sent_at, UTC), []).append(message)
    changes = []
    for day, own in by_day.items():
        page, offset = journal_page(day), offset_of(own[0].sent_at, UTC)
        add = AddNotes(page, day, offset, local_time(own[-1].sent_at, UTC), tuple(map(note_of, own)))
        changes.append(Change(page, add.apply("", Form.JOURNAL), None))
    await handle.store.commit(changes)


def note_of(message: Message) -> Note:
    """The journal's line of a message."""
    at = local_time(message.sent_at, UTC)
    keys: tuple[MessageKey, ...] = (message.key,)
    return Note(Part.LEARNED.value, message.text, message.author_name, at, str(message.author), keys)


def in_batches(values: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    """The values, so many at a time."""
    return (values[at : at + size] for at in range(0, len(values), size))
