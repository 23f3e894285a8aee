"""How good is an extractor on labelled conversations? Pure counting.

A settled candidate is right when it matches a labelled fact that no earlier candidate took: its kind is one of the
fact's, its body holds the fact's words, it cites one of the fact's messages, and its date is the fact's where that
names one. Precision is the share of settled candidates that are right; recall the share of facts that were found.
Optional facts (`optional`) may be found or not: found, they leave the count. Facts labelled `settled: false` are
proposals without an answer: they must come unsettled, and are counted apart.

Every row's kind is the candidate's own (precision) or the fact's first (recall).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.evaluation.labelled import ROOM, Fact, Labelled
from memory_core.candidates import Candidate, Request
from memory_core.ids import message_key
from memory_core.layouts import Kind


@dataclass(slots=True)
class Score:
    """Counts by kind or language: candidates that are right and wrong, facts found and missed."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    open_found: int = 0
    open_missed: int = 0

    @property
    def precision(self) -> float:
        """The share of settled candidates that are right; 1 where there are none."""
        return _share(self.right["all"], self.wrong["all"])

    @property
    def recall(self) -> float:
        """The share of settled facts that were found; 1 where there are none."""
        return _share(self.found["all"], self.missed["all"])

    def rows(self) -> Sequence[str]:
        """The names of what was counted: `all`, `lang:…`, `kind:…`."""
        return sorted({*self.right, *self.wrong, *self.found, *self.missed}, key=lambda row: (":" in row, row))

    def precise(self, row: str) -> tuple[int, int]:
        """How many candidates are right, and how many there are."""
        return self.right[row], self.right[row] + self.wrong[row]

    def recalled(self, row: str) -> tuple[int, int]:
        """How many facts were found, and how many there are."""
        return self.found[row], self.found[row] + self.missed[row]

    def table(self) -> str:
        """One line per language and kind."""
        return "\n".join(self._row(row) for row in self.rows())

    def _row(self, row: str) -> str:
        right, wrong, found, missed = (count[row] for count in (self.right, self.wrong, self.found, self.missed))
        return (
            f"{row:22} precision {_share(right, wrong):.2f} ({right}/{right + wrong})"
            f"   recall {_share(found, missed):.2f} ({found}/{found + missed})"
        )


def score(conversations: Iterable[Labelled], extract: Callable[[Request], Sequence[Candidate]]) -> Score:
    """Run `extract` over the conversations and count."""
    result = Score()
    for conversation in conversations:
        score_one(conversation, extract(conversation.request), result)
    return result


def score_one(conversation: Labelled, candidates: Sequence[Candidate], result: Score) -> None:
    """Count what was found in one conversation."""
    left = list(conversation.facts)
    for candidate in candidates:
        fact = next((fact for fact in _by_choice(left) if _matches(candidate, fact, conversation)), None)
        if fact is not None:
            left.remove(fact)
        if fact is None or not fact.optional:
            _count(conversation, candidate, fact, result)
    for fact in left:
        if fact.optional:
            continue
        if not fact.settled:
            result.open_missed += 1
            continue
        for row in _rows(conversation, fact.kinds[0]):
            result.missed[row] += 1


def _count(conversation: Labelled, candidate: Candidate, fact: Fact | None, result: Score) -> None:
    if not candidate.settled:
        result.open_found += fact is not None
        return
    for row in _rows(conversation, candidate.kind):
        (result.wrong if fact is None else result.right)[row] += 1
    for row in _rows(conversation, fact.kinds[0]) if fact is not None else ():
        result.found[row] += 1


def _by_choice(facts: Sequence[Fact]) -> Iterator[Fact]:
    """Facts that must be found before those that may be."""
    yield from sorted(facts, key=lambda fact: fact.optional)


def _matches(candidate: Candidate, fact: Fact, conversation: Labelled) -> bool:
    keys = {message_key(ROOM, str(at)) for at in fact.sources}
    body = candidate.body.casefold()
    return (
        candidate.kind in fact.kinds
        and (candidate.settled == fact.settled or fact.optional)
        and all(word.casefold() in body for word in fact.words)
        and bool(keys & set(candidate.sources))
        and (fact.due is None or fact.due == candidate.due)
    )


def _rows(conversation: Labelled, kind: Kind) -> tuple[str, str, str]:
    return "all", f"lang:{conversation.lang}", f"kind:{kind}"


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 1.0
