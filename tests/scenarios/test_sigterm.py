"""SIGTERM at every write point, with many rooms in which something waits to be saved: nothing is lost, all ends soon.

One run of each act counts its write points; then, at chosen ones of every kind, the program is told to stop, on a
copy of the same workspace. It must end by itself with exit code 0, leave no temporary file and no traceback, and keep
all that it acknowledged. The program that is started next finds every message either saved or waiting, never both;
what was not acknowledged is delivered again; and when all rooms were saved, everything stands in its page once.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import IO

import pytest

from adapters.messages import Happening, Incoming
from memory_core.clock import ManualClock
from memory_core.flush.plans import Trigger
from memory_core.ids import GroupScope
from memory_core.store.disk import Disk
from tests.memory_core.disks import temporary_files
from tests.scale import scale
from tests.scenarios.damage import unlike
from tests.scenarios.killer import ANY
from tests.scenarios.recording import Events, Spot
from tests.scenarios.stage import ANA, BEN, Stage, rows, stage
from tests.scenarios.terminal import START
from tests.scenarios.terminated import ACTS, SOME, Order, act_of, lesson, spots

ROOT = Path(__file__).parents[2]
ROOMS = scale(500)
WHOLE = scale(20) == 20
RUNS = 100 if WHOLE else 8
EVERY = 35
"""In every so manieth run all rooms are saved at the end, else those of the act and a few more."""

FAR = 50 * ROOMS
"""Writes after which an act that saves all rooms is far enough; what follows is more of the same."""


class Unsynced(Disk):
    """A disk whose writes need not survive the machine: what is laid down for a test, or looked at after it."""

    def sync(self, descriptor: int) -> None:
        """Not needed."""

    def sync_folder(self, descriptor: int) -> None:
        """Not needed."""


@dataclass(slots=True)
class Outcome:
    """What became of one run."""

    took: list[str] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    signalled: float = 0.0
    kind: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    failed: str = ""
    code: int = 99
    took_s: float = 0.0

    def hear(self, told: dict[str, object]) -> bool:
        """One report; False for the last."""
        match told:
            case {"took": str(event)}:
                self.took.append(event)
            case {"said": str(text), "room": str(room)}:
                self.said.append((room, text))
            case {"signalled": float(at), "kind": str(kind), "counts": dict(counts)}:
                self.signalled, self.kind = at, kind
                self.counts = {str(kind): int(count) for kind, count in counts.items()}
            case {"failed": str(why)}:
                self.failed = why
            case {"ended": int(code), "at": float(at)}:
                self.code, self.took_s = code, at - self.signalled
                return False
        return True


class Runs:
    """The process that forks the runs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.scenarios.terminated"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._next() == {"ready": True}

    def _next(self) -> dict[str, object]:
        line = _pipe(self._process.stdout).readline()
        assert line, "the process that forks is gone"
        told: dict[str, object] = json.loads(line)
        return told

    def run(self, order: Order) -> Outcome:
        """One run, to its end. Blocks."""
        _pipe(self._process.stdin).write(order.line())
        outcome = Outcome()
        while outcome.hear(self._next()):
            pass
        return outcome

    def end(self) -> None:
        """No more runs."""
        _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()
        assert self._process.wait(60) == 0


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    """Where runs come from."""
    forks = Runs()
    yield forks
    forks.end()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder for all workspaces of this module, gone at its end: they are many."""
    with TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(scope="module")
def dirty(folder: Path) -> Path:
    """A workspace with many rooms, in each of which something is not saved yet; half of them have an index."""
    workspace = folder / "dirty/w"
    asyncio.run(_lay_down(workspace))
    assert rows(workspace, "SELECT count(*) FROM conversations WHERE newest > cursor") == [(ROOMS,)]
    return workspace


async def _lay_down(workspace: Path) -> None:
    async with stage(workspace, disk=Unsynced()) as on:
        rooms = spots(ROOMS)
        await on.hears(*(on.events.about_room(Happening.JOINED, spot, ANA) for spot in rooms))
        await on.hears(*(on.events.command(spot, ANA, "purpose We build things") for spot in rooms[::2]))
        await on.hears(*(on.events.said(spot, BEN, lesson(number)) for number, spot in enumerate(rooms)))


@pytest.fixture(scope="module")
def crashed(dirty: Path, folder: Path, runs: Runs) -> Path:
    """The same after a crash in the middle of many saves: plans are open."""
    workspace = _copied(dirty, folder / "crashed")
    order = Order(str(workspace), "everywhere", ROOMS, ("ledger DELETE plans", ROOMS // 3), kill=True)
    assert runs.run(order).code == -9
    assert rows(workspace, "SELECT count(*) FROM plans WHERE closed = 0")[0] > (0,)
    return workspace


@pytest.fixture(scope="module")
def older(dirty: Path, folder: Path) -> Path:
    """The same as the first remem would have left it: its ledger is to be migrated."""
    workspace = _copied(dirty, folder / "older")
    with closing(sqlite3.connect(workspace / ".remem/ledger.db")) as ledger:
        ledger.execute("ALTER TABLE written DROP COLUMN after_plan")
        ledger.execute("ALTER TABLE written DROP COLUMN text_id")
        ledger.execute("DROP TABLE usage")
        ledger.execute("DROP TABLE usage_reports")
        ledger.execute("DROP INDEX conversations_room")
        ledger.execute("ALTER TABLE conversations DROP COLUMN heard")
        for column in ("arrived", "revised", "openings"):
            ledger.execute(f"ALTER TABLE scopes DROP COLUMN {column}")
        ledger.execute("PRAGMA user_version = 1")
    return workspace


def _copied(workspace: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(workspace.parent, to)
    return to / workspace.name


# -- one run, and what it left ---------------------------------------------------------------------------------------

BAD_SIGNS = ("Traceback", "never retrieved", "was destroyed", "Exception ignored", "never awaited")


def _ended_well(order: Order, outcome: Outcome) -> None:
    workspace = Path(order.workspace)
    wrote = (workspace.parent / "stderr").read_text("utf-8", "replace")
    assert (outcome.code, outcome.failed) == (0, ""), (order, outcome, wrote)
    assert outcome.signalled, order
    assert not [sign for sign in BAD_SIGNS if sign in wrote], f"{order}\n{wrote}"
    assert not temporary_files(workspace), order
    kept = {event for (event,) in rows(workspace, "SELECT event FROM events")} if _has_ledger(workspace) else set()
    assert set(outcome.took) <= kept, (order, set(outcome.took) - kept)


def _has_ledger(workspace: Path) -> bool:
    return (workspace / ".remem/ledger.db").exists()


def _times(on: Stage, spot: Spot, number: int) -> int:
    return sum(unlike(number)[:23] in title for title in on.titles(_name(spot)))


async def _goes_on(order: Order, outcome: Outcome, *, all_rooms: bool) -> None:
    """The next start: nothing is half done; what the platform delivers again, and what waited, is saved once."""
    workspace, act = Path(order.workspace), act_of(order.act, order.rooms)
    events = Events(ManualClock(START), last=8_000_000)
    clock = ManualClock(START + act.after + timedelta(minutes=1))
    async with stage(workspace, disk=Unsynced(), clock=clock, events=events, raw_days=act.raw_days) as on:
        await on.settled()
        assert rows(workspace, "SELECT count(*) FROM plans WHERE closed = 0") == [(0,)], order
        _saved_or_waiting(on, order)
        await _delivered_again(on, order, outcome)
        touched = {spot.room.key: spot for spot in _spots_of(order)}
        chosen = list(enumerate(spots(order.rooms)))
        if all_rooms:
            on.clock.advance(3 * 3600)
            await on.app.schedule.ring()
        else:
            few = Random(repr(order)).sample(chosen, min(5, len(chosen)))
            chosen = [one for one in chosen if one[1].room.key in touched][:SOME] + few
            for spot in dict.fromkeys([*(spot for _, spot in chosen), *touched.values()]):
                await on.app.saving.save(GroupScope(_name(spot)), Trigger.IDLE)
        for number, spot in chosen:
            assert _times(on, spot, number) == 1, (order, number)
        for incoming, said in act.events:
            if said is not None:
                assert _times(on, Spot(incoming.room), said) == 1, (order, said, outcome.said)
        if order.act == "intake":
            for at, spot in enumerate(spots(order.rooms)[:SOME]):
                assert [_times(on, spot, at * 10 + 10_001 + one) for one in (0, 1)] == [0, 0], (order, at)
    assert not temporary_files(workspace)


def _name(spot: Spot) -> str:
    return spot.room.title.lstrip("#").replace(" ", "-")


def _spots_of(order: Order) -> list[Spot]:
    found = {
        incoming.room.key: Spot(incoming.room) for incoming, _ in reversed(act_of(order.act, order.rooms).events)
    }
    return list(found.values())[:SOME]


def _saved_or_waiting(on: Stage, order: Order) -> None:
    """Every message of before stands in its page once if it is before the cursor, and not at all if it is after."""
    waiting = {
        text
        for (text,) in rows(
            on.workspace,
            """SELECT text FROM messages m JOIN texts t ON t.id = m.text_id JOIN conversations c
                ON c.scope = m.scope AND c.room = m.room AND c.thread = m.thread WHERE m.seq > c.cursor""",
        )
    }
    for number, spot in enumerate(spots(order.rooms)):
        assert _times(on, spot, number) == (0 if lesson(number) in waiting else 1), (order, number)


async def _delivered_again(on: Stage, order: Order, outcome: Outcome) -> None:
    """As a platform does: what was not acknowledged. As a person does: a command that was not answered."""
    answered = Counter(room for room, _ in outcome.said)
    by_room: dict[str, list[Incoming]] = {}
    for incoming, number in act_of(order.act, order.rooms).events:
        if incoming.happening is Happening.COMMAND:
            unanswered = number is not None or "purpose" in incoming.words
            if unanswered and not answered[incoming.room.key]:
                spot = Spot(incoming.room)
                by_room.setdefault(incoming.room.key, []).append(on.events.command(spot, ANA, incoming.words))
        elif incoming.event not in outcome.took:
            by_room.setdefault(incoming.room.key, []).append(incoming)

    async def one_by_one(incomings: list[Incoming]) -> None:
        for incoming in incomings:
            await on.takes(incoming)
            if incoming.happening is Happening.COMMAND:  # a person waits for the answer before going on
                await on.settled()

    await asyncio.gather(*(one_by_one(incomings) for incomings in by_room.values()))
    await on.settled()


# -- the runs --------------------------------------------------------------------------------------------------------


def _chosen(counts: dict[str, dict[str, int]]) -> list[tuple[str, str, int]]:
    """Act, kind and number of each run: every kind once, then again in other acts; its first write, or a later."""
    random = Random(8)
    found = [(act, kind) for act, kinds in counts.items() for kind in kinds if kind != ANY]
    random.shuffle(found)
    first = {kind: (act, kind) for act, kind in found}
    ordered = [*first.values(), *(one for one in found if one not in first.values())]
    return [(act, kind, random.choice((1, random.randint(1, counts[act][kind])))) for act, kind in ordered[:RUNS]]


def test_told_to_stop_at_any_write_it_loses_nothing(
    dirty: Path, crashed: Path, folder: Path, runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    """Point 8 of what is shown: 500 rooms (a thirtieth of them, and of the runs, in the ordinary run)."""
    began = {act: crashed if act == "start" else dirty for act in ACTS}
    points = [(act, ANY, ROOMS * 24 + Random(act).randint(1, 200)) for act in ACTS]
    if WHOLE:
        counts = {}
        for act in ACTS:
            order = Order(str(_copied(began[act], folder / "run")), act, ROOMS, (ANY, FAR))
            outcome = runs.run(order)
            _ended_well(order, outcome)
            counts[act] = outcome.counts
        points = _chosen(counts)
        every = {kind for found in counts.values() for kind in found} - {ANY}
        assert every == {kind for _, kind, _ in points}
    took_s, at_end = list[float](), 0
    for number, (act, kind, nth) in enumerate(points):
        workspace = _copied(began[act], folder / "run")
        order = Order(str(workspace), act, ROOMS, (kind, nth), late=number % 2 == 1, twice=number % 3 == 1)
        outcome = runs.run(order)
        _ended_well(order, outcome)
        asyncio.run(_goes_on(order, outcome, all_rooms=number % EVERY == 0))
        took_s.append(outcome.took_s)
        at_end += outcome.kind == "the end"
    _print(capsys, f"{len(points)} runs, {at_end} of them after the act's last write,", took_s)
    assert at_end * 2 < len(points)


def _print(capsys: pytest.CaptureFixture[str], what: str, took_s: list[float]) -> None:
    took_s.sort()
    with capsys.disabled():
        sys.stdout.write(
            f"\n{what} {ROOMS} rooms waiting: from SIGTERM to the end p50 {took_s[len(took_s) // 2]:.2f} s, "
            f"max {took_s[-1]:.2f} s\n"
        )


@pytest.mark.parametrize(
    ("act", "hangs"), [("turns", "agent"), ("turns", "stubborn"), ("turns", "thread"), ("idle", "extractor")]
)
def test_nothing_that_hangs_is_waited_for(
    dirty: Path, folder: Path, runs: Runs, capsys: pytest.CaptureFixture[str], act: str, hangs: str
) -> None:
    order = Order(str(_copied(dirty, folder / "run")), act, ROOMS, hangs=hangs)
    outcome = runs.run(order)
    _ended_well(order, outcome)
    asyncio.run(_goes_on(order, outcome, all_rooms=False))
    _print(capsys, f"a hanging {hangs},", [outcome.took_s])


def test_told_to_stop_while_it_starts(
    older: Path, folder: Path, runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    """An older ledger is being migrated; or nothing stands yet, and all is being laid down."""
    took_s = []
    kinds = ("ledger ALTER", "ledger COMMIT", "ledger UPDATE conversations", "ledger CREATE")
    for number, kind in enumerate(kinds if WHOLE else kinds[:2]):
        order = Order(str(_copied(older, folder / "run")), "start", ROOMS, (kind, 1), late=number % 2 == 0)
        outcome = runs.run(order)
        _ended_well(order, outcome)
        assert outcome.kind == kind
        asyncio.run(_goes_on(order, outcome, all_rooms=False))
        took_s.append(outcome.took_s)
    for nth in range(1, 60, 1 if WHOLE else 25):
        shutil.rmtree(folder / "run")
        (folder / "run").mkdir()
        order = Order(str(folder / "run/w"), "start", 0, (ANY, nth), late=nth % 2 == 0)
        outcome = runs.run(order)
        _ended_well(order, outcome)
        took_s.append(outcome.took_s)
        asyncio.run(_goes_on(order, outcome, all_rooms=True))
    _print(capsys, f"{len(took_s)} starts,", took_s)
