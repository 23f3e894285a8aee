"""Numbers that tell one piece of work from another: `fix bug 1023` is not `fix bug 1024`. Pure.

A number that is part of a day, an hour or a duration tells when, not what: a task that is moved from 14:00 to 15:00
stays the same task, and one that was due on 5 May may be done on 3 May.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memory_core.extract.text import KEPT

_MONTH = (
    r"(?:jan|feb|mar|mär|apr|may|mai|june?|july?|juni|juli|aug|sept?|o[ck]t|nov|de[cz])"
    r"(?:uary|ruary|ruar|uar|ch|z|il|ust|ember|ober|tember)?\b\.?"
)
_UNIT = r"(?:min|minute|hour|day|week|month|year|minuten|stunde|tag|woche|monat|jahr)(?:s|n|en|e)?\b"
_WHEN = re.compile(
    rf"\d{{1,2}}:\d\d(?::\d\d)?|\d{{4}}-\d\d?-\d\d?|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?|\d{{1,2}}\.\d{{1,2}}\.(?:\d{{2,4}})?"
    rf"|\d{{1,2}} ?(?:[ap]\.?m\b|h\b|uhr\b|o'clock)|\d+ ?{_UNIT}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? ?(?:of )?{_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    r"|\d+ ?[年月点點時时分天週周日]|(?<=月)\d+[号號]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@lru_cache(2 * KEPT)
def names(text: str) -> frozenset[str]:
    """The numbers in `text` that tell what it is about."""
    return frozenset(_NUMBER.findall(_WHEN.sub(" ", text)))


def other_work(one: str, other: str) -> bool:
    """Does each of the two texts name a number that the other does not?"""
    had, has = names(one), names(other)
    return bool(had - has and has - had)
