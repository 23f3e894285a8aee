"""What a text becomes before it is kept or shown: clean, on one line, cut.

    plain      one kind of line end, no control characters, nothing that UTF-8 cannot hold
    flat       the same on one line
    one_line   flat, of a bounded length, and without the marks that reorder what a reader sees
    counted    how many of what, in words

That it can never act as anything of ours on a page is the business of memory_core.forms.escape.
"""

from __future__ import annotations

import re
import unicodedata

LINE_BREAK = re.compile("\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Whatever a reader or an editor takes for the end of a line."""
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
_NOUN_ENDS = re.compile(" (?:about|among|beyond|changed|new|not|of|removed|to|with|without)\\b")
_ORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """`text` with `\\n` as its only line end and without control characters; empty lines and outer blanks dropped."""
    if text.isprintable():  # most texts, and quickly told
        return text.strip()
    lines = (_CONTROLS.sub(" ", line).rstrip() for line in LINE_BREAK.split(text))
    return "\n".join(line for line in lines if line).strip()


def flat(text: str) -> str:
    """`text` on one line: every run of blanks and line breaks becomes one blank."""
    if text.isprintable():  # the only blanks of such are spaces
        text = text.strip()
        return " ".join(text.split()) if "  " in text else text
    return " ".join(_CONTROLS.sub(" ", text).split())


def one_line(text: str, limit: int = 200) -> str:
    """`text` on one line of at most `limit` characters, cut with `…` and never between a letter and its marks."""
    line = flat(_ORDERING.sub("", text))
    if len(line) <= limit:
        return line
    end = max(limit - 1, 0)
    while end > 0 and unicodedata.combining(line[end]):
        end -= 1
    return (line[:end].rstrip() + "…")[: max(limit, 0)]


def counted(number: int, one: str, many: str = "") -> str:
    """`1 message`, `3 messages`, `2 facts about the stack`; `many` where an s at the end of the noun is not enough.

    The noun ends before the first of the words that say more about it (`about`, `of`, `to`, …).
    """
    found = _NOUN_ENDS.search(one)
    end = found.start() if found else len(one)
    return f"{number} {one if number == 1 else many or f'{one[:end]}s{one[end:]}'}"
