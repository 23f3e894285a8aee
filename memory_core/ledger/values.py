"""What both ledgers do to a value before they keep it, so that they give back the same.

Times are kept in UTC. Platforms sometimes deliver half of a surrogate pair (a name cut in the middle of an emoji);
that is no text, no file can hold it, and it becomes U+FFFD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from memory_core.errors import LedgerFailed
from memory_core.ledger.base import Plan
from memory_core.messages import Message

EARLY_EDIT_KEPT = timedelta(days=1)
"""How long an edit waits for its message. It may belong to a room that is not recorded, so it does not stay."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The newest hit, mark and change that a plan covers, by their numbers."""

    hit: int = 0
    mark: int = 0
    change: int = 0


def utc(moment: datetime) -> datetime:
    """The same moment in UTC."""
    return moment.astimezone(UTC)


def storable(text: str) -> str:
    """`text` as UTF-8 can hold it: surrogate pairs joined, halves replaced by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def stored(message: Message) -> Message:
    """The message as a ledger gives it back."""
    return replace(
        message,
        author_name=storable(message.author_name),
        text=storable(message.text),
        room_title=storable(message.room_title),
        sent_at=utc(message.sent_at),
        edited_at=utc(message.edited_at) if message.edited_at is not None else None,
    )


def stored_plan(plan: Plan) -> Plan:
    """The plan as a ledger gives it back."""
    return replace(
        plan, operations=storable(plan.operations), receipt=storable(plan.receipt), cursors=dict(plan.cursors)
    )


def is_newer(edited_at: datetime, than: datetime | None) -> bool:
    """Does an edit of that time replace a text of `than` (None: never edited)?"""
    return than is None or utc(edited_at) > utc(than)


def closed_already(plan: Plan) -> LedgerFailed:
    """What both ledgers say when a closed plan is saved again."""
    return LedgerFailed(f"Plan {plan.id} is closed already; give the new plan an id of its own.")


def out_of_order(rows: Sequence[tuple[int, int]]) -> list[int]:
    """Of rows (place, time) in the order of their places: the places that must go to the end, in this order, so that
    the times never go back.
    """
    earliest: int | None = None
    late = []
    for _, time in reversed(rows):
        if earliest is not None and time > earliest:
            late.append(time)
        earliest = time if earliest is None else min(earliest, time)
    if not late:
        return []
    first = min(late)
    moved = sorted((time, place) for place, time in rows if time >= first)
    return [place for _, place in moved]
