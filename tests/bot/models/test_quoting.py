"""Which records an answer quotes."""

from __future__ import annotations

import pytest

from bot.models.quoting import quoted
from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.forms.units import render, units_of
from memory_core.ids import PageId
from memory_core.layouts import Form
from tests.bot.models.asking import SCOPE

PAGE = PageId("experience")
_TEXT = """# Experience

## [2026-04-06] Redis for the session cache
- Body: Redis over Memcached, because sessions must survive a restart.

## [2026-04-05] Nightly builds run on the new runner
- Body: The nightly builds moved to the new runner in Frankfurt.

## [2026-04-04] 会话缓存使用 Redis
- Body: 会话缓存使用 Redis，因为重启后必须保留会话。
"""


def _disclosed() -> tuple[Disclosure, list[str]]:
    units = units_of(PAGE, Form.NEWEST_FIRST, _TEXT).units
    records = [unit.record for unit in units]
    part = Loaded(PAGE, Step.PAGE, render(units), 10, "", records=tuple(records), form=Form.NEWEST_FIRST)
    return Disclosure(SCOPE, "#build", (part,)), records


@pytest.mark.parametrize(
    ("answer", "question", "which"),
    [
        ("It was chosen over Memcached since sessions must survive a restart.", "why Redis?", [0]),
        ("Redis, because sessions must survive a restart. Builds moved to the new runner in Frankfurt.", "?", [0, 1]),
        ("我们用 Redis，因为重启后必须保留会话。", "缓存用什么？", [2]),
        ("I do not know.", "why Redis for the session cache?", []),
        ("I know nothing about Redis for the session cache.", "why Redis for the session cache?", []),
        ("Ben runs the build.", "who runs it?", []),
        ("", "x", []),
    ],
)
def test_a_record_is_quoted_by_a_run_of_its_words_or_by_most_of_them(
    answer: str, question: str, which: list[int]
) -> None:
    disclosure, records = _disclosed()
    assert quoted(answer, question, [disclosure, disclosure]) == tuple((PAGE, records[at]) for at in which)
