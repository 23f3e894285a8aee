"""Which numbers tell one piece of work from another, and which only tell when."""

from __future__ import annotations

import pytest

from memory_core.extract.numbers import names, other_work

TIMES = (
    "by 14:00|at 3 pm|on 2026-05-01|by 5/6|am 5.5.|um 14 Uhr|on 5 May|May 5th, 2026|3rd of June|in 3 hours|"
    "within 2 weeks|in 3 Tagen|am 3. Oktober|5月3日|5月3号|3点|3天"
)


@pytest.mark.parametrize("text", TIMES.split("|"))
def test_a_time_names_no_work(text: str) -> None:
    assert names(f"renew the key {text}") == frozenset()


@pytest.mark.parametrize(
    "text", ["bug 1023", "#1023", "PR-1023", "server1023", "1023 号问题", "chapter 1023", "第1023章"]
)
def test_a_number_names_the_work(text: str) -> None:
    assert names(f"fix {text} by 14:00") == {"1023"}


def test_a_number_more_is_no_other_work() -> None:
    assert other_work("ship release 2.3", "release 2.4 is shipped")
    assert not other_work("ship release 2.3", "ship the release")
    assert not other_work("ship release 2.3", "ship release 2.3 to 4 shops")
