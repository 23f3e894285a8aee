"""From a message to its finished disclosure, as the memory grows and as other memories are added.

    python -m tests.bench latency [--messages 400] [--sizes 10x100,100x100,1000x100,1x1000,1x10000] [--json F]

`100x100` is a workspace of its own with 100 groups of 100 memories each (tests/bench/memories says what a memory is).
A message goes from its room to the scope, through the handle and the gate, to a disclosure: what bot/turn does before
it asks the agent. It begins a conversation (`first`: strict, one page; `excerpts`), or goes on with one (`later`).
The search is the agent's own. Before that every group was asked once: `woken` is what that first question costs.

The floor is measured in the same run, each message after some of ours, in the same workspace (tests/bench/floor).
On a busy machine the time on the wall says how busy it is: then compare the processor's, of all threads.
Targets: p50 of first at 100x100 at most 3 times the floor's; p95 at 1000x100 at most 2 times that at 10x100. Where
mem0 or memsearch are installed, they are measured beside (tests/bench/peers).
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from pathlib import Path
from random import Random
from typing import TypeAlias

from rich.table import Table

from bot.app import App
from memory_core.disclosure import Disclosure
from memory_core.handle import Handle
from memory_core.loading import Mode, disclose, search_memory
from memory_core.session import Session
from tests.bench import peers
from tests.bench.figures import at, console, keep, ms, parser, quiet, ratio
from tests.bench.floor import Floor
from tests.bench.memories import ANA, Group, lay_down_groups
from tests.bench.nights import NIGHT
from tests.bench.rooms_on_disk import opened_on, place_of

SIZES = "10x100,100x100,1000x100,1x1000,1x10000"
FLOOR = "floor"
KINDS = ("first", "excerpts", "later", "search")
SETTLED_S = 2.5
"""Search reads a file again whose times are younger than two seconds; what is measured was laid down long ago."""
AGAINST_FLOOR, AGAINST_FEW = 3.0, 2.0


class Talker:
    """Sends messages to random groups of a workspace."""

    def __init__(self, app: App, groups: Sequence[Group], seed: int = 5) -> None:
        self._app = app
        self._groups = groups
        self._random = Random(seed)
        self._going_on: dict[str, Session] = {}

    def pick(self) -> tuple[Group, str]:
        """A group and what it is asked."""
        group = self._random.choice(self._groups)
        return group, group.question(self._random)

    async def handle(self, name: str) -> Handle:
        """The way from a room to its memory."""
        scope = (await self._app.parts.rooms.place(place_of(name, direct=False), ANA)).scope
        assert scope is not None
        return self._app.parts.handles.open(scope)

    async def ask(self, kind: str, group: Group, question: str) -> Disclosure:
        """A message of one of KINDS; `later` goes on with a conversation that saw one disclosure (`begin`)."""
        handle = await self.handle(group.name)
        if kind == "search":
            return await search_memory(handle, Session(), question, title=group.name)
        session = self._going_on[group.name] if kind == "later" else Session()
        mode = Mode.EXCERPTS if kind == "excerpts" else Mode.STRICT
        return await disclose(handle, session, question, title=group.name, mode=mode)

    async def begin(self, group: Group) -> None:
        """Begin a conversation that `later` goes on with."""
        if group.name not in self._going_on:
            self._going_on[group.name] = Session().with_(await self.ask("first", group, group.question(self._random)))


Cost: TypeAlias = tuple[float, float]
"""Seconds on the wall, and of the processor in all threads."""


async def timed(work: Awaitable[object]) -> Cost:
    """What it costs."""
    cpu, began = time.process_time(), time.perf_counter()
    await work
    return time.perf_counter() - began, time.process_time() - cpu


def told_of(costs: Sequence[Cost]) -> dict[str, float]:
    """p50 and p95 on the wall, and p50 of the processor's time, in seconds."""
    wall, cpu = [one[0] for one in costs], [one[1] for one in costs]
    return {"p50": at(wall, 0.5), "p95": at(wall, 0.95), "cpu": at(cpu, 0.5)}


async def measured(app: App, groups: Sequence[Group], floor: Floor, messages: int) -> dict[str, list[Cost]]:
    """What each message costs, by kind; the floor beside each; and the first question of every group."""
    talker, times = Talker(app, groups), defaultdict[str, list[Cost]](list)
    for group in groups:
        times["woken"].append(await timed(talker.ask("search", group, group.question(Random(group.name)))))
    for _ in range(messages):
        for kind in KINDS:
            group, question = talker.pick()
            await talker.begin(group)
            times[kind].append(await timed(talker.ask(kind, group, question)))
        group, question = talker.pick()
        page = next(page for page, _ in group.texts if page != "ledger")
        room = str(place_of(group.name, direct=False).key)
        times[FLOOR].append(await timed(floor.answer(room, question, page)))
    return times


async def one_size(groups: int, each: int, messages: int) -> tuple[dict[str, dict[str, float]], tuple[Group, ...]]:
    """p50 and p95 in seconds by kind, in a workspace of its own (`built`: how long that took); and the groups."""
    with tempfile.TemporaryDirectory() as folder:
        workspace, began = Path(folder) / "w", time.perf_counter()
        async with opened_on(workspace, durable=False) as (app, clock):
            laid = await lay_down_groups(app, clock, groups, each)
        floor = await asyncio.to_thread(Floor, workspace, Path(folder) / "floor.db", laid)
        built_s = time.perf_counter() - began
        os.sync()  # else the first commits wait for our own files to reach the disk
        await asyncio.sleep(SETTLED_S)
        try:
            async with opened_on(workspace) as (app, clock):
                clock.move_to(NIGHT)
                times = await measured(app, laid, floor, messages)
        finally:
            floor.close()
    figures = {kind: told_of(own) for kind, own in times.items()}
    return figures | {"built": {"p50": built_s}}, laid


Sized = dict[str, dict[str, dict[str, float]]]


def told(sizes: Sized) -> dict[str, object]:
    """The two ratios that are asked, where their sizes were measured."""
    found: dict[str, object] = {}
    if middle := sizes.get("100x100"):
        for kind in KINDS:
            found[f"{kind}: p50 against the floor, 100x100"] = ratio(middle[kind]["p50"], middle[FLOOR]["p50"])
    if {"10x100", "1000x100"} <= set(sizes):
        for kind in (FLOOR, *KINDS):
            few, many = sizes["10x100"][kind]["p95"], sizes["1000x100"][kind]["p95"]
            found[f"{kind}: p95 of 1,000 groups against 10"] = ratio(many, few)
    return found


def _shown(sizes: Sized) -> Table:
    table = Table(
        "groups x memories",
        "message",
        "p50",
        "p95",
        "p50 against floor",
        "processor",
        "against floor",
        title="message to disclosure",
    )
    for size, kinds in sizes.items():
        for kind in (FLOOR, *KINDS, "woken"):
            own, floor = kinds[kind], kinds[FLOOR]
            against = "reference" if kind == FLOOR else f"{ratio(own['p50'], floor['p50']):.2f}"
            cpu = "reference" if kind == FLOOR else f"{ratio(own['cpu'], floor['cpu']):.2f}"
            table.add_row(size, kind, ms(own["p50"]), ms(own["p95"]), against, ms(own["cpu"]), cpu)
        table.add_row(size, "laid down", f"{kinds['built']['p50']:.0f} s", end_section=True)
    return table


def main(arguments: Sequence[str] = ()) -> int:
    """`latency` of the command line."""
    options = parser("latency", __doc__)
    options.add_argument("--messages", type=int, default=400, help="so many of each kind, and as many of the floor")
    options.add_argument("--sizes", default=SIZES, help="groups x memories in each, comma separated")
    given = options.parse_args(list(arguments))
    quiet()
    sizes: Sized = {}
    beside: peers.Told = {}
    for size in given.sizes.split(","):
        groups, _, each = size.partition("x")
        sys.stderr.write(f"{size} …\n")
        sizes[size], laid = asyncio.run(one_size(int(groups), int(each), given.messages))
        if size == given.sizes.split(",")[0]:
            beside = peers.beside(laid, given.messages)
    screen, ratios = console(), told(sizes)
    screen.print(_shown(sizes))
    for what, value in ratios.items():
        screen.print(f"{what}: {value:.2f}")
    screen.print(peers.shown(beside))
    keep(given.json, {"sizes": sizes, "ratios": ratios, "peers": beside})
    return 0
