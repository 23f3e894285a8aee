"""How good is an extractor on the labelled conversations of data/extraction.jsonl?

A settled candidate is right when it matches a labelled fact that no earlier candidate took: its kind is one of the
fact's, its body holds the fact's words, it cites one of the fact's messages, and its date is the fact's where that
names one. Precision is the share of settled candidates that are right; recall the share of facts that were found.
Optional facts (`optional`) may be found or not: found, they leave the count. Facts labelled `settled: false` are
proposals without an answer: they must come unsettled, and are counted apart.

Every row's kind is the candidate's own (precision) or the fact's first (recall).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter

from memory_core.candidates import Candidate, Request
from memory_core.ids import Conversation, PersonKey, RoomKey, message_key
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice

LABELLED = Path(__file__).parent / "data" / "extraction.jsonl"
MONDAY = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)
_ROOM = RoomKey("console:build")


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a labelled conversation."""

    who: str
    text: str
    voice: Voice = Voice.PERSON


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled fact: acceptable kinds, words of the body, positions of the messages that state it."""

    kinds: tuple[Kind, ...]
    words: tuple[str, ...]
    sources: tuple[int, ...]
    settled: bool = True
    optional: bool = False
    due: date | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled conversation."""

    id: str
    lang: str
    held_out: bool
    direct: bool
    messages: tuple[Said, ...]
    facts: tuple[Fact, ...]

    @property
    def request(self) -> Request:
        """The conversation as an extractor gets it: one message a minute from Monday 2026-04-06 09:00 UTC."""
        return Request(tuple(self._message(at, said) for at, said in enumerate(self.messages)), direct=self.direct)

    def _message(self, at: int, said: Said) -> Message:
        return Message(
            key=message_key(_ROOM, str(at)),
            conversation=Conversation(_ROOM),
            author=PersonKey(f"console:{said.who}"),
            author_name=said.who,
            text=said.text,
            sent_at=MONDAY + timedelta(minutes=at),
            voice=said.voice,
        )


def load(path: Path = LABELLED) -> tuple[Labelled, ...]:
    """The labelled conversations of a file; its first line is about the file."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    reader = TypeAdapter(Labelled)
    return tuple(reader.validate_python(json.loads(line)) for line in lines)


@dataclass(slots=True)
class Score:
    """Counts by kind or language: candidates that are right and wrong, facts found and missed."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    open_found: int = 0
    open_missed: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of settled candidates that are right; 1 where there are none."""
        return _share(self.right["all"], self.wrong["all"])

    @property
    def recall(self) -> float:
        """The share of settled facts that were found; 1 where there are none."""
        return _share(self.found["all"], self.missed["all"])

    def table(self) -> str:
        """One line per language and kind."""
        rows = sorted({*self.right, *self.wrong, *self.found, *self.missed}, key=lambda row: (":" in row, row))
        return "\n".join(self._row(row) for row in rows)

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
        _score_one(conversation, extract(conversation.request), result)
    return result


def _score_one(conversation: Labelled, candidates: Sequence[Candidate], result: Score) -> None:
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
        result.faults.append(f"{conversation.id}: missed {fact.kinds[0]} {fact.words}")


def _count(conversation: Labelled, candidate: Candidate, fact: Fact | None, result: Score) -> None:
    if not candidate.settled:
        result.open_found += fact is not None
        return
    for row in _rows(conversation, candidate.kind):
        (result.wrong if fact is None else result.right)[row] += 1
    if fact is None:
        result.faults.append(f"{conversation.id}: wrong {candidate.kind} {candidate.body!r} due={candidate.due}")
    else:
        for row in _rows(conversation, fact.kinds[0]):
            result.found[row] += 1


def _by_choice(facts: Sequence[Fact]) -> Iterator[Fact]:
    """Facts that must be found before those that may be."""
    yield from sorted(facts, key=lambda fact: fact.optional)


def _matches(candidate: Candidate, fact: Fact, conversation: Labelled) -> bool:
    keys = {message_key(_ROOM, str(at)) for at in fact.sources}
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
