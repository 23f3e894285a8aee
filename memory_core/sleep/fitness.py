"""Fitness: how alive a record is, and when it may leave its page for the archive. Pure arithmetic.

    score     max(0, 100 − days since it was referenced) + min(50, 5 · hits) + 50 (HIGH), 25 (MEDIUM), 0 (LOW)

    PROVEN               not referenced for 240 days
    HIGH                 not referenced for 180 days
    MEDIUM and LOW       score below 60 and not referenced for 60 days

PROVEN is a record that is marked so, or that was used five times; it goes by that rule whatever its value. So every
record has a last day: an unused LOW one its 60th, an unused MEDIUM one its 66th, one that was used a few times up to
its 101st; more uses make it PROVEN. A record in conflict never leaves by age: somebody has to decide first.

Line budgets take the lowest scores first (budgets.py), but there a use of the last 30 days counts as one of today.

"Referenced" is the last use; a record that tells none counts from its own day, else from its newest source. One that
tells no day at all is a person's own text: it has no fitness, and no rule here ever touches it.
"""

from __future__ import annotations

import re
from datetime import date

from memory_core.candidates import Value
from memory_core.forms.blocks import day_of
from memory_core.forms.records import Record

PROVEN_HITS = 5
PROVEN_DAYS = 240
HIGH_DAYS = 180
OTHER_DAYS = 60
OTHER_SCORE = 60
LATELY_DAYS = 30
_RECENT = 100
_USED = 50
_PER_HIT = 5
_WORTH = {Value.HIGH: 50, Value.MEDIUM: 25, Value.LOW: 0}
_SAID = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def referenced_on(record: Record) -> date | None:
    """The last day on which the record was used or said; None where it tells no day."""
    return max((day for day in (record.last_referenced, *days_of(record)) if day), default=None)


def days_of(record: Record) -> tuple[date, ...]:
    """The days on which the record was stated: its own and its sources'."""
    said = (_SAID.search(source.at or source.text) for source in record.sources)
    days = (day_of(found[1], found[2], found[3]) for found in said if found)
    return tuple(day for day in (record.day, *days) if day)


def is_kept(record: Record) -> bool:
    """Is the record one of memory's, with a day or a source that tells one? A person's undated section is not."""
    return bool(days_of(record))


def idle_days(record: Record, today: date) -> int:
    """Days since the record was referenced; never negative, 0 for a record that tells no day."""
    last = referenced_on(record)
    return max(0, (today - last).days) if last else 0


def score(record: Record, today: date) -> int:
    """How alive the record is, 0 to 200."""
    recency = max(0, _RECENT - idle_days(record, today))
    return recency + min(_USED, _PER_HIT * record.hit_count) + _WORTH[record.value]


def standing_score(record: Record, today: date) -> int:
    """The score by which records leave for a line budget: one used in the last 30 days counts as used today.

    Else, in a busy room, what is asked about every few weeks loses to each new record that nobody asked about, and
    never comes to the hits that would make it PROVEN.
    """
    lately = record.hit_count > 0 and idle_days(record, today) <= LATELY_DAYS
    return score(record, today) + (min(_RECENT, idle_days(record, today)) if lately else 0)


def is_proven(record: Record) -> bool:
    """Is the record marked as PROVEN, or does it deserve the mark?"""
    return record.proven or record.hit_count >= PROVEN_HITS


def archivable(record: Record, today: date) -> str:
    """The rule by which the record goes to the archive today; '' where none does."""
    days = idle_days(record, today)
    if record.conflicts or not is_kept(record):
        return ""
    if is_proven(record):
        return f"PROVEN, not used for {days} days" if days >= PROVEN_DAYS else ""
    if record.value is Value.HIGH:
        return f"HIGH, not used for {days} days" if days >= HIGH_DAYS else ""
    points = score(record, today)
    if days >= OTHER_DAYS and points < OTHER_SCORE:
        return f"{record.value.value}, score {points}, not used for {days} days"
    return ""
