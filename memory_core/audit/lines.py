"""A hand-made Markdown page as a list of statements: what a person would call one item. Pure.

A statement is a bullet, a table row, a line of prose or a heading, with the headings above it and the header of its
table. Front matter, fences, comments, rules and table headers are none. Markdown is read as people write it: indented
or numbered bullets, tables without outer pipes, `key = value` lines, Chinese bullets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_core.forms.blocks import lines_of
from memory_core.index_lines import Part as IndexPart
from memory_core.index_lines import cells, is_alignment
from memory_core.index_lines import outline as index_outline

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*")
_BOLD_HEADING = re.compile(r"\*\*([^*]{1,60}?)[:：]?\*\*[:：]?")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•·][ \t]+|\d{1,3}[.)、][ \t]*)(?:(\[[ xX✓-]\])[ \t]+)?(.*\S)[ \t]*")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_MARKED = re.compile(r"(?:[✅☑✔❌⬜🔲🚧⏳🔄🟢🟡🔴]\ufe0f?[ \t]*)+")
_META = re.compile(r"<!--.*?-->|[\[(](?:\w+=[^\s\])]+[ ,;]*)+[\])]")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}")

LONGEST_CHARACTERS = 1000
"""So much of a line is looked at: what is longer was pasted, and time must stay bounded."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One item: its line (from 1), its text without marks, the headings above it, outermost first.

    `level` is a heading's depth, else 0; `depth` the indent of a bullet in steps; `columns` the header of its table
    in lower case; `box`: a checkbox stands before it; `marked`: a sign of how far it is (✅, 🚧); `quoted`: it stands
    in a quotation. What a program noted about a line (comments, `[score=0.8 …]`) is not part of it.
    """

    line: int
    text: str
    headings: tuple[str, ...] = ()
    level: int = 0
    depth: int = 0
    columns: tuple[str, ...] = ()
    box: bool = False
    marked: bool = False
    row: bool = False
    quoted: bool = False


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a page, in order. Never raises."""
    return tuple(_Reader().read(text))


class _Reader:
    """Where we are: the headings above, and the header of the table that we are in."""

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []
        self._columns: tuple[str, ...] | None = None

    def read(self, text: str) -> Iterator[Statement]:
        """The statements of `text`."""
        front = sum(line.part is IndexPart.FRONT for line in index_outline(text))
        every = lines_of(text)
        for number, line in enumerate(every, start=1):
            if number <= front or line.inert or not line.text.strip():
                self._columns = None if not line.text.strip() else self._columns
                continue
            following = every[number].text[:LONGEST_CHARACTERS] if number < len(every) else ""
            bare = _META.sub("", line.text[:LONGEST_CHARACTERS])
            if bare.strip() and (found := self._one(number, bare, following)) is not None:
                yield found

    def _one(self, number: int, line: str, following: str) -> Statement | None:
        quoted = bool(_QUOTE.match(line))
        line = _QUOTE.sub("", line, count=1)
        if heading := _HEADING.fullmatch(line):
            return self._headed(number, len(heading[1]), heading[2])
        if bold := _BOLD_HEADING.fullmatch(line.strip()):
            return self._headed(number, 7, bold[1])
        if row := (cells(line) if "|" in line else []):
            return self._row(number, row, following)
        self._columns = None
        if _RULE.fullmatch(line):
            return None
        if bullet := _BULLET.fullmatch(line):
            depth, marked = len(bullet[1].expandtabs(4)) // 2, bool(_MARKED.match(bullet[3]))
            return Statement(
                number, bullet[3], self._titles(), depth=depth, box=bool(bullet[2]), marked=marked, quoted=quoted
            )
        text = line.strip()
        return Statement(number, text, self._titles(), marked=bool(_MARKED.match(text)), quoted=quoted)

    def _headed(self, number: int, level: int, title: str) -> Statement:
        self._columns = None
        self._above = [one for one in self._above if one[0] < level]
        found = Statement(number, title, self._titles(), level=level)
        self._above.append((level, title))
        return found

    def _row(self, number: int, row: list[str], following: str) -> Statement | None:
        if is_alignment(row):
            return None
        if self._columns is None:
            self._columns = ()
            if is_alignment(cells(following)):
                self._columns = tuple(cell.lower() for cell in row)
                return None
        return Statement(number, " | ".join(filter(None, row)), self._titles(), columns=self._columns, row=True)

    def _titles(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._above)
