"""Numbers, days and times as Chinese, Japanese and Korean say them, made comparable with how they are written.

    三十天, 五千元               30, 5000           百分之五           5
    四月六日, 4月6号, 4월 6일    04-06, april, 6    2026年4月6日       2026-04-06 as well
    周五, 星期五, 金曜日, 금요일  friday             下午三点半, 15点30分   3:30, 15:30

A numeral is only taken for a number before a word that is counted, or where it has a place value (二十); 一个, 一下
and 十分 say no number. A date as it is written (2026-04-06) is met by its month and day (`day_terms`), a time of the
afternoon by that of a clock with twelve hours (`time_terms`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

_VALUES = {
    sign: value
    for value, signs in enumerate(
        ("〇零영", "一일", "二两兩이", "三삼", "四사", "五오", "六육유", "七칠", "八팔", "九구")
    )
    for sign in signs
}
_PLACES = {"十": 10, "십": 10, "시": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000}
_ONE = "一二两兩三四五六七八九"
_SMALL = rf"(?:\d{{1,2}}|[{_ONE}十]{{1,3}})"
_KOREAN = r"(?:\d{1,2}|[일이삼사오육유칠팔구십시]{1,3})"
_COUNTED = (
    "天周週年月日号號点點时時分秒元块塊円人名条條台份张張次枚桁回件歳岁级級层層楼樓个個か倍位碼码度封本折成割万萬간"
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DAYS = {
    **dict.fromkeys("一月월", "monday"), **dict.fromkeys("二火화", "tuesday"),
    **dict.fromkeys("三水수", "wednesday"), **dict.fromkeys("四木목", "thursday"),
    **dict.fromkeys("五金금", "friday"), **dict.fromkeys("六土토", "saturday"),
    **dict.fromkeys("日天일", "sunday"),
}  # fmt: skip
_AFTERNOON = frozenset({"下午", "晚上", "傍晚", "今晚", "午後", "夕方", "오후", "저녁"})
_MORNING = frozenset({"上午", "早上", "凌晨", "中午", "午前", "오전", "새벽"})

_HALVES = _AFTERNOON | _MORNING
"""The halves of a day, two characters each; they stand before the hour, with or without a blank."""

_START = re.compile("[一二两兩三四五六七八九十百千周週星礼禮曜요年月点點时時년월시]")
"""What one of the following begins with, or has after its first figures: a look for these alone is far quicker."""
_BEFORE = {
    **dict.fromkeys("年月点點时時년시", "0123456789"), "월": "0123456789일이삼사오육유칠팔구십시",
    "曜": "月火水木金土日", "요": "월화수목금토일",
}  # fmt: skip
"""What must stand before a sign that does not begin a day or time."""
_SAID = (
    rf"(?:(?P<year>\d{{4}})[年년]\s?)?"
    rf"(?:(?P<month>{_SMALL})月\s?(?P<day>{_SMALL})[日号號]?|(?P<wol>{_KOREAN})월\s?(?P<il>{_KOREAN})일)(?![\d{_ONE}])"
    r"|(?:周|週|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])(?![一二三四五六七八九十])"
    r"|(?P<yobi>[月火水木金土日])曜日?|(?P<yoil>[월화수목금토일])요일"
    rf"|(?<![\d.:])(?P<hour>{_SMALL})(?:[点點](?![击擊数數评評])|[时時](?![间間])|시(?!간|작|스))"
    rf"(?:\s?(?P<minute>{_SMALL})[分분]|(?P<thirty>半|반))?"
    rf"|百分之(?P<percent>\d+|[{_ONE}十百]+)"
    rf"|(?P<number>[{_ONE}十百千]+[十百千万萬][{_ONE}〇零十百千万萬]*|[{_ONE}十百千]+(?=[{_COUNTED}]))"
)
_IDLE = frozenset({"一", "十", "百", "千", "百万", "千万", "十分"})
"""一个, 千万: numerals that say no number."""


def said_in(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Where `text` says numbers, days and times (from, until), and the terms of each."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    end = 0
    for start in _START.finditer(text):
        at = _first(text, start.start(), end)
        match = _said().match(text, at) if at >= end else None
        if match is None:
            continue
        before = max(end, at - 3)
        half = text[before:at].strip()[-2:]
        if terms := _terms(match, half):
            if match["hour"] and half in _HALVES:
                at = text.index(half, before)
            found.append((at, match.end(), terms))
            end = match.end()
    return found


@cache
def _said() -> re.Pattern[str]:
    """Compiled (some milliseconds) when there is a text in which one of the signs stands."""
    return re.compile(_SAID)


def _first(text: str, at: int, end: int) -> int:
    """Where that begins which the sign at `at` belongs to, not before `end`; -1 where it belongs to nothing."""
    before = _BEFORE.get(text[at])
    if before is None:
        return at
    first = at
    while first > end and text[first - 1] in before:
        first -= 1
    return first if first < at else -1


def day_terms(year: str, month: str, day: str) -> tuple[str, ...]:
    """The terms of a day: whole (where the year is known) and without its year. Empty for no day of any month."""
    if not (month.isdigit() and day.isdigit() and 1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return ()
    short = f"{int(month):02}-{int(day):02}"
    return (f"{year}-{short}", short) if year else (short,)


def time_terms(hour: int, minute: int) -> tuple[str, ...]:
    """The terms of a time: as it is written, and as a clock with twelve hours has it."""
    if not (0 <= hour <= 24 and 0 <= minute <= 59):
        return ()
    return tuple(dict.fromkeys((f"{hour}:{minute:02}", f"{(hour - 1) % 12 + 1}:{minute:02}")))


def number_in(numeral: str) -> int:
    """The value of a numeral in digits or Chinese (Korean) signs: 三十, 一万二千, 十六."""
    if numeral.isdecimal():
        return int(numeral)
    total = section = digit = 0
    for sign in numeral:
        place = _PLACES.get(sign)
        if place is None:
            digit = digit * 10 + _VALUES[sign]
        elif place < 10_000:
            section, digit = section + (digit or 1) * place, 0
        else:
            total, section, digit = total + (section + digit or 1) * place, 0, 0
    return total + section + digit


def _terms(match: re.Match[str], half: str) -> tuple[str, ...]:
    """The terms of what was matched; `half`: the two characters before it, perhaps a half of the day."""
    found = match.groupdict(default="")
    if month := found["month"] or found["wol"]:
        number, day = number_in(month), number_in(found["day"] or found["il"])
        whole = day_terms(found["year"], str(number), str(day))
        return (*whole, _MONTHS[number - 1], str(day)) if whole else ()
    if weekday := found["weekday"] or found["yobi"] or found["yoil"]:
        return (_DAYS[weekday],)
    if hour := found["hour"]:
        return _time(number_in(hour), found, half)
    numeral = found["percent"] or found["number"]
    return () if numeral in _IDLE and not found["percent"] else (str(number_in(numeral)),)


def _time(hour: int, found: Mapping[str, str], half: str) -> tuple[str, ...]:
    minute = number_in(found["minute"]) if found["minute"] else 30 if found["thirty"] else 0
    later = half in _AFTERNOON and hour < 12
    return time_terms(hour + 12 if later else hour, minute)
