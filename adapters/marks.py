"""The marks of Markdown that a cut must respect: code fences, inline code, quotes and list items.

Told line by line, as chat platforms read them: a fence may stand in a quote or a list item, and backticks at the
start of a line close it whatever follows. Marks longer than an eighth of the limit are ordinary text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

MARKS_SHARE = 8
"""A mark (a fence, a quote's prefix, a run of backticks) may take limit / MARKS_SHARE characters."""

_ITEM = r"(?:[-*+]|\d{1,9}[.)])[ \t]+"
_FENCE = re.compile(rf"(?P<lead>[ \t>]*)(?P<item>{_ITEM})?(?P<marker>`{{3,}}|~{{3,}})(?P<info>[^\n]*)")
_PREFIX = re.compile(rf"(?P<quote>[ \t]{{0,3}}>[> \t]*)?(?P<item>[ \t]*(?:{_ITEM})?)")
_BLOCK_START = re.compile(r"[ \t]*(?:`{3}|~{3}|>|#{1,6}[ \t]|(?:[-*+]|\d{1,9}[.)])[ \t])")
_BACKTICKS = re.compile(
    rf"`+(?!`)|\n[ \t]*\n|^[ \t>]*(?:{_ITEM})?(?:`{{3,}}[^`\n]*|~{{3,}}[^\n]*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence: `lead` stands before its marks on every line we write for it."""

    lead: str
    marker: str

    @property
    def line(self) -> str:
        """The bare line that opens or closes it."""
        return self.lead + self.marker

    @property
    def reopen(self) -> str:
        """What a piece starts with whose cut fell inside a code line: a quoted line repeats its quote."""
        return self.line + "\n" + (self.lead if ">" in self.lead else "")

    def tail_of(self, line: str) -> str | None:
        """What follows the closing marks if `line` closes this fence, else None."""
        bare = line.lstrip(" \t>")
        if not bare.startswith(self.marker):
            return None
        tail = bare.lstrip(self.marker[0]).strip()
        return None if tail and self.marker[0] == "~" else tail


def opening(line: str, limit: int) -> tuple[Fence, str] | None:
    """The fence that `line` opens and the line without its info string, or None."""
    found = _FENCE.match(line)
    if found is None or ("`" in found["info"] and found["marker"][0] == "`"):
        return None
    lead = found["lead"] + " " * len(found["item"] or "")
    if ">" not in lead:
        lead = lead.replace("\t", " ")[:3]
    if max(found.end("item"), found.end("lead"), len(found["marker"])) > limit // MARKS_SHARE:
        return None
    return Fence(lead, found["marker"]), line[: found.end("marker")]


def continuation(line: str, limit: int) -> str:
    """What a line that is cut starts again with: its quote marks, or the indentation of its list item."""
    found = _PREFIX.match(line)
    quote = (found["quote"] or "") if found else ""
    item = (found["item"] or "") if found else ""
    prefix = quote + " " * min(len(item), 3)
    return prefix if len(prefix) <= limit // MARKS_SHARE else ""


def starts_block(text: str, at: int) -> bool:
    """Would text that starts at `at` read as a fence, quote, heading or list item that it is not?"""
    return _BLOCK_START.match(text, at) is not None


def inside_character(text: str, at: int) -> bool:
    """Would a cut at `at` part a mark, a joiner or a variation selector from its character?"""
    after = text[at : at + 1]
    if not after:
        return False
    return after in "\u200d\ufe0e\ufe0f" or text[at - 1] == "\u200d" or unicodedata.category(after).startswith("M")


class CodeSpans:
    """Inline code: runs of backticks and the runs of equal length that close them in their paragraph.

    Three and more must close in their line: opened again at the start of a piece, they would read as a fence.
    """

    def __init__(self, text: str, limit: int) -> None:
        self._text = text
        self._found: list[tuple[int, int, int]] = []
        paragraph: list[tuple[int, int]] = []
        for run in _BACKTICKS.finditer(text):
            if not run[0].strip("`"):
                if len(run[0]) <= limit // MARKS_SHARE:
                    paragraph.append((run.start(), len(run[0])))
            else:
                self._pair(paragraph)
                paragraph = []
        self._pair(paragraph)

    def _pair(self, runs: list[tuple[int, int]]) -> None:
        """Match each run with the next one of its length; a run without a partner is text."""
        later: dict[int, list[int]] = {}
        for number in range(len(runs) - 1, -1, -1):
            later.setdefault(runs[number][1], []).append(number)
        number = 0
        while number < len(runs):
            start, length = runs[number]
            partners = later[length]
            while partners and partners[-1] <= number:
                partners.pop()
            if partners and (length < 3 or "\n" not in self._text[start : runs[partners[-1]][0]]):
                self._found.append((start, runs[partners[-1]][0], length))
                number = partners[-1]
            number += 1

    def around(self, at: int) -> str | None:
        """The backticks that close and reopen the code around `at`: "" outside code, None inside a delimiter."""
        place = bisect_right(self._found, (at, 0, 0)) - 1
        if place < 0:
            return ""
        start, partner, length = self._found[place]
        if not start < at < partner + length:
            return ""
        return "`" * length if start + length < at < partner else None
