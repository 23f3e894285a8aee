"""Raw notes: what was said, word for word, in the journal of its day, while extraction keeps failing.

The cursor does not move: the same messages are read through by the next flush, which takes their raw lines out again.
Until then a person, and a search, find what was said. Lines that nobody could read through are erased with the raw
text (`REMEM_RAW_DAYS`), by the day of their journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, tzinfo

from memory_core.flush.apply import apply
from memory_core.forms import journal
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.layouts import Form, journal_page
from memory_core.messages import Message, Voice
from memory_core.operations import Operation
from memory_core.operations.journal import AddNotes
from memory_core.operations.messages import DropRaw
from memory_core.text import one_line

RAW_CHARACTERS = 2000
"""How much of one message a raw line holds; all of it stays in the ledger until it was read through."""


async def keep_raw(handle: Handle, messages: Iterable[Message], zone: tzinfo) -> None:
    """Put what persons said into the journals of their days, once. Raises StoreError."""
    days: dict[str, list[Message]] = {}
    for message in messages:
        if message.voice is Voice.PERSON and message.text.strip():
            days.setdefault(journal.local_day(message.sent_at, zone), []).append(message)
    operations = [
        AddNotes(
            journal_page(day),
            day,
            journal.offset_of(said[-1].sent_at, zone),
            journal.local_time(said[-1].sent_at, zone),
            tuple(_note(message, zone) for message in said),
        )
        for day, said in days.items()
    ]
    await apply(handle, operations)


def _note(message: Message, zone: tzinfo) -> journal.Note:
    at = journal.local_time(message.sent_at, zone)
    return journal.Note(
        journal.Part.RAW.value,
        one_line(message.text, RAW_CHARACTERS),
        message.author_name,
        at,
        message.author,
        (message.key,),
    )


async def drop_raw(handle: Handle, messages: Sequence[Message], zone: tzinfo) -> None:
    """Take the raw lines of messages out that were read through. Raises StoreError."""
    keys = tuple(message.key for message in messages)
    days = dict.fromkeys(journal.local_day(message.sent_at, zone) for message in messages)
    await apply(handle, [DropRaw(page, keys) for page in map(journal_page, days) if await _has_raw(handle, page)])


async def erase_raw(handle: Handle, before: date) -> int:
    """Take out every raw line of the journals up to the day `before`; how many there were. Raises StoreError."""
    operations: list[Operation] = []
    count = 0
    for page in await handle.store.pages():
        if handle.table.rule(page).form is Form.JOURNAL and page <= journal_page(before.isoformat()):
            standing = await handle.store.read(page)
            raw = journal.raw_in(standing.text) if standing is not None else ()
            if raw:
                count += len(raw)
                operations.append(DropRaw(page, tuple(key for note in raw for key in note.keys)))
    await apply(handle, operations)
    return count


async def _has_raw(handle: Handle, page: PageId) -> bool:
    standing = await handle.store.read(page)
    return standing is not None and bool(journal.raw_in(standing.text))
