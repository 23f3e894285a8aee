"""An edited message that was flushed: what came from it says what the message reads now.

    the record came from it alone      it gets the new words; its date, fitness and source stay. None left: it goes
    it has other sources               it stays without this one; what the message says now is a fact of its own
    everything else (journal, blocker, fact of the environment, day's point, task)     leaves, and comes anew

Where the journal shows that the message says what it said, nothing is touched. A deleted message that stated a record
with other sources: the record is told by the next source whose text is still there, if it says something by itself;
else it keeps the words, which the others bear.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from memory_core.flush.bars import Fact
from memory_core.flush.draft import Draft, noted
from memory_core.flush.record_draft import record_of
from memory_core.forms import journal
from memory_core.forms.records import Record, on_page
from memory_core.forms.sections import WITH_RECORDS
from memory_core.forms.withdrawal import touched
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form
from memory_core.operations.messages import Withdraw
from memory_core.operations.records import ReviseRecord
from memory_core.text import flat

Again: TypeAlias = Callable[[MessageKey], Awaitable[tuple[Fact, ...]]]
"""What a message says as it reads now (memory_core.flush.hearing.Ear.again)."""


def withdraw(draft: Draft, key: MessageKey, kept: tuple[str, ...] = ()) -> set[PageId]:
    """Take out what came from the message alone, but for the records in `kept`; the pages that this changed."""
    changed = set()
    for page, rows in touched(key, draft.texts, draft.table).items():
        if draft.do(Withdraw(page, key, draft.now, rows, kept), undone=False):
            changed.add(page)
    return changed


async def forget(draft: Draft, key: MessageKey, again: Again) -> set[PageId]:
    """A message is gone: what came from it alone leaves, what has other sources is told by them."""
    for page, record in _records(draft, key):
        if record.messages[0] == key and len(record.messages) > 1:
            facts = [fact for other in record.messages[1:] for fact in await again(other)]
            told = next((fact for fact in facts if draft.home_of(fact) == page), None)
            if told is not None:
                _revise(draft, page, record, told)
    return withdraw(draft, key)


def revise(draft: Draft, key: MessageKey, facts: Sequence[Fact]) -> set[PageId]:
    """A flushed message was edited and says `facts` now; the pages that this changed."""
    if _said(draft, key) == sorted(flat(noted(fact)) for fact in facts if fact.settled):
        return set()
    left = list(facts)
    kept: list[str] = []
    changed: set[PageId] = set()
    # What says what it said stays with its record: of a message with several one may have changed.
    own = [(page, record) for page, record in _records(draft, key) if set(record.messages) == {key}]
    for page, record, fact in _paired(draft, own, facts):
        left.remove(fact)
        new = record_of(fact)
        revised = _revise(draft, page, record, fact)
        kept.append(new.identity if revised else record.identity)
        if revised:
            changed.add(page)
            draft.count(fact, page)
    changed |= withdraw(draft, key, tuple(kept))
    for fact in left:
        if fact.settled:
            draft.take(fact)
    return changed


def _paired(
    draft: Draft, records: Sequence[tuple[PageId, Record]], facts: Sequence[Fact]
) -> list[tuple[PageId, Record, Fact]]:
    """Which fact stands in a record's place: the one of its title, else the next one of its page."""
    left = [fact for fact in facts if fact.settled]
    found: list[tuple[PageId, Record, Fact]] = []
    for same in (True, False):
        for page, record in records:
            if any(other is record for _, other, _ in found):
                continue
            among = (fact for fact in left if draft.home_of(fact) == page)
            fact = next((one for one in among if not same or record_of(one).title == record.title), None)
            if fact is not None:
                left.remove(fact)
                found.append((page, record, fact))
    return found


def _revise(draft: Draft, page: PageId, record: Record, fact: Fact) -> bool:
    new = record_of(fact)
    return draft.do(ReviseRecord(page, record.identity, new.title, new.body, new.tags), undone=False)


def _records(draft: Draft, key: MessageKey) -> list[tuple[PageId, Record]]:
    """The records that name the message."""
    return [
        (page, placed.record)
        for page, text in draft.texts.items()
        if key in text and draft.table.rule(page).form in WITH_RECORDS
        for placed in on_page(text, draft.table.rule(page).form)
        if key in placed.record.messages
    ]


def _said(draft: Draft, key: MessageKey) -> list[str]:
    """What the journals say that the message said."""
    return sorted(
        note.text
        for page, text in draft.texts.items()
        if key in text and draft.table.rule(page).form is Form.JOURNAL
        for note in journal.parse(text).notes
        if set(note.keys) == {key} and note.part not in (journal.Part.ANCHORS.value, journal.Part.RAW.value)
    )
