"""How well the parts of a memory fit a question: one formula for pages, journals and talk. Pure.

A part's score is a sum of shares, each between 0 and 1 of the best part's:

    own words        BM25 over the part's terms
    with neighbours  BM25 over the part and one (two) before and after it in its session: what answers a question
                     often repeats none of its words, but stands next to what does
    session          BM25 over everything that belongs together (a talk without a long pause, a page's section)
    speaker          it was said by somebody whom the question names
    answer           the part before it asks for what the question asks for
    phrase           pairs of words that stand together in both
    cover            how much of the question it holds, however often
    newness          its place among all parts: of two that fit alike, the newer one

A part that stands for itself (a record) is a session of its own; its neighbours and session are itself, so that the
formula falls back to BM25. The weights were found on LoCoMo (two persons, short lines) and GateMem (twelve persons,
long ones) together, with `python -m tests.bench recall`; one set serves both, and it is the only one.

Words that occur in no part weigh nothing, so a part's score depends on its own scope alone.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

OWN, NEAR, NEAR_TWO, SESSION = 0.7, 0.55, 0.6, 0.25
SPEAKER, ANSWER, PHRASE, COVER, NEWNESS = 0.8, 0.3, 0.2, 0.15, 0.15

_SATURATION = 1.2
_LENGTH = 0.4


@dataclass(frozen=True, slots=True)
class Part:
    """What ranking must know of a part: its terms, and how often; the pairs that stand together in it.

    Parts with the same `session` stand in the order in which they were said. `speaker` is the terms of who said it.
    `asks`: it is a question.
    """

    counts: Mapping[str, int]
    length: int
    pairs: frozenset[tuple[str, str]]
    session: str
    speaker: frozenset[str] = frozenset()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """How well one part fits. `shared`: how many different terms of the question it holds itself."""

    value: float
    shared: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Parts in their order, those of a session side by side, with what every question needs to know of them.

    `first` and `last` are for each part the ends of its session, `until` the length of all parts before each.
    """

    parts: tuple[Part, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    until: tuple[int, ...]

    @property
    def starts(self) -> tuple[int, ...]:
        """The first part of every session."""
        return tuple(dict.fromkeys(self.first))

    def around(self, number: int, reach: int) -> range:
        """The part and `reach` parts before and after it, of its session."""
        return range(max(self.first[number], number - reach), min(self.last[number], number + reach) + 1)

    def length(self, numbers: range) -> int:
        """How many terms these parts hold together."""
        return self.until[numbers.stop] - self.until[numbers.start]


def shelf(parts: Sequence[Part]) -> Shelf:
    """The parts, ready for questions."""
    first: list[int] = []
    for number, part in enumerate(parts):
        goes_on = number > 0 and parts[number - 1].session == part.session
        first.append(first[-1] if goes_on else number)
    last: list[int] = []
    for number in range(len(parts) - 1, -1, -1):
        goes_on = number + 1 < len(parts) and first[number + 1] == first[number]
        last.append(last[-1] if goes_on else number)
    until = tuple(accumulate((part.length for part in parts), initial=0))
    return Shelf(tuple(parts), tuple(first), tuple(reversed(last)), until)


def scores(held: Shelf, asked: Sequence[str]) -> tuple[Score, ...]:
    """The score of every part for the terms of a question, in the order of the shelf."""
    found = {term: holding for term in dict.fromkeys(asked) if (holding := _holding(held, term))}
    total = len(held.parts)
    if not found:
        return (Score(0.0, 0),) * total
    own = _bm25(found, [part.length for part in held.parts])
    value = [0.0] * total
    _add(value, own, OWN)
    _add(value, _near(held, found, 1), NEAR)
    _add(value, _near(held, found, 2), NEAR_TWO)
    _add(value, _by_session(held, found), SESSION)
    _add(value, _answers(held, own), ANSWER)
    _add(value, _phrases(held, frozenset(pairwise(asked))), PHRASE)
    _add(value, _cover(found, total), COVER)
    _add(value, range(total), NEWNESS)
    named = frozenset(asked)
    for number, part in enumerate(held.parts):
        if not part.speaker.isdisjoint(named):
            value[number] += SPEAKER
    shared = Counter(number for holding in found.values() for number in holding)
    return tuple(Score(value[number], shared[number]) for number in range(total))


def own_words(held: Shelf, asked: Sequence[str]) -> tuple[float, ...]:
    """BM25 of each part alone: the first share, and what the whole formula is measured against."""
    found = {term: holding for term in dict.fromkeys(asked) if (holding := _holding(held, term))}
    return tuple(_bm25(found, [part.length for part in held.parts]))


def _holding(held: Shelf, term: str) -> dict[int, int]:
    """How often each part holds the term."""
    return {number: count for number, part in enumerate(held.parts) if (count := part.counts.get(term, 0))}


def _weight(holding: int, total: int) -> float:
    """The weight of a term that `holding` of `total` texts hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _bm25(found: Mapping[str, Mapping[int, int]], lengths: Sequence[int]) -> list[float]:
    """BM25 of every text that holds a term; `lengths` are the texts'."""
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    values = [0.0] * len(lengths)
    for holding in found.values():
        weight = _weight(len(holding), len(lengths)) * (_SATURATION + 1)
        for number, count in holding.items():
            norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[number] / mean)
            values[number] += weight * count / (count + norm)
    return values


def _near(held: Shelf, found: Mapping[str, Mapping[int, int]], reach: int) -> list[float]:
    """BM25 over each part together with `reach` parts before and after it."""
    lengths = [held.length(held.around(number, reach)) for number in range(len(held.parts))]
    spread: dict[str, dict[int, int]] = {}
    for term, holding in found.items():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            for near in held.around(number, reach):
                counts[near] += count
        spread[term] = counts
    return _bm25(spread, lengths)


def _by_session(held: Shelf, found: Mapping[str, Mapping[int, int]]) -> list[float]:
    """BM25 over whole sessions, told to each of their parts."""
    places = {first: place for place, first in enumerate(held.starts)}
    merged: dict[str, dict[int, int]] = {}
    for term, holding in found.items():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            counts[places[held.first[number]]] += count
        merged[term] = counts
    values = _bm25(merged, [held.length(range(first, held.last[first] + 1)) for first in places])
    return [values[places[first]] for first in held.first]


def _answers(held: Shelf, own: Sequence[float]) -> list[float]:
    """For each part how well the question before it fits."""
    return [
        own[number - 1] if number > held.first[number] and held.parts[number - 1].asks else 0.0
        for number in range(len(held.parts))
    ]


def _phrases(held: Shelf, pairs: frozenset[tuple[str, str]]) -> list[int]:
    """How many pairs of the question each part holds."""
    return [len(pairs & part.pairs) for part in held.parts]


def _cover(found: Mapping[str, Mapping[int, int]], total: int) -> list[float]:
    """The weight of the question's terms that each part holds, however often."""
    values = [0.0] * total
    for holding in found.values():
        weight = _weight(len(holding), total)
        for number in holding:
            values[number] += weight
    return values


def _add(value: list[float], more: Sequence[float], weight: float) -> None:
    """Add shares of the best, so weighted."""
    best = max(more, default=0.0)
    if best > 0:
        for number, one in enumerate(more):
            value[number] += weight * one / best
