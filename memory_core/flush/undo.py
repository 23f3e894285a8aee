"""Undo: the newest step is taken back, as a step of its own, so that a crash in between is finished like a flush.

Page by page: where the lines that the step wrote still stand, they become what they were, byte for byte, wherever
they stand by now. Where a person changed them, the inverse of each single operation is asked, and what no longer
fits stays as the person left it (`kept`). A page that the step made goes, if nothing was added to it. The catalogue
is rebuilt; the state file tells what it told before the step, but for its number, which the ledger never uses twice.

The cursors stay: what was undone was read through and is not written again by the next flush; only an edit on the
platform makes it a new statement. Steps are taken back newest first, one each time: what was written at once or
corrected since the last flush, and sleeps, then the flush, then what was written at once or corrected before it (the
flush only counted that, so it stays when the flush goes). Before that there is nothing to undo. Hits and pending
items that came after a step go back with it, but for items that were found since. What was written at once and is
taken back before a flush read its message is `passed` by that flush. Of a sleep the heartbeat goes back as well: it
tells the last sleep that stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_core.flush.apply import finish
from memory_core.flush.marks import REPEAT
from memory_core.flush.plans import Body, Receipt, Step, Trigger, dump
from memory_core.flush.steps import LastStep, chain, last_step, passed_of, state_text
from memory_core.forms import flush_state
from memory_core.forms.flush_state import PendingItem
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.layouts import HEARTBEAT, Form, Kind
from memory_core.ledger.base import Plan
from memory_core.operations import Operation


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, as it was read back: the step's number, what it had counted, the pages that changed.

    `kept` are pages on which something of it stays because a person changed it; `at_once` counts what the flush found
    written already, which stays; `waits`, `blocked`: as in a receipt. `sleep`: the stage of the sleep that was taken
    back. `noted`: kind and title of each statement of a message that was written at once and is taken back. `more`:
    can another step be taken back after this one? `nothing`: there was no step to take back.
    """

    number: int = 0
    kinds: Mapping[Kind, int] | None = None
    pages: tuple[PageId, ...] = ()
    kept: tuple[PageId, ...] = ()
    waits: tuple[PageId, ...] = ()
    at_once: int = 0
    correction: bool = False
    blocked: Mapping[PageId, str] = field(default_factory=dict)
    sleep: str = ""
    noted: tuple[tuple[str, str], ...] = ()
    more: bool = False

    @property
    def nothing(self) -> bool:
        """Was there nothing to undo?"""
        return self.kinds is None


async def undo(handle: Handle) -> Undone:
    """Take the newest step back; everything in the answer was read back.

    The handle must be fresh, and no flush of the scope may run meanwhile. Raises StoreError, LedgerError; what was
    begun is finished at the next start or flush.
    """
    for plan in await handle.ledger.open_plans():
        await finish(handle, plan)
    last = await last_step(handle.ledger)
    ways = await handle.ledger.ways_back()
    steps = chain(last, ways)
    taken = _newest(steps)
    if not taken:
        return Undone()
    step = taken[-1]
    numbers = {one.number for one in taken if not one.correction and not one.said}
    held = {one.operation.page for one in last.waiting if one.number in numbers}
    operations, kept = await _operations(handle, taken, held)
    beat = tuple(one for step in taken for one in step.inverses if one.page == HEARTBEAT)
    said = {one.said for one in taken}
    passed = tuple(one for way in ways if way.message in said for one in passed_of(way))
    last = replace(last, passed=(*last.passed, *passed))
    plan = await _plan(handle, last, taken, (*operations, *beat), numbers)
    await handle.ledger.save_plan(plan)
    done = await finish(handle, plan)
    pages = tuple(dict.fromkeys(one.page for one in operations if one.page not in done.waits))
    tail = (step.at_once, step.correction, done.blocked, step.sleep)
    undone = Undone(step.number, step.kinds, pages, kept, done.waits, *tail)
    return replace(undone, noted=_noted(step), more=bool(_newest(steps[len(taken) :])))


def _noted(step: Step) -> tuple[tuple[str, str], ...]:
    """What the step wrote at once; a mere repeat of what is known stays what it is."""
    told = [text.partition("/") for text in (step.text, *(text for _, text in step.also))] if step.said else []
    return tuple((kind, title) for kind, _, title in told if kind != REPEAT)


async def _plan(
    handle: Handle, last: LastStep, taken: Sequence[Step], operations: tuple[Operation, ...], numbers: Collection[int]
) -> Plan:
    """The plan of taking these steps back, of which the flushes have these `numbers`. Raises StoreError."""
    page = await state_text(handle)
    state = flush_state.parse(page.text if page else None)
    told = next((one for one in reversed(taken) if one.told is not None), None)
    pending = _pending(state.pending_items, told) if told else state.pending_items
    number = last.plan.number if last.plan else state.flush_number
    body = Body(
        Receipt(number, Trigger.UNDO, pending=len(pending), at=handle.clock.now()),
        pending,
        None,
        False,
        operations,
        steps=tuple(one for one in last.steps if one not in taken),
        waiting=tuple(one for one in last.waiting if one.number not in numbers),
        told=told.told if told else None,
        passed=last.passed,
    )
    return Plan(last.id_of(number), number, dump(body))


def _newest(steps: Sequence[Step]) -> Sequence[Step]:
    """The newest step that a person would name, and the quiet ones that came after it, newest first."""
    for at, step in enumerate(steps):
        if not step.quiet:
            return steps[: at + 1]
    return ()


async def _operations(
    handle: Handle, taken: Sequence[Step], held: Collection[PageId]
) -> tuple[tuple[Operation, ...], tuple[PageId, ...]]:
    """What takes the steps back on the pages as they are now, and the pages on which something stays.

    On the pages `held` the steps never wrote.
    """
    operations: list[Operation] = []
    kept: list[PageId] = []
    pages = dict.fromkeys(one.page for step in taken for one in (*step.exact, *step.inverses))
    for page in (one for one in pages if one != HEARTBEAT and one not in held):
        standing = await handle.store.read(page)
        form = handle.table.rule(page).form
        if standing is None and not _brings_back(page, form, taken):
            continue
        text = standing.text if standing is not None else ""
        found = _exact(text, page, form, taken)
        if found is None:
            found, fits = _single(text, page, form, taken)
            if not fits:
                kept.append(page)
        operations += found
    return tuple(operations), tuple(kept)


def _brings_back(page: PageId, form: Form, taken: Sequence[Step]) -> bool:
    """Did the steps take the whole page away (a journal that was archived)?"""
    return any(one.apply("", form) for step in taken for one in step.exact if one.page == page)


def _exact(text: str, page: PageId, form: Form, taken: Sequence[Step]) -> list[Operation] | None:
    """The patches of all steps, if each of them fits and doing them twice is doing them once."""
    found: list[Operation] = []
    start = text
    for step in taken:
        own = [one for one in step.exact if one.page == page]
        if not own and any(one.page == page for one in step.inverses):
            return None
        for operation in own:
            after = operation.apply(text, form)
            if after == text:
                return None
            found.append(operation)
            text = after
    again = text
    for operation in found:
        again = operation.apply(again, form)
    return found if again == text and (found or start == text) else None


def _single(text: str, page: PageId, form: Form, taken: Sequence[Step]) -> tuple[list[Operation], bool]:
    """The single inverses that still fit, and whether all of them do."""
    found: list[Operation] = []
    fits = True
    for step in taken:
        for operation in step.inverses:
            if operation.page == page:
                after = operation.apply(text, form)
                fits = fits and after != text
                found += [operation] if after != text else []
                text = after
    return found, fits


def _pending(now: Sequence[PendingItem], step: Step) -> tuple[PendingItem, ...]:
    """The items of before the step, and those that were found since."""
    before = step.told.pending if step.told else ()
    known = {(item.kind, item.title, item.body) for item in (*step.pending, *before)}
    return (*before, *(item for item in now if (item.kind, item.title, item.body) not in known))
