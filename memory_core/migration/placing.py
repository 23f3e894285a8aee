"""Records put into a page, many at once: the page is read once, however many come.

On a page of newest first a record stands before the first one of its day or earlier; elsewhere at the end. What was
there, byte for byte, stays. A record that stands there already in the same words is not put again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memory_core.forms import listed, sections
from memory_core.forms.records import parse
from memory_core.migration.pieces import Piece, at_level


def placed(text: str, new: Sequence[Piece], *, newest: bool, section: str = "") -> str:
    """`text` (LF line ends) with these pieces, in a section under its heading, which is added where it is missing."""
    if not new:
        return text
    start, end, level = 0, len(text), 2
    if section:
        found = sections.span(text, section)
        if found is None:
            text = put_in(text, len(text), f"## {section}")
            found = (len(text), len(text), 2)
        start, end, level = found[0], found[1], min(found[2] + 1, 6)
        if end < len(text) and text[end - 1 : end] != "\n":
            end = listed.after(text, end)
        newest = True
    return _put(text, new, start, end, level, newest=newest)


def _put(text: str, new: Sequence[Piece], start: int, end: int, level: int, *, newest: bool) -> str:
    standing = [
        one for one in parse(text).records if start <= one.start < end and one.level and one.record.day is not None
    ]
    after = standing[-1].end if standing and newest else end
    places: dict[int, list[Piece]] = {}
    for piece in _ordered(new, newest=newest):
        day = piece.record.day
        earlier = (one.start for one in standing if day and one.record.day and one.record.day <= day)
        places.setdefault(next(earlier, after) if newest else end, []).append(piece)
    for at, pieces in sorted(places.items(), reverse=True):
        text = put_in(text, at, "\n\n".join(at_level(piece.block, level) for piece in pieces))
    return text


def _ordered(new: Sequence[Piece], *, newest: bool) -> list[Piece]:
    return sorted(new, key=lambda piece: piece.record.day or date.min, reverse=True) if newest else list(new)


def put_in(text: str, at: int, block: str) -> str:
    """`text` with the block at `at`, a blank line on either side of it; every other byte stays."""
    before, after = text[:at], text[at:]
    if before and not before.endswith("\n"):
        before += "\n"
    if before and not before.endswith("\n\n"):
        before += "\n"
    if after.strip():
        gap = "" if after.startswith("\n\n") else "\n" if after.startswith("\n") else "\n\n"
    else:
        after, gap = "", "\n"
    return f"{before}{block}{gap}{after}"
