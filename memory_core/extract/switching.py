"""That something took another's place: "we switched from X to Y", umgestiegen, 从X换成Y, XからYに切り替え. Pure.

Said as done, it is a decision that somebody acted on, and takes back what had been decided for X
(memory_core.flush.switched). A plan, a question, a wish is none, nor is a switch that was undone in the same breath.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memory_core.extract.text import KEPT

_OLD, _NEW = r"(?P<old>[^,;:.?!\n]{2,50}?)", r"(?P<new>[^,;:?!\n]{2,60}?)"
_WIDE_OLD, _WIDE_NEW = r"(?P<old>[^，,、。；？?！!\n]{1,30}?)", r"(?P<new>[^，,、。；？?！!\n]{1,40}?)"
_END = (
    r"(?=\s+(?:for|as|because|since|so|last|this|yesterday|today|and|on|in|at|when|after|weil|da|für|wegen)\b"
    r"|[,;:?!\n]|\.(?:\s|$)|$)"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:we|the team|everyone)(?:'ve| have| has)?(?: all| just| now| finally| already| also| completely)?"
        r" (?:switched|moved|migrated|changed over|converted)(?: [^,;:.?!\n]{1,40}?)?(?: over| away)? from "
        rf"{_OLD} (?:over )?to {_NEW}{_END}",
        rf"\bwir (?:sind|haben)\b[^,;:.?!\n]{{0,60}}?\bvon {_OLD} (?:auf|zu) {_NEW}"
        r" (?:umgestiegen|umgestellt|gewechselt|migriert)\b",
        rf"(?:从|由)\s*{_WIDE_OLD}\s*(?:换成|换到|换为|改用|改成用|切换到|切换成|切到|迁移到|迁到)了?\s*{_WIDE_NEW}"
        r"了?(?=[，,、。；？?！!\n]|$)",
        rf"(?:(?<=[はがを、])|^)\s*(?P<old>[^，,、。；？?！!\nはがを]{{1,30}}?)から\s*{_WIDE_NEW}(?:に|へ)"
        r"(?:切り替え|切替え?|乗り換え|移行し|置き換え)(?:まし)?た(?!ら|い)",
    )
)
_OPEN = re.compile(
    r"\b(?:if|when|before|until|once|why|how|whether|should|would|could|might|may|nearly|almost|never|not|want|plan\w*|"
    r"wenn|falls|ob|warum|sollten|könnten|würden|nicht|fast)\b[^,;.]*\b(?:we|wir|the team|everyone)\b"
    r"|\b(?:went|switched|moved|rolled|going|gone) back\b|\brevert\w*|\bwieder zurück|zurückge"
    r"|如果|要是|假如|想|打算|计划|建议|要不|能不能|是否|还没|没有|又换回|换回"
    r"|たら|なら|予定|検討|つもり|べき|戻し",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Switch:
    """`old` gave its place to `new`; `beside` is what else the sentence says."""

    old: str
    new: str
    beside: str


class Switching:
    """The patterns of a switch as a cue."""

    def search(self, text: str) -> re.Match[str] | None:
        """A match where a switch is told as done; None where it is not."""
        found = next(filter(None, (pattern.search(text) for pattern in _PATTERNS)), None)
        return found if found is not None and not _OPEN.search(text) else None


SWITCHED = Switching()


@lru_cache(KEPT)
def switch_in(text: str) -> Switch | None:
    """The switch that a text tells as done; None where it tells none."""
    found = SWITCHED.search(text)
    if found is None:
        return None
    start, end = found.span()
    said = text[start:end].replace(found["old"], " ", 1).replace(found["new"], " ", 1)
    return Switch(found["old"].strip(), found["new"].strip(), f"{text[:start]} {said} {text[end:]}")
