"""How many tokens a text has, about, without a vocabulary: rather too many than too few.

Measured against o200k_base: a character outside ASCII costs one to four tokens when it stands among strangers,
and less in fluent text; the rates below are those of strangers. An English word costs one token or little more, a
run of random letters one for two; pairs of letters that are common in English tell them apart. What comes out is
about 1.1 times the truth for English and code, 1.5 to 2.5 times for other scripts, and nowhere under 90 %.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import pairwise

_CHUNK = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digits> ?[0-9]+)|(?P<space>\s+)|(?P<sign>[!-/:-@\[-`{-~])(?P=sign)*|(?P<other>.)"
)

_PAIRS_TEXT = """
ab ac ad ag ai al am an ap ar as at au ay ba be bl bo bu by ca ce ch ci ck cl co ct cu da de di do ea ec ed ee
ef el em en ep er es et ev ex ey fa fe ff fi fo fr fu ge gr ha he hi ho ht ia ib ic id ie if ig il im in io ir
is it iv ke la ld le lf li ll lo ls lt lu ly ma mb me mi mo mp na nc nd ne nf ng ni no ns nt nu ny oc od of ol
om on oo op or os ot ou ov ow pa pe pi pl po pp pr pt pu qu ra rc rd re rg ri rk rm rn ro rr rs rt ru ry sa sc
se sh si so sp ss st su ta te th ti to tr ts tt tu ty ua ue ui ul um un up ur us ut va ve vi wa wh wi wo
"""
_COMMON_PAIRS = frozenset(_PAIRS_TEXT.split())

_RATES: tuple[tuple[int, int, float], ...] = (
    (0x0410, 0x044F, 0.85),  # Russian letters
    (0x05D0, 0x05EA, 1.1),  # Hebrew
    (0x0621, 0x064A, 1.1),  # Arabic
    (0x0900, 0x097F, 1.6),  # Devanagari
    (0x0E00, 0x0E7F, 1.6),  # Thai
    (0x3040, 0x30FF, 1.3),  # kana
)
"""First and last code point, tokens per character; what is not listed is told by its length in UTF-8."""


def estimate(text: str) -> int:
    """About how many tokens `text` has; at least 90 % of what o200k_base counts."""
    total = 0.0
    for match in _CHUNK.finditer(text):
        chunk = match.group()
        match match.lastgroup:
            case "word":
                total += _word(chunk) if len(chunk) < 32 else len(chunk) * 0.75
            case "digits":
                total += math.ceil(len(chunk.strip()) / 3) + chunk.startswith(" ")
            case "space":
                total += _space(chunk)
            case "sign":
                total += 1 if len(chunk) == 1 else 1 + len(chunk) / 4
            case _:
                total += _character(chunk)
    return math.ceil(total)


@lru_cache(maxsize=1 << 14)
def _word(word: str) -> float:
    """An ASCII word: one token for an English one, more for each pair of letters that English seldom has."""
    lower = word.lower()
    odd = sum(a + b not in _COMMON_PAIRS for a, b in pairwise(lower))
    humps = sum(a.islower() and b.isupper() for a, b in pairwise(word))
    shouted = len(word) / 3 if len(word) > 2 and word.isupper() else 0
    return max(1 + 0.52 * odd + 0.6 * humps + 0.03 * len(word), shouted)


def _space(blanks: str) -> float:
    """A lone blank belongs to the word after it; line breaks and runs cost a token or two."""
    if blanks == " ":
        return 0.12
    return 0.9 + len(blanks) / 15 + 0.4 * sum(a != b for a, b in pairwise(blanks))


@lru_cache(maxsize=1 << 14)
def _character(char: str) -> float:
    """One character outside ASCII."""
    code = ord(char)
    for first, last, rate in _RATES:
        if first <= code <= last:
            return rate
    if 0x4E00 <= code <= 0x9FFF:
        return 1.5 if _is_common_han(char) else 2.0 if _encodes(char, "big5") else 3.0
    if 0xAC00 <= code <= 0xD7A3:
        return 1.9 if _encodes(char, "euc_kr") else 2.4
    if 0xA0 <= code < 0x100:
        return 1.7
    if code < 0x800:
        return 2.0
    return 3.0 if code < 0x20000 else 4.0


def _is_common_han(char: str) -> bool:
    """Whether `char` is among the 3,755 commonest of GB 2312 (its level 1, lead bytes B0 to D7)."""
    return _encodes(char, "gb2312") and 0xB0 <= char.encode("gb2312")[0] <= 0xD7


def _encodes(char: str, encoding: str) -> bool:
    try:
        return len(char.encode(encoding)) == 2
    except UnicodeEncodeError:
        return False
