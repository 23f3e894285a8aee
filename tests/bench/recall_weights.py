"""How well the weights hold for talk that they were not found on: each group of rooms left out once.

    python -m tests.bench recall --leave-one-out

For each group the weights are searched from the same neutral start over all other rooms of all data sets, and
measured on the group. The groups are pooled: every question is answered once by weights that never saw its room. A
group is one room, or where a data set has many of them a third of these.

The search goes from coordinate to coordinate, a step up or down, as long as it helps, then by smaller steps. What it
looks for is the mean of share and `all`, over all budgets and questions of a data set, meaned over the data sets. The
score is linear in the weights, so the shares of every part are worked out once, and only parts that a neutral ranking
puts among the first `CANDIDATES` are looked at. Saturation and length of BM25 and the table of kin stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter

from memory_core.ranking import scores, shares
from memory_core.search.question import question as asks
from memory_core.tokens import Counter
from memory_core.weights import SHIPPED, Weights
from tests.bench.recall_data import Data, Question, Room
from tests.bench.recall_rankings import Filling, Share, room_at_hand, today

CANDIDATES = 150
_MANY_ROOMS, _GROUPS = 12, 3
_STEPS = (0.2, 0.1)
_PASSES = 2
_NAMES = tuple(asdict(SHIPPED))
START = replace(SHIPPED, **{name: 0.3 if weight > 0 else -0.1 for name, weight in asdict(SHIPPED).items()})
"""Where every search begins: nothing but the signs is known."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its candidates, newest first, and how much of every share each of them has."""

    question: Question
    filling: Filling
    numbers: Sequence[int]
    shares: Mapping[str, Sequence[float]]

    def values(self, weights: Weights) -> list[float]:
        """The score of each candidate."""
        values = [0.0] * len(self.numbers)
        for name, share in self.shares.items():
            weight: float = getattr(weights, name)
            values = [value + weight * one for value, one in zip(values, share, strict=True)]
        return values

    def order(self, values: Sequence[float]) -> list[int]:
        """The candidates, best first; of equal ones the newer."""
        ranked = sorted(zip(values, self.numbers, strict=True), key=itemgetter(0), reverse=True)
        return [number for _, number in ranked]

    def told(self, values: Sequence[float], budgets: Sequence[int]) -> list[Share]:
        """What the question gets at each budget."""
        order = self.order(values)
        return [self.filling.share(self.question, order, budget) for budget in budgets]


@dataclass(frozen=True, slots=True)
class Group:
    """Rooms of one data set that are left out together."""

    data: str
    name: str
    asked: tuple[_Asked, ...]

    def shares(self, weights: Weights, budgets: Sequence[int]) -> dict[int, list[Share]]:
        """Every question's share at every budget by these weights."""
        told = [one.told(one.values(weights), budgets) for one in self.asked]
        return {budget: [of_question[at] for of_question in told] for at, budget in enumerate(budgets)}


class Fitting:
    """Searches weights; what a group has by some weights is worked out once, whichever group is left out."""

    def __init__(self, groups: Sequence[Group], budgets: Sequence[int]) -> None:
        self._groups, self._budgets = groups, budgets
        self._known: dict[tuple[int, Weights], float] = {}
        self._at: dict[int, tuple[Weights, list[list[float]]]] = {}

    def fitted(self, without: Group | None = None) -> Weights:
        """The best weights that the search finds for all groups but one."""
        numbers = [number for number, group in enumerate(self._groups) if group is not without]
        best = START
        value = self._value(best, best, "own", numbers)
        for step in _STEPS:
            for _ in range(_PASSES):
                before = best
                for name in _NAMES:
                    best, value = self._along(name, step, best, value, numbers)
                if best == before:
                    break
        return best

    def _along(
        self, name: str, step: float, best: Weights, value: float, numbers: Collection[int]
    ) -> tuple[Weights, float]:
        """As far along one coordinate as it gets better, first up, else down."""
        for way in (step, -step):
            moved = False
            while (next_value := self._value(best, other := _moved(best, name, way), name, numbers)) > value + 1e-6:
                best, value, moved = other, next_value, True
            if moved:
                break
        return best, value

    def _value(self, at: Weights, weights: Weights, name: str, numbers: Collection[int]) -> float:
        """What the search wants to be great, for weights that differ from those it is `at` in one name only."""
        sums: dict[str, float] = defaultdict(float)
        counts: dict[str, int] = defaultdict(int)
        for number in numbers:
            group = self._groups[number]
            sums[group.data] += self._of_group(number, at, weights, name)
            counts[group.data] += len(group.asked)
        return sum(sums[data] / counts[data] for data in sums if counts[data]) / max(1, len(sums))

    def _of_group(self, number: int, at: Weights, weights: Weights, name: str) -> float:
        known = self._known.get((number, weights))
        if known is None:
            before: float = getattr(at, name)
            now: float = getattr(weights, name)
            parts = [
                share.part
                for one, values in zip(self._groups[number].asked, self._values(number, at), strict=True)
                for share in one.told(_added(values, one.shares.get(name, ()), now - before), self._budgets)
            ]
            known = sum((part + (part == 1)) / 2 for part in parts) / len(self._budgets)
            self._known[number, weights] = known
        return known

    def _values(self, number: int, weights: Weights) -> list[list[float]]:
        """The scores of a group's candidates; those of the weights that were asked for last are kept."""
        kept = self._at.get(number)
        if kept is None or kept[0] != weights:
            kept = self._at[number] = (weights, [one.values(weights) for one in self._groups[number].asked])
        return kept[1]


def _added(values: Sequence[float], share: Sequence[float], factor: float) -> Sequence[float]:
    if not factor or not share:
        return values
    return [value + factor * one for value, one in zip(values, share, strict=True)]


def groups_of(data: Data, counter: Counter) -> list[Group]:
    """The rooms of a data set in the groups that are left out together."""
    return [
        Group(data.name, name, tuple(one for room in rooms for one in _asked(room, counter)))
        for name, rooms in grouped(data)
    ]


def grouped(data: Data) -> list[tuple[str, Sequence[Room]]]:
    """What is left out together, with its name: each room, or where there are many of them a third."""
    rooms = [room for room in data.rooms if room.questions]
    if len(rooms) <= _MANY_ROOMS:
        return [(room.name, (room,)) for room in rooms]
    return [(f"part {at + 1}", rooms[at::_GROUPS]) for at in range(_GROUPS)]


def left_out(
    groups: Sequence[Group], budgets: Sequence[int]
) -> tuple[dict[str, dict[int, list[Share]]], dict[str, Weights]]:
    """By data set every question's share at every budget, by weights that never saw its group; and these weights."""
    fitting = Fitting(groups, budgets)
    pooled: dict[str, dict[int, list[Share]]] = {}
    found: dict[str, Weights] = {}
    for group in groups:
        weights = found[f"{group.data} without {group.name}"] = fitting.fitted(group)
        into = pooled.setdefault(group.data, {budget: [] for budget in budgets})
        for budget, told in group.shares(weights, budgets).items():
            into[budget] += told
    return pooled, found


def _asked(room: Room, counter: Counter) -> Iterable[_Asked]:
    filling = Filling(room.turns, counter)
    for question in room.questions:
        turns = room.turns[: question.until]
        ready, wanted = room_at_hand(turns), asks(question.text, today(turns))
        places = ready.places(wanted)
        value = scores(ready.shelf, places, wanted, START)
        numbers = sorted(sorted(value, key=lambda number: -value[number].value)[:CANDIDATES], reverse=True)
        _, told = shares(ready.shelf, places, wanted)
        arrays = {name: [of.values.get(number, 0.0) / of.best for number in numbers] for name, of in told.items()}
        arrays |= {name: [values[number] for number in numbers] for name, values in ready.shelf.still.items()}
        yield _Asked(question, filling, numbers, arrays)


def _moved(weights: Weights, name: str, way: float) -> Weights:
    now: float = getattr(weights, name)
    return replace(weights, **{name: round(now + way, 3)})
