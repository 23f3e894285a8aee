"""How a run of Chinese, Japanese or Korean characters is cut into terms.

These scripts put no blanks between words, or glue endings to them, so texts are compared by pairs of neighbouring
characters. Pairs alone miss what a language writes in two ways:

    Chinese    all pairs, of characters in one form (memory_core.han)
    Japanese   pairs within Chinese characters, within katakana, within hiragana. A Chinese character with its ending
               stands for itself as well (決めた, 決まった → 決), and so do both of a compound of two (決定 → 決, 定):
               verb and noun meet. An ending between two of them may be left out (打ち合わせ, 打合せ → 打合). The mark
               of a long vowel at a word's end falls away (サーバー, サーバ)
    Korean     pairs, with the endings of a verb's stem in one form (정했다, 정한, 정할 → 정하)

A lone character stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from operator import add

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_HANGUL = "\uac00"
_ENDING = frozenset("いきぎしちびみりえけげせべめれ")
"""The endings that a verb has within a compound. は, が, に, の and their like are words between two others."""
_WORDS = frozenset("はがをにのとでもへやかな")
"""Words between two others, of one character."""
_NOUN = frozenset("しすさせだで")
"""How what follows a noun of two characters begins (変更する, 変更できる): no ending of its last character."""
_BETWEEN = frozenset("을를은는이가에의도로와과만")
"""Korean words of one syllable that are glued to what is before them."""


def _stem_of(syllable: int) -> int:
    """A syllable as it stands in a verb's stem: without the final and the vowel that an ending brings."""
    vowel, final = syllable // 28 % 21, syllable % 28
    if final and final not in _FINALS:
        return syllable
    return syllable - final + (_VOWELS.get(vowel, vowel) - vowel) * 28


_FINALS = frozenset({4, 8, 16, 17, 20})
"""ㄴ, ㄹ, ㅁ, ㅂ, ㅆ, as Unicode counts the finals of a syllable (chapter 3.12)."""
_VOWELS = {1: 0, 6: 20, 9: 8, 10: 11, 14: 13}
"""What an ending makes of a stem's vowel, taken back: 해, 려, 와, 돼, 줘 to 하, 리, 오, 되, 주."""
_HANGUL_FIRST, _HANGUL_COUNT = 0xAC00, 11172


@cache
def _stems() -> Mapping[int, int]:
    """For str.translate: every syllable as it stands in a verb's stem."""
    return {_HANGUL_FIRST + syllable: _HANGUL_FIRST + _stem_of(syllable) for syllable in range(_HANGUL_COUNT)}


@cache
def _kana_or_hangul() -> re.Pattern[str]:
    """Like the next one not compiled at import: both take a millisecond each, and most rooms never need them."""
    return re.compile("[\u3041-\u30ff\uac00-\ud7a3]")


@cache
def _segment() -> re.Pattern[str]:
    """Chinese characters and the hiragana after them, or a stretch of one kind of kana, or one other character."""
    kana = "[\u3041-\u309f]+|[\u30a1-\u30ff\u31f0-\u31ff]+"
    return re.compile(f"([{_HAN}]+)([\u3041-\u309f]*)|({kana}|.)", re.DOTALL)


def cut(run: str, own: Sequence[str]) -> Sequence[str]:
    """The terms of a run whose Chinese characters are in one form already, in order; `own` are its pairs."""
    other = _kana_or_hangul().search(run)
    if other is None:
        return own
    return _japanese(run) if other[0] < _HANGUL else _korean(run)


def pairs(run: str) -> tuple[str, ...]:
    """Each two neighbouring characters of `run`; a lone character as it is."""
    return (run,) if len(run) < 2 else tuple(map(add, run, run[1:]))


def _korean(run: str) -> tuple[str, ...]:
    found = pairs(run[0] + run[1:].translate(_stems()))
    return (*found, run[0]) if len(run) == 2 and run[1] in _BETWEEN else found


def _japanese(run: str) -> list[str]:
    found: list[str] = []
    before = ""
    for chinese, ending, other in _segment().findall(run):
        if not chinese:
            before = ""
            found += _alone(other)
            continue
        if before:
            found.append(before + chinese[0])
        found += pairs(chinese)
        if len(chinese) == 2:
            found += chinese
        if ending:
            found += _ending(chinese, ending)
        before = chinese[-1] if ending in _ENDING else ""
    return found


def _alone(other: str) -> tuple[str, ...]:
    """The pairs of kana that follow no Chinese character; one hiragana alone is a word between two others."""
    if len(other) > 2:
        return pairs(other[:-1] if other[-1] == "ー" else other)
    return (other,) if len(other) > 1 or other > "\u30a0" else ()


def _ending(chinese: str, ending: str) -> Sequence[str]:
    """What the hiragana after Chinese characters add: the stem of a verb, or the words after a noun."""
    if ending[0] in _WORDS:
        return pairs(ending[1:]) if len(ending) > 2 else ()
    if ending[0] in _NOUN and len(chinese) > 1:
        return ()
    stem = chinese[-1] + ending[0]
    return (stem, chinese[-1]) if len(chinese) > 2 else (stem,)
