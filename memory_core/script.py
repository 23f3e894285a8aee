"""Letters of any script: which belong to one word, which are read in pairs, and how text is made comparable."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff]")

# Scripts whose runs are cut into pairs: Thai to Lao, Burmese, Khmer; kana; Han; Hangul; Han beyond the first plane.
PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Combining marks are no \w to Python's re, yet they belong to their word.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0963\u0981-\u0983\u09bc-\u09cd\u0a3c-\u0a51\u0abc-\u0acd\u0b3c-\u0b4d"
    "\u0bbe-\u0bcd\u0c3e-\u0c4d\u0cbc-\u0ccd\u0d3e-\u0d4d\u0dca-\u0ddf"
)
RUN = re.compile(f"([{PAIRED}]+)")
"""A run of such characters: of what `RUN.split` gives, every second part is one. The only pattern that holds PAIRED:
to compile it takes milliseconds."""
LETTER = f"(?:\\w|[{_MARKS}])"
"""In what stands between two runs of paired scripts."""


def visible(text: str) -> str:
    """`text` in NFKC without zero-width and direction marks; case kept."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    return plain if plain.isascii() else _INVISIBLE.sub("", plain)


def fold(text: str) -> str:
    """`text` in one comparable form: NFKC, case-folded, zero-width and direction marks removed."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", visible(text).casefold())


def is_paired(text: str) -> bool:
    """Whether `text` holds characters of a script that is read in pairs (Chinese, Japanese, Korean, Thai, …)."""
    return RUN.search(text) is not None
