"""Two orders made into one: by words (memory_core.ranking) and by meaning (memory_core.search.embedding). Pure.

Reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009): a part gets 1 / (`DAMP` + its place) of the order by
words, and `MEANING` times as much of the order by meaning. Only places count, for the numbers behind them have no
common measure. Words weigh more: they are right more often where names, numbers and identifiers are asked for.

What an order does not name gets nothing of it. By words that is what shares no term with the question; by meaning
every part has a place, the last one too, so meaning alone brings in the `NEAREST` parts only. It cannot say that
nothing fits.

What answers a question stands next to what is like it: `near` lends a part of how near its neighbours are, `LENT` of
those beside it and `LENT_TWO` of the next.

The numbers were found on LoCoMo and GateMem together, with `python -m tests.bench recall --against embedder`; they
lie on a plateau (20 to 45, 0.3 to 0.5 and 0.3 to 0.6 give the same within a point).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

DAMP = 20
MEANING = 0.4
LENT, LENT_TWO = 0.5, 0.25
NEAREST = 20
"""So many parts that share no term with the question may come in by meaning."""


def shares(words: Sequence[int], meaning: Sequence[int]) -> dict[int, float]:
    """What each number of both orders gets, best first. An order is best first and names a part once. Of equals the
    one that is better by words is first. With an empty `meaning` it is the order by words.
    """
    share: dict[int, float] = defaultdict(float)
    for place, number in enumerate(words, 1):
        share[number] += 1 / (DAMP + place)
    unnamed = frozenset(meaning[:NEAREST])
    for place, number in enumerate(meaning, 1):
        if number in share or number in unnamed:
            share[number] += MEANING / (DAMP + place)
    return {number: share[number] for number in sorted(share, key=share.__getitem__, reverse=True)}


def fused(words: Sequence[int], meaning: Sequence[int]) -> tuple[int, ...]:
    """The numbers of both orders, best first, as `shares`."""
    return tuple(shares(words, meaning))


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
