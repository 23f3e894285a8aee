"""The undoable steps of a scope: what the last closed plan holds, and the plan of the next one.

A flush with content begins the chain anew; a quiet step, a correction, or a sleep stands before those that came
before it, so that undo can take each of them back once, newest first, down to the last flush. With a sleep a chain is
at most MOST long: a quiet room sleeps again and again, and every plan bears its chain. What was written at once is no
plan: its way back lies with its mark in the ledger and finds its place in the chain by the plan after which it was
written (`chain`). The flush that counts it takes it, and the corrections of that time, into the chain behind itself:
undo takes the flush back, then these, the newest KEPT_STEPS of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_core.errors import LedgerDamaged, PageBlocked
from memory_core.flush.draft import Draft
from memory_core.flush.plans import Body, Passed, Step, Waiting, dump, load, load_step, told_by
from memory_core.forms.flush_state import FlushState
from memory_core.handle import Handle
from memory_core.ids import Conversation, MessageKey
from memory_core.layouts import FLUSH_STATE
from memory_core.ledger.base import Plan, ScopeLedger, WayBack
from memory_core.store.base import PageText

MOST = 6
"""How many steps back undo goes at most from a sleep."""
KEPT_STEPS = 20
"""How many steps a flush keeps from before itself; each holds what it changed."""


@dataclass(frozen=True, slots=True)
class LastStep:
    """The newest closed plan, and what of it goes on; nothing where there is none, or none that can be read."""

    plan: Plan | None
    steps: tuple[Step, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    passed: tuple[Passed, ...] = ()

    def id_of(self, number: int) -> str:
        """The id of the next plan under that number: `7.0`, or a further part of it (`7.1`)."""
        same = self.plan is not None and self.plan.number == number
        return f"{number}.{1 + int(self.plan.id.partition('.')[2] or 0) if same and self.plan else 0}"


async def last_step(ledger: ScopeLedger) -> LastStep:
    """What the scope's last closed plan left. Raises LedgerError."""
    plan = await ledger.last_plan()
    if plan is None:
        return LastStep(None)
    try:
        body = load(plan.operations)
    except LedgerDamaged:
        return LastStep(plan)
    return LastStep(plan, body.steps, body.waiting, body.passed)


def chain(last: LastStep, ways: Sequence[WayBack]) -> tuple[Step, ...]:
    """Every step that can be taken back, newest first: those of plans, and what was written at once (`ways`).

    What was taken back already, or has no way back that can be read, is left out.
    """
    done = {one.message for one in last.passed}
    found: list[Step] = []
    once = [(_place(way.after), step) for way in reversed(ways) if (step := _way(way, done)) is not None]
    for step in last.steps:
        while once and once[0][0] >= _place(step.plan):
            found.append(once.pop(0)[1])
        found.append(step)
    return (*found, *(step for _, step in once))


def _way(way: WayBack, done: Collection[MessageKey]) -> Step | None:
    step = None if way.message in done else load_step(way.back)
    return step if step is not None and step.inverses else None


def passed_of(way: WayBack) -> tuple[Passed, ...]:
    """What was written at once, as a flush passes it over, statement by statement."""
    step = load_step(way.back)
    if step is None:
        return (Passed(way.message, way.page),)
    told = ((way.page, step.text), *step.also)
    return tuple(Passed(way.message, page, text.partition("/")[2]) for page, text in told)


def _place(plan: str) -> tuple[int, int]:
    """Plan ids in the order in which plans are made; no plan comes before all."""
    number, _, part = plan.partition(".")
    return (int(number), int(part or 0)) if number.isdecimal() and (part or "0").isdecimal() else (-1, -1)


def _since_last_flush(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps before the first flush or sleep, as many as are kept."""
    found = []
    for step in steps:
        if step.begins:
            break
        found.append(step)
    return tuple(found[:KEPT_STEPS])


async def state_text(handle: Handle) -> PageText | None:
    """The state file; None where there is none, or something else in its place. Raises StoreError."""
    try:
        return await handle.store.read(FLUSH_STATE)
    except PageBlocked:
        return None


async def divided(handle: Handle, waiting: Sequence[Waiting]) -> tuple[tuple[Waiting, ...], tuple[Waiting, ...]]:
    """What waits: that whose page can be written now, and the rest. Raises StoreError."""
    damaged = set()
    for page in dict.fromkeys(one.operation.page for one in waiting):
        try:
            standing = await handle.store.read(page)
        except PageBlocked:
            damaged.add(page)
            continue
        if standing is not None and standing.bad_bytes:
            damaged.add(page)
    ready = tuple(one for one in waiting if one.operation.page not in damaged)
    return ready, tuple(one for one in waiting if one.operation.page in damaged)


def next_plan(
    last: LastStep,
    state: FlushState,
    body: Body,
    draft: Draft,
    cursors: Mapping[Conversation, int],
    *,
    at_once: int = 0,
    correction: bool = False,
) -> Plan:
    """The plan of a draft under its number: a new one for content, else the last one's with a further part.

    `body.steps` are those that came before, of plans and of what this one covers.
    """
    number = max(state.flush_number, last.plan.number if last.plan else 0) + (1 if body.content else 0)
    step = Step(
        number,
        dict(draft.kinds),
        draft.exact(),
        tuple(draft.inverses),
        told_by(state),
        body.pending,
        quiet=not body.content and not correction,
        correction=correction,
        at_once=at_once,
        plan=last.id_of(number),
    )
    before = _since_last_flush(body.steps) if body.content else body.steps
    nothing = step.quiet and not step.inverses and step.pending == state.pending_items
    steps = before if nothing else (step, *before)
    receipt = replace(body.receipt, number=number)
    body = replace(body, receipt=receipt, steps=steps, results=draft.results())
    return Plan(last.id_of(number), number, dump(body), cursors)
