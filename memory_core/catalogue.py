"""The index's catalogue: derived from the pages after every flush and sleep, never a source of anything.

Per page its lines, tokens, last change, latest three titles and search hint; of the last seven journals what was
decided, else what was first noted. How that is laid out is the layout's choice (IndexForm): one table of pages
(index_edit), or hot and on-demand files, seven days and conflicts (index_files), then of the pages that messages are
routed to only. The authored part of the index is not touched.

The last change of a page is the day that the page itself tells: the newest of its records' days and uses, of its
daily lines, or of the last flush in its snapshot. Only a page that tells none has the day of its file, in the scope's
zone, and never one that the clock has not reached: a file's time says when it was copied or restored, and a replay of
old messages would bear today's date.

A group's index also names every room that its messages came from, beside those that stand there: from them a lost
mapping of rooms to names is rebuilt (memory_core.names_file).

After a flush its pages are known and are not read again; a journal that was not written keeps the line it has, but
for the newest, into which something may have been written at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from memory_core.clock import day_in
from memory_core.errors import PageChanged
from memory_core.flush.standing import Standing, beside
from memory_core.forms import daily, journal
from memory_core.forms.board import BOARDS, board
from memory_core.forms.record_values import shortened
from memory_core.forms.records import parse as parse_records
from memory_core.handle import Handle
from memory_core.ids import GroupScope, PageId
from memory_core.index import CatalogueRow, Conflict, Files, parse, with_catalogue, with_files, with_front, with_rooms
from memory_core.index_edit import CATALOGUE_JOURNALS
from memory_core.index_lines import Part, outline
from memory_core.layouts import INDEX, Form, IndexForm, journal_page
from memory_core.store.base import Change, PageText

_UNLISTED = frozenset({Form.INDEX, Form.PROSE, Form.JOURNAL, Form.ARCHIVE, Form.STATE})
_RECORDS = frozenset({Form.NEWEST_FIRST, Form.ADDED, Form.SECTIONS, Form.CHANNEL})
_TITLES = 3
_EVENT_CHARACTERS = 60
_ATTEMPTS = 8
_KEPT = 512
"""Pages whose counts are kept in mind: most pages are as they were at the flush before."""

_JOURNAL = re.compile(r"- (\d{4}-\d\d-\d\d): (.*)|\| (\d{4}-\d\d-\d\d) \| ✅ \| (.*) \|")
"""A day in the one form and in the other."""


async def rebuild_catalogue(handle: Handle, known: Standing | None = None, at: datetime | None = None) -> bool:
    """Write the catalogue of the scope's index anew; False where there is no index, which is not made here.

    `known`: pages as they were read or written just now; without it every page is read. `at`: when what changed them
    was planned (now, if it is not said), so that a plan that is finished later leaves the same index. Raises
    StoreError; the old index stands then.
    """
    standing = known or Standing(await handle.store.pages())
    rows_of = _listed(handle, standing.listed)
    journals = [page for page in standing.listed if handle.table.rule(page).form is Form.JOURNAL]
    journals = journals[-CATALOGUE_JOURNALS:]
    index = known.pages.get(INDEX) if known else await handle.store.read(INDEX)
    heard = await _rooms(handle)
    for _ in range(_ATTEMPTS):
        if index is None:
            return False
        told = _journal_lines(index.text) if known else {}
        lines = {page: what for page, what in told.items() if page in journals}  # the others went to the archive
        unread = [page for page in journals if page not in lines or page == journals[-1]]
        standing = await standing.reading(handle, [*rows_of, *unread])
        lines |= {page: _events(standing.pages[page].text) for page in journals if page in standing.pages}
        listed = [standing.pages[page] for page in rows_of if page in standing.pages]
        text = await beside(
            sum(len(page.text) for page in listed),
            _rebuilt,
            handle,
            _with_rooms(handle, index.text, heard),
            listed,
            lines,
            at or handle.clock.now(),
        )
        if text == index.text or await _written(handle, Change(INDEX, text, index.stamp)):
            return True
        index = await handle.store.read(INDEX)
    raise PageChanged("The index kept changing while its catalogue was written; it is written by the next flush.")


def _listed(handle: Handle, pages: Sequence[PageId]) -> list[PageId]:
    """The pages that the catalogue lists; in the form of files in the layout's order, by priority."""
    rules = {page: handle.table.rule(page) for page in pages}
    if handle.layout.index_form is IndexForm.ROUTES:
        return [page for page, rule in rules.items() if rule.form not in _UNLISTED]
    routed = handle.table.routed()
    return sorted(
        (page for page, rule in rules.items() if rule in routed), key=lambda page: routed.index(rules[page])
    )


async def _rooms(handle: Handle) -> tuple[str, ...]:
    """The rooms in which something was said to a group; a DM's index names none."""
    if not isinstance(handle.scope, GroupScope):
        return ()
    return tuple(dict.fromkeys(str(talk.room) for talk in await handle.ledger.conversations()))


def _with_rooms(handle: Handle, index: str, heard: Sequence[str]) -> str:
    named = parse(index, handle.table).rooms
    new = [room for room in heard if room not in named]
    return with_rooms(index, [*named, *new]) if new else index


async def _written(handle: Handle, change: Change) -> bool:
    """One try; False where the page was changed meanwhile."""
    try:
        await handle.store.commit([change])
    except PageChanged:
        return False
    return True


def _rebuilt(
    handle: Handle, index: str, pages: Sequence[PageText], journals: Mapping[PageId, str], at: datetime
) -> str:
    """The index with this catalogue; its date moves only if something else changes."""
    zone = parse(index, handle.table).zone or handle.host_zone
    today = day_in(zone, at)
    days = [(_day_of(page), what) for page, what in journals.items()]
    rows = [_row(handle, page, zone, today) for page in pages]
    if handle.layout.index_form is IndexForm.FILES:
        budget = sum(handle.table.rule(page.page).budget_lines or 0 for page in pages)
        files = Files(rows, days, _conflicts(pages), today, budget)
        text = with_files(index, files, handle.table.rule(INDEX).budget_lines)
    else:
        text = with_catalogue(index, rows, days)
    return text if text == index else with_front(text, "last_updated", today.isoformat())


def _row(handle: Handle, page: PageText, zone: tzinfo, today: date) -> CatalogueRow:
    rule = handle.table.rule(page.page)
    titles, day = _told(page.text, rule.form)
    written = day_in(zone, datetime.fromtimestamp(page.stamp.mtime_ns / 1e9, UTC))
    return CatalogueRow(
        page=page.page,
        lines=len(page.text.splitlines()),
        tokens=_tokens(page.text, handle.counter.count),
        changed=day or min(written, today),
        titles=titles,
        hint=rule.hint,
    )


def _conflicts(pages: Sequence[PageText]) -> list[Conflict]:
    """The conflicts that records of these pages name, each pair once."""
    found: dict[frozenset[str], Conflict] = {}
    for page in pages:
        for one, other in _contradictions(page.text):
            found.setdefault(frozenset((one, other)), Conflict(one, other, page.page))
    return list(found.values())


@lru_cache(_KEPT)
def _contradictions(text: str) -> tuple[tuple[str, str], ...]:
    """Per record and conflict of a page: the record's label and what it contradicts."""
    records = [placed.record for placed in parse_records(text).records] if "Conflicts:" in text else []
    return tuple((record.label, other) for record in records for other in record.conflicts)


@lru_cache(_KEPT)
def _tokens(text: str, count: Callable[[str], int]) -> int:
    return count(text)


@lru_cache(_KEPT)
def _told(text: str, form: Form) -> tuple[tuple[str, ...], date | None]:
    """The latest titles of a page of records (none of other pages); the day of its last change, if it tells one."""
    if form not in _RECORDS:
        return (), _day_told(text, form)
    found = parse_records(text).records
    records = [placed.record for placed in found if placed.record.day or placed.record.sources]
    numbered = sorted(enumerate(records), key=lambda one: (one[1].day or date.min, one[0]), reverse=True)
    titles = tuple(shortened(record.title, _EVENT_CHARACTERS) for _, record in numbered[:_TITLES])
    days = [day for record in records for day in (record.day, record.last_referenced) if day]
    days += [day for day in (_day_told(text, form),) if day] if form in BOARDS else []
    return titles, max(days, default=None)


def _day_told(text: str, form: Form) -> date | None:
    """The newest day that a page of another form tells."""
    if form is Form.DAILY_LINES:
        told = [line.day for line in daily.parse(text)]
    else:
        told = [board(form).parse(text).fact("last flush")[:10]]
    return max((day for one in told if (day := _day(one))), default=None)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _journal_lines(index: str) -> dict[PageId, str]:
    """What the catalogue of this index says of each journal."""
    found = (_JOURNAL.fullmatch(line.text) for line in outline(index) if line.part is Part.CATALOGUE)
    days = ((line[1] or line[3], line[2] or line[4] or "") for line in found if line)
    return {journal_page(day): what.replace("\\|", "|") for day, what in days}


def _events(text: str) -> str:
    """What happened on a day, in a few words: its decisions, else its first notes."""
    notes: Sequence[journal.Note] = journal.parse(text).notes
    decided = [note for note in notes if note.part == journal.Part.DECISIONS.value]
    return "; ".join(shortened(note.text, _EVENT_CHARACTERS) for note in (decided or notes)[:_TITLES])


def _day_of(page: PageId) -> str:
    """The day that a journal is of."""
    return page.partition("/")[2]
