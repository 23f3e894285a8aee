"""What ranking must know of the parts of a memory, whatever is asked (memory_core.ranking). Pure.

A `Spot` is one part, a `Shelf` all of them in their order: which stand together, how long each is together with its
neighbours, and the shares of its score that no question changes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, repeat
from operator import add, mul, sub
from typing import NamedTuple

from memory_core.weights import SHIPPED, Weights

SATURATION = 1.2
"""Of BM25: from how many times on one more of a term hardly counts."""
_LENGTH = 0.4
_WINDOWS = ((0, 0), (1, 0), (2, 2), (5, 5))
"""How many parts before and after belong to `own`, `before`, `near` and `wide`."""
_LONG = math.log(30)
"""From so many terms on (their logarithm) a part is simply long."""
_UNDATED = 0.5
"""The newness of what has no date."""


class Spot(NamedTuple):
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
class Window:
    """A part and its neighbours. For each part: its neighbours that look as far as to it begin at `starts` and end
    before `ends`; by its length in `norms` each term counts less."""

    starts: Sequence[int]
    ends: Sequence[int]
    norms: Sequence[float]
    alone: bool
    """The part has no neighbours."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Parts in their order, with what every question needs to know of them.

    `first` is for each part the first one of its session; `session_norms` has these. `base` is for each part the
    weighted sum of the shares that are the same whatever is asked.
    """

    spots: Sequence[Spot]
    first: Sequence[int]
    windows: Sequence[Window]
    session_norms: Mapping[int, float]
    base: Sequence[float]
    speakers: Mapping[str, Sequence[int]]

    @property
    def still(self) -> Mapping[str, Sequence[float]]:
        """The shares that are the same whatever is asked, by the name of their weight, for each part."""
        return _still(self.spots)


def shelf(spots: Sequence[Spot]) -> Shelf:
    """The parts, ready for questions.

    It is made anew after every change of a memory: what is done for each part is left to functions in C.
    """
    total, sessions = len(spots), [spot.session for spot in spots]
    numbers = list(range(total + 1))  # all others share these: a number takes four times as much as a reference
    begins = [number for number in numbers[:-1] if not number or sessions[number] != sessions[number - 1]]
    ends = [*begins[1:], numbers[-1]] if total else []
    first: list[int] = []
    stop: list[int] = []
    for begin, end in zip(begins, ends, strict=True):
        first += repeat(begin, end - begin)
        stop += repeat(end, end - begin)
    lengths = [spot.length for spot in spots]
    until = list(accumulate(lengths, initial=0))
    speakers: dict[str, list[int]] = defaultdict(list)
    for number, spot in enumerate(spots):
        for term in spot.speaker:
            speakers[term].append(number)
    of_sessions = _norms([until[end] - until[begin] for begin, end in zip(begins, ends, strict=True)])
    windows = [_window(first, stop, until, numbers, *reach) for reach in _WINDOWS]
    by_session = dict(zip(begins, of_sessions, strict=True))
    return Shelf(spots, first, windows, by_session, base(_still(spots), SHIPPED), dict(speakers))


def _newness(spots: Sequence[Spot]) -> list[float]:
    """Each part's place in time: 1 is the newest; what has no date stands in the middle."""
    times = sorted([spot.at for spot in spots if spot.at is not None])
    span = max(1, len(times) - 1)
    behind = dict(zip(times, range(1, len(times) + 1), strict=True))  # of equal times the last one stays
    before = dict(zip(reversed(times), range(len(times) - 1, -1, -1), strict=True))
    place: dict[float | None, float] = {at: (before[at] + behind[at] - 1) / 2 / span for at in behind}
    place[None] = _UNDATED
    return [place[spot.at] for spot in spots]


def _still(spots: Sequence[Spot]) -> dict[str, list[float]]:
    long = {length: min(1.0, math.log1p(length) / _LONG) for length in {spot.length for spot in spots}}
    return {
        "newness": _newness(spots),
        "number": [1.0 if spot.number else 0.0 for spot in spots],
        "asks": [1.0 if spot.asks else 0.0 for spot in spots],
        "length": [long[spot.length] for spot in spots],
    }


def base(still: Mapping[str, Sequence[float]], weights: Weights) -> list[float]:
    """Every part's score before anything is asked: the weighted sum of its `Shelf.still`."""
    weighted = (map(mul, repeat(getattr(weights, name)), values) for name, values in still.items())
    return list(reduce(partial(map, add), weighted))


def _window(
    first: Sequence[int], stop: Sequence[int], until: Sequence[int], numbers: list[int], back: int, ahead: int
) -> Window:
    """The window of so many parts before and after each; a part's session is from `first` up to before `stop`."""
    total = len(first)

    def from_(reach: int) -> Sequence[int]:
        return list(map(max, first, [0] * reach + numbers)) if reach else range(total)

    def to(reach: int) -> Sequence[int]:
        return list(map(min, stop, numbers[reach + 1 :] + [total] * reach)) if reach else range(1, total + 1)

    starts, ends = from_(ahead), to(back)
    begins, stops = (starts, ends) if back == ahead else (from_(back), to(ahead))
    lengths = list(map(sub, map(until.__getitem__, stops), map(until.__getitem__, begins)))
    return Window(starts, ends, _norms(lengths), alone=not back and not ahead)


def _norms(lengths: Sequence[int]) -> list[float]:
    """By how much each text's length makes a term of it count less."""
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    norms = {length: SATURATION * (1 - _LENGTH + _LENGTH * length / mean) for length in set(lengths)}
    return [norms[length] for length in lengths]
