"""From one text of a page back to an earlier one, byte for byte, as long as the lines around it stand.

A hunk is a run of lines that a step put in the place of others, with the lines next to it. `patched` finds each hunk
by its lines alone, wherever it stands by now, so that what a person wrote elsewhere stays; a hunk that is not found,
or found twice, fits no more, and then nothing of the page is patched: the inverses of single operations are asked
instead (memory_core.flush.undo).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

CONTEXT_LINES = 2
_HEADED = re.compile(r"(?<=\n)(?=#|~~|- \d|- .* <!--)")


@dataclass(frozen=True, slots=True)
class Hunk:
    """`new` stands where `old` stood, after the lines `head` and before the lines `tail`; line ends included."""

    head: str
    new: str
    old: str
    tail: str


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """What changed from `old` to `new`."""
    return _between(old.splitlines(keepends=True), new.splitlines(keepends=True))


def wide_hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """What changed, heading by heading: for pages of many records, on which most lines look like many others."""
    return _between(_HEADED.split(old), _HEADED.split(new))


def _between(before: Sequence[str], after: Sequence[str]) -> tuple[Hunk, ...]:
    """What changed between two texts that were cut into pieces at the ends of lines."""
    found = []
    for tag, first, end, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            head = "".join(after[max(0, start - CONTEXT_LINES) : start]).splitlines(keepends=True)[-CONTEXT_LINES:]
            tail = "".join(after[stop : stop + CONTEXT_LINES]).splitlines(keepends=True)[:CONTEXT_LINES]
            found.append(Hunk("".join(head), "".join(after[start:stop]), "".join(before[first:end]), "".join(tail)))
    return tuple(found)


def patched(text: str, hunks: Sequence[Hunk]) -> str | None:
    """`text` with the old lines of all hunks; None where one of them fits no more."""
    waiting = [hunk for hunk in hunks if not _stands_again(text, hunk)]
    found = [(place, hunk) for hunk in waiting if (place := _place(text, hunk)) is not None]
    found.sort(key=lambda one: one[0])
    overlap = any(one + len(hunk.new) > other for (one, hunk), (other, _) in pairwise(found))
    if len(found) < len(waiting) or overlap:
        return None
    for place, hunk in reversed(found):
        text = text[:place] + hunk.old + text[place + len(hunk.new) :]
    return text


def _stands_again(text: str, hunk: Hunk) -> bool:
    """Are lines that a step took out back already? They leave no new lines that would be missed."""
    return not hunk.new and bool(_starts(text, hunk.head + hunk.old + hunk.tail))


def _place(text: str, hunk: Hunk) -> int | None:
    """Where the hunk's new lines stand: between their neighbours, else after or before one, else anywhere alone."""
    if not hunk.head + hunk.new + hunk.tail:
        return None if text else 0
    for head, tail in ((hunk.head, hunk.tail), (hunk.head, ""), ("", hunk.tail), ("", "")):
        wanted = head + hunk.new + tail
        places = _starts(text, wanted) if wanted.strip() else ()
        if len(places) == 1:
            return places[0] + len(head)
    return None


def _starts(text: str, wanted: str) -> list[int]:
    """Where `wanted` begins in `text`, at the start of a line and up to the end of one."""
    found = []
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if (not at or text[at - 1] == "\n") and (end == len(text) or text[end - 1] == "\n"):
            found.append(at)
        at = text.find(wanted, at + 1)
    return found
