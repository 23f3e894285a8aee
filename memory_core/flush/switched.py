"""What a switch takes back: "we switched from X to Y" ends the live decision for X on the same subject. Pure.

A record is one for X where it says that X is used, chosen, or serves something; one that names X as what was not
taken, or denies it, is none. Where the switch names a subject ("for CI"), the record must share it, or name none;
where several records are left, none is taken back: a record lost is worse than one too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from memory_core.extract.switching import Switch, switch_in
from memory_core.flush.sameness import words
from memory_core.script import fold
from memory_core.terms import terms

_USED_BEFORE = re.compile(
    r"(?:\b(?:us(?:e|es|ed|ing)|chosen?|choose|go(?:ing)? with|went with|runs? on|running on|pick(?:ed)?|adopt\w*"
    r"|stick(?:ing)? with|stay(?:ing)? with|settled on|decided (?:on|for)|move to|take|took|is|are|on"
    r"|nutz\w*|verwend\w*|nehmen|nahmen|setzen auf|bleiben bei|für)\b|用|采用|选用?|换成|改用)[^,;.，。；]{0,30}$"
)
_USED_BEHIND = re.compile(
    r"^[^,;.，。；]{0,4}(?:\b(?:for|as|holds?|serves?|is (?:our|the)|runs?|für|als|over|instead of|because|hält)\b"
    r"|を(?:使|採用|利用)|に(?:決|し|切り替え)|做|作为|来|で)"
)
_REFUSED_BEFORE = re.compile(
    r"(?:\b(?:over|instead of|rather than|not|than|against|from|statt|anstelle|nicht|gegen|von)(?: \w+)?"
    r"|而不是|不用|不再用|从|由)\s*$"
)
_REFUSED_BEHIND = re.compile(r"^\s*(?:ではなく|より|じゃなく|から)")
_FRAMING = frozenset(
    terms(
        "we the team everyone switched moved migrated converted from over to have has all now just last week month "
        "today yesterday decided decision use using chose chosen went with runs our for wir sind haben von auf "
        "umgestiegen umgestellt nutzen verwenden"
    )
)
_WIDE_FRAMING = re.compile(
    r"从|由|换成|换到|改用|切换|迁移|我们|已经?|了|决定|用|から|切り替え|乗り換え|移行|まし|た|に|を|は|が|の|こと|使う|使い"
)

Item = TypeVar("Item")


def ended_by(text: str, among: Iterable[tuple[Item, str]]) -> Item | None:
    """The one item, of those with their text, that what was switched from stands in; None where it is not plain."""
    switch = switch_in(text)
    if switch is None:
        return None
    subject = _subject(switch.beside)
    found = [
        (bool(subject & _subject(without)), item)
        for item, said in among
        if (without := _without(switch, said)) is not None and _on_subject(subject, _subject(without))
    ]
    sharing = [item for shares, item in found if shares] or [item for _, item in found]
    return sharing[0] if len(sharing) == 1 else None


def _on_subject(subject: frozenset[str], other: frozenset[str]) -> bool:
    return not subject or not other or bool(subject & other)


def _subject(text: str) -> frozenset[str]:
    return frozenset(terms(_WIDE_FRAMING.sub(" ", text))) - _FRAMING


def _without(switch: Switch, said: str) -> str | None:
    """What a text says beside the old thing, where it says that it is used; None where it does not."""
    low, old, other = fold(said), fold(switch.old), switch_in(said)
    if other is not None:
        return other.beside if fold(other.new) == old else None
    if words(said).negates:
        return None
    for found in re.finditer(_standing_alone(old), low):
        before, behind = low[: found.start()], low[found.end() :]
        if _REFUSED_BEFORE.search(before) or _REFUSED_BEHIND.search(behind):
            continue
        if not before.strip() or _USED_BEFORE.search(before) or _USED_BEHIND.search(behind):
            return f"{before} {behind}"
    return None


def _standing_alone(value: str) -> str:
    """A pattern of the value, not within another word; scripts without blanks have no such borders."""
    before = r"(?<![a-z0-9])" if value[:1].isascii() else ""
    return before + re.escape(value) + (r"(?![a-z0-9])" if value[-1:].isascii() else "")
