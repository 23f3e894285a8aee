"""How well the parts of a memory fit a question: one formula for pages, journals and talk. Pure.

A part's score is a sum of shares, each between 0 and 1 of the best part's:

    own          BM25 over the part's terms
    before       BM25 over the part and the one before it in its session: an answer repeats nothing of its question
    near, wide   BM25 over the part and two (five) before and after it: what answers often repeats no word of the
                 question, but stands where it is talked about
    session      BM25 over everything that belongs together (a talk without a long pause, a page's section)
    kin          BM25 over words of the same field as the question's (memory_core.kin), in the part itself
    kin_before   the same over the part and the one before it
    phrase       pairs of words that stand together in both
    cover        how much of the question it holds, however often
    speaker      it was said by somebody whom the question names
    day          it was said on a day that the question names, or soon after (memory_core.days)
    time         it names a time, and the question asks for one
    number       it holds a number: facts that people look up often do
    newness      its place in time among all parts: of two that fit alike, the newer one
    asks         it is a question itself (counts against it: it seldom tells anything)
    length       how long it is (counts against it: the same place holds several shorter ones)

A part that stands for itself (a record) is a session of its own; its neighbours and session are itself, so that the
formula falls back to BM25. The weights were found on LoCoMo (two persons, short lines) and GateMem (twelve persons,
long ones) together; one set serves both, and it is the only one. `python -m tests.bench recall --leave-one-out` tells
how well it holds for rooms that it was not found on.

What a question needs to know of every part (a `Shelf`) is small and the same for all questions; where the terms of
a question stand (`Places`) is looked up for each. Only parts that hold a term, stand near one or hold its kin have a
score. Words that occur in no part weigh nothing, so a part's score depends on its own scope alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from memory_core.days import Span, worth
from memory_core.shelf import SATURATION, Shelf, Spot, Window, base, shelf
from memory_core.weights import SHIPPED, Weights

__all__ = [
    "Holding",
    "Places",
    "Question",
    "Score",
    "Share",
    "Shelf",
    "Spot",
    "best",
    "holding_of",
    "own_words",
    "pairs_of",
    "scores",
    "shares",
    "shelf",
]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: its terms, the words of the same field, whether it asks for a time, and which days it names."""

    terms: tuple[str, ...]
    kin: tuple[str, ...] = ()
    asks_time: bool = False
    days: tuple[Span, ...] = ()


Holding: TypeAlias = Mapping[str, Mapping[int, int]]
"""For each term how often which part holds it (by its number)."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the terms of a question stand, how many pairs of the question stand together in a part, and its kin."""

    counts: Holding
    pairs: Mapping[int, int] = field(default_factory=dict)
    kin: Holding = field(default_factory=dict)


class Score(NamedTuple):
    """How well one part fits. `shared`: how many different terms of the question it holds itself; `kin`: of kin."""

    value: float
    shared: int
    kin: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """Which parts have how much of a share, of what the best one has."""

    values: Mapping[int, float]
    best: float = 1.0


def scores(parts: Shelf, found: Places, asked: Question, weights: Weights = SHIPPED) -> dict[int, Score]:
    """The scores of the parts that fit a question, by their numbers; none where no part holds any of it."""
    shared, kin = _all_hold(found.counts), _all_hold(found.kin)
    values = _values(parts, found, asked, weights)
    return {number: Score(one, shared.get(number, 0), kin.get(number, 0)) for number, one in values.items()}


def best(
    parts: Shelf, found: Places, asked: Question, most: int, fits: Callable[[int, bool], bool]
) -> list[tuple[int, Score]]:
    """The `most` parts of the highest scores, best first, with their numbers; of equal ones the newer is first.

    `fits` says which may be among them, by the number, and whether the part itself holds a term or its kin.
    """
    holding = set[int]().union(*found.counts.values(), *found.kin.values())
    values = {number: one for number, one in _values(parts, found, asked).items() if fits(number, number in holding)}
    enough = min(nlargest(most, values.values()), default=0.0)
    order = sorted((-one, -(parts.spots[number].at or 0), number) for number, one in values.items() if one >= enough)
    return [
        (number, Score(-one, _holds(found.counts, number), _holds(found.kin, number)))
        for one, _, number in order[:most]
    ]


def _values(parts: Shelf, found: Places, asked: Question, weights: Weights = SHIPPED) -> dict[int, float]:
    """The values of the scores."""
    looked_at, told = shares(parts, found, asked)
    unasked = parts.base if weights is SHIPPED else base(parts.still, weights)
    value = {number: unasked[number] for number in looked_at}
    for name, share in told.items():
        factor = getattr(weights, name) / share.best
        for number, one in share.values.items():
            if number in value:
                value[number] += factor * one
    return {number: max(0.0, one) for number, one in value.items()}


def shares(parts: Shelf, found: Places, asked: Question) -> tuple[Collection[int], dict[str, Share]]:
    """The parts that are looked at, and of every share that depends on the question, by its name in Weights, who has
    how much of it (others than those that are looked at may have some).

    Looked at are the parts that hold a term of the question or of its kin, or stand within two of one that holds a
    term. The score of a part is the sum of its shares and of `parts.still`, each times its weight.
    """
    counts = {term: holding for term, holding in found.counts.items() if holding}
    kin = {term: holding for term, holding in found.kin.items() if holding}
    own, before, near, wide = (_around(window, counts) for window in parts.windows)
    related, related_before = (_around(window, kin) for window in parts.windows[:2])
    looked_at = near.keys() | related.keys()
    named = {number for term in asked.terms for number in parts.speakers.get(term, ())}
    timed = looked_at if asked.asks_time else ()
    told = {
        "own": own,
        "before": before,
        "near": near,
        "wide": wide,
        "session": _by_session(parts, counts, looked_at),
        "kin": related,
        "kin_before": related_before,
        "phrase": {number: float(count) for number, count in found.pairs.items()},
        "cover": _cover(counts, len(parts.spots)),
    }
    tops = {name: max(values.values(), default=0.0) for name, values in told.items()}
    of_best = {name: Share(values, tops[name]) for name, values in told.items() if tops[name] > 0}
    of_best["speaker"] = Share(dict.fromkeys(named, 1.0))
    of_best["day"] = Share(_by_day(parts.spots, asked.days, looked_at))
    of_best["time"] = Share({number: 1.0 for number in timed if parts.spots[number].time})
    return looked_at, of_best


def own_words(parts: Shelf, found: Places) -> dict[int, float]:
    """BM25 of each part alone: the first share, and what the whole formula is measured against."""
    return _around(parts.windows[0], found.counts)


def pairs_of(terms: Sequence[str]) -> frozenset[tuple[str, str]]:
    """The pairs of terms that stand together."""
    return frozenset(pairwise(terms))


def holding_of(terms: Sequence[str], counts: Holding) -> Holding:
    """Those of the terms that were looked for, or found, at all."""
    return {term: counts[term] for term in terms if term in counts}


def _weight(holding: int, total: int) -> float:
    """The weight of a term that `holding` of `total` texts hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _around(window: Window, found: Holding) -> dict[int, float]:
    """BM25 over each part together with its neighbours."""
    starts, ends = window.starts, window.ends
    if window.alone:
        return _bm25(found.values(), len(window.norms), window.norms)
    spread: list[Mapping[int, int]] = []
    for holding in found.values():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            for near in range(starts[number], ends[number]):
                counts[near] += count
        spread.append(counts)
    return _bm25(spread, len(window.norms), window.norms)


def _bm25(
    found: Iterable[Mapping[int, int]], total: int, norms: Sequence[float] | Mapping[int, float]
) -> dict[int, float]:
    """BM25 of every text that holds a term; there are `total` texts."""
    values: dict[int, float] = defaultdict(float)
    for holding in found:
        weight = _weight(len(holding), total) * (SATURATION + 1)
        for number, count in holding.items():
            values[number] += weight * count / (count + norms[number])
    return values


def _by_session(parts: Shelf, found: Holding, numbers: Iterable[int]) -> dict[int, float]:
    """BM25 over whole sessions, told to those of their parts that are looked at."""
    first = parts.first
    merged: list[Mapping[int, int]] = []
    for holding in found.values():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            counts[first[number]] += count
        merged.append(counts)
    values = _bm25(merged, len(parts.session_norms), parts.session_norms)
    return {number: values.get(first[number], 0.0) for number in numbers}


def _by_day(spots: Sequence[Spot], days: tuple[Span, ...], numbers: Iterable[int]) -> dict[int, float]:
    """What the day of each part is worth."""
    if not days:
        return {}
    return {number: worth(days, at) for number in numbers if (at := spots[number].at) is not None}


def _cover(found: Holding, total: int) -> dict[int, float]:
    """The weight of the question's terms that each part holds, however often."""
    values: dict[int, float] = defaultdict(float)
    for holding in found.values():
        weight = _weight(len(holding), total)
        for number in holding:
            values[number] += weight
    return values


def _holds(found: Holding, number: int) -> int:
    """How many of these terms one part holds."""
    return sum(number in holding for holding in found.values())


def _all_hold(found: Holding) -> dict[int, int]:
    """The same of every part that holds any."""
    counts: dict[int, int] = defaultdict(int)
    for holding in found.values():
        for number in holding:
            counts[number] += 1
    return counts
