"""Fitness at every threshold, and every record's life day by day: none is immortal, none leaves against the rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from memory_core.candidates import Value
from memory_core.forms.records import Record, Source
from memory_core.sleep.fitness import archivable, is_kept, is_proven, referenced_on, score
from tests.memory_core.sleep.kit import TODAY, record

LOW, MEDIUM, HIGH = Value.LOW, Value.MEDIUM, Value.HIGH


@pytest.mark.parametrize(
    ("days", "hits", "value", "points"),
    [
        (0, 0, LOW, 100),
        (0, 0, MEDIUM, 125),
        (0, 0, HIGH, 150),
        (1, 0, LOW, 99),
        (99, 0, LOW, 1),
        (100, 0, LOW, 0),
        (101, 0, LOW, 0),
        (100, 1, LOW, 5),
        (100, 9, LOW, 45),
        (100, 10, LOW, 50),
        (100, 11, LOW, 50),
        (0, 10, HIGH, 200),
        (0, 1000, HIGH, 200),
        (-3, 0, LOW, 100),
    ],
)
def test_score(days: int, hits: int, value: Value, points: int) -> None:
    assert score(record("x", days, hits=hits, value=value), TODAY) == points


@pytest.mark.parametrize(
    ("value", "hits", "last_day_kept"),
    [
        # LOW: 100 − days + 5·hits < 60 and 60 days
        (LOW, 0, 59),
        (LOW, 1, 59),
        (LOW, 2, 59),
        (LOW, 3, 59),
        (LOW, 4, 60),
        # MEDIUM: 125 − days + 5·hits < 60 and 60 days
        (MEDIUM, 0, 65),
        (MEDIUM, 1, 70),
        (MEDIUM, 2, 75),
        (MEDIUM, 3, 80),
        (MEDIUM, 4, 85),
        (HIGH, 0, 179),
        (HIGH, 4, 179),
        # five uses make any of them PROVEN
        (LOW, 5, 239),
        (MEDIUM, 5, 239),
        (MEDIUM, 50, 239),
        (HIGH, 5, 239),
    ],
)
def test_the_last_day_of_a_record(value: Value, hits: int, last_day_kept: int) -> None:
    """400 days of a life without a use: it stays each day up to that one, and is archivable each day after it."""
    told = [bool(archivable(record("x", days, hits=hits, value=value), TODAY)) for days in range(400)]
    assert told.index(True) == last_day_kept + 1
    assert all(told[last_day_kept + 1 :])
    assert not any(told[: last_day_kept + 1])


@pytest.mark.parametrize("value", list(Value))
@pytest.mark.parametrize("hits", range(13))
@pytest.mark.parametrize("proven", [False, True])
def test_no_record_is_immortal_and_none_leaves_within_sixty_days(value: Value, hits: int, proven: bool) -> None:
    lived = [replace(record("x", days, hits=hits, value=value), proven=proven) for days in range(400)]
    left = [days for days, one in enumerate(lived) if archivable(one, TODAY)]
    assert left, "immortal"
    assert min(left) >= 60
    assert left == list(range(min(left), 400)), "once it may leave it may leave on every later day"
    if proven or hits >= 5:
        assert min(left) == 240
    elif value is HIGH:
        assert min(left) == 180


@pytest.mark.parametrize("used_every", [1, 30, 59])
def test_a_record_that_is_used_stays(used_every: int) -> None:
    one = record("x", 0, value=LOW)
    for day in range(1, 400):
        today = TODAY + timedelta(days=day)
        assert not archivable(one, today)
        if day % used_every == 0:
            one = replace(one, last_referenced=today)


def test_each_rule_is_reached_and_named() -> None:
    assert archivable(record("x", 240, hits=5), TODAY).startswith("PROVEN")
    assert archivable(record("x", 180, value=HIGH), TODAY).startswith("HIGH")
    assert archivable(record("x", 66), TODAY) == "MEDIUM, score 59, not used for 66 days"
    assert archivable(record("x", 60, value=LOW), TODAY) == "LOW, score 40, not used for 60 days"


def test_a_record_in_conflict_never_leaves_by_age() -> None:
    one = replace(record("x", 1000, value=LOW), conflicts=("[2026-01-01] y",))
    assert archivable(one, TODAY) == ""


def test_proven_is_the_mark_or_five_uses() -> None:
    assert not is_proven(record("x", hits=4))
    assert is_proven(record("x", hits=5))
    assert is_proven(replace(record("x"), proven=True))


def test_what_tells_no_day_is_a_persons_own_and_has_no_age() -> None:
    own = Record(None, "Notes", "by hand")
    assert not is_kept(own)
    assert archivable(own, date(2999, 1, 1)) == ""


def test_without_a_day_of_its_own_a_record_counts_from_its_newest_source() -> None:
    told = Record(
        None, "x", sources=(Source("slack:T1:A", "a", "b", "2026-01-02 10:00"), Source(text="journal 2026-03-04"))
    )
    assert referenced_on(told) == date(2026, 3, 4)
    assert is_kept(told)


def test_a_record_that_was_never_referenced_counts_from_its_day() -> None:
    one = replace(record("x", 66), last_referenced=None)
    assert archivable(one, TODAY)
