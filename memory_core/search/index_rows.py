"""How units are written into a search index, and read back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

from memory_core.forms.units import Unit
from memory_core.ids import MessageKey, PageId
from memory_core.ranking import Spot
from memory_core.search.parts import Placed

UNIT = "text, context, title, body, record, day, told_by, said_by, words, close, message, talk, at"
"""The columns of a unit: `context` one line each, `day` as an ordinal, `told_by` its source."""
UnitRow: TypeAlias = tuple[str, str, str, str, str, int | None, str, str, str, int, str | None, str, float | None]
SpotRow: TypeAlias = tuple[int, str, float | None, Sequence[str], int, int, int]
"""The fields of a Spot as JSON has them."""


def spot_row(spot: Spot) -> SpotRow:
    """What ranking must know of a unit, for JSON."""
    flags = int(spot.asks), int(spot.number), int(spot.time)
    return (spot.length, spot.session, spot.at, sorted(spot.speaker), *flags)


def spots_of(rows: Sequence[SpotRow]) -> list[Spot]:
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
        unit.text,
        "\n".join(unit.context),
        unit.title,
        unit.body,
        unit.record,
        unit.day.toordinal() if unit.day else None,
        unit.source,
        unit.said_by,
        unit.words,
        unit.close,
        placed.message,
        placed.talk,
        placed.at,
    )


def placed_of(page: PageId, sha256: str, row: UnitRow) -> Placed:
    """The same, read back."""
    told, context, title, body, record, day, source, said_by, words, close, message, talk, at = row
    unit = Unit(  # in the order of the fields: many are read, and by name it takes half as long again
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
