"""A value that was said wrong and put right: `no, 15:00 not 14:00`, 是三点，不是两点, `sorry, 15:00`.

The correction names the old value, and the earlier text holds it: then the new one takes its place. A bare new value
is taken only where the earlier text holds exactly one value of its form (a time, a date, a number).
"""

from __future__ import annotations

import re
from functools import lru_cache

from memory_core.extract import cues_talk
from memory_core.extract.cue import group_in
from memory_core.extract.text import KEPT
from memory_core.extract.words import is_idle

_FORMS = (
    re.compile(r"(?<!\d)\d{1,2}[:：]\d{2}(?!\d)"),
    re.compile(r"(?<!\d)\d{4}-\d{1,2}-\d{1,2}(?!\d)"),
    re.compile(r"(?<![\d.:-])\d{1,6}(?![\d.:-])"),
)


def corrected(text: str, correction: str) -> str | None:
    """`text` with its value put right by `correction`; None where that corrects nothing in it."""
    old, new, bare = _values(correction)
    if old and new and old != new and not (is_idle(old) or is_idle(new)) and _holds(text, old):
        return _put(text, old, new)
    return _by_form(text, bare) if bare is not None else None


@lru_cache(KEPT)
def _values(correction: str) -> tuple[str, str, str | None]:
    """What is put right: an old and a new value, empty where it does not name both; and a value that stands alone."""
    match = cues_talk.CORRECT.search(correction)
    bare = cues_talk.CORRECT_VALUE.search(correction)
    named = (group_in(correction, match, name).strip(" ,.，。") if match else "" for name in ("old", "new"))
    old, new = named
    return old, new, group_in(correction, bare) if bare is not None else None


def _holds(text: str, value: str) -> bool:
    return _place(value).search(text) is not None


def _put(text: str, old: str, new: str) -> str:
    return _place(old).sub(lambda _: new, text, count=1)


def _place(value: str) -> re.Pattern[str]:
    """The value as a whole word; a value of a wide script anywhere (水曜 in 水曜10時)."""
    before = r"(?<![A-Za-z0-9])" if value[:1].isascii() else ""
    behind = r"(?![A-Za-z0-9])" if value[-1:].isascii() else ""
    return re.compile(before + re.escape(value) + behind, re.IGNORECASE)


def _by_form(text: str, new: str) -> str | None:
    value = new.rstrip(" .!。，")
    for form in _FORMS:
        if form.fullmatch(value):
            found = form.findall(text)
            return form.sub(lambda _: value, text, count=1) if len(found) == 1 and found[0] != value else None
    return None
