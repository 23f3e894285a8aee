"""`/remem correct <words> => <text>`: one record is superseded by what a person says it should say.

The record is found by its words in this scope: the one that holds all of them; of several the one that holds them as
they were typed. Otherwise nothing is written, and the candidates are told. The new record stands on the same page,
dated today, with who corrected it as its source; the old place keeps the struck line. It is a step of its own, which
undo takes back, and the next flush counts and notes it like everything that is written at once. Tasks, blockers,
topics and facts of the environment are no records: saying them anew changes them.

Where a layout lets sleep take what lasts from the journal to its page, the words may name a line of the journal. The
journal is append-only: the new words are a line of today's, and the old line is marked ([absorbed]), so that
sleep passes it over and nothing of it is disclosed any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo

from memory_core.candidates import TITLE_CHARACTERS
from memory_core.clock import day_in
from memory_core.errors import BadInput, NoIndex
from memory_core.flush.apply import finish
from memory_core.flush.bars import source_of
from memory_core.flush.draft import Draft
from memory_core.flush.gathering import draft_on, read_pages, spoken_mark
from memory_core.flush.journal_draft import absorb_notes, open_lines
from memory_core.flush.plans import Body, Receipt, Trigger
from memory_core.flush.standing import Standing
from memory_core.flush.steps import last_step, next_plan, state_text
from memory_core.forms import flush_state, journal
from memory_core.forms.escape import escape_comment
from memory_core.forms.marks import marked
from memory_core.forms.records import PlacedRecord, Record, on_page, parse, render, struck
from memory_core.forms.sections import WITH_RECORDS
from memory_core.forms.units import units_of
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.layouts import INDEX, Form, Kind, Table, journal_page
from memory_core.messages import Message
from memory_core.operations.journal import AddNotes
from memory_core.operations.records import AddRecord, StrikeRecord, section_of
from memory_core.operations.sleep import AbsorbLines
from memory_core.script import fold
from memory_core.search import Placed, rank, strong
from memory_core.terms import terms
from memory_core.text import one_line

BODY_CHARACTERS = 2000
CANDIDATES = 5
"""How many records are told where the words fit none, or more than one."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What became of a correction: the page with `old` superseded by `new`, as read back; else the candidates."""

    page: PageId | None = None
    old: Record | None = None
    new: Record | None = None
    candidates: tuple[tuple[PageId, Record], ...] = ()


def split(argument: str) -> tuple[str, str] | None:
    """`<words> => <text>`; None where one of them is missing. The arrow may also be typed `->` or `→`."""
    for arrow in ("=>", "⇒", "→", "->"):
        words, found, text = argument.partition(arrow)
        if found:
            return (words.strip(), text.strip()) if words.strip() and text.strip() else None
    return None


async def correct(handle: Handle, words: str, said: Message, zone: tzinfo) -> Corrected:
    """Supersede the one record that `words` find by the text of `said`; it was read back when this returns.

    The handle must be fresh, and no flush of the scope may run meanwhile. Raises NoIndex, BadInput where the page
    says that already, StoreError, LedgerError.
    """
    for plan in await handle.ledger.open_plans():
        await finish(handle, plan)
    if await handle.store.stamp(INDEX) is None:
        raise NoIndex(f"{handle.scope.key} has no index yet, so there is nothing to correct.")
    standing = await read_pages(handle)
    known = _records(standing, handle.table)
    found = _named(known, words)
    noted = await _noted(handle, words) if not found else []
    if len(noted) == 1:
        return await _correct_note(handle, noted[0], said, zone)
    if len(found) != 1:
        told = tuple(found[:CANDIDATES]) or tuple((one.page, one.record) for one in noted[:CANDIDATES])
        return Corrected(candidates=told or _near(standing, handle.table, known, words))
    (page, old) = found[0]
    new = _new(old, said, handle, zone)
    if new.identity == old.identity or new.body == old.body:
        raise BadInput(f"{page} says that already; nothing was changed.")
    kind = next((kind for kind in Kind if handle.table.home_of(kind) == page), Kind.DECISION)
    mark = spoken_mark(new.identity, said.author, said.author_name, said.sent_at, new.body)
    await handle.ledger.mark_written(said.key, page, f"{kind.value}/{mark}")
    await _write(handle, page, old, new, standing, zone)
    read = await handle.store.read(page)
    placed = parse(read.text).find(new.identity) if read is not None else None
    if placed is None:
        raise BadInput(f"{page} was changed by somebody else at the same moment; say it again.")
    return Corrected(page, old, placed.record)


async def _write(handle: Handle, page: PageId, old: Record, new: Record, standing: Standing, zone: tzinfo) -> None:
    """The step, from plan to receipt."""
    now = handle.clock.now().astimezone(zone)
    days = dict.fromkeys(journal_page(one.at[:10]) for one in old.sources)
    standing = await standing.reading(handle, [day for day in days if day in standing.listed])
    draft = draft_on(handle, zone, now, standing)
    draft.do(AddRecord(page, render(new), _section(standing.pages[page].text, old)))
    _strike(draft, page, old, new)
    await _finish(handle, draft, standing)


async def _finish(handle: Handle, draft: Draft, standing: Standing) -> None:
    """Persist what the draft holds as a step, and do it."""
    state_page = await state_text(handle)
    state = flush_state.parse(state_page.text if state_page is not None else None)
    last = await last_step(handle.ledger)
    receipt = Receipt(state.flush_number, Trigger.CORRECTION, pending=len(state.pending_items), at=draft.now)
    body = Body(
        receipt,
        state.pending_items,
        None,
        False,
        tuple(draft.operations),
        steps=last.steps,
        waiting=last.waiting,
        passed=last.passed,
    )
    plan = next_plan(last, state, body, draft, {}, correction=True)
    await handle.ledger.save_plan(plan)
    await finish(handle, plan, standing)


@dataclass(frozen=True, slots=True)
class _Noted:
    """A line of a journal, as it stands and as it reads, with the record that it would be."""

    page: PageId
    line: str
    note: journal.Note
    record: Record


async def _noted(handle: Handle, words: str) -> list[_Noted]:
    """The lines of journals that hold the words and that sleep has not taken up; none where every kind has a page.

    Raises StoreError.
    """
    if not handle.table.promoted:
        return []
    standing = await read_pages(handle, every_journal=True)
    found: list[_Noted] = []
    for page, read in standing.pages.items():
        if handle.table.rule(page).form is Form.JOURNAL:
            for line, note in open_lines(read.text):
                found.append(_Noted(page, line, note, Record(_day(page), note.text)))
    chosen = _named([(one.page, one.record) for one in found], words)
    return [one for one in found if (one.page, one.record) in chosen]


async def _correct_note(handle: Handle, old: _Noted, said: Message, zone: tzinfo) -> Corrected:
    """A line of today's journal takes the place of that line. Raises BadInput, StoreError, LedgerError."""
    said = replace(said, sent_at=said.sent_at.astimezone(zone))
    day = journal.local_day(said.sent_at, zone)
    page, at = journal_page(day), journal.local_time(said.sent_at, zone)
    text = one_line(said.text, BODY_CHARACTERS)
    if text == old.note.text:
        raise BadInput(f"{old.page} says that already; nothing was changed.")
    new = journal.Note(old.note.part, text, said.author_name, at, said.author, (said.key,))
    kind = Kind.DECISION if new.part == journal.Part.DECISIONS.value else Kind.LESSON
    mark = spoken_mark("", said.author, said.author_name, said.sent_at, text)
    await handle.ledger.mark_written(said.key, page, f"{kind.value}/{mark}")
    standing = await read_pages(handle, {old.page, page})
    draft = draft_on(handle, zone, handle.clock.now().astimezone(zone), standing)
    draft.do(AbsorbLines(old.page, (old.line,)))
    draft.do(AddNotes(page, day, journal.offset_of(said.sent_at, zone), at, (new,)))
    await _finish(handle, draft, standing)
    read = await handle.store.read(page)
    if read is None or not any(said.key in note.keys for note in journal.parse(read.text).notes):
        raise BadInput(f"{page} was changed by somebody else at the same moment; say it again.")
    return Corrected(page, old.record, Record(date.fromisoformat(day), text))


def _day(page: PageId) -> date:
    """The day of a journal."""
    return date.fromisoformat(page.rpartition("/")[2])


def _strike(draft: Draft, page: PageId, old: Record, new: Record) -> None:
    placed = parse(draft.texts[page]).find(old.identity)
    if placed is not None:
        line = marked(f"~~{escape_comment(new.supersedes[0])}~~", old.messages)
        draft.do(StrikeRecord(page, old.identity, draft.texts[page][placed.start : placed.end], line))
        absorb_notes(draft, old.messages)


def _section(text: str, old: Record) -> str:
    """The heading that the corrected record stands under."""
    placed = parse(text).find(old.identity)
    return section_of(text, placed) if placed is not None else ""


def _new(old: Record, said: Message, handle: Handle, zone: tzinfo) -> Record:
    day = day_in(zone, handle.clock.now())
    return Record(
        day=day,
        title=one_line(said.text, TITLE_CHARACTERS),
        body=one_line(said.text, BODY_CHARACTERS),
        tags=tuple(terms(said.text)[:4]),
        last_referenced=day,
        value=old.value,
        sources=(source_of(replace(said, sent_at=said.sent_at.astimezone(zone)), zone, handle.scope),),
        supersedes=(struck(old),),
    )


def _records(standing: Standing, table: Table) -> list[tuple[PageId, Record]]:
    """The records of the scope's pages: dated, or with a source; a person's own sections are none."""
    return [
        (page, placed.record)
        for page, read in standing.pages.items()
        if table.rule(page).form in WITH_RECORDS
        for placed in on_page(read.text, table.rule(page).form)
        if _is_ours(placed)
    ]


def _is_ours(placed: PlacedRecord) -> bool:
    return placed.level > 0 and (placed.record.day is not None or bool(placed.record.sources))


def _named(known: Sequence[tuple[PageId, Record]], words: str) -> list[tuple[PageId, Record]]:
    """The records that hold all the words; of several those that hold them as they were typed, if any do."""
    asked = set(terms(words))
    texts = [f"{record.label} {record.text} {' '.join(record.tags)}" for _, record in known]
    found = [at for at, text in enumerate(texts) if asked and asked <= set(terms(text))]
    typed = [at for at, text in enumerate(texts) if fold(words) in fold(text)]
    both = [at for at in found if at in typed]
    chosen = found if len(found) == 1 else both or found or typed
    return [known[at] for at in chosen]


def _near(
    standing: Standing, table: Table, known: Sequence[tuple[PageId, Record]], words: str
) -> tuple[tuple[PageId, Record], ...]:
    """The records that come nearest to the words, best first."""
    placed = [
        Placed(page, unit)
        for page in dict.fromkeys(page for page, _ in known)
        for unit in units_of(page, table.rule(page).form, standing.pages[page].text).units
        if unit.record
    ]
    by_identity = {(page, record.identity): record for page, record in known}
    hits = strong(rank(placed, words))[:CANDIDATES]
    near = [(hit.placed.page, by_identity.get((hit.placed.page, hit.placed.unit.record))) for hit in hits]
    return tuple((page, record) for page, record in near if record is not None)
