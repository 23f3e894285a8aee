"""The index (L0): the only door into a scope's memory. Hard rules, routing rows, catalogue.

Reading is lenient, because people write this file by hand: a BOM, CRLF, blank lines before the front matter, front
matter that is no YAML, other column orders, missing outer pipes, Chinese headings are all read; what could not be
understood is told in `problems` and blocks nothing. A routing row's file becomes a page id through the layout's
table; what the table does not list is no page, so that no row can point out of the scope.

Writing is in index_edit (offered here too): it adds and replaces lines and touches nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from memory_core.ids import PageId
from memory_core.index_edit import (
    DEAD,
    CatalogueRow,
    Route,
    deprecate,
    new_index,
    with_catalogue,
    with_front,
    with_rooms,
    with_route,
    with_rule,
)
from memory_core.index_fit import within
from memory_core.index_lines import Line, Part, cells, columns, is_alignment, key_of, outline, paths_in
from memory_core.layouts import Form, PageRule, Priority, Table
from memory_core.script import fold
from memory_core.zone_names import zone_named

__all__ = [
    "CatalogueRow",
    "Index",
    "Route",
    "deprecate",
    "new_index",
    "page_named",
    "parse",
    "with_catalogue",
    "with_front",
    "with_rooms",
    "with_route",
    "with_rule",
    "within",
]

MINIMUM_BUDGET_TOKENS = 500
_HIGHEST_BUDGET_TOKENS = 10_000_000
_BULLET = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)、]\s*)(.*)")
_ARROW = re.compile(r"\s*(?:->|=>|→|⇒)\s*")
_PRIORITY = re.compile(r"\W*p?([0-3])\b", re.IGNORECASE)
_NOT_ROUTED = {Form.STATE, Form.INDEX, Form.ARCHIVE}
_GROUP_FOLDER = re.compile(r"memory/groups/([^/]+)/")
_ROOTS = {"memory", "people", ".", "~"}


@dataclass(frozen=True, slots=True)
class Index:
    """What an index says. `front` has keys like `memory_budget` (lower case, `_`) and values as text; `problems` are
    sentences about what could not be read."""

    front: Mapping[str, str] = field(default_factory=dict)
    rooms: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def purpose(self) -> str:
        """What the group is for; empty if nobody has said."""
        return self.front.get("purpose", "")

    @property
    def status(self) -> str:
        """`active` unless the file says otherwise."""
        return self.front.get("status", "") or "active"

    @property
    def zone(self) -> tzinfo | None:
        """The scope's time zone; None if none is set or it is unknown (the host's is used then)."""
        return zone_named(self.front.get("timezone", ""))

    def budget(self, default: int) -> tuple[int, str]:
        """The budget in tokens, and a warning if the file's own value is not used as it stands (else empty)."""
        written = self.front.get("memory_budget", "")
        if not written:
            return default, ""
        number = re.match(r"(\d{1,3}(?:[,_]\d{3})+|\d+)\s*(?:tokens?)?\s*(?:#.*)?$", written)
        tokens = int(re.sub(r"[,_]", "", number[1])[:12]) if number else 0
        if not 0 < tokens <= _HIGHEST_BUDGET_TOKENS:
            return default, (
                f"memory_budget is {written[:40]!r}; it must be a whole number of tokens, at least "
                f"{MINIMUM_BUDGET_TOKENS}. {default} is used."
            )
        if tokens < MINIMUM_BUDGET_TOKENS:
            return MINIMUM_BUDGET_TOKENS, (
                f"memory_budget is {tokens}; the minimum is {MINIMUM_BUDGET_TOKENS} tokens, which is used."
            )
        return tokens, ""


def parse(text: str, table: Table) -> Index:
    """What the index `text` says, read leniently (see the top of this file). Never raises."""
    lines = outline(text)
    front, rooms, problems = _front([line for line in lines if line.part is Part.FRONT])
    if (
        not front
        and any(line.text.lstrip("\ufeff").rstrip() for line in lines[:1])
        and lines[0].text.startswith("---")
    ):
        problems.append("The file begins with a `---` line that opens no front matter; it is read as a rule line.")
    rules = tuple(_rules([line for line in lines if line.part is Part.RULES]))
    reader = _Routes(table, fold(front.get("group_name", "")))
    for line in lines:
        if line.part is Part.ROUTES:
            reader.take(line)
    index = Index(front, rooms, rules, tuple(reader.routes), (*problems, *reader.problems))
    zone = front.get("timezone", "")
    if zone and index.zone is None:
        unknown = f"timezone is {zone[:40]!r}, which is no known zone; the host's zone is used."
        index = Index(front, rooms, rules, index.routes, (*index.problems, unknown))
    return index


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


def _page_of_file(file: str, rule: PageRule) -> PageId | None:
    """The page id if `file` is `rule`'s file, whatever the group."""
    pattern = re.escape(rule.file).replace(r"\{group\}", "[^/]+").replace(r"\{name\}", "(?P<name>.+)")
    match = re.fullmatch(pattern, file)
    if match is None:
        return None
    page = PageId(rule.page.replace("*", match.groupdict().get("name") or ""))
    return page if rule.name_in(page) is not None else None


def _front(lines: Sequence[Line]) -> tuple[dict[str, str], tuple[str, ...], list[str]]:
    """The front matter's values, its rooms, and what is wrong with it."""
    values: dict[str, list[str]] = {}
    problems: list[str] = []
    current: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.text.lstrip("\ufeff")
        if not line.live or not text.strip() or text.startswith("#"):
            continue
        found = None if text[0] in " \t-" else key_of(text)
        if found:
            key, value = found
            if key in values:
                problems.append(f"Front matter, line {number}: `{key}` stands there twice; the last one counts.")
            if trouble := _trouble(value):
                problems.append(
                    f"Front matter, line {number}: the value of `{key}` {trouble}; it is read as it stands."
                )
            current = values[key] = [] if value in {"|", ">", "|-", ">-", ""} else [value]
        elif text[0] in " \t" or text.startswith("-"):
            current.append(text.strip())
        else:
            problems.append(f"Front matter, line {number} is no `key: value` line; it is left out.")
    if lines and values and lines[-1].live:
        problems.append("The front matter is not closed by a `---` line.")
    rooms = tuple(_items(values.get("rooms", [])))
    return {key: _value(parts) for key, parts in values.items()}, rooms, problems


def _trouble(value: str) -> str:
    """Why a YAML reader would choke on `value`; empty if it would not."""
    if value[:1] in {'"', "'"}:
        return (
            "" if len(value) > 1 and value.rstrip().endswith(value[0]) else "begins with a quote that is never closed"
        )
    if re.search(r":(?:\s|$)", value):
        return "holds a colon and should stand in quotes"
    if (
        value[:1] in set("*&!%@`")
        or (value[:1] == "[" and "]" not in value)
        or (value[:1] == "{" and "}" not in value)
    ):
        return f"begins with `{value[0]}` and should stand in quotes"
    return ""


def _items(parts: Sequence[str]) -> Iterator[str]:
    """The items of a list value, written in one line or one per line."""
    for part in parts:
        text = re.sub(r"^-\s*", "", part).strip()
        inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        for item in re.findall(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^,]+', inner):
            if bare := _unquoted(item.strip()):
                yield bare


def _value(parts: Sequence[str]) -> str:
    if any(re.match(r"-(?:\s|$)", part) for part in parts):
        return ", ".join(_items(parts))
    return _unquoted(" ".join(parts).strip())


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value[1:-1]
    return value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value


def _rules(lines: Sequence[Line]) -> list[str]:
    """The hard rules: one per bullet, an indented line continues it; a plain line is a rule of its own."""
    rules: list[str] = []
    for line in lines:
        text = re.sub(r"<!--.*?-->", "", line.text).rstrip()
        if not line.live or not text.strip():
            continue
        bullet = _BULLET.fullmatch(text)
        if bullet is None and text[0] in " \t" and rules:
            rules[-1] = f"{rules[-1]} {text.strip()}"
        elif rule := (bullet[1] if bullet else text).strip():
            rules.append(re.sub(r"^\\(?=[#>`~|+*=\-\\])", "", rule))
    return rules


def _struck(trigger: str) -> bool:
    return len(trigger) > 4 and trigger.startswith("~~") and trigger.endswith("~~")


class _Routes:
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
