"""Search in Chinese, Japanese, Korean and mixed memories: is what was asked for among the first results?

    python -m tests.bench cjk [--json FILE] [--missed] [--embedder]

The questions of tests/data/search_cjk are put to `OpenIndex.search` over real files, one memory at a time. Per
language, per kind of question and for each part (tuned on, kept out, written later): how often the right entry is the
first (P@1), is among the first three (P@3), and the mean of 1/rank over the first ten (MRR).

`--embedder`: also with the optional embedder, if it is installed, and the same memories asked in English, both by
words alone and with it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from memory_core.clock import ManualClock
from memory_core.gate import Found, open_index
from memory_core.handle import Handle, Handles
from memory_core.layouts import APM
from memory_core.ledger.memory import MemoryLedger
from memory_core.search import Searches
from memory_core.search.embedding import Embedder
from memory_core.search.meaning import Meaning
from memory_core.store.files import FileStores
from tests.bench.cjk_data import Memory, Question, in_english, memories
from tests.bench.recall_embedded import with_embedder
from tests.memory_core.loading_parts import Quarter

FIRST, DEPTH = 3, 10
ASKED_AT = datetime(2026, 4, 15, 4, 0, tzinfo=UTC)
"""The day after the last entry."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and at which place of the results its answer stood; 0: not among the first ten."""

    language: str
    question: Question
    place: int
    instead: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares over some questions."""

    questions: int
    first: float
    in_three: float
    mrr: float


def figures(asked: Sequence[Asked]) -> Figures:
    """The figures of these questions, of which there is at least one."""
    total = len(asked)
    return Figures(
        total,
        sum(one.place == 1 for one in asked) / total,
        sum(1 <= one.place <= FIRST for one in asked) / total,
        sum(1 / one.place for one in asked if one.place) / total,
    )


async def measured(
    workspace: Path, embedder: Embedder | None = None, of: Sequence[Memory] | None = None
) -> tuple[Asked, ...]:
    """Every question of the set, put to its memory, which is written below `workspace`; by words alone where there is
    no embedder."""
    asked: list[Asked] = []
    meaning = Meaning(embedder) if embedder is not None else None
    with closing(FileStores(workspace, APM)) as stores, closing(Searches(meaning=meaning)) as searches:
        clock = ManualClock(ASKED_AT)
        handles = Handles(stores, MemoryLedger(clock), APM, Quarter(), clock, searches=searches)
        for memory in of or memories():
            memory.write(workspace)
            asked += await _asked(memory, handles.open(memory.scope))
    return tuple(asked)


async def _asked(memory: Memory, handle: Handle) -> list[Asked]:
    opened = await open_index(handle)
    assert opened is not None
    if handle.searches.meaning is not None:
        await opened.search("hello")  # whoever asks begins it
        await handle.searches.meaning.settled()
    told: list[Asked] = []
    for question in memory.questions:
        found = await opened.search(question.text, FIRST)
        place = _place(question, found)
        if not place and (deeper := _place(question, await opened.search(question.text, DEPTH))) > FIRST:
            place = deeper
        instead = "" if place == 1 or not found else f"{found[0].page}: {found[0].shown[:70]!r}"
        told.append(Asked(memory.language, question, place, instead))
    return told


def _place(question: Question, found: Sequence[Found]) -> int:
    return next((place for place, one in enumerate(found, 1) if question.is_answered_by(one)), 0)


_GROUPS: dict[str, Callable[[Asked], str]] = {
    "language": lambda one: one.language,
    "kind": lambda one: one.question.kind,
    "all": lambda one: "all",
}
HALVES: dict[str, Callable[[Asked], bool]] = {
    "tuned": lambda one: one.question.half == "tuned",
    "kept out": lambda one: one.question.half == "kept out",
    "later": lambda one: one.question.half == "later",
    "all": lambda one: True,
}


def by_group(asked: Sequence[Asked]) -> dict[str, dict[str, dict[str, Figures]]]:
    """The figures by language, by kind and of all, of each half."""
    told: dict[str, dict[str, dict[str, Figures]]] = {}
    for group, key in _GROUPS.items():
        for value in sorted({key(one) for one in asked}):
            halves = {
                half: [one for one in asked if key(one) == value and belongs(one)] for half, belongs in HALVES.items()
            }
            told.setdefault(group, {})[value] = {half: figures(own) for half, own in halves.items() if own}
    return told


def shown(asked: Sequence[Asked]) -> Table:
    """The figures as one table."""
    table = Table(title=f"CJK and mixed search: {len(asked)} questions")
    table.add_column("")
    for half in HALVES:
        for head in ("n", "P@1", "P@3", "MRR"):
            table.add_column(f"{half} {head}" if head == "n" else head, justify="right")
    for values in by_group(asked).values():
        for value, halves in values.items():
            cells: list[str] = []
            for half in HALVES:
                own = halves.get(half)
                numbers = (own.first, own.in_three, own.mrr) if own else ()
                cells += [str(own.questions) if own else "–", *(f"{one:.3f}" for one in numbers or (0.0,) * 3)]
            table.add_row(value, *cells)
        table.add_section()
    return table


async def _beside(folder: Path, by_words: Sequence[Asked], embedder: Embedder) -> Table:
    """By words alone and with the embedder, asked in the memories' own languages and in English."""
    english = in_english()
    rows = {
        "own, by words": by_words,
        "own, with the embedder": await measured(folder, embedder),
        "English, by words": await measured(folder, of=english),
        "English, with the embedder": await measured(folder, embedder, english),
    }
    table = Table(title="With the embedder")
    for head in ("asked in", "n", "P@1", "P@3", "MRR"):
        table.add_column(head)
    for name, asked in rows.items():
        own = figures(asked)
        table.add_row(name, str(own.questions), *(f"{one:.3f}" for one in (own.first, own.in_three, own.mrr)))
    return table


def main(arguments: Sequence[str] = ()) -> int:
    """`cjk` of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench cjk", description=__doc__)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument(
        "--missed", action="store_true", help="tell the tuned questions that are not in the first three"
    )
    parser.add_argument("--embedder", action="store_true", help="also with the optional embedder, and in English")
    given = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory() as folder:
        asked = asyncio.run(measured(Path(folder)))
        Console(width=170).print(shown(asked))
        if given.embedder and (embedder := with_embedder()) is not None:
            Console(width=170).print(asyncio.run(_beside(Path(folder), asked, embedder)))
    for one in asked if given.missed else ():
        if one.question.half == "tuned" and not 1 <= one.place <= FIRST:
            print(f"{one.place:2} {one.language} {one.question.kind}: {one.question.text}")
            print(f"     wanted {one.question.words}\n     first  {one.instead}")
    if given.json:
        told = {
            group: {value: {half: _as_data(own) for half, own in halves.items()} for value, halves in values.items()}
            for group, values in by_group(asked).items()
        }
        given.json.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


def _as_data(own: Figures) -> dict[str, float]:
    return {"questions": own.questions, "P@1": own.first, "P@3": own.in_three, "MRR": own.mrr}
