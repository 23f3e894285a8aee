"""Words of any script, made comparable.

Routing, search and de-duplication compare texts as sequences of terms. A term is never shown to anyone; two texts
are alike in so far as they share terms:

    script                          terms
    Latin, Cyrillic, Greek, …       one per word, case-folded; Latin words lightly stemmed (a word with ä, ö, ü as
                                    German, every other as English; chose as choose), the commonest function
                                    words dropped
    Chinese, Japanese, Korean,      two neighbouring characters each (部署服务 → 部署, 署服, 服务), because these
    Thai, Lao, Khmer, Burmese       scripts put no blank between words, or glue particles to them; a lone one stays
    identifiers                     whole, and by their parts (`foo_bar` → foo_bar, foo, bar; `v2.3` → v2.3, 2.3)
    numbers, dates, times           whole

Question words (who, why, when) are kept: they say what is asked. Emojis and punctuation have no terms.
Everything here is pure and fast; what a single word yields is remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache

from snowballstemmer import stemmer  # type: ignore[import-untyped]  # it ships without types

from memory_core.script import LETTER, PAIRED, fold, visible

_JOINER = r"[./:@+#\-'’\\~]"
_TOKEN = re.compile(
    rf"(?P<run>[{PAIRED}]+)|"
    rf"(?P<word>(?<![\w.])[cCfF](?:\+\+|#)(?!\w)|[#@/~.]?{LETTER}+(?:{_JOINER}{{1,3}}{LETTER}+)*)"
)
_PART = re.compile(rf"{LETTER}+")
_NUMBER = re.compile(r"\d+(?:[.:,/\-]\d+)*")
_CAMEL = re.compile(r"[a-z]{2,}(?:[A-Z][a-z0-9]*)+")
_HUMP = re.compile(r"[a-z0-9]+|[A-Z][a-z0-9]*")
_TAIL = re.compile(r"['’](?:s|re|ve|ll|d|m)$")
_GROUPED_DIGITS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

_STOP_TEXT = """
a an the this that these those is are am was were be been being do does did doing have has had having i we you he
she it they me us him them my our your his her its their mine ours yours and or but if then so than to of in on at for
by from with as into onto about can could will would shall should may might must let please just also too very really
there here what which not no yes any some such own
whats thats im ive id ill dont doesnt didnt isnt arent wasnt cant wont havent youre theyre theres lets
der das und oder ist sind ein eine einen einem einer eines den dem des zu zum zur im mit von auf für wir ich du ihr er
sie es uns mir dir mich dich sich bitte auch noch schon hat haben wird werden welche welcher welches
"""
_SLOPPY = {"whos": "who", "wheres": "where", "whens": "when", "hows": "how", "whys": "why"}
_IRREGULAR_TEXT = """
decision decided|decisions decided|chose choose|chosen choose|choice choose|broke break|broken break|built build|
wrote write|written write|ran run|sent send|paid pay|bought buy|kept keep|left leave|lost lose|met meet|sold sell|
spent spend|took take|taken take|told tell|thought think|went go|gone go|gave give|given give|knew know|known know|
said say|led lead|held hold|began begin|begun begin|fell fall|found find|got get|grew grow|drove drive|woke wake
"""
_IRREGULAR = dict(pair.split() for pair in _IRREGULAR_TEXT.replace("\n", "").split("|"))
_STOP_WORDS = frozenset(_STOP_TEXT.split())
_ASIDE = re.compile(
    r"(?:我|咱|你|他|她|它)们|大家|請問|请问|麻烦|到底|究竟|关于|關於|有没有|是不是|能不能|要不要|一下|"
    r"(?:决定|決定|打算|准备)?(?:使用|采用|選用|选用|选择|用|选|做|是)(?:了|的是|的)?(?=什么|什麼|哪)|了(?=什么|什麼|哪)|"
    r"(?<![为為])什[么麼](?!时候|時候|时间|時間)|哪(?:个|個|些|种|種|家|款|一个|一個)|怎么样|怎麼樣|怎样|[吗呢吧嘛]$"
)
"""Chinese function words: who speaks, and the `use what` of a question; who, why and when are none."""
_ENGLISH = stemmer("english")
_GERMAN = stemmer("german")


def terms(text: str) -> tuple[str, ...]:
    """The terms of `text`, in order, repeats included (the rules stand at the top of this file)."""
    found: list[str] = []
    for run, word in _TOKEN.findall(_plain(text)):
        found += _word_terms(word) if word else _pairs(fold(run))
    return tuple(found)


def asked(text: str) -> tuple[str, ...]:
    """The terms by which a question is compared with what is known: those of `text` without Chinese function words.

    A text in Chinese has no stop words that could be dropped one by one: the pairs of `我们决定用什么` stand in every
    decision that begins with 我们决定用, whatever it is about. A text of function words alone keeps them.
    """
    return terms(_ASIDE.sub(" ", visible(text))) or terms(text)


def surfaces(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words of `text` (NFKC, case kept), each with its terms; words without terms are left out."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for match in _TOKEN.finditer(_plain(text)):
        token = match.group()
        if match.lastgroup == "run":
            found.extend((pair, (pair,)) for pair in _pairs(fold(token)))
        elif own := _word_terms(token):
            found.append((token, own))
    return tuple(found)


def _plain(text: str) -> str:
    plain = visible(text)
    return _GROUPED_DIGITS.sub("", plain) if "," in plain else plain


def _pairs(run: str) -> tuple[str, ...]:
    """Each two neighbouring characters of `run`; a lone character as it is."""
    return (run,) if len(run) < 2 else tuple(run[at : at + 2] for at in range(len(run) - 1))


@lru_cache(maxsize=1 << 16)
def _word_terms(token: str) -> tuple[str, ...]:
    """The terms of one word or identifier, whole first."""
    token = _TAIL.sub("", token.strip("_").rstrip("."))
    folded = fold(token)
    if _NUMBER.fullmatch(folded):
        return (folded,)
    parts = [fold(part) for hump in _humps(token) for part in _PART.findall(hump.replace("_", " "))]
    if folded.endswith(("n't", "n’t")):
        return ()
    if len(parts) == 1 and parts[0] == folded:
        stem = _stem(folded)
        return (stem,) if stem else ()
    if folded[:1] == "v" and _NUMBER.fullmatch(folded[1:]):
        return (folded, folded[1:])
    stems = [stem for part in parts if (stem := _stem(part))]
    return tuple(dict.fromkeys([folded, *stems])) if folded else ()


def _humps(token: str) -> list[str]:
    """`getUserName` as get, User, Name; everything else as it is."""
    return _HUMP.findall(token) if _CAMEL.fullmatch(token) else [token]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """The stem of one folded word; empty for a function word."""
    word = _SLOPPY.get(word) or _IRREGULAR.get(word, word)
    if word in _STOP_WORDS:
        return ""
    if any(char.isdigit() for char in word):
        return word
    if any(char in "äöü" for char in word):
        return str(_GERMAN.stemWord(word))
    return str(_ENGLISH.stemWord(word)) if word.isascii() else word
