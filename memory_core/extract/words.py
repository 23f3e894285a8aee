"""Which words tell what a sentence is about: for linking a reply to its topic, and for tags.

Comparison needs little: folded words without function words, with a light stem for Latin ones, and character pairs
for scripts without blanks. `overlap` says how much of the shorter of two texts the other one repeats.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memory_core.extract.text import KEPT

_WORD = re.compile(
    r"[a-zà-öø-ÿ][a-zà-öø-ÿ0-9_.+#/-]*[a-zà-öø-ÿ0-9_+#]|\d[\d.:,/-]*\d|\d|[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]+",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_ENDINGS = ("ings", "ing", "edly", "ed", "ies", "es", "s", "e", "y")

_STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
        a about actually after again all alright also always am an and any anyone are as at be because
        been before but by can can't cool could did do does doing don don't done for from get go goes
        going good got great had has have he her here him his how i if in instead into is it its just
        let lets like ll make makes me more my need needs never new no not now of off ok okay on one
        only or other our out over own please re really s said say says she should since so some still
        stop sure t than thanks that that's the their them then there these they thing things think
        this those to today tomorrow too until up us use used uses using ve very want was we we'll
        we're well were what when where which while who why will with works would yeah yes you your
        i'll i'd i'm i've it's let's fine decision decided decide proposal propose suggest todo
        remember agreed agree der die das den dem ein eine und oder aber ist sind wir ich du er sie es
        für mit auf von zu im in bei nach haben hat bitte noch nur nicht auch dass
        """,
    )
)
_STOP_WIDE = frozenset(
    re.findall(
        r"\S+",
        """
        我们 你们 他们 大家 一下 这个 那个 什么 怎么 可以 没有 不是
        就是 还是 已经 现在 以后 的话 决定 建议 提议 那就 我觉 觉得
        同意 这么 么定 定了 们决 定用 因为 所以 为了 です ます した して
        こと から ので
        """,
    )
)


@lru_cache(2 * KEPT)
def topic(text: str) -> frozenset[str]:
    """The words that tell what `text` is about."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _WIDE.match(word):
            found.update(pair for i in range(len(word) - 1) if (pair := word[i : i + 2]) not in _STOP_WIDE)
        elif word not in _STOP_WORDS and (len(word) > 2 or not word.isalpha()):
            found.add(_stem(word))
    return frozenset(found)


def shared(one: frozenset[str], other: frozenset[str]) -> int:
    """How many telling words two texts have in common."""
    return len(one & other)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter text's words that the other one has; 0 where one of them has none."""
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0


def is_idle(text: str) -> bool:
    """Is `text` made of words only that tell nothing (`the`, `that's`)? One that stands in capitals does tell."""
    return not text.isupper() and all(word in _STOP_WORDS for word in text.casefold().replace("’", "'").split())


def tags_of(text: str, limit: int = 4) -> tuple[str, ...]:
    """At most `limit` telling words, in the order in which they stand; names, identifiers and long words first."""
    words: dict[str, int] = {}
    for word in _WORD.findall(text):
        low = word.casefold().strip(".-/")
        if _WIDE.match(word) or low in _STOP_WORDS or len(low) < 3 or "/" in low or not low[0].isalpha():
            continue
        words.setdefault(low, len(low) + (6 if word[0].isupper() or any(c.isdigit() for c in word) else 0))
    best = sorted(words, key=lambda word: -words[word])[:limit]
    return tuple(word for word in words if word in best)


def _stem(word: str) -> str:
    """A light stem, so that `freeze` and `freezes`, `merge` and `merging` meet."""
    if not word.isalpha() or len(word) < 5:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
