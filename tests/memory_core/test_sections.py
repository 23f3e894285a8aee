"""Records under headings: newest first in their section, a level below it; what a person wrote there stays."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms import sections
from memory_core.forms.records import Record, insert, on_page, parse, remove, render
from memory_core.forms.units import units_of
from memory_core.ids import PageId
from memory_core.layouts import ADAPTIVE, Form
from memory_core.operations.records import AddRecord, DropRecord, StrikeRecord
from memory_core.templates import new_page
from tests.scale import scale

MEMORY = PageId("memory")
NEW = new_page(ADAPTIVE.direct, MEMORY) or ""
SECTIONS = ("Systems Built", "Lessons Learned", "Key Decisions", "Environment")
HAND = st.lists(
    st.sampled_from(
        [
            "# Long-Term Memory",
            "",
            "## Systems Built",
            "- **Data pipeline**: SQLite-based, runs daily at 6 AM",
            "## Lessons Learned",
            "1. SQLite > JSON for anything over 100 records",
            "### By hand, deeper",
            "## Key Decisions",
            "- Chose framework A over B",
            "- Source: a person's own line",
            "### [2026-02-03] An old one",
            "- Body: kept",
            "~~[2026-01-01] Struck: so~~",
            "## Own",
            "```",
            "## Key Decisions in a fence",
            "| a | b |",
        ]
    ),
    max_size=16,
).map("\n".join)
RECORDS = st.builds(
    Record,
    st.dates(date(2026, 1, 1), date(2026, 4, 30)),
    st.sampled_from(["Redis", "漢字", "# no", "a | b", "Source: x"]),
    st.sampled_from(["", "why", "## Key Decisions\n- Source: y", "```"]),
)


def _record(day: int, title: str) -> Record:
    return Record(date(2026, 4, day), title, f"because of {title}")


@settings(max_examples=scale(4000), deadline=None)
@given(HAND, st.lists(RECORDS, max_size=5), st.sampled_from(SECTIONS), st.sampled_from(["\n", "\r\n"]))
def test_records_stand_in_their_section_and_hand_written_lines_stay(
    hand: str, records: list[Record], section: str, newline: str
) -> None:
    hand = hand.replace("\n", newline)
    text = hand
    for record in records:
        add = AddRecord(MEMORY, render(record), section)
        text = add.apply(text, Form.SECTIONS)
        placed = parse(text).find(record.identity)
        assert placed is not None
        assert add.apply(text, Form.SECTIONS) == text
        if not any(one.record.identity == record.identity for one in parse(hand).records):
            assert sections.section_at(text, placed.start).casefold() == section.casefold()
            heading = sections.span(text, section)
            assert heading is not None
            assert placed.level == heading[2] + 1
    lost = Counter(hand.split("\n")) - Counter(text.split("\n"))
    assert set(lost) <= {"", "\r", hand.split("\n")[-1]}
    assert newline not in hand or text.count("\n") == text.count(newline)
    for record in records:
        text = DropRecord(MEMORY, record.identity).apply(text, Form.SECTIONS)
    assert Counter(text.split()) - Counter(["##", *section.split()]) <= Counter(hand.split())


def test_newest_first_in_each_section() -> None:
    text = NEW
    for day, title in ((2, "two"), (5, "five"), (3, "three")):
        text = insert(text, _record(day, title), Form.SECTIONS, section="Key Decisions")
    text = insert(text, _record(4, "four"), Form.SECTIONS, section="Systems Built")
    assert [placed.record.title for placed in parse(text).records] == ["four", "five", "three", "two"]
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Long-Term Memory",
        "## Systems Built",
        "### [2026-04-04] four",
        "## Lessons Learned",
        "## Key Decisions",
        "### [2026-04-05] five",
        "### [2026-04-03] three",
        "### [2026-04-02] two",
        "## Environment",
    ]
    assert text.replace("\n\n\n", "") == text  # no gap of two blank lines


def test_a_record_and_its_removal_leave_the_page_as_it_was() -> None:
    for section in SECTIONS:
        text = insert(NEW, _record(2, "two"), Form.SECTIONS, section=section)
        assert remove(text, _record(2, "two").identity) == NEW


def test_a_record_goes_behind_what_a_person_wrote_in_the_section() -> None:
    hand = "# Memory\n\n## Key Decisions\n- Chose framework A\n\n## Environment\n\n- db: one\n"
    text = insert(hand, _record(2, "two"), Form.SECTIONS, section="key decisions")
    assert text.startswith("# Memory\n\n## Key Decisions\n- Chose framework A\n\n### [2026-04-02] two\n")
    assert text.endswith("\n\n## Environment\n\n- db: one\n")
    assert parse(text).find(_record(2, "two").identity) is not None


def test_a_missing_section_is_added_at_the_end() -> None:
    text = insert("# Memory\r\n\r\nBy hand.", _record(2, "two"), Form.SECTIONS, "\r\n", "Lessons Learned")
    assert text.startswith("# Memory\r\n\r\nBy hand.\r\n\r\n## Lessons Learned\r\n\r\n### [2026-04-02] two\r\n")


def test_what_was_dropped_comes_back_into_its_section() -> None:
    text = NEW
    for day, title, section in ((2, "two", "Key Decisions"), (3, "three", "Lessons Learned")):
        text = AddRecord(MEMORY, render(_record(day, title)), section).apply(text, Form.SECTIONS)
    drop = DropRecord(MEMORY, _record(2, "two").identity)
    assert drop.undo(text).apply(drop.apply(text, Form.SECTIONS), Form.SECTIONS) == text


def test_a_superseded_record_leaves_its_struck_line_in_its_place() -> None:
    text = insert(NEW, _record(2, "two"), Form.SECTIONS, section="Key Decisions")
    text = insert(text, _record(1, "one"), Form.SECTIONS, section="Key Decisions")
    placed = parse(text).find(_record(2, "two").identity)
    assert placed is not None
    strike = StrikeRecord(MEMORY, placed.record.identity, text[placed.start : placed.end], "~~[2026-04-02] two~~")
    done = strike.apply(text, Form.SECTIONS)
    assert done.index("~~[2026-04-02] two~~") < done.index("### [2026-04-01] one")
    assert strike.undo(text).apply(done, Form.SECTIONS) == text


@pytest.mark.parametrize("form", [Form.SECTIONS, Form.CHANNEL])
def test_a_section_is_no_record_even_where_a_line_looks_like_a_field(form: Form) -> None:
    text = "## Unresolved\n- Source: @ana (slack:T1:U1) in #build, 2026-04-06 14:02, slack:T1:C9:1.1\n- Body: x\n"
    assert parse(text).records  # read leniently elsewhere
    assert on_page(text, form) == ()
    assert not any(unit.record for unit in units_of(PageId("memory"), form, text).units)


def test_records_are_disclosed_below_their_section() -> None:
    text = insert(NEW, _record(2, "two"), Form.SECTIONS, section="Key Decisions")
    (unit,) = units_of(MEMORY, Form.SECTIONS, text).units
    assert (unit.title, unit.context) == ("two", ("# Long-Term Memory", "## Key Decisions"))
