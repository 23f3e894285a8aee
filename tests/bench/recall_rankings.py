"""The rankings that the recall bench compares, and what a ranking's best turns hold at a budget.

remem     memory_core.ranking over the parts that search makes of what was said
fts5      SQLite FTS5, porter stemmer, words joined by OR, its own bm25
bm25      the same terms as remem's, BM25 over single turns
recency   the newest first
oracle    the evidence alone, what is shortest first
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date
from functools import lru_cache
from statistics import median
from typing import TypeAlias

from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey, message_key
from memory_core.ledger.transcript import Said
from memory_core.messages import Entry, Message
from memory_core.ranking import Score, own_words, scores
from memory_core.search.parts import AtHand, Placed, at_hand
from memory_core.search.question import question as asks
from memory_core.search.sources import Piece, talk_source
from memory_core.tokens import Counter as Tokens
from tests.bench.recall_data import Question, Room, Turn

LEAST_TOKENS = 12
"""Nothing that holds something fits into less."""

ROOM = RoomKey("console:room")

Ranking: TypeAlias = Callable[[Sequence[Turn], Question], Sequence[int]]
"""The numbers of the turns, best first."""


def messages(turns: Sequence[Turn]) -> list[Message]:
    """The turns as remem records them; the number of each is the end of its key."""
    return [_message(number, turn) for number, turn in enumerate(turns)]


def _message(number: int, turn: Turn) -> Message:
    who = re.sub(r"\W+", "-", turn.speaker.lower()) or "somebody"
    return Message(
        key=message_key(ROOM, str(number)),
        conversation=Conversation(ROOM),
        author=PersonKey(f"console:{who}"),
        author_name=turn.speaker,
        text=turn.text,
        sent_at=turn.at.replace(tzinfo=UTC),
    )


def number_of(key: MessageKey) -> int:
    """The turn that a message was."""
    return int(key.rpartition(":")[2])


@lru_cache(maxsize=64)
def room_at_hand(turns: tuple[Turn, ...]) -> AtHand:
    """The turns as search sees what was said, the sessions of the data set being its talks."""
    placed: list[Placed] = []
    for number, message in enumerate(messages(turns)):
        piece = Piece(":", turns[number].session, "", (number,))
        placed += talk_source(piece, {number: Said.of(Entry(number, message))}, UTC).placed()
    return at_hand(placed)


def today(turns: Sequence[Turn]) -> date | None:
    """The day on which a question is asked: that of the turn before it."""
    return turns[-1].at.date() if turns else None


def scored(turns: Sequence[Turn], question: Question) -> dict[int, Score]:
    """The turns that fit by remem's formula with their scores, best first; of equal ones the newer."""
    room, wanted = room_at_hand(tuple(turns)), asks(question.text, today(turns))
    found = scores(room.shelf, room.places(wanted), wanted)
    return {number: found[number] for number in sorted(found, key=lambda number: (-found[number].value, -number))}


def _remem(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    return tuple(scored(turns, question))


def formula_ms(rooms: Sequence[Room], parts: int = 100) -> float:
    """The median time of a processor that the formula takes for so many parts, in milliseconds."""
    taken: list[float] = []
    for room in rooms:
        turns = room.turns[:parts]
        ready = room_at_hand(turns)
        for question in room.questions:
            wanted = asks(question.text, today(turns))
            places = ready.places(wanted)
            began = time.thread_time()
            scores(ready.shelf, places, wanted)
            taken.append(1000 * (time.thread_time() - began))
    return median(taken) if taken else 0.0


def _bm25(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    room = room_at_hand(tuple(turns))
    found = own_words(room.shelf, room.places(asks(question.text)))
    return sorted(found, key=lambda number: -found[number])


def _recency(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    return range(len(turns) - 1, -1, -1)


def _oracle(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    """Always the turn next that tells most of what is missing for its length: several may hold one gold string."""
    missing, order = list(question.wanted), list[int]()
    while missing:
        worth = {
            number: sum(turn.key in keys for keys in missing) / (len(turn.line) or 1)
            for number, turn in enumerate(turns)
        }
        best = max(worth, key=worth.__getitem__, default=-1)
        if best < 0 or not worth[best]:
            break  # no turn holds it
        order.append(best)
        missing = [keys for keys in missing if turns[best].key not in keys]
    return order


def _fts5(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.text.lower())) or '""'
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE said USING fts5(line, tokenize = 'porter unicode61')")
        database.executemany(
            "INSERT INTO said (rowid, line) VALUES (?, ?)", [(at, turn.line) for at, turn in enumerate(turns)]
        )
        return [
            row[0] for row in database.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank", (query,))
        ]


RANKINGS: dict[str, Ranking] = {
    "remem": _remem,
    "fts5": _fts5,
    "bm25": _bm25,
    "recency": _recency,
    "oracle": _oracle,
}


@dataclass(frozen=True, slots=True)
class Share:
    """What one question got at one budget: the part of what it wants, and the tokens of its context."""

    category: str
    part: float
    tokens: int


def in_context(
    turns: Sequence[Turn], order: Sequence[int], budget_tokens: int, counter: Tokens
) -> tuple[set[str], int]:
    """The keys of the turns that are taken, and what the context costs, the headings of its sessions included."""
    numbers, used = Filling(turns, counter).taken(order, budget_tokens)
    return {turns[number].key for number in numbers}, used


class Filling:
    """Puts a room's best turns into a context, and tells what it holds of what a question wants."""

    def __init__(self, turns: Sequence[Turn], counter: Tokens) -> None:
        self._turns = turns
        self._counter = counter
        self._costs: dict[int, tuple[int, int]] = {}

    def taken(self, order: Sequence[int], budget_tokens: int) -> tuple[list[int], int]:
        """The turns that are taken, and what the context costs, the headings of its sessions included."""
        used, headed, numbers = 0, set[str](), list[int]()
        for number in order:
            session = self._turns[number].session
            line, heading = self._costs.get(number) or self._count(number)
            cost = line + (0 if session in headed else heading)
            if used + cost <= budget_tokens:
                used += cost
                headed.add(session)
                numbers.append(number)
            if budget_tokens - used < LEAST_TOKENS:
                break
        return numbers, used

    def _count(self, number: int) -> tuple[int, int]:
        """The tokens of a turn and of its heading."""
        turn, count = self._turns[number], self._counter.count
        self._costs[number] = costs = count(turn.line), count(turn.heading)
        return costs

    def share(self, question: Question, order: Sequence[int], budget_tokens: int) -> Share:
        """What the question got."""
        numbers, used = self.taken(order, budget_tokens)
        return Share(question.category, part_of_wanted(question, {self._turns[one].key for one in numbers}), used)


def part_of_wanted(question: Question, keys: set[str]) -> float:
    """The part of what a question wants that is among `keys`."""
    return sum(not one.isdisjoint(keys) for one in question.wanted) / len(question.wanted)


def measured(rooms: Sequence[Room], rank: Ranking, budgets: Sequence[int], counter: Tokens) -> dict[int, list[Share]]:
    """Every question's share at every budget, as a ranking orders the turns."""
    shares: dict[int, list[Share]] = {budget: [] for budget in budgets}
    for room in rooms:
        filling = Filling(room.turns, counter)
        for question in room.questions:
            order = rank(room.turns[: question.until], question)
            for budget in budgets:
                shares[budget].append(filling.share(question, order, budget))
    return shares


def summary(shares: Sequence[Share]) -> dict[str, float]:
    """Mean share of all questions and of each category, how many have everything, and the greatest context."""
    by_category: dict[str, list[float]] = defaultdict(list)
    for one in shares:
        by_category[one.category].append(one.part)
    count = max(1, len(shares))
    mean = sum(one.part for one in shares) / count
    whole = sum(one.part == 1 for one in shares) / count
    parts = {category: sum(found) / len(found) for category, found in sorted(by_category.items())}
    return {
        "share": mean,
        "all": whole,
        "tokens": max((one.tokens for one in shares), default=0),
        "mean tokens": sum(one.tokens for one in shares) / count,
        **parts,
    }
