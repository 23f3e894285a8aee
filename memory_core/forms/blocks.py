"""Where the records of a page begin and end: headings, fences, comments, struck lines. Pure text work.

A block starts at a heading (`##` to `######`) and ends before the next heading that is not deeper, before any dated
heading, or before a struck line (`~~[…] …~~`), which stands between blocks; blank lines at its end are not part of
it. A heading of level 1 and what stands before the first block are nobody's. Headings inside a fence or a comment are
text; a fence or comment that is never closed is taken as an ordinary line, so that it cannot swallow a page.

Dates are read as `[2026-04-06]`, `[2026-4-1]`, `2026-04-06 - …`, `[2026-04-06T10:00+08:00]`; an impossible date is
text. Under a heading without a date, lines of the form `[2026-04-06] Decision: … → Context: …` (also as bullets) are
entries of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import accumulate, pairwise, repeat
from typing import NamedTuple

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?")
"""Of a line without blanks at its end (`_heading`)."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_OPENING = ("```", "~~~", "<!--")
"""Without any of these there is no fence and no comment."""
_TURNING = ("#", "~~[", "[", "- [", "* [", "+ [")
"""How a line begins that may open or end a block: a heading, a struck line, an entry of one line."""
_BRACKETED = re.compile(r"\[(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ][^\]]*)?\][ \t]*(.*)")
_BARE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(?:T\S*)?[ \t]*(?:[-–—:][ \t]*)?(.*)")
_STRUCK, _CLOSES = "~~[", " -->"
_MARKED = re.compile(r"~~[ \t]*<!-- ")
"""What stands between a struck text and our mark behind it."""
_ENTRY = re.compile(r"(?:[-*+] )?\[(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ][^\]]*)?\] (.*\S)[ \t]*")
_PARTS = re.compile(r" (?:→|->) ")
_WORD = re.compile(r"(?:\*\*)?[A-Z][\w ]{2,20}:(?:\*\*)?[ \t]+")


@dataclass(slots=True)
class Block:
    """One block: where it stands, its heading's level (0: an entry of one line), day and title, and its lines.

    `dated`: the heading has the form of a date, even an impossible one. `lines` are without line ends.
    """

    start: int
    end: int
    level: int
    day: date | None
    dated: bool
    title: str
    lines: list[str] = field(default_factory=list)


class Line(NamedTuple):
    """A line of a text without its line end, where it stands, and whether it is inside a fence or comment."""

    start: int
    end: int
    text: str
    inert: bool


def newline_of(text: str) -> str:
    """The line end that a text uses: CRLF if its first line does, else LF."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def lines_of(text: str, problems: list[str] | None = None) -> tuple[Line, ...]:
    """Every line, with fences and multi-line comments marked as inert; unclosed ones are reported, not obeyed."""
    lines, starts, inert = _split(text, problems if problems is not None else [])
    marks: Iterable[bool] = inert or repeat(False)
    return tuple([Line(at, at + len(line), line, mark) for at, line, mark in zip(starts, lines, marks, strict=False)])


def _split(text: str, problems: list[str]) -> tuple[list[str], list[int], list[bool]]:
    """The lines without their ends, where each begins, and which are inert: a mark each, or none at all."""
    raws = text.split("\n")
    lines = [raw.removesuffix("\r") for raw in raws] if "\r" in text else raws
    starts = list(accumulate([len(raw) + 1 for raw in raws], initial=0))
    # A single character is found fifty times as fast as three, and most texts have none of these.
    inert = _inert(lines, problems) if any(sign[0] in text and sign in text for sign in _OPENING) else []
    return lines, starts, inert


def blocks(text: str, problems: list[str]) -> Iterator[Block]:
    """The blocks of `text` in order; oddities are added to `problems`.

    What stands between two lines that may open or end a block is taken at once: most lines are such.
    """
    lines, starts, inert = _split(text, problems)
    turns = [number for number, line in enumerate(lines) if line.startswith(_TURNING)]
    if inert:
        turns = [number for number in turns if not inert[number]]
    block: Block | None = None
    for number, until in pairwise((*turns, len(lines))):
        line, first = lines[number], number
        opened = _opened(line, starts[number], block, problems)
        if opened is not None or (block is not None and _ends(line, block)):
            if block is not None:
                yield block
            block, first = opened, number + 1
        if block is not None:
            _fill(block, lines, starts, first, until)
    if block is not None:
        yield block


def _fill(block: Block, lines: list[str], starts: list[int], first: int, until: int) -> None:
    """Put the lines from `first` up to before `until` into the block.

    What goes on with an entry of one line is indented: it ends before the first line that is not.
    """
    if not block.level:
        until = next((number for number in range(first, until) if not lines[number].startswith("  ")), until)
    block.lines += lines[first:until]
    for number in range(until - 1, first - 1, -1):
        if lines[number].strip():
            block.end = starts[number] + len(lines[number])
            break


def unswallowed(text: str, at: int, end: int, level: int) -> int:
    """The first place from `at` on where a block of that level takes in nothing of what follows.

    A person's records may be deeper than ours, and so may the undated heading behind them.
    """
    passed = False
    for line in lines_of(text):
        if at <= line.start < end and line.text.strip():
            if not line.inert and _begins_anew(line.text, level):
                return line.start if passed else at
            passed = True
    return end if passed else at


def _begins_anew(line: str, level: int) -> bool:
    """Does this line end a dated block whose heading is of that level?"""
    heading = _heading(line)
    title = (heading[2] or "") if heading else ""
    dated = _BRACKETED.fullmatch(title) or _BARE.fullmatch(title)
    return is_struck(line) or (heading is not None and (bool(dated) or len(heading[1]) <= level))


def is_struck(line: str) -> bool:
    """Is it the line that a superseded record leaves, `~~[…] …~~`, perhaps with a comment of ours behind it?

    Told in one pass: a line may be a whole file.
    """
    if not line.startswith(_STRUCK):
        return False
    line = line.rstrip(" \t")
    if line.endswith("~~"):
        return len(line) >= len(_STRUCK) + 2
    marked = _MARKED.search(line, len(_STRUCK)) if line.endswith(_CLOSES) else None
    return marked is not None and marked.end() + len(_CLOSES) <= len(line)


def line_entry(block: Block) -> tuple[str, str] | None:
    """Title and body of an entry of one line; None for an empty one."""
    first, *others = _PARTS.split("\n".join((block.title, *block.lines)))
    title = _WORD.sub("", first, count=1) if others else first
    return (title, "\n".join(others)) if title.strip() else None


@lru_cache(maxsize=4096)
def day_of(year: str, month: str, day: str) -> date | None:
    """The date, or None where the calendar has no such day."""
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _heading(line: str) -> re.Match[str] | None:
    """The signs of a heading (its first group) and its title; None for any other line."""
    return _HEADING.fullmatch(line.rstrip(" \t")) if line.startswith("#") else None


def _opened(line: str, start: int, block: Block | None, problems: list[str]) -> Block | None:
    """The block that this line opens, if it does. It begins at `start`."""
    heading = _heading(line)
    if heading is None:
        return _entry(line, start, block)
    level, title = len(heading[1]), heading[2] or ""
    found = _BRACKETED.fullmatch(title) or _BARE.fullmatch(title)
    if level == 1 or (found is None and block is not None and level > block.level > 0):
        return None
    if found is None:
        return Block(start, start + len(line), level, None, False, title)
    day = day_of(found[1], found[2], found[3])
    if day is None:
        problems.append(f"{title[:60]!r} has a date that does not exist; it is kept as undated text.")
        return Block(start, start + len(line), level, None, True, title)
    return Block(start, start + len(line), level, day, True, found[4].strip())


def _entry(line: str, start: int, block: Block | None) -> Block | None:
    """An entry of one line, which exists only outside a dated block."""
    if block is not None and block.level and block.dated:
        return None
    found = _ENTRY.fullmatch(line)
    day = day_of(found[1], found[2], found[3]) if found else None
    return Block(start, start + len(line), 0, day, True, found[4]) if found and day else None


def _ends(line: str, block: Block) -> bool:
    """Does this line, which opens nothing, end the block?"""
    if not line.startswith(("#", _STRUCK)):
        return False
    heading = _heading(line)
    return is_struck(line) or (heading is not None and (len(heading[1]) <= max(block.level, 1)))


def _inert(lines: list[str], problems: list[str]) -> list[bool]:
    marks = [False] * len(lines)
    hopeless: dict[str, int] = {}
    for at in [number for number, line in enumerate(lines) if line.lstrip(" ").startswith(_OPENING)]:
        close = None if marks[at] else _closing(lines, at, hopeless)
        if close == -1:
            problems.append(f"Line {at + 1} opens a fence or comment that is never closed; it is taken as text.")
        elif close is not None:
            marks[at : close + 1] = [True] * (close + 1 - at)
    return marks


def _closing(lines: list[str], at: int, hopeless: dict[str, int]) -> int | None:
    """The line that closes what line `at` opens; -1: never closed; None: it opens nothing.

    `hopeless` keeps, by sign, the shortest mark that nothing closes any more: a page of unclosed ones is read once.
    """
    line = lines[at]
    if line.startswith("<!--"):
        return at if "-->" in line else _found(lines, at, re.compile(".*-->.*"), "<", 1, hopeless)
    fence = _FENCE.fullmatch(line)
    if fence is None or (fence[1][0] == "`" and "`" in fence[2]):
        return None
    sign, length = fence[1][0], len(fence[1])
    closed = re.compile(rf" {{0,3}}{re.escape(sign)}{{{length},}}[ \t]*")
    return _found(lines, at, closed, sign, length, hopeless)


def _found(
    lines: list[str], at: int, closed: re.Pattern[str], sign: str, length: int, hopeless: dict[str, int]
) -> int:
    """The first line after `at` that closes a mark of that sign and length; -1 where there is none."""
    if length >= hopeless.get(sign, length + 1):
        return -1
    found = next((n for n in range(at + 1, len(lines)) if closed.fullmatch(lines[n])), -1)
    if found == -1:
        hopeless[sign] = length
    return found
