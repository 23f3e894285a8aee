"""Long conversations in windows: how a transcript is cut to what fits into one request, and put together again. Pure.

cutting    each window begins with the last lines of the one before it (the overlap), so that a proposal and its
           answer are seen together by one of the two; the overlap is at most OVERLAP_LINES lines and a quarter of
           the window. Every line is new in exactly one window. A line that is longer than a window by itself is
           cut before (bot.models.transcript).
merging    two windows tell the same fact where they share a line. The later one has the last word, for it has
           read on; what the earlier one says stays, unless the later one said it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.models.evidence import SOURCES
from memory_core.candidates import Candidate
from memory_core.extract.item import same_family
from memory_core.extract.words import overlap, topic
from memory_core.ids import MessageKey
from memory_core.script import fold

OVERLAP_LINES = 8
_SAME = 0.6
"""The share of the shorter one's telling words from which on two candidates with a message in common are one."""


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `start` to `end` (exclusive); those before `fresh` were in the window before it."""

    start: int
    fresh: int
    end: int


def windows(costs: Sequence[int], limit_tokens: int) -> Iterator[Window]:
    """Windows over lines of these costs (tokens), none over the limit but one of a single line that is so itself."""
    at = 0
    while at < len(costs):
        start = _overlap(costs, at, limit_tokens)
        spent = sum(costs[start:at])
        while start < at and spent + costs[at] > limit_tokens:
            spent -= costs[start]
            start += 1
        end = at
        while end < len(costs) and (end == at or spent + costs[end] <= limit_tokens):
            spent += costs[end]
            end += 1
        yield Window(start, at, end)
        at = end


def _overlap(costs: Sequence[int], at: int, limit_tokens: int) -> int:
    """Where a window begins whose first new line is `at`."""
    start, spent = at, 0
    while start > 0 and at - start < OVERLAP_LINES and spent + costs[start - 1] <= limit_tokens // 4:
        start -= 1
        spent += costs[start]
    return start


def merged(found: Sequence[Sequence[Candidate]], order: Mapping[MessageKey, int]) -> tuple[Candidate, ...]:
    """The candidates of all windows, earliest window first, without doubles, in the order in which they were said.

    `order` tells the position of each message.
    """
    kept: list[Candidate] = []
    for candidates in found:
        for one in candidates:
            at = next((at for at, other in enumerate(kept) if is_double(other, one)), None)
            if at is None:
                kept.append(one)
            else:
                kept[at] = _joined(kept[at], one)
    return tuple(sorted(kept, key=lambda one: order.get(one.sources[0], len(order))))


def is_double(one: Candidate, other: Candidate) -> bool:
    """Do two candidates tell the same fact? Only such as share a message, or their very words, may."""
    if not same_family(one.kind, other.kind) and one.kind is not other.kind:
        return False
    if one.kind is other.kind and fold(one.body) == fold(other.body):
        return True
    return bool(set(one.sources) & set(other.sources)) and overlap(topic(one.body), topic(other.body)) >= _SAME


def _joined(earlier: Candidate, later: Candidate) -> Candidate:
    """The one that knows more: the settled one, else the later; with the messages of both."""
    best, other = (earlier, later) if earlier.settled and not later.settled else (later, earlier)
    sources = tuple(dict.fromkeys((*best.sources, *other.sources)))[:SOURCES]
    return replace(best, sources=sources, due=best.due or other.due, who=best.who or other.who)
