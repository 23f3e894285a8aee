"""Secrets that are given away by the markup around them: tags, tables, arrows.

    <password>…</password>      a tag that bears the name of a secret
    | user | password |         a table's column under such a heading; the rows below the line of dashes
    password -> …  → …          an arrow from such a name, where the value looks made

Which values can be secrets is the rule of memory_core.redact.words; placeholders, plain words and counts stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.redact.tokens import Span
from memory_core.redact.words import NAMED, is_odd, may_be_value

_TAG = re.compile(
    rf"<(?:[\w.-]{{1,30}}[:._-])?(?i:{NAMED})(?:[ \t][^<>\n]{{0,80}})?>"
    r"\s{0,8}(?P<secret>[^<>\n\x00]{4,400}?)\s{0,8}</"
)
_ARROW = re.compile(
    rf"(?<![A-Za-z])(?i:{NAMED})[\"'`*]{{0,3}}[ \t]{{0,3}}(?:->|→|⇒|➜)[ \t]{{0,3}}[\"'`*]{{0,3}}"
    r"(?P<secret>[^\s\"'`*\x00]{4,200})"
)
_HEADING = re.compile(rf"[\"'`*_ ]*(?:[\w.-]{{1,20}}[ _-])?(?i:{NAMED})[\"'`*_ ]*")
_CELL = re.compile(r"(?:\\.|[^|\\\n])+")


def markup_spans(text: str) -> Iterator[Span]:
    """Every secret in `text` that markup gives away."""
    if "</" in text:
        yield from _said(_TAG, text)
    if "->" in text or not text.isascii():
        yield from (span for span in _said(_ARROW, text) if is_odd(text[span.start : span.end]))
    if "|" in text and "--" in text:
        yield from _in_tables(text)


def _said(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for found in pattern.finditer(text):
        if may_be_value(found["secret"]):
            yield Span(*found.span("secret"), "password")


def _in_tables(text: str) -> Iterator[Span]:
    """The cells under the headings that name a secret."""
    columns: list[int] = []
    header: list[tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        cells = _cells(line, at)
        if columns and not cells:
            columns = []
        elif header and _is_line_of_dashes(line):
            columns = [n for n, (start, end) in enumerate(header) if _HEADING.fullmatch(text, start, end)]
        else:
            named = [cells[n] for n in columns if n < len(cells)]
            yield from (Span(*cell, "password") for cell in named if _is_secret(text[slice(*cell)]))
        header = cells
        at += len(line) + 1


def _cells(line: str, at: int) -> list[tuple[int, int]]:
    """Where the cells of a row stand, without the blanks and signs of emphasis around them; none for another line."""
    if "|" not in line:
        return []
    found: list[tuple[int, int]] = []
    for cell in _CELL.finditer(line):
        inner = cell[0].strip(" \t`*")
        if inner or found:
            start = cell.start() + cell[0].find(inner) if inner else cell.start()
            found.append((at + start, at + start + len(inner)))
    return found


def _is_line_of_dashes(line: str) -> bool:
    return "-" in line and not line.strip(" \t\r|:-")


def _is_secret(cell: str) -> bool:
    return len(cell) >= 4 and may_be_value(cell)
