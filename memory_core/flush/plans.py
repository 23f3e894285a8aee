"""A flush as it is persisted before it is applied, and the receipt that it ends with.

`Plan.operations` of the ledger holds a `Body` as JSON: what is to be done, how it is taken back, and what the state
file and the receipt will say. So a plan that a crash left open can be finished by anyone who finds it. Once it is
closed nothing is to be done any more; what stays is the way back (`steps`) and what could not be written (`waiting`).

    steps     newest first: this step, then those before it, down to the last flush with content and what was written
              at once, or corrected, before that; undo takes the first
    waiting   operations on pages that hold bad bytes: they are tried again by every later plan
    passed    what messages beyond a cursor say that is done with: the next flush does not write it again

What is deleted leaves both (`scrubbed`): neither may bring it back, or hold its words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from pydantic import TypeAdapter, ValidationError

from memory_core.errors import LedgerDamaged
from memory_core.flush.pending import without
from memory_core.forms.flush_state import FlushState, PendingItem
from memory_core.ids import Conversation, MessageKey, PageId, RoomKey
from memory_core.layouts import Kind
from memory_core.operations import Operation


class Trigger(StrEnum):
    """What started a flush, or another step that is kept as one."""

    COMMAND = "command"
    IDLE = "idle"
    CONTEXT = "context"
    DAY = "day"
    UNDO = "undo"
    CORRECTION = "correction"
    DEEP = "deep"
    REM = "rem"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a flush did, worded by others from what was read back.

    `written`: it had content and everything was read back, but for the pages in `waits`, which hold bad bytes, or
    are no files (then `blocked` says what is in the way): what belongs there is not counted and waits. `caught_up`:
    pages on which what waited is written now. `problem`: why nothing was saved; then the text is kept and no cursor
    moved. `running`: another flush of this scope was at work, and this one did nothing. `messages` are those of
    persons that were read, `pending` the items that are still open. `unread`: extraction failed, `why` is for the
    operator; room, thread and last entry of what it was asked about, so that the next try asks the same. `raw`:
    that stands in the journal as it was said.
    """

    number: int
    trigger: Trigger
    kinds: Mapping[Kind, int] = field(default_factory=dict)
    pages: tuple[PageId, ...] = ()
    messages: int = 0
    pending: int = 0
    at: datetime = field(kw_only=True)
    written: bool = False
    problem: str = ""
    running: bool = False
    waits: tuple[PageId, ...] = ()
    blocked: Mapping[PageId, str] = field(default_factory=dict)
    caught_up: tuple[PageId, ...] = ()
    unread: tuple[tuple[str, str, int], ...] = ()
    why: str = ""
    raw: bool = False


def reach_of(receipt: Receipt) -> dict[Conversation, int]:
    """How far the next try of a failed extraction goes, as `flush` takes it."""
    return {Conversation(RoomKey(room), thread): seq for room, thread, seq in receipt.unread}


def joined(finished: Sequence[Receipt], receipt: Receipt) -> Receipt:
    """The receipt of a flush that first finished what an earlier one had begun: the asker was told that it waits."""
    for one in finished:
        receipt = replace(
            receipt,
            waits=tuple(dict.fromkeys((*one.waits, *receipt.waits))),
            blocked={**one.blocked, **receipt.blocked},
            caught_up=tuple(dict.fromkeys((*one.caught_up, *receipt.caught_up))),
        )
        if one.written:
            kinds = {
                kind: one.kinds.get(kind, 0) + receipt.kinds.get(kind, 0) for kind in {**one.kinds, **receipt.kinds}
            }
            receipt = replace(
                receipt,
                number=max(one.number, receipt.number),
                kinds=kinds,
                pages=tuple(dict.fromkeys((*one.pages, *receipt.pages))),
                messages=one.messages + receipt.messages,
                written=True,
            )
    return receipt


@dataclass(frozen=True, slots=True)
class Told:
    """What the state file told before a step, but for the stamps."""

    last_flush_time: datetime | None
    flush_number: int
    context_usage_at_flush: float | None
    trigger: str
    pending: tuple[PendingItem, ...]


def told_by(state: FlushState) -> Told:
    """What this state tells."""
    return Told(
        state.last_flush_time,
        state.flush_number,
        state.context_usage_at_flush,
        state.trigger,
        state.pending_items,
    )


@dataclass(frozen=True, slots=True)
class Step:
    """The way back from one step. `exact`: byte for byte, as long as the lines stand; else `inverses`, in order.

    `quiet`: hits and pending items only; undo takes it back together with the step before it. `correction`: of one
    record. `pending` are the items that the step left open, `at_once` counts what it found written already.
    `sleep`: the stage of a sleep. `said`: the message that was written at once, which is no plan (`told` is None:
    the state stays); `text` is what undo calls it, `also` what else the message said, each with its page, and `notes`
    what the journal will say of each. `plan`: the id of the plan that did the step.
    """

    number: int
    kinds: Mapping[Kind, int]
    exact: tuple[Operation, ...]
    inverses: tuple[Operation, ...]
    told: Told | None
    pending: tuple[PendingItem, ...]
    quiet: bool = False
    correction: bool = False
    at_once: int = 0
    sleep: str = ""
    said: MessageKey | None = None
    text: str = ""
    also: tuple[tuple[PageId, str], ...] = ()
    notes: tuple[str, ...] = ()
    plan: str = ""

    @property
    def begins(self) -> bool:
        """Is it a flush or a sleep, with which the chain begins?"""
        return not (self.quiet or self.correction or self.said)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An operation of the step `number` whose page cannot be written until a person mended it."""

    number: int
    operation: Operation


@dataclass(frozen=True, slots=True)
class Passed:
    """A statement of a message that a flush passes over: it stands on `page`, or was taken back by undo.

    `text` is what was written at once; a message may say more than that. '': nothing tells which, so all of it.
    """

    message: MessageKey
    page: PageId
    text: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """A persisted plan. `content` False: the state file keeps its number and time; `told`: it tells this instead.

    `kinds_on`: what the receipt counts, by page. `results`: by page the `text_hash` of what stands there when all is
    done and nobody else wrote.
    """

    receipt: Receipt
    pending: tuple[PendingItem, ...]
    context_usage: float | None
    content: bool
    operations: tuple[Operation, ...]
    kinds_on: Mapping[PageId, Mapping[Kind, int]] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    told: Told | None = None
    passed: tuple[Passed, ...] = ()
    results: Mapping[PageId, str] = field(default_factory=dict)
    version: int = 2


_BODY = TypeAdapter(Body)
_RECEIPT = TypeAdapter(Receipt)
_STEP = TypeAdapter(Step)
_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)


def dump(body: Body) -> str:
    """The plan as JSON."""
    return _BODY.dump_json(body).decode()


def load(text: str) -> Body:
    """The plan of that JSON. Raises LedgerDamaged where it is none."""
    try:
        return _BODY.validate_json(text)
    except ValidationError as wrong:
        raise LedgerDamaged("A saved plan cannot be read; it was written by another version of remem.") from wrong


def dump_step(step: Step) -> str:
    """The step as JSON."""
    return _STEP.dump_json(step).decode()


def load_step(text: str) -> Step | None:
    """The step of that JSON; None where it is none: then there is no way back."""
    try:
        return _STEP.validate_json(text)
    except ValidationError:
        return None


def dump_receipt(receipt: Receipt) -> str:
    """The receipt as JSON."""
    return _RECEIPT.dump_json(receipt).decode()


def load_receipt(text: str) -> Receipt:
    """The receipt of that JSON. Raises LedgerDamaged where it is none."""
    try:
        return _RECEIPT.validate_json(text)
    except ValidationError as wrong:
        raise LedgerDamaged("A saved receipt cannot be read; it was written by another version of remem.") from wrong


def scrubbed(steps: Sequence[Step], gone: Collection[MessageKey], pages: Collection[PageId]) -> tuple[Step, ...]:
    """The steps without what would hold, or bring back, words of the messages `gone`, whose `pages` changed."""
    if not gone:
        return tuple(steps)
    left = ((step, _scrubbed(step, gone, pages)) for step in steps)
    return tuple(new for old, new in left if old.said not in gone or new.exact or new.inverses)


def _scrubbed(step: Step, gone: Collection[MessageKey], pages: Collection[PageId]) -> Step:
    return replace(
        step,
        exact=tuple(one for one in step.exact if one.page not in pages and not holds(one, gone)),
        inverses=tuple(one for one in step.inverses if not holds(one, gone)),
        told=replace(step.told, pending=without(step.told.pending, gone)) if step.told else None,
        pending=without(step.pending, gone),
        text="" if step.said in gone else step.text,
        also=() if step.said in gone else step.also,
        notes=() if step.said in gone else step.notes,
    )


def holds(operation: Operation, gone: Collection[MessageKey]) -> bool:
    """Does the operation name one of these messages?"""
    text = _OPERATION.dump_json(operation).decode()
    return any(key in text for key in gone)
