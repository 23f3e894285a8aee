"""daily-synced.md: one line a day, newest first, with what that day's flushes kept.

    # Daily

    - 2026-04-06: Redis for the session cache <!-- slack:T1:D9:1712412120.000100 -->; Prepare the release
    - 2026-04-05: …

A point ends with the mark of the messages that it came from (forms/marks). A later flush of the same day adds
to the day's line what it does not name yet. Every other line stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.forms.blocks import Line, lines_of, newline_of
from memory_core.forms.escape import escape_comment, unescape_comment
from memory_core.forms.marks import marked, unmarked, without_key
from memory_core.ids import MessageKey
from memory_core.text import flat

_DAY = re.compile(r"- (\d{4}-\d{2}-\d{2}): (.*)")


@dataclass(frozen=True, slots=True)
class Day:
    """One line: the day and its points, as text; `raw` are the points as they stand, with their marks."""

    day: str
    raw: tuple[str, ...]

    @property
    def points(self) -> tuple[str, ...]:
        """The points without marks."""
        return tuple(unescape_comment(unmarked(point)[0]) for point in self.raw)


def parse(text: str) -> tuple[Day, ...]:
    """The days of a page in their order; other lines are left out."""
    return tuple(day for line in lines_of(text) if not line.inert and (day := _day(line)))


def with_day(text: str, day: str, points: Sequence[str], keys: Sequence[Sequence[MessageKey]] = ()) -> str:
    """The page with those points on the day's line; unchanged where they all stand there.

    `keys` are the messages that the points came from, point by point.
    """
    wanted: dict[str, str] = {}
    for at, point in enumerate(map(_point, points)):
        if point:
            wanted.setdefault(point, marked(escape_comment(point), keys[at] if at < len(keys) else ()))
    newline = newline_of(text)
    before, listed = len(text), False
    for line in lines_of(text):
        known = None if line.inert else _day(line)
        listed = listed or known is not None
        if known and known.day == day:
            missing = [raw for point, raw in wanted.items() if point not in known.points]
            return text[: line.end] + "".join(f"; {raw}" for raw in missing) + text[line.end :]
        if known and known.day < day:
            before = min(before, line.start)
    new = _line(day, tuple(wanted.values()))
    if not wanted:
        return text
    if before < len(text):
        return text[:before] + new + newline + text[before:]
    gap = "" if not text or listed or text.endswith(newline * 2) else newline
    return text + ("" if not text or text.endswith("\n") else newline) + gap + new + newline


def without_points(text: str, day: str, points: Sequence[str]) -> str:
    """The page without those points of that day; a line that this leaves empty goes."""
    gone = set(map(_point, points))
    for line in lines_of(text):
        known = None if line.inert else _day(line)
        if known and known.day == day:
            kept = [raw for raw, point in zip(known.raw, known.points, strict=True) if point not in gone]
            return _put(text, line, day, kept) if len(kept) < len(known.raw) else text
    return text


def without_message(text: str, key: MessageKey) -> str:
    """The page without the points that came from that message alone, and without its key in others."""
    for line in reversed(lines_of(text)):
        known = None if line.inert or key not in line.text else _day(line)
        if known:
            kept = [raw for one in known.raw if (raw := without_key(one, key)) is not None]
            text = _put(text, line, known.day, kept) if kept != list(known.raw) else text
    return text


def _put(text: str, line: Line, day: str, points: Sequence[str]) -> str:
    """The text with these points on the day's line, which goes where there are none."""
    end = text.find("\n", line.end) + 1 or len(text)
    return text[: line.start] + (_line(day, points) + text[line.end :] if points else text[end:])


def _point(text: str) -> str:
    return flat(text).replace(";", ",")


def _day(line: Line) -> Day | None:
    found = _DAY.fullmatch(line.text)
    return Day(found[1], tuple(found[2].split("; "))) if found else None


def _line(day: str, points: Sequence[str]) -> str:
    return f"- {day}: {'; '.join(points)}"
