"""The index (L0): the only door into a scope's memory. Hard rules, routing rows, catalogue.

Reading is lenient, because people write this file by hand: a BOM, CRLF, blank lines before the front matter, front
matter that is no YAML, other column orders, missing outer pipes, Chinese headings are all read; what could not be
understood is told in `problems` and blocks nothing. Where it leads is read in index_routes.

Writing is in index_edit and index_files (offered here too): it adds and replaces lines and touches nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import lru_cache

from memory_core.index_edit import (
    CatalogueRow,
    Route,
    deprecate,
    first_route,
    new_index,
    with_catalogue,
    with_front,
    with_rooms,
    with_route,
    with_rule,
)
from memory_core.index_files import Conflict, Files, with_files
from memory_core.index_fit import within
from memory_core.index_lines import Line, Part, key_of, outline
from memory_core.index_routes import RouteReader, page_asked, page_named, routes_of_files
from memory_core.layouts import Table
from memory_core.script import fold
from memory_core.zone_names import zone_named

__all__ = [
    "CatalogueRow",
    "Conflict",
    "Files",
    "Index",
    "Route",
    "deprecate",
    "first_route",
    "new_index",
    "page_asked",
    "page_named",
    "parse",
    "with_catalogue",
    "with_files",
    "with_front",
    "with_rooms",
    "with_route",
    "with_rule",
    "within",
]

MINIMUM_BUDGET_TOKENS = 500
_HIGHEST_BUDGET_TOKENS = 10_000_000
_REMEMBERED_CHARACTERS = 8192
"""A longer index is taken apart each time: those of thousands of groups are kept."""
_BULLET = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)、]\s*)(.*)")


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
    """What the index `text` says, read leniently (see the top of this file). Never raises.

    Every message asks for it, and few change it: it is remembered by its text.
    """
    return _remembered(text, table) if len(text) <= _REMEMBERED_CHARACTERS else _parsed(text, table)


def _parsed(text: str, table: Table) -> Index:
    lines = outline(text)
    front, rooms, problems = _front([line for line in lines if line.part is Part.FRONT])
    if (
        not front
        and any(line.text.lstrip("\ufeff").rstrip() for line in lines[:1])
        and lines[0].text.startswith("---")
    ):
        problems.append("The file begins with a `---` line that opens no front matter; it is read as a rule line.")
    rules = tuple(_rules([line for line in lines if line.part is Part.RULES]))
    group = fold(front.get("group_name", ""))
    reader = RouteReader(table, group)
    for line in lines:
        if line.part is Part.ROUTES:
            reader.take(line)
    named = {route.page for route in reader.routes}
    listed = [route for route in routes_of_files(lines, table, group) if route.page not in named]
    index = Index(front, rooms, rules, (*reader.routes, *listed), (*problems, *reader.problems))
    zone = front.get("timezone", "")
    if zone and index.zone is None:
        unknown = f"timezone is {zone[:40]!r}, which is no known zone; the host's zone is used."
        index = Index(front, rooms, rules, index.routes, (*index.problems, unknown))
    return index


_remembered = lru_cache(maxsize=2048)(_parsed)


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
