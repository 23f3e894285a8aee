"""The flush: conversations → candidates → checked facts → a persisted plan → pages → receipt.

States of one flush, and what a crash in them leaves:

    reading      context after each cursor; the extractor answers       nothing: the messages are after the cursor
    planned      the plan is saved in the ledger                        an open plan
    applying     pages, catalogue, state file                           an open plan, some of it done
    closed       receipt kept, cursors moved, in one transaction        done

An open plan is finished first, by `resume` at the start or by the next flush; to finish is to apply again, because
what is done is not done twice (flush/apply). Until then no further plan is made. Extraction holds no page: what
is said meanwhile lies after the cursors of the plan and belongs to the next flush.

A failure of the extractor, the ledger or the store is no exception here but a receipt with a `problem`: the text is
kept, the cursors and `last_flush_time` stand where they stood; after a failed extraction `unread` says how far the
next try goes. Without an index nothing is read or written (NoIndex):
creation is the first join's. One flush at a time per scope: `Flushing`. What cannot wait, without a plan: write_now.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import TypeVar

from memory_core.candidates import Extractor
from memory_core.catalogue import rebuild_catalogue
from memory_core.clock import day_in
from memory_core.errors import ExtractionFailed, NoIndex, RememError
from memory_core.flush.apply import finish
from memory_core.flush.gathering import (
    Gathered,
    beyond,
    draft_on,
    fill,
    gather,
    journals_of,
    journals_written,
    open_journals,
    read_pages,
)
from memory_core.flush.hearing import Ear, Heard, fresh, retracted
from memory_core.flush.pending import settle, without
from memory_core.flush.plans import Body, Receipt, Trigger, holds, joined, load_receipt, scrubbed
from memory_core.flush.raw_notes import drop_raw, keep_raw
from memory_core.flush.record_draft import takes_back
from memory_core.flush.standing import Standing
from memory_core.flush.steps import chain, divided, last_step, next_plan, state_text
from memory_core.flush.write_now import unkept, write_all, write_now
from memory_core.forms import flush_state
from memory_core.forms.flush_state import FlushState
from memory_core.handle import Handle
from memory_core.ids import Conversation
from memory_core.index import parse as parse_index
from memory_core.layouts import INDEX
from memory_core.ledger.base import ScopeLedger
from memory_core.messages import Message
from memory_core.operations.messages import DropRaw
from memory_core.store.base import PageText

__all__ = [
    "Flushing",
    "NoIndex",
    "Receipt",
    "Trigger",
    "flush",
    "read_state",
    "rebuild_catalogue",
    "resume",
    "unkept",
    "write_all",
    "write_now",
]

T = TypeVar("T")

UNREAD = "I could not read through what was said; whoever runs me finds the reason in the log, and I try again."
UNREAD_RAW = UNREAD + " Until then it stands in the journal as it was said."
"""What a room hears of a failed extraction: never the extractor's own words."""


class Flushing:
    """Holds flushes apart: one at a time per scope in this process. The caller keeps one of these."""

    def __init__(self) -> None:
        self._running: set[str] = set()

    async def flush(
        self,
        handle: Handle,
        extractor: Extractor,
        trigger: Trigger,
        zone: tzinfo | None = None,
        *,
        context_usage: float | None = None,
        until: Mapping[Conversation, int] | None = None,
        raw: bool = False,
        past: bool = False,
    ) -> Receipt:
        """As `flush`; while another one of this scope is at work, a receipt that is `running`. Raises NoIndex."""
        work = flush(handle, extractor, trigger, zone, context_usage=context_usage, until=until, raw=raw, past=past)
        receipt = await self.alone(handle, work)
        return receipt or Receipt(0, trigger, at=handle.clock.now(), running=True)

    async def alone(self, handle: Handle, work: Coroutine[object, object, T]) -> T | None:
        """Do `work` while no flush of the handle's scope runs, and none with it; None where one runs now."""
        key = handle.scope.key
        if key in self._running:
            work.close()
            return None
        self._running.add(key)
        try:
            return await work
        finally:
            self._running.discard(key)


async def flush(
    handle: Handle,
    extractor: Extractor,
    trigger: Trigger,
    zone: tzinfo | None = None,
    *,
    context_usage: float | None = None,
    until: Mapping[Conversation, int] | None = None,
    raw: bool = False,
    past: bool = False,
) -> Receipt:
    """Save what was said in the scope since its last flush. `context_usage` is told in the state file (0 to 1).

    `zone`: where the scope lives, unless its index is to say so. `until`: only these conversations, only up to these
    entries, which an earlier try did not get through. `raw`: if extraction fails, what was said goes into the journal
    word for word (flush/raw_notes). `past`: what was said is history that is taken in today, so its records count as
    referenced today and not on their own days, on which sleep would archive them at once. Everything in the receipt
    was read back. A failure stands in its `problem`.
    With nothing new no page is read. Raises NoIndex.
    """
    at = handle.clock.now().astimezone(zone or handle.host_zone)
    try:
        finished = await resume(handle)
        contexts = await fresh(handle.ledger, until)
        if not contexts and not await _waits(handle):
            return joined(finished, await _nothing_new(handle.ledger, Receipt(0, trigger, at=at)))
        index = await _index(handle)
        zone = zone or parse_index(index.text, handle.table).zone or handle.host_zone
        ear = Ear(handle, extractor, zone)
        try:
            heard = [await ear.listen(*one) for one in contexts]
            return joined(finished, await _save(ear, index, heard, trigger, context_usage, past=past))
        except ExtractionFailed as failed:
            if raw:
                await keep_raw(handle, [entry.message for _, context in contexts for entry in context.fresh], zone)
            reached = tuple((one.room, one.thread, context.fresh[-1].seq) for one, context in contexts)
            problem = UNREAD_RAW if raw else UNREAD
            return Receipt(0, trigger, at=at, problem=problem, unread=reached, why=str(failed), raw=raw)
    except NoIndex:
        raise
    except RememError as refused:
        return Receipt(0, trigger, at=at, problem=str(refused))


async def resume(handle: Handle) -> tuple[Receipt, ...]:
    """Finish the plans that a crash or a failing store left open. Raises StoreError, LedgerError."""
    return tuple([await finish(handle, plan) for plan in await handle.ledger.open_plans()])


async def read_state(handle: Handle) -> FlushState:
    """What the scope's last flush left behind; unknown where no file tells it. Raises StoreError."""
    page = await state_text(handle)
    return flush_state.parse(page.text if page is not None else None)


async def _index(handle: Handle) -> PageText:
    """The index. Raises NoIndex, StoreError."""
    index = await handle.store.read(INDEX)
    if index is None:
        raise NoIndex(f"{handle.scope.key} has no index yet, so nothing was saved; what was said is kept.")
    return index


async def _waits(handle: Handle) -> bool:
    """Does anything but messages wait to be written: marks, uses, deletions, what a damaged page held up?"""
    ledger = handle.ledger
    if await ledger.written() or await ledger.hits() or await ledger.changed():
        return True
    last = await last_step(ledger)
    return bool((await divided(handle, last.waiting))[0])


async def _nothing_new(ledger: ScopeLedger, receipt: Receipt) -> Receipt:
    """The receipt of a flush that found nothing: the last number, and what is open since then."""
    last = await ledger.last_plan()
    if last is None:
        return receipt
    return replace(receipt, number=last.number, pending=load_receipt(last.receipt).pending)


async def _standing(
    ear: Ear, found: Gathered, spoken: Sequence[Message], before: tuple[PageText, PageText | None]
) -> Standing:
    """The pages on which what was found may stand or be written; those of `before` are read already."""
    handle, zone = ear.handle, ear.zone
    every = bool(found.gone or found.revised)
    days = (*journals_of(spoken, zone), *journals_written(found.written), *(hit.page for hit in found.hits))
    days = (*days, *open_journals(handle.table, (fact.said_at for fact in found.facts), zone))
    archive = any(takes_back(fact) for fact in found.facts)
    return await read_pages(handle, days, before, every_journal=every, archive=archive)


async def _save(
    ear: Ear,
    index: PageText,
    heard: Sequence[Heard],
    trigger: Trigger,
    context_usage: float | None,
    *,
    past: bool,
) -> Receipt:
    """Plan and apply what was heard; move only the cursors where there is nothing to write."""
    handle, zone = ear.handle, ear.zone
    now = handle.clock.now().astimezone(zone)
    state_page = await state_text(handle)
    state = flush_state.parse(state_page.text if state_page is not None else None)
    spoken = tuple(message for part in heard for message in part.spoken)
    facts = [fact for part in heard for fact in part.facts]
    last = await last_step(handle.ledger)
    ready, still = await divided(handle, last.waiting)
    found = await gather(handle.ledger, facts, spoken, lambda: retracted(heard), last.passed)
    says_now = {key: await ear.again(key) for key in found.revised}
    known = without(state.pending_items, {*found.gone, *found.revised})
    open_now = [fact for said in says_now.values() for fact in said if not fact.settled]
    settled, pending = settle(known, [*facts, *open_now]) if heard or open_now else ((), known)
    found = replace(found, facts=settled, says_now=says_now, ready=tuple(one.operation for one in ready))
    cursors = {part.conversation: part.last_seq for part in heard}
    nothing = Receipt(state.flush_number, trigger, messages=len(spoken), pending=len(pending), at=now)
    if found.is_empty and pending == state.pending_items:
        await drop_raw(handle, spoken, zone)
        await handle.ledger.move_cursors(cursors)
        return nothing
    standing = await _standing(ear, found, spoken, (index, state_page))
    draft = draft_on(handle, zone, now, standing, referenced=day_in(zone, now) if past else None)
    for page in journals_of(spoken, zone):
        draft.do_if_there(DropRaw(page, tuple(message.key for message in spoken)))
    changed = await fill(handle, draft, found, ear.again)
    if draft.has_content:
        draft.finish(len(pending))
    gone = {*found.gone, *(found.revised if changed or known != state.pending_items else ())}
    receipt = replace(
        nothing,
        kinds=dict(draft.kinds),
        pages=tuple(draft.pages),
        written=draft.has_content,
        caught_up=tuple(dict.fromkeys(operation.page for operation in found.ready)),
    )
    body = Body(
        receipt,
        pending,
        context_usage,
        draft.has_content,
        tuple(draft.operations),
        draft.kinds_on,
        scrubbed(chain(last, found.ways), gone, changed),
        tuple(one for one in still if not holds(one.operation, found.gone)),
        passed=await beyond(handle.ledger, found.done, cursors),
    )
    told = replace(state, pending_items=known)
    plan = next_plan(last, told, body, draft, cursors, at_once=len(found.written))
    await handle.ledger.save_plan(plan)
    return await finish(handle, plan, standing)
