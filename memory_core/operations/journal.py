"""Operations on journals, and on the daily lines of a DM (the two rules they keep: memory_core.operations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_core.forms import daily, journal
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class AddNotes:
    """A flush's notes in the journal of one day; `at` and `offset` as in memory_core.forms.journal."""

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
    """Lines leave a journal."""

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
    """What a flush adds to the line of a day in daily-synced; `keys`: the messages of each point."""

    page: PageId
    day: str
    points: tuple[str, ...]
    keys: tuple[tuple[MessageKey, ...], ...] = ()
    op: Literal["add_points"] = "add_points"

    def apply(self, text: str, form: Form) -> str:
        """The page with the points on their day's line."""
        return daily.with_day(text, self.day, self.points, self.keys)

    def undo(self, before: str) -> DropPoints:
        """Without those that were not there before."""
        known = {point for day in daily.parse(before) if day.day == self.day for point in day.points}
        new = tuple(point for point in self.points if point not in known)
        return DropPoints(self.page, self.day, new, self.keys)


@dataclass(frozen=True, slots=True)
class DropPoints:
    """Points leave a day's line (only to undo)."""

    page: PageId
    day: str
    points: tuple[str, ...]
    keys: tuple[tuple[MessageKey, ...], ...] = ()
    op: Literal["drop_points"] = "drop_points"

    def apply(self, text: str, form: Form) -> str:
        """The page without the points."""
        return daily.without_points(text, self.day, self.points)

    def undo(self, before: str) -> AddPoints:
        """The points again."""
        return AddPoints(self.page, self.day, self.points, self.keys)
