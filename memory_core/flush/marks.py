"""How the mark of a message names all that was written of it at once.

The ledger keeps one mark for a message, and it is put when everything is on its page: so a crash leaves either all of
it marked or nothing, and the next flush never meets a half. Of one statement the mark is `kind/record`; of several it
is a JSON list of [page, mark] pairs, in the order of the step that takes them back (memory_core.flush.plans.Step).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from memory_core.errors import LedgerDamaged
from memory_core.flush.plans import load_step
from memory_core.ids import MessageKey, PageId
from memory_core.ledger.base import WayBack

REPEAT = "repeat"
"""How a mark begins that was written at once and only repeated what is known."""

_SEVERAL: TypeAdapter[list[tuple[PageId, str]]] = TypeAdapter(list[tuple[PageId, str]])


@dataclass(frozen=True, slots=True)
class Written:
    """One statement that was written at once; `mark` is `kind/record`, `note` what the journal says of it ('': not
    known)."""

    message: MessageKey
    page: PageId
    mark: str
    note: str = ""


def in_one(marks: Sequence[tuple[PageId, str]]) -> tuple[PageId, str]:
    """The page and the mark under which the ledger keeps all of one message; there is at least one."""
    page, mark = marks[0]
    return (page, mark) if len(marks) == 1 else (page, _SEVERAL.dump_json(list(marks)).decode())


def each_in(page: PageId, mark: str) -> tuple[tuple[PageId, str], ...]:
    """The single marks again. Raises LedgerDamaged."""
    if not mark.startswith("["):
        return ((page, mark),)
    try:
        return tuple(_SEVERAL.validate_json(mark))
    except ValidationError as wrong:
        raise LedgerDamaged("A mark cannot be read; it was written by another version of remem.") from wrong


def each_written(
    rows: Iterable[tuple[MessageKey, PageId, str]], ways: Mapping[MessageKey, WayBack]
) -> Iterator[Written]:
    """What the ledger's rows tell, one by one, with what their ways back know of it. Raises LedgerDamaged."""
    for message, page, mark in rows:
        marks = each_in(page, mark)
        step = load_step(ways[message].back) if message in ways else None
        notes = step.notes if step is not None and len(step.notes) == len(marks) else ("",) * len(marks)
        for (on, single), note in zip(marks, notes, strict=True):
            yield Written(message, on, single, note)
