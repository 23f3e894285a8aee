"""Search in one scope: plain text, best first.

Searched are the units of the scope's pages, journals and archive (forms/units), never the program's own files,
never SOUL.md, and no page that the index leads to by [DEPRECATED] rows only. Every count and weight comes from these
units alone: another scope's words cannot even change an order.

Units are ranked by one formula (memory_core.ranking) over the terms of any script (memory_core.terms). A record
stands for itself, and a term in its title counts `_TITLE` times; what stands under one heading belongs together.
A match is a unit that shares a term with the question; of equal scores the newer one is first; `strong` leaves out
those that fit so little, compared with the best, that they are noise.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from memory_core.errors import StoreError, StoreFailed
from memory_core.forms.units import Unit, units_of
from memory_core.ids import PageId
from memory_core.layouts import Form, Table
from memory_core.ranking import Part, scores, shelf
from memory_core.store.base import Store
from memory_core.terms import asked, terms

_TITLE = 3
WEAK = 0.2
"""A match below this part of the best score is weak."""
_UNSEARCHED = frozenset({Form.STATE, Form.INDEX})


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit, and of which page in which state."""

    page: PageId
    unit: Unit
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A unit that matches: the `number`th of those that were ranked.

    `shared` is how many different terms of the question it holds.
    """

    placed: Placed
    number: int
    score: float
    shared: int


@dataclass(frozen=True, slots=True)
class Found:
    """A search result: the page, the record's identity (empty for other text), title, day, text, source and score.

    `text` is the record's body or the text itself; `shown` is what a disclosure shows of it.
    """

    page: PageId
    record: str
    title: str
    day: date | None
    text: str
    source: str
    score: float
    shown: str = ""


def found(hit: Hit) -> Found:
    """The hit as a result for people and tools."""
    unit = hit.placed.unit
    return Found(hit.placed.page, unit.record, unit.title, unit.day, unit.body, unit.source, hit.score, unit.text)


def rank(placed: Sequence[Placed], words: str) -> tuple[Hit, ...]:
    """The units that match `words`, best first. Pure."""
    wanted = tuple(dict.fromkeys(asked(words)))
    if not wanted or not placed:
        return ()
    found_scores = scores(shelf([_part(one) for one in placed]), asked(words))
    hits = [
        Hit(one, number, score.value, score.shared)
        for number, (one, score) in enumerate(zip(placed, found_scores, strict=True))
        if score.shared
    ]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, -_ordinal(hit.placed.unit.day))))


def strong(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits that are not weak; `hits` are best first."""
    return tuple(hit for hit in hits if hit.score >= WEAK * hits[0].score) if hits else ()


def _part(placed: Placed) -> Part:
    """A unit as ranking sees it: a record stands for itself, lines under one heading belong together."""
    unit = placed.unit
    together = unit.record or "\n".join((placed.page, *unit.context))
    return _part_of(unit, together)


@lru_cache(maxsize=8192)
def _part_of(unit: Unit, session: str) -> Part:
    """A unit's terms: its title's count more, context and tags once."""
    title, body = terms(unit.title), terms(unit.text if not unit.record else f"{unit.body} {unit.source}")
    counts = Counts(body)
    for term in title:
        counts[term] += _TITLE if unit.record else 1
    for term in terms(unit.words):
        counts[term] += 1
    pairs = frozenset((*pairwise(title), *pairwise(body)))
    return Part(
        counts,
        len(title) + len(body),
        pairs,
        session,
        frozenset(terms(unit.said_by)),
        unit.body.endswith(("?", "？")),
    )


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day else 0


def searchable(table: Table, pages: Iterable[PageId], dead: frozenset[PageId] = frozenset()) -> tuple[PageId, ...]:
    """Those of `pages` that a search may open."""
    return tuple(
        page
        for page in pages
        if page not in dead and not (rule := table.rule(page)).shared and rule.form not in _UNSEARCHED
    )


async def gather(store: Store, table: Table, pages: Iterable[PageId], unread: list[str]) -> tuple[Placed, ...]:
    """All units of `pages`, in order. A page that is gone has none; what could not be read is told in `unread`."""
    placed: list[Placed] = []
    for page in pages:
        try:
            read = await store.read(page)
        except StoreError as failed:
            unread.append(str(failed))
            continue
        if read is not None:
            units = units_of(page, table.rule(page).form, read.text).units
            placed += [Placed(page, unit, read.stamp.sha256) for unit in units]
    return tuple(placed)


async def find(
    store: Store, table: Table, words: str, limit: int = 10, *, dead: frozenset[PageId] = frozenset()
) -> tuple[Found, ...]:
    """The best `limit` matches in the scope that `store` is bound to.

    One page that cannot be read does not hide what stands on the others. Raises StoreError when none can be read.
    """
    unread: list[str] = []
    placed = await gather(store, table, searchable(table, await store.pages(), dead), unread)
    if unread and not placed:
        raise StoreFailed(unread[0])
    return tuple(found(hit) for hit in rank(placed, words)[:limit])
