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
    newness          its place in time among all parts: of two that fit alike, the newer one

A part that stands for itself (a record) is a session of its own; its neighbours and session are itself, so that the
formula falls back to BM25. The weights were found on LoCoMo (two persons, short lines) and GateMem (twelve persons,
long ones) together, with `python -m tests.bench recall`; one set serves both, and it is the only one.

What a question needs to know of every part (a `Shelf`) is small and the same for all questions; where the terms of
a question stand (`Places`) is looked up for each. Only parts that hold a term, or stand near one, have a score.
Words that occur in no part weigh nothing, so a part's score depends on its own scope alone.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

_SATURATION = 1.2
_LENGTH = 0.4
_REACH = 2
"""How far a neighbour may stand."""
_UNDATED = 0.5
"""The newness of what has no date."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts. These are the ones that remem ships; others are for those who look for better ones."""

    own: float = 0.7
    near: float = 0.55
    near_two: float = 0.6
    session: float = 0.25
    speaker: float = 0.8
    answer: float = 0.3
    phrase: float = 0.2
    cover: float = 0.15
    newness: float = 0.15


SHIPPED = Weights()


@dataclass(frozen=True, slots=True)
class Spot:
    """What ranking must know of a part, whatever is asked: how many terms it has, and where it stands.

    Parts with the same `session` stand side by side, in the order in which they were said. `at` is its time in any
    growing unit, None where it has none; `speaker` the terms of who said it. `asks`: it is a question.
    """

    length: int
    session: str
    at: float | None = None
    speaker: frozenset[str] = frozenset()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """Where the terms of a question stand: for each term how often which part holds it (by its number), and for each
    part that holds some how many pairs of the question stand together in it."""

    counts: Mapping[str, Mapping[int, int]]
    pairs: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """How well one part fits. `shared`: how many different terms of the question it holds itself."""

    value: float
    shared: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Parts in their order, with what every question needs to know of them.

    `first` and `last` are for each part the ends of its session, `until` the length of all parts before each,
    `newness` its place in time from 0 to 1, `near_length` the mean length of a part with so many neighbours.
    """

    spots: Sequence[Spot]
    first: Sequence[int]
    last: Sequence[int]
    until: Sequence[int]
    newness: Sequence[float]
    near_length: Sequence[float]
    sessions: int
    speakers: Mapping[str, Sequence[int]]

    def around(self, number: int, reach: int) -> range:
        """The part and `reach` parts before and after it, of its session."""
        return range(max(self.first[number], number - reach), min(self.last[number], number + reach) + 1)

    def near(self, number: int, reach: int) -> int:
        """How many terms these parts hold together."""
        start = max(self.first[number], number - reach)
        return self.until[min(self.last[number], number + reach) + 1] - self.until[start]


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
    sessions = sum(number == start for number, start in enumerate(first))
    held = Shelf(spots, first, last, until, _newness(spots), (), sessions, dict(speakers))
    total = max(1, len(spots))
    means = [
        sum(held.near(number, reach) for number in range(len(spots))) / total or 1.0 for reach in range(_REACH + 1)
    ]
    return Shelf(spots, first, last, until, held.newness, means, sessions, held.speakers)


def scores(held: Shelf, found: Places, asked: Sequence[str], weights: Weights = SHIPPED) -> dict[int, Score]:
    """The scores of the parts that fit the terms of a question, by their numbers; none where no part holds any."""
    told = shares(held, found, asked)
    value = dict.fromkeys(told.get("near_two", ()), 0.0)
    for name, share in told.items():
        weight: float = getattr(weights, name)
        for number, one in share.items():
            value[number] += weight * one
    shared: dict[int, int] = defaultdict(int)
    for holding in found.counts.values():
        for number in holding:
            shared[number] += 1
    return {number: Score(score, shared.get(number, 0)) for number, score in value.items()}


def shares(held: Shelf, found: Places, asked: Sequence[str]) -> dict[str, dict[int, float]]:
    """Of every share, by its name in Weights, which parts have how much of it; what `near_two` has is looked at."""
    counts = {term: holding for term, holding in found.counts.items() if holding}
    if not counts:
        return {}
    own = _bm25(counts, len(held.spots), held.near_length[0], lambda number: held.spots[number].length)
    near = [_near(held, counts, reach) for reach in range(1, _REACH + 1)]
    near_two = near[-1]
    named = {number for term in asked for number in held.speakers.get(term, ())}
    return {
        "near_two": _of_best(near_two),
        "own": _of_best(own),
        "near": _of_best(near[0]),
        "session": _of_best(_by_session(held, counts, near_two)),
        "answer": _of_best(_answers(held, own)),
        "phrase": _of_best(found.pairs),
        "cover": _of_best(_cover(counts, len(held.spots))),
        "newness": {number: held.newness[number] for number in near_two},
        "speaker": {number: 1.0 for number in named if number in near_two},
    }


def own_words(held: Shelf, found: Places) -> dict[int, float]:
    """BM25 of each part alone: the first share, and what the whole formula is measured against."""
    return _bm25(found.counts, len(held.spots), held.near_length[0], lambda number: held.spots[number].length)


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


def _bm25(
    found: Mapping[str, Mapping[int, int]], total: int, mean: float, length: Callable[[int], int]
) -> dict[int, float]:
    """BM25 of every text that holds a term; there are `total` texts, `mean` terms long."""
    values: dict[int, float] = defaultdict(float)
    for holding in found.values():
        weight = _weight(len(holding), total) * (_SATURATION + 1)
        for number, count in holding.items():
            norm = _SATURATION * (1 - _LENGTH + _LENGTH * length(number) / mean)
            values[number] += weight * count / (count + norm)
    return values


def _near(held: Shelf, found: Mapping[str, Mapping[int, int]], reach: int) -> dict[int, float]:
    """BM25 over each part together with `reach` parts before and after it."""
    spread: dict[str, dict[int, int]] = {}
    for term, holding in found.items():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            for near in held.around(number, reach):
                counts[near] += count
        spread[term] = counts
    return _bm25(spread, len(held.spots), held.near_length[reach], lambda number: held.near(number, reach))


def _by_session(
    held: Shelf, found: Mapping[str, Mapping[int, int]], numbers: Mapping[int, float]
) -> dict[int, float]:
    """BM25 over whole sessions, told to those of their parts that are looked at."""
    merged: dict[str, dict[int, int]] = {}
    for term, holding in found.items():
        counts: dict[int, int] = defaultdict(int)
        for number, count in holding.items():
            counts[held.first[number]] += count
        merged[term] = counts
    mean = held.until[-1] / max(1, held.sessions) or 1.0
    values = _bm25(merged, held.sessions, mean, lambda first: held.until[held.last[first] + 1] - held.until[first])
    return {number: values[held.first[number]] for number in numbers}


def _answers(held: Shelf, own: Mapping[int, float]) -> dict[int, float]:
    """For each part how well the question before it fits."""
    return {
        number + 1: value for number, value in own.items() if held.spots[number].asks and number < held.last[number]
    }


def _cover(found: Mapping[str, Mapping[int, int]], total: int) -> dict[int, float]:
    """The weight of the question's terms that each part holds, however often."""
    values: dict[int, float] = defaultdict(float)
    for holding in found.values():
        weight = _weight(len(holding), total)
        for number in holding:
            values[number] += weight
    return values


def _of_best(values: Mapping[int, float] | Mapping[int, int]) -> dict[int, float]:
    """Each as a part of the best."""
    best = max(values.values(), default=0.0)
    return {number: one / best for number, one in values.items()} if best > 0 else {}
