"""What cannot wait is written when it is said: one fact, without a plan, read back before anything is claimed.

A crash in between loses nothing: the message is in the ledger and the next flush finds the fact again, on a page
where it stands already. What was written is marked, with its way back, so that the next flush counts and notes it and
does not write it again, and undo can take it back (flush/steps). A message that comes here once more (a program that
was stopped goes on) is done with if it is marked, or if a flush noted it: what it changed, a task's status say, may
have changed again since.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo

from memory_core.candidates import Candidate
from memory_core.clock import day_in
from memory_core.errors import BadInput, NoIndex
from memory_core.flush.apply import apply
from memory_core.flush.attention_draft import of_message
from memory_core.flush.bars import Fact, fact_of
from memory_core.flush.draft import Draft
from memory_core.flush.gathering import REPEAT, draft_on, journals_of, open_journals, read_pages, spoken_mark
from memory_core.flush.plans import Step, dump_step
from memory_core.flush.record_draft import record_of, takes_back
from memory_core.forms import journal, tasks
from memory_core.forms.records import Record, Source, parse
from memory_core.handle import Handle
from memory_core.ids import DirectScope, PageId
from memory_core.layouts import INDEX, TASKS, Form
from memory_core.messages import Message


async def write_now(
    handle: Handle, candidate: Candidate, zone: tzinfo, told: Message | None = None
) -> tuple[PageId, Record]:
    """Write the candidate, whatever its bar: somebody asked for it. The page, and the record as it was read back.

    A kind that has no page of its own is written to the journal of its day. What is no record on its page (a task, a
    blocker, a line of the journal) gives the record that it would be. `told`: the command that brings it, which is no
    message of the ledger. Raises NoIndex, StoreError, LedgerError, and
    BadInput where the scope keeps no such kind.
    """
    if await handle.store.stamp(INDEX) is None:
        raise NoIndex(f"{handle.scope.key} has no index yet; answer the purpose question or flush first.")
    fact = await _fact(handle, candidate, zone, told)
    journals = open_journals(handle.table, [fact.said_at], zone)
    standing = await read_pages(handle, journals, archive=takes_back(fact))
    draft = draft_on(handle, zone, handle.clock.now().astimezone(zone), standing)
    if fact.kind in handle.table.not_kept:
        raise BadInput(f"This memory keeps nothing of the kind {candidate.kind.value!r}; use another kind.")
    page = draft.place_of(fact)
    if await _is_done(handle, fact, zone):
        return page, await _read_back(handle, draft, page, fact)
    draft.take(fact)
    if handle.table.rule(page).form is Form.JOURNAL:
        draft.write_notes()
        page = _known_on(draft) or page
    await apply(handle, draft.operations, standing)
    record = await _read_back(handle, draft, page, fact)
    kind = candidate.kind.value if draft.kinds else REPEAT
    mark = await _mark(handle, draft, page, record, fact)
    back = dump_step(_way_back(draft, fact))
    await handle.ledger.mark_written(candidate.sources[0], page, f"{kind}/{mark}", back)
    return page, record


def _way_back(draft: Draft, fact: Fact) -> Step:
    """How undo takes it back; a mere repeat of what is known goes with the step before it, as uses of records do."""
    said, text = fact.sources[0].keys[0], f"{fact.kind.value}/{record_of(fact).title}"
    way = (draft.exact(), tuple(draft.inverses))
    return Step(0, dict(draft.kinds), *way, None, (), quiet=not draft.kinds, said=said, text=text)


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


def _known_on(draft: Draft) -> PageId | None:
    """The page on which sleep has put what is said here again: the hit stands there, and no line in the journal."""
    return next((operation.page for operation in draft.operations if operation.op == "touch_record"), None)


async def _read_back(handle: Handle, draft: Draft, page: PageId, fact: Fact) -> Record:
    """The record that now stands on the page for that fact; for a line of the journal also what it took back."""
    new, key = record_of(fact), fact.sources[0].keys[0]
    standing = await handle.store.read(page)
    if handle.table.rule(page).form is Form.JOURNAL:
        notes = journal.parse(standing.text).notes if standing else ()
        if draft.kinds and not any(key in note.keys for note in notes):
            raise BadInput(f"{page} was changed by somebody else at the same moment; say it again.")
        taken = (operation.lines for operation in draft.operations if operation.op == "absorb_lines")
        return replace(new, supersedes=tuple(journal.read_line(line, "").text for lines in taken for line in lines))
    if not draft.is_record(fact.kind, page):
        return new
    records = [placed.record for placed in parse(standing.text).records] if standing else []
    found = next((record for record in records if record.identity == new.identity), None)
    found = found or next((record for record in records if record.identity in draft.touched), None)
    found = found or next((record for record in records if key in record.messages), None)
    if found is None:
        raise BadInput(f"{page} was changed by somebody else at the same moment; say it again.")
    return found


async def _mark(handle: Handle, draft: Draft, page: PageId, record: Record, fact: Fact) -> str:
    """How the mark names what was written: the record's identity, or the task's id; where it is no record also who
    said what in a command, because neither the page nor the ledger could tell it afterwards."""
    form = draft.table.rule(page).form
    if form is not Form.JOURNAL and draft.is_record(fact.kind, page):
        return record.identity
    text = draft.texts.get(TASKS, "")
    changed = next((op.task.id for op in draft.operations if op.op == "put_task"), "")
    own = tasks.parse(text).find(changed) or of_message(text, fact, draft.zone)
    named = own.id if own is not None else ""
    source = fact.sources[0]
    if await handle.ledger.find(source.keys[0]) is not None:
        return named
    return spoken_mark(named, source.person, source.name, fact.said_at, fact.text)
