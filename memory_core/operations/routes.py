"""Operations that make a new page reachable (the two rules they keep: memory_core.operations).

A page that the index routes to gets a row there; a convention, which no row opens, a line on the page that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_core.forms.blocks import lines_of, newline_of
from memory_core.ids import PageId
from memory_core.index import Route, deprecate, with_route
from memory_core.layouts import Form, Priority


@dataclass(frozen=True, slots=True)
class AddLine:
    """A line of ours before the first record of a page, to name a convention that only a named page opens."""

    page: PageId
    line: str
    op: Literal["add_line"] = "add_line"

    def apply(self, text: str, form: Form) -> str:
        """The page with the line under its title."""
        if any(line.text == self.line for line in lines_of(text)):
            return text
        newline = newline_of(text)
        head = next((line for line in lines_of(text) if line.text.startswith("# ") and not line.inert), None)
        if head is None:
            return f"{self.line}{newline}{newline}{text}"
        return f"{text[: head.end]}{newline}{newline}{self.line}{text[head.end :] or newline}"

    def undo(self, before: str) -> DropLine:
        """Without it."""
        return DropLine(self.page, self.line)


@dataclass(frozen=True, slots=True)
class DropLine:
    """That line leaves the page (only to undo)."""

    page: PageId
    line: str
    op: Literal["drop_line"] = "drop_line"

    def apply(self, text: str, form: Form) -> str:
        """The page without the line and the blank line after it."""
        newline = newline_of(text)
        for line in lines_of(text):
            if line.text == self.line:
                return text[: line.start] + text[line.end :].removeprefix(newline).removeprefix(newline)
        return text

    def undo(self, before: str) -> AddLine:
        """The line again."""
        return AddLine(self.page, self.line)


@dataclass(frozen=True, slots=True)
class AddRoute:
    """A routing row for a page that is new; the index is append-only for us, so its inverse marks it as dead."""

    page: PageId
    trigger: str
    target: PageId
    priority: int
    op: Literal["add_route"] = "add_route"

    def apply(self, text: str, form: Form) -> str:
        """The index with the row; a row that was marked as dead is not put again."""
        route = Route(self.trigger, self.target, Priority(self.priority))
        if with_route(text, Route(route.trigger, route.page, route.priority, deprecated=True)) == text:
            return text
        return with_route(text, route)

    def undo(self, before: str) -> DeprecateRoute:
        """The row marked as dead."""
        return DeprecateRoute(self.page, self.target)


@dataclass(frozen=True, slots=True)
class DeprecateRoute:
    """The routing rows of a page are marked as dead (only to undo)."""

    page: PageId
    target: PageId
    op: Literal["deprecate_route"] = "deprecate_route"

    def apply(self, text: str, form: Form) -> str:
        """The index with `[DEPRECATED]` before the page's rows."""
        return deprecate(text, self.target)

    def undo(self, before: str) -> DeprecateRoute:
        """What is dead stays dead: a person revives a row."""
        return DeprecateRoute(self.page, self.target)
