"""What a flush reads besides the conversations, and the order in which its draft is filled.

Read are the pages that facts may go to, the tasks, and the journals of the days that were spoken on; of the archive
only what was used there, or all of it where something must leave or may be taken back; never another scope. Filled in
this order: what waited for a damaged page; what was deleted, edited or taken back leaves; settled facts; what was
written at once; anchors; hits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, tzinfo

from memory_core.anchors import Anchor, anchors
from memory_core.clock import day_in
from memory_core.flush.bars import Fact
from memory_core.flush.draft import Draft, WrittenAtOnce, new_draft
from memory_core.flush.marks import REPEAT, Written, each_written
from memory_core.flush.plans import Passed
from memory_core.flush.record_draft import record_of
from memory_core.flush.revision import Again, forget, revise
from memory_core.flush.sameness import best, words
from memory_core.flush.standing import Standing
from memory_core.flush.steps import passed_of
from memory_core.forms import journal, tasks
from memory_core.forms.board import BOARDS
from memory_core.forms.journal import local_day
from memory_core.forms.records import parse as parse_records
from memory_core.forms.sections import WITH_RECORDS
from memory_core.handle import Handle, name_of
from memory_core.ids import Conversation, MessageKey, PageId
from memory_core.index import Index
from memory_core.index import parse as parse_index
from memory_core.layouts import FLUSH_STATE, INDEX, TASKS, Form, Kind, Table, journal_page
from memory_core.ledger.base import Hit, ScopeLedger, WayBack
from memory_core.messages import Message
from memory_core.operations import Operation
from memory_core.store.base import PageText
from memory_core.text import one_line

_FORMS = BOARDS | WITH_RECORDS | {Form.DAILY_LINES, Form.INDEX}
NOTE_CHARACTERS = 300
_TOLD = 4
"""The lines behind the record in a mark that a command left (`spoken_mark`)."""
OPEN = 4
"""Days of a journal, the day itself counted: deep sleep comes every third."""


def journals_of(messages: Iterable[Message], zone: tzinfo) -> tuple[PageId, ...]:
    """The journals of the days on which the messages were sent."""
    return tuple(dict.fromkeys(journal_page(local_day(message.sent_at, zone)) for message in messages))


def open_journals(table: Table, moments: Iterable[datetime], zone: tzinfo) -> tuple[PageId, ...]:
    """The journals in which those moments may take something back: of the days that no deep sleep may have seen yet.

    None where every kind has a page of its own.
    """
    said = {day_in(zone, moment) for moment in moments} if table.promoted else set()
    days = {day - timedelta(back) for day in said for back in range(OPEN)}
    return tuple(journal_page(day.isoformat()) for day in sorted(days))


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a flush has to write: checked facts, anchors, and what the ledger kept since the last one."""

    facts: tuple[Fact, ...]
    anchors: tuple[Anchor, ...]
    written: tuple[Written, ...]
    hits: tuple[Hit, ...]
    gone: frozenset[MessageKey]
    """Messages whose statements must leave: deleted ones, those written at once and then taken back, and `edited`."""
    edited: frozenset[MessageKey]
    """Messages that are heard here as they read now: what they said before leaves, what they say now is new."""
    revised: tuple[MessageKey, ...]
    """Messages that were flushed earlier and edited since (memory_core.flush.revision)."""
    says_now: Mapping[MessageKey, Sequence[Fact]] = field(default_factory=dict)
    """What the revised ones say as they read now."""
    ways: tuple[WayBack, ...] = ()
    """How what was written at once is taken back."""
    done: tuple[Passed, ...] = ()
    """What is not to be written: it stands on its page, or was taken back by undo."""
    ready: tuple[Operation, ...] = ()
    """What waited for a page that held bad bytes, and can be written now."""

    @property
    def is_empty(self) -> bool:
        """Is there nothing to write, so that no page needs to be read?"""
        said = self.facts or self.anchors or self.written or self.hits
        return not (said or self.gone or self.revised or self.ready)


async def gather(
    ledger: ScopeLedger,
    facts: Sequence[Fact],
    messages: Sequence[Message],
    retracted: Callable[[], Mapping[MessageKey, Collection[str]]],
    passed: Collection[Passed] = (),
) -> Gathered:
    """Put together what this flush has; `retracted` is asked only where something was written at once.

    `passed`: as in memory_core.flush.plans.
    """
    rows, over = await ledger.written(), {one.message for one in passed}
    covered = {message for message, _, _ in rows}
    ways = {way.message: way for way in await ledger.ways_back() if way.message in covered}
    written = tuple(each_written((row for row in rows if row[0] not in over), ways))
    stands = retracted() if written else {}
    told = {key: {one.text for one in passed_of(way)} for key, way in ways.items()}
    # A message that corrected itself before anything was written took nothing back of what was.
    taken_back = {key for key, still in stands.items() if key not in told or not told[key] <= set(still)}
    taken_back &= {one.message for one in written}
    changes = await ledger.changed()
    deleted = frozenset(change.message for change in changes if change.deleted)
    heard = frozenset(message.key for message in messages) - taken_back
    edited = frozenset(change.message for change in changes if not change.deleted) & heard
    gone = deleted | edited | taken_back
    revised = tuple(change.message for change in changes if change.message not in gone)
    kept = [message for message in messages if message.key not in over & covered]  # not taken back by undo
    found = Gathered(tuple(facts), anchors(kept), written, await ledger.hits(), gone, edited, revised)
    now = [one for way in ways.values() if way.message not in over for one in passed_of(way)]
    now += [Passed(one.message, one.page) for one in written if one.message not in ways]
    # Where one of several statements of a message was taken back, the others are written anew.
    now = [one for one in now if one.message not in taken_back or one.text not in stands[one.message]]
    done = tuple(one for one in (*passed, *now) if one.message not in edited)
    return replace(found, ways=tuple(ways.values()), done=done)


async def beyond(
    ledger: ScopeLedger, done: Iterable[Passed], cursors: Mapping[Conversation, int]
) -> tuple[Passed, ...]:
    """Of what is done with, that of messages which come after these cursors: the next flush reads them."""
    left = []
    for one in done:
        entry = await ledger.find(one.message)
        if entry is not None:
            place = entry.message.conversation
            if entry.seq > cursors.get(place, await ledger.cursor(place)):
                left.append(one)
    return tuple(left)


def _over(facts: Sequence[Fact], done: Iterable[Passed], place_of: Callable[[Fact], PageId]) -> set[int]:
    """Which facts are passed over: of a message that says several things on that page, what was written at once."""
    over: set[int] = set()
    reworded: list[tuple[Passed, list[tuple[int, Fact]]]] = []
    for one in done:
        among = [
            (at, fact)
            for at, fact in enumerate(facts)
            if any(one.message in source.keys for source in fact.sources) and place_of(fact) == one.page
        ]
        if not one.text:
            over.update(at for at, _ in among)
            continue
        same = next((at for at, fact in among if at not in over and one.text == record_of(fact).title), None)
        if same is None:
            reworded.append((one, among))
        else:
            over.add(same)
    for one, among in reworded:  # none of them is what stands for another statement of its message
        left = ((at, words(fact.text)) for at, fact in among if at not in over)
        same = best(words(one.text), left)
        if same is not None:
            over.add(same)
    return over


def journals_written(written: Iterable[Written]) -> tuple[PageId, ...]:
    """The journals that something was written to at once."""
    return tuple(dict.fromkeys(one.page for one in written if one.page.startswith("journal/")))


async def read_pages(
    handle: Handle,
    journals: Collection[PageId] = (),
    read: Iterable[PageText | None] = (),
    *,
    every_journal: bool = False,
    archive: bool = False,
) -> Standing:
    """The pages that a draft looks at, as they are now; those in `read` were read just now. Raises StoreError."""
    listed = await handle.store.pages()
    wanted: list[PageId] = []
    for page in listed:
        rule = handle.table.rule(page)
        past = page in journals or (every_journal and rule.form in (Form.JOURNAL, Form.ARCHIVE))
        past = past or (archive and rule.form is Form.ARCHIVE)
        if (rule.form in _FORMS and not rule.shared) or page == TASKS or past:
            wanted.append(page)
    return await Standing(listed).with_(read).reading(handle, wanted)


def draft_on(
    handle: Handle, zone: tzinfo, now: datetime, standing: Standing, *, referenced: date | None = None
) -> Draft:
    """A draft on the scope's pages; `referenced`: the day on which what is said counts as referenced."""
    texts = {page: one.text for page, one in standing.pages.items() if page != FLUSH_STATE}
    index = parse_index(texts[INDEX], handle.table) if INDEX in texts else Index()
    draft = new_draft(handle.table, zone, now, texts, index, name_of(handle))
    draft.referenced = referenced
    return draft


async def fill(handle: Handle, draft: Draft, found: Gathered, again: Again) -> set[PageId]:
    """Put everything into the draft; the pages that something left. Raises LedgerError, ExtractionFailed."""
    for operation in found.ready:
        draft.do(operation, undone=False)
    changed: set[PageId] = set()
    for key in sorted(found.gone):
        changed |= await forget(draft, key, again)
    for key in found.revised:
        changed |= revise(draft, key, found.says_now.get(key, ()))
    over = _over(found.facts, found.done, draft.place_of)
    for at, fact in enumerate(found.facts):
        if at not in over:
            draft.take(fact)
    for one in found.written:
        kind, _, record = one.mark.partition("/")
        if one.message not in found.gone and kind != REPEAT and _stands(draft, one.message, one.page, record):
            draft.written_at_once(await _at_once(handle, draft, one))
    for anchor in found.anchors:
        draft.anchored(anchor)
    draft.hit(found.hits)
    return changed


def _stands(draft: Draft, message: MessageKey, page: PageId, mark: str) -> bool:
    """Is what was written at once still there? Somebody may have taken it back, or out, since."""
    record, text = mark.partition("\n")[0], draft.texts.get(page, "")
    form = draft.table.rule(page).form
    if form is Form.JOURNAL:
        return any(message in note.keys and not note.absorbed for note in journal.parse(text).notes)
    if not record:
        return True
    if form in BOARDS and tasks.parse(draft.texts.get(TASKS, "")).find(record) is not None:
        return True
    return form in WITH_RECORDS and parse_records(text).find(record) is not None


def spoken_mark(record: str, person: str, name: str, said_at: datetime, text: str) -> str:
    """The mark of what a command wrote: `record`, then a line each: who said it, when, and what."""
    told = (one_line(person, NOTE_CHARACTERS), one_line(name, NOTE_CHARACTERS))
    return "\n".join((record, *told, said_at.isoformat(), one_line(text, NOTE_CHARACTERS)))


async def _at_once(handle: Handle, draft: Draft, one: Written) -> WrittenAtOnce:
    """What to say of something that was written at once: the record's own words, else the message's or the mark's."""
    message, page, (kind, _, mark) = one.message, one.page, one.mark.partition("/")
    known = Kind(kind) if kind in set(Kind) else Kind.TOOL
    record, *told = mark.split("\n")
    if len(told) == _TOLD:
        person, name, at, text = told
        return WrittenAtOnce(known, page, text, name, person, message, datetime.fromisoformat(at))
    entry = await handle.ledger.find(message)
    placed = parse_records(draft.texts.get(page, "")).find(record)
    task = tasks.parse(draft.texts.get(TASKS, "")).find(record)
    if placed is not None:
        source = placed.record.sources[0] if placed.record.sources else None
        text = placed.record.body or placed.record.title
        name, person = (source.name, source.person) if source else ("", "")
    else:
        text, name, person = one.note or (task.title if task else ""), "", ""
    if entry is not None:
        name, person = entry.message.author_name, entry.message.author
        text = text or one_line(entry.message.text, NOTE_CHARACTERS)
    said_at = entry.message.sent_at if entry is not None else draft.now
    return WrittenAtOnce(known, page, text or known.value, name, person, message, said_at)
