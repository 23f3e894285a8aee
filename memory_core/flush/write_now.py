"""What cannot wait is written when it is said, without a plan, read back before anything is claimed.

All that one message says at once is one step: its facts go through one draft, each page is written once, and one mark
in the ledger names them all, with one way back (flush/marks, flush/steps). A crash in between loses nothing: the
message is in the ledger and the next flush finds the facts again, on pages where they stand already, or where they do
not. What was written is marked, so that the next flush counts and notes it and does not write it again, and undo can
take it back. A message that comes here once more (a program that was stopped goes on) is done with if it is marked,
or if a flush noted it: what it changed, a task's status say, may have changed again since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory_core.candidates import Candidate
from memory_core.clock import day_in
from memory_core.errors import BadInput, NoIndex
from memory_core.flush.apply import apply
from memory_core.flush.attention_draft import of_message
from memory_core.flush.bars import Fact, fact_of
from memory_core.flush.draft import Draft, noted
from memory_core.flush.gathering import (
    NOTE_CHARACTERS,
    draft_on,
    journals_of,
    open_journals,
    read_pages,
    spoken_mark,
)
from memory_core.flush.marks import REPEAT, in_one
from memory_core.flush.plans import Step, dump_step
from memory_core.flush.record_draft import record_of, takes_back
from memory_core.forms import journal, tasks
from memory_core.forms.records import Record, Source, parse
from memory_core.handle import Handle
from memory_core.ids import DirectScope, PageId
from memory_core.layouts import INDEX, TASKS, Form, Kind
from memory_core.messages import Message
from memory_core.operations import Operation
from memory_core.text import one_line


async def write_now(
    handle: Handle, candidate: Candidate, zone: tzinfo, told: Message | None = None
) -> tuple[PageId, Record]:
    """Write the candidate, whatever its bar: somebody asked for it. The page, and the record as it was read back.

    A kind that has no page of its own is written to the journal of its day. What is no record on its page (a task, a
    blocker, a line of the journal) gives the record that it would be. `told`: the command that brings it, which is no
    message of the ledger. Raises NoIndex, StoreError, LedgerError, and BadInput where the scope keeps no such kind.
    """
    ((_, page, record),) = await write_all(handle, (candidate,), zone, told)
    return page, record


async def write_all(
    handle: Handle, candidates: Sequence[Candidate], zone: tzinfo, told: Message | None = None
) -> tuple[tuple[Candidate, PageId, Record], ...]:
    """Write all that one message says, as `write_now` writes one: all of it is marked, or nothing.

    What a later one of them takes back at once is left out of the answer. Raises as `write_now`, before anything is
    written where the scope keeps one of the kinds not (`unkept`).
    """
    if await handle.store.stamp(INDEX) is None:
        raise NoIndex(f"{handle.scope.key} has no index yet; answer the purpose question or flush first.")
    facts = [await _fact(handle, one, zone, told) for one in candidates]
    for refused in filter(None, (unkept(handle, fact.kind) for fact in facts)):
        raise refused
    journals = open_journals(handle.table, [fact.said_at for fact in facts], zone)
    standing = await read_pages(handle, journals, archive=any(map(takes_back, facts)))
    draft = draft_on(handle, zone, handle.clock.now().astimezone(zone), standing)
    if await _is_done(handle, facts[0], zone):
        done = [_Taken(fact, draft.place_of(fact)) for fact in facts]
        found = [await _read_back(handle, draft, one) for one in done]
    else:
        done = [_take(draft, fact) for fact in facts]
        draft.write_notes()
        await apply(handle, draft.operations, standing)
        found = [await _read_back(handle, draft, one) for one in done]
        await _mark(handle, draft, done, found)
    read = zip(candidates, done, found, strict=True)
    return tuple((candidate, one.page, record) for candidate, one, record in read if record is not None)


def unkept(handle: Handle, kind: Kind) -> BadInput | None:
    """Why the scope keeps nothing of that kind; None where it does."""
    if kind not in handle.table.not_kept:
        return None
    return BadInput(f"This memory keeps nothing of the kind {kind.value!r}; use another kind.")


@dataclass(frozen=True, slots=True)
class _Taken:
    """A fact in the draft: its page, what it added, the records that it wrote or hit, and whether it was news."""

    fact: Fact
    page: PageId
    operations: tuple[Operation, ...] = ()
    touched: frozenset[str] = frozenset()
    news: bool = False


def _take(draft: Draft, fact: Fact) -> _Taken:
    """Write the fact into the draft; a line for the journal only where the journal is its page."""
    page, before, touched = draft.place_of(fact), tuple(draft.operations), frozenset(draft.touched)
    notes, counted = {day: list(lines) for day, lines in draft.notes.items()}, draft.kinds.total()
    draft.take(fact)
    added = tuple(one for one in draft.operations if not any(one is other for other in before))
    if draft.table.rule(page).form is Form.JOURNAL:
        # Sleep may have put what is said here again on a page: the hit stands there, and no line in the journal.
        page = next((one.page for one in added if one.op == "touch_record"), page)
    else:
        draft.notes = notes  # the flush that counts it notes it
    return _Taken(fact, page, added, frozenset(draft.touched) - touched, draft.kinds.total() > counted)


def _way_back(draft: Draft, done: Sequence[_Taken], stands: Sequence[bool]) -> Step:
    """How undo takes it back; a mere repeat of what is known goes with the step before it, as uses of records do."""
    said = done[0].fact.sources[0].keys[0]
    told = [
        (one.page, f"{one.fact.kind.value if there or len(done) == 1 else REPEAT}/{record_of(one.fact).title}")
        for one, there in zip(done, stands, strict=True)
    ]
    way = (draft.exact(), tuple(draft.inverses))
    step = Step(0, dict(draft.kinds), *way, None, (), quiet=not draft.kinds, said=said, text=told[0][1])
    return replace(
        step, also=tuple(told[1:]), notes=tuple(one_line(noted(one.fact), NOTE_CHARACTERS) for one in done)
    )


async def _is_done(handle: Handle, fact: Fact, zone: tzinfo) -> bool:
    """Was this message written before: is it marked, or has a flush been there and noted it in its journal?"""
    key = fact.sources[0].keys[0]
    if any(message == key for message, _, _ in await handle.ledger.written()):
        return True
    entry = await handle.ledger.find(key)
    if entry is None or entry.seq > await handle.ledger.cursor(entry.message.conversation):
        return False
    (page,) = journals_of([entry.message], zone)
    noted = await handle.store.read(page)
    return noted is not None and any(key in note.keys for note in journal.parse(noted.text).notes)


async def _fact(handle: Handle, candidate: Candidate, zone: tzinfo, told: Message | None = None) -> Fact:
    """The candidate with its messages; a command has none in the ledger: it is `told`, else counts as said now."""
    entries = [await handle.ledger.find(key) for key in candidate.sources]
    said: list[Message] = [entry.message for entry in entries if entry is not None]
    if said := said or ([told] if told is not None else []):
        return fact_of(candidate, said, zone, handle.scope, settled=True)
    now = handle.clock.now()
    place = "DM" if isinstance(handle.scope, DirectScope) else handle.scope.name
    at = f"{now.astimezone(zone):%Y-%m-%d %H:%M}"
    source = Source(candidate.author, candidate.author.native, place, at, candidate.sources)
    return Fact(
        kind=candidate.kind,
        title=candidate.title or candidate.body,
        body=candidate.body,
        value=candidate.value,
        sources=(source,),
        day=day_in(zone, now),
        said_at=now,
        settled=True,
        tags=candidate.tags,
        who=candidate.who,
        status=candidate.status,
        due=candidate.due,
        project=candidate.project,
        corrects=candidate.corrects,
    )


async def _read_back(handle: Handle, draft: Draft, done: _Taken) -> Record | None:
    """The record that now stands on the page for that fact; for a line of the journal also what it took back.

    None where a later fact of the same message took its place before it was written.
    """
    fact, page = done.fact, done.page
    new, key = record_of(fact), fact.sources[0].keys[0]
    standing = await handle.store.read(page)
    if handle.table.rule(page).form is Form.JOURNAL:
        notes = journal.parse(standing.text).notes if standing else ()
        if done.news and not any(key in note.keys for note in notes):
            raise BadInput(f"{page} was changed by somebody else at the same moment; say it again.")
        taken = (operation.lines for operation in done.operations if operation.op == "absorb_lines")
        return replace(new, supersedes=tuple(journal.read_line(line, "").text for lines in taken for line in lines))
    if not draft.is_record(fact.kind, page):
        return new
    records = [placed.record for placed in parse(standing.text).records] if standing else []
    found = next((record for record in records if record.identity == new.identity), None)
    if found is None and _is_taken_out(draft, done):
        return None
    found = found or next((record for record in records if record.identity in done.touched), None)
    found = found or next((record for record in records if key in record.messages), None)
    if found is None:
        raise BadInput(f"{page} was changed by somebody else at the same moment; say it again.")
    return found


def _is_taken_out(draft: Draft, done: _Taken) -> bool:
    """Did a later fact take its record out of the draft, or strike it?"""
    own = record_of(done.fact).identity
    added = any(one.op == "add_record" and one.record.identity == own for one in done.operations)
    gone = not any(one.op == "add_record" and one.record.identity == own for one in draft.operations)
    return added and gone


async def _mark(handle: Handle, draft: Draft, done: Sequence[_Taken], found: Sequence[Record | None]) -> None:
    """Mark the message as written, with all that was written of it, and with the way back."""
    marks: list[tuple[PageId, str]] = []
    stands = [one.news and record is not None for one, record in zip(done, found, strict=True)]
    for one, record, there in zip(done, found, stands, strict=True):
        named = await _name(handle, draft, one, record) if record is not None else ""
        marks.append((one.page, f"{one.fact.kind.value if there else REPEAT}/{named}"))
    back = dump_step(_way_back(draft, done, stands))
    await handle.ledger.mark_written(done[0].fact.sources[0].keys[0], *in_one(marks), back)


async def _name(handle: Handle, draft: Draft, done: _Taken, record: Record) -> str:
    """How the mark names what was written: the record's identity, or the task's id; where it is no record also who
    said what in a command, because neither the page nor the ledger could tell it afterwards."""
    fact, page = done.fact, done.page
    form = draft.table.rule(page).form
    if form is not Form.JOURNAL and draft.is_record(fact.kind, page):
        return record.identity
    text = draft.texts.get(TASKS, "")
    changed = next((op.task.id for op in done.operations if op.op == "put_task"), "")
    own = tasks.parse(text).find(changed) or of_message(text, fact, draft.zone)
    named = own.id if own is not None else ""
    source = fact.sources[0]
    if await handle.ledger.find(source.keys[0]) is not None:
        return named
    return spoken_mark(named, source.person, source.name, fact.said_at, fact.text)
