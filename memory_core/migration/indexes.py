"""An index with another table's rows. What a person wrote stays: front matter, hard rules, headings, text.

    a row of the old layout's own words       goes where its page goes; the new layout's rows are added
    a row that a person wrote                 leads to the page that takes its page's place; without one it is
                                              marked [DEPRECATED] and stays
    a row whose page the new layout has       stays as it is

The catalogue between the markers is derived; who writes the index has it made anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from memory_core.ids import PageId
from memory_core.index import Route, first_route, parse, with_route
from memory_core.index_edit import DEAD, cell_text
from memory_core.index_lines import DEPRECATED, Line, Part, outline
from memory_core.index_routes import RouteReader
from memory_core.layouts import IndexForm, Layout, PageRule, Priority, Table
from memory_core.migration.homes import rule_of
from memory_core.script import fold

_BEGIN = re.compile(r"\s*(?:[-*+]\s+|\|)?\s*")


@dataclass(frozen=True, slots=True)
class Tables:
    """From which layout to which, for one kind of scope."""

    old_layout: Layout
    new_layout: Layout
    old: Table
    new: Table


@dataclass(frozen=True, slots=True)
class Heirs:
    """Does a page stay what it is, and if not, which page takes its place (None: none)?"""

    stays: Callable[[PageId], bool]
    of: Callable[[PageId], PageId | None]


def moved_index(
    text: str, tables: Tables, name: str, heirs: Heirs, pages: Collection[PageId]
) -> tuple[str, tuple[str, ...]]:
    """The index as it leads through the new layout, and what is to say of rows that a person wrote.

    `name` is the index's title word, `pages` are those that will exist.
    """
    old = tables.old
    reader = RouteReader(old, fold(parse(text, old).front.get("group_name", "")))
    kept: list[str] = []
    authored: list[Route] = []
    told: list[str] = []
    for line in outline(_titled(text, tables, name)):
        before = len(reader.routes)
        if line.part is Part.ROUTES:
            reader.take(line)
        routes = reader.routes[before:]
        if routes and all(_own(rule_of(old, route.page), route) for route in routes):
            continue
        if not routes or all(heirs.stays(route.page) for route in routes):
            kept.append(line.whole)
        else:
            found = [replace(route, page=to) for route in routes if (to := heirs.of(route.page))]
            authored += found
            told += [f"the row {one.trigger[:60]!r} leads to {one.page} now" for one in found]
            if not found:
                kept.append(_dead(line))
                told.append(
                    f"the row {routes[0].trigger[:60]!r} is marked [DEPRECATED]: {routes[0].page} has no heir"
                )
    text = "".join(kept)
    for route in authored:
        rule = rule_of(tables.new, route.page)
        text = with_route(text, replace(route, priority=_priority(rule)))
    return _with_rows(text, tables.new, pages), tuple(told)


def _with_rows(text: str, table: Table, pages: Collection[PageId]) -> str:
    """The index with a row for each page that the layout routes to and that no row leads to."""
    starred = [page for page in sorted(pages) if (rule := rule_of(table, page)) and rule.page != page]
    for page in [*(rule.page for rule in table.routed() if not rule.page.endswith("*")), *starred]:
        rule = rule_of(table, page)
        if rule is None or rule.priority is None or any(one.page == page for one in parse(text, table).routes):
            continue
        text = with_route(text, first_route(rule, page))
    return text


def _own(rule: PageRule | None, route: Route) -> bool:
    """Is it the row that a new index, or a flush, has for the page?"""
    if rule is None:
        return False
    words = {
        ", ".join(rule.triggers),
        rule.name_in(route.page) or "",
        (rule.name_in(route.page) or "").replace("-", " "),
    }
    return fold(route.trigger) in {fold(one) for one in words if one}


def _dead(line: Line) -> str:
    if DEAD.search(line.text):
        return line.whole
    begin = _BEGIN.match(line.text)
    at = begin.end() if begin else 0
    return f"{line.text[:at]}{DEPRECATED} {line.text[at:]}{line.newline}"


def _priority(rule: PageRule | None) -> Priority:
    return Priority.P3 if rule is None or rule.priority is None else rule.priority


def _titled(text: str, tables: Tables, name: str) -> str:
    """The index with the new layout's title, where the old layout's stands as it was made."""
    old, new = (_title(layout.index_form, name) for layout in (tables.old_layout, tables.new_layout))
    lines = list(outline(text))
    for at, line in enumerate(lines):
        if line.heading == 1 and line.text.rstrip() == old:
            lines[at] = replace(line, text=new)
            return "".join(one.whole for one in lines)
    return text


def _title(form: IndexForm, name: str) -> str:
    return "# Memory Index" if form is IndexForm.FILES else f"# Memory of {cell_text(name) or 'this room'}"
