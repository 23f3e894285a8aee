"""One page: how much of the evidence does the page hold that strict disclosure chooses?

    python -m tests.bench route [--data PATH] [--budgets 1000,2000] [--json F]

A page is one session's journal here: all that was said in a room on one day or in one session. Shares, budgets and
headings as in `recall`.

    best file   the reference: BM25 ranks the session files as wholes; the first is loaded from its top
    strict      one page, the one that holds the best parts (tests.bench.page_choice), its best parts first
    excerpts    the best parts of all pages
    oracle      the one file that holds most of the evidence at this budget, which nobody can know

Parts are ranked by memory_core.ranking, as loading and search rank them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table

from memory_core.ranking import Question as Asks
from memory_core.ranking import Spot, own_words, scores, shelf
from memory_core.search.parts import AtHand, Part, Run
from memory_core.search.question import question as asks
from memory_core.terms import terms
from memory_core.tokens import Counter as Tokens
from memory_core.tokens import load_counter
from tests.bench.figures import console, data_sets, keep, no_data, parser, ratio
from tests.bench.page_choice import best_pages
from tests.bench.recall_data import Question, Room, Turn
from tests.bench.recall_rankings import in_context, room_at_hand, today

REFERENCE = "best file"
WAYS = (REFERENCE, "strict", "excerpts", "oracle")
TARGET = 1.05
"""What strict must reach against the reference at 2,000 tokens."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: in which order each way takes the turns; for the oracle, every file in its own order."""

    orders: dict[str, Sequence[int]]
    files: tuple[Sequence[int], ...]


def orders(turns: Sequence[Turn], question: Question) -> Asked:
    """The turns that each way would take, best first."""
    asked = asks(question.text, today(turns))
    room = room_at_hand(tuple(turns))
    found = {number: score.value for number, score in scores(room.shelf, room.places(asked), asked).items()}
    files: dict[str, list[int]] = {}
    for number, turn in enumerate(turns):
        files.setdefault(turn.session, []).append(number)
    best_first = sorted(found, key=lambda number: -found[number])
    pages = best_pages((turns[number].session, found[number]) for number in best_first)
    page = files[pages[0]] if pages else []
    return Asked(
        {
            REFERENCE: files[best_file(turns, files, asked)],
            "strict": sorted(page, key=lambda number: -found.get(number, 0.0)),
            "excerpts": best_first,
        },
        tuple(files.values()),
    )


def best_file(turns: Sequence[Turn], files: dict[str, list[int]], asked: Asks) -> str:
    """The session file that BM25 over whole files ranks first."""
    whole = {name: terms("".join(turns[number].line for number in numbers)) for name, numbers in files.items()}
    spots = [Spot(len(found), name, number) for number, (name, found) in enumerate(whole.items())]
    parts = [Part(spot, (Run(found, joined=False),)) for spot, found in zip(spots, whole.values(), strict=True)]
    ready = AtHand(shelf(spots), tuple(parts))
    values = own_words(ready.shelf, ready.places(asked))
    return list(files)[max(values, key=values.__getitem__, default=0)]


def share(turns: Sequence[Turn], order: Sequence[int], question: Question, budget: int, counter: Tokens) -> float:
    """The part of what the question wants that stands in the context."""
    keys, _ = in_context(turns, order, budget, counter)
    return sum(not one.isdisjoint(keys) for one in question.wanted) / len(question.wanted)


def measured(found: Iterable[Room], budgets: Sequence[int], counter: Tokens) -> dict[str, dict[int, float]]:
    """The mean share of each way at each budget, over all questions of all rooms."""
    shares: dict[str, dict[int, list[float]]] = {way: {budget: [] for budget in budgets} for way in WAYS}
    for room in found:
        for question in room.questions:
            turns = room.turns[: question.until]
            asked = orders(turns, question)
            for budget in budgets:
                for way, order in asked.orders.items():
                    shares[way][budget].append(share(turns, order, question, budget, counter))
                best = max(share(turns, order, question, budget, counter) for order in asked.files)
                shares["oracle"][budget].append(best)
    return {
        way: {budget: sum(values) / max(1, len(values)) for budget, values in by_budget.items()}
        for way, by_budget in shares.items()
    }


def _shown(name: str, found: dict[str, dict[int, float]], questions: int) -> Table:
    table = Table(
        "way", "tokens", "share", f"against {REFERENCE}",
        title=f"{name}: {questions} questions; a page is one session's journal",
    )  # fmt: skip
    for way, by_budget in found.items():
        for budget, value in by_budget.items():
            against = ratio(value, found[REFERENCE][budget])
            table.add_row(way, f"{budget:,}", f"{value:.3f}", "reference" if way == REFERENCE else f"{against:.2f}")
    return table


def main(arguments: Sequence[str] = ()) -> int:
    """`route` of the command line."""
    options = parser("route", __doc__, data=True)
    options.add_argument("--budgets", default="1000,2000", help="tokens, comma separated")
    given = options.parse_args(list(arguments))
    sets = data_sets(given.data)
    if not sets:
        return no_data()
    budgets = [int(one) for one in given.budgets.split(",")]
    counter, screen = load_counter(), console()
    figures: dict[str, object] = {"page": "one session's journal", "target": TARGET}
    for name, found in sets.items():
        told = measured(found, budgets, counter)
        screen.print(_shown(name, told, sum(len(room.questions) for room in found)))
        figures[name] = told
    keep(given.json, figures)
    return 0
