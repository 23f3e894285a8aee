"""What a night costs: deep and REM of one big scope, a sweep over ten thousand scopes, and the memory they take.

Reference of a scope: reading and parsing the same files, in the same process, just before. Reference of the sweep:
the same for the scopes that are due. Compared is processor time, of all threads: on a busy machine the time on the
wall says how busy it is. What texts leave in mind (caches of words and pages) is forgotten before each measurement.
`pause` is the longest time for which the event loop answered nobody. Scopes that are not due have an index and a
heartbeat here, and no more: nothing else of them may be looked at.

Memory is the peak resident size of a process of its own (VmHWM of Linux), for each of three: one that only opens the
scope, one that reads and parses it, one that sleeps.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from memory_core import lexicon
from memory_core.clock import Clock, ManualClock
from memory_core.flush import sameness
from memory_core.forms import heartbeat as heartbeats
from memory_core.forms import journal, record_reading, records
from memory_core.handle import Handle, Handles
from memory_core.ids import GroupScope, scope_of_key
from memory_core.layouts import APM, HEARTBEAT, Form
from memory_core.ledger.sqlite import SqliteLedger
from memory_core.ledger.timers import Timer, Timers
from memory_core.redact import mask as masking
from memory_core.sleep import lines
from memory_core.sleep.due import due, next_due
from memory_core.sleep.report import Stage
from memory_core.sleep.stages import read_heartbeat, sleep, undigested
from memory_core.store.base import PageText
from memory_core.store.files import FileStores
from memory_core.tokens import load_counter
from tests.bench.nights import NIGHT, lay_down, lay_down_small

RECORDS = (500, 2_000)
"""The second is what is asked; the first tells how the cost grows."""
SCOPES = 10_000
DUE = 100
_KEY = "sleep:"

Sweep: TypeAlias = Callable[[Handles, Timers, Clock], Awaitable[int]]
"""Lets every scope sleep whose timer is due; how many did. This one stands here until the program's own is used."""


@dataclass(slots=True)
class Row:
    """One line of the table. `against`: processor time in terms of the reference before it, 0 for a reference."""

    what: str
    cpu_s: float
    wall_s: float
    pause_s: float = 0.0
    against: float = 0.0
    note: str = ""


@asynccontextmanager
async def awake(workspace: Path) -> AsyncIterator[tuple[Handles, Timers, ManualClock]]:
    """Real files and a real ledger, on a clock that stands at night."""
    clock = ManualClock(NIGHT)
    (workspace / ".remem").mkdir(parents=True, exist_ok=True)
    ledger = await SqliteLedger.open(workspace / ".remem/ledger.db", clock)
    stores = FileStores(workspace, APM)
    try:
        yield Handles(stores, ledger, APM, load_counter(), clock, UTC), ledger.timers, clock
    finally:
        await ledger.close()
        stores.close()


async def sweep(handles: Handles, timers: Timers, clock: Clock) -> int:
    """Every scope whose timer rang looks at its heartbeat, sleeps what is due, and sets its timer anew."""
    slept = 0
    for timer in await timers.due(clock.now()):
        if timer.key.startswith(_KEY):
            handle = handles.open(scope_of_key(timer.key.removeprefix(_KEY)))
            beat = await read_heartbeat(handle)
            stages = due(beat, await undigested(handle, UTC, beat), clock.now())
            for stage in stages:
                report = await sleep(handle, stage, UTC)
                assert not report.problem, report.problem
            slept += bool(stages)
            moment = next_due(await read_heartbeat(handle), clock.now())
            await timers.set(Timer(timer.key, moment, timer.about))
    return slept


async def arm(handles: Handles, timers: Timers, names: Sequence[str], now: datetime) -> None:
    """At the first start: each scope's heartbeat says when it is due."""

    async def one(name: str) -> None:
        beat = await read_heartbeat(handles.open(GroupScope(name)))
        await timers.set(Timer(f"{_KEY}group:{name}", next_due(beat, now), ""))

    for at in range(0, len(names), 200):
        await asyncio.gather(*(one(name) for name in names[at : at + 200]))


async def read_and_parse(handle: Handle) -> int:
    """What anybody must do who looks at all of a scope: each file read, records and journals parsed."""
    found = 0
    for page in await handle.store.pages():
        text = await handle.store.read(page)
        if text is not None:
            found += await asyncio.to_thread(_parsed, handle.table.rule(page).form, text)
    return found


def _parsed(form: Form, page: PageText) -> int:
    if form is Form.JOURNAL:
        return len(journal.parse(page.text).notes)
    return len(records.parse(page.text).records)


def forget() -> None:
    """Nothing of what was read is in mind any more."""
    for one in (
        record_reading._parse,
        record_reading._parse_short,
        record_reading._read,
        sameness.words,
        lines.read_day,
    ):
        one.cache_clear()


async def timed(what: str, work: Awaitable[object], reference: Row | None = None) -> tuple[Row, object]:
    """The row of that work, and what it gave."""
    forget()
    pauses: list[float] = []
    watching = asyncio.create_task(_watch(pauses))
    await asyncio.sleep(0.01)
    cpu, wall = time.process_time(), time.perf_counter()
    outcome = await work
    row = Row(what, time.process_time() - cpu, time.perf_counter() - wall)
    await asyncio.sleep(0.005)
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    row.pause_s = max(pauses, default=0.0)
    row.against = row.cpu_s / reference.cpu_s if reference else 0.0
    return row, outcome


async def _watch(pauses: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        pauses.append(time.perf_counter() - began - 0.001)


async def one_scope(count: int) -> list[Row]:
    """Two nights of a scope: the first meets everything, the second, a week later, what a usual one meets."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "w"
        lay_down(workspace, "build", count)
        os.sync()  # else the first commits wait for our own files to reach the disk
        found: list[Row] = []
        async with awake(workspace) as (handles, _, clock):
            handle = handles.open(GroupScope("build"))
            for night in ("first", "next"):
                name = f"{count:,} records, {night} night"
                reference, parsed = await timed(f"{name}: read and parse", read_and_parse(handle))
                found.append(replace(reference, note=f"{parsed} records and lines"))
                for stage in Stage:
                    row, report = await timed(f"{name}: {stage}", sleep(handle, stage, UTC), reference)
                    found.append(replace(row, note=str(getattr(report, "lines", ("",))[0]).partition(": ")[2]))
                clock.advance(timedelta(days=7).total_seconds())
        return found


async def many_scopes(run: Sweep = sweep) -> list[Row]:
    """The first start, which sets all timers; a sweep over all scopes, of which some are due; one when none is."""
    with tempfile.TemporaryDirectory() as folder:
        workspace, names = Path(folder) / "w", [f"g{n}" for n in range(SCOPES)]
        for number, name in enumerate(names):
            is_due = number % (SCOPES // DUE) == 0
            last = NIGHT - timedelta(days=8 if is_due else 1)
            lay_down_small(workspace, name, number, last, empty=not is_due)
        os.sync()
        async with awake(workspace) as (handles, timers, clock):
            beats, _ = await timed(f"{SCOPES:,} heartbeats: read and parse", _beats(handles, names))
            armed, _ = await timed(f"{SCOPES:,} scopes: first start", arm(handles, timers, names, clock.now()), beats)
            owing = [handles.open(GroupScope(name)) for name in names[:: SCOPES // DUE]]
            reference, _ = await timed(f"{DUE} scopes: read and parse", _all(owing))
            swept, count = await timed(f"{SCOPES:,} scopes, {DUE} due: sweep", run(handles, timers, clock), reference)
            assert count == DUE, count
            idle, count = await timed(f"{SCOPES:,} scopes, none due: sweep", run(handles, timers, clock), reference)
            assert count == 0, count
        each = f"{swept.wall_s / DUE * 1000:.0f} ms a scope on the wall"
        return [beats, armed, reference, replace(swept, note=each), idle]


async def _beats(handles: Handles, names: Sequence[str]) -> None:
    for name in names:
        page = await handles.open(GroupScope(name)).store.read(HEARTBEAT)
        heartbeats.parse(page.text if page else None)


async def _all(handles: Sequence[Handle]) -> None:
    for handle in handles:
        await read_and_parse(handle)


async def _alone(does: str, workspace: Path) -> None:
    """In a process of its own: open, and read or sleep; then say how big this process was at most."""
    masking.load()
    lexicon.load()
    async with awake(workspace) as (handles, _, _clock):
        handle = handles.open(GroupScope("build"))
        if does == "read":
            await read_and_parse(handle)
        elif does == "sleep":
            for stage in Stage:
                await sleep(handle, stage, UTC)
    sys.stdout.write(f"{_peak_kib()}\n")


def _peak_kib() -> int:
    """The peak resident size of this process (not ru_maxrss, which a child inherits from whoever started it)."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0])


def peaks(count: int) -> dict[str, float]:
    """Peak memory in MiB by what the process did; empty where the system does not tell. Blocking."""
    if not Path("/proc/self/status").exists():
        return {}
    found = {}
    for does in ("open", "read", "sleep"):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "w"
            lay_down(workspace, "build", count)
            program = [sys.executable, "-m", "tests.bench.sleep", does, str(workspace)]
            told = subprocess.run(program, check=True, capture_output=True, text=True).stdout
            found[does] = int(told) / 1024
    return found


def _shown(rows: Sequence[Row]) -> Table:
    table = Table("what", "processor", "wall", "pause", "against", "", title="sleep")
    for row in rows:
        ratio = f"{row.against:.1f}" if row.against else "reference"
        times = (f"{1000 * one:,.0f} ms" for one in (row.cpu_s, row.wall_s, row.pause_s))
        table.add_row(row.what, *times, ratio, row.note)
    return table


async def main(*, as_json: bool = False) -> None:
    """Measure and print."""
    await asyncio.to_thread(masking.load)
    await asyncio.to_thread(lexicon.load)
    before = os.getloadavg()[0]
    rows = [row for count in RECORDS for row in await one_scope(count)]
    rows += await many_scopes()
    memory = await asyncio.to_thread(peaks, RECORDS[-1])
    load = f"load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores"
    if as_json:
        sys.stdout.write(json.dumps({"rows": [asdict(row) for row in rows], "peak_mib": memory, "load": load}) + "\n")
        return
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(_shown(rows))
    told = ", ".join(f"{does} {mib:.0f} MiB" for does, mib in memory.items())
    console.print(f"peak memory of a process with {RECORDS[-1]:,} records: {told}\n{load}")


if __name__ == "__main__":
    asyncio.run(_alone(sys.argv[1], Path(sys.argv[2])))
