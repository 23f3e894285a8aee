"""The process that is killed in its sleep: the program on a real workspace, started afresh by a fork for each life.

    python -m tests.scenarios.killed_sleep        orders in (one line of JSON each), reports out (lines of JSON)

A life opens the workspace as the program does at its start, which finishes what was left half done, tells what then
stands (`stands`), and does what it is told:

    prepare     two scopes, a group's and the owner's, get pages of records, an archive and journals of a month
    deep, rem   each scope sleeps that stage, if its heartbeat says that it is due
    undo        each scope takes its last sleep back
    check       each scope tells what is due for it, sleeps all the same, and takes its last sleep back
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import NoReturn

from bot.app import App, opened
from memory_core import lexicon
from memory_core.candidates import Value
from memory_core.catalogue import rebuild_catalogue
from memory_core.clock import ManualClock
from memory_core.first_join import ensure_index
from memory_core.flush.undo import undo
from memory_core.forms import journal
from memory_core.forms.archive import Archived, title_of
from memory_core.forms.records import Record, Source, render
from memory_core.handle import Handle
from memory_core.ids import DirectScope, GroupScope, MessageKey, PageId, PersonKey, RoomKey, Scope, message_key
from memory_core.layouts import Kind
from memory_core.sleep.due import due
from memory_core.sleep.report import Stage
from memory_core.sleep.stages import read_heartbeat, sleep, undigested
from memory_core.store.base import Change
from memory_core.tokens import load_counter
from tests.scenarios.damage import unlike
from tests.scenarios.killer import KilledDisk, Killer, Point, Report, SqliteCalls, reporter, watch
from tests.scenarios.terminal import settings

LIFE_S = 120
"""After this a life is ended by the system: it hangs."""
NIGHT = datetime(2026, 9, 1, 3, tzinfo=UTC)
ROOM = RoomKey("discord:10")
OWNER = PersonKey("discord:2")
SCOPES: tuple[Scope, ...] = (GroupScope("build"), DirectScope(OWNER, owner=True))
FACTS = range(1, 41)
"""The numbers of what is known in each scope; the owner's are a thousand higher."""


@dataclass(frozen=True, slots=True)
class Order:
    """One life: what it does, on which workspace and layout; `chosen` is where it dies."""

    workspace: str
    layout: str
    does: str
    life: int = 0
    chosen: tuple[str, int, str] | None = None
    watched: bool = False

    def line(self) -> bytes:
        """As it is sent."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> Order:
        """As it was sent."""
        told = json.loads(line)
        told["chosen"] = tuple(told["chosen"]) if told["chosen"] else None
        return cls(**told)


def contents(workspace: Path) -> dict[str, str]:
    """The hash of every page; of an index without what says how its pages are, which follows from them."""
    found = {}
    for path in sorted(workspace.rglob("*.md")):
        text = path.read_bytes()
        if b"<!-- remem:catalogue" in text:
            text = text.partition(b"<!-- remem:catalogue")[0]
        found[str(path.relative_to(workspace))] = hashlib.sha256(text).hexdigest()[:16]
    return found


def _source(number: int, days_ago: int, by: str = "1") -> Source:
    key = message_key(ROOM, f"{number}")
    at = f"{(NIGHT - timedelta(days=days_ago)).date().isoformat()} 10:00"
    return Source(f"discord:{by}", "ana" if by == "1" else "ben", "#build", at, (key,))


def _known(
    number: int, title: str, days_ago: int, *, hits: int = 0, value: Value = Value.MEDIUM, by: str = "1"
) -> Record:
    day = (NIGHT - timedelta(days=days_ago)).date()
    return Record(day, title, "", (), day, hits, value, (_source(number, days_ago, by),))


def records(base: int) -> list[Record]:
    """Something of everything that REM has to do with: see the comments."""
    plain = [_known(base + n, f"{unlike(base + n)} stays", n) for n in range(1, 21)]
    return [
        *plain,
        _known(base + 21, f"{unlike(base + 21)} went to Buildkite", 1),  # the same twice
        _known(base + 22, f"{unlike(base + 21)} is on Buildkite now", 9, hits=2),
        _known(base + 23, f"{unlike(base + 23)} alerts are off", 1),  # superseded, by the same person
        _known(base + 24, f"{unlike(base + 23)} alerts are on", 5),
        _known(base + 25, f"{unlike(base + 25)} keys in the safe", 1),  # in conflict
        _known(base + 26, f"no {unlike(base + 25)} keys in the safe", 2, by="3"),
        _known(base + 27, f"{unlike(base + 27)} is loved", 3, hits=5),  # proven
        _known(base + 28, f"{unlike(base + 28)} is old", 100),  # leaves by age
        *(_known(base + n, f"{unlike(base + n)} is light", 40 + n, value=Value.LOW) for n in range(29, 33)),
        *(_known(base + n, f"{unlike(base + n)} fills the page", 30, value=Value.LOW) for n in range(50, 90)),
    ]


def archive(base: int, home: PageId) -> str:
    """One record that was used since it left, and one that was not."""
    gone = Archived((NIGHT - timedelta(days=30)).date(), 41, home)
    blocks = []
    for number, used in ((33, 2), (34, 90)):
        one = _known(base + number, f"{unlike(base + number)} was away", 95)
        last = (NIGHT - timedelta(days=used)).date()
        blocks.append(
            render(Record(one.day, one.title, "", (), last, 1, Value.MEDIUM, one.sources, archived=str(gone)))
        )
    return f"{title_of('2026-08')}\n\n" + "\n".join(blocks)


def _note(base: int, number: int, text: str, part: journal.Part, by: str = "ana") -> journal.Note:
    keys = (MessageKey(message_key(ROOM, f"{base + number}")),)
    return journal.Note(part.value, text, by, "14:02 +00:00", "discord:1", keys)


def journals(base: int) -> dict[str, str]:
    """Three old journals and two new ones, with decisions, a recurring line and a person's own words."""
    told = {
        "2026-08-02": [(35, f"we decided on {unlike(base + 35)}", journal.Part.DECISIONS)],
        "2026-08-11": [(36, f"we decided on {unlike(base + 36)}", journal.Part.DECISIONS)],
        "2026-08-18": [(37, f"{unlike(base + 37)} likes tea", journal.Part.LEARNED)],
        "2026-08-30": [(38, f"lint with {unlike(base + 38)}", journal.Part.LEARNED)],
        "2026-08-31": [
            (39, f"lint with {unlike(base + 38)}", journal.Part.LEARNED),
            (5, f"{unlike(base + 5)} stays", journal.Part.DECISIONS),
        ],
    }
    texts = {}
    for day, lines in told.items():
        notes = [_note(base, number, text, part) for number, text, part in lines]
        text = journal.append(journal.new_journal(day, "+00:00"), "14:30 +00:00", notes)
        texts[day] = text + (f"\nBy hand: {unlike(base + 40)}\n" if day == "2026-08-30" else "")
    return texts


async def _prepare(handle: Handle, base: int) -> None:
    """Lay down the pages of one scope."""
    await ensure_index(handle, UTC, rooms=[ROOM] if isinstance(handle.scope, GroupScope) else [])
    home = handle.table.home_of(Kind.DECISION)
    assert home is not None
    section = handle.table.section_of.get(Kind.DECISION, "")
    blocks = [render(record, level=3 if section else 2) for record in records(base)]
    text = f"# {home}\n\n" + (f"## {section}\n\n" if section else "") + "\n".join(blocks)
    standing = await handle.store.read(home)
    await handle.store.commit([Change(home, text, standing.stamp if standing else None)])
    await handle.store.commit([Change(PageId("archive/2026-08"), archive(base, home), None)])
    for day, note in journals(base).items():
        await handle.store.commit([Change(PageId(f"journal/{day}"), note, None)])
    await rebuild_catalogue(handle)


class Life:
    """One process."""

    def __init__(self, order: Order, killer: Killer) -> None:
        self._order = order
        self._killer = killer
        self._workspace = Path(order.workspace)

    async def live(self) -> None:
        """From the start of the program to its end."""
        async with self._opened() as app:
            self._killer.report(stands=await asyncio.to_thread(contents, self._workspace))
            handles = [app.parts.handles.open(scope) for scope in SCOPES]
            if self._order.does == "check":
                for handle in handles:
                    await self._again(handle)
                self._killer.report(again=await asyncio.to_thread(contents, self._workspace))
            for number, handle in enumerate(handles):
                match self._order.does:
                    case "prepare":
                        await _prepare(handle, number * 1000)
                    case "undo" | "check":
                        beat = await read_heartbeat(handle)
                        if beat.undone_deep is None and beat.undone_rem is None:
                            await undo(handle)  # of one step: a life after a kill must not go on to the one before
                    case stage:
                        await self._night(handle, Stage(stage))

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[App]:
        order, numbers = self._order, count(1)
        async with opened(
            settings(self._workspace, owner=str(OWNER), layout=order.layout),
            clock=ManualClock(NIGHT),
            zone=UTC,
            new_id=lambda: f"{order.life}-{next(numbers)}",
            known=self._workspace.parent / "state/workspaces.json",
            disk=KilledDisk(self._killer, order.life),
            ledger_faults=self._killer.hear,
        ) as app:
            yield app

    async def _night(self, handle: Handle, stage: Stage) -> None:
        """What the schedule does: it looks at the heartbeat, and sleeps if that is due."""
        beat = await read_heartbeat(handle)
        if stage in due(beat, await undigested(handle, UTC, beat), NIGHT):
            await self._sleep(handle, stage)

    async def _again(self, handle: Handle) -> None:
        """What is due; and what a stage that is not due does all the same."""
        beat = await read_heartbeat(handle)
        found = due(beat, await undigested(handle, UTC, beat), NIGHT)
        self._killer.report(due=[stage.value for stage in found])
        for stage in Stage:
            if stage not in found:
                await self._sleep(handle, stage)

    async def _sleep(self, handle: Handle, stage: Stage) -> None:
        report = await sleep(handle, stage)
        did = {name: value for name, value in asdict(report).items() if isinstance(value, int) and value}
        self._killer.report(slept=f"{handle.scope.key} {stage}", problem=report.problem, did=did)


def _born(order: Order, report: Report, calls: SqliteCalls) -> NoReturn:
    """In the forked process: live, and end without a word to anybody else's files."""
    signal.alarm(LIFE_S)
    killer = Killer(report, Point(*order.chosen) if order.chosen else None)
    calls.killer = killer
    if order.watched:
        watch(killer, Path(order.workspace))
    try:
        asyncio.run(Life(order, killer).live())
        report(counts=dict(killer.counts))
    except BaseException:  # noqa: BLE001  # the process ends here; whoever gave the order hears why
        report(failed=traceback.format_exc()[-3000:])
    finally:
        os._exit(0)


def main() -> None:
    """Load what all lives need, then take orders until there are none."""
    report = reporter(os.dup(1))
    os.dup2(2, 1)  # whatever prints goes where errors go
    calls = SqliteCalls()
    load_counter().count("warm")
    lexicon.load()  # the masks are loaded by each life: their library has threads, which a fork would lose
    gc.collect()
    gc.freeze()  # what is loaded stays as it is, and is not copied for each life
    report(ready=calls.reached)
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            _born(Order.of(line), report, calls)
        _, status = os.waitpid(child, 0)
        report(ended=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
