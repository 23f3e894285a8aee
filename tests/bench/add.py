"""What keeping one message costs: durable when the call returns, and found by the next search.

    python -m tests.bench add [--adds N] [--filled N] [--folder DIR] [--json FILE]

Reference: a bare append to a file with fsync and a committed insert into FTS5 (tests/bench/bare.py), in turns with
remem in the same run, on the same disk, both filled with the same messages before. It waits for the disk twice; the
one whose index is `unsynced` waits once, as remem does. `at once`: ten adders, each with one message on the way;
their reference adds one after the other, which is all that it can. `--folder`: where; in /dev/shm, where waiting for
the disk costs nothing, the rest shows.

    message      Intake.record: the ledger, SQLite with fsync
    found        the same, and a search for it right after
    saved        a decision is said, and flushed: its record, the day's journal and the state are on their pages
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from memory_core.clock import ManualClock
from memory_core.extract.extractor import RulesExtractor
from memory_core.flush.engine import flush
from memory_core.flush.plans import Trigger
from memory_core.gate import open_index
from memory_core.handle import Handle, Handles
from memory_core.ids import Conversation, EventKey, GroupScope, PersonKey, RoomKey, message_key
from memory_core.layouts import APM, Kind
from memory_core.ledger.base import Posted
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.messages import Message
from memory_core.search import Searches
from memory_core.store.files import FileStores
from memory_core.store.tree import Tree
from memory_core.tokens import load_counter
from memory_core.workspace import LEDGER
from tests.bench.bare import Bare
from tests.bench.nights import NIGHT, lay_down, statement

ADDERS = 10
GROUP = "build"
_TALK = 15
"""So many messages belong together, in a thread or on the main line."""
_ROOM = RoomKey("slack:T1:C9")

Timed: TypeAlias = Callable[[int], Awaitable[float]]
"""Does the `n`th of something; the seconds it took."""


@dataclass(slots=True)
class Row:
    """One line of the table; milliseconds. `ratio` is p50 against the reference's p50. `p95_ms` 0: not measured."""

    what: str
    p50_ms: float
    p95_ms: float
    ratio: float = 0.0
    note: str = ""


def row(what: str, taken: Sequence[float], reference: Row | None = None, note: str = "") -> Row:
    """The seconds taken as a line."""
    cuts = statistics.quantiles(taken, n=20)
    p50 = statistics.median(taken) * 1e3
    return Row(what, p50, cuts[-1] * 1e3, p50 / reference.p50_ms if reference else 0.0, note)


class Memory:
    """A group with real files and a real ledger, and its bare twins."""

    def __init__(self, handle: Handle, ledger: OpenLedger, clock: ManualClock, bare: Bare, unsynced: Bare) -> None:
        self.handle, self.clock, self.bare, self.unsynced = handle, clock, bare, unsynced
        self._ledger = ledger
        self._random = Random(3)
        self._said = 0

    def sentence(self) -> str:
        """What somebody says next."""
        return statement(self._random)

    def posted(self, text: str) -> Posted:
        """The event of it, three minutes after the one before."""
        self._said += 1
        self.clock.advance(180)
        key = message_key(_ROOM, f"1700.{self._said:06d}")
        talk = self._said // _TALK
        place = Conversation(_ROOM, f"T{talk}" if talk % 3 else "")
        person = PersonKey(f"slack:T1:U{self._said % 7}")
        said = Message(key, place, person, "ana", text, self.clock.now(), room_title="#build")
        return Posted(EventKey(key), said, self.handle.scope)

    async def fill(self, count: int) -> None:
        """So many messages, here and in the twins."""
        texts = [self.sentence() for _ in range(count)]
        await self._ledger.intake.record([self.posted(text) for text in texts])
        self.bare.fill(texts)
        self.unsynced.fill(texts)

    async def add(self, text: str) -> None:
        """Keep one message."""
        await self._ledger.intake.record([self.posted(text)])

    async def search(self, words: str) -> list[str]:
        """What is found, best first."""
        opened = await open_index(self.handle)
        return [one.text for one in await opened.search(words)] if opened is not None else []


@asynccontextmanager
async def memory(folder: Path) -> AsyncIterator[Memory]:
    """An empty group and its twins, in `folder`."""
    workspace, clock = folder / "remem", ManualClock(NIGHT)
    lay_down(workspace, GROUP, 0, journals=0)
    (workspace / LEDGER).parent.mkdir(parents=True, exist_ok=True)
    ledger, stores = await SqliteLedger.open(workspace / LEDGER, clock), FileStores(workspace, APM)
    searches = Searches(Tree(workspace))
    bare, unsynced = Bare(folder / "bare"), Bare(folder / "unsynced", durable=False)
    handles = Handles(stores, ledger, APM, load_counter(), clock, searches=searches)
    try:
        yield Memory(handles.open(GroupScope(GROUP)), ledger, clock, bare, unsynced)
    finally:
        searches.close()
        await ledger.close()
        stores.close()
        bare.close()
        unsynced.close()


async def in_turns(adds: int, **ways: Timed) -> dict[str, list[float]]:
    """Each way so many times, one of each in turn."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(adds):
        for name, way in ways.items():
            taken[name].append(await way(number))
    return taken


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def messages(held: Memory, adds: int) -> list[Row]:
    """One message at a time."""

    def bare(twin: Bare) -> Timed:
        async def add(number: int) -> float:
            text, began = held.sentence(), time.perf_counter()
            twin.add(text)
            return time.perf_counter() - began

        return add

    async def remem(number: int) -> float:
        return await _timed(held.add(held.sentence()))

    taken = await in_turns(adds, bare=bare(held.bare), remem=remem, unsynced=bare(held.unsynced))
    reference = row("bare: append, fsync, FTS5", taken["bare"], note="reference")
    once = row("bare, index unsynced", taken["unsynced"], reference)
    message = row("message", taken["remem"], reference)
    message.note = f"{message.p50_ms / once.p50_ms:.2f} against unsynced"
    return [reference, once, message]


async def at_once(held: Memory, adds: int, reference: Row) -> list[Row]:
    """Ten adders: what each waits, and what one message takes of the time of all."""

    async def adder() -> list[float]:
        return [await _timed(held.add(held.sentence())) for _ in range(max(1, adds // ADDERS))]

    began = time.perf_counter()
    waited = [taken for own in await asyncio.gather(*(adder() for _ in range(ADDERS))) for taken in own]
    each = (time.perf_counter() - began) / len(waited)
    share = Row(f"message, of {ADDERS} at once: its share", each * 1e3, 0.0, each * 1e3 / reference.p50_ms)
    return [row(f"message, of {ADDERS} at once: its wait", waited, reference), share]


async def found(held: Memory, adds: int) -> list[Row]:
    """One message, and a search that must find it."""
    missed = 0
    held.bare.search("warm")
    await held.search("warm")

    async def bare(number: int) -> float:
        words, began = f"nightfall{number}", time.perf_counter()
        held.bare.add(f"{words}: {held.sentence()}")
        assert held.bare.search(words)
        return time.perf_counter() - began

    async def remem(number: int) -> float:
        nonlocal missed
        words, began = f"daybreak{number}", time.perf_counter()
        await held.add(f"{words}: {held.sentence()}")
        missed += not any(words in text for text in await held.search(words))
        return time.perf_counter() - began

    taken = await in_turns(adds, bare=bare, remem=remem)
    reference = row("bare: append, fsync, FTS5, query", taken["bare"], note="reference")
    return [reference, row("message, then found", taken["remem"], reference, f"{adds - missed} of {adds} found")]


async def saved(held: Memory, adds: int, reference: Row) -> list[Row]:
    """One decision said and flushed; the search that finds its record right after."""
    written = 0
    handle = held.handle
    newest = (await handle.ledger.transcript_state()).arrived
    places = await handle.ledger.conversations()
    await handle.ledger.move_cursors(dict.fromkeys(places, newest))  # what filled the memory counts as saved

    async def remem(number: int) -> float:
        nonlocal written
        text = f"Decision: we use variant{number} for the {held.sentence().rstrip('.')}"
        began = time.perf_counter()
        await held.add(text)
        receipt = await flush(handle, RulesExtractor(), Trigger.COMMAND)
        took = time.perf_counter() - began
        written += receipt.written and Kind.DECISION in receipt.kinds
        return took

    taken = (await in_turns(adds, remem=remem))["remem"]
    return [row("decision, saved to its page", taken, reference, f"{written} of {adds} wrote")]


async def measure(adds: int, filled: int, where: Path | None = None) -> list[Row]:
    """All lines of the table."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        async with memory(Path(folder)) as held:
            await held.fill(filled)
            os.sync()  # else the first commits wait for our own files to reach the disk
            rows = await messages(held, adds)
            rows += await at_once(held, adds, rows[0])
            rows += await found(held, adds)
            return rows + await saved(held, max(10, adds // 10), rows[0])


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench add", description=__doc__)
    parser.add_argument("--adds", type=int, default=300)
    parser.add_argument("--filled", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)
    rows = asyncio.run(measure(asked.adds, asked.filled, asked.folder))
    table = Table("what", "p50", "p95", "p50 against", "", title=f"keeping, beside {asked.filled:,} messages")
    for one in rows:
        against = f"{one.ratio:.2f}" if one.ratio else ""
        table.add_row(
            one.what, f"{one.p50_ms:.2f} ms", f"{one.p95_ms:.2f} ms" if one.p95_ms else "", against, one.note
        )
    Console().print(table)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in rows], indent=1), "utf-8")
    return 0
