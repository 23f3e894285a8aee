"""What holds the answer: which part of the evidence stands in the context, at a budget of tokens.

    python -m tests.bench recall [--data PATH] [--budgets 1000,2000] [--against fts5,bm25,recency,oracle] [--json F]

The store is raw here: every turn of a room, nothing flushed. A ranking orders the turns; they are taken best first as
long as they fit, each under the date of its session, which counts too. A question's share is the part of what it
wants that is in the context; `all` counts the questions that have everything. Questions are pooled over all rooms.

    remem     memory_core.ranking, as search uses it, one set of weights for every room
    fts5      SQLite FTS5, porter stemmer, words joined by OR, its own bm25
    bm25      the same terms as remem's, BM25 over single turns
    recency   the newest first
    oracle    the evidence first
    embedder  remem's order fused with the one by meaning (memory_core.fusion) of the optional embedder, if installed
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from bot.embedding import SentenceEncoder
from memory_core import fusion, ranking
from memory_core.errors import BadInput
from memory_core.ranking import Spot, own_words, pairs_of, scores, shelf
from memory_core.search.parts import Held
from memory_core.search_embedding import Vector
from memory_core.terms import terms
from memory_core.tokens import Counter as Tokens
from memory_core.tokens import load_counter
from tests.bench.recall_data import Question, Room, Turn, rooms
from tests.data_dir import data_dir

EMBEDDER = "embedder"
LEAST_TOKENS = 12
"""Nothing that holds something fits into less."""

Ranking: TypeAlias = Callable[[Sequence[Turn], Question], Sequence[int]]
"""The numbers of the turns, best first."""


@lru_cache(maxsize=64)
def held_room(turns: tuple[Turn, ...]) -> Held:
    """The turns as ranking sees them."""
    found = [terms(turn.text) for turn in turns]
    spots = [
        Spot(len(own), turn.session, number, frozenset(terms(turn.speaker)), "?" in turn.text)
        for number, (turn, own) in enumerate(zip(turns, found, strict=True))
    ]
    return Held(shelf(spots), tuple(Counter(own) for own in found), tuple(pairs_of(own) for own in found))


def _remem(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    room, asked = held_room(tuple(turns)), terms(question.text)
    found = scores(room.shelf, room.places(asked), asked)
    return sorted(found, key=lambda number: -found[number].value)


def _bm25(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    room = held_room(tuple(turns))
    found = own_words(room.shelf, room.places(terms(question.text)))
    return sorted(found, key=lambda number: -found[number])


def _recency(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    return range(len(turns) - 1, -1, -1)


def _oracle(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    wanted = frozenset().union(*question.wanted)
    return [number for number, turn in enumerate(turns) if turn.key in wanted]


def _fts5(turns: Sequence[Turn], question: Question) -> Sequence[int]:
    words = re.findall(r"\w+", question.text.lower())
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE said USING fts5(line, tokenize = 'porter unicode61')")
        database.executemany(
            "INSERT INTO said (rowid, line) VALUES (?, ?)", [(at, turn.line) for at, turn in enumerate(turns)]
        )
        query = " OR ".join(f'"{word}"' for word in words)
        return [
            row[0] for row in database.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank", (query,))
        ]


@dataclass(slots=True)
class Embedded:
    """remem's order fused with the one by meaning. Every text is embedded once, for `spent_s` of a processor."""

    embedder: SentenceEncoder
    vectors: dict[str, Vector] = field(default_factory=dict)
    spent_s: float = 0.0

    def __call__(self, turns: Sequence[Turn], question: Question) -> Sequence[int]:
        """Without the embedder's own loading, which is done before."""
        lines = [turn.line for turn in turns]
        self._embed(dict.fromkeys((*lines, question.text)))
        similar = self.embedder.similar(self.vectors[question.text], [self.vectors[line] for line in lines])
        meant = fusion.order(fusion.near(similar, [turn.session for turn in turns]))
        return fusion.fused(_remem(turns, question), meant)

    def _embed(self, texts: Iterable[str]) -> None:
        new = [text for text in texts if text not in self.vectors]
        began = time.process_time()
        self.vectors.update(zip(new, self.embedder.embed(new), strict=True))
        self.spent_s += time.process_time() - began


RANKINGS: dict[str, Ranking] = {
    "remem": _remem,
    "fts5": _fts5,
    "bm25": _bm25,
    "recency": _recency,
    "oracle": _oracle,
}


def _with_embedder(against: Sequence[str]) -> Embedded | None:
    """The ranking `embedder`, if it is asked for and installed; said when it is not."""
    if EMBEDDER not in against:
        return None
    try:
        embedder = SentenceEncoder()
    except BadInput as missing:
        print(f"{EMBEDDER}: skipped. {missing}")
        return None
    embedder.embed(["warm"])
    return Embedded(embedder)


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
    used, headed, keys = 0, set[str](), set[str]()
    for number in order:
        turn = turns[number]
        cost = counter.count(turn.line) + (0 if turn.session in headed else counter.count(turn.heading))
        if used + cost <= budget_tokens:
            used += cost
            headed.add(turn.session)
            keys.add(turn.key)
        if budget_tokens - used < LEAST_TOKENS:
            break
    return keys, used


def measured(found: Sequence[Room], rank: Ranking, budgets: Sequence[int], counter: Tokens) -> dict[int, list[Share]]:
    """Every question's share at every budget."""
    shares: dict[int, list[Share]] = {budget: [] for budget in budgets}
    for room in found:
        for question in room.questions:
            turns = room.turns[: question.until]
            order = rank(turns, question)
            for budget in budgets:
                keys, tokens = in_context(turns, order, budget, counter)
                part = sum(not one.isdisjoint(keys) for one in question.wanted) / len(question.wanted)
                shares[budget].append(Share(question.category, part, tokens))
    return shares


def summary(shares: Sequence[Share]) -> dict[str, float]:
    """Mean share of all questions and of each category, how many have everything, and the greatest context."""
    by_category: dict[str, list[float]] = defaultdict(list)
    for one in shares:
        by_category[one.category].append(one.part)
    mean = sum(one.part for one in shares) / len(shares)
    whole = sum(one.part == 1 for one in shares) / len(shares)
    parts = {category: sum(found) / len(found) for category, found in sorted(by_category.items())}
    return {"share": mean, "all": whole, "tokens": max(one.tokens for one in shares), **parts}


def _shown(
    name: str, budgets: Sequence[int], results: dict[str, dict[int, dict[str, float]]], questions: int
) -> Table:
    table = Table(title=f"{name}: {questions} questions, share of the evidence in the context")
    first = next(iter(results.values()))[budgets[0]]
    categories = [key for key in first if key not in {"share", "all", "tokens"}]
    for head in ("ranking", "tokens", "share", "all", *categories, "most tokens", "against fts5"):
        table.add_column(head)
    for ranked, by_budget in results.items():
        for budget in budgets:
            told = by_budget[budget]
            reference = results.get("fts5", {}).get(budget)
            ratio = f"{told['share'] / reference['share']:.2f}" if reference and reference["share"] else "–"
            figures = [f"{told[key]:.3f}" for key in ("share", "all", *categories)]
            table.add_row(ranked, str(budget), *figures, str(int(told["tokens"])), ratio)
    return table


def run(paths: Sequence[Path], budgets: Sequence[int], against: Sequence[str]) -> dict[str, object]:
    """Measure and print every data set; the figures as data."""
    counter, console = load_counter(), Console(width=140)
    weights = {key: value for key, value in vars(ranking).items() if key.isupper() and isinstance(value, float)}
    told: dict[str, object] = {"weights": weights}
    embedded = _with_embedder(against)
    rankings = {name: RANKINGS[name] for name in ("remem", *against) if name != EMBEDDER}
    if embedded is not None:
        rankings[f"remem+{EMBEDDER}"] = embedded
    for path in paths:
        data, found = rooms(path)
        results = {
            name: {budget: summary(shares) for budget, shares in measured(found, rank, budgets, counter).items()}
            for name, rank in rankings.items()
        }
        console.print(_shown(data, budgets, results, sum(len(room.questions) for room in found)))
        told[data] = results
    if embedded is not None:
        texts = len(embedded.vectors)
        each_ms = 1000 * embedded.spent_s / texts
        print(f"{embedded.embedder.name}: {texts} texts embedded, {each_ms:.1f} ms of a processor each")
    return told


def main(arguments: Sequence[str] = ()) -> int:
    """`recall` of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench recall", description=__doc__)
    parser.add_argument("--data", action="append", type=Path, help="a LoCoMo file or a GateMem folder; repeatable")
    parser.add_argument("--budgets", default="500,1000,2000", help="tokens, comma separated")
    parser.add_argument("--against", default="fts5,bm25,recency,oracle", help="rankings beside remem's")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args(list(arguments))
    folder = data_dir()
    paths = given.data or ([folder / "locomo-1-5.json", folder / "gatemem"] if folder else [])
    against = [name for name in given.against.split(",") if name]
    unknown = [name for name in against if name not in (*RANKINGS, EMBEDDER)]
    if unknown or not paths:
        print(f"There is no ranking {', '.join(unknown)}." if unknown else "Name the data with --data PATH.")
        return 2
    told = run(paths, [int(one) for one in given.budgets.split(",")], against)
    if given.json:
        given.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 0
