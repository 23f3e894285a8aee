"""The ledger of a scope on its way to another layout.

What names pages of the old layout must not reach the new one: the way back of the last steps (undo ends at a
migration), operations that waited for a damaged page, uses of records, marks of what was written at once. Uses and
what waited are written into the old pages before those are moved (`caught_up`); marks get the page on which the
record stands now. Messages that are not flushed, cursors, changes and timers stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from memory_core.clock import day_in
from memory_core.flush.draft import start_text
from memory_core.flush.marks import each_in, in_one
from memory_core.flush.plans import Body, Receipt, Trigger, dump, dump_receipt
from memory_core.flush.steps import last_step
from memory_core.forms.records import parse
from memory_core.handle import Handle
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import TASKS, Table
from memory_core.ledger.base import Hit, Plan
from memory_core.migration.homes import rule_of
from memory_core.migration.work import Closing
from memory_core.operations import Operation
from memory_core.operations.records import TouchRecord


@dataclass(frozen=True, slots=True)
class Owed:
    """What the ledger has for a scope's pages: uses, operations that waited, marks of what was written at once."""

    hits: tuple[Hit, ...] = ()
    waiting: tuple[Operation, ...] = ()
    marks: tuple[tuple[MessageKey, PageId, str], ...] = ()
    plan: str = ""
    """The id of the plan that will close the undo chain; '' where nothing is to be closed."""


async def owed(handle: Handle) -> Owed:
    """What the ledger has for the scope's pages. The handle must be fresh. Raises LedgerError."""
    last = await last_step(handle.ledger)
    waiting = tuple(one.operation for one in last.waiting)
    hits, marks = await handle.ledger.hits(), await handle.ledger.written()
    number = last.plan.number if last.plan else 0
    return Owed(hits, waiting, marks, last.id_of(number) if last.plan or hits or marks else "")


def caught_up(
    pages: Mapping[PageId, str], table: Table, found: Owed, zone: tzinfo, name: str = ""
) -> dict[PageId, str]:
    """The pages with what waited done, and with the uses in their records' fitness."""
    texts = dict(pages)
    for operation in found.waiting:
        rule = rule_of(table, operation.page)
        if rule is not None:
            before = texts.get(operation.page, start_text(table, operation.page, name))
            after = operation.apply(before, rule.form)
            if after != before:
                texts[operation.page] = after
    uses = Counter((one.page, one.record) for one in found.hits)
    last = {(one.page, one.record): one.at for one in sorted(found.hits, key=lambda one: one.at)}
    for (page, record), count in uses.items():
        rule, text = rule_of(table, page), texts.get(page, "")
        placed = parse(text).find(record)
        if rule is not None and placed is not None and placed.level:
            touch = TouchRecord(page, record, placed.record.hit_count + count, day_in(zone, last[page, record]))
            texts[page] = touch.apply(text, rule.form)
    return texts


def closing(handle: Handle, found: Owed, where: Mapping[str, PageId], new: Table, *, owner: bool) -> Closing:
    """What is to be closed; `where` tells on which page a record stands now."""
    marks = []
    for message, on, several in found.marks:
        moved = []
        for page, mark in each_in(on, several):
            record = mark.partition("/")[2].partition("\n")[0]
            moved.append((where.get(record) or (page if rule_of(new, page) else TASKS), mark))
        to, text = in_one(moved)
        marks.append((str(message), str(to), text))
    return Closing(handle.scope.key, owner, found.plan, tuple(marks))


async def close(handle: Handle, wanted: Closing) -> None:
    """Close the undo chain and put the marks anew; done twice it is done once. The handle must be fresh.

    Raises LedgerError.
    """
    if not wanted.plan:
        return
    begun = next((one for one in await handle.ledger.open_plans() if one.id == wanted.plan), None)
    last = await handle.ledger.last_plan()
    if begun is None and (last is None or last.id != wanted.plan):
        await handle.ledger.hits()  # handed out: the plan covers them
        await handle.ledger.written()
        begun = _empty(handle, wanted.plan)
        await handle.ledger.save_plan(begun)
    if begun is not None:
        await handle.ledger.close_plan(begun)
    for message, page, mark in wanted.marks:
        await handle.ledger.mark_written(MessageKey(message), PageId(page), mark)


def _empty(handle: Handle, plan: str) -> Plan:
    number = int(plan.partition(".")[0])
    receipt = Receipt(number, Trigger.COMMAND, at=handle.clock.now())
    body = Body(receipt, (), None, False, ())
    return Plan(plan, number, dump(body), receipt=dump_receipt(receipt))
