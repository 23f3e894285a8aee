"""attention.md: a merge touches its own row or line; what a person wrote elsewhere stays byte for byte."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms.attention import (
    TaskRow,
    parse,
    with_blocker,
    with_fact,
    with_task,
    without_blocker,
    without_done,
    without_task,
)
from memory_core.ids import PageId
from memory_core.layouts import APM
from memory_core.script import fold
from memory_core.templates import new_page
from memory_core.text import flat
from tests.scale import scale

NASTY = [
    "a | b",
    "\\",
    "\\| x",
    "## Active Tasks",
    "- Blockers: x",
    "<!-- y -->",
    "| --- |",
    "release notes",
    "x: y",
    "漢字",
]
TEXTS = (st.sampled_from(NASTY) | st.text(max_size=30)).filter(lambda text: bool(fold(flat(text)).strip()))
ROWS = st.builds(TaskRow, TEXTS, st.sampled_from(["pending", "in_progress", "blocked", "done"]), TEXTS, TEXTS)
HAND = st.lists(
    st.sampled_from(
        [
            "# Attention",
            "",
            "## Active Tasks",
            "| Task | Status | Who | Notes |",
            "|---|---|---|---|",
            "| Mine | pending | bo | |",
            "| Status | Prio | Task |",
            "## Blockers",
            "- the build",
            "## Environment Snapshot",
            "- db: 10.0.0.9",
            "## Own section",
            "prose",
            "```",
        ]
    ),
    max_size=14,
).map("\n".join)


def _new(newline: str = "\n") -> str:
    """The page as a first use lays it down."""
    return (new_page(APM.group, PageId("attention")) or "").replace("\n", newline)


def _flat(row: TaskRow) -> TaskRow:
    return TaskRow(*(flat(value) for value in (row.task, row.status, row.who, row.notes)))


@settings(max_examples=scale(4000))
@given(st.lists(ROWS, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_rows_are_read_back_and_known_by_their_title(rows: list[TaskRow], newline: str) -> None:
    text = _new(newline)
    wanted: dict[str, TaskRow] = {}
    for row in rows:
        text = with_task(text, row)
        old = wanted.get(row.key)
        wanted[row.key] = (
            _flat(row) if old is None else TaskRow(old.task, *(_flat(row).status, _flat(row).who, _flat(row).notes))
        )
    assert parse(text).tasks == tuple(wanted.values())
    assert text.count("\n") == text.count(newline)
    for row in rows:
        text = without_task(text, row.task)
    assert text == _new(newline)


@settings(max_examples=scale(4000))
@given(HAND, ROWS, TEXTS, TEXTS, st.sampled_from(["\n", "\r\n"]))
def test_only_what_is_ours_changes_and_a_second_time_changes_nothing(
    hand: str, row: TaskRow, blocker: str, value: str, newline: str
) -> None:
    hand = hand.replace("\n", newline)
    text = with_fact(with_blocker(with_task(hand, row), blocker), "last flush", value)
    read = parse(text)
    assert read.row(row.task) is not None
    assert flat(blocker) in read.blockers or any(fold(one) == fold(flat(blocker)) for one in read.blockers)
    assert ("last flush", flat(value)) in read.snapshot
    assert with_fact(with_blocker(with_task(text, row), blocker), "last flush", value) == text
    lines = text.splitlines()
    missing = [line for line in hand.splitlines() if line not in lines]
    assert [line for line in missing if row.key not in fold(line)] == []


@pytest.mark.parametrize("key", ["decision:", ":", "a:b :", "db :", "x:", ": y"])
def test_a_fact_is_found_again_under_a_key_with_colons(key: str) -> None:
    text = with_fact(_new(), key, "first")
    assert parse(text).fact(key) == "first"
    changed = with_fact(text, key, "second")
    assert parse(changed).fact(key) == "second"
    assert changed.count("first") == 0
    assert with_fact(changed, key, "second") == changed
    assert parse(with_fact(changed, key, "")).snapshot == parse(_new()).snapshot


def test_a_table_with_other_columns_keeps_them() -> None:
    text = "## Active Tasks\n| Prio | Status | Task |\n|---|---|---|\n| 1 | pending | Ship it |\n\nnote\n"
    changed = with_task(text, TaskRow("ship it", "done"))
    assert "| 1 | done | Ship it |" in changed
    assert with_task(changed, TaskRow("Other")).count("|  | pending | Other |") == 1
    assert changed.endswith("\n\nnote\n")


def test_a_blocker_goes_and_done_tasks_stay_for_the_day() -> None:
    text = with_blocker(_new(), "certificate expired")
    assert without_blocker(text, "Certificate EXPIRED") == _new()
    text = with_task(text, TaskRow("Ship", "done", "ana", "done 2026-04-06"))
    text = with_task(text, TaskRow("By hand", "done"))
    assert without_done(text, date(2026, 4, 6)) == text
    assert [row.task for row in parse(without_done(text, date(2026, 4, 7))).tasks] == ["By hand"]
