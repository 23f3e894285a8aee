"""The index's catalogue: derived from the pages after every flush and sleep, never a source of anything.

Per page its lines, tokens, last change, latest three titles and search hint; of the last seven journals what was
decided, else what was first noted. The authored part of the index is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo

from memory_core import journal
from memory_core.clock import day_in
from memory_core.errors import PageChanged
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.index import CatalogueRow, parse, with_catalogue, with_front
from memory_core.index_edit import CATALOGUE_JOURNALS
from memory_core.layouts import INDEX, Form
from memory_core.record_values import shortened
from memory_core.records import parse as parse_records
from memory_core.store.base import Change, PageText

_FORMS = frozenset({Form.ATTENTION, Form.NEWEST_FIRST, Form.ADDED, Form.DAILY_LINES})
_TITLES = 3
_EVENT_CHARACTERS = 60
_ATTEMPTS = 8


async def rebuild_catalogue(handle: Handle) -> bool:
    """Write the catalogue of the scope's index anew; False where there is no index, which is not made here.

    Raises StoreError; the old index stands then.
    """
    pages = await handle.store.pages()
    rows_of = [page for page in pages if handle.table.rule(page).form in _FORMS]
    journals = [page for page in pages if handle.table.rule(page).form is Form.JOURNAL][-CATALOGUE_JOURNALS:]
    read = {page: one for page in (*rows_of, *journals) if (one := await handle.store.read(page)) is not None}
    for _ in range(_ATTEMPTS):
        standing = await handle.store.read(INDEX)
        if standing is None:
            return False
        zone = parse(standing.text, handle.table).zone or handle.host_zone
        rows = [_row(handle, read[page], zone) for page in rows_of if page in read]
        days = [(page.partition("/")[2], _events(read[page].text)) for page in reversed(journals) if page in read]
        text = with_catalogue(standing.text, rows, days)
        if text == standing.text:
            return True
        text = with_front(text, "last_updated", day_in(zone, handle.clock.now()).isoformat())
        try:
            await handle.store.commit([Change(INDEX, text, standing.stamp)])
        except PageChanged:
            continue
        return True
    raise PageChanged("The index kept changing while its catalogue was written; it is written by the next flush.")


def _row(handle: Handle, page: PageText, zone: tzinfo) -> CatalogueRow:
    rule = handle.table.rule(page.page)
    changed = datetime.fromtimestamp(page.stamp.mtime_ns / 1e9, UTC)
    return CatalogueRow(
        page=page.page,
        lines=len(page.text.splitlines()),
        tokens=handle.counter.count(page.text),
        changed=day_in(zone, changed),
        titles=_titles(page.page, page.text, rule.form),
        hint=rule.hint,
    )


def _titles(page: PageId, text: str, form: Form) -> tuple[str, ...]:
    """The latest titles of a page of records; none of other pages."""
    if form not in (Form.NEWEST_FIRST, Form.ADDED):
        return ()
    records = [placed.record for placed in parse_records(text).records if placed.record.day or placed.record.sources]
    numbered = sorted(enumerate(records), key=lambda one: (one[1].day or date.min, one[0]), reverse=True)
    return tuple(shortened(record.title, _EVENT_CHARACTERS) for _, record in numbered[:_TITLES])


def _events(text: str) -> str:
    """What happened on a day, in a few words: its decisions, else its first notes."""
    notes: Sequence[journal.Note] = journal.parse(text).notes
    decided = [note for note in notes if note.part == journal.Part.DECISIONS.value]
    return "; ".join(shortened(note.text, _EVENT_CHARACTERS) for note in (decided or notes)[:_TITLES])
