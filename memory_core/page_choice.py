"""Which pages hold the best hits of a search. Pure.

A page is as good as its best hit, and a little better for each further good one: the second best counts FALL of its
score, the third FALL of that again. So no number of middling hits outweighs a good one, which a sum would allow
(it prefers long pages), and of two pages whose best hits are alike the one with more of them comes first.

Measured on LoCoMo with one session's journal as a page (`python -m tests.bench route`): the best hit alone, and any
fall up to one half, choose equally well; sums, means and sums of the best four or more choose worse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

FALL = 0.4
"""What each further hit of a page counts of the one before it."""

P = TypeVar("P", bound=str)


def best_pages(hits: Iterable[tuple[P, float]]) -> tuple[P, ...]:
    """The pages of these hits (page and score), the one that holds the best hits first; ties in order of mention."""
    by_page: dict[P, list[float]] = defaultdict(list)
    for page, score in hits:
        by_page[page].append(score)
    return tuple(sorted(by_page, key=lambda page: -_worth(by_page[page])))


def _worth(scores: list[float]) -> float:
    """The page's best hit, and of each further one FALL times as much as of the one before."""
    return sum(score * FALL**place for place, score in enumerate(sorted(scores, reverse=True)))
