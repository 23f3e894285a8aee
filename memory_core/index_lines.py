"""The lines of an index, each with the part of the file that it belongs to.

    FRONT      front matter: from a first `---` line to the next, or as far as `key: value` lines go
    RULES      under `## Hard Rules` (also 硬规则, …)
    ROUTES     under `## Routing Index` (also 路由索引, …), and any table whose header names a trigger and a file
    CATALOGUE  between the two marker comments: derived, never authored
    OTHER      everything else

A deeper heading stays in the part it stands in; another of the same level ends it. What stands in a code fence or a
comment is never a rule or a route. The lines joined are the text again, byte for byte: editing an index is
inserting or replacing single lines, so that hand-made Markdown survives. This file knows Markdown, and no layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from memory_core.forms import blocks
from memory_core.script import fold

CATALOGUE_START = "<!-- remem:catalogue: rebuilt by remem, what is written here does not last -->"
CATALOGUE_END = "<!-- /remem:catalogue -->"
DEPRECATED = "[DEPRECATED]"

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_START = re.compile(r"\s*<!--\s*remem:catalogue\b.*-->\s*")
_END = re.compile(r"\s*<!--\s*/remem:catalogue\s*-->\s*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KEY = re.compile(r"([^\W\d][\w .\-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?[ \t]*")
_INSIDE_FRONT = re.compile(r"[ \t]*(?:$|#(?!#)|- |-$)|[ \t]+\S")
_PIPE = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-{1,}:?")
_LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)>\s]+)>?[^)]*\)")
_WIKI_LINK = re.compile(r"\[\[([^\]|]+)(?:\|[^\]]*)?\]\]")
_NUMBERING = re.compile(r"^(?:[\W\d]|[一二三四五六七八九十]+[、.])+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

_RULES_TEXT = """hard rules|hard rule|rules|group rules|硬规则|硬性规则|规则|铁律|群规|硬規則|規則|ハードルール|
絶対ルール|ルール|feste regeln|harte regeln|regeln"""
_ROUTES_TEXT = """routing index|routing-index|routing table|routing|routes|路由索引|路由表|路由|路由規則|路由规则|
ルーティング|ルーティング索引|ルーティング表|wegweiser|routing-tabelle"""
_COLUMNS = {
    "trigger": """trigger scenario|trigger|triggers|scenario|when|topic|intent|触发场景|触发|触发词|场景|
关键词|觸發場景|トリガー|場面|auslöser|thema|wann""",
    "file": """load file|file|files|load|page|target|加载文件|文件|加载|页面|載入檔案|檔案|ファイル|
読み込むファイル|datei|seite""",
    "priority": "priority|prio|level|优先级|优先|優先級|優先度|priorität",
}


def _names(text: str) -> list[str]:
    return [fold(name) for name in text.replace("\n", "").split("|")]


_RULES = frozenset(_names(_RULES_TEXT))
_ROUTES = frozenset(_names(_ROUTES_TEXT))
_COLUMN_NAMES = {name: column for column, names in _COLUMNS.items() for name in _names(names)}


class Part(StrEnum):
    """The part of an index that a line belongs to."""

    FRONT = "front"
    RULES = "rules"
    ROUTES = "routes"
    CATALOGUE = "catalogue"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its text, its line end, its part. `live` is False for headings, and for fences, comments and what is
    in them."""

    text: str
    newline: str
    part: Part
    live: bool = True
    heading: int = 0

    @property
    def whole(self) -> str:
        """The line with its end, as it stands in the file."""
        return self.text + self.newline


def newline_of(text: str) -> str:
    """The line end that an index uses: CRLF if its first line does, CR where there is no other, else LF."""
    return "\r" if "\r" in text and "\n" not in text else blocks.newline_of(text)


@lru_cache(maxsize=128)
def outline(text: str) -> tuple[Line, ...]:
    """The lines of `text`; their `whole` joined is `text`. Never raises. Remembered: most are as they were."""
    raw = [(match[1], match[2]) for match in _LINE.finditer(text) if match.group()]
    front = _front_length([line for line, _ in raw])
    derived = _catalogue([line for line, _ in raw])
    walk = _Walk([line for line, _ in raw])
    lines: list[Line] = []
    for at, (line, end) in enumerate(raw):
        if at < front:
            lines.append(Line(line, end, Part.FRONT, live=line.lstrip("\ufeff").rstrip() not in {"---", "..."}))
        elif at in derived:
            lines.append(Line(line, end, Part.CATALOGUE, live=False))
        else:
            lines.append(walk.take(at, line, end))
    return tuple(lines)


class _Walk:
    """Where we are in the body: which part, and up to which line a fence or comment reaches. What is never closed is
    taken for plain text, so that one stray mark cannot hide the rest of the index."""

    def __init__(self, raw: Sequence[str]) -> None:
        self._raw = raw
        self._part = Part.OTHER
        self._level = 0
        self._closed_until = -1
        self._unclosed: set[str] = set()
        self._loose_table = False

    def take(self, at: int, line: str, end: str) -> Line:
        """Line number `at` with its part."""
        if at <= self._closed_until:
            return Line(line, end, self._part, live=False)
        if fence := _FENCE.match(line):
            self._closed_until = self._find(at, fence[1], lambda later: _closes(later, fence[1]))
            return Line(line, end, self._part, live=False)
        rest = _COMMENT.sub("", line) if "<!--" in line else line
        if "<!--" in rest:
            self._closed_until = self._find(at, "<!--", lambda later: "-->" in later)
            if self._closed_until > at:
                return Line(line, end, self._part, live=False)
        if heading := _HEADING.fullmatch(line):
            return self._headed(line, end, len(heading[1]), heading[2] or "")
        if self._loose_table and "|" not in line:
            self._loose_table, self._part = False, Part.OTHER
        elif self._part is Part.OTHER and {"trigger", "file"} <= columns(cells(line)).keys():
            self._loose_table, self._part = True, Part.ROUTES
        return Line(line, end, self._part, live=bool(rest.strip()))

    def _find(self, at: int, mark: str, closes: Callable[[str], bool]) -> int:
        """The next line after `at` that closes `mark`; `at` itself if none does, which is looked for once."""
        if mark in self._unclosed:
            return at
        found = next((later for later in range(at + 1, len(self._raw)) if closes(self._raw[later])), at)
        if found == at:
            self._unclosed.add(mark)
        return found

    def _headed(self, line: str, end: str, level: int, title: str) -> Line:
        named = part_named(title, exact=level == 1)
        if named or level <= self._level or self._part is Part.OTHER or self._loose_table:
            self._part, self._level, self._loose_table = named or Part.OTHER, level, False
        return Line(line, end, self._part, live=False, heading=level)


def _closes(line: str, fence: str) -> bool:
    """Whether `line` is the closing fence of `fence`."""
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def part_named(title: str, *, exact: bool = False) -> Part | None:
    """The part that a heading opens, if it is one of ours in any of the languages we read.

    `exact`: the name stands alone (for the file's title, which holds the group's name and must not open a part).
    """
    if exact:
        whole = fold(title).strip()
        return Part.RULES if whole in _RULES else Part.ROUTES if whole in _ROUTES else None
    names = {name.strip(" *_:：.。\t") for name in re.split(r"[/|(（:：—–]", _NUMBERING.sub("", fold(title)))}
    if names & _RULES:
        return Part.RULES
    return Part.ROUTES if names & _ROUTES else None


def cells(line: str) -> list[str]:
    """The cells of a table row, with or without outer pipes; an empty list for a line that is no row."""
    if "|" not in line:
        return []
    row = _COMMENT.sub("", line).strip()
    found = _PIPE.split(row)
    if len(found) < 2:
        return []
    if row.startswith("|"):
        found = found[1:]
    if found and not found[-1].strip() and row.endswith("|"):
        found = found[:-1]
    return [cell.strip().replace("\\|", "|") for cell in found]


def is_alignment(row: Sequence[str]) -> bool:
    """Whether a row is the `|---|:--:|` line under a header."""
    return bool(row) and all(_DASHES.fullmatch(cell) for cell in row)


def columns(row: Sequence[str]) -> dict[str, int]:
    """Which cell of a header row holds the trigger, the file and the priority; empty if it is no such header."""
    found: dict[str, int] = {}
    for at, cell in enumerate(row):
        name = fold(cell).strip(" *_`:：")
        if name in _COLUMN_NAMES:
            found.setdefault(_COLUMN_NAMES[name], at)
    return found if len(found) >= 2 else {}


def key_of(line: str) -> tuple[str, str] | None:
    """Key (normalised) and raw value of a front matter line; None if it is none."""
    match = _KEY.fullmatch(line.rstrip())
    return (key_form(match[1]), (match[2] or "").strip()) if match else None


def key_form(key: str) -> str:
    """`Memory-Budget` as `memory_budget`."""
    return re.sub(r"[\s\-]+", "_", key.strip()).lower()


def _front_length(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, blank lines and a BOM before it included; 0 if there is none."""
    first = next((at for at, line in enumerate(lines) if line.strip("\ufeff \t")), None)
    if first is None or lines[first].lstrip("\ufeff").rstrip() != "---":
        return 0
    keys = 0
    for at in range(first + 1, len(lines)):
        line = lines[at].rstrip()
        if line in {"---", "..."}:
            return at + 1 if keys or at == first + 1 else 0
        if key_of(line) and not line.startswith("|"):
            keys += 1
        elif not keys and not line.startswith("#"):
            return 0
        elif (not line or not _INSIDE_FRONT.match(line)) and _begins_body(lines[at:]):
            return at if keys else 0
    return len(lines) if keys else 0


def _begins_body(rest: Sequence[str]) -> bool:
    """Whether a heading or table comes before any closing `---`: the front matter was never closed."""
    for line in rest:
        if line.rstrip() in {"---", "..."}:
            return False
        if _HEADING.fullmatch(line) or cells(line):
            return True
    return True


def _catalogue(lines: Sequence[str]) -> frozenset[int]:
    """The lines of catalogue blocks, markers included. A block is an end marker and the last start marker before it,
    so that a lost marker never makes authored lines look derived."""
    found: set[int] = set()
    start: int | None = None
    for at, line in enumerate(lines):
        if _START.fullmatch(line):
            start = at
        elif _END.fullmatch(line) and start is not None:
            found.update(range(start, at + 1))
            start = None
    return frozenset(found)


def paths_in(cell: str) -> tuple[str, ...]:
    """The files that a cell names, `.md` dropped: `attention.md`, in backticks, as a link, several with commas."""
    plain = _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", cell)).replace("\\", "/")
    parts = (part.strip(" \t`*_\"'<>()[]") for part in re.split(r"[,;+、，；&]|\s和\s|\sand\s|<br\s*/?>", plain))
    paths = (re.sub(r"^(?:\./|/)+|\.md(?:#.*)?$", "", part, flags=re.IGNORECASE) for part in parts)
    return tuple(path for path in paths if path)
