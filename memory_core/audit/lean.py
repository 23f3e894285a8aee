"""The discipline of a lean MEMORY.md: what lasts may stand there, in at most 50 lines; everything else has its page.

Allowed: identity, pointers to the owner and the environment, the table of projects (a line and a page each), where
things are. Forbidden are the themes of `cues.Theme`. Length is rated: up to 30 lines lean, 50 watch, 80 bloated,
beyond that an error.

Every statement is weighed for every forbidden theme: the forms in it (weights.py) and the heading that it stands
under. The heaviest theme wins if it reaches 2. A heading counts 2, so that a list under "Installed tools" needs no
cue; under a heading of lasting things (identity, environment) hints alone are not enough. A pointer to a page of the
memory (`projects/harbour.md`) may say in a few words what is there: its heading does not count and its cues count
half.

Not covered: a fact that is wrong or old; a forbidden text in a language other than English, Chinese and German,
unless its form (a date, a channel, a measurement) gives it away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memory_core.audit.cues import AGO, BIRTH, COMMANDS, DAY, HAPPENED, HEADINGS, MONTH, MONTH_NAME, Theme
from memory_core.audit.lines import Statement, statements
from memory_core.audit.weights import PROGRESS, WEIGHTS

LEAN_LINES, WATCH_LINES, BLOATED_LINES = 30, 50, 80

FORBIDDEN = (
    Theme.GROUP,
    Theme.RESULT,
    Theme.PROGRESS,
    Theme.TEMPORARY,
    Theme.DECISION,
    Theme.EVENT,
    Theme.TOOLS,
    Theme.DETAIL,
)
"""Of two equally heavy themes the earlier one wins."""

_ENOUGH = 2.0
_MOST_STATEMENTS = 2000
"""So many are weighed (a millisecond each); such a page is an error by its length alone."""
_WEIGHED_CHARACTERS = 400
"""So much of a statement is weighed: it says by then what it is about."""
POINTER = re.compile(
    r"(?:[\w{}<>~./-]*/)?(?:(?:projects|people|conventions|archive|memory)/[^\s,;，。；）)|]*|[\w{}<>-]+\.md)",
    re.IGNORECASE,
)
_IN_MEMORY = re.compile(r"(?:memory|projects|people|conventions)/|(?:USER|SOUL|MEMORY)\.md")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_POINTER_WORDS = 12
_SPLIT = re.compile(r"[,，、;；]|\band\b|\bund\b|和|以及|\s[|/]\s")
_HAVE = re.compile(
    r"\b(?:tools?|available|installed|at hand|on (?:my|the) path|installiert|verfügbar|vorhanden)\b"
    r"|装了|已安装|可用|安装了|都在 ?/",
    re.IGNORECASE,
)
_SHORT = 12
_PERIOD = re.compile(rf"\d|{MONTH_NAME}|week|quarter|year|woche|quartal|jahr", re.IGNORECASE)
_STATE = re.compile(r"\s(?:[—–]|--?)\s+([^—–]{3,40})$|[(（]([^)）]{3,40})[)）]\s*$")
_PARTS = re.compile(r"\s*(?:[&/+,，、·]|\band\b|\bund\b|与|和)\s*")
_LABEL = re.compile(r"[\s*_`]*([^:：]{2,40}?)[\s*_`]*[:：](?!//)[\s*_`]*\S")
_LABELLED = frozenset(set(Theme) - {Theme.DETAIL, Theme.PROJECTS, Theme.STABLE})
_NUMBERING = re.compile(r"^[\W\d_]+|[\s*_:：.。]+$")
_STATUS_COLUMN = re.compile(r"status|state|progress|next|stand|状态|进度|下一步", re.IGNORECASE)
_VERSION_COLUMN = re.compile(r"version|版本", re.IGNORECASE)
_GROUP_COLUMN = re.compile(r"room|channel|group|raum|kanal|gruppe|群", re.IGNORECASE)
_PAST = re.compile(r"\b[a-z]{3,}ed\b")
_ABOUT_ITSELF = re.compile(
    r"\bthis (?:file|page) (?:is|holds|keeps)\b|\bwhat (?:goes|belongs|does(?: not|n'?t) belong)\b|"
    r"\bwas (?:hier(?:her)? (?:nicht )?(?:hin|rein)?gehört|nicht hierher gehört)\b|(?:本|这个)文件|このファイル",
    re.IGNORECASE,
)
_START = re.compile(r"^(?:\W{0,3}(?:on|am|at|seit)?\W{0,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """A run of statements of one theme: first and last line, counted from 1."""

    theme: Theme
    line: int
    last_line: int


def told(text: str) -> tuple[Told, ...]:
    """The forbidden parts of a MEMORY.md, in order; neighbours of one theme are one. Never raises."""
    found: list[Told] = []
    before = 0
    dated = 0
    for position, whole in enumerate(statements(text)[:_MOST_STATEMENTS]):
        one = replace(whole, text=whole.text[:_WEIGHED_CHARACTERS])
        if one.level:
            dated = one.level if _is_dated(one.text) else 0 if one.level <= (dated or 7) else dated
        theme = _theme(one, under_a_day=bool(dated) and not one.level)
        if theme is None:
            continue
        last = found[-1] if found else None
        if last and last.theme is theme and before == position - 1 and (not one.level or theme is not Theme.EVENT):
            found[-1] = Told(theme, last.line, one.line)
        else:
            found.append(Told(theme, one.line, one.line))
        before = position
    return tuple(found)


@lru_cache(maxsize=512)
def theme_of_heading(title: str) -> Theme | None:
    """What a section of that name holds; None for a name that tells nothing.

    A state after a dash or in brackets is told first ("Shop website — parked", "Reader (planned)"); then the whole
    name is tried, then its parts ("Tools & CLIs"), then its last words ("Telegram groups").
    """
    if (state := _STATE.search(title)) and (theme := _named(state[1] or state[2])) in (
        Theme.PROGRESS,
        Theme.DECISION,
    ):
        return theme
    bare = re.sub(r"\s*[(（].*[)）]$", "", _NUMBERING.sub("", title).strip())
    names = [bare, *(_NUMBERING.sub("", part) for part in _PARTS.split(bare))]
    if (theme := next((theme for name in names if (theme := _named(name))), None)) is not None:
        return theme
    words = bare.split()
    if len(words) > 1 and _PERIOD.search(" ".join(words[1:])) and (theme := _named(words[0])) is not None:
        return theme  # "Numbers for May", "Incident 2026-05-12"
    ends = (" ".join(words[-count:]) for count in (3, 2, 1) if count < len(words))
    return next((theme for end in ends if (theme := _named(end)) not in (None, Theme.STABLE)), None)


def _named(name: str) -> Theme | None:
    """The theme whose headings have that name; a short Chinese one need only hold the word."""
    for theme, pattern in HEADINGS.items():
        if pattern.fullmatch(name):
            return theme
    if name.isascii() or len(name) > _SHORT:
        return None
    found = ((theme, pattern.search(name)) for theme, pattern in HEADINGS.items())
    return next((theme for theme, match in found if match and not match[0].isascii()), None)


def _theme(one: Statement, *, under_a_day: bool) -> Theme | None:
    """The forbidden theme of a statement, None for what may stay."""
    if one.level:
        return Theme.EVENT if _is_dated(one.text) else None
    if one.headings and _ABOUT_ITSELF.search(one.headings[-1]):
        return None  # "What does not belong here: to-dos, logs" names what is forbidden
    above = _section(one.headings)
    pointer = _is_pointer(one)
    weights = {theme: _weight(theme, one, above, pointer=pointer) for theme in FORBIDDEN}
    if under_a_day:
        weights[Theme.EVENT] += _ENOUGH + 1
    best = max(FORBIDDEN, key=lambda theme: weights[theme])
    needed = _ENOUGH + (0.5 if above is Theme.STABLE and not _explicit(best, one.text) else 0.0)
    return best if weights[best] >= needed else None


def _explicit(theme: Theme, text: str) -> bool:
    """Does one form alone say it, so that no hints had to be added up?"""
    return any(weight >= _ENOUGH and pattern.search(text) for weight, pattern in WEIGHTS.get(theme, ()))


@lru_cache(maxsize=256)
def _section(headings: Sequence[str]) -> Theme | None:
    """The theme of the nearest heading that tells one; below a heading of projects every other one is a project."""
    for depth, title in reversed(tuple(enumerate(headings))):
        if (theme := theme_of_heading(title)) is not None:
            if theme is Theme.PROJECTS and depth < len(headings) - 1:
                return Theme.DETAIL
            return theme
    return None


def _weight(theme: Theme, one: Statement, above: Theme | None, *, pointer: bool) -> float:
    """How much speaks for that theme."""
    weight = float(_form(theme, one))
    if pointer:
        # A concrete group is named by the very path that points to it.
        return weight if theme is Theme.GROUP else weight / 2
    told_above = above is theme or _label(one) is theme
    if told_above and not _explains(one) and (theme is not Theme.RESULT or re.search(r"\d", one.text)):
        weight += _ENOUGH
    return weight


def _label(one: Statement) -> Theme | None:
    """The theme of a label before the text (`**In the works:** …`), which is a heading in one line."""
    label = _LABEL.match(one.text)
    theme = theme_of_heading(label[1]) if label else None
    return theme if theme in _LABELLED else None


def _form(theme: Theme, one: Statement) -> float:
    """What the statement itself says, without its heading."""
    match theme:
        case Theme.EVENT:
            return _event(one.text)
        case Theme.TOOLS:
            return _tools(one)
        case Theme.DETAIL:
            return _detail(one)
        case Theme.PROGRESS:
            column = 2.0 if one.row and any(map(_STATUS_COLUMN.fullmatch, one.columns)) else 0.0
            hints = {hint for weight, cue in PROGRESS if weight == 1 for hint in cue.findall(one.text)}
            signs = (2.0 if one.box else 0.0) + (1.0 if one.marked else 0.0)
            return column + signs + _cues(theme, one.text) + (1.0 if len(hints) > 1 else 0.0)
        case Theme.GROUP:
            column = 1.0 if one.row and any(map(_GROUP_COLUMN.fullmatch, one.columns)) else 0.0
            return column + _cues(theme, one.text)
        case Theme.RESULT:
            return _cues(theme, one.text) if re.search(r"\d", one.text) else 0.0
        case _:
            return _cues(theme, one.text)


def _cues(theme: Theme, text: str) -> float:
    return float(sum(weight for weight, pattern in WEIGHTS[theme] if pattern.search(text)))


def _event(text: str) -> float:
    """A day at the start, or one beside a verb of the past; a date of birth is a lasting fact."""
    if BIRTH.search(text) and not _starts_with_day(text):
        return 0.0
    if _starts_with_day(text):
        return 3.0
    happened = 1.0 if HAPPENED.search(text) or _PAST.search(text) else 0.0
    if AGO.search(text):
        return 2.0 + happened
    if DAY.search(text) or MONTH.search(text):
        return 1.0 + 1.5 * happened
    return 0.0


def _is_dated(heading: str) -> bool:
    """Is it the heading of a day, or of what happened on one?"""
    return _starts_with_day(heading) or bool(DAY.search(heading) and theme_of_heading(heading) is Theme.EVENT)


def _starts_with_day(text: str) -> bool:
    return DAY.match(_START.sub("", text.replace("[", "").replace("*", ""), count=1)) is not None


def _tools(one: Statement) -> float:
    """A list of programs: three names that `command -v` knows, or a list that says that it is installed."""
    parts = [part.strip(" .。`*") for part in _SPLIT.split(re.sub(r"^.*?[:：]", "", one.text))]
    parts = [part for part in parts if part]
    known = {word for word in re.findall(r"[a-z0-9][\w.+-]*", one.text.lower()) if word in COMMANDS}
    have = bool(_HAVE.search(one.text))
    version = 2.0 if one.row and any(map(_VERSION_COLUMN.fullmatch, one.columns)) else 0.0
    if len(known) >= 3 and len(known) >= len(parts) / 2:
        return 3.0 if have or len(known) >= 4 else 2.0
    return version + (2.0 if have and len(parts) >= 3 and known else 0.0)


def _detail(one: Statement) -> float:
    """How one project is made: two technical hints; under a project, what points to no page needs fewer."""
    above = _section(one.headings)
    inside = above in (Theme.PROJECTS, Theme.DETAIL)
    weight = _cues(Theme.DETAIL, one.text)
    if not inside:
        project_row = one.row and any(re.fullmatch(r"projects?|projekte?|项目", column) for column in one.columns)
        return weight + (1.0 if project_row else 0.0) - (0.0 if above is None else 0.5)
    if one.depth and above is Theme.PROJECTS:
        weight += 2.0
    return weight + 0.5


def _is_pointer(one: Statement) -> bool:
    """Does it lead to a page of the memory, with a few words about it?"""
    text = _LINK.sub(lambda link: f"{link[1]} {link[0][len(link[1]) + 3 : -1]}", one.text)
    rest, pointers = POINTER.subn(" ", text)
    if _section(one.headings) is Theme.DETAIL and not _IN_MEMORY.search(text):
        return False  # a project's own documents
    words = len(re.findall(r"[^\W_一-鿿]+", rest)) + len(re.findall(r"[一-鿿]", rest)) // 2
    return words <= _POINTER_WORDS * pointers


def _explains(one: Statement) -> bool:
    """A sentence about the section itself: it ends with a colon, or says that there is nothing."""
    return one.text.endswith((":", "：")) or one.text.strip("()（）.。-–— ").lower() in {
        "none",
        "none yet",
        "无",
        "keine",
        "n/a",
        "tbd",
    }
