"""Over random pages, journals and days: nothing vanishes, a second run changes nothing, undo restores the bytes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.candidates import Value
from memory_core.forms.escape import escape_comment, unescape_comment
from memory_core.forms.journal import Note, Part
from memory_core.forms.records import Record, parse, render, struck
from memory_core.sleep.likeness import Alike, details, same
from memory_core.sleep.merging import merged
from memory_core.sleep.report import Caps, Stage
from tests.memory_core.sleep.kit import ALL, TODAY, Bed, note, record
from tests.scale import scale

# Few words, so that records repeat and contradict each other.
TEXTS = (
    "CI moved to Buildkite",
    "Buildkite is our CI now",
    "CI runs on Buildkite",
    "alerts on for staging",
    "alerts off for staging",
    "alerts on for staging and demo",
    "Redis over Memcached",
    "Memcached over Redis",
    "the timeout is 30 seconds",
    "the timeout is 60 seconds",
    "# no heading | ``` ~~x~~ <!-- y",
    "漢字の決定",
)
PEOPLE = ("ana", "bo", "cy")
HAND = (
    "## Notes\n\nwritten by a person\n",
    "- [2020-01-01] Decision: x → Context: y\n",
    "~~[2026-01-09] Memcached for sessions: no persistence~~\n",
    "```\n## [2020-01-01] in a fence\n```\n",
    "a line\n",
)


@st.composite
def some_record(draw: st.DrawFn) -> Record:
    """A record of any value, age and use."""
    number = draw(st.integers(0, 12))
    days = draw(st.sampled_from([0, 1, 13, 14, 59, 60, 66, 100, 179, 180, 240, 400]))
    one = record(
        draw(st.sampled_from(TEXTS)),
        days,
        body=draw(st.sampled_from(("", *TEXTS))),
        hits=draw(st.integers(0, 7)),
        value=draw(st.sampled_from(Value)),
        number=number,
        by=draw(st.sampled_from(PEOPLE)),
        said_ago=days + draw(st.integers(0, 30)),
    )
    extra = draw(st.sampled_from(((), ("| a | b |",), ("```", "x", "```"), ("```",))))
    conflicts = draw(st.sampled_from(((), ("[2026-08-30] alerts on for staging",))))
    return replace(one, extra=extra, conflicts=conflicts, proven=draw(st.booleans()))


RECORDS = st.lists(some_record(), max_size=9)
NOTES = st.lists(
    st.tuples(
        st.sampled_from(TEXTS),
        st.integers(1, 12),
        st.sampled_from([Part.DECISIONS, Part.LEARNED, Part.TASKS]),
        st.integers(0, 20),
    ),
    max_size=8,
)


@st.composite
def some_page(draw: st.DrawFn, records: list[Record] | None = None) -> str:
    """A page of records with a person's text between them, some of them twice to the letter; LF or CRLF."""
    blocks = ["# Experience\n"]
    for one in draw(RECORDS) if records is None else records:
        level = draw(st.sampled_from([2, 2, 3]))
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
            blocks.append(render(one, level=level))
            blocks += draw(st.lists(st.sampled_from(HAND), max_size=1))
    text = "\n".join(blocks)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def bed_of(page: str, archive: str, notes: list[tuple[str, int, Part, int]]) -> Bed:
    bed = Bed()
    bed.stores.put(bed.scope, "experience", page.encode())  # type: ignore[arg-type]
    if archive:
        bed.stores.put(bed.scope, "archive/2026-07", archive.encode())  # type: ignore[arg-type]
    for at, (text, number, part, ago) in enumerate(notes):
        day = (TODAY - timedelta(days=ago)).isoformat()
        line: Note = note(text, number, part=part, by=PEOPLE[number % 3])
        bed.note(day, line, at=f"{10 + at}:30 +00:00")
    return bed


def everything(bed: Bed) -> str:
    return "\n".join(content.decode() for content in bed.pages().values())


def kept_in(bed: Bed) -> list[Record]:
    return [placed.record for text in bed.pages().values() for placed in parse(text.decode()).records]


def assert_nothing_vanished(before: list[Record], bed: Bed) -> None:
    """Each record is in a page or the archive, in a record that took it in, or on a struck line."""
    now = kept_in(bed)
    text = everything(bed).replace("\r\n", "\n")
    lines = " ".join(text.split())
    for one in before:
        own = replace(one, conflicts=())
        if any(replace(other, proven=one.proven, archived="", conflicts=()) == own for other in now):
            continue
        if any(_holds(other, one) for other in now) and all(line in text for line in one.extra):
            continue
        assert _struck(one, lines) or _struck_with(one, text), one


def _holds(other: Record, one: Record) -> bool:
    """Did the record take the other one in?"""
    more = details(f"{one.title}\n{one.body}") <= details(f"{other.title}\n{other.text}")
    return more and set(one.messages) <= set(other.messages) and other.hit_count >= one.hit_count


def _struck(one: Record, lines: str) -> bool:
    """Does a struck line tell what the record was?"""
    return escape_comment(struck(one)) in lines


def _struck_with(one: Record, text: str) -> bool:
    """Does a struck line tell it of a record that had taken this one in before it was superseded?"""
    said = details(f"{one.title}\n{one.body}")
    return any(said <= details(unescape_comment(line)) for line in text.splitlines() if line.startswith("~~["))


@settings(max_examples=scale(600), deadline=None)
@given(st.data(), st.sampled_from([ALL, Caps()]))
@pytest.mark.asyncio
async def test_nothing_vanishes_and_undo_restores_the_bytes(data: st.DataObject, caps: Caps) -> None:
    bed = bed_of(data.draw(some_page()), data.draw(st.sampled_from(["", "by hand\n"])), data.draw(NOTES))
    for stage in data.draw(st.lists(st.sampled_from(Stage), min_size=1, max_size=3)):
        before, bytes_before = kept_in(bed), dict(bed.pages())
        report = await bed.sleep(stage, caps)
        assert not report.problem
        assert_nothing_vanished(before, bed)
        if report.nothing:
            assert bed.pages() == bytes_before
        elif data.draw(st.booleans()):
            done = await bed.undo()
            assert done.number == report.number
            assert bed.pages() == bytes_before
            assert (await bed.sleep(stage, caps)).pages
        bed.clock.advance(86_400 * data.draw(st.sampled_from([0, 1, 30, 70, 200])))


@settings(max_examples=scale(600), deadline=None)
@given(st.data())
@pytest.mark.asyncio
async def test_a_second_run_changes_nothing(data: st.DataObject) -> None:
    bed = bed_of(data.draw(some_page()), "", data.draw(NOTES))
    for stage in (Stage.DEEP, Stage.REM):
        await bed.sleep(stage)
        once = dict(bed.pages())
        report = await bed.sleep(stage)
        assert bed.pages() == once, report.lines
        assert report.nothing


@settings(max_examples=scale(2000), deadline=None)
@given(some_record(), st.lists(some_record(), min_size=1, max_size=4))
def test_a_merge_keeps_every_detail_and_sums_hits(kept: Record, others: list[Record]) -> None:
    both = merged(kept, others)
    assert both.hit_count == sum(one.hit_count for one in (kept, *others))
    for one in (kept, *others):
        assert details(f"{one.title}\n{one.body}") <= details(f"{both.title}\n{both.body}")
        assert set(one.messages) <= set(both.messages)
        assert set(one.tags) <= set(both.tags)
        assert set(one.supersedes) <= set(both.supersedes)
        assert "\n".join(one.extra) in "\n".join(both.extra)
    assert parse(render(both)).records[0].record == both or any("```" in line for line in both.extra)


@settings(max_examples=scale(2000), deadline=None)
@given(st.lists(st.sampled_from([*TEXTS, "we moved CI to Buildkite, because it is fast", "timeout 30"]), max_size=8))
def test_no_pair_that_is_alike_is_passed_over(texts: list[str]) -> None:
    looked = set(Alike(texts).pairs())
    for one in range(len(texts)):
        for other in range(one + 1, len(texts)):
            assert not same(texts[one], texts[other]) or (one, other) in looked
