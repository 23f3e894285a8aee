"""Words of any script, made comparable.

Routing, search and de-duplication compare texts as sequences of terms. A term is never shown to anyone; two texts
are alike in so far as they share terms:

    script                          terms
    Latin, Cyrillic, Greek, …       one per word, case-folded; Latin words lightly stemmed (a word with ä, ö, ü as
                                    German, every other as English; chose as choose), the commonest function
                                    words dropped
    Chinese, Japanese, Korean,      two neighbouring characters each (部署服务 → 部署, 署服, 服务), because these
    Thai, Lao, Khmer, Burmese       scripts put no blank between words, or glue particles to them; a lone one stays;
                                    traditional as simplified, Japanese by its own rules (memory_core.east_asian), and
                                    known loanwords as the English word too (memory_core.loanwords)
    identifiers                     whole, and by their parts (`foo_bar` → foo_bar, foo, bar; `v2.3` → v2.3, 2.3)
    numbers, dates, times           whole; a date also without its year, a time also as a clock with twelve hours has
                                    it; so are those that Chinese, Japanese and Korean spell out
                                    (memory_core.spoken_dates)

Question words (who, why, when) are kept: they say what is asked. Emojis and punctuation have no terms.
Everything here is pure and fast; what a single word yields is remembered.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

from Stemmer import Stemmer  # type: ignore[import-not-found]  # a C module without types

from memory_core import loanwords
from memory_core.east_asian import cut, pairs
from memory_core.han import simplified
from memory_core.loanwords import Loanwords
from memory_core.script import LETTER, RUN, fold, is_paired, visible
from memory_core.spoken_dates import day_terms, said_in, time_terms

_JOINER = r"[./:@+#\-'’\\~]"
_WORD = re.compile(
    r"(?<![\w.])[cCfF](?:\+\+|#)(?!\w)|"
    rf"[#@/~.]?{LETTER}+(?:{_JOINER}{{1,3}}{LETTER}+)*"
)
"""A word or identifier, of what stands between two runs of paired scripts."""
_PART = re.compile(rf"{LETTER}+")
_NUMBER = re.compile(r"\d+(?:[.:,/\-]\d+)*")
_DAY = re.compile(r"(?:(\d{4})[-/.])?(\d{1,2})[-/](\d{1,2})")
_TIME = re.compile(r"(\d{1,2}):(\d\d)")
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
said say|led lead|held hold|began begin|begun begin|fell fall|found find|got get|grew grow|drove drive|woke wake|
montag monday|dienstag tuesday|mittwoch wednesday|donnerstag thursday|freitag friday|samstag saturday|sonntag sunday|
januar january|februar february|märz march|juni june|juli july|oktober october|dezember december|
blocker block|blockers block|db database|repo repository|k8s kubernetes|config configuration
"""
_IRREGULAR = dict(pair.split() for pair in _IRREGULAR_TEXT.replace("\n", "").split("|"))
_STOP_WORDS = frozenset(_STOP_TEXT.split())
_REMEMBERED = 1 << 16
"""Of so many tokens, words and stems each it is remembered what they yield."""
_ASIDE = (
    r"(?:我|咱|你|他|她|它)们|大家|請問|请问|麻烦|到底|究竟|关于|關於|有没有|是不是|能不能|要不要|一下|"
    r"(?:决定|決定|打算|准备)?(?:使用|采用|選用|选用|选择|用|选|做|是)(?:了|的是|的)?(?=什么|什麼|哪)|了(?=什么|什麼|哪)|"
    r"(?<![为為])什[么麼](?!时候|時候|时间|時間)|哪(?:个|個|些|种|種|家|款|一个|一個)|怎么样|怎麼樣|怎样|[吗呢吧嘛]$"
)
"""Chinese function words: who speaks, and the `use what` of a question; who, why and when are none."""
_ASIDE_JAPANESE = (
    r"(?:お|を)?(?:教えて|ご教示)(?:ください|下さい|いただけますか|くれますか)?|いただけ(?:ますか|ないでしょうか)|"
    r"お願い(?:します|いたします)?|(?:でし|まし)た(?:か|っけ)?|(?:です|ます|でしょう|ません)(?:か|ね)?|だっけ|ください|"
    r"(?:について|に関して)(?:は|の)?|何(?=[をがはでにの]|\W|$)|どう(?:いう|なった|なりました|しますか)"
)
_ASIDE_KOREAN = (
    r"알려\s?(?:주세요|줘|주실래요)|무엇(?:인가요|입니까|을|이|으로)?|뭐(?:죠|예요|야|지)?|"
    r"(?:인가요|입니까|나요|까요|습니까|죠)(?=\W|$)|에 대해서?|"
    r"(?<=[가-힣]{2})(?:을|를|은|는|이|가|의|에서|에게|에는|에|으로|로|와|과|도|만|까지|부터|마다)(?=\W|$)"
)


class _Stemmers(threading.local):
    """Each thread's own: a stemmer holds the word that it is at work on, and searches run beside each other."""

    def __init__(self) -> None:
        self.english = Stemmer("english", 0)  # what they yield is remembered here
        self.german = Stemmer("german", 0)


_STEMMERS = _Stemmers()


def terms(text: str) -> tuple[str, ...]:
    """The terms of `text`, in order, repeats included (the rules stand at the top of this file)."""
    plain = visible(text)
    if plain.isascii() or not is_paired(plain):
        return tuple(chain.from_iterable(map(_TOKENS.__getitem__, plain.split())))
    found: list[str] = []
    at = 0
    plain = simplified(_without_commas(plain))
    for start, end, said in said_in(plain):
        _add(found, plain[at:start])
        found += said
        at = end
    _add(found, plain[at:])
    return tuple(found)


class _Tokens(dict[str, tuple[str, ...]]):
    """The terms of what stands between two blanks, by its text; no token goes over one, and most are seen again.

    Forgotten all at once when they are too many: lru_cache notes every look, which costs more than the look. Safe for
    threads; two may make the same at once.
    """

    def __missing__(self, plain: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[plain] = found = _between_blanks(plain)
        return found

    cache_clear = dict.clear


_TOKENS = _Tokens()


def _between_blanks(plain: str) -> tuple[str, ...]:
    """The terms of what stands between two blanks in a text without paired scripts."""
    word = plain.rstrip(".,;:!?")
    if word.isascii() and word.isalpha():
        return _word_terms(word)
    words = _WORD.findall(_without_commas(plain))
    return _word_terms(words[0]) if len(words) == 1 else tuple(chain.from_iterable(map(_word_terms, words)))


def _add(found: list[str], plain: str) -> None:
    known = _loanwords()
    for at, part in enumerate(RUN.split(plain)):
        if at % 2 == 0:
            for word in _WORD.findall(part):
                found += _word_terms(word)
        else:
            own = pairs(part)
            found += cut(part, own)
            if not known.starts.isdisjoint(own):
                for _, meant in known.found_in(part, own):
                    found += meant


def asked(text: str) -> tuple[str, ...]:
    """The terms by which a question is compared with what is known: those of `text` without Chinese function words.

    A text in Chinese has no stop words that could be dropped one by one: the pairs of `我们决定用什么` stand in every
    decision that begins with 我们决定用, whatever it is about. A text of function words alone keeps them.
    """
    plain = visible(text)
    if not is_paired(plain):
        return terms(plain)
    for aside in _asides():
        plain = aside.sub(" ", plain)
    return terms(plain) or terms(text)


def surfaces(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words of `text` (NFKC, case kept), each with its terms; words without terms are left out."""
    shown = _without_commas(visible(text))
    if not is_paired(shown):
        return tuple((word, own) for word in _WORD.findall(shown) if (own := _word_terms(word)))
    found: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    plain = simplified(shown)
    for start, end, said in said_in(plain):
        found += _surfaces(shown[at:start], plain[at:start])
        found.append((shown[start:end].strip(), said))
        at = end
    return (*found, *_surfaces(shown[at:], plain[at:]))


def _surfaces(shown: str, plain: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words of a text as they are `shown`, with the terms that they have in the `plain` one, which is as long."""
    end = 0
    for at, run in enumerate(RUN.split(plain)):
        as_shown, end = shown[end : end + len(run)], end + len(run)
        if at % 2 == 0:
            yield from ((word, own) for word in _WORD.findall(run) if (own := _word_terms(word)))
            continue
        own = pairs(run)
        written = dict(zip(own, pairs(as_shown), strict=True))
        for term in cut(run, own):
            yield written.get(term, term), (term,)
        yield from _loanwords().found_in(run, own)


def _without_commas(plain: str) -> str:
    """1,000 as 1000."""
    return _GROUPED_DIGITS.sub("", plain) if "," in plain else plain


@lru_cache(maxsize=_REMEMBERED)
def _word_terms(token: str) -> tuple[str, ...]:
    """The terms of one word or identifier, whole first."""
    if token.isascii() and token.isalpha() and token[1:].islower():  # most words, and quickly told
        stem = _stem(token.lower())
        return (stem,) if stem else ()
    token = token.strip("_").rstrip(".")
    if "'" in token or "’" in token:
        token = _TAIL.sub("", token)
    folded = fold(token)
    if folded[:1].isdecimal() and _NUMBER.fullmatch(folded):
        return _number_terms(folded)
    parts = _parts(token)
    if folded.endswith(("n't", "n’t")):
        return ()
    if len(parts) == 1 and parts[0] == folded:
        stem = _stem(folded)
        return (stem,) if stem else ()
    if folded[:1] == "v" and _NUMBER.fullmatch(folded[1:]):
        return (folded, folded[1:])
    stems = [stem for part in parts if (stem := _stem(part))]
    return tuple(dict.fromkeys([folded, *stems])) if folded else ()


def _number_terms(number: str) -> tuple[str, ...]:
    """A number, a date or a time as it is written, first, and as others would write it."""
    if day := _DAY.fullmatch(number):
        return tuple(dict.fromkeys((number, *day_terms(day[1] or "", day[2], day[3]))))
    if time := _TIME.fullmatch(number):
        return tuple(dict.fromkeys((number, *time_terms(int(time[1]), int(time[2])))))
    return (number,)


def _parts(token: str) -> list[str]:
    """`getUserName` and `get-user_name` as get, user, name."""
    if _CAMEL.fullmatch(token):
        token = " ".join(_HUMP.findall(token))
    token = token.replace("_", " ")
    return _PART.findall(token.lower()) if token.isascii() else [fold(part) for part in _PART.findall(token)]


@lru_cache(maxsize=_REMEMBERED)
def _stem(word: str) -> str:
    """The stem of one folded word; empty for a function word."""
    word = _SLOPPY.get(word) or _IRREGULAR.get(word, word)
    if word in _STOP_WORDS:
        return ""
    if not word.isalpha() and any(map(str.isdigit, word)):
        return word
    if word.isascii():
        return str(_STEMMERS.english.stemWord(word))
    return str(_STEMMERS.german.stemWord(word)) if any(char in "äöü" for char in word) else word


# What only texts of paired scripts need is made when the first one comes.


@cache
def _asides() -> tuple[re.Pattern[str], ...]:
    return re.compile(_ASIDE), re.compile(_ASIDE_JAPANESE), re.compile(_ASIDE_KOREAN)


@cache
def _loanwords() -> Loanwords:
    """The loanwords as they stand in a run, and what each is compared as: the stems of the English word."""
    return Loanwords(
        {
            simplified(fold(word)): tuple(stem for part in english.split("-") if (stem := _stem(part)))
            for english, *words in map(str.split, loanwords.WORDS.strip().splitlines())
            for word in words
        }
    )
