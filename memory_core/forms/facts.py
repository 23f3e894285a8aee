"""A fact of the environment: a line of a board, and the record that it becomes when the board has no room for it.

    - staging db: 10.0.0.9 (@ana, 2026-04-06) <!-- slack:T1:C9:1712412120.000100 -->
    - staging db: 10.0.0.9 (@ana, 2026-04-06; again 2026-05-02) <!-- … and the message that said it again -->

    ## [2026-04-06] staging db
    - Source: @ana in build, 2026-04-06, slack:T1:C9:1712412120.000100
    - Body: staging db: 10.0.0.9

It is known by its key in both. Only a line with who, when and a mark is ours: a person's own lines, and those of the
bot itself (`last flush`), are no facts of this kind and stay where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_core.candidates import TITLE_CHARACTERS, Value
from memory_core.forms.blocks import day_of
from memory_core.forms.listed import fact_key
from memory_core.forms.record_values import Record, Source
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat, one_line

_DAY = r"(\d{4})-(\d\d)-(\d\d)"
_SIGNED = re.compile(rf"(?P<value>.*\S) \(@(?P<name>[^()]*), {_DAY}(?:; again {_DAY})?\)")


@dataclass(frozen=True, slots=True)
class Stated:
    """What a board says of a fact: its value, who said it on which day, and when it was said last."""

    value: str
    name: str
    day: date
    last: date

    def __str__(self) -> str:
        again = f"; again {self.last}" if self.last > self.day else ""
        return f"{self.value} (@{self.name}, {self.day}{again})"

    def again(self, day: date) -> Stated:
        """The same, said again on that day."""
        return replace(self, last=max(self.last, day))


def stated(text: str) -> Stated | None:
    """The value of a board's fact, read; None for one that nobody signed."""
    found = _SIGNED.fullmatch(text)
    if found is None:
        return None
    numbers = found.groups()[2:]
    day = day_of(*numbers[:3])
    last = day_of(*numbers[3:]) if numbers[3] else day
    return Stated(found["value"], found["name"], day, last) if day and last else None


def record_of(key: str, said: Stated, place: str, keys: Sequence[MessageKey]) -> Record:
    """The record of a fact, used when it was said last. A board knows no person's id, so its source has none."""
    source = Source("", said.name, place, said.day.isoformat(), tuple(keys))
    title = one_line(key, TITLE_CHARACTERS)
    return Record(said.day, title, f"{key}: {said.value}", (), said.last, 0, Value.LOW, (source,))


def key_of(record: Record) -> str:
    """The key of a record that is a fact, made comparable; '' for any other record."""
    key, colon, _ = flat(record.body).partition(": ")
    return comparable(key) if colon and one_line(key, TITLE_CHARACTERS) == record.title else ""


def value_of(record: Record) -> str:
    """The value of a record that is a fact."""
    return flat(record.body).partition(": ")[2]


def comparable(key: str) -> str:
    """A key as it is compared: on one line, case and width apart."""
    return fold(fact_key(key))
