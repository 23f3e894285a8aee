"""Secrets are masked before the first write: `mask` puts `[secret: aws key]` where a secret stood.

Four readers look at the text, twice if it holds anything but plain characters: as it is, and in the form that NFKC
makes of it without zero-width characters (people hide keys behind both, and paste them in both).

    betterleaks           a scanner's few hundred vendor formats
    redact_tokens         what it misses in chat: lone keys, tokens, blocks, URLs
    redact_words          what only the words around it give away
    redact_markup         what tags, tables and arrows around it give away

Then the masked text is looked at again until nothing is found, so masking twice is masking once. Marks are not looked
into. Nothing here raises, text without secrets comes back as it was, and a long message takes milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from memory_core.redact.markup import markup_spans
from memory_core.redact.tokens import Span, token_spans
from memory_core.redact.words import may_be_value, word_spans

_MARK = re.compile(r"\[secret: [a-z0-9 ]{1,60}\]")
_UNFIT = re.compile(r"[^a-z0-9]+")
_HOLE = "\x00"  # stands for what must not be read as a value: marks, and what no scanner takes
_PASSES = 6
_WHOLE = "[secret: text]"
_INVISIBLE = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u3164\ufeff") | frozenset(
    map(chr, chain(range(0x200B, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070), range(0xFE00, 0xFE10)))
)
_SEEN_ELSEWHERE = frozenset({"generic-username"})  # what betterleaks finds that is no secret


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and the kinds that were in it, in order (`aws key`, `password`), each once."""

    text: str
    kinds: tuple[str, ...]


def load() -> str:
    """Load the scanner's library (0.1 s, blocks): call it in a thread at the start; else the first `mask` does it.

    Gives why there is no scanner on this machine, or nothing; without it our own readers work alone.
    """
    return _scanner().missing


def mask(text: str) -> Masked:
    """`text` with every secret replaced by a mark that names its kind. Never raises."""
    kinds: dict[str, None] = {}
    for _ in range(_PASSES):
        spans = _found(text)
        if not spans:
            return Masked(text, tuple(kinds))
        kinds.update(dict.fromkeys(span.kind for span in spans))
        text = _replaced(text, spans)
    # Every pass uncovered another secret: nobody writes so by chance, and the time for it must stay bounded.
    return Masked(_WHOLE, (*kinds, "text"))


def _found(text: str) -> list[Span]:
    """The secrets in `text`: apart, in order."""
    plain = _MARK.sub(lambda mark: _HOLE * len(mark[0]), text)
    spans = list(_spans(plain))
    if not plain.isascii():
        visible, places = _normalised(plain)
        if visible != plain:
            spans += [
                Span(places[span.start], places[span.end - 1] + 1, span.kind)
                for span in _spans(visible)
                if span.end > span.start
            ]
    return _apart(spans, plain)


def _spans(plain: str) -> Iterator[Span]:
    return chain(token_spans(plain), word_spans(plain), markup_spans(plain), _scanned(plain))


def _scanned(plain: str) -> Iterator[Span]:
    """What the scanner finds. It tells texts, not offsets, so each is looked for where it stands."""
    if plain.isspace() or not plain:
        return
    clean = (
        plain.replace(_HOLE, " ").encode("utf-8", "replace").decode("utf-8")
    )  # it takes neither NUL nor surrogates
    for rule, full, secret, sure in dict.fromkeys(_scanner().scan(clean)):
        if rule in _SEEN_ELSEWHERE or not secret or not (sure or may_be_value(secret)):
            continue
        kind = "password" if "password" in rule else _UNFIT.sub(" ", rule.removeprefix("generic-").lower())[:60]
        place = clean.find(full)
        while place >= 0:
            start = clean.find(secret, place, place + len(full))
            if start >= 0:
                yield Span(start, start + len(secret), kind)
            place = clean.find(full, place + max(1, len(full)))


_Finding: TypeAlias = tuple[str, str, str, bool]  # rule, whole match, secret, is the scanner sure of it


@dataclass(frozen=True, slots=True)
class _Scanner:
    """The scanner as a function; `missing` says why it finds nothing here."""

    scan: Callable[[str], list[_Finding]]
    missing: str = ""


@lru_cache(maxsize=1)
def _scanner() -> _Scanner:
    try:
        import betterleaks  # its library takes 0.1 s and 30 MB: only where texts are masked
    except ImportError as error:
        return _Scanner(lambda text: [], f"betterleaks cannot be loaded ({type(error).__name__})")
    try:
        betterleaks.scan_string("")
    except (OSError, betterleaks.BetterleaksError) as error:  # no library for this machine
        return _Scanner(lambda text: [], f"betterleaks cannot be loaded ({type(error).__name__})")

    def scan(text: str) -> list[_Finding]:
        try:
            findings = betterleaks.scan_string(text)
        except betterleaks.BetterleaksError:
            return []  # our own readers still look
        return [(found.rule_id, found.match.full, found.secret, found.confidence != "low") for found in findings]

    return _Scanner(scan)


def _normalised(text: str) -> tuple[str, list[int]]:
    """NFKC of `text` without invisible characters, and for each of its characters its place in `text`."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for made in _plain_form(character):
            characters.append(made)
            places.append(place)
    return "".join(characters), places


@lru_cache(maxsize=4096)
def _plain_form(character: str) -> str:
    if character.isascii():
        return character
    return "" if character in _INVISIBLE else unicodedata.normalize("NFKC", character)


def _apart(spans: list[Span], plain: str) -> list[Span]:
    """Overlapping spans joined (the first-found kind of the longest counts), holes left alone."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            joined.append(span)
    return [part for span in joined for part in _without_holes(span, plain)]


def _without_holes(span: Span, plain: str) -> Iterator[Span]:
    for piece in re.finditer(r"[^\x00]+", plain[span.start : span.end]):
        if not piece[0].isspace():
            yield Span(span.start + piece.start(), span.start + piece.end(), span.kind)


def _replaced(text: str, spans: list[Span]) -> str:
    parts, place = [], 0
    for span in spans:
        parts += [text[place : span.start], f"[secret: {span.kind}]"]
        place = span.end
    return "".join([*parts, text[place:]])
