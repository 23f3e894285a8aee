"""What is taken back in journals: every statement has a line there, and some have no other place until sleep comes.

A journal is append-only. A line of ours that a new statement corrects or opposes ("we no longer use X") is marked
([absorbed]): sleep passes it over, and nothing of it is disclosed any more (memory_core.forms.units). One that the
same draft was about to write is not written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from memory_core.flush.bars import Fact
from memory_core.flush.sameness import Words, best, denials, opposes, words
from memory_core.flush.target import Target
from memory_core.forms import journal
from memory_core.forms.blocks import lines_of
from memory_core.ids import MessageKey
from memory_core.layouts import Form
from memory_core.operations.sleep import AbsorbLines

LASTING = frozenset({journal.Part.DECISIONS.value, journal.Part.LEARNED.value})
"""The parts of a journal whose lines sleep takes to a page."""


class NotesTarget(Target, Protocol):
    """A draft that has lines for journals."""

    notes: dict[str, list[journal.Note]]


def open_lines(text: str) -> Iterator[tuple[str, journal.Note]]:
    """The lines of a journal that sleep may still take up, as they stand and as they read."""
    part = ""
    for line in lines_of(text):
        part = journal.part_named(line.text) if line.text.startswith("#") else part
        note = journal.read_line(line.text, part)
        if part in LASTING and note.keys and not note.absorbed:
            yield line.text, note


def take_back(draft: NotesTarget, fact: Fact) -> None:
    """Mark what the fact corrects or opposes in the journals that were read; a mere claim takes nothing back."""
    if fact.claimed:
        return
    own, corrected = denials(fact.text), words(fact.corrects) if fact.corrects else None
    said = {key for source in fact.sources for key in source.keys}
    for page, text in list(draft.texts.items()):
        if draft.table.rule(page).form is Form.JOURNAL:
            others = ((line, note) for line, note in open_lines(text) if said.isdisjoint(note.keys))
            lines = tuple(line for line, note in others if _gone(note, own, corrected))
            if lines:
                draft.do(AbsorbLines(page, lines))
    for notes in draft.notes.values():
        notes[:] = [one for one in notes if one.part not in LASTING or not _gone(one, own, corrected)]


def absorb_notes(draft: Target, messages: Collection[MessageKey]) -> None:
    """Mark the lines that come from these messages: the record that they became was superseded on its page.

    Without the mark an old day's note would speak against the page.
    """
    for page, text in list(draft.texts.items()):
        if draft.table.rule(page).form is Form.JOURNAL and any(key in text for key in messages):
            notes = ((line.text, journal.read_line(line.text, "")) for line in lines_of(text))
            lines = tuple(
                line for line, note in notes if not note.absorbed and not set(messages).isdisjoint(note.keys)
            )
            if lines:
                draft.do(AbsorbLines(page, lines))


def _gone(note: journal.Note, own: Sequence[Words], corrected: Words | None) -> bool:
    other = words(note.text)
    return any(opposes(one, other) for one in own) or (
        corrected is not None and best(corrected, [(note, other)]) is not None
    )
