"""Which days a question names, as spans: what was said or written then fits it better. Pure.

    2023-05-08, 8 May 2023, May 8, 8. Mai, 5月8日     that day; without a year, that day of any year
    May 2023, in May, 2023年5月, 5月, in 2022         that month or year
    yesterday, last week, last Friday, two weeks ago,
    昨天, 上周五, 先週, gestern, letzte Woche           seen from the day on which it is asked

What happened is often told a little later, so the week after a span counts nearly as much, and the rest of the month
of a named day half. Days to come are no matter of memory; memory_core.extract.dates reads them.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

_LATE_DAYS = 7
_LATE, _MONTH_OF_DAY = 0.8, 0.5
_YEARS_BACK = 10
_LONGEST_CHARACTERS = 2000
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("jan january januar", "feb february februar", "mar march märz", "apr april", "may mai"),
            *("jun june juni", "jul july juli", "aug august", "sep sept september", "oct october oktober okt"),
            *("nov november", "dec december dezember dez"),
        ),
        1,
    )
    for name in names.split()
}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            *("monday mon montag 一 月", "tuesday tue dienstag 二 火", "wednesday wed mittwoch 三 水"),
            *("thursday thu donnerstag 四 木", "friday fri freitag 五 金", "saturday samstag 六 土"),
            "sunday sonntag 日 天",
        )
    )
    for name in names.split()
}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?(?!\d|:)"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_DATED = (
    rf"(?<![\d.-]){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)",
    rf"(?<!\d)(?:{_YEAR}\s?年\s?)?(?P<month>\d{{1,2}})\s?月(?:\s?(?P<day>\d{{1,2}})\s?[日号號])?(?!曜)",
    rf"(?<!\d){_DAY}(?: of)? {_MONTH},?(?: {_YEAR})?",
    rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?",
    rf"\b{_MONTH},?(?: of)? {_YEAR}",
    rf"\b(?:in|since|during|of|until|by|late|early|mid|last|this|im|seit|ende|anfang)[ -]{_MONTH}",
    rf"\b(?!may|mar|mai){_MONTH}",
    rf"(?<!\d){_YEAR}(?!-\d)年?",
)
"""From the most telling to the least; what one has read is not read again."""

_HINT = re.compile(
    r"\d|\b(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec(?!i)|dez|yester|today|this|last|letzte|gestern|heute"
    r"|vor)|ago\b|[天日周週月年前]"
)
"""Without any of these a text names no day. To decide is no December."""
_NUMBERS = {
    name: number
    for number, names in enumerate(("a an one 一", "two 两 兩 二", "three 三"), 1)
    for name in names.split()
}
_AGO = re.compile(
    r"\b(?:vor )?(?P<n>\d{1,3}|an?|one|two|three) (?P<unit>day|week|month|year)s? ago\b|"
    r"(?P<n2>\d{1,3}|[一两兩二三])\s?个?個?(?P<unit2>天|周|週|星期|月|年)(?:之?前|以前)"
)
_UNIT_DAYS = {
    "day": 1,
    "week": 7,
    "month": 30,
    "year": 365,
    "天": 1,
    "周": 7,
    "週": 7,
    "星期": 7,
    "月": 30,
    "年": 365,
}
_YESTERDAY = re.compile(r"\byesterday\b|\bgestern\b|昨天|昨日")
_TODAY = re.compile(r"\btoday\b|\bthis morning\b|\bheute\b|今天|今日")
_BEFORE = re.compile(r"\bvorgestern\b|前天|一昨日")
_LAST_WEEK = re.compile(
    r"\blast week(?!end)|\bletzte[nr]? woche|上(?:个|個)?(?:周|週|星期|礼拜)(?![一二三四五六日天末])|先週"
)
_LAST_MONTH = re.compile(r"\blast month\b|\bletzten monat|上(?:个|個)月|先月")
_LAST_YEAR = re.compile(r"\blast year\b|\bletztes jahr|去年|昨年")
_LAST_DAY = re.compile(
    r"\b(?:last|letzte[nr]?) (?P<name>monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b|"
    r"上(?:个|個)?(?:周|週|星期|礼拜)(?P<han>[一二三四五六日天])"
)


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last`, as ordinals, both included, and what it is worth to be one of them."""

    first: int
    last: int
    worth: float = 1.0


def spans(text: str, today: date | None) -> tuple[Span, ...]:
    """The spans that `text` names, seen from `today`; without it only those that have a year. Never raises."""
    if today is not None and today.year <= _YEARS_BACK:
        today = None  # a clock that was never set; the calendar has no days to look back to
    plain = text[:_LONGEST_CHARACTERS].casefold()
    if _HINT.search(plain) is None:
        return ()
    found = [*_dated(plain, today)]
    if today is not None:
        found += _relative(plain, today)
    return tuple(found)


def worth(found: tuple[Span, ...], at: float) -> float:
    """What the day `at` (an ordinal) is worth: the best of its spans."""
    return max((span.worth for span in found if span.first <= at < span.last + 1), default=0.0)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Compiled when a text has what may be a day: most have none."""
    return tuple(map(re.compile, _DATED))


def _dated(text: str, today: date | None) -> Iterator[Span]:
    for pattern in _patterns():
        matches = list(pattern.finditer(text))
        for match in matches:
            named = match.groupdict()
            month, day = named.get("month"), named.get("day")
            yield from _spans(
                _years(named.get("year"), today),
                _MONTHS.get(month) or int(month) if month else 0,
                int(day) if day else 0,
            )
        if matches:
            text = pattern.sub(lambda match: " " * len(match[0]), text)


def _years(named: str | None, today: date | None) -> range:
    """The years that may be meant."""
    if named:
        return range(int(named), int(named) + 1)
    return range(today.year - _YEARS_BACK, today.year + 2) if today is not None else range(0)


def _spans(years: range, month: int, day: int) -> Iterator[Span]:
    for year in years:
        if not month:
            yield Span(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal(), _MONTH_OF_DAY)
        elif month <= 12:
            first, last = date(year, month, 1).toordinal(), date(year, month, monthrange(year, month)[1]).toordinal()
            if not day:
                yield from _told(first, last)
            elif first + day - 1 <= last:
                yield from _told(first + day - 1, first + day - 1)
                yield Span(first, last, _MONTH_OF_DAY)


def _relative(text: str, today: date) -> Iterator[Span]:
    at = today.toordinal()
    monday = at - today.weekday()
    before = today.replace(day=1) - timedelta(days=1)
    for pattern, first, last in (
        (_TODAY, at, at),
        (_YESTERDAY, at - 1, at - 1),
        (_BEFORE, at - 2, at - 2),
        (_LAST_WEEK, monday - 7, monday - 1),
        (_LAST_MONTH, before.replace(day=1).toordinal(), before.toordinal()),
        (_LAST_YEAR, date(today.year - 1, 1, 1).toordinal(), date(today.year - 1, 12, 31).toordinal()),
    ):
        if pattern.search(text):
            yield from _told(first, last)
    for match in _LAST_DAY.finditer(text):
        number = _WEEKDAYS[match["name"] or match["han"]]
        # A Chinese week begins on Monday, and 上周五 is Friday of the one before; last Friday is the latest one.
        day = monday - 7 + number if match["han"] else at - ((today.weekday() - number - 1) % 7 + 1)
        yield from _told(day, day)
    for match in _AGO.finditer(text):
        told, unit = match["n"] or match["n2"], _UNIT_DAYS[match["unit"] or match["unit2"]]
        count = int(told) if told.isdigit() else _NUMBERS[told]
        yield from _told(at - count * unit - unit // 4, at - count * unit + unit // 4)


def _told(first: int, last: int) -> Iterator[Span]:
    """The span, and the time in which it is told late."""
    yield Span(first, last)
    yield Span(last + 1, last + _LATE_DAYS, _LATE)
