"""Do two texts say the same? Asked of facts before one is written a second time.

Words are compared as terms (memory_core.terms). The answer leans to "no": a fact kept twice is merged by sleep later,
a new fact taken for an old one is lost. So a repeat must add hardly a word, no number, none in the place of another
(`the login page failed because …`, `the search page failed because …`), keep the order of the words (`Redis over
Memcached` is not `Memcached over Redis`), and not turn the meaning: the same words with a negation more or less
(`alerts on`, `alerts off`; `decided to use it`, `decided against it`) oppose each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from memory_core.script import fold
from memory_core.terms import terms

_NEW_COVERED = 0.8
_OLD_COVERED = 0.5
_ABOUT = 0.6
_IDLE = frozenset({"now", "use", "also", "decid", "decision", "agre", "agreement", "todo", "task", "rememb"})
"""Stems that frame a statement and say nothing of its matter."""
_TURNING = re.compile(
    r"\b(?:not|never|no longer|no|without|off|cannot|\w+n['’]t|(?:do|ca|wo|is|does|did|are)nt|"
    r"dis(?:able|abled|allow|allowed)|stop(?:ped|s)?|nicht|nie|kein\w*|ohne|deaktivier\w*)\b|"
    r"(?:(?<=decided )|(?<=decide )|(?<=voted )|(?<=opted )|(?<=advised )|(?<=were )|(?<=are ))against\b|"
    r"不再|不会再|没有|[不没未别無]|停用|关闭|關閉|禁用|ない|しません|ません"
)

_VERB_END = re.compile(
    r"(?:(?<=[\u4e00-\u9fff])(?:[わかがさたなばまら]ない|[いきぎしちにびみりえけげせてねべめれ]?ません|ない"
    r"|[うくぐすつぬぶむる]|[いきぎしちにびみりえけげせてねべめれ]?ます)"
    r"|(?<=[\u4e00-\u9fff\u30a1-\u30ff])(?:しない|する|しません|します))"
    r"(?=[^\u3040-\u309f]|こと|よう|と(?!き)|の|よ|ね|$)"
)
"""How a Japanese verb ends, plain or polite, stated or denied: 使う and 使わない are one matter, turned."""
_STRENGTHENS = re.compile(
    r"\bany ?more\b|(?<=\bnicht) mehr\b|(?<=\bkein) (\w+) mehr\b|(?<=\bkeine) (\w+) mehr\b|了(?=\W|$)"
)
"""What goes with a negation and says nothing of the matter."""
_ENDED = re.compile(
    r"\bno longer\b|\bany ?more\b|不再|\bnicht mehr\b|\bkeine? \w+ mehr\b|もう.*(?:ない|ません)", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[,;:.!?，；：。！？、\n]+(?:\s|(?<=[，；：。！？、\n]))|\s[-–—]\s|\b(?:but|because|since|instead)\b"
)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Words:
    """What of a text is compared: its terms in order, each once, those with digits, and whether it negates."""

    order: tuple[str, ...]
    terms: frozenset[str]
    numbers: frozenset[str]
    negates: bool


@lru_cache(maxsize=8192)
def words(text: str) -> Words:
    """The words of a text, made comparable."""
    folded = fold(text)
    matter = _TURNING.sub(
        lambda turn: " " if turn[0].isascii() else "",
        _STRENGTHENS.sub(lambda more: f" {more[1] or more[2] or ''}", _VERB_END.sub("", folded)),
    )
    found = tuple(dict.fromkeys(term for term in terms(matter) if term not in _IDLE))
    numbers = frozenset(term for term in found if any(char.isdigit() for char in term))
    return Words(found, frozenset(found), numbers, len(_TURNING.findall(folded)) % 2 == 1)


def stated(title: str, body: str) -> str:
    """Title and body as one statement; the body alone where it says what the title says (a cut title too)."""
    return body if fold(title.rstrip("…")) in fold(body) else f"{title} {body}".rstrip()


def repeats(new: Words, old: Words) -> bool:
    """Does `new` say what `old` says, and nothing more?"""
    return _same_matter(new, old) and new.negates == old.negates


def opposes(new: Words, old: Words) -> bool:
    """Does `new` say the opposite of `old`, in the same words?"""
    return _same_matter(new, old) and new.negates != old.negates


@lru_cache(maxsize=1024)
def denials(text: str) -> tuple[Words, ...]:
    """The text, and each clause of it that says that something ended ("we no longer use X, we use Y"): what opposes
    one of them is taken back."""
    ended = [
        clause
        for clause in _CLAUSE.split(text)
        if clause and clause.strip() != text.strip() and _ENDED.search(clause)
    ]
    return (words(text), *map(words, ended))


def best(asked: Words, among: Iterable[tuple[Item, Words]]) -> Item | None:
    """The item whose words are about what is asked: it shares most of the shorter text; None where none does."""
    found: Item | None = None
    top = 0.0
    for item, known in among:
        score = _about(asked, known)
        if score >= _ABOUT and score > top:
            found, top = item, score
    return found


def _about(one: Words, other: Words) -> float:
    """Share of the shorter text's terms that both have, a little more for a longer overlap; 0 where too few."""
    shared = one.terms & other.terms
    shorter = min(len(one.terms), len(other.terms))
    if not shared or (len(shared) < 2 and max(len(one.terms), len(other.terms)) > 2):
        return 0.0
    return len(shared) / shorter + len(shared) / 1000


def _same_matter(new: Words, old: Words) -> bool:
    shared = new.terms & old.terms
    if not shared or (len(shared) < 2 and new.terms != old.terms) or not new.numbers <= old.numbers:
        return False
    if len(shared) < _NEW_COVERED * len(new.terms) or len(shared) < _OLD_COVERED * len(old.terms):
        return False
    if shared < new.terms and shared < old.terms:
        return False  # one matter in the place of another, in a long sentence of the same make
    return [term for term in new.order if term in shared] == [term for term in old.order if term in shared]
