"""A scope's daily note, append-only: what a flush found, a line each.

    # 2026-04-06 (+08:00)

    ## 14:30 Notes

    ### Decisions
    - Redis for the session cache (@ana, 14:02) <!-- slack:T1:U2; slack:T1:C9:1712412120.000100 -->

A line stands in the note of the day on which its message was sent, in the scope's zone; the code says which day that
is (clock.day_in), never a text. The first line names the offset; a heading or line written under another offset names
its own (`14:02 +09:00`). The mark in the comment holds the person key and the message keys. A line that deep sleep
took up ends with ` [absorbed]`; a heading whose lines all are gets it too.

Notes are added line by line: a line that stands there already is not added again, so that a repeated append changes
nothing. Whatever else is in the page (a person's notes) is read as lines without a mark and never changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from memory_core.clock import day_in
from memory_core.forms.blocks import day_of, lines_of, newline_of
from memory_core.forms.escape import escape, escape_comment, unescape, unescape_comment
from memory_core.forms.record_values import source_name
from memory_core.ids import MessageKey
from memory_core.layouts import Kind
from memory_core.text import flat

_TITLE = re.compile(r"# (\d{4})-(\d{2})-(\d{2})(?: \(([+-]\d{2}:\d{2})\))?.*")
_NOTES = re.compile(r"## (\d{2}:\d{2})(?: ([+-]\d{2}:\d{2}))? Notes(?P<absorbed> \[absorbed\])?[ \t]*")
_PART = re.compile(r"### (\w+)(?P<absorbed> \[absorbed\])?[ \t]*")
_LINE = re.compile(
    r"- (?P<text>.*?)(?: \(@(?P<name>[^()]*?), (?P<at>\d{2}:\d{2}(?: [+-]\d{2}:\d{2})?)\))?"
    r"(?: <!-- (?P<mark>.*?) -->)?(?P<absorbed> \[absorbed\])?[ \t]*"
)

ABSORBED = " [absorbed]"
"""What deep sleep puts behind a line that it took up."""


class Part(StrEnum):
    """The parts of a flush's notes, in this order."""

    DECISIONS = "Decisions"
    LEARNED = "Learned"
    TASKS = "Tasks"
    BLOCKERS = "Blockers"
    ANCHORS = "Anchors"
    RAW = "Raw"
    """What was said, word for word, while extraction failed: no statement, and gone once it was read through."""


_PART_OF: Mapping[Kind, Part] = {
    Kind.DECISION: Part.DECISIONS,
    Kind.TASK: Part.TASKS,
    Kind.STATUS: Part.TASKS,
    Kind.BLOCKER: Part.BLOCKERS,
}


def part_of(kind: Kind) -> Part:
    """Where a kind goes; what has no part of its own was learned."""
    return _PART_OF.get(kind, Part.LEARNED)


@dataclass(frozen=True, slots=True)
class Note:
    """One line: what was said, by whom (name and key), when (`14:02`, maybe with an offset), in which messages.

    `part` is the heading that it stands under, '' outside our notes. Text is put on one line.
    """

    part: str
    text: str
    name: str = ""
    at: str = ""
    person: str = ""
    keys: tuple[MessageKey, ...] = ()
    absorbed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", flat(self.text))
        object.__setattr__(self, "name", source_name(self.name))


@dataclass(frozen=True, slots=True)
class Journal:
    """A note as read: its day and offset as they stand in its first line ('' where they do not), and its lines."""

    day: str
    offset: str
    notes: tuple[Note, ...]


def new_journal(day: str, offset: str, newline: str = "\n") -> str:
    """The first line of a day's note."""
    return f"# {day} ({offset}){newline}"


def offset_of(moment: datetime, zone: tzinfo) -> str:
    """`+08:00`: the offset of `zone` at that moment."""
    text = moment.astimezone(zone).strftime("%z")
    return f"{text[:3]}:{text[3:5]}"


def local_time(moment: datetime, zone: tzinfo) -> str:
    """`14:02 +08:00`: the local time with its offset, as `append` takes it."""
    return f"{moment.astimezone(zone):%H:%M} {offset_of(moment, zone)}"


def local_day(moment: datetime, zone: tzinfo) -> str:
    """`2026-04-06`: the day that the moment belongs to."""
    return day_in(zone, moment).isoformat()


def parse(text: str) -> Journal:
    """Read a note; never raises."""
    day = offset = part = ""
    notes: list[Note] = []
    for line in lines_of(text):
        if title := _TITLE.fullmatch(line.text):
            if not day and (found := day_of(title[1], title[2], title[3])):
                day, offset = found.isoformat(), title[4] or ""
        elif line.text.startswith("#"):
            heading = _PART.fullmatch(line.text)
            part = heading[1] if heading else ""
        elif line.text.strip():
            notes.append(_note(line.text, part))
    return Journal(day, offset, tuple(notes))


def append(text: str, at: str, notes: Sequence[Note]) -> str:
    """`text` with one more `## … Notes`: the lines that do not stand there yet, part by part. `at`: see `local_time`.

    An empty text must be begun with `new_journal`. Unchanged when every line is there.
    """
    newline, offset = newline_of(text), parse(text).offset
    missing = [note for note in notes if not _stands(text, note, offset)]
    if not missing:
        return text
    lines = [f"## {_short(at, offset)} Notes"]
    for part in Part:
        own = [_line(note, offset) for note in missing if note.part == part.value]
        lines += ["", f"### {part.value}", *dict.fromkeys(own)] if own else []
    gap = "" if text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines) + newline


def without(text: str, notes: Sequence[Note]) -> str:
    """`text` without those lines, and without the headings that this left empty."""
    newline, offset = newline_of(text), parse(text).offset
    gone = {_line(note, offset) for note in notes}
    kept = [line.removesuffix("\r") for line in text.split("\n")]
    if not gone & set(map(_open, kept)):
        return text
    return newline.join(_without_empty([line for line in kept if _open(line) not in gone]))


def without_message(text: str, key: MessageKey) -> str:
    """`text` without the lines that came from that message alone."""
    return without(text, [note for note in parse(text).notes if set(note.keys) == {key}]) if key in text else text


def without_raw(text: str, keys: Collection[MessageKey]) -> str:
    """`text` without the raw lines of those messages."""
    if f"### {Part.RAW.value}" not in text:
        return text
    raw = [note for note in parse(text).notes if note.part == Part.RAW.value]
    return without(text, [note for note in raw if note.keys and set(note.keys) <= set(keys)])


def raw_in(text: str) -> tuple[Note, ...]:
    """The raw lines of a note."""
    return tuple(note for note in parse(text).notes if note.part == Part.RAW.value)


def absorb(text: str, lines: Collection[str]) -> str:
    """`text` with ` [absorbed]` behind those lines, and behind each heading of ours whose lines all are absorbed.

    `lines` as they stand, each with the mark of its messages: a line without one is a person's and never rewritten.
    """
    wanted = {line for line in lines if _is_marked(line)}
    if not wanted:
        return text
    for line in reversed(lines_of(text)):
        if not line.inert and line.text in wanted:
            text = f"{text[: line.start]}{line.text.rstrip()}{ABSORBED}{text[line.end :]}"
    return _with_headings(text, absorbed=True)


def release(text: str, lines: Collection[str]) -> str:
    """`text` without ` [absorbed]` behind those lines (named without it) and behind the headings above them."""
    wanted = {line.rstrip() for line in lines}
    for line in reversed(lines_of(text)):
        if not line.inert and line.text.endswith(ABSORBED) and _open(line.text) in wanted:
            text = text[: line.start] + _open(line.text) + text[line.end :]
    return _with_headings(text, absorbed=False)


def read_line(line: str, part: str) -> Note:
    """One line of a note as read; `part` is the heading that it stands under."""
    return _note(line, part)


def part_named(heading: str) -> str:
    """The part that a heading line opens; '' for another heading."""
    found = _PART.fullmatch(heading)
    return found[1] if found else ""


def _with_headings(text: str, *, absorbed: bool) -> str:
    """`text` with the mark on our headings whose lines all bear it (`absorbed`), or off those where one does not."""
    part_all = notes_all = True
    part_any = notes_any = False
    for line in reversed(lines_of(text)):
        if line.inert or not line.text.strip():
            continue
        if line.text.startswith("#"):
            notes = bool(_NOTES.fullmatch(line.text))
            whole = (notes_any and notes_all) if notes else (part_any and part_all)
            ours, marked = notes or bool(_PART.fullmatch(line.text)), line.text.rstrip().endswith(ABSORBED)
            if ours and absorbed and whole and not marked:
                text = f"{text[: line.start]}{line.text.rstrip()}{ABSORBED}{text[line.end :]}"
            elif ours and not absorbed and marked and not whole:
                text = text[: line.start] + _open(line.text) + text[line.end :]
            part_all, part_any = True, False
            if not line.text.startswith("###"):
                notes_all, notes_any = True, False
            continue
        done = _is_marked(_open(line.text)) and line.text.rstrip().endswith(ABSORBED)
        part_all, notes_all = part_all and done, notes_all and done
        part_any = notes_any = True
    return text


def _is_marked(line: str) -> bool:
    found = _LINE.fullmatch(line)
    return bool(found and found["mark"] and not found["absorbed"])


def _stands(text: str, note: Note, offset: str) -> bool:
    line = _line(note, offset)
    return any(_open(one.text) == line for one in lines_of(text))


def _open(line: str) -> str:
    """A line without the mark that deep sleep puts behind it."""
    return line.rstrip().removesuffix(ABSORBED)


def _line(note: Note, offset: str) -> str:
    who = f" (@{note.name}, {_short(note.at, offset)})" if note.at else ""
    mark = f" <!-- {escape_comment('; '.join((note.person, *note.keys)))} -->" if note.person else ""
    return f"- {escape(note.text)}{who}{mark}"


def _short(at: str, offset: str) -> str:
    """The time without its offset where the page names that one already."""
    return at.removesuffix(f" {offset}") if offset else at


def _note(line: str, part: str) -> Note:
    found = _LINE.fullmatch(line)
    if found is None:
        return Note(part, line)
    person, *keys = unescape_comment(found["mark"] or "").split("; ")
    return Note(
        part,
        unescape(found["text"]),
        found["name"] or "",
        found["at"] or "",
        person,
        tuple(MessageKey(key) for key in keys),
        bool(found["absorbed"]),
    )


def _without_empty(lines: Sequence[str]) -> list[str]:
    """The lines without our headings that have nothing under them, and without the blank line after such a one."""
    kept: list[str] = []
    part_filled = notes_filled = False
    for line in reversed(lines):
        ours = bool(_PART.fullmatch(line) and not part_filled) or bool(_NOTES.fullmatch(line) and not notes_filled)
        if ours:
            if kept and not kept[-1].strip():
                kept.pop()
            continue
        if line.startswith("#"):
            part_filled, notes_filled = False, notes_filled and line.startswith("###")
        elif line.strip():
            part_filled = notes_filled = True
        kept.append(line)
    return kept[::-1]
