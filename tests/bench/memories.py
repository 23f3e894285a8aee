"""Groups with as many memories as asked for, as a group leaves them after a year.

Of the memories of a group one half are records (the first RECORDS_ON_PAGES on its pages, the rest in its archive), a
quarter are lines of its journals, a quarter is what was said last and is kept in the ledger. Words as in
tests/bench/nights: the frequent ones few, names that occur once or a few times many.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, timedelta
from random import Random

from adapters.messages import Author
from bot.app import App
from memory_core.clock import ManualClock
from memory_core.first_join import ensure_index
from memory_core.forms.records import Record, render
from memory_core.ids import Conversation, EventKey, PageId, PersonKey, RoomKey, message_key
from memory_core.ledger.base import Event, Posted
from memory_core.messages import Message
from memory_core.store.base import Change
from tests.bench.nights import NIGHT, TODAY, by_page, journal_of, records_of, statement
from tests.bench.rooms_on_disk import BATCH, in_batches, place_of

RECORDS_ON_PAGES = 200
LINES_OF_A_DAY = 20
ANA = Author(PersonKey("console:ana"), "ana")


@dataclass(frozen=True, slots=True)
class Group:
    """A group that was laid down: its name, the words that it may be asked for, and every text with its page."""

    name: str
    texts: tuple[tuple[str, str], ...]
    """Page (`ledger` for what was said) and text, one for each memory."""

    def question(self, random: Random) -> str:
        """Something that somebody would ask about one of its memories."""
        _, text = random.choice(self.texts)
        words = [word.strip(".,;:") for word in text.split() if len(word) > 3] or text.split()
        return f"what did we decide about {' '.join(random.sample(words, min(3, len(words))))}?"


async def lay_down_groups(app: App, clock: ManualClock, groups: int, each: int) -> tuple[Group, ...]:
    """So many groups with `each` memories each. Raises RememError."""
    clock.move_to(NIGHT)
    names = [f"g{number}" for number in range(groups)]
    await asyncio.gather(*(app.parts.rooms.place(place_of(name, direct=False), ANA) for name in names))
    found: list[Group] = []
    waiting: list[Event] = []
    for number, name in enumerate(names):
        group, said = await _lay_down(app, name, number, each)
        found.append(group)
        waiting += said
        if len(waiting) >= BATCH:
            await _take(app, waiting)
            waiting = []
    await _take(app, waiting)
    return tuple(found)


async def _take(app: App, events: list[Event]) -> None:
    for some in in_batches(events, BATCH):
        await app.parts.intake.record(some)


async def _lay_down(app: App, name: str, seed: int, each: int) -> tuple[Group, list[Event]]:
    """One group's files; the messages that are still to be taken in."""
    place = place_of(name, direct=False)
    scope = (await app.parts.rooms.place(place, ANA)).scope
    assert scope is not None
    handle = app.parts.handles.open(scope)
    await ensure_index(handle, UTC, rooms=[place.key], purpose=f"what {name} is about")
    lines, messages = each // 4, each // 4
    records = records_of(each - lines - messages, seed + 1)
    texts: list[tuple[str, str]] = []
    changes: list[Change] = []
    for page, text, own in (*_pages(records[:RECORDS_ON_PAGES]), *_archive(records[RECORDS_ON_PAGES:])):
        changes.append(Change(page, text, None))
        texts += [(page, f"{one.title} {one.body}") for one in own]
    for day, note in _journals(records, seed, lines):
        changes.append(Change(PageId(f"journal/{day}"), note, None))
        texts += [(f"journal/{day}", line[2:]) for line in note.splitlines() if line.startswith("- ")]
    await handle.store.commit(changes)
    said = _said(place.key, seed, messages)
    texts += [("ledger", one.text) for one in said]
    return Group(name, tuple(texts)), [Posted(EventKey(one.key), one, scope) for one in said]


def _pages(records: list[Record]) -> list[tuple[PageId, str, list[Record]]]:
    shared = [(page, own) for page, own in by_page(records) if own]
    return [(PageId(page), f"# {page.title()}\n\n" + "\n".join(map(render, own)), own) for page, own in shared]


def _archive(records: list[Record]) -> list[tuple[PageId, str, list[Record]]]:
    months: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        months[(record.day or TODAY).isoformat()[:7]].append(record)
    return [(PageId(f"archive/{month}"), "\n".join(map(render, own)), own) for month, own in months.items()]


def _journals(records: list[Record], seed: int, lines: int) -> list[tuple[str, str]]:
    """The notes of the last days, with so many lines together."""
    found = []
    for back in range(-(-lines // LINES_OF_A_DAY)):
        day = TODAY - timedelta(days=back + 1)
        own = min(LINES_OF_A_DAY, lines - back * LINES_OF_A_DAY)
        found.append((day.isoformat(), journal_of(day, records[:60], seed * 1000 + back, own)))
    return found


def _said(room: RoomKey, seed: int, count: int) -> list[Message]:
    """What was said in the last hours, a minute apart."""
    random = Random(seed)
    return [
        Message(
            message_key(room, f"s{number}"), Conversation(room), ANA.key, ANA.name, statement(random),
            NIGHT - timedelta(minutes=count - number),
        )
        for number in range(count)
    ]  # fmt: skip
