"""By when: a small reader of dates in chat, relative to the day on which the message was sent.

It reads what has one meaning and nothing else: ISO and German dates, `12 June`, `4月10日`, `the 14th`, weekdays,
`today`, `tomorrow`, `end of month`, `in 3 days`, in English, Chinese, Japanese and German. `4/10` is left alone: it
is April or October, depending on who writes. A date always comes from this file, never from a model.

A weekday means the next one after the day of the message (`Friday` said on a Friday: in seven days); `next Friday`
and 下周五 mean that day of the following week. A day of a month without a year means the next such day.

A year is taken as it was typed, however far: people speak of certificates, leases and retention of many decades, and
a limit would turn "due 2199-01-01" into no day without a word. It does no harm: a day by which something is due is
shown and compared, never counted on from, and it starts no timer. (Another thing is when a message was *sent*: from
there days are counted, so an import takes no time after 2199, adapters.history.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

_WEEKDAYS = {
    "mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6,
    "一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6,
    "月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5,
    "die": 1, "mit": 2, "don": 3, "fre": 4, "sam": 5, "son": 6,
}  # fmt: skip
_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "mär": 3, "apr": 4, "may": 5, "mai": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
    "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
}  # fmt: skip
_MONTH_NAME = (
    r"(jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_DAY_NAME = (
    r"(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|saturday|sunday"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
)

_Reader = Callable[[re.Match[str], date], date | None]


def due_in(text: str, day: date) -> date | None:
    """The first date that `text` names, seen from `day`; None where it names none that is certain."""
    found: list[tuple[int, date]] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text[:1000]):
            when = read(match, day)
            if when is not None:
                found.append((match.start(), when))
                break
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _day(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _plus(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _coming(day: date, month: int, number: int) -> date | None:
    """That day of that month, this year or, where it is past, the next."""
    when = _day(day.year, month, number)
    return when if when is not None and when >= day else _day(day.year + 1, month, number)


def _ymd(match: re.Match[str], day: date) -> date | None:
    return _day(int(match[1]), int(match[2]), int(match[3]))


def _dmy(match: re.Match[str], day: date) -> date | None:
    return (
        _day(int(match[3]), int(match[2]), int(match[1])) if match[3] else _coming(day, int(match[2]), int(match[1]))
    )


def _named(month: str, number: str, year: str | None, day: date) -> date | None:
    at = _MONTHS[month[:3].lower()]
    return _day(int(year), at, int(number)) if year else _coming(day, at, int(number))


def _day_of_month(match: re.Match[str], day: date) -> date | None:
    number = int(match[1])
    for ahead in range(3):
        month = day.month - 1 + ahead
        when = _day(day.year + month // 12, month % 12 + 1, number)
        if when is not None and when >= day:
            return when
    return None


def _weekday(name: str, day: date, *, following_week: bool) -> date | None:
    target = _WEEKDAYS[name[:3].lower()]
    if following_week:
        return _plus(day, 7 - day.weekday() + target)
    return _plus(day, (target - day.weekday() - 1) % 7 + 1)


def _this_week(match: re.Match[str], day: date) -> date | None:
    """本周五: that day of the running week, also where it is today."""
    return _plus(day, _WEEKDAYS[match[1]] - day.weekday())


def _month_end(match: re.Match[str], day: date) -> date | None:
    first = _day(day.year + day.month // 12, day.month % 12 + 1, 1)
    return _plus(first, -1) if first else None


def _in_days(match: re.Match[str], day: date) -> date | None:
    return _plus(day, int(match[1]))


def _ahead(days: int) -> _Reader:
    return lambda match, day: _plus(day, days)


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_re(r"(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)"), _ymd),
    (_re(r"(?<!\d)(\d{4})年(\d{1,2})月(\d{1,2})[日号]"), _ymd),
    (_re(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})?(?![\d.])"), _dmy),
    (_re(r"(?<![\d年])(\d{1,2})月(\d{1,2})[日号]"), lambda m, day: _coming(day, int(m[1]), int(m[2]))),
    (
        _re(rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?{_MONTH_NAME}\b(?:,? (\d{{4}}))?"),
        lambda m, day: _named(m[2], m[1], m[3], day),
    ),
    (
        _re(rf"\b{_MONTH_NAME} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d|:)(?:,? (\d{{4}}))?"),
        lambda m, day: _named(m[1], m[2], m[3], day),
    ),
    (_re(r"\b(?:by|until|till|before|on|due) the (\d{1,2})(?:st|nd|rd|th)\b"), _day_of_month),
    (_re(r"(?<![\d月])(\d{1,2})号(?:之?前)?"), _day_of_month),
    (_re(r"\bbis zum (\d{1,2})\.(?!\d)"), _day_of_month),
    (
        _re(rf"\bnext {_DAY_NAME}\b|\bnächsten? {_DAY_NAME}\b"),
        lambda m, day: _weekday(m[1] or m[2], day, following_week=True),
    ),
    (
        _re(rf"(?<!next )(?<!nächsten )(?<!nächste )(?<!last )\b{_DAY_NAME}\b"),
        lambda m, day: _weekday(m[1], day, following_week=False),
    ),
    (
        _re(r"下(?:个)?(?:周|星期|礼拜)([一二三四五六日天])|来週の?([月火水木金土日])曜"),
        lambda m, day: _weekday(m[1] or m[2], day, following_week=True),
    ),
    (_re(r"(?:本|这|今)(?:周|星期)([一二三四五六日天])"), _this_week),
    (
        _re(r"(?<![下本这今上个])(?:周|星期|礼拜)([一二三四五六日天])"),
        lambda m, day: _weekday(m[1], day, following_week=False),
    ),
    (_re(r"(?<!来週の)(?<!来週)([月火水木金土日])曜"), lambda m, day: _weekday(m[1], day, following_week=False)),
    (_re(r"\b(?:today|tonight|eod|end of (?:the )?day|heute)\b|今天|今晚|今日|本日"), _ahead(0)),
    (
        _re(
            r"\btomorrow\b|\bbis morgen\b|(?<!guten )\bmorgen (?:früh|mittag|abend|nachmittag)\b|明天|明日|明早|明晚"
        ),
        _ahead(1),
    ),
    (_re(r"\bday after tomorrow\b|\bübermorgen\b|(?<!大)后天|明後日"), _ahead(2)),
    (_re(r"大后天"), _ahead(3)),
    (
        _re(r"\b(?:eow|end of (?:the |this )?week)\b|\bende der woche\b|(?:本|这)?周末前"),
        lambda m, day: _plus(day, (4 - day.weekday()) % 7),
    ),
    (_re(r"\bend of (?:the |this )?month\b|\bende des monats\b|\bmonatsende\b|月底|月末"), _month_end),
    (_re(r"\b(?:with)?in (\d{1,3}) days?\b|\bin (\d{1,3}) tagen\b"), lambda m, day: _plus(day, int(m[1] or m[2]))),
    (_re(r"(\d{1,3})\s*天(?:之?内|后)"), _in_days),
)
