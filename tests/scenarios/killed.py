"""The process that is killed: the whole program on a real workspace, started afresh by a fork for each life.

    python -m tests.scenarios.killed        orders in (one line of JSON each), reports out (lines of JSON)

This process itself opens nothing: it loads what every life needs, and forks. A life plays an act from one of its
steps, tells what it begins, what became durable (`took`), what it said, and what it did, and ends by itself or is
killed at the chosen point; then the last report about it is `ended`. After a kill the next life begins with the step
that was interrupted: as a platform does, it delivers what was not taken (or, told `again`, everything); as a person
does, it repeats a command that was not answered, unless a look at memory shows that it was done.
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
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import NoReturn

from adapters.messages import Incoming, Outgoing, Sent
from bot.agent import Ask, Doors, Reply, Show
from bot.app import opened
from bot.offline import OfflineAgent
from memory_core import lexicon
from memory_core.clock import ManualClock
from memory_core.flush.plans import Trigger
from memory_core.handle import Handles
from memory_core.ledger.usage import Purpose, Usage
from memory_core.redact import mask as masking
from memory_core.tokens import load_counter
from tests.scenarios.killed_checks import standing, times
from tests.scenarios.killed_script import ACTS, OWNER, Act, Step, begins, events_of, home_of, incomings, time_of
from tests.scenarios.killer import KilledDisk, Killer, Point, Report, SqliteCalls, reporter, watch
from tests.scenarios.recording import RecordingAdapter
from tests.scenarios.stage import ANA, BEN, Stage
from tests.scenarios.terminal import settings

LIFE_S = 60
"""After this a life is ended by the system: it hangs."""


@dataclass(frozen=True, slots=True)
class Order:
    """One life. `took` are the events of the step `begins_with` that were taken, `said`: its answer was given."""

    workspace: str
    act: int
    life: int = 0
    begins_with: int = 0
    took: tuple[str, ...] = ()
    said: bool = False
    again: bool = False
    chosen: tuple[str, int, str] | None = None
    watched: bool = False

    def line(self) -> bytes:
        """As it is sent."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> Order:
        """As it was sent."""
        told = json.loads(line)
        told["took"] = tuple(told["took"])
        told["chosen"] = tuple(told["chosen"]) if told["chosen"] else None
        return cls(**told)


class TellingAdapter(RecordingAdapter):
    """Tells what the bot says when it is said, and in which step."""

    def __init__(self, report: Report, own: str, step: int) -> None:
        numbers = count(1)
        super().__init__("discord", lambda: f"{own}-{next(numbers)}", admins=frozenset({ANA.key, BEN.key}))
        self._report = report
        self.step = step

    async def send(self, outgoing: Outgoing) -> Sent:
        """Out it goes, and cannot be taken back."""
        sent = await super().send(outgoing)
        self._report(said=outgoing.text[:400], step=self.step)
        return sent


class Paying:
    """The offline agent as one that costs something: what an answer used goes into the ledger before it is given."""

    handles: Handles

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """The answer, paid for."""
        reply = await OfflineAgent().reply(ask, doors, show)
        usage = Usage(ask.now.date(), Purpose.REPLY, "some:model", input_tokens=200, counted_tokens=180)
        await self.handles.open(ask.scope).ledger.usage.spend(usage)
        return reply


class Life:
    """One process: an act, from a step on."""

    def __init__(self, order: Order, killer: Killer) -> None:
        self._order = order
        self._act: Act = ACTS[order.act]
        self._killer = killer
        self._workspace = Path(order.workspace)

    async def live(self) -> None:
        """From the start of the program to its end."""
        order = self._order
        async with self._stage() as (on, platform):
            await on.settled()
            for number in range(order.begins_with, len(self._act.steps)):
                platform.step = number
                on.clock.move_to(time_of(self._act, number))
                self._killer.report(begins=number)
                await self._play(on, number)
                await on.settled()
                self._killer.report(done=number)

    @asynccontextmanager
    async def _stage(self) -> AsyncIterator[tuple[Stage, TellingAdapter]]:
        order, act = self._order, self._act
        own = f"{order.act}-{order.life}"
        clock = ManualClock(begins(act) if order.begins_with == 0 else time_of(act, order.begins_with - 1))
        platform = TellingAdapter(self._killer.report, own, order.begins_with)
        numbers, agent = count(1), Paying()
        async with opened(
            settings(self._workspace, owner=str(OWNER), sleep="off"),  # test_kill_sleep.py kills what sleeps
            clock=clock,
            zone=UTC,
            agent=agent,
            new_id=lambda: f"{own}-{next(numbers)}",
            known=self._workspace.parent / "state/workspaces.json",
            disk=KilledDisk(self._killer, order.act * 16 + order.life),
            ledger_faults=self._killer.hear,
        ) as app:
            agent.handles = app.parts.handles
            app.add(platform)
            await app.take_up()
            await app.upkeep.sweep()  # as the program does right after its start
            running = asyncio.create_task(platform.run(app.turn.take_in))
            await asyncio.sleep(0)
            await app.turn.answer_owed(platform.platform)
            try:
                yield Stage(app, clock, events_of(act, order.begins_with), platform, self._workspace), platform
            finally:
                await app.parts.conversations.close()
                await platform.close()
                await running

    async def _play(self, on: Stage, number: int) -> None:
        step = self._act.steps[number]
        redone = self._order.life > 0 and number == self._order.begins_with
        match step.does:
            case "silence":
                on.clock.advance(0)
                await on.app.schedule.ring()
            case "sweep":
                await on.app.upkeep.sweep()
            case "save":
                for scope in await on.app.parts.intake.scopes():
                    await on.app.saving.save(scope, Trigger.COMMAND)
                    self._killer.report(saved=scope.key)
            case "hand":
                await asyncio.to_thread(self._edit_by_hand, step)
            case "command" if redone and (self._order.said or await asyncio.to_thread(self._is_done, step)):
                return
            case _:
                await self._deliver(on, await self._events(on, number), redone)

    async def _events(self, on: Stage, number: int) -> tuple[Incoming, ...]:
        """The step's events; an answer to the bot's question tells what it answers."""
        made = incomings(self._act, number, self._order.life)
        if self._act.steps[number].does != "answer":
            return made
        question = (await on.app.parts.intake.room(self._act.steps[number].spot.room.key)).purpose_question
        return tuple(replace(one, reply_to=question) for one in made)

    async def _deliver(self, on: Stage, events: tuple[Incoming, ...], redone: bool) -> None:
        """What the platform still has to deliver, at one moment."""
        order = self._order
        left = [one for one in events if not redone or order.again or one.event not in order.took]
        await asyncio.gather(*(self._hand_in(on, one) for one in left))

    async def _hand_in(self, on: Stage, incoming: Incoming) -> None:
        (taken,) = await on.takes(incoming)
        if taken.durable:
            self._killer.report(took=incoming.event)

    def _is_done(self, step: Step) -> bool:
        """Does memory show that a step back was done already? (Everything else may be asked for twice.)"""
        if step.text != "undo" and not step.text.startswith("correct "):
            return False
        found = standing(self._workspace / home_of(step.spot))
        return not any(times(found, fact) for fact in step.drops)

    def _edit_by_hand(self, step: Step) -> None:
        """A person adds a record at the end of a page, in an editor that replaces the file."""
        page = self._workspace / home_of(step.spot) / "experience.md"
        text = page.read_text("utf-8") + f"\n## [2026-04-01] {step.text}\n- Body: {step.text}, by hand.\n"
        draft = page.with_suffix(".swp")
        draft.write_text(text, "utf-8")
        self._killer.report(put=str(page), sha256=hashlib.sha256(text.encode()).hexdigest())
        draft.replace(page)


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
    masking.load()
    lexicon.load()
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
