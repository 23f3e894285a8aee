"""Where an index leads: its routing rows, and the files that it lists, as page ids of the layout's table.

A row's file becomes a page through the table; what the table does not list is no page, so that no row can point out
of the scope. Read are tables with or without header and pipes, and `words -> file` lines.

An index in another tool's form has no routing table and lists its files with search hints or recent entries instead
(`File | Lines | Last Updated | Search Hint`). What stands so in the authored part leads to the files that no routing
row names; what the bot lists between the markers is derived and leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memory_core.ids import PageId
from memory_core.index_edit import DEAD, Route
from memory_core.index_lines import Line, Part, cells, columns, is_alignment, paths_in
from memory_core.layouts import Form, PageRule, Priority, Table
from memory_core.script import fold

_BULLET = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)、]\s*)(.*)")
_ARROW = re.compile(r"\s*(?:->|=>|→|⇒)\s*")
_PRIORITY = re.compile(r"\W*p?([0-3])\b", re.IGNORECASE)
_NOT_ROUTED = {Form.STATE, Form.INDEX, Form.ARCHIVE}
_GROUP_FOLDER = re.compile(r"memory/groups/([^/]+)/")
_ROOTS = {"memory", "people", ".", "~"}
_FILE_NAMES = frozenset(map(fold, ("file", "files", "文件", "檔案", "ファイル", "datei")))
_HINT_NAMES = frozenset(
    map(fold, ("search hint", "search hints", "hint", "recent entries", "搜索提示", "检索提示", "最近条目", "关键词"))
)


def page_named(path: str, table: Table, group: str = "") -> PageId | None:
    """The page that a file name in a row means: `attention`, `conventions/api`, `memory/groups/x/project`, `USER`.

    Only what `table` lists; no state files; nothing that climbs out of the scope. `.md` is already dropped.
    """
    parts = path.split("/")
    if ".." in parts or not all(parts):
        return None
    for rule in table.rules:
        if rule.form not in _NOT_ROUTED and (page := _page_of_file(f"{path}.md", rule)):
            return page
    below = range(len(parts)) if fold(parts[0]) in _ROOTS | ({group} - {""}) else range(1)
    for at in below:
        rest = "/".join(parts[at:])
        for rule in table.rules:
            if rule.form in _NOT_ROUTED:
                continue
            if rule.name_in(PageId(rest)) is not None:
                return PageId(rest)
            if not rule.page.endswith("*") and fold(rest) == fold(rule.page):
                return rule.page
    return None


def page_asked(words: str, table: Table) -> PageId:
    """The page that a person means by `decisions`, `decisions.md`, `MEMORY.md`, `INDEX`; else the words as they are.

    It need not be a page of `table`: who opens it says so.
    """
    bare = re.sub(r"\.md$", "", words.strip(), flags=re.IGNORECASE)
    own = next((rule.page for rule in table.rules if fold(rule.page) == fold(bare)), None)
    return own or page_named(bare, table) or PageId(bare)


def _page_of_file(file: str, rule: PageRule) -> PageId | None:
    """The page id if `file` is `rule`'s file, whatever the group."""
    match = _pattern(rule.file).fullmatch(file)
    if match is None:
        return None
    page = PageId(rule.page.replace("*", match.groupdict().get("name") or ""))
    return page if rule.name_in(page) is not None else None


@cache
def _pattern(file: str) -> re.Pattern[str]:
    """What the files of a rule look like; there are as many as rules in the layouts."""
    named = re.escape(file).replace(r"\{group\}", "[^/]+").replace(r"\{name\}", "(?P<name>.+)")
    return re.compile(named)


def _struck(trigger: str) -> bool:
    return len(trigger) > 4 and trigger.startswith("~~") and trigger.endswith("~~")


class RouteReader:
    """Reads routing rows one after the other: a table with or without header and pipes, or `words -> file` lines."""

    def __init__(self, table: Table, group: str) -> None:
        self.routes: list[Route] = []
        self.problems: list[str] = []
        self._table = table
        self._group = group
        self._columns: dict[str, int] = {}

    def take(self, line: Line) -> None:
        """One line of the routing part."""
        if line.heading:
            self._columns = {}
        if not line.live:
            return
        row = cells(line.text)
        if not row:
            self._arrow(line.text)
        elif header := columns(row):
            self._columns = header
        elif not is_alignment(row) and any(row):
            self._row(row)

    def _row(self, row: Sequence[str]) -> None:
        at = self._columns if "file" in self._columns else self._guess(row)
        trigger, file, priority = (
            row[at[column]] if at.get(column, len(row)) < len(row) else ""
            for column in ("trigger", "file", "priority")
        )
        self._add(trigger, file, priority, dead=any(DEAD.search(cell) for cell in row) or _struck(trigger))

    def _arrow(self, text: str) -> None:
        bullet = _BULLET.fullmatch(text)
        parts = _ARROW.split(bullet[1] if bullet else text.strip())
        if len(parts) == 2 and all(parts):
            self._add(parts[0], parts[1], "", dead=bool(DEAD.search(text)) or _struck(parts[0]))

    def _guess(self, row: Sequence[str]) -> dict[str, int]:
        """The columns of a table without a header, told by what the cells hold."""
        at: dict[str, int] = {}
        for position, cell in enumerate(row):
            if "priority" not in at and _PRIORITY.fullmatch(cell):
                at["priority"] = position
            elif "file" not in at and any(page_named(path, self._table, self._group) for path in paths_in(cell)):
                at["file"] = position
        rest = [position for position in range(len(row)) if position not in at.values()]
        return at | {
            "trigger": rest[0] if rest else len(row),
            "file": at.get("file", rest[1] if len(rest) > 1 else 0),
        }

    def _add(self, trigger: str, file: str, priority: str, *, dead: bool) -> None:
        words = DEAD.sub("", trigger).strip()
        for path in paths_in(DEAD.sub("", file)):
            page = page_named(path, self._table, self._group)
            if page is None:
                self.problems.append(
                    f"The routing row {words[:60]!r} names {path[:60]!r}, which is no page of this memory."
                )
                continue
            if (other := _GROUP_FOLDER.match(fold(path))) and self._group and other[1] != self._group:
                self.problems.append(
                    f"The routing row {words[:60]!r} names another group's file; this group's own is used."
                )
            own = self._table.rule(page).priority
            given = _PRIORITY.match(priority)
            rank = Priority(int(given[1])) if given else Priority.P3 if own is None else own
            self.routes.append(Route(words, page, rank, dead))


def routes_of_files(lines: Sequence[Line], table: Table, group: str = "") -> tuple[Route, ...]:
    """What file tables in the authored part of an index lead to: each page once, at the layout's own priority."""
    found: dict[PageId, Route] = {}
    for file, hint in _listed(lines):
        for path in paths_in(DEAD.sub("", file).strip("~ ")):
            page = page_named(path, table, group)
            rule = table.rule(page) if page is not None else None
            if page is None or rule is None or rule.priority is None:
                continue
            dead = bool(DEAD.search(file)) or _struck(file)
            words = ", ".join(filter(None, (hint.strip("-–— "), *rule.triggers)))
            found.setdefault(page, Route(words or page, page, rule.priority, dead))
    return tuple(found.values())


def _listed(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """The file and the hint of each row of a file table."""
    at: tuple[int, int] | None = None
    for line in lines:
        row = cells(line.text) if line.part is Part.OTHER and line.live else []
        if not row:
            at = None
        elif header := _file_header(row):
            at = header
        elif at and not is_alignment(row) and len(row) > at[0]:
            yield row[at[0]], row[at[1]] if len(row) > at[1] else ""


def _file_header(row: Sequence[str]) -> tuple[int, int] | None:
    """Where the header of a file table has the file and the hint; None if it is no such header."""
    names = [fold(cell).strip(" *_`:：") for cell in row]
    file = next((at for at, name in enumerate(names) if name in _FILE_NAMES), None)
    hint = next((at for at, name in enumerate(names) if name in _HINT_NAMES), None)
    return None if file is None or hint is None else (file, hint)
