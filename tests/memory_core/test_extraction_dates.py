"""By when: what is read has one meaning, seen from the day of the message (Monday 2026-04-06)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.extract.dates import due_in

MONDAY = date(2026, 4, 6)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("by Friday", "2026-04-10"),
        ("by next Friday", "2026-04-17"),
        ("on monday", "2026-04-13"),
        ("tomorrow morning", "2026-04-07"),
        ("the day after tomorrow", "2026-04-08"),
        ("today, eod", "2026-04-06"),
        ("until the 14th", "2026-04-14"),
        ("by the 3rd", "2026-05-03"),
        ("by 2026-04-10", "2026-04-10"),
        ("by June 12", "2026-06-12"),
        ("12 June 2027", "2027-06-12"),
        ("by March 1", "2027-03-01"),
        ("end of month", "2026-04-30"),
        ("in 3 days", "2026-04-09"),
        ("end of the week", "2026-04-10"),
        ("周五前", "2026-04-10"),
        ("下周三", "2026-04-15"),
        ("本周一", "2026-04-06"),
        ("明天下班前", "2026-04-07"),
        ("后天", "2026-04-08"),
        ("大后天", "2026-04-09"),
        ("4月10日", "2026-04-10"),
        ("15号之前", "2026-04-15"),
        ("3天内", "2026-04-09"),
        ("月底", "2026-04-30"),
        ("金曜日まで", "2026-04-10"),
        ("来週の月曜", "2026-04-13"),
        ("明日", "2026-04-07"),
        ("bis Freitag", "2026-04-10"),
        ("bis zum 14. fertig", "2026-04-14"),
        ("am 14.05.2026", "2026-05-14"),
        ("14. Mai", "2026-05-14"),
        ("übermorgen", "2026-04-08"),
        ("bis morgen", "2026-04-07"),
    ],
)
def test_dates_that_have_one_meaning_are_read(text: str, when: str) -> None:
    assert due_in(text, MONDAY) == date.fromisoformat(when)


@pytest.mark.parametrize(
    "text",
    [
        "soon",
        "4/10",
        "guten Morgen",
        "2026-02-30",
        "version 3.11",
        "maybe later",
        "31.02.2026",
        "last friday",
        "the son",
        "",
    ],
)
def test_what_is_no_date_or_has_two_meanings_is_left(text: str) -> None:
    assert due_in(text, MONDAY) is None


@given(st.text(max_size=80), st.dates())
def test_no_text_and_no_day_makes_it_raise(text: str, day: date) -> None:
    due_in(text, day)


@given(st.dates(date(2000, 1, 1), date(2090, 1, 1)), st.sampled_from(["monday", "周三", "金曜", "Sonntag", "friday"]))
def test_a_weekday_lies_within_the_next_seven_days(day: date, name: str) -> None:
    when = due_in(f"by {name}", day)
    assert when is not None
    assert timedelta(0) < when - day <= timedelta(7)
