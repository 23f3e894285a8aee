"""The lines of journals as deep sleep reads them: what may be promoted, of which kind, and what never is.

Read are the lines of `Decisions` and `Learned`, and a person's own lines without a mark (their kind is guessed from
the heading above them, else by the extractor's rules). Blockers are read for the problem of a lesson only. Never:

    our own bookkeeping and reports      `score=…`, `recalls=…`, `sleep: …`, what stands under a heading of a report
    commands                             `$ …`, a line that is code, text in a fence
    secrets                              memory_core.redact finds one
    raw lines, anchors, tasks            what nobody read through; what has a place of its own
    absorbed lines                       they were taken up before

A line's day is its journal's, never a date in its text. A line of ours tells who said it and in which messages; one
without a mark is known by its journal (`journal 2026-04-06`), which stands in a record as its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from memory_core.candidates import Request, Value
from memory_core.errors import BadInput
from memory_core.extract import candidates_in, cues_lessons, cues_talk
from memory_core.forms import journal
from memory_core.forms.blocks import lines_of
from memory_core.forms.records import Source
from memory_core.ids import Conversation, MessageKey, PageId, PersonKey, RoomKey, message_key
from memory_core.layouts import Kind
from memory_core.messages import Message
from memory_core.redact.mask import mask
from memory_core.script import fold
from memory_core.sleep.report import SAID

_BOOKKEEPING = re.compile(
    r"\b(?:score|recalls?|hits?|hit_count|last_referenced|decision_value|confidence|fitness)\s*=\s*\S", re.IGNORECASE
)
_REPORT = re.compile(
    r"\W*(?:sleep: |(?:deep|rem|light) sleep\b|dream(?:ing)? (?:report|diary)|sleep report)", re.IGNORECASE
)
_COMMAND = re.compile(r"(?:\$|>|%|#!)\s?\S|`[^`]+`[.;]?$")
_PROGRAM = re.compile(
    r"(?:sudo|cd|ls|git|docker|kubectl|npm|npx|pnpm|yarn|pip3?|uv|python3?|node|curl|wget|ssh|scp|rsync|make|cargo|go|"
    r"brew|apt(?:-get)?|systemctl|grep|sed|awk|cat|rm|mv|cp|chmod|chown|export|psql|terraform|helm|ansible)\s+(.+)"
)
_ARGUMENT = re.compile(r"(?:^|\s)-{1,2}\w|&&|\|\s|(?:^|\s)[.~]?/\S|^[a-z][\w./:-]*(?:\s[\w./:=-]+)?$")
_HEADINGS: Sequence[tuple[re.Pattern[str], Kind | None]] = (
    (re.compile(r"decision|decided|决定|決定|entscheid"), Kind.DECISION),
    (re.compile(r"lesson|learn|经验|教训|学び|gelernt"), Kind.LESSON),
    (re.compile(r"agree|约定|合意|vereinbar"), Kind.AGREEMENT),
    (re.compile(r"task|todo|to-do|任务|待办|aufgabe|anchor|raw|report|dream|sleep|log\b|command"), None),
)
_SOLVED = re.compile(
    r"\b(?:fix\w*|solv\w+|resolv\w+|workaround|help(?:ed|s)|cured|works? now|gelöst)\b|解决|修复|直した"
)
_BROKE = re.compile(
    r"\b(?:fail\w*|stall\w*|broke\w*|crash\w*|error\w*|bugs?|timed? ?out|timeouts?|leak\w*|lost|stuck|hung|hang\w*|"
    r"slow|full|missing|fehler\w*|kaputt)\b|失败|报错|崩溃|故障|エラー|失敗"
)
_LIGHT = frozenset({Kind.ENVIRONMENT, Kind.TOOL})
_ROOM = RoomKey("console:journal")
_READ = (journal.Part.DECISIONS.value, journal.Part.LEARNED.value)


@dataclass(frozen=True, slots=True)
class Line:
    """One line that may be promoted. `session`: its journal and the note that it stands in; `raw`: as it stands.

    `solves`: it tells a problem and its solution. `sources` are never empty.
    """

    page: PageId
    day: date
    session: str
    raw: str
    text: str
    kind: Kind | None
    value: Value
    sources: tuple[Source, ...]
    solves: bool = False

    @property
    def keys(self) -> frozenset[MessageKey]:
        """The messages that it came from; none for a hand-written line."""
        return frozenset(key for source in self.sources for key in source.keys)

    @property
    def ours(self) -> bool:
        """Was it written by a flush?"""
        return bool(self.keys)

    @property
    def important(self) -> bool:
        """Did a person mark it as weighty?"""
        return cues_talk.IMPORTANT.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class DayRead:
    """A journal as read: its lines, and lessons that two of them tell together (problem, solution)."""

    lines: tuple[Line, ...]
    lessons: tuple[tuple[str, tuple[Line, ...]], ...] = ()


@lru_cache(maxsize=64)
def read_day(page: PageId, text: str, place: str) -> DayRead:
    """The lines of a journal that may be promoted, in order. `place`: where it was said, for their sources.

    Remembered, since most journals are as they were at the run before.
    """
    day = date.fromisoformat(page.partition("/")[2])
    lines: list[Line] = []
    problems: list[Line] = []
    for line, part, heading, session in _placed(text):
        note = journal.read_line(line, part)
        if note.absorbed or not _may_be_read(line, note):
            continue
        found = _line(page, day, session, line, note, heading, place)
        if part == journal.Part.BLOCKERS.value:
            problems.append(found)
        elif part in _READ or (not note.keys and _is_read(heading)):
            lines.append(found)
    return _guessed(lines, problems, day)


def heard(text: str) -> Iterator[str]:
    """The lines of a journal that stand where lines are read: not tasks, anchors, raw lines and the like of ours."""
    for line, part, heading, _ in _placed(text):
        if part in _READ or (not journal.read_line(line, part).keys and _is_read(heading)):
            yield line


def value_of(kind: Kind, text: str) -> Value:
    """The weight of a record of that kind."""
    if kind in _LIGHT:
        return Value.LOW
    heavy = cues_talk.IMPORTANT.search(text)
    deciding = kind in {Kind.DECISION, Kind.AGREEMENT, Kind.STACK} and cues_talk.ARCHITECTURAL.search(text)
    return Value.HIGH if heavy or deciding or kind is Kind.ARCHITECTURE else Value.MEDIUM


def hand_source(day: date) -> Source:
    """The source of what a person wrote into the journal of that day."""
    return Source(text=f"journal {day.isoformat()}")


def _placed(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Each line with the part of ours, the heading, and the note (`## 14:30 Notes`) that it stands under."""
    part = heading = session = ""
    for line in lines_of(text):
        if line.inert or not line.text.strip():
            continue
        if line.text.startswith("#"):
            part, heading = journal.part_named(line.text), line.text.lstrip("# ").strip()
            session = line.text if line.text.startswith("## ") else session
        else:
            yield line.text, part, heading, session


def _may_be_read(line: str, note: journal.Note) -> bool:
    text = note.text.strip().removeprefix("- ").removeprefix("* ").strip()
    if len(text) < 4 or text.startswith(("|", "~~", "<!--", SAID)) or _REPORT.match(text):
        return False
    if _BOOKKEEPING.search(text) or _COMMAND.match(text) or line.startswith(("    ", "\t")):
        return False
    program = _PROGRAM.fullmatch(text)
    if program and _ARGUMENT.search(program[1]):
        return False
    return not mask(text).kinds


def _is_read(heading: str) -> bool:
    """May a person's line under that heading be promoted?"""
    folded = fold(heading)
    return not any(kind is None and words.search(folded) for words, kind in _HEADINGS)


def _line(page: PageId, day: date, session: str, raw: str, note: journal.Note, heading: str, place: str) -> Line:
    text = note.text.strip().removeprefix("- ").removeprefix("* ").strip()
    person = _person(note.person)
    if note.keys and person:
        at = f"{day.isoformat()} {note.at.partition(' ')[0]}".strip()
        source = Source(person, note.name or person.native, place, at, note.keys)
    else:
        source = hand_source(day)
    kind = Kind.DECISION if note.part == journal.Part.DECISIONS.value else None
    if not note.keys and kind is None:
        kind = next((kind for words, kind in _HEADINGS if kind and words.search(fold(heading))), None)
    return Line(page, day, session, raw, text, kind, Value.MEDIUM, (source,), _tells_both(text))


def _tells_both(text: str) -> bool:
    """Are problem and solution in this one line?"""
    before, arrow, after = text.partition(" → ")
    if arrow:
        return bool(before.strip() and after.strip())
    folded = fold(text)
    broke = _BROKE.search(folded) or cues_lessons.PROBLEM.search(folded)
    return bool(broke and _SOLVED.search(folded))


def _guessed(lines: Sequence[Line], problems: Sequence[Line], day: date) -> DayRead:
    """The lines with the kinds that the extractor's rules see, and the lessons that two lines tell."""
    every = (*problems, *lines)
    told = dict(zip(_keys(len(every)), every, strict=True))
    kinds: dict[int, Kind] = {}
    lessons: list[tuple[str, tuple[Line, ...]]] = []
    for found in candidates_in(Request(tuple(_messages(told, day)), direct=True)):
        borne = [told[key] for key in found.sources]
        if found.kind is Kind.LESSON and len(borne) > 1:
            lessons.append((found.body, tuple(borne)))
        elif found.settled:
            kinds.setdefault(id(borne[0]), found.kind)
    read = tuple(_with_kind(line, kinds.get(id(line))) for line in lines)
    same = {id(line): new for line, new in zip(lines, read, strict=True)}
    return DayRead(read, tuple((text, tuple(same.get(id(one), one) for one in borne)) for text, borne in lessons))


def _with_kind(line: Line, seen: Kind | None) -> Line:
    kind = line.kind or (Kind.LESSON if line.solves else None) or seen
    return replace(line, kind=kind, value=value_of(kind, line.text)) if kind else line


def _person(text: str) -> PersonKey | None:
    """The person of a mark; None where a person wrote the mark by hand."""
    try:
        return PersonKey(text)
    except BadInput:
        return None


def _keys(count: int) -> list[MessageKey]:
    return [message_key(_ROOM, f"{number}.0") for number in range(1, count + 1)]


def _messages(told: Mapping[MessageKey, Line], day: date) -> Iterator[Message]:
    """The lines as messages, a minute apart, so that the extractor's rules can read them."""
    start = datetime.combine(day, time(), UTC)
    for number, (key, line) in enumerate(told.items()):
        person = _person(line.sources[0].person) or PersonKey("console:journal")
        name = line.sources[0].name or "journal"
        sent = start + timedelta(minutes=number)
        yield Message(key, Conversation(_ROOM), person, name, line.text, sent, room_title="journal")
