"""Two orders made into one: by words (memory_core.ranking) and by meaning (memory_core.search.embedding). Pure.

A part gets of both, and what it gets is added:

    words      its score by words, the best one being 1: how far one part is before the next says much
    meaning    `DAMP` / (`DAMP` + its place by meaning), times 1 / (1 + n²); n is how many different terms of the
               question the part holds that holds the most

By meaning only places count, for how near is no measure (a model's numbers may all lie between 0.7 and 0.9). It
counts by how little the words can say. A question in another language than what is kept shares no term, or a name:
half of what the words give, or all. One in the words that were said shares four or more, and is decided by them:
there meaning orders what fits about alike. What has no score by words never comes before the best one.

What an order does not name gets nothing of it. By words that is what shares no term with the question; by meaning
every part has a place, the last one too, so meaning alone brings in the `NEAREST` parts only. It cannot say that
nothing fits.

What answers a question stands next to what is like it: `near` lends a part of how near its neighbours are, `LENT` of
those beside it and `LENT_TWO` of the next.

This was found on LoCoMo and GateMem together, beside the weights that ranking ships; `python -m tests.bench recall
--against embedder --leave-one-out` tells how well it holds. The numbers lie on a plateau: 10 to 40 for `DAMP`, a
quarter to 0.7 for `LENT`, 0.75 to 1.5 for `MEANING` (by more than 1 what no word says could come first). Without the
fall by n² it is a gain where questions are short and a loss where they are long, whatever the share of meaning
(docs/reference/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_core.ranking import Score

DAMP = 20
MEANING = 1.0
"""How much the place by meaning counts, of what the words count, where no part shares a term with the question."""
LENT, LENT_TWO = 0.5, 0.25
NEAREST = 20
"""So many parts that share no term with the question may come in by meaning."""


def shares(words: Mapping[int, Score], meaning: Sequence[int], weight: float = MEANING) -> dict[int, float]:
    """What each number of both orders gets, best first. `words` are the scores by words, of equal ones the better
    first; `meaning` names each part once, the nearest first. Of what gets the same the one that is better by words is
    first. With an empty `meaning` it is the order by words.
    """
    best = max((score.value for score in words.values()), default=0.0) or 1.0
    share = {number: score.value / best for number, score in words.items()}
    counts = weight / (1 + max((score.shared for score in words.values()), default=0) ** 2)
    unnamed = frozenset(meaning[:NEAREST])
    for place, number in enumerate(meaning, 1):
        if number in share or number in unnamed:
            share[number] = share.get(number, 0.0) + counts * DAMP / (DAMP + place)
    return {number: share[number] for number in sorted(share, key=share.__getitem__, reverse=True)}


def near(similar: Sequence[float | None], sessions: Sequence[object]) -> list[float | None]:
    """How near each part is together with those around it; None where a part has no vector (yet), which is no
    neighbour either. Parts of one session stand side by side. Where a neighbour is missing the other one counts for
    it, and where both are, the part itself: its place makes none better or worse.
    """
    total = len(similar)
    told = list[float | None]()
    for number, own in enumerate(similar):
        if own is None:
            told.append(None)
            continue
        session, sum_ = sessions[number], own
        for reach, share in ((1, LENT), (2, LENT_TWO)):
            at, after = number - reach, number + reach
            before = similar[at] if at >= 0 and sessions[at] == session else None
            behind = similar[after] if after < total and sessions[after] == session else None
            one = behind if before is None else before
            other = before if behind is None else behind
            sum_ += share * (2 * own if one is None or other is None else one + other)
        told.append(sum_)
    return told


def order(similar: Sequence[float | None]) -> tuple[int, ...]:
    """The numbers of the parts that have a vector, nearest first; of equals the first."""
    known = {number: one for number, one in enumerate(similar) if one is not None}
    return tuple(sorted(known, key=known.__getitem__, reverse=True))
