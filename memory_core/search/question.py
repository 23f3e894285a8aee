"""A question as ranking takes it: its terms, their kin, whether it asks for a time, and which days it names. Pure."""

from __future__ import annotations

import re
from datetime import date

from memory_core.days import spans
from memory_core.kin import kin
from memory_core.ranking import Question
from memory_core.terms import asked

_ASKS_TIME = re.compile(
    r"\b(?:when|how long|how old|what (?:time|date|day|month|year)|which (?:date|day|month|year)|dates?|deadline"
    r"|since|wann|wie lange|seit wann|welche[rmns]? (?:tag|datum|monat|jahr))\b|"
    r"什么时候|什麼時候|什么时间|何时|何時|几时|幾時|几点|多久|哪天|哪一天|几号|哪年|几月|日期|いつ|何日|何月|何年|何曜|언제|며칠",
    re.IGNORECASE,
)


def question(words: str, today: date | None = None) -> Question:
    """What `words` ask, seen from `today` (without it, days without a year mean nothing)."""
    terms = asked(words)
    return Question(terms, kin(terms), _ASKS_TIME.search(words) is not None, spans(words, today))
