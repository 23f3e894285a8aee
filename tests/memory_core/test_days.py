"""Which days a question names, seen from Monday, 2026-11-30."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.days import spans, worth

TODAY = date(2026, 11, 30)
PIECES = re.split(" ", "last may 31 2月 30 0 99 2023 . , 月 日 年 week of - 二 周 前 ago days a")


def _worth(text: str, day: str) -> float:
    return worth(spans(text, TODAY), float(date.fromisoformat(day).toordinal()) + 0.4)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what was decided on 2026-04-06?", "2026-04-06"),
        ("what did Ana say on 8 May, 2023?", "2023-05-08"),
        ("what did Ana say on May 8th, 2023?", "2023-05-08"),
        ("what did Ana say on the 8th of May?", "2025-05-08"),
        ("was wurde am 8. Mai entschieden?", "2026-05-08"),
        ("what happened in May 2023?", "2023-05-20"),
        ("what happened in may?", "2024-05-20"),
        ("what happened in late December?", "2025-12-29"),
        ("5月8日决定了什么", "2026-05-08"),
        ("2026年5月の会議", "2026-05-30"),
        ("what did we agree on yesterday?", "2026-11-29"),
        ("gestern", "2026-11-29"),
        ("what did Ana say last Friday?", "2026-11-27"),
        ("上周五说了什么", "2026-11-27"),
        ("上周决定了什么", "2026-11-25"),
        ("先週の決定", "2026-11-25"),
        ("the plan of last week", "2026-11-23"),
        ("last month", "2026-10-12"),
        ("last year", "2025-03-03"),
        ("3 days ago", "2026-11-27"),
        ("两周前", "2026-11-16"),
    ],
)
def test_a_day_that_is_named_is_worth_most(text: str, day: str) -> None:
    assert _worth(text, day) == 1.0
    assert _worth(text, "2019-09-24") == 0.0


def test_what_is_told_late_is_worth_nearly_as_much_and_the_month_half() -> None:
    assert _worth("on May 8, 2023", "2023-05-12") == 0.8
    assert _worth("on May 8, 2023", "2023-05-02") == 0.5
    assert _worth("in 2022", "2022-07-07") == 0.5


@pytest.mark.parametrize(
    "text", ["you may go on", "who marched on Rome", "v2.14 at 10:30", "Feb 30", "13月", "march on"]
)
def test_what_names_no_day(text: str) -> None:
    assert spans(text, TODAY) == ()


def test_without_today_only_a_year_counts() -> None:
    assert spans("last week, in May, on May 8", None) == ()
    assert spans("on May 8, 2023", None) == spans("on May 8, 2023", TODAY)


@given(st.text(max_size=80), st.dates(date(1990, 1, 1)))
def test_no_text_is_a_fault(text: str, today: date) -> None:
    assert all(span.first <= span.last for span in spans(text, today))


@given(
    st.lists(st.sampled_from(PIECES)).map(" ".join),
    st.dates(date(1, 1, 1)),
)
def test_no_pieces_of_dates_are_a_fault(text: str, today: date) -> None:
    assert all(span.first <= span.last for span in spans(text, today))
