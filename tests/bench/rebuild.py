"""What an index of search costs that can be thrown away: built anew, caught up when nothing changed, when one did.

    python -m tests.bench rebuild [--memories N] [--rounds N] [--json FILE]

Half of the memories are records, on the pages and by month in the archive, half are messages of the ledger.
Reference: reading the same files and texts and building an FTS5 table of the same parts in a file, with its own stems
(porter), without waiting for the disk, in turns with remem in the same run. Compared is processor time, of all
threads; the wall beside it says how busy the machine was. What words and pages leave in mind (caches) is forgotten
before each rebuild. The same questions are asked before and after: every answer, with its order and score, must be
the same.

    rebuild    the index is removed, and caught up
    no change  caught up when nothing changed: a look at the states of the files and how far the ledger has come
    one more   caught up when one message came, or one page was written
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from memory_core import terms
from memory_core.forms import blocks, record_reading, record_values, units
from memory_core.forms.records import render
from memory_core.gate import OpenIndex, open_index
from memory_core.search import parts, sources
from memory_core.workspace import LEDGER
from tests.bench.add import GROUP, Memory, memory
from tests.bench.nights import by_page, records_of, statement

QUESTIONS = 40
_SETTLED_S = 2.5
"""So long after a writing the times of a file are trusted."""
_PART = re.compile(r"^## ", re.MULTILINE)

_REMEMBERED = (
    *(terms._TOKENS, terms._word_terms, terms._stem, parts._speaker, sources._context),
    *(units.REMEMBERED, record_reading._parse, record_reading._parse_short, record_reading._read),
    *(record_values._identity, record_values.source_name, blocks.day_of),
)

Cost: TypeAlias = tuple[float, float]
"""Seconds of processor and wall."""


@dataclass(slots=True)
class Row:
    """One line of the table; milliseconds, medians. `ratio`: processor time against the reference."""

    what: str
    cpu_ms: float
    wall_ms: float
    ratio: float = 0.0
    note: str = ""


def lay_down_records(folder: Path, count: int) -> None:
    """So many records: the newest tenth on the group's pages, the rest by month in the archive. Blocking."""
    records = records_of(count)
    standing, months = records[: count // 10], defaultdict[str, list[str]](list)
    for page, own in by_page(standing):
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{page}.md").write_text(f"# {page}\n\n" + "\n".join(map(render, own)), "utf-8")
    for record in records[count // 10 :]:
        months[f"{record.day:%Y-%m}"].append(render(record))
    (folder / "archive").mkdir()
    for month, texts in months.items():
        (folder / "archive" / f"{month}.md").write_text(f"# {month}\n\n" + "\n".join(texts), "utf-8")


def bare(workspace: Path, base: Path) -> int:
    """Read the files and texts and build FTS5 of their parts; how many. Blocking."""
    texts = list[str]()
    for file in sorted((workspace / "memory/groups" / GROUP).rglob("*.md")):
        texts += _PART.split(file.read_text("utf-8"))[1:]
    with closing(sqlite3.connect(f"file:{workspace / LEDGER}?mode=ro", uri=True)) as ledger:
        texts += [text for (text,) in ledger.execute("SELECT text FROM texts WHERE emptied = 0")]
    base.unlink(missing_ok=True)
    with closing(sqlite3.connect(base, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.execute("CREATE VIRTUAL TABLE kept USING fts5 (text, tokenize = 'porter unicode61')")
        connection.executemany("INSERT INTO kept VALUES (?)", [(part,) for part in texts])
        connection.execute("COMMIT")
    return len(texts)


async def cost(work: Awaitable[object]) -> Cost:
    """What it costs."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return time.process_time() - cpu, time.perf_counter() - wall


async def answers(opened: OpenIndex, questions: Sequence[str]) -> list[tuple[object, ...]]:
    """All that is told of every hit, in order."""
    return [(words, *await opened.search(words, 20)) for words in questions]


async def opened(held: Memory) -> OpenIndex:
    """The group's door."""
    found = await open_index(held.handle)
    assert found is not None
    return found


async def _rebuild(held: Memory) -> None:
    await asyncio.to_thread(held.handle.searches.remove, held.handle.scope)
    for remembered in _REMEMBERED:
        remembered.cache_clear()
    await (await opened(held)).catch_up()


def _rows(taken: dict[str, list[Cost]]) -> list[Row]:
    """`ratio` is the median of the rounds' own: a machine may be twice as fast in one round as in the next."""
    reference, *_ = taken.values()
    rows = []
    for what, costs in taken.items():
        cpu, wall = (median(column) * 1e3 for column in zip(*costs, strict=True))
        ratio = median(one / bare for (one, _), (bare, _) in zip(costs, reference, strict=True))
        rows.append(Row(what, cpu, wall, 0.0 if costs is reference else ratio))
    return rows


async def measure(memories: int, rounds: int) -> list[Row]:
    """All lines of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder, workspace = Path(place), Path(place) / "remem"
        async with memory(folder) as held:
            await asyncio.to_thread(lay_down_records, workspace / "memory/groups" / GROUP, memories // 2)
            await held.fill(memories - memories // 2)
            await asyncio.sleep(_SETTLED_S)
            return await _measured(held, workspace, rounds)


async def _measured(held: Memory, workspace: Path, rounds: int) -> list[Row]:
    door, random = await opened(held), Random(11)
    questions = [statement(random) for _ in range(QUESTIONS)]
    page = workspace / "memory/groups" / GROUP / "project.md"
    before = await answers(door, questions)

    taken = await _in_turns(
        rounds,
        {
            "bare: read, FTS5": lambda: asyncio.to_thread(bare, workspace, workspace.parent / "again.db"),
            "rebuild": lambda: _rebuild(held),
            "no change": door.catch_up,
        },
    )
    same = await answers(door, questions) == before
    taken["one more message"], taken["one page written"] = [], []
    for _ in range(rounds):
        await held.add(held.sentence())
        taken["one more message"].append(await cost(door.catch_up()))
        await asyncio.to_thread(page.write_bytes, await asyncio.to_thread(page.read_bytes))
        taken["one page written"].append(await cost(door.catch_up()))
        await asyncio.sleep(_SETTLED_S)
        await door.catch_up()  # so that the next look trusts the page's times
    rows = _rows(taken)
    rows[1].note = f"{len(questions)} questions: {'the same' if same else 'OTHER'} answers before and after"
    return rows


async def _in_turns(rounds: int, ways: dict[str, Callable[[], Awaitable[object]]]) -> dict[str, list[Cost]]:
    taken: dict[str, list[Cost]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            taken[name].append(await cost(way()))
    return taken


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print; 1 if the answers differ after a rebuild."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench rebuild", description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)
    rows = asyncio.run(measure(asked.memories, asked.rounds))
    table = Table("what", "processor", "wall", "against", "", title=f"index of {asked.memories:,} memories")
    for one in rows:
        against = f"{one.ratio:.2f}" if one.ratio else "reference"
        table.add_row(one.what, f"{one.cpu_ms:.1f} ms", f"{one.wall_ms:.1f} ms", against, one.note)
    Console().print(table)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in rows], indent=1), "utf-8")
    return int("OTHER" in rows[1].note)
