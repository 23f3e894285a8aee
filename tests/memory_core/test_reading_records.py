"""Pages are read by short ways where a text is plain: they yield what the long way yields, which is told here."""

from __future__ import annotations

import hashlib
import re
import time
import unicodedata
from collections.abc import Iterator
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_core.candidates import Value
from memory_core.forms import blocks as reading
from memory_core.forms import record_reading, units
from memory_core.forms.blocks import Block, blocks, day_of, lines_of
from memory_core.forms.escape import escape, escape_comment
from memory_core.forms.record_values import Record, Source
from memory_core.forms.records import on_page, parse, render
from memory_core.forms.units import Unit, cut
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form
from memory_core.text import flat
from tests.scale import scale

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?[ \t]*")
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
_ACTIVE = re.compile(r"#|```|~~|[-*+](?:[ \t]|$)|>|\||\[|---|===|\d{4}[-/.]\d")

PIECES = st.text("ab Z…ﬁ²é漢٣ \t\n\r\x0b\x85\u2028\\#`~[]|-*+=>_:,;.0129<!", max_size=24)
HEADS = (
    "# One", "##", "##  ", "## Two", "##\t tabs \t", "### Three", "#######",
    "## [2026-04-06] Dated", "### [2026-4-6] deeper", "## [2026-02-30] bad", "## 2026-04-06 - bare", "## \x0b",
)  # fmt: skip
FIELDS = (
    "- Body: said", "- body: lower", "- **Body:** bold", "- Body:", "- Tags: x,  y", "- Tags:", "- Key: kept",
    "- Fitness: last_referenced=2026-01-01, hit_count=9, decision_value=HIGH", "- Fitness: odd",
    "- Source: @ana (slack:T1:U2) in #build, 2026-04-06 14:02, slack:T1:C9:1.1; @bo in #b, 2026-04-06, slack:T1:C9:2",
    "- Supersedes: ~~[2026-01-09] Memcached~~", "- Conflicts: [2026-03-02] none", "- Archived: 2026-09-01, score=41",
)  # fmt: skip
OTHER = (
    "", "", "   ", "  indented", "text", "\ttab", "| a | b |", "|---|---|", "```", "~~~", "`code`", "<!-- hidden -->",
    "<!-- open", "-->", "~~[2026-01-01] gone~~", "~~[x", "[2026-03-03] Decision: a → Context: b",
    "- [2026-03-03] Decision: a -> b", "* [2026-03-04] only", "+ [2026-03-05] x", "- [ ] todo", "[2026-02-30] none",
)  # fmt: skip
LINES = st.one_of(*map(st.sampled_from, (HEADS, FIELDS, OTHER)))
PAGES = st.tuples(st.lists(LINES, max_size=24), st.sampled_from(["\n", "\r\n"])).map(
    lambda page: page[1].join(page[0])
)


@settings(max_examples=scale(6000))
@given(PIECES | st.text())
@example(" two  blanks ")
def test_a_text_without_controls_is_made_flat_as_any_other(text: str) -> None:
    assert flat(text) == " ".join(_CONTROL.sub(" ", text).split())


@settings(max_examples=scale(6000))
@given(st.lists(PIECES, max_size=3).map("\n".join))
@example("a\n# b")
@example("2026-04-06")
@example("٣٣٣٣-1")
def test_a_line_is_escaped_as_if_each_were_looked_at(text: str) -> None:
    def line_by_line() -> Iterator[str]:
        for line in text.split("\n"):
            rest = line.lstrip(" \t").lstrip("\\")
            yield f"{line.removesuffix(rest)}\\{rest}" if _ACTIVE.match(rest) else line

    assert escape(text) == escape_comment("\n".join(line_by_line()))


@settings(max_examples=scale(3000))
@given(st.lists(st.lists(PIECES, max_size=2), max_size=2), PIECES, st.none() | st.dates())
@example([], "Ana's choice: ﬁrst…", None)
@example([[], ["slack:T1:C9:1.1"]], "CUT… off", date(2026, 4, 6))
def test_an_ascii_title_has_the_identity_of_its_normal_form(
    keys: list[list[str]], title: str, day: date | None
) -> None:
    record = Record(day, title, sources=tuple(Source(keys=tuple(map(MessageKey, of))) for of in keys))
    first = next((key for of in keys for key in of), None) or (day.isoformat() if day else "undated")
    name = unicodedata.normalize("NFKC", record.title).casefold()
    expected = hashlib.sha256(f"{first}\n{name}".encode()).hexdigest()[:16]
    assert record.identity == expected


@settings(max_examples=scale(3000))
@given(st.from_regex(r"#{0,7}[ \t\x0b\xa0]{0,2}(?:a[ \t\x0b\xa0]{0,2}){0,2}", fullmatch=True))
def test_a_heading_is_read_without_the_blanks_at_its_end(line: str) -> None:
    found, expected = reading._heading(line), _HEADING.fullmatch(line)
    assert (found is None) == (expected is None)
    if found and expected:
        assert (found[1], found[2] or "") == (expected[1], expected[2] or "")


@settings(max_examples=scale(3000))
@given(st.sampled_from(sorted(record_reading._OURS)), PIECES | st.text())
def test_a_field_of_our_own_form_says_what_it_says_to_the_pattern(head: str, value: str) -> None:
    found = record_reading._FIELD.fullmatch(f"{head}: {value}")
    assert found is not None
    assert (found[1].lower(), found[2]) == (record_reading._OURS[head], value)


def test_every_field_that_is_written_is_of_our_own_form() -> None:
    source = Source("slack:T1:U2", "ana", "#build", "2026-04-06 14:02", (MessageKey("slack:T1:C9:1.1"),))
    texts = ("a", "b"), date(2026, 4, 6), 1, Value.LOW, (source,), False, ("old",), ("other",), "2026-09-01, score=41"
    _, *lines = render(Record(date(2026, 4, 6), "title", "body", *texts)).splitlines()
    assert [line.partition(": ")[0] for line in lines if line.partition(": ")[0] not in record_reading._OURS] == []
    assert len(lines) == len(record_reading._KNOWN)


@settings(max_examples=scale(3000))
@given(st.from_regex(r"\d{4}-\d\d-\d\d", fullmatch=True).filter(str.isascii) | st.dates().map(date.isoformat))
def test_a_day_in_the_iso_form_is_the_day_of_its_numbers(text: str) -> None:
    assert record_reading._day(text) == day_of(*text.split("-"))


@settings(max_examples=scale(6000), deadline=None)
@given(st.lists(st.sampled_from(["```", "````", " ~~~ x", "    ~~~", "<!-- a", "b -->", "<!-- -->", "```a`", "x"])))
@example(["~~~", "```", "~~~", "<!--"])
def test_only_lines_that_may_open_a_fence_or_comment_are_looked_at(lines: list[str]) -> None:
    marks, open_at = [False] * len(lines), list[int]()
    at = 0
    while at < len(lines):
        close = reading._closing(lines, at, {})
        if close is not None and close >= at:
            marks[at : close + 1] = [True] * (close + 1 - at)
            at = close
        elif close is not None:
            open_at.append(at)
        at += 1
    problems = list[str]()
    assert reading._inert(lines, problems) == marks
    assert [problem.partition(" opens")[0] for problem in problems] == [f"Line {at + 1}" for at in open_at]


def _line_by_line(text: str, problems: list[str]) -> Iterator[Block]:
    """The blocks of a text, each line looked at alone."""
    block: Block | None = None
    for line in lines_of(text, problems):
        opened = None if line.inert else reading._opened(line.text, line.start, block, problems)
        if opened is not None:
            if block is not None:
                yield block
            block = opened
        elif block is not None and not line.inert and reading._ends(line.text, block):
            yield block
            block = None
        elif block is not None and (block.level or line.text.startswith("  ")):
            block.lines.append(line.text)
            block.end = line.end if line.text.strip() else block.end
        elif block is not None:
            yield block
            block = None
    if block is not None:
        yield block


@settings(max_examples=scale(6000), deadline=None)
@given(PAGES)
@example("[2026-03-03] a\n  more\nno more\n  nor this\n[2026-03-04] b")
@example("## Two\n```\n## [2026-04-06] fenced\n```\n- [2026-03-03] a\n  \n\n## [2026-04-06] Dated\n- [ ] todo\n\n")
def test_blocks_by_runs_of_lines_are_those_line_by_line(text: str) -> None:
    problems, expected = list[str](), list[str]()
    assert list(blocks(text, problems)) == list(_line_by_line(text, expected))
    assert problems == expected


def _each_alone(page: PageId, form: Form, text: str) -> Iterator[Unit]:
    """The units of a page with records, the path of headings told anew for each of them."""
    path: tuple[str, ...] = ()
    at = 0
    for placed in on_page(text, form):
        if units._is_ours(placed.record):
            plain = units._Plain(None, path)
            yield from plain.units(text[at : placed.start])
            path = tuple(line for line in plain.headings if units._level(line) < max(placed.level, 2))
            yield units._record_unit(placed.record, path)
            at = placed.end
    yield from units._Plain(None, path).units(text[at:])


@settings(max_examples=scale(6000), deadline=None)
@given(PAGES, st.sampled_from([Form.ADDED, Form.ARCHIVE, Form.SECTIONS]))
@example(
    "# A\n### C\n#### [2026-04-06] x\n- Body: x\n#### [2026-04-05] x\n### [2026-04-04] y\n## [2026-04-03] z\nt",
    Form.ADDED,
)
def test_units_have_the_headings_that_each_would_be_given_alone(text: str, form: Form) -> None:
    found = cut(PageId("page"), form, text)
    assert list(found.units) == list(_each_alone(PageId("page"), form, text))
    assert found.text == units.render(found.units)


@settings(max_examples=scale(2000), deadline=None)
@given(PAGES)
def test_a_record_is_the_same_whatever_blanks_follow_it(text: str) -> None:
    found = [placed.record for placed in parse(text).records]
    assert [placed.record for placed in parse(f"{text}\n\n \n").records] == found


_STRUCK = re.compile(r"~~\[.*~~[ \t]*(?:<!-- .* -->[ \t]*)?")


@settings(max_examples=scale(6000))
@given(st.lists(st.sampled_from(["~", "~~", "[", "] x", " ", "\t", "<!-- ", "<!--", " -->", "-->", "-"]), max_size=9))
@example([])
@example(["~~", "<!-- ", " -->"])
@example(["~~", " ", "<!--", " -->"])
def test_a_struck_line_is_told_as_its_pattern_tells_it(parts: list[str]) -> None:
    line = "~~[" + "".join(parts)
    assert reading.is_struck(line) == (_STRUCK.fullmatch(line) is not None)


@pytest.mark.parametrize(
    ("before", "again", "after"), [("", "~~[x~~ <!-- ", ""), ("## x\n", "~~[x~~ <!-- ", ""), ("## x\n", "\n", "x")]
)
def test_the_time_for_a_page_grows_with_its_length_alone(before: str, again: str, after: str) -> None:
    def took(times: int) -> float:
        for remembered in (record_reading._parse, record_reading._parse_short, record_reading._read):
            remembered.cache_clear()
        start = time.process_time()
        cut(PageId("experience"), Form.ADDED, before + again * times + after)
        return time.process_time() - start

    few = 30_000 // len(again)
    ratio = min(took(8 * few) for _ in range(2)) / max(min(took(few) for _ in range(3)), 1e-3)
    print(f"{again!r}: eight times as much takes {ratio:.1f} times as long")  # noqa: T201
    assert ratio < 22
