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
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TypeAlias

from memory_core.days import Span, worth

_SATURATION = 1.2
_LENGTH = 0.4
_WINDOWS = ((0, 0), (1, 0), (2, 2), (5, 5))
"""How many parts before and after belong to `own`, `before`, `near` and `wide`."""
_LONG = math.log(30)
"""From so many terms on (their logarithm) a part is simply long."""
_UNDATED = 0.5
"""The newness of what has no date."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts. These are the ones that remem ships; others are for those who look for better ones."""

    own: float = 0.3
    before: float = 0.5
    near: float = 0.4
    wide: float = 0.3
    session: float = 0.3
    kin: float = 0.2
    kin_before: float = 0.15
    phrase: float = 0.1
    cover: float = 0.15
    speaker: float = 0.6
    day: float = 1.0
    time: float = 0.2
    number: float = 0.15
    newness: float = 0.15
    asks: float = -0.2
    length: float = -0.2


SHIPPED = Weights()


@dataclass(frozen=True, slots=True)
class Spot:
    """What ranking must know of a part, whatever is asked: how many terms it has, and where it stands.

    Parts with the same `session` stand side by side, in the order in which they were said. `at` is its time in days
    (a date's ordinal), None where it has none; `speaker` the terms of who said it. `asks`: it is a question; `number`
    and `time`: it holds one.
    """

    length: int
    session: str
    at: float | None = None
    speaker: frozenset[str] = frozenset()
    asks: bool = False
    number: bool = False
    time: bool = False


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


@dataclass(frozen=True, slots=True)
class Score:
    """How well one part fits. `shared`: how many different terms of the question it holds itself; `kin`: of kin."""

    value: float
    shared: int
    kin: int = 0


@dataclass(frozen=True, slots=True)
class Shelf:
    """Parts in their order, with what every question needs to know of them.

    `first` and `last` are for each part the ends of its session. `newness` is its place in time from 0 to 1, `norms`
    for each window and part by how much its length makes a term count less, `session_norms` the same by the first
    part of each session.
    """

    spots: Sequence[Spot]
    first: Sequence[int]
    last: Sequence[int]
    newness: Sequence[float]
    norms: Sequence[Sequence[float]]
    session_norms: Mapping[int, float]
    speakers: Mapping[str, Sequence[int]]


def shelf(spots: Sequence[Spot]) -> Shelf:
    """The parts, ready for questions."""
    first: list[int] = []
    for number, spot in enumerate(spots):
        goes_on = number > 0 and spots[number - 1].session == spot.session
        first.append(first[-1] if goes_on else number)
    last: list[int] = []
    for number in range(len(spots) - 1, -1, -1):
        goes_on = number + 1 < len(spots) and first[number + 1] == first[number]
        last.append(last[-1] if goes_on else number)
    last.reverse()
    until = tuple(accumulate((spot.length for spot in spots), initial=0))
    speakers: dict[str, list[int]] = defaultdict(list)
    for number, spot in enumerate(spots):
        for term in spot.speaker:
            speakers[term].append(number)
    norms = []
    for back, ahead in _WINDOWS:
        starts = [max(start, number - back) for number, start in enumerate(first)]
        ends = [min(end, number + ahead) + 1 for number, end in enumerate(last)]
        norms.append(_norms([until[end] - until[start] for start, end in zip(starts, ends, strict=True)]))
    begins = [number for number, start in enumerate(first) if number == start]
    of_sessions = _norms([until[last[number] + 1] - until[number] for number in begins])
    by_session = dict(zip(begins, of_sessions, strict=True))
    return Shelf(spots, first, last, _newness(spots), norms, by_session, dict(speakers))


def scores(held: Shelf, found: Places, asked: Question, weights: Weights = SHIPPED) -> dict[int, Score]:
    """The scores of the parts that fit a question, by their numbers; none where no part holds any of it."""
    told = shares(held, found, asked)
    value = dict.fromkeys(told.get("newness", ()), 0.0)
    for name, share in told.items():
        weight: float = getattr(weights, name)
        for number, one in share.items():
            value[number] += weight * one
    shared, kin = _held(found.counts), _held(found.kin)
    return {
        number: Score(max(0.0, score), shared.get(number, 0), kin.get(number, 0)) for number, score in value.items()
    }


def shares(held: Shelf, found: Places, asked: Question) -> dict[str, dict[int, float]]:
    """Of every share, by its name in Weights, which parts have how much of it. All have a `newness`: these are the
    parts that hold a term of the question or of its kin, or stand within two of one that holds a term."""
    counts = {term: holding for term, holding in found.counts.items() if holding}
    kin = {term: holding for term, holding in found.kin.items() if holding}
    total, spots = len(held.spots), held.spots
    windows = [_bm25(_around(held, counts, *window), total, held.norms[at]) for at, window in enumerate(_WINDOWS)]
    own, before, near, wide = windows
    related = _bm25(kin, total, held.norms[0])
    looked_at = {**near, **related}
    named = {number for term in asked.terms for number in held.speakers.get(term, ())}
    told = {
        "own": own,
        "before": before,
        "near": near,
        "wide": {number: one for number, one in wide.items() if number in looked_at},
        "session": _by_session(held, counts, looked_at),
        "kin": related,
        "kin_before": _bm25(_around(held, kin, *_WINDOWS[1]), total, held.norms[1]),
        "phrase": found.pairs,
        "cover": _cover(counts, total),
    }
    return {name: _of_best(share, looked_at) for name, share in told.items()} | {
        "newness": {number: held.newness[number] for number in looked_at},
        "speaker": {number: 1.0 for number in named if number in looked_at},
        "day": _by_day(spots, asked.days, looked_at),
        "time": {number: 1.0 for number in looked_at if asked.asks_time and spots[number].time},
        "number": {number: 1.0 for number in looked_at if spots[number].number},
        "asks": {number: 1.0 for number in looked_at if spots[number].asks},
        "length": {number: min(1.0, math.log1p(spots[number].length) / _LONG) for number in looked_at},
    }


def own_words(held: Shelf, found: Places) -> dict[int, float]:
    """BM25 of each part alone: the first share, and what the whole formula is measured against."""
    return _bm25(found.counts, len(held.spots), held.norms[0])


def pairs_of(terms: Sequence[str]) -> frozenset[tuple[str, str]]:
    """The pairs of terms that stand together."""
    return frozenset(pairwise(terms))


def _newness(spots: Sequence[Spot]) -> list[float]:
    """Each part's place in time: 1 is the newest; what has no date stands in the middle."""
    times = sorted(spot.at for spot in spots if spot.at is not None)
    span = max(1, len(times) - 1)
    return [
        _UNDATED if spot.at is None else (bisect_left(times, spot.at) + bisect_right(times, spot.at) - 1) / 2 / span
        for spot in spots
    ]


def _weight(holding: int, total: int) -> float:
    """The weight of a term that `holding` of `total` texts hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _norms(lengths: Sequence[int]) -> list[float]:
    """By how much each text's length makes a term of it count less."""
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    return [_SATURATION * (1 - _LENGTH + _LENGTH * length / mean) for length in lengths]


def _bm25(found: Holding, total: int, norms: Sequence[float] | Mapping[int, float]) -> dict[int, float]:
    """BM25 of every text that holds a term; there are `total` texts."""
    values: dict[int, float] = defaultdict(float)
    for holding in found.values():
        weight = _weight(len(holding), total) * (_SATURATION + 1)
        for number, count in holding.items():
            values[number] += weight * count / (count + norms[number])
    return values


def _around(held: Shelf, found: Holding, back: int, ahead: int) -> Holding:
    """How often each part together with so many before and after it holds each term."""
    if not back and not ahead:
        return found
    spread: dict[str, dict[int, int]] = {}
    for term, holding in found.items():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            for near in range(max(held.first[number], number - ahead), min(held.last[number], number + back) + 1):
                counts[near] += count
        spread[term] = counts
    return spread


def _by_session(held: Shelf, found: Holding, numbers: Iterable[int]) -> dict[int, float]:
    """BM25 over whole sessions, told to those of their parts that are looked at."""
    merged: dict[str, dict[int, int]] = {}
    for term, holding in found.items():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            counts[held.first[number]] += count
        merged[term] = counts
    values = _bm25(merged, len(held.session_norms), held.session_norms)
    return {number: values.get(held.first[number], 0.0) for number in numbers}


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


def _held(found: Holding) -> dict[int, int]:
    """How many of these terms each part holds."""
    held: dict[int, int] = defaultdict(int)
    for holding in found.values():
        for number in holding:
            held[number] += 1
    return held


def _of_best(values: Mapping[int, float] | Mapping[int, int], numbers: Container[int]) -> dict[int, float]:
    """Each as a part of the best."""
    best = max(values.values(), default=0.0)
    return {number: one / best for number, one in values.items() if number in numbers} if best > 0 else {}
