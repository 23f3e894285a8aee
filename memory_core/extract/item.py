"""What was found so far in a conversation: a finding that later messages settle, repeat, correct or take back."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field

from memory_core.extract.cue import Firmness
from memory_core.extract.finding import DECIDING, WORKING, Finding
from memory_core.extract.numbers import other_work
from memory_core.extract.words import overlap, shared, topic
from memory_core.ids import PersonKey
from memory_core.layouts import Kind

_FAMILIES = (
    DECIDING,
    WORKING,
    frozenset({Kind.ROLE, Kind.CONTACT, Kind.PREFERENCE}),
    frozenset({Kind.ENVIRONMENT, Kind.TOOL}),
    frozenset({Kind.LESSON}),
)
_SAME = 0.6
"""The share of the shorter text's telling words from which on two findings are one."""
_LONG, _OWN = 5, 2
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")
_VALUE = re.compile(r"\d[\d.:,/-]*\d|\d")


@dataclass(slots=True)
class Item:
    """A finding in its conversation. `at` is the position of the message that states it, `author` who wrote that.

    `sources` are positions, first the one that states it. `settled` changes as others agree; `dropped` for good.
    """

    finding: Finding
    at: int
    author: PersonKey
    sources: list[int]
    settled: bool
    objections: int = 0
    dropped: bool = False
    corrects: str = ""
    words: frozenset[str] = field(default_factory=frozenset)

    @property
    def open(self) -> bool:
        """True while it waits for someone else's word."""
        return not self.settled and not self.dropped

    def cite(self, position: int) -> None:
        """Add a message that bears it out; at most five."""
        if position not in self.sources and len(self.sources) < 5:
            self.sources.append(position)

    def uncite(self, position: int) -> None:
        """Take a message out that bears out something else; the one that states it stays."""
        if position != self.at and position in self.sources:
            self.sources.remove(position)

    def agree(self, position: int, *, said_again: bool = False) -> None:
        """Someone else is for it, or acted on it; one objection takes away one agreement.

        What is merely stated needs more than a nod: the other one must name it too (`said_again`).
        """
        if self.finding.firmness is Firmness.STATED and not said_again:
            return
        self.cite(position)
        if self.objections:
            self.objections -= 1
        else:
            self.settled = True


def new_item(finding: Finding, at: int, author: PersonKey) -> Item:
    """The item of a finding that was just made."""
    needs_who = finding.kind in WORKING and not finding.who
    settled = finding.settles and not needs_who
    return Item(finding, at, author, [at], settled, words=topic(finding.text))


def same_family(one: Kind, other: Kind) -> bool:
    """True for kinds that say the same sort of thing (a decision and an agreement, a task and its status)."""
    return any(one in family and other in family for family in _FAMILIES)


def same_fact(old: Item, new: Item) -> bool:
    """True when `new` says again what `old` said. What is done is not said again by what is still to do."""
    if not same_family(old.finding.kind, new.finding.kind):
        return False
    if old.finding.status == "done" and new.finding.status != "done":
        return False
    if old.finding.kind in WORKING and other_work(old.finding.text, new.finding.text):
        return False
    if old.finding.settles and new.finding.settles and _apart(old, new):
        return False
    common = shared(old.words, new.words)
    own = _OWN if new.finding.kind in DECIDING else 1
    if old.finding.settles and new.finding.settles and (_replaces(old.words, new.words, own) or swaps(old, new)):
        return False
    near = new.at - old.at <= 8 and old.finding.kind in DECIDING
    return common >= (1 if near else 2) and overlap(old.words, new.words) >= _SAME


def _apart(old: Item, new: Item) -> bool:
    """Two statements that stand side by side, as in a list, each with something that the other lacks.

    In one message nobody says the same twice in other words: `decision: team A owns the shop`, `decision: team B owns
    the blog`. Only the same words with another number are a change (`we run 3 …`, `we run 4 …`).
    """
    if old.at != new.at or new.finding.status == "done":
        return False
    had, has = (one.words | _letters(one) for one in (old, new))
    if not (had - has and has - had):
        return False
    before, now = _unvalued(old), _unvalued(new)
    return not (before <= now or now <= before)


def _letters(item: Item) -> frozenset[str]:
    """What names by a letter or two: team A and team B, the EU and the US."""
    return frozenset(word for word in _WORD.findall(item.finding.text)[1:] if len(word) <= 2 and word.isupper())


def _unvalued(item: Item) -> frozenset[str]:
    """The words of its text without its numbers."""
    return frozenset(_WORD.findall(_DIGITS.sub("", item.finding.text.casefold())))


def _replaces(old: frozenset[str], new: frozenset[str], own: int) -> bool:
    """Two long statements, each with `own` words or more that the other lacks: of one make, not of one matter.

    One word is enough where nobody agrees to what another one said: lessons and facts are of one make (`it failed
    because X was missing`, `… because Y was missing`). Kept twice, a fact is merged by sleep; taken for another one,
    it is lost.
    """
    return min(len(old), len(new)) >= _LONG and min(len(old - new), len(new - old)) >= own


def swaps(old: Item, new: Item) -> bool:
    """Two long statements, word for word the same but for one that tells: `… is reviewed by Cora`, `… by Dora`.

    A number in the place of another one is a change of value (`other_value`), and corrects the old statement.
    """
    if len(old.words - new.words) != 1 or len(new.words - old.words) != 1 or other_value(old, new):
        return False
    had, has = (_WORD.findall(one.finding.text.casefold()) for one in (old, new))
    return len(had) == len(has) >= _LONG and sum(map(operator.ne, had, has)) == 1


def other_value(old: Item, new: Item) -> bool:
    """True when each names a number that the other does not: not a repeat but a change."""
    had, has = set(_VALUE.findall(old.finding.text)), set(_VALUE.findall(new.finding.text))
    return bool(had - has and has - had)
