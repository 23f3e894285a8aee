"""Operations on journals, daily lines, page heads and routing rows (rules: memory_core.operations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_core import daily, journal
from memory_core.blocks import lines_of, newline_of
from memory_core.ids import PageId
from memory_core.index import Route, deprecate, with_route
from memory_core.layouts import Form, Priority


@dataclass(frozen=True, slots=True)
class AddNotes:
    """A flush's notes in the journal of one day; `at` and `offset` as in memory_core.journal."""

    page: PageId
    day: str
    offset: str
    at: str
    notes: tuple[journal.Note, ...]
    op: Literal["add_notes"] = "add_notes"

    def apply(self, text: str, form: Form) -> str:
        """The note with the lines that do not stand there yet."""
        return journal.append(text or journal.new_journal(self.day, self.offset), self.at, self.notes)

    def undo(self, before: str) -> DropNotes:
        """Without those that were not there before."""
        known = {(note.text, note.keys) for note in journal.parse(before).notes}
        return DropNotes(self.page, tuple(note for note in self.notes if (note.text, note.keys) not in known))


@dataclass(frozen=True, slots=True)
class DropNotes:
    """Lines leave a journal (only to undo)."""

    page: PageId
    notes: tuple[journal.Note, ...]
    op: Literal["drop_notes"] = "drop_notes"

    def apply(self, text: str, form: Form) -> str:
        """The note without the lines."""
        return journal.without(text, self.notes)

    def undo(self, before: str) -> AddNotes:
        """The lines again."""
        found = journal.parse(before)
        return AddNotes(self.page, found.day, found.offset, self.notes[0].at if self.notes else "", self.notes)


@dataclass(frozen=True, slots=True)
class AddPoints:
    """What a flush adds to the line of a day in daily-synced."""

    page: PageId
    day: str
    points: tuple[str, ...]
    op: Literal["add_points"] = "add_points"

    def apply(self, text: str, form: Form) -> str:
        """The page with the points on their day's line."""
        return daily.with_day(text, self.day, self.points)

    def undo(self, before: str) -> DropPoints:
        """Without those that were not there before."""
        known = {point for day in daily.parse(before) if day.day == self.day for point in day.points}
        return DropPoints(self.page, self.day, tuple(point for point in self.points if point not in known))


@dataclass(frozen=True, slots=True)
class DropPoints:
    """Points leave a day's line (only to undo)."""

    page: PageId
    day: str
    points: tuple[str, ...]
    op: Literal["drop_points"] = "drop_points"

    def apply(self, text: str, form: Form) -> str:
        """The page without the points."""
        return daily.without_points(text, self.day, self.points)

    def undo(self, before: str) -> AddPoints:
        """The points again."""
        return AddPoints(self.page, self.day, self.points)


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

    def undo(self, before: str) -> KillRoute:
        """The row marked as dead."""
        return KillRoute(self.page, self.target)


@dataclass(frozen=True, slots=True)
class KillRoute:
    """The routing rows of a page are marked as dead (only to undo)."""

    page: PageId
    target: PageId
    op: Literal["kill_route"] = "kill_route"

    def apply(self, text: str, form: Form) -> str:
        """The index with `[DEPRECATED]` before the page's rows."""
        return deprecate(text, self.target)

    def undo(self, before: str) -> KillRoute:
        """What is dead stays dead: a person revives a row."""
        return KillRoute(self.page, self.target)
