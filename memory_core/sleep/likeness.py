"""Do two records say the same, or the opposite? What a flush asks (memory_core.flush.sameness), and a little more.

A flush must answer at once and leans to "no"; sleep sees both records and keeps every detail of them, so it may also
take for one what differs only in how it is put: the words of framing and moving (`moved to`, `runs on`, `is now`) are
left out, and what remains must be equal. Words that compare (`over`, `instead of`) keep their order.

Two contradicting records of one page, the older and the newer:

    the newer supersedes the older      it is by the same person; or it says that something changed (`no longer`,
                                        `switched`); or two weeks or more lie between them; or one of them names no
                                        person (a hand-written line: the newest wins)
    they are in conflict                else: different persons, close together, neither of them explicit. Both are
                                        marked, and stay until somebody decides, which is then a later statement.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memory_core.flush.sameness import Words, opposes, repeats, stated, words
from memory_core.forms.records import Record
from memory_core.script import fold
from memory_core.sleep.fitness import days_of
from memory_core.terms import terms

CONFLICT_DAYS = 14
_FRAMING = frozenset(
    {
        *("move", "run", "migrat", "switch", "switch", "live", "host", "becom", "chang", "went", "go", "goe", "have"),
        *(
            "sit",
            "work",
            "set",
            "got",
            "get",
            "new",
            "today",
            "current",
            "currentli",
            "right",
            "fine",
            "team",
            "agre",
        ),
    }
)
_COMPARING = re.compile(r"\b(?:over|than|instead|rather|before|after|from|versus|vs|unlike|statt|als)\b|而不是|より")
_EXPLICIT = re.compile(
    r"\b(?:no longer|any ?more|instead|switch\w*|chang\w+|moved?|replac\w+|from now on|revert\w*|back to|now|"
    r"correction|decided|nicht mehr|ab jetzt|geändert|statt)\b|改为|改成|不再|换成|现在|決定|変更|今後"
)


@lru_cache(maxsize=8192)
def _matter(text: str) -> frozenset[str]:
    return words(text).terms - _FRAMING


def said(record: Record) -> str:
    """What a record states: title and body; the lines that a person wrote into it only where it has no body."""
    return stated(record.title, record.body or record.text)


def same(one: str, other: str) -> bool:
    """Do both texts say the same thing?"""
    mine, theirs = words(one), words(other)
    if mine.negates != theirs.negates or mine.numbers != theirs.numbers:
        return repeats(mine, theirs) or repeats(theirs, mine)
    return repeats(mine, theirs) or repeats(theirs, mine) or _same_matter(one, other)


def contrary(one: str, other: str) -> bool:
    """Do the texts say the opposite of each other?"""
    mine, theirs = words(one), words(other)
    if opposes(mine, theirs) or opposes(theirs, mine):
        return True
    turned = mine.negates != theirs.negates and mine.numbers == theirs.numbers
    return turned and _same_matter(one, other)


def _same_matter(one: str, other: str) -> bool:
    mine, theirs = _matter(one), _matter(other)
    if len(mine) < 2 or mine != theirs:
        return False
    if not _COMPARING.search(fold(one)) and not _COMPARING.search(fold(other)):
        return True
    return _order(words(one), mine) == _order(words(other), mine)


def _order(of: Words, among: frozenset[str]) -> list[str]:
    return [term for term in of.order if term in among]


def told_last(record: Record) -> date:
    """The day on which the record was stated last."""
    return max(days_of(record), default=date.min)


def supersedes(new: Record, old: Record) -> bool:
    """Does the newer of two contradicting records take the older one's place? Else they are in conflict."""
    if not new.people or not old.people or set(new.people) & set(old.people):
        return True
    if (told_last(new) - told_last(old)).days >= CONFLICT_DAYS:
        return True
    return bool(_EXPLICIT.search(fold(said(new)))) and not _EXPLICIT.search(fold(said(old)))


@dataclass(frozen=True, slots=True)
class Alike:
    """Which texts may say the same or the opposite: those that share a rare word with each other.

    Of a text that another one covers by four fifths, at least one of its rarest words (a fifth, and one) is in the
    other; so nothing is missed, and 2,000 records need no two million comparisons.
    """

    texts: Sequence[str]

    def pairs(self, split: int = 0) -> Iterator[tuple[int, int]]:
        """The pairs to look at, each once, the smaller number first, in order.

        With a `split`: only those of a text before that number and one from there on.
        """
        bags = [words(text).terms for text in self.texts]
        count: dict[str, int] = defaultdict(int)
        for bag in bags:
            for term in bag:
                count[term] += 1
        having: dict[tuple[str, bool], list[int]] = defaultdict(list)
        for at, bag in enumerate(bags):
            for term in bag:
                having[term, at < split].append(at)
        seen: set[tuple[int, int]] = set()
        for at, bag in enumerate(bags):
            rare = sorted(bag, key=lambda term: (count[term], term))
            framed = len(bag & _FRAMING)
            side = bool(split) and at >= split
            for term in rare[: len(bag) // 5 + 1 + framed]:
                seen |= {(min(at, other), max(at, other)) for other in having.get((term, side), ()) if other != at}
        yield from sorted(seen)


def details(text: str) -> frozenset[str]:
    """The words of a text that a merge must not lose."""
    return frozenset(terms(fold(text)))
