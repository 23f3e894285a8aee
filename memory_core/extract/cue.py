"""What a cue is: words that announce a decision, a task, a blocker, …

The tables (cues_decisions, cues_work, cues_lessons, cues_people, cues_talk) hold cues in English, Chinese, Japanese
and German. A row is a kind, how firm the words are, and a pattern. The first row that matches a sentence wins, so the
more telling cues stand first.

    LABEL      a written label (`Decision:`, `TODO:`, 决定：): settles, also inside a long message
    EXPLICIT   the plain word for it (`we decided to …`): settles
    COMMITTED  one person commits (`let's go with …`): settles in a DM; in a group someone else must agree
    PROPOSED   an open proposal (`I propose …`, 建议…): someone else must agree or act; unanswered it is unsettled
    HINTED     a soft proposal (`how about …`): someone else must agree or act; unanswered it is nothing
    STATED     a fact of the setting (`we use …`): must be said in two messages

Patterns are matched on one sentence of at most a few hundred characters. A repetition within a repetition must be
unambiguous (or possessive, `*+`), so that no text makes them slow; a test tries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from memory_core.layouts import Kind

START = (
    r"^(?:[\W_]|\b(?:ok(?:ay)?|so|and|but|also|alright|right|great|well|btw|fyi|hey|then|please|pls|important|final"
    r"|good news)\b|那么|好的|那|好|嗯|另外|重要)*"
)
"""The start of a sentence, over its fillers."""

FILLER = r"^(?:[^\w@]|_|@\w*+|\b(?:oh|ah|haha+|ok(?:ay)?|hm+|well|and|so|wow)\b|哈|嗯)*"
"""The start of a reply, over its fillers."""


class Firmness(IntEnum):
    """How firm a cue is, weakest first (see the top of this file)."""

    STATED = 0
    HINTED = 1
    PROPOSED = 2
    COMMITTED = 3
    EXPLICIT = 4
    LABEL = 5


class Words:
    """Several patterns, searched as one, letters of either case; built for speed, since most sentences match nothing.

    The text is folded to lower case once, which lets the engine compare letters plainly. Patterns are put together by
    how they begin: at the start (`^`), at a word (`\\b`), anywhere; those that need capitals (`(?-i:…)`) are
    matched on the text as it is. Patterns of wide scripts are left out for a text that has none. Groups must be read
    by their span (`group_in`): the match is on the folded text, which is as long as the text itself.
    """

    __slots__ = ("_anchored", "_anywhere", "_cased", "_wide")

    def __init__(self, alternatives: tuple[str, ...]) -> None:
        cased = [text for text in alternatives if "(?-i:" in text]
        wide = [
            text
            for text in alternatives
            if text not in cased and _WIDE.search(text.removeprefix(START).removeprefix(FILLER))
        ]
        plain = [text for text in alternatives if text not in cased and text not in wide]
        anchored = [text[1:] for text in plain if text.startswith("^")]
        at_word = [text[2:] for text in plain if text.startswith(r"\b")]
        anywhere = [text for text in plain if not text.startswith(("^", r"\b"))]
        words = [rf"\b{_any(at_word)}"] if at_word else []
        self._anchored = re.compile(_any(anchored)) if anchored else None
        self._anywhere = tuple(re.compile(text) for text in (*words, *([_any(anywhere)] if anywhere else ())))
        self._cased = re.compile(_any(cased), re.IGNORECASE) if cased else None
        self._wide = re.compile(_any(wide)) if wide else None

    def search(self, text: str) -> re.Match[str] | None:
        """A match of one of the patterns; None where none matches."""
        low = text.lower()
        if len(low) != len(text):
            low = text
        found = self._anchored.match(low) if self._anchored else None
        for pattern in self._anywhere:
            if found is None:
                found = pattern.search(low)
        if found is None and self._cased:
            found = self._cased.search(text)
        if found is None and self._wide and not text.isascii():
            found = self._wide.search(low)
        return found


def group_in(text: str, match: re.Match[str], prefix: str = "") -> str:
    """The text of the first group that matched and whose name begins with `prefix`, as it stands in `text`."""
    for name in match.re.groupindex:
        start, end = match.span(name)
        if start >= 0 and name.startswith(prefix):
            return text[start:end]
    return ""


def cue(*alternatives: str) -> Words:
    """The patterns as one cue."""
    return Words(alternatives)


def _any(alternatives: list[str]) -> str:
    return "(?:" + "|".join(f"(?:{text})" for text in alternatives) + ")"


_WIDE = re.compile(r"[\u3040-\u9fff\uac00-\ud7af\U0001f000-\U0001ffff]")


class Pattern(Protocol):
    """What announces something in a sentence."""

    def search(self, text: str) -> re.Match[str] | None:
        """A match where it does; None where it does not."""
        ...


@dataclass(frozen=True, slots=True)
class Cue:
    """One row of the table. `status` is a task's; `whole` keeps the matched words in what was stated."""

    kind: Kind
    firmness: Firmness
    pattern: Pattern
    status: str = ""
    whole: bool = True
