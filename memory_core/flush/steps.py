"""The undoable steps of a scope: what the last closed plan holds, and the plan of the next one.

A flush with content begins the chain anew; a quiet one, a correction, or a sleep stands before those that came
before it, so that undo can take each of them back once, newest first, down to the last flush. With a sleep a chain is
at most MOST long: a quiet room sleeps again and again, and every plan bears its chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory_core.errors import LedgerDamaged, PageBlocked
from memory_core.flush.draft import Draft
from memory_core.flush.plans import Body, Step, Waiting, dump, load, told_by
from memory_core.forms.flush_state import FlushState
from memory_core.handle import Handle
from memory_core.ids import Conversation
from memory_core.layouts import FLUSH_STATE
from memory_core.ledger.base import Plan, ScopeLedger
from memory_core.store.base import PageText

MOST = 6
"""How many steps back undo goes at most."""


@dataclass(frozen=True, slots=True)
class LastStep:
    """The newest closed plan, and what of it goes on; nothing where there is none, or none that can be read."""

    plan: Plan | None
    steps: tuple[Step, ...] = ()
    waiting: tuple[Waiting, ...] = ()

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
    return LastStep(plan, body.steps, body.waiting)


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

    `body.steps` are those that came before.
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
    )
    before = () if body.content else body.steps
    nothing = step.quiet and not step.inverses and step.pending == step.told.pending
    steps = before if nothing else (step, *before)
    body = replace(body, receipt=replace(body.receipt, number=number), steps=steps)
    return Plan(last.id_of(number), number, dump(body), cursors)
