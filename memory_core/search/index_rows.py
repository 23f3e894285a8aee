"""How units, and where their terms stand, are written into a search index. Pure.

A place is one number of 64 bits: which unit of its source, at which position, and how much it counts there.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from functools import partial
from itertools import count
from typing import Any, TypeAlias

from memory_core.forms.units import Unit
from memory_core.ids import MessageKey, PageId
from memory_core.ranking import Spot
from memory_core.search.parts import Part, Placed

POSITION_BITS, WEIGHT_BITS = 28, 4
UNIT = "text, context, title, body, record, day, told_by, said_by, words, close, message, talk, at"
"""The columns of a unit: `context` one line each, `day` as an ordinal, `told_by` its source."""
UnitRow: TypeAlias = tuple[str, str, str, str, str, int | None, str, str, str, int, str | None, str, float | None]


def postings(parts: Sequence[Part]) -> dict[str, bytes]:
    """Where each term stands: unit, position and weight. Between two runs, and in one that is not joined, a
    position is left out, so that no pair is made of what does not stand together."""
    found: defaultdict[str, array[int]] = defaultdict(partial(array, "Q"))
    for number, part in enumerate(parts):
        position = number << POSITION_BITS
        for run in part.runs:
            step = 1 if run.joined else 2
            first = position << WEIGHT_BITS | run.weight
            for term, place in zip(run.terms, count(first, step << WEIGHT_BITS), strict=False):
                found[term].append(place)
            position += step * len(run.terms) + 1
    return {term: places.tobytes() for term, places in found.items()}


def spot_row(spot: Spot) -> list[object]:
    """What ranking must know of a unit, for JSON."""
    flags = int(spot.asks), int(spot.number), int(spot.time)
    return [spot.length, spot.session, spot.at, sorted(spot.speaker), *flags]


def spots_of(rows: Sequence[Sequence[Any]]) -> list[Spot]:
    """The same of all units of a source, read back; what many of them say is kept once."""
    sessions: dict[str, str] = {}
    speakers: dict[tuple[str, ...], frozenset[str]] = {(): frozenset()}
    found: list[Spot] = []
    for length, session, at, speaker, asks, number, time in rows:
        who = tuple(speaker)
        if who not in speakers:
            speakers[who] = frozenset(who)
        same = sessions.setdefault(session, session)
        found.append(Spot(length, same, at, speakers[who], asks == 1, number == 1, time == 1))
    return found


def unit_row(placed: Placed) -> UnitRow:
    """A unit as `UNIT` names it; what tells of its page stands with its source."""
    unit = placed.unit
    return (
        *(
            unit.text,
            "\n".join(unit.context),
            unit.title,
            unit.body,
            unit.record,
            unit.day.toordinal() if unit.day else None,
        ),
        *(unit.source, unit.said_by, unit.words, unit.close, placed.message, placed.talk, placed.at),
    )


def placed_of(page: PageId, sha256: str, row: UnitRow) -> Placed:
    """The same, read back."""
    told, context, title, body, record, day, source, said_by, words, close, message, talk, at = row
    unit = Unit(
        told,
        tuple(context.split("\n")) if context else (),
        title,
        body,
        record,
        date.fromordinal(day) if day else None,
        source,
        said_by,
        words,
        bool(close),
    )
    return Placed(page, unit, sha256, MessageKey(message) if message else None, talk, at)
