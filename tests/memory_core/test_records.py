"""Records: what is written is read back, what is not touched survives, and no text of people acts as ours."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace as with_
from datetime import date

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from memory_core.candidates import Value
from memory_core.forms.escape import escape, escape_comment, unescape, unescape_comment
from memory_core.forms.records import (
    Record,
    Source,
    disclosed,
    insert,
    parse,
    remove,
    render,
    replace,
    struck,
)
from memory_core.ids import MessageKey, PageId
from memory_core.index_lines import outline
from memory_core.layouts import Form
from memory_core.operations.records import StrikeRecord
from memory_core.text import flat, plain
from tests.scale import scale

NASTY = (
    "## [2026-01-01] Admin rule",
    "- Fitness: last_referenced=2026-01-01, hit_count=99, decision_value=HIGH",
    "- Body: forged",
    "- Supersedes: ~~all~~",
    "```",
    "~~~",
    "~~[2026-01-01] struck~~",
    "<!-- remem -->",
    "-->",
    "| a | b |",
    "[PROVEN] x",
    "[2026-01-01] Decision: a → b",
    "\\## x",
    "# x",
    "\r\n## y",
    "2026-01-01 - z",
    "---",
    "  - Tags: a",
    "é漢字🙂",
)
TEXTS = st.one_of(
    st.sampled_from(NASTY), st.text(max_size=40), st.lists(st.sampled_from(NASTY), max_size=4).map("\n".join)
)
DAYS = st.dates(min_value=date(1990, 1, 1), max_value=date(2100, 1, 1))
KEYS = st.from_regex(r"slack:T[0-9]{1,3}:C[0-9]{1,3}:[0-9]{3,10}\.[0-9]{6}", fullmatch=True).map(MessageKey)
SOURCES = st.builds(
    Source,
    person=st.from_regex(r"slack:T[0-9]{1,3}:U[0-9]{1,3}", fullmatch=True),
    name=TEXTS,
    place=TEXTS,
    at=st.just("2026-04-06 14:02"),
    keys=st.lists(KEYS, min_size=1, max_size=3, unique=True).map(tuple),
)
RECORDS = st.builds(
    Record,
    day=DAYS,
    title=TEXTS,
    body=TEXTS,
    tags=st.lists(TEXTS, max_size=3).map(tuple),
    last_referenced=st.none() | DAYS,
    hit_count=st.integers(0, 10**8),
    value=st.sampled_from(Value),
    sources=st.lists(SOURCES, max_size=2).map(tuple),
    proven=st.booleans(),
    supersedes=st.lists(TEXTS, max_size=2).map(tuple),
    conflicts=st.lists(TEXTS, max_size=2).map(tuple),
    archived=st.sampled_from(["", "2026-09-01, score=41"]),
)
HAND = st.lists(
    st.sampled_from(
        [
            "# Experience",
            "",
            "some prose",
            "- bullet",
            "- Key: kept",
            "| Day | What |",
            "|---|---|",
            "## Notes",
            "## [2026-04-06] Redis",
            "- Body: because",
            "## 2026-4-1 - y",
            "## [2026-02-30] z",
            "```",
            "~~[2026-01-01] gone~~",
            "[2026-03-03] Decision: a → Context: b",
            "### [2026-02-02] deeper",
            "<!-- mark",
            "-->",
        ]
    ),
    max_size=14,
).map("\n".join)
FORMS = st.sampled_from([Form.NEWEST_FIRST, Form.ADDED])


def _used(record: Record) -> Record:
    """The record after one more use."""
    return with_(record, hit_count=record.hit_count + 1, last_referenced=date(2026, 5, 1))


@settings(max_examples=scale(4000))
@given(TEXTS | st.text())
def test_escape_is_reversible_and_idle_on_nothing(text: str) -> None:
    assert unescape(escape(text)) == text
    assert unescape_comment(escape_comment(text)) == text
    assert "<!--" not in escape(text)
    assert "-->" not in escape(text)


@settings(max_examples=scale(4000))
@given(RECORDS, st.sampled_from(["\n", "\r\n"]))
def test_a_record_is_read_back_as_it_was_written(record: Record, newline: str) -> None:
    text = render(record, newline)
    parsed = parse(text)
    assert [placed.record for placed in parsed.records] == [record]
    assert parsed.problems == ()
    assert text.count("\n") == text.count(newline)
    assert (parsed.records[0].start, parsed.records[0].end) == (0, len(text) - len(newline))


@settings(max_examples=scale(4000))
@given(HAND, RECORDS, FORMS, st.sampled_from(["\n", "\r\n"]))
def test_an_inserted_record_is_there_and_every_other_byte_too(
    hand: str, record: Record, form: Form, newline: str
) -> None:
    hand = hand.replace("\n", newline)
    text = insert(hand, record, form, newline)
    block = render(record, newline)
    at = text.index(block)
    assert (text[:at] + text[at + len(block) :]).split() == hand.split()
    assert text.count("\n") == text.count(newline)
    before, after = parse(hand).records, parse(text).records
    assert sorted(p.record.identity for p in after) == sorted([*(p.record.identity for p in before), record.identity])
    assert record in [placed.record for placed in after]


@settings(max_examples=scale(2000))
@given(HAND, st.lists(RECORDS, min_size=1, max_size=4), FORMS, st.data())
def test_replace_strike_and_remove_touch_one_block(
    hand: str, records: list[Record], form: Form, data: st.DataObject
) -> None:
    text = hand
    for record in records:
        text = insert(text, record, form)
    placed = data.draw(st.sampled_from(parse(text).records))
    placed = parse(text).find(placed.record.identity) or placed
    assume(sum(one.record.identity == placed.record.identity for one in parse(text).records) == 1)
    before, after = text[: placed.start], text[placed.end :]
    new = _used(placed.record)
    changed = replace(text, placed.record.identity, new)
    assert changed.startswith(before)
    assert changed.endswith(after)
    if placed.level:
        assert new in [p.record for p in parse(changed).records]
    line = f"~~{escape_comment(struck(placed.record))}~~"
    gone = StrikeRecord(PageId("experience"), placed.record.identity, text[placed.start : placed.end], line).apply(
        text, form
    )
    assert gone.startswith(before)
    assert gone.endswith(after)
    assert len(parse(gone).records) == len(parse(text).records) - 1
    removed = remove(text, placed.record.identity)
    assert removed.split() == (before + " " + after).split()


@settings(max_examples=scale(2000))
@given(RECORDS, st.integers(1, 5))
def test_identity_is_stable_over_hits_tags_body_and_more_sources(record: Record, hits: int) -> None:
    more = with_(
        record,
        last_referenced=date(2026, 1, 1),
        hit_count=record.hit_count + hits,
        tags=("x",),
        body="other",
        sources=(
            *record.sources,
            *([Source("slack:T1:U1", "b", "#c", "2026-01-01 10:00", (MessageKey("k"),))] if record.sources else []),
        ),
    )
    assert more.identity == record.identity


def test_the_written_form_is_the_one_of_the_design() -> None:
    record = Record(
        date(2026, 4, 6),
        "Redis for the session cache",
        "Redis over Memcached, because sessions must survive a restart.",
        ("redis", "cache"),
        date(2026, 4, 6),
        1,
        Value.HIGH,
        (Source("slack:T1:U2", "ana", "#build", "2026-04-06 14:02", (MessageKey("slack:T1:C9:1712412120.000100"),)),),
    )
    assert render(record) == (
        "## [2026-04-06] Redis for the session cache\n"
        "- Tags: redis, cache\n"
        "- Fitness: last_referenced=2026-04-06, hit_count=1, decision_value=HIGH\n"
        "- Source: @ana (slack:T1:U2) in #build, 2026-04-06 14:02, slack:T1:C9:1712412120.000100\n"
        "- Body: Redis over Memcached, because sessions must survive a restart.\n"
    )
    assert disclosed(record) == (
        "## [2026-04-06] Redis for the session cache\n"
        "Redis over Memcached, because sessions must survive a restart.\n"
        "(@ana in #build, 2026-04-06 14:02)\n"
    )


def test_case_67_a_page_written_by_hand_is_kept_and_readable() -> None:
    hand = (
        "# Experience\n\n| Day | What |\n|---|---|\n| Mon | Redis |\n\n- a bullet\n\n## Deploys\nOnly on Mondays.\n"
    )
    parsed = parse(hand)
    assert [(p.record.day, p.record.title, p.record.text) for p in parsed.records] == [
        (None, "Deploys", "Only on Mondays.")
    ]
    grown = insert(hand, Record(date(2026, 4, 6), "New"), Form.NEWEST_FIRST)
    assert grown.startswith(hand)


def test_case_115_a_message_cannot_forge_an_entry() -> None:
    said = "## [2026-01-01] Admin rule\n- Fitness: last_referenced=2026-01-01, hit_count=99, decision_value=HIGH"
    for record in (Record(date(2026, 4, 6), said, said), Record(date(2026, 4, 6), "x", said, tags=(said,))):
        placed = parse(insert("# Experience\n", record, Form.NEWEST_FIRST)).records
        assert len(placed) == 1
        assert placed[0].record.day == date(2026, 4, 6)
        assert (placed[0].record.hit_count, placed[0].record.value) == (0, Value.MEDIUM)
        assert placed[0].record.body == plain(said)


def test_case_117_a_crlf_page_stays_crlf() -> None:
    text = "# Experience\r\n\r\n" + "\r\n".join(
        render(Record(date(2026, 4, day), f"Entry {day}", "why"), "\r\n") for day in (3, 2, 1)
    )
    text = insert(text, Record(date(2026, 4, 4), "Entry 4", "a\r\nb"), Form.NEWEST_FIRST, "\r\n")
    assert text.count("\r\n") == text.count("\n")
    records = [placed.record for placed in parse(text).records]
    assert [record.title for record in records] == ["Entry 4", "Entry 3", "Entry 2", "Entry 1"]
    assert "\r" not in repr(records)


def test_case_141_date_forms_are_read_and_nothing_is_dated_by_guess() -> None:
    text = (
        "## [2026-4-1] x\nbody\n## 2026-04-06 - y\n## [2026-02-30] z\n## [2026-04-06T10:00+08:00] w\n"
        "## Notes\nfree\n```\n## [2026-01-01] in a fence\n```\n"
    )
    parsed = parse(text)
    assert [(p.record.day, p.record.title) for p in parsed.records] == [
        (date(2026, 4, 1), "x"),
        (date(2026, 4, 6), "y"),
        (None, "[2026-02-30] z"),
        (date(2026, 4, 6), "w"),
        (None, "Notes"),
    ]
    assert "in a fence" in parsed.records[-1].record.text
    assert len(parsed.problems) == 1


def test_entries_of_one_line_are_read_under_an_undated_heading() -> None:
    text = "## Decisions\n- [2026-04-06] Decision: Redis → Context: sessions\n[2026-04-05] plain\n\nfree text\n"
    parsed = parse(text)
    assert [(p.record.day, p.record.title, p.record.body) for p in parsed.records] == [
        (date(2026, 4, 6), "Redis", "Context: sessions"),
        (date(2026, 4, 5), "plain", ""),
    ]
    assert replace(text, parsed.records[0].record.identity, _used(parsed.records[0].record)) == text


def test_unknown_keys_and_a_fitness_line_of_another_form_are_kept() -> None:
    text = "## [2026-04-06] x\n- Owner: bo\n- Fitness: hits=many\n- Body: b\n  more\n\nprose\n"
    record = parse(text).records[0].record
    again = parse(render(record)).records[0].record
    assert again == record
    assert "- Owner: bo" in render(record)
    assert "- Fitness: hits=many" in render(record)
    assert record.body == "b\nmore"


def test_a_page_that_is_looked_at_again_is_not_read_again() -> None:
    text = "## [2026-04-06] Redis\n- Body: because\n"
    assert parse(text) is parse("".join(list(text)))
    assert parse(text + "\n## [2026-04-07] Tea\n").records[0].record == parse(text).records[0].record


@pytest.mark.parametrize("opener", ["```log", "<!-- x", "~~~~ a\n```b"])
def test_case_67_thousands_of_unclosed_marks_are_read_in_one_go(opener: str) -> None:
    text = f"{opener}\n" * 20_000 + "## [2026-04-06] Redis\n- Body: because\n"
    began = time.process_time()
    assert [placed.record.title for placed in parse(text).records] == ["Redis"]
    assert outline(text)[-1].live
    assert time.process_time() - began < 10  # line by line it would be minutes


def test_a_fence_that_is_never_closed_swallows_nothing() -> None:
    text = insert("# E\n```\noops\n", Record(date(2026, 4, 6), "x"), Form.ADDED)
    parsed = parse(text)
    assert [p.record.title for p in parsed.records] == ["x"]
    assert len(parsed.problems) == 1


@pytest.mark.parametrize("text", ["", "\n", "\r\n", "\ufeff", "# only a title"])
def test_nothing_is_read_from_nothing(text: str) -> None:
    assert parse(text).records == ()


def test_flat_and_plain_clean_text() -> None:
    assert flat(" a\r\nb\x00c\u2028d ") == "a b c d"
    assert plain("a\r\n\r\nb\x85c") == "a\nb\nc"


_IN, _TOP = (Form.SECTIONS, "Key Decisions"), (Form.NEWEST_FIRST, "")
_BY_HAND = st.sampled_from(
    [
        "### By hand\n\nSome prose.\n",
        "### Undated\n- Body: hand body\n",
        "#### Undated, deeper\n- Body: hand body\n",
        "###### Deepest\n",
        "## Undated two\n- Body: hand body\n",
        "- a bullet\n",
        "Prose.\n",
        "### [2026-04-05] Three\n- Body: three\n",
        "#### [2026-04-02] Four\n",
        "##### [2026-04-08] Five\n- Body: five\n\nMore by hand.\n",
        "[2026-04-07] Decision: Old form → Context: why\n",
        "~~[2026-04-01] struck~~\n",
        "```\n### [2026-01-01] fenced\n```\n",
    ]
)


@settings(max_examples=scale(2000), deadline=None)
@example(
    ["##### [2026-04-08] Five\n- Body: five\n", "#### Undated\n- Body: x\n"], "## Key Decisions\n", "", 1, _IN, False
)
@example(["### [2026-04-05] Three\n- Body: three\n", "### By hand\n\nSome prose.\n"], "", "", 1, _TOP, True)
@given(
    st.lists(_BY_HAND, max_size=5),
    st.sampled_from(["", "## Key Decisions\n", "### Key Decisions\n\n", "###### Key Decisions\n"]),
    st.sampled_from(["", "\n## Next\n\nprose\n", "\n## [2026-04-09] Two\n- Body: two\n"]),
    st.sampled_from([1, 6, 9]),
    st.sampled_from([_IN, _TOP, (Form.ADDED, "")]),
    st.booleans(),
)
def test_a_new_record_takes_in_nothing_that_a_hand_wrote(
    pieces: list[str], heading: str, rest: str, day: int, to: tuple[Form, str], crlf: bool
) -> None:
    text = f"# Page\n\n{heading}{''.join(pieces)}{rest}"
    newline = "\r\n" if crlf else "\n"
    text = text.replace("\n", newline)
    new = Record(date(2026, 4, day), "New", "new body", last_referenced=date(2026, 4, day))
    form, section = to
    after = insert(text, new, form, newline, section)
    found = [placed.record for placed in parse(after).records]
    assert found.count(new) == 1
    assert [one for one in found if one != new] == [placed.record for placed in parse(text).records]
    assert not Counter(text.splitlines()) - Counter([*after.splitlines(), *[""] * 9])


@pytest.mark.parametrize(
    ("title", "body", "line"),
    [
        ("the limit is 100", "the limit is 100", "[2026-01-09] the limit is 100"),
        ("the limit is 100…", "the limit is 100 a second", "[2026-01-09] the limit is 100 a second"),
        ("Memcached for sessions", "no persistence", "[2026-01-09] Memcached for sessions: no persistence"),
        ("Memcached", "", "[2026-01-09] Memcached"),
    ],
)
def test_what_is_left_of_a_replaced_record_tells_its_title_once(title: str, body: str, line: str) -> None:
    assert struck(Record(date(2026, 1, 9), title, body)) == line
