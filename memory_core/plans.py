"""A flush as it is persisted before it is applied, and the receipt that it ends with.

`Plan.operations` of the ledger holds a `Body` as JSON: what is to be done, how it is taken back, and what the state
file and the receipt will say. So a plan that a crash left open can be finished by anyone who finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from pydantic import TypeAdapter, ValidationError

from memory_core.errors import LedgerDamaged
from memory_core.flush_state import PendingItem
from memory_core.ids import PageId
from memory_core.layouts import Kind
from memory_core.operations import Operation


class Trigger(StrEnum):
    """What started a flush."""

    COMMAND = "command"
    IDLE = "idle"
    CONTEXT = "context"
    DAY = "day"
    FIRST_USE = "first_use"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a flush did, worded by others from what was read back.

    `written`: it had content and everything was read back. `problem`: why nothing was saved; then the text is kept
    and no cursor moved. `running`: another flush of this scope was at work, and this one did nothing. `messages` are
    those of persons that were read, `pending` the items that are still open.
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


def joined(finished: Sequence[Receipt], receipt: Receipt) -> Receipt:
    """The receipt of a save that first finished what an earlier one had begun: the asker was told that it waits."""
    for one in finished:
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
class Body:
    """A persisted plan. `content` False: hits and pending items only, no entry and no number of its own.

    `undo` holds the inverses in the order in which they are to be applied; of a step without content also those of
    the step before, so that the last step with content can be taken back.
    """

    receipt: Receipt
    pending: tuple[PendingItem, ...]
    context_usage: float | None
    content: bool
    operations: tuple[Operation, ...]
    undo: tuple[Operation, ...]
    version: int = 1


_BODY = TypeAdapter(Body)
_RECEIPT = TypeAdapter(Receipt)


def dump(body: Body) -> str:
    """The plan as JSON."""
    return _BODY.dump_json(body).decode()


def load(text: str) -> Body:
    """The plan of that JSON. Raises LedgerDamaged where it is none."""
    try:
        return _BODY.validate_json(text)
    except ValidationError as wrong:
        raise LedgerDamaged("A saved plan cannot be read; it was written by another version of remem.") from wrong


def dump_receipt(receipt: Receipt) -> str:
    """The receipt as JSON."""
    return _RECEIPT.dump_json(receipt).decode()


def load_receipt(text: str) -> Receipt:
    """The receipt of that JSON. Raises LedgerDamaged where it is none."""
    try:
        return _RECEIPT.validate_json(text)
    except ValidationError as wrong:
        raise LedgerDamaged("A saved receipt cannot be read; it was written by another version of remem.") from wrong
