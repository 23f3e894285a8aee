"""From facts to operations: what a flush is going to write. Pure: pages' texts go in, operations come out.

A draft holds the texts of the pages as they were read, and applies every operation to them at once, so that a later
fact meets what an earlier one of the same flush wrote. For each settled fact, in this order:

    it corrects, or opposes, a known record     a new record that supersedes it; the old place keeps a struck line
    it repeats a known record                   a hit on it and a further source, no second record
    else                                        a new record on the page that the layout names for its kind

Tasks, status, blockers and environment go to the board (and tasks to pending_tasks.json), where a row, a line or a
key is set (flush/attention_draft); records are flush/record_draft's. What was written at once (`written`) already is
counted, noted in the journal, and not written again. Every operation's inverse is kept, last first. Repeats count
once per record and flush; they alone are no content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo

from memory_core.anchors import Anchor
from memory_core.candidates import TITLE_CHARACTERS
from memory_core.clock import day_in
from memory_core.errors import UnknownPage
from memory_core.flush.attention_draft import DOING, AttentionDraft
from memory_core.flush.bars import Fact
from memory_core.flush.journal_draft import take_back
from memory_core.flush.record_draft import RecordDraft
from memory_core.forms import journal
from memory_core.forms.board import BOARDS
from memory_core.forms.channel import DECISIONS
from memory_core.forms.patches import hunks
from memory_core.forms.records import parse
from memory_core.forms.sections import WITH_RECORDS
from memory_core.friendly_name import slug
from memory_core.ids import MessageKey, PageId
from memory_core.index import Index
from memory_core.layouts import INDEX, Form, Kind, Table, journal_page
from memory_core.ledger.base import Hit
from memory_core.operations import Operation
from memory_core.operations.attention import PutFact
from memory_core.operations.journal import AddNotes, AddPoints
from memory_core.operations.pages import Patch, Unmake, text_hash
from memory_core.operations.records import TouchRecord
from memory_core.operations.routes import AddLine, AddRoute
from memory_core.routing import match
from memory_core.templates import new_page
from memory_core.text import one_line


def start_text(table: Table, page: PageId, name: str = "") -> str:
    """What a page that does not exist yet begins with ('' for the program's own files and journals).

    `name` is the group's.
    """
    return new_page(table, page, name) or ""


@dataclass(frozen=True, slots=True)
class WrittenAtOnce:
    """What was written when it was said, since the last flush; what receipt and journal say of it."""

    kind: Kind
    page: PageId
    text: str
    name: str
    person: str
    key: MessageKey
    said_at: datetime


@dataclass(slots=True)
class Draft:
    """A plan in the making. `texts` are the pages as they will be; pages that do not exist are not in it."""

    table: Table
    zone: tzinfo
    now: datetime
    texts: dict[PageId, str]
    base: dict[PageId, str]
    """The pages as undo shall leave them: as they were read, and without what must not come back."""
    read: Mapping[PageId, str]
    """The pages as they were read."""
    index: Index
    name: str = ""
    """The group's name, for a page that begins with it."""
    operations: list[Operation] = field(default_factory=list)
    inverses: list[Operation] = field(default_factory=list)
    kinds: Counter[Kind] = field(default_factory=Counter)
    kinds_on: dict[PageId, Counter[Kind]] = field(default_factory=dict)
    pages: dict[PageId, None] = field(default_factory=dict)
    notes: dict[str, list[journal.Note]] = field(default_factory=dict)
    points: dict[str, list[tuple[str, tuple[MessageKey, ...]]]] = field(default_factory=dict)
    last_said: dict[str, datetime] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    """Identities of records that this flush wrote or hit: a repeat of one counts no second time."""
    taken_out: bool = False
    """Was an operation taken out again?"""
    referenced: date | None = None
    """The day on which what is said counts as referenced; None: the day on which it was said."""

    @property
    def has_content(self) -> bool:
        """Is there something that makes a journal entry and a flush number?"""
        return bool(self.kinds) or bool(self.notes)

    def results(self) -> dict[PageId, str]:
        """How the pages that this draft changes will read, by their hashes (memory_core.flush.plans.Body)."""
        return {
            page: text_hash(self.texts[page]) for page in {one.page for one in self.operations} & self.texts.keys()
        }

    def do(self, operation: Operation, *, undone: bool = True) -> bool:
        """Add the operation, unless it changes nothing; `undone` False: undo must not take it back."""
        page = operation.page
        before = self.texts.get(page)
        text = start_text(self.table, page, self.name) if before is None else before
        after = operation.apply(text, self.table.rule(page).form)
        if after == text:
            return False
        self.operations.append(operation)
        if undone:
            self.inverses.insert(0, operation.undo(text))
        elif page in self.base:
            self.base[page] = operation.apply(self.base[page], self.table.rule(page).form)
        self.texts[page] = after
        if before is None:
            self._introduce(page)
        return True

    def do_if_there(self, operation: Operation) -> None:
        """Add an operation that makes no page and is not taken back."""
        if operation.page in self.texts:
            self.do(operation, undone=False)

    def exact(self) -> tuple[Patch | Unmake, ...]:
        """The way back, byte for byte, page by page."""
        found: list[Patch | Unmake] = []
        texts = self._written() if self.taken_out else self.texts
        for page in dict.fromkeys(operation.page for operation in self.inverses):
            if page not in self.base:
                found.append(Unmake(page, text_hash(texts[page])))
            elif self.base[page] != texts[page]:
                found.append(Patch(page, hunks(self.base[page], texts[page])))
        return tuple(found)

    def _written(self) -> dict[PageId, str]:
        """The pages as the operations make them, which may place a record otherwise than one that was taken out."""
        texts = dict(self.read)
        for operation in self.operations:
            page = operation.page
            text = texts[page] if page in texts else start_text(self.table, page, self.name)
            texts[page] = operation.apply(text, self.table.rule(page).form)
        return texts

    def take(self, fact: Fact) -> None:
        """Write a settled fact where it belongs; it is counted and noted if it is news.

        A kind without a page stands in the journal alone (a task in pending_tasks.json too), until sleep takes it to
        the page where it lasts; what is known there is no news.
        """
        if fact.kind in self.table.not_kept:
            return
        page = self.page_of(fact)
        form = self.table.rule(page).form if page else None
        if page and self.is_record(fact.kind, page):
            news = RecordDraft(self, page, self.table.section_of.get(fact.kind, "")).take(fact)
        elif form in BOARDS or fact.kind in DOING:
            news = AttentionDraft(self, page).take(fact)
        elif lasting := self.table.promoted.get(fact.kind):
            news = RecordDraft(self, lasting).repeat(fact) is not False
            if news:
                take_back(self, fact)
        else:
            news = True
        if news:
            self.count(fact, page)

    def is_record(self, kind: Kind, page: PageId) -> bool:
        """Does a kind become a record on that page? On a channel's context decisions do, topics and tasks do not."""
        form = self.table.rule(page).form
        return form in WITH_RECORDS and (form is not Form.CHANNEL or self.table.section_of.get(kind) == DECISIONS)

    def count(self, fact: Fact, page: PageId | None) -> None:
        """Count and note a fact that is news."""
        self.kinds[fact.kind] += 1
        if page:
            self.pages[page] = None
            self.kinds_on.setdefault(page, Counter())[fact.kind] += 1
        self._note(fact)

    def written_at_once(self, one: WrittenAtOnce) -> None:
        """Count and note what stands on its page already; what stands in a journal is noted."""
        self.kinds[one.kind] += 1
        self.pages[one.page] = None
        if self.table.rule(one.page).form is Form.JOURNAL:
            return
        self._line(journal.part_of(one.kind), one.text, one.name, one.person, (one.key,), one.said_at)
        self._point(one.said_at, one.text, (one.key,))

    def anchored(self, anchor: Anchor) -> None:
        """Note an anchor, which alone makes a journal entry."""
        said = anchor.message
        self._line(journal.Part.ANCHORS, anchor.text, said.author_name, said.author, (said.key,), said.sent_at)

    def hit(self, hits: Sequence[Hit]) -> None:
        """Write the uses of records into their fitness; a record that is gone is passed over."""
        uses = Counter((one.page, one.record) for one in hits)
        last = {(one.page, one.record): one.at for one in sorted(hits, key=lambda one: one.at)}
        for (page, identity), count in uses.items():
            placed = parse(self.texts[page]).find(identity) if page in self.texts else None
            if placed is not None and placed.level:
                day = day_in(self.zone, last[page, identity])
                self.do(TouchRecord(page, identity, placed.record.hit_count + count, day))

    def finish(self, pending: int) -> None:
        """Add what every flush with content leaves: journal entries, the day's line, the snapshot."""
        self.write_notes()
        daily = self._page_of_form(Form.DAILY_LINES)
        for day, points in self.points.items() if daily else ():
            texts, keys = tuple(text for text, _ in points), tuple(keys for _, keys in points)
            if daily and self.do(AddPoints(daily, day, texts, keys)):
                self.pages[daily] = None
        attention = self._page_of_form(Form.ATTENTION)
        if attention:
            offset = journal.offset_of(self.now, self.zone)
            self.do(PutFact(attention, "last flush", f"{self.now.astimezone(self.zone):%Y-%m-%d %H:%M} ({offset})"))
            self.do(PutFact(attention, "pending", str(pending)))
        self.tidy()

    def tidy(self) -> None:
        """Keep the tasks in order as the days go by: what is done leaves in time, what is overdue comes first."""
        AttentionDraft(self, self._page_of_form(*BOARDS)).tidy()

    def write_notes(self) -> None:
        """Add the notes to their journals."""
        for day, notes in self.notes.items():
            last = self.last_said[day]
            at = self.now if journal.local_day(self.now, self.zone) == day else last
            page = journal_page(day)
            offset = journal.offset_of(last, self.zone)
            self.do(AddNotes(page, day, offset, journal.local_time(at, self.zone), tuple(notes)))
            self.pages[page] = None

    def place_of(self, fact: Fact) -> PageId:
        """Where a fact is written: its page, else the journal of the day on which it was said."""
        return self.page_of(fact) or journal_page(journal.local_day(fact.said_at, self.zone))

    def home_of(self, fact: Fact) -> PageId | None:
        """Where what lasts of a fact stands: on its page, else where sleep takes it to."""
        return self.page_of(fact) or self.table.promoted.get(fact.kind)

    def page_of(self, fact: Fact) -> PageId | None:
        """The page that the layout names for the fact; None where it names none.

        A starred page (projects/*) is the one that is mentioned, by name or by a routing row; else decisions' page.
        """
        page = self.table.kinds.get(fact.kind)
        if page is None or not page.endswith("*"):
            return page
        prefix = page[:-1]
        if name := slug(fact.project):
            try:
                self.table.rule(PageId(prefix + name))
            except UnknownPage:
                return self.table.kinds.get(Kind.DECISION)
            return PageId(prefix + name)
        routed = (found.page for found in match(fact.text, self.index, self.table))
        return next((one for one in routed if one.startswith(prefix)), self.table.kinds.get(Kind.DECISION))

    def _introduce(self, page: PageId) -> None:
        """Make a page that is new reachable: a routing row, or a line on the page that opens conventions."""
        rule = self.table.rule(page)
        if rule.form not in (Form.NEWEST_FIRST, Form.ADDED) or not rule.page.endswith("*"):
            return
        name = rule.name_in(page) or page
        if rule.priority is None:
            opener = self.table.kinds.get(Kind.AGREEMENT)
            if opener and page.startswith("conventions/") and opener != page:
                self.do(AddLine(opener, f"Conventions: see {page}.md"))
        elif INDEX in self.texts and all(route.page != page for route in self.index.routes):
            self.do(AddRoute(INDEX, name.replace("-", " "), page, int(rule.priority)))

    def _page_of_form(self, *forms: Form) -> PageId | None:
        return next((rule.page for rule in self.table.rules if rule.form in forms), None)

    def _note(self, fact: Fact) -> None:
        source = fact.sources[0]
        keys = tuple(key for one in fact.sources for key in one.keys)
        self._line(journal.part_of(fact.kind), noted(fact), source.name, source.person, keys, fact.said_at)
        self._point(fact.said_at, fact.title, keys)

    def _line(
        self,
        part: journal.Part,
        text: str,
        name: str,
        person: str,
        keys: tuple[MessageKey, ...],
        said_at: datetime,
    ) -> None:
        day = journal.local_day(said_at, self.zone)
        at = journal.local_time(said_at, self.zone)
        self.notes.setdefault(day, []).append(journal.Note(part.value, text, name, at, person, keys))
        self.last_said[day] = max(said_at, self.last_said.get(day, said_at))

    def _point(self, said_at: datetime, text: str, keys: tuple[MessageKey, ...]) -> None:
        points = self.points.setdefault(journal.local_day(said_at, self.zone), [])
        points.append((one_line(text, TITLE_CHARACTERS), keys))


def noted(fact: Fact) -> str:
    """What the journal says of a fact."""
    return f"{fact.text} → {fact.status}" if fact.kind is Kind.STATUS and fact.status else fact.text


def new_draft(
    table: Table, zone: tzinfo, now: datetime, texts: Mapping[PageId, str], index: Index, name: str = ""
) -> Draft:
    """A draft on these pages; `name` is the group's."""
    return Draft(table, zone, now, dict(texts), dict(texts), texts, index, name)
