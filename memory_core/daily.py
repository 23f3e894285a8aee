"""daily-synced.md: one line a day, newest first, with what that day's flushes kept.

    # Daily

    - 2026-04-06: Redis for the session cache; Prepare the release
    - 2026-04-05: …

A later flush of the same day adds to the day's line what it does not name yet. Every other line stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.blocks import Line, lines_of, newline_of
from memory_core.escape import escape_comment, unescape_comment
from memory_core.text import flat

_DAY = re.compile(r"- (\d{4}-\d{2}-\d{2}): (.*)")


@dataclass(frozen=True, slots=True)
class Day:
    """One line: the day and its points."""

    day: str
    points: tuple[str, ...]


def parse(text: str) -> tuple[Day, ...]:
    """The days of a page in their order; other lines are left out."""
    return tuple(day for line in lines_of(text) if not line.inert and (day := _day(line)))


def with_day(text: str, day: str, points: Sequence[str]) -> str:
    """The page with those points on the day's line; unchanged where they all stand there."""
    wanted = tuple(dict.fromkeys(filter(None, map(_point, points))))
    newline = newline_of(text)
    before, listed = len(text), False
    for line in lines_of(text):
        known = None if line.inert else _day(line)
        listed = listed or known is not None
        if known and known.day == day:
            missing = [point for point in wanted if point not in known.points]
            return text[: line.end] + "".join(f"; {escape_comment(point)}" for point in missing) + text[line.end :]
        if known and known.day < day:
            before = min(before, line.start)
    new = _line(day, wanted)
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
            kept = tuple(point for point in known.points if point not in gone)
            end = text.find("\n", line.end) + 1 or len(text)
            return text[: line.start] + (_line(day, kept) + text[line.end :] if kept else text[end:])
    return text


def _point(text: str) -> str:
    return flat(text).replace(";", ",")


def _day(line: Line) -> Day | None:
    found = _DAY.fullmatch(line.text)
    return Day(found[1], tuple(unescape_comment(point) for point in found[2].split("; "))) if found else None


def _line(day: str, points: Sequence[str]) -> str:
    return f"- {day}: {'; '.join(map(escape_comment, points))}"
