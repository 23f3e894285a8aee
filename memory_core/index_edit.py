"""Writing an index: new ones, and single lines added to or replaced in existing ones.

An edit inserts or replaces lines and leaves every other byte as it was, line ends included. What a person or a
platform gave (names, topics, purposes, rules, triggers) passes through `cell_text`, `rule_text` or `quoted`: it stays
one line, and can form no heading, row, key, fence, comment or mark of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_core.errors import BadInput
from memory_core.ids import PageId
from memory_core.index_lines import (
    CATALOGUE_END,
    CATALOGUE_START,
    DEPRECATED,
    Line,
    Part,
    cells,
    columns,
    is_alignment,
    key_form,
    key_of,
    newline_of,
    outline,
    paths_in,
)
from memory_core.layouts import IndexForm, PageRule, Priority, Table
from memory_core.text import counted, one_line

CATALOGUE_ROWS = 40
CATALOGUE_JOURNALS = 7
_TITLES = 3
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,60}")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+@ -]*(?<! )")
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
DEAD = re.compile(r"\[\s*(?:DEPRECATED|已废弃|已弃用|废弃|弃用|已廢棄|廃止)\s*\]", re.IGNORECASE)
"""The mark of a row that never routes; ours is `[DEPRECATED]`."""
_HEADER = ("| Trigger Scenario | Load File | Priority |", "|---|---|---|")
_BLOCK_MARKS = tuple("#>`~|+*=-\\")


@dataclass(frozen=True, slots=True)
class Route:
    """One routing row: messages about `trigger` load `page`. A deprecated row stays in the file and never routes."""

    trigger: str
    page: PageId
    priority: Priority
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """What the catalogue says of one page: its size, its last change, its latest titles and what to search it for."""

    page: PageId
    lines: int
    tokens: int
    changed: date
    titles: tuple[str, ...] = ()
    hint: str = ""


def cell_text(text: str, limit: int = 200) -> str:
    """`text` as the content of one table cell."""
    return _no_marks(one_line(text, limit)).replace("|", "\\|")


def rule_text(text: str, limit: int = 400) -> str:
    """`text` as the content of one bullet."""
    line = _no_marks(one_line(text, limit))
    return f"\\{line}" if line[:1] in _BLOCK_MARKS else line


def quoted(value: str, limit: int = 400) -> str:
    """`value` as a front matter value: plain where that is the same in YAML, else in double quotes."""
    line = one_line(value, limit)
    plain = _PLAIN_VALUE.fullmatch(line) and line.lower() not in _NOT_TEXT
    return line if plain else json.dumps(line, ensure_ascii=False)


def _no_marks(line: str) -> str:
    """Comments, deprecation marks and strike-through taken apart."""
    plain = line.replace("<!--", "&lt;!--").replace("-->", "--&gt;").replace("~~", "~")
    return DEAD.sub(lambda mark: f"({mark[0].strip('[]').strip()})", plain)


def new_index(
    table: Table,
    *,
    name: str,
    rooms: Sequence[str],
    purpose: str,
    created: date,
    zone: str,
    pages: Sequence[PageId] = (),
    form: IndexForm = IndexForm.ROUTES,
) -> str:
    """The text of a new index: every page that `table` routes to, and those of `pages` (found on disk) besides.

    `name` is the group's or project's name as people see it, `rooms` the room keys, `zone` a zone's name or offset.
    """
    title = "Memory Index" if form is IndexForm.FILES else f"Memory of {cell_text(name) or 'this room'}"
    is_group = any("{group}" in rule.file for rule in table.rules)
    front = [
        f"{'group_name' if is_group else 'name'}: {quoted(name)}",
        f"rooms: {_list(rooms)}",
        f"purpose: {quoted(purpose)}",
        "status: active",
        f"created: {created.isoformat()}",
        f"last_updated: {created.isoformat()}",
        f"timezone: {quoted(zone)}",
        f"memory_budget: {table.default_budget_tokens}",
    ]
    routes = [_row(first_route(rule, rule.page)) for rule in table.routed() if not rule.page.endswith("*")]
    known = {rule.page for rule in table.rules}
    routes += [_row(first_route(table.rule(page), page)) for page in pages if page not in known]
    body = [
        "---",
        *front,
        "---",
        "",
        f"# {title}",
        "",
        "## Hard Rules",
        "",
        "## Routing Index",
        "",
    ]
    return "\n".join([*body, *_HEADER, *routes, "", CATALOGUE_START, CATALOGUE_END, ""])


def first_route(rule: PageRule, page: PageId) -> Route:
    """The row that a new index gets for `page`: the layout's words, or the file's own name."""
    words = rule.triggers or (rule.name_in(page) or page,)
    return Route(", ".join(words), page, Priority.P3 if rule.priority is None else rule.priority)


def with_front(text: str, key: str, value: str) -> str:
    """`text` with one front matter value replaced or added; every other byte as it was.

    Raises BadInput for a key that is no plain word.
    """
    if not _KEY.fullmatch(key):
        raise BadInput(f"{key[:40]!r} is no front matter key; use letters, digits and `_`.")
    return _with_value(text, key, quoted(value))


def with_rooms(text: str, rooms: Sequence[str]) -> str:
    """`text` with the front matter's list of room keys replaced or added."""
    return _with_value(text, "rooms", _list(rooms))


def _with_value(text: str, key: str, value: str) -> str:
    lines = list(outline(text))
    newline = newline_of(text)
    front = [at for at, line in enumerate(lines) if line.part is Part.FRONT]
    if not front:
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{mark}---{newline}{key}: {value}{newline}---{newline}{text[len(mark) :]}"
    known = [at for at in front if lines[at].live and (key_of(lines[at].text) or ("",))[0] == key_form(key)]
    if known:
        first, end = known[-1], known[-1] + 1
        while end < len(lines) and lines[end].part is Part.FRONT and re.match(r"[ \t]+\S|- |-$", lines[end].text):
            end += 1
        kept = lines[first].text.split(":", 1)[0]
        lines[first:end] = [Line(f"{kept}: {value}", lines[end - 1].newline, Part.FRONT)]
        return _joined(lines)
    end = front[-1]
    opening = next(at for at in front if not lines[at].live)
    while end > opening and (not lines[end].live or not lines[end].text.strip()):
        end -= 1
    return _joined(_inserted(lines, end + 1, [f"{key}: {value}"], newline))


def with_rule(text: str, rule: str) -> str:
    """`text` with one more hard rule, at the end of its section; unchanged if the rule is there already or empty."""
    lines = list(outline(text))
    bullet = f"- {rule_text(rule)}"
    section = [at for at, line in enumerate(lines) if line.part is Part.RULES]
    if bullet == "- " or any(lines[at].text.strip() == bullet for at in section):
        return text
    written = [at for at in section if lines[at].live and lines[at].text.strip()]
    if written:
        return _joined(_inserted(lines, written[-1] + 1, [bullet], newline_of(text)))
    if section:
        return _joined(_inserted(lines, section[0] + 1, ["", bullet], newline_of(text)))
    at = next((at for at, line in enumerate(lines) if line.part in {Part.ROUTES, Part.CATALOGUE}), len(lines))
    new = [*_gap(lines, at), "## Hard Rules", "", bullet, *([""] if at < len(lines) else [])]
    return _joined(_inserted(lines, at, new, newline_of(text)))


def with_route(text: str, route: Route) -> str:
    """`text` with one more routing row, under the last one; unchanged if an equal row is there already."""
    lines = list(outline(text))
    section = [at for at, line in enumerate(lines) if line.part is Part.ROUTES]
    rows = [at for at in section if lines[at].live and cells(lines[at].text)]
    row = _row(route, _order(lines, rows))
    if any(lines[at].text.strip() == row for at in rows):
        return text
    if rows:
        return _joined(_inserted(lines, rows[-1] + 1, [row], newline_of(text)))
    if section:
        last = max((at for at in section if lines[at].text.strip()), default=section[0])
        return _joined(_inserted(lines, last + 1, ["", *_HEADER, row], newline_of(text)))
    at = next((at for at, line in enumerate(lines) if line.part is Part.CATALOGUE), len(lines))
    new = [*_gap(lines, at), "## Routing Index", "", *_HEADER, row, *([""] if at < len(lines) else [])]
    return _joined(_inserted(lines, at, new, newline_of(text)))


def deprecate(text: str, page: PageId) -> str:
    """`text` with every live row that names `page` marked `[DEPRECATED]`; rows are never removed."""
    out: list[str] = []
    for line in outline(text):
        named = line.part is Part.ROUTES and line.live and _names(line.text, page)
        if named and not DEAD.search(line.text):
            begin = re.match(r"\s*(?:[-*+]\s+|\|)?\s*", line.text)
            at = begin.end() if begin else 0
            out.append(f"{line.text[:at]}{DEPRECATED} {line.text[at:]}{line.newline}")
        else:
            out.append(line.whole)
    return "".join(out)


def with_catalogue(text: str, rows: Sequence[CatalogueRow], journals: Sequence[tuple[str, str]]) -> str:
    """`text` with its catalogue rebuilt: at most 40 pages, and the last seven journals (day, what happened)."""
    return with_block(text, _catalogue(rows, journals))


def with_block(text: str, block: Sequence[str]) -> str:
    """`text` with what stands between the two markers replaced by `block`, markers included.

    Without markers it is added at the end.
    """
    lines = list(outline(text))
    derived = [at for at, line in enumerate(lines) if line.part is Part.CATALOGUE]
    if not derived:
        return _joined(_inserted(lines, len(lines), [*_gap(lines, len(lines)), *block], newline_of(text)))
    end = derived[-1] + 1
    start = end - 1
    while start - 1 in derived and "remem:catalogue" not in lines[start].text.replace(CATALOGUE_END, ""):
        start -= 1
    newline = lines[start].newline or newline_of(text)
    fresh = [Line(line, newline, Part.CATALOGUE) for line in block]
    fresh[-1] = Line(block[-1], lines[end - 1].newline, Part.CATALOGUE)
    lines[start:end] = fresh
    return _joined(lines)


def _catalogue(rows: Sequence[CatalogueRow], journals: Sequence[tuple[str, str]]) -> list[str]:
    block = [CATALOGUE_START]
    if rows:
        block += [
            "## Catalogue",
            "",
            "| Page | Lines | Tokens | Changed | Latest | Search for |",
            "|---|---|---|---|---|---|",
        ]
        block += [_catalogue_row(row) for row in rows[:CATALOGUE_ROWS]]
        if len(rows) > CATALOGUE_ROWS:
            block += ["", f"{counted(len(rows) - CATALOGUE_ROWS, 'more page')}, not listed."]
    if journals:
        block += ["", "### Journals", ""]
        latest = sorted(journals, reverse=True)[:CATALOGUE_JOURNALS]
        block += [f"- {cell_text(day, 20)}: {cell_text(what)}" for day, what in latest]
    return [*block, CATALOGUE_END]


def _catalogue_row(row: CatalogueRow) -> str:
    titles = " · ".join(cell_text(title, 80) for title in row.titles[:_TITLES])
    facts = (
        cell_text(row.page),
        str(row.lines),
        str(row.tokens),
        row.changed.isoformat(),
        titles,
        cell_text(row.hint),
    )
    return f"| {' | '.join(facts)} |"


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(json.dumps(one_line(value), ensure_ascii=False) for value in values)}]"


def _row(route: Route, order: Sequence[str] = ("trigger", "file", "priority")) -> str:
    trigger = cell_text(route.trigger) or cell_text(route.page)
    content = {
        "trigger": f"{DEPRECATED} {trigger}" if route.deprecated else trigger,
        "file": cell_text(f"{route.page}.md"),
        "priority": route.priority.name,
    }
    return f"| {' | '.join(content.get(column, '') for column in order)} |"


def _order(lines: Sequence[Line], rows: Sequence[int]) -> tuple[str, ...]:
    """Which column holds what in the table whose last row is `rows[-1]`; the usual order without a header."""
    for at in reversed(rows):
        row = cells(lines[at].text)
        if found := columns(row):
            names = {position: column for column, position in found.items()}
            return tuple(names.get(position, "") for position in range(len(row)))
    return ("trigger", "file", "priority")


def _names(line: str, page: PageId) -> bool:
    """Whether a row (or an arrow line) has a cell that names `page`."""
    parts = cells(line) or re.split(r"->|=>|→", line)
    wanted = page.lower()
    paths = (path.lower() for cell in parts if not is_alignment([cell]) for path in paths_in(cell))
    return any(path == wanted or path.endswith(f"/{wanted}") for path in paths)


def _gap(lines: Sequence[Line], at: int) -> list[str]:
    """A blank line, if there is none before line `at`."""
    return [""] if at > 0 and lines[at - 1].text.strip() else []


def _inserted(lines: list[Line], at: int, new: Sequence[str], newline: str) -> list[Line]:
    """`lines` with `new` ones before line `at`; a last line without an end gets one."""
    before = lines[:at]
    if before and before[-1].newline == "\r" != newline:
        newline = "\r\n"  # a blank line's lone LF would melt into the CR before it
    if before and not before[-1].newline:
        before[-1] = replace(before[-1], newline=newline)
    return [*before, *(Line(text, newline, Part.OTHER) for text in new), *lines[at:]]


def _joined(lines: Sequence[Line]) -> str:
    return "".join(line.whole for line in lines)
