"""A unit as search sees it: its terms, how much each counts, and where it stands. Pure.

A record stands for itself, and a term in its title counts `_TITLE` times; what stands under one heading belongs
together; what was said belongs to its talk. Tags are searched and stand next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memory_core.forms.units import Unit
from memory_core.ids import MessageKey, PageId
from memory_core.ranking import Places, Question, Shelf, Spot, holding_of, pairs_of, shelf
from memory_core.terms import terms

QUESTION = ("?", "？")
"""How a question ends."""
_TITLE = 3
_NUMBER = re.compile(r"\d")
_TIMES = frozenset(
    terms(
        "yesterday today tonight tomorrow week weekend month year ago last next recently since night morning evening "
        "summer winter spring autumn monday tuesday wednesday thursday friday saturday sunday january february march "
        "april june july august september october november december gestern heute morgen woche monat jahr montag "
        "dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember"
    )
)
"""Terms that name a time; May is more often a verb."""
_TIME = re.compile(
    r"[昨今明前后後]天|[昨今明]日|[上下这這本]个?個?(?:周|週|月|星期|礼拜)|[去今明]年|[先今来]週|星期|[月火水木金土日]曜|\d\s?[年月日号號点點]"
)


class Placed(NamedTuple):
    """A unit, and of which page in which state.

    Of what was said it is the message, in its `talk` (what was said without a long pause), at its moment in days.
    """

    page: PageId
    unit: Unit
    sha256: str = ""
    message: MessageKey | None = None
    talk: str = ""
    at: float | None = None


class Run(NamedTuple):
    """Terms one after the other; each counts `weight` times. `joined`: neighbours are pairs."""

    terms: tuple[str, ...]
    weight: int = 1
    joined: bool = True


_NOTHING = Run(())
"""Where there is no title, or no tags."""


class Part(NamedTuple):
    """What search knows of a unit."""

    spot: Spot
    runs: tuple[Run, ...]


def part_of(placed: Placed) -> Part:
    """A unit as ranking sees it."""
    unit = placed.unit
    body, day = unit.body, unit.day
    title = Run(terms(unit.title), _TITLE if unit.record else 1) if unit.title else _NOTHING
    own = terms(_searched(unit, said=placed.message is not None))
    words = Run(terms(unit.words), joined=False) if unit.words else _NOTHING
    spot = Spot(
        len(title.terms) + len(own),
        placed.talk or unit.record or "\n".join((placed.page, *unit.context)),
        placed.at if placed.at is not None or day is None else float(day.toordinal()),
        _speaker(unit.said_by),
        body.endswith(QUESTION),
        _NUMBER.search(body) is not None,
        _names_a_time(body, own),
    )
    return Part(spot, (title, Run(own), words))


_remembered = lru_cache(maxsize=8192)(part_of)
"""For what is loaded again with every message."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """Units ready for questions, without a file: what is loaded already, or a test's few."""

    shelf: Shelf
    parts: tuple[Part, ...]

    def places(self, asked: Question) -> Places:
        """Where the terms of a question stand: only what holds one is looked at closely."""
        counts: dict[str, dict[int, int]] = {term: {} for term in (*asked.terms, *asked.kin)}
        together: dict[int, int] = {}
        wanted, pairs = frozenset(counts), pairs_of(asked.terms)
        for number, part in enumerate(self.parts):
            runs = [run for run in part.runs if not wanted.isdisjoint(run.terms)]
            for run in runs:
                for term in run.terms:
                    if term in wanted:
                        counts[term][number] = counts[term].get(number, 0) + run.weight
            if runs and (own := pairs & _pairs(runs)):
                together[number] = len(own)
        return Places(holding_of(asked.terms, counts), together, holding_of(asked.kin, counts))


def _pairs(runs: Iterable[Run]) -> frozenset[tuple[str, str]]:
    """The terms that stand together."""
    return frozenset(pair for run in runs if run.joined for pair in pairwise(run.terms))


def at_hand(placed: Sequence[Placed]) -> AtHand:
    """Units ready for questions, in their order."""
    parts = tuple([_remembered(one) for one in placed])
    return AtHand(shelf([part.spot for part in parts]), parts)


def _searched(unit: Unit, *, said: bool) -> str:
    """What of a unit is searched besides title and tags; of what was `said` who said it, not at what time of day."""
    if said:
        return f"{unit.said_by}: {unit.body}"
    return f"{unit.body} {unit.source}" if unit.record else unit.text


def _names_a_time(text: str, own: Sequence[str]) -> bool:
    """Does a text with these terms name a time?"""
    return not _TIMES.isdisjoint(own) or (not text.isascii() and _TIME.search(text) is not None)


@lru_cache(maxsize=1024)
def _speaker(name: str) -> frozenset[str]:
    return frozenset(terms(name))
