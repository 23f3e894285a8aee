"""The flush: conversations → candidates → checked facts → a persisted plan → pages → receipt.

States of one flush, and what a crash in them leaves:

    reading      context after each cursor; the extractor answers       nothing: the messages are after the cursor
    planned      the plan is saved in the ledger                        an open plan
    applying     pages, catalogue, state file                           an open plan, some of it done
    closed       receipt kept, cursors moved, in one transaction        done

An open plan is finished first, by `resume` at the start or by the next flush; to finish is to apply again, because
what is done is not done twice (memory_core.apply). Until then no further plan is made. Extraction holds no page: what
is said meanwhile lies after the cursors of the plan and belongs to the next flush.

A failure of the extractor, the ledger or the store is no exception here but a receipt with a `problem`: the text is
kept, the cursors and `last_flush_time` stand where they stood. Without an index nothing is read or written (NoIndex):
creation is the first join's. One flush at a time per scope: `Flushing`. One thing now, without a plan: write_now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory_core import flush_state
from memory_core.apply import finish
from memory_core.bars import Fact, checked
from memory_core.candidates import Candidate, Extractor, Request
from memory_core.catalogue import rebuild_catalogue
from memory_core.errors import LedgerDamaged, NoIndex, RememError
from memory_core.extract import retracted_in
from memory_core.flush_state import FlushState
from memory_core.gathering import draft_on, fill, gather, journals_of, read_pages
from memory_core.handle import Handle
from memory_core.ids import Conversation, DirectScope, MessageKey
from memory_core.index import parse as parse_index
from memory_core.layouts import FLUSH_STATE, INDEX
from memory_core.ledger.base import Context, Plan, ScopeLedger
from memory_core.messages import Message, Voice
from memory_core.operations import Operation
from memory_core.pending import settle, without
from memory_core.plans import Body, Receipt, Trigger, dump, joined, load, load_receipt
from memory_core.standing import together
from memory_core.store.base import PageText
from memory_core.write_now import write_now

__all__ = [
    "Flushing",
    "NoIndex",
    "Receipt",
    "Trigger",
    "flush",
    "read_state",
    "rebuild_catalogue",
    "resume",
    "write_now",
]

ROOTS = 3
"""How many messages outside a thread are read because the thread answers them."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One conversation's part of a flush: what was asked, what came back, and the last entry that was read."""

    conversation: Conversation
    request: Request
    candidates: tuple[Candidate, ...]
    last_seq: int

    @property
    def spoken(self) -> tuple[Message, ...]:
        """The messages of persons."""
        return tuple(message for message in self.request.messages if message.voice is Voice.PERSON)


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
    ) -> Receipt:
        """As `flush`; while another one of this scope is at work, a receipt that is `running`. Raises NoIndex."""
        key = handle.scope.key
        if key in self._running:
            return Receipt(0, trigger, at=handle.clock.now(), running=True)
        self._running.add(key)
        try:
            return await flush(handle, extractor, trigger, zone, context_usage=context_usage)
        finally:
            self._running.discard(key)


async def flush(
    handle: Handle,
    extractor: Extractor,
    trigger: Trigger,
    zone: tzinfo | None = None,
    *,
    context_usage: float | None = None,
) -> Receipt:
    """Save what was said in the scope since its last flush. `context_usage` is told in the state file (0 to 1).

    `zone`: where the scope lives, unless its index is to say so. Everything in the receipt was read back. A failure
    stands in its `problem`. With nothing new no page is read. Raises NoIndex.
    """
    at = handle.clock.now().astimezone(zone or handle.host_zone)
    try:
        finished = await resume(handle)
        contexts = await _fresh(handle.ledger)
        if not contexts and not await _waits(handle.ledger):
            return joined(finished, await _nothing_new(handle.ledger, Receipt(0, trigger, at=at)))
        index = await _index(handle)
        zone = zone or parse_index(index.text, handle.table).zone or handle.host_zone
        heard = [await _listen(handle, extractor, zone, *one) for one in contexts]
        return joined(finished, await _save(handle, index, heard, trigger, zone, context_usage))
    except NoIndex:
        raise
    except RememError as refused:
        return Receipt(0, trigger, at=at, problem=str(refused))


async def resume(handle: Handle) -> tuple[Receipt, ...]:
    """Finish the plans that a crash or a failing store left open. Raises StoreError, LedgerError."""
    return tuple([await finish(handle, plan) for plan in await handle.ledger.open_plans()])


async def read_state(handle: Handle) -> FlushState:
    """What the scope's last flush left behind; unknown where there is no file. Raises StoreError."""
    page = await handle.store.read(FLUSH_STATE)
    return flush_state.parse(page.text if page is not None else None)


async def _index(handle: Handle) -> PageText:
    """The index. Raises NoIndex, StoreError."""
    index = await handle.store.read(INDEX)
    if index is None:
        raise NoIndex(f"{handle.scope.key} has no index yet, so nothing was saved; what was said is kept.")
    return index


async def _fresh(ledger: ScopeLedger) -> list[tuple[Conversation, Context]]:
    """The conversations in which something was said since their last flush."""
    found = await ledger.conversations()
    contexts = await together(ledger.context(conversation) for conversation in found)
    return [(one, context) for one, context in zip(found, contexts, strict=True) if context.fresh]


async def _waits(ledger: ScopeLedger) -> bool:
    """Does anything but messages wait to be written: marks, uses, deletions?"""
    return bool(await ledger.written() or await ledger.hits() or await ledger.changed())


async def _nothing_new(ledger: ScopeLedger, receipt: Receipt) -> Receipt:
    """The receipt of a flush that found nothing: the last number, and what is open since then."""
    last = await ledger.last_plan()
    if last is None:
        return receipt
    return replace(receipt, number=last.number, pending=load_receipt(last.receipt).pending)


async def _listen(
    handle: Handle, extractor: Extractor, zone: tzinfo, conversation: Conversation, context: Context
) -> Heard:
    """Ask the extractor about one conversation, its times told in the scope's zone. Raises what it raises."""
    fresh = [entry.message for entry in context.fresh]
    before = [entry.message for entry in context.tail]
    if conversation.thread:
        before = [*await _roots(handle.ledger, [*before, *fresh]), *before]
    request = Request(
        messages=tuple(_local(message, zone) for message in fresh),
        before=tuple(_local(message, zone) for message in before),
        direct=isinstance(handle.scope, DirectScope),
    )
    candidates = tuple(await extractor.extract(request))
    return Heard(conversation, request, candidates, context.fresh[-1].seq)


async def _roots(ledger: ScopeLedger, messages: Sequence[Message]) -> list[Message]:
    """What a thread's messages answer and that stands outside of it: as a rule the one message that it began with."""
    known = {message.key for message in messages}
    outside = dict.fromkeys(one.reply_to for one in messages if one.reply_to and one.reply_to not in known)
    found = await together(ledger.find(key) for key in list(outside)[:ROOTS])
    return [entry.message for entry in found if entry is not None]


def _local(message: Message, zone: tzinfo) -> Message:
    """The message with its time as the people of the scope read it: `tomorrow` is reckoned from their day."""
    return replace(message, sent_at=message.sent_at.astimezone(zone))


async def _save(
    handle: Handle,
    index: PageText,
    heard: Sequence[Heard],
    trigger: Trigger,
    zone: tzinfo,
    context_usage: float | None,
) -> Receipt:
    """Plan and apply what was heard; move only the cursors where there is nothing to write."""
    now = handle.clock.now().astimezone(zone)
    state_page = await handle.store.read(FLUSH_STATE)
    state = flush_state.parse(state_page.text if state_page is not None else None)
    spoken = tuple(message for part in heard for message in part.spoken)
    facts = [fact for part in heard for fact in _facts(part, zone, handle)]
    found = await gather(handle.ledger, facts, spoken, lambda: _retracted(heard))
    pending = without(state.pending_items, found.gone)
    settled, pending = settle(pending, facts) if heard else ((), pending)
    found = replace(found, facts=settled)
    cursors = {part.conversation: part.last_seq for part in heard}
    nothing = Receipt(state.flush_number, trigger, messages=len(spoken), pending=len(pending), at=now)
    if found.is_empty and pending == state.pending_items:
        await handle.ledger.move_cursors(cursors)
        return nothing
    standing = await read_pages(
        handle, journals_of(spoken, zone), (index, state_page), every_journal=bool(found.gone)
    )
    draft = draft_on(handle, zone, now, standing)
    await fill(handle, draft, found)
    if draft.has_content:
        draft.finish(len(pending))
    receipt = replace(nothing, kinds=dict(draft.kinds), pages=tuple(draft.pages), written=draft.has_content)
    inverses = tuple(draft.inverses)
    body = Body(receipt, pending, context_usage, draft.has_content, tuple(draft.operations), inverses)
    plan = await _plan(handle, state, body, cursors)
    await handle.ledger.save_plan(plan)
    return await finish(handle, plan, standing)


async def _plan(handle: Handle, state: FlushState, body: Body, cursors: dict[Conversation, int]) -> Plan:
    """The plan under its number: a new one for content, else the last one's with a further part (`7.1`)."""
    last = await handle.ledger.last_plan()
    number = max(state.flush_number, last.number if last else 0)
    if body.content:
        number, part = number + 1, 0
    else:
        part = 1 + (int(last.id.partition(".")[2] or 0) if last and last.number == number else 0)
        body = replace(body, undo=(*body.undo, *_undo_of(last)))
    body = replace(body, receipt=replace(body.receipt, number=number))
    return Plan(f"{number}.{part}", number, dump(body), cursors)


def _undo_of(last: Plan | None) -> Sequence[Operation]:
    """The inverses of the step before, which the ledger forgets when this one closes."""
    try:
        return load(last.operations).undo if last is not None else ()
    except LedgerDamaged:
        return ()


def _facts(part: Heard, zone: tzinfo, handle: Handle) -> list[Fact]:
    found = (checked(candidate, part.request, zone, handle.scope) for candidate in part.candidates)
    return [fact for fact in found if fact is not None]


def _retracted(heard: Sequence[Heard]) -> frozenset[MessageKey]:
    return frozenset(key for part in heard for key in retracted_in(part.request))
