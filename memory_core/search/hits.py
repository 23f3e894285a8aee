"""What a search gives: the units that fit, best first.

Units are ranked by one formula (memory_core.ranking) over the terms of any script (memory_core.terms). A match is a
unit that shares a term with the question or holds a word of the same field (memory_core.kin), or a line of a talk
that stands next to one that shares a term; of equal scores the newer one is first. `strong` leaves out those that fit
so little, compared with the best, that they are noise.

With an embedder the units that are nearest in meaning match too, also those that share no term (search/fusion.py).
How near is no measure of whether something fits, so nothing is left out by it: only places count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_core.forms.units import Unit
from memory_core.ids import PageId
from memory_core.ranking import scores
from memory_core.remembered import Remembered
from memory_core.search.parts import QUESTION, Placed, at_hand
from memory_core.search.question import question
from memory_core.terms import terms

WEAK = 0.2
"""A match below this part of the best score is weak."""

NEAR = 3
"""So many of those that are nearest in meaning are told without sharing words. They always are: what is nearest may
be far."""

_TOLD = 0.8
"""What holds this part of a line's terms tells it."""
_SAID = 2
_NOTES = ("journal/", "archive/", "daily-")
"""The pages of days: what lasts of them stands on another page."""
_DAILY = re.compile(r"- [0-9-]{10}: ")
"""How a line of a day's summary begins (memory_core.forms.daily)."""

_REMEMBERED = Remembered[str, frozenset[str]](1_000_000)
"""The terms of texts that were hits, of so many characters together: some 15 MB."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A unit that matches: the `number`th of those that were ranked.

    `score` orders the hits; `shared` is how many different terms of the question it holds, `kin` how many of the same
    field, `words` how well it fits by its words (0: not at all). `near` is its place by meaning, 1 the nearest; 0: it
    is not among the nearest, or there is no embedder.
    """

    placed: Placed
    number: int
    score: float
    shared: int
    kin: int
    words: float
    near: int = 0


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


def rank(placed: Sequence[Placed], words: str, today: date | None = None) -> tuple[Hit, ...]:
    """The units that match `words`, best first, of those that are at hand; days are seen from `today`. Pure."""
    wanted = question(words, today)
    if not wanted.terms or not placed:
        return ()
    ready = at_hand(placed)
    ranked = scores(ready.shelf, ready.places(wanted), wanted)
    hits = [
        Hit(placed[number], number, score.value, score.shared, score.kin, score.value)
        for number, score in ranked.items()
        if score.shared or score.kin
    ]
    return tuple(sorted(hits, key=order))


def strong(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits that are not weak by their words, and those that are near in meaning; `hits` are best first."""
    best = max((hit.words for hit in hits), default=0.0)
    return tuple(hit for hit in hits if hit.near or hit.words >= WEAK * best)


def telling(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """What a person would call a match: it holds a word of the question, or it follows a question that does; where
    nothing holds any, what holds a word of the same field. And what is nearest in meaning."""
    if not any(hit.shared for hit in hits):
        return tuple(hit for hit in hits if hit.kin or is_near(hit))
    asking = {
        hit.number
        for hit in hits
        if hit.shared and hit.placed.message is not None and hit.placed.unit.body.rstrip().endswith(QUESTION)
    }
    return tuple(hit for hit in hits if hit.shared or is_near(hit) or hit.number - 1 in asking)


def is_near(hit: Hit) -> bool:
    """Is it worth telling though it may share no word with the question (one in another language shares none)?"""
    return 0 < hit.near <= NEAR


def distinct(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits without those of which a better source says (nearly) every word: a line of a talk that a page tells,
    a day's note (also an archived one) that a page of what is known now tells."""
    tiers = [_tier(hit) for hit in hits]
    if len(set(tiers)) < 2:
        return tuple(hits)
    words = [
        _words(hit.placed.unit) if tier < _SAID else frozenset[str]() for hit, tier in zip(hits, tiers, strict=True)
    ]
    better = {
        tier: _Telling([said for said, other in zip(words, tiers, strict=True) if other < tier])
        for tier in set(tiers) - {0}
    }
    return tuple(
        hit
        for hit, tier, said in zip(hits, tiers, words, strict=True)
        if not tier or not better[tier].tell(_said(hit.placed.unit, said))
    )


class _Telling:
    """Sources that may tell what others say, by the words of each."""

    def __init__(self, sources: Sequence[frozenset[str]]) -> None:
        self._sources = sources
        self._all = frozenset[str]().union(*sources)

    def tell(self, said: frozenset[str]) -> bool:
        """Does one of them say (nearly) all of it? Mostly not even all together do, which is sooner seen."""
        enough = _TOLD * len(said)
        return len(said & self._all) >= enough and any(len(said & words) >= enough for words in self._sources)


def _terms(text: str) -> frozenset[str]:
    return _REMEMBERED.get(text, len(text), lambda: frozenset(terms(text)))


def _words(unit: Unit) -> frozenset[str]:
    return _terms(f"{unit.title} {unit.body}")


def _said(unit: Unit, words: frozenset[str]) -> frozenset[str]:
    """What a better source must say to tell it, whoever said it. A record says its title as well, a line none."""
    said = words if unit.record else _terms(_DAILY.sub("", unit.body))
    return said - _terms(unit.source) or said


def _tier(hit: Hit) -> int:
    """0: what is known now; 1: what was noted on a day; 2: what was said."""
    if hit.placed.message is not None:
        return _SAID
    return 1 if hit.placed.page.startswith(_NOTES) else 0


def order(hit: Hit) -> tuple[float, int, int]:
    """Best first; of equal ones the newer, then as they stand."""
    day = hit.placed.unit.day
    return (-hit.score, -(day.toordinal() if day else 0), hit.number)
