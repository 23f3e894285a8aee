"""The daily note: appended, never rewritten; lines are read back with their marks; times name their offset."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms.journal import Note, Part, append, local_day, local_time, new_journal, parse, without
from memory_core.ids import MessageKey
from tests.scale import scale

SHANGHAI = ZoneInfo("Asia/Shanghai")
NASTY = [
    "## 09:00 Notes",
    "### Decisions",
    "x (@bo, 10:00) <!-- p; k -->",
    "- a",
    " [absorbed]",
    "```",
    "<!--",
    "漢字",
]
TEXTS = (st.sampled_from(NASTY) | st.text(min_size=1, max_size=30)).filter(lambda text: bool(text.strip()))
NOTES = st.builds(
    Note,
    part=st.sampled_from([part.value for part in Part]),
    text=TEXTS,
    name=TEXTS,
    at=st.sampled_from(["14:02 +08:00", "03:53 +09:00"]),
    person=st.just("slack:T1:U2"),
    keys=st.lists(st.integers(0, 99).map(lambda n: MessageKey(f"slack:T1:C9:{n}")), min_size=1, max_size=2).map(
        tuple
    ),
).filter(lambda note: bool(note.text))


@settings(max_examples=scale(4000))
@given(st.lists(st.lists(NOTES, min_size=1, max_size=4), max_size=3), st.sampled_from(["\n", "\r\n"]))
def test_notes_are_appended_read_back_and_can_be_taken_away(flushes: list[list[Note]], newline: str) -> None:
    text = new_journal("2026-04-06", "+08:00", newline)
    texts = [text]
    for notes in flushes:
        text = append(text, "14:30 +08:00", notes)
        assert text.startswith(texts[-1])
        assert append(text, "15:00 +08:00", notes) == text
        texts.append(text)
    read = parse(text)
    assert (read.day, read.offset) == ("2026-04-06", "+08:00")
    said = {(n.text, n.name, n.at.removesuffix(" +08:00"), n.person, n.keys) for f in flushes for n in f}
    assert {(n.text, n.name, n.at, n.person, n.keys) for n in read.notes} == said
    assert text.count("\n") == text.count(newline)
    everything = [note for notes in flushes for note in notes]
    assert parse(without(text, everything)).notes == ()
    assert without(text, everything).split() == texts[0].split()


def test_case_87_a_second_flush_adds_to_the_day() -> None:
    text = append(
        new_journal("2026-04-06", "+00:00"), "10:00 +00:00", [Note("Learned", f"fact {n}") for n in range(12)]
    )
    text += "\nA line by hand.\n"
    text = append(text, "11:00 +00:00", [Note("Decisions", "one more", "ana", "10:59 +00:00", "slack:T1:U2")])
    assert len(parse(text).notes) == 14
    assert text.count("## 1") == 2
    assert "\nA line by hand.\n" in text


def test_case_142_the_day_is_the_one_of_the_scopes_zone() -> None:
    moment = datetime(2026, 4, 11, 19, 53, tzinfo=UTC)
    assert local_day(moment, SHANGHAI) == "2026-04-12"
    assert local_time(moment, SHANGHAI) == "03:53 +08:00"
    text = append(new_journal("2026-04-12", "+08:00"), "04:30 +08:00", [Note("Tasks", "x", "ana", "03:53 +08:00")])
    assert text == "# 2026-04-12 (+08:00)\n\n## 04:30 Notes\n\n### Tasks\n- x (@ana, 03:53)\n"


def test_a_line_of_another_offset_names_its_own() -> None:
    text = append(new_journal("2026-10-25", "+02:00"), "23:10 +01:00", [Note("Learned", "x", "ana", "22:00 +01:00")])
    assert "## 23:10 +01:00 Notes" in text
    assert "- x (@ana, 22:00 +01:00)" in text


def test_absorbed_lines_are_known_and_not_added_again() -> None:
    notes = [Note("Learned", "x", "ana", "10:00 +00:00", "slack:T1:U2", (MessageKey("slack:T1:C9:1"),))]
    text = append(new_journal("2026-04-06", "+00:00"), "10:30 +00:00", notes).rstrip("\n") + " [absorbed]\n"
    assert parse(text).notes[0].absorbed
    assert append(text, "11:00 +00:00", notes) == text
