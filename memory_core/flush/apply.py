"""Applying a plan: page by page, each read, merged, written and read back; then catalogue, state, cursors.

    pages → catalogue → flush-state.json → heartbeat-state.json (of a sleep) → ledger (cursors, receipt)

Every step can be repeated: a page on which all operations are done already is not written, and that reading is the
proof that they are. So is reading back what was just written, or what the plan foresaw: what a plan takes out and
puts in would stand elsewhere if it were put in twice. A page that changed since it was read is read and merged again,
a few times. So a plan that was stopped anywhere is finished by applying it once more. A broken state file is copied
before it is written anew.

A page that holds bytes that are no text is never written over, and what stands in a page's place without being a file
is never touched. The rest of the plan is written and the plan closes; what belongs on that page waits in the closed
plan (`Body.waiting`) for the day on which a person mended it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from memory_core.catalogue import rebuild_catalogue
from memory_core.errors import PageBlocked, PageChanged, PageDamaged, PageExists
from memory_core.flush.draft import start_text
from memory_core.flush.plans import Body, Receipt, Waiting, dump, dump_receipt, load
from memory_core.flush.standing import Standing, beside, together
from memory_core.forms import flush_state, heartbeat, tasks
from memory_core.handle import Handle, name_of
from memory_core.ids import PageId
from memory_core.layouts import FLUSH_STATE, HEARTBEAT, INDEX, TASKS, Form, backup_page
from memory_core.ledger.base import Plan
from memory_core.operations import Operation
from memory_core.operations.pages import Unmake, text_hash
from memory_core.store.base import Change, PageText, Stamp

_NAMES = {FLUSH_STATE: "flush-state", HEARTBEAT: "heartbeat-state"}
ATTEMPTS = 8
"""How often a page is read and merged again when somebody else keeps changing it."""


async def finish(handle: Handle, plan: Plan, standing: Standing | None = None) -> Receipt:
    """Do what of the plan is not done yet, then close it; `standing` is what it was made from.

    Raises StoreError, LedgerError; the plan stays open then.
    """
    body = load(plan.operations)
    damaged: dict[PageId, str] = {}
    last = tuple(one for one in body.operations if one.page == HEARTBEAT)
    pages = [one for one in body.operations if one.page != HEARTBEAT]
    written = await apply(handle, pages, standing, damaged, body.results)
    gone = {one.page for one in body.operations if isinstance(one, Unmake)} - written.keys() - damaged.keys()
    standing = standing.with_(written.values()).without(gone) if standing else None
    if body.operations or body.receipt.written:  # what was written at once is counted, and is in no catalogue yet
        await _catalogue(handle, standing, damaged, body.receipt.at)
    stamps = {page: one.stamp for page, one in written.items() if _is_watched(handle, page)}
    await _write_state(handle, body, stamps, standing)
    await apply(handle, last, standing, damaged)
    left = tuple(Waiting(plan.number, one) for one in body.operations if one.page in damaged)
    receipt = _read_back(body, damaged)
    closed = replace(body, receipt=receipt, operations=(), results={}, waiting=(*body.waiting, *left))
    await handle.ledger.close_plan(replace(plan, operations=dump(closed), receipt=dump_receipt(receipt)))
    return receipt


async def apply(
    handle: Handle,
    operations: Sequence[Operation],
    standing: Standing | None = None,
    damaged: dict[PageId, str] | None = None,
    results: Mapping[PageId, str] = MappingProxyType({}),
) -> dict[PageId, PageText]:
    """Apply the operations, those of a page in their order; what was read back from each page. Raises StoreError.

    Pages are written side by side: no operation looks at another page than its own. Pages with bytes that are no text
    are told in `damaged`, and those that are no file with the reason; without it they raise PageDamaged, PageBlocked.
    A page that reads as in `results` (memory_core.flush.plans.Body) is done already.
    """
    groups: dict[PageId, list[Operation]] = {}
    for operation in operations:
        groups.setdefault(operation.page, []).append(operation)
    found = await together(
        _write(handle, page, group, standing, damaged, results.get(page, "")) for page, group in groups.items()
    )
    return {one.page: one for one in found if one is not None}


async def _catalogue(handle: Handle, standing: Standing | None, damaged: dict[PageId, str], at: datetime) -> None:
    """The catalogue anew; an index with bytes that are no text keeps the one that it has."""
    try:
        await rebuild_catalogue(handle, standing, at)
    except PageDamaged:
        damaged[INDEX] = ""
    except PageBlocked as blocked:
        damaged[INDEX] = str(blocked)


def _read_back(body: Body, damaged: Mapping[PageId, str]) -> Receipt:
    """The receipt without what could not be written."""
    if not damaged:
        return body.receipt
    kinds = Counter(body.receipt.kinds)
    for page in damaged:
        kinds.subtract(body.kinds_on.get(page, {}))
    pages = tuple(page for page in body.receipt.pages if page not in damaged)
    counted = {kind: number for kind, number in kinds.items() if number > 0}
    return replace(
        body.receipt,
        kinds=counted,
        pages=pages,
        written=body.receipt.written and bool(pages),
        waits=tuple(sorted(damaged)),
        blocked={page: why for page, why in sorted(damaged.items()) if why},
        caught_up=tuple(page for page in body.receipt.caught_up if page not in damaged),
    )


async def _write(
    handle: Handle,
    page: PageId,
    operations: Sequence[Operation],
    known: Standing | None,
    damaged: dict[PageId, str] | None,
    result: str,
) -> PageText | None:
    """Bring one page to where all operations are done, and read that back; None where there is none."""
    try:
        return await _bring(handle, page, operations, known, damaged, result)
    except PageBlocked as blocked:
        if damaged is None:
            raise
        damaged[page] = str(blocked)
        return None


async def _bring(
    handle: Handle,
    page: PageId,
    operations: Sequence[Operation],
    known: Standing | None,
    damaged: dict[PageId, str] | None,
    result: str,
) -> PageText | None:
    """As `_write`. Raises PageBlocked."""
    form = handle.table.rule(page).form
    start, written = start_text(handle.table, page, name_of(handle)), ""
    for _ in range(ATTEMPTS):
        standing, known = await _read(handle, page, known), None
        before = start if standing is None else standing.text
        if standing is not None and ((written and before == written) or (result and text_hash(before) == result)):
            return standing
        text = await beside(len(before), _applied, operations, before, form)
        if text == before:
            return standing
        gone = not text and any(isinstance(operation, Unmake) for operation in operations)
        if gone and standing is None:
            return None
        if damaged is not None and standing is not None and standing.bad_bytes:
            damaged[page] = ""
            return standing
        if standing is not None and _is_broken(standing):
            await keep_copy(handle, standing)
        change = Change(page, None if gone else text, standing.stamp if standing else None)
        written = text if await _commit(handle, change) else ""
    raise PageChanged(f"{page} kept changing while it was written; what was to be written waits for the next flush.")


def _applied(operations: Sequence[Operation], text: str, form: Form) -> str:
    for operation in operations:
        text = operation.apply(text, form)
    return text


def _is_broken(standing: PageText) -> bool:
    """Is it a side file of which something would be lost, and that is copied before it is written anew?"""
    if standing.page == HEARTBEAT:
        return heartbeat.parse(standing.text).broken
    return standing.page == TASKS and not tasks.keeps_all(standing.text)


async def _read(handle: Handle, page: PageId, known: Standing | None) -> PageText | None:
    """The page: as it is known, else as it is now."""
    return known.pages.get(page) if known and known.knows(page) else await handle.store.read(page)


async def _commit(handle: Handle, change: Change) -> bool:
    """One try: was it written? A page that changed meanwhile is left to the caller, who reads it again."""
    try:
        await handle.store.commit([change])
    except (PageChanged, PageExists):
        return False
    return True


async def _write_state(handle: Handle, body: Body, stamps: Mapping[PageId, Stamp], known: Standing | None) -> None:
    """The state file after the flush. One with undecodable bytes is left alone: it is a report, not the truth."""
    for _ in range(ATTEMPTS):
        try:
            standing, known = await _read(handle, FLUSH_STATE, known), None
        except PageBlocked:
            return
        old = flush_state.parse(standing.text if standing else None)
        text = flush_state.render(_state(old, body, stamps))
        if standing is not None and standing.text == text:
            return
        if standing is not None and standing.bad_bytes:
            return
        if standing is not None and old.broken:
            await keep_copy(handle, standing)
        try:
            await _commit(handle, Change(FLUSH_STATE, text, standing.stamp if standing else None))
        except (PageDamaged, PageBlocked):
            return
    raise PageChanged("flush-state.json kept changing while it was written; the next flush writes it.")


def _is_watched(handle: Handle, page: PageId) -> bool:
    """Does the state keep this page's stamp? Journals and archives come and come; the state must not grow so."""
    return handle.table.rule(page).form not in (Form.JOURNAL, Form.ARCHIVE, Form.STATE)


def _state(old: flush_state.FlushState, body: Body, stamps: Mapping[PageId, Stamp]) -> flush_state.FlushState:
    pages = {**(old.pages or {}), **stamps}
    state = replace(old, pending_items=body.pending, pages=pages, broken=())
    if body.told is not None:
        return replace(
            state,
            last_flush_time=body.told.last_flush_time,
            flush_number=body.told.flush_number,
            context_usage_at_flush=body.told.context_usage_at_flush,
            trigger=body.told.trigger,
        )
    if not body.content:
        return state
    return replace(
        state,
        last_flush_time=body.receipt.at,
        flush_number=body.receipt.number,
        context_usage_at_flush=body.context_usage,
        trigger=body.receipt.trigger.value,
    )


async def keep_copy(handle: Handle, standing: PageText) -> PageId:
    """Copy a broken state file beside it, under a name that its content gives; once for the same content."""
    name = _NAMES.get(standing.page, "pending_tasks")
    digest = hashlib.sha256(standing.text.encode("utf-8", "replace")).hexdigest()[:12]
    page = backup_page(f"{name}-{digest}")
    await _commit(handle, Change(page, standing.text, None))
    return page
