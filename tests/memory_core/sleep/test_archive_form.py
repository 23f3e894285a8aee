"""The archive: records beside journals, each found again whatever the others hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms import records
from memory_core.forms.archive import Archived, archived, is_sound, journal_block, with_blocks, without_blocks
from memory_core.forms.records import Record, render
from memory_core.layouts import Form
from tests.memory_core.sleep.kit import TODAY, record
from tests.scale import scale

TITLE = "# Archive 2026-09"
FORMS = ["# 2026-08-01 (+08:00)", "## 14:30 Notes", "### Decisions", "- a line", "```", "~~~", "<!-- open", "-->"]
HANDS = ["## [2026-08-01] by hand", "### 2026-08-01 - y", "###### deep", "#", "~~[2026-01-01] old: x~~", "", "  text"]
ENTRIES = ["[2026-08-01] Decision: a → b", "- Tags: a", "- Body: b", "`x`"]
ODD = st.lists(st.sampled_from([*FORMS, *HANDS, *ENTRIES]), max_size=12)


def test_a_journal_becomes_one_block() -> None:
    text = "# 2026-08-01 (+08:00)\n\n## 14:30 Notes\n\n### Decisions\n- Redis (@ana, 14:02) <!-- a; b -->\n"
    assert journal_block("2026-08-01", text) == (
        "## Journal 2026-08-01 (+08:00)\n\n#### 14:30 Notes\n\n##### Decisions\n- Redis (@ana, 14:02) <!-- a; b -->"
    )


@settings(max_examples=scale(2000), deadline=None)
@given(ODD, ODD)
def test_records_are_found_between_any_journals(one: list[str], other: list[str]) -> None:
    """Also below a fence or a comment that a journal never closes; and the archive is the same added twice."""
    kept = record("Redis for the cache", 70, number=1)
    block = render(kept).removesuffix("\n")
    blocks = (journal_block("2026-08-01", "\n".join(one)), block, journal_block("2026-08-02", "\n".join(other)))
    assert all(map(is_sound, blocks))
    text = with_blocks("", TITLE, blocks)
    assert [placed.record for placed in records.parse(text).records].count(kept) == 1
    assert with_blocks(text, TITLE, blocks) == text
    assert kept not in [placed.record for placed in records.parse(without_blocks(text, (block,))).records]


@settings(max_examples=scale(2000), deadline=None)
@given(ODD)
def test_a_journal_loses_no_line(lines: list[str]) -> None:
    block = journal_block("2026-08-01", "\n".join(lines))
    left = [line.strip("# \\").removeprefix("Note ") for line in block.split("\n")]
    for line in lines:
        wanted = line.strip("# \\")
        assert not wanted or wanted in left or f"Journal {wanted}" in left


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_leaves_as_it_came(newline: str) -> None:
    first = f"{TITLE}{newline}{newline}by hand{newline}"
    block = render(record("x", 70)).removesuffix("\n")
    assert without_blocks(with_blocks(first, TITLE, (block,)), (block,)).rstrip() == first.rstrip()


def test_the_field_tells_when_why_and_where_from() -> None:
    why = Archived(TODAY, 41, "memory", "Key Decisions")
    assert str(why) == "2026-09-01, score=41, page=memory, section=Key Decisions"
    assert archived(Record(None, "x", archived=str(why))) == why
    assert archived(Record(None, "x", archived="2026-09-01, score=41")) == Archived(TODAY, 41)
    assert archived(Record(None, "x", archived="2026-13-01")) is None
    assert archived(Record(None, "x", archived="by me")) is None


@settings(max_examples=scale(2000), deadline=None)
@given(st.lists(st.integers(0, 6), max_size=5), st.lists(st.integers(0, 6), max_size=6), st.sampled_from(Form))
def test_records_inserted_together_stand_as_if_each_came_alone(old: list[int], new: list[int], form: Form) -> None:
    text = "# Page\n\nBy hand.\n"
    for number, ago in enumerate(old):
        text = records.insert(text, record(f"old {number}", ago), form)
    more = [record(f"new {number}", ago, body="b") for number, ago in enumerate(new)]
    one_by_one = text
    for one in more:
        one_by_one = records.insert(one_by_one, one, form)
    assert records.insert_all(text, more, form) == one_by_one
