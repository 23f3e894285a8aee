"""The parts of a page: what stands alone, what is context, what is not shown."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms.units import render, units_of
from memory_core.ids import PageId
from memory_core.layouts import Form
from tests.memory_core.loading_parts import ATTENTION, EXPERIENCE
from tests.scale import scale

PROJECT = PageId("project")
LINES = st.sampled_from(
    ["# One", "## Two", "### Three", "text of a person", "- item", "  deeper", "| a | b |", "|---|---|", "| 1 | 2 |",
     "```", "<!-- hidden -->", "", "", "---", "## [2026-04-06] Dated", "- Body: said", "- Tags: x", "决定用 SQLite。"]
)  # fmt: skip


def test_a_record_is_shown_without_tags_and_fitness() -> None:
    page = units_of(PageId("experience"), Form.NEWEST_FIRST, EXPERIENCE)
    assert len(page.units) == 3
    first = page.units[0]
    assert (first.title, first.day) == ("Redis for the session cache", date(2026, 4, 6))
    assert first.record
    assert "Fitness" not in page.text
    assert "Tags" not in page.text
    assert "console:ana" not in page.text
    assert "(@ana in #build, 2026-04-06 14:02)" in page.text


def test_rows_and_items_are_units_and_the_head_of_a_table_is_shown_once() -> None:
    page = units_of(PageId("attention"), Form.ATTENTION, ATTENTION)
    assert [unit.text for unit in page.units] == [
        "| Move the runner | in_progress | ana | |",
        "- Waiting for the licence (bo)",
    ]
    assert page.text.count("| Task | Status | Who | Notes |") == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Only a heading\n",
        "# T\n\n| Task | Status |\n|---|---|\n",
        "---\n\n# T\n<!-- a note\nof ours -->\n## Empty\n",
    ],
)
def test_what_holds_nothing_has_no_units(text: str) -> None:
    assert units_of(PageId("attention"), Form.ATTENTION, text).units == ()


def test_comments_are_not_shown_and_fences_are_one_part() -> None:
    text = "- use redis (@ana, 14:02) <!-- console:ana; k -->\n\n```\n# no heading\n\n- no item\n```\n"
    page = units_of(PageId("journal/2026-04-06"), Form.JOURNAL, text)
    assert [unit.text for unit in page.units] == ["- use redis (@ana, 14:02)", "```\n# no heading\n\n- no item\n```"]
    assert page.units[0].source == "@ana, 14:02"
    assert page.units[0].day == date(2026, 4, 6)


@given(st.lists(LINES, max_size=40))
@settings(max_examples=scale(2000), deadline=None)
def test_no_text_is_lost_and_parts_of_a_page_are_written_like_the_whole(lines: list[str]) -> None:
    page = units_of(PROJECT, Form.ADDED, "\n".join(lines))
    for line in ("text of a person", "决定用 SQLite。", "- item"):
        assert page.text.count(line) == lines.count(line)
    assert render(page.units) == page.text


@given(st.text(max_size=400))
@settings(max_examples=scale(2000), deadline=None)
def test_any_text_can_be_taken_apart(text: str) -> None:
    for form in (Form.ADDED, Form.JOURNAL, Form.PROSE):
        units_of(PROJECT, form, text)


@pytest.mark.parametrize(
    "line", ["<!--" * 20_000, "-" * 100_000 + "x", "| " * 50_000, "# " + " \t" * 50_000 + "x", "(@" * 50_000]
)
def test_a_hostile_line_takes_no_longer_than_its_length(line: str) -> None:
    start = time.perf_counter()
    units_of(PROJECT, Form.ATTENTION, line + "-->")
    assert time.perf_counter() - start < 1.0
