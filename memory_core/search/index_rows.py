"""How units, and where their terms stand, are written into a search index. Pure.

A place is one number of 64 bits: which unit of its source, at which position, and how much it counts there.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from datetime import date
from typing import Any

from memory_core.forms.units import Unit
from memory_core.ids import MessageKey, PageId
from memory_core.ranking import Spot
from memory_core.search.parts import Part, Placed

POSITION_BITS, WEIGHT_BITS = 28, 4


def postings(parts: Sequence[Part]) -> dict[str, array[int]]:
    """Where each term stands: unit, position and weight. Between two runs, and in one that is not joined, a
    position is left out, so that no pair is made of what does not stand together."""
    found: dict[str, array[int]] = {}
    for number, part in enumerate(parts):
        position = 0
        for run in part.runs:
            step = 1 if run.joined else 2
            for term in run.terms:
                place = (number << POSITION_BITS | position) << WEIGHT_BITS | run.weight
                if term in found:
                    found[term].append(place)
                else:
                    found[term] = array("Q", (place,))
                position += step
            position += 1
    return found


def spot_row(spot: Spot) -> list[object]:
    """What ranking must know of a unit, for JSON."""
    flags = [int(flag) for flag in (spot.asks, spot.number, spot.time)]
    return [spot.length, spot.session, spot.at, sorted(spot.speaker), *flags]


def spot_of(row: list[Any]) -> Spot:
    """The same, read back."""
    length, session, at, speaker, asks, number, time = row
    return Spot(length, session, at, frozenset(speaker), bool(asks), bool(number), bool(time))


def unit_text(placed: Placed) -> str:
    """A unit as JSON; what tells of its page stands with its source."""
    unit = placed.unit
    return json.dumps(
        [
            *(unit.text, unit.context, unit.title, unit.body, unit.record, unit.day and unit.day.isoformat()),
            *(unit.source, unit.said_by, unit.words, unit.close, placed.message, placed.talk, placed.at),
        ],
        ensure_ascii=False,
    )


def placed_of(page: PageId, sha256: str, text: str) -> Placed:
    """The same, read back."""
    told, context, title, body, record, day, source, said_by, words, close, message, talk, at = json.loads(text)
    unit = Unit(
        told,
        tuple(context),
        title,
        body,
        record,
        date.fromisoformat(day) if day else None,
        source,
        said_by,
        words,
        close,
    )
    return Placed(page, unit, sha256, MessageKey(message) if message else None, talk, at)
