"""How well the fusion with the optional embedder holds for talk that it was not found on: rooms left out once.

    python -m tests.bench recall --against embedder --leave-one-out

As recall_weights does for the weights of the formula: for each group of rooms the weight of meaning is chosen over
all other rooms of all data sets, and measured on the group. Chosen is what loses least beside the words alone: the
weight whose smallest gain, of share and `all` at every budget and data set, is the greatest. Whoever turns the
embedder on expects no loss, and a mean would set one data set's loss off against the other's gain.

The formula is asked here, not the index; its scores and the order by meaning are worked out once for each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bot.embedding import SentenceEncoder
from memory_core.errors import BadInput
from memory_core.ranking import Score
from memory_core.search import fusion
from memory_core.search.embedding import Embedder
from memory_core.tokens import Counter
from tests.bench.recall_data import Data, Question, Room
from tests.bench.recall_rankings import Filling, Share, scored
from tests.bench.recall_weights import grouped

EMBEDDER = "embedder"
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)

Shares: TypeAlias = Mapping[int, Sequence[Share]]
"""By budget what each question got."""


def with_embedder() -> Embedder | None:
    """The embedder, if it is installed; said when it is not."""
    try:
        return SentenceEncoder()
    except BadInput as missing:
        print(f"{EMBEDDER}: skipped. {missing}")
        return None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its scores by words and its order by meaning."""

    question: Question
    filling: Filling
    words: Mapping[int, Score]
    nearest: Sequence[int]

    def told(self, weight: float, budget: int) -> Share:
        """What it gets by that weight of meaning; 0: by words alone."""
        order = tuple(fusion.shares(self.words, self.nearest if weight else (), weight))
        return self.filling.share(self.question, order, budget)


@dataclass(frozen=True, slots=True)
class FusedGroup:
    """Rooms of one data set that are left out together, with all that their questions get: by weight, and words alone
    (weight 0)."""

    data: str
    name: str
    by_weight: Mapping[float, Shares]


def fused_groups(data: Data, budgets: Sequence[int], counter: Counter, embedder: Embedder) -> list[FusedGroup]:
    """The rooms of a data set in the groups that are left out together."""
    return [_group(data.name, name, rooms, budgets, counter, embedder) for name, rooms in grouped(data)]


def _group(
    data: str, name: str, rooms: Sequence[Room], budgets: Sequence[int], counter: Counter, embedder: Embedder
) -> FusedGroup:
    asked = [one for room in rooms for one in _asked(room, counter, embedder)]
    by_weight = {
        weight: {budget: [one.told(weight, budget) for one in asked] for budget in budgets}
        for weight in (0.0, *WEIGHTS)
    }
    return FusedGroup(data, name, by_weight)


def fusion_left_out(groups: Sequence[FusedGroup]) -> tuple[dict[str, dict[int, list[Share]]], dict[str, float]]:
    """By data set every question's share at every budget, by weights that never saw its group; and these weights."""
    pooled: dict[str, dict[int, list[Share]]] = {}
    found: dict[str, float] = {}
    for group in groups:
        others = [one for one in groups if one is not group]
        weight = max(WEIGHTS, key=lambda one: least_gain(others, one))
        found[f"{group.data} without {group.name}"] = weight
        for budget, told in group.by_weight[weight].items():
            pooled.setdefault(group.data, {}).setdefault(budget, []).extend(told)
    return pooled, found


def least_gain(groups: Sequence[FusedGroup], weight: float) -> float:
    """The smallest difference to the words alone: of share and `all`, at every budget, in every data set."""
    gains: list[float] = []
    for data in dict.fromkeys(group.data for group in groups):
        own = [group for group in groups if group.data == data]
        for budget in own[0].by_weight[weight]:
            with_it, without = (
                _figures(share for group in own for share in group.by_weight[one][budget]) for one in (weight, 0.0)
            )
            gains += [now - before for now, before in zip(with_it, without, strict=True)]
    return round(min(gains, default=0.0), 9)


def _figures(shares: Iterable[Share]) -> tuple[float, float]:
    """The mean share, and how many have everything."""
    parts = [share.part for share in shares]
    return sum(parts) / max(1, len(parts)), sum(part == 1 for part in parts) / max(1, len(parts))


def _asked(room: Room, counter: Counter, embedder: Embedder) -> Iterator[_Asked]:
    filling, sessions = Filling(room.turns, counter), [turn.session for turn in room.turns]
    vectors = embedder.embed([turn.line for turn in room.turns])
    for question in room.questions:
        [meant] = embedder.embed([question.text])
        similar = embedder.similar(meant, vectors[: question.until])
        nearest = fusion.order(fusion.near(similar, sessions[: question.until]))
        yield _Asked(question, filling, scored(room.turns[: question.until], question), nearest)
