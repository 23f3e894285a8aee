"""What is said of a sleep stays short, however many journals moved."""

from __future__ import annotations

from datetime import UTC, datetime

from memory_core.answers_sleep import PLACES, slept_text
from memory_core.ids import PageId
from memory_core.sleep.report import Report, Stage

AT = datetime(2026, 4, 6, 3, 10, tzinfo=UTC)


def _slept(pages: int) -> str:
    named = tuple(PageId(f"journal/2026-{1 + day // 28:02}-{1 + day % 28:02}") for day in range(pages))
    return slept_text(Report(Stage.DEEP, 2, AT, journals=pages, pages=named))


def test_a_sleep_of_a_few_pages_names_each() -> None:
    assert _slept(PLACES).endswith("journal/2026-01-11, journal/2026-01-12.")


def test_a_sleep_of_very_many_pages_names_the_first_and_counts_the_rest() -> None:
    text = _slept(168)
    assert text.endswith(f"journal/2026-01-12, {168 - PLACES} more pages.")
    assert len(text) < 400
