"""Which statements of the journals are known already: a record, a topic, a struck line or the archive bears them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from memory_core.flush.sameness import best, words
from memory_core.forms import journal
from memory_core.forms.blocks import lines_of
from memory_core.forms.marks import unmarked
from memory_core.forms.records import parse
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.sleep.likeness import said, same
from memory_core.sleep.lines import Line
from memory_core.sleep.night import Night
from memory_core.sleep.topics import topics_of


@dataclass(slots=True)
class Known:
    """Which messages, and days written by hand, bear which statements: records, topics, struck lines, archive."""

    night: Night
    by_key: dict[str, list[tuple[PageId, str]]] = field(default_factory=dict)
    lines: Counter[str] = field(default_factory=Counter)
    """How many lines of the journals, archived ones too, came from each message."""

    def __post_init__(self) -> None:
        for page, text in self.night.draft.texts.items():
            form = self.night.draft.table.rule(page).form
            if form in (Form.JOURNAL, Form.ARCHIVE):
                self.lines.update(key for note in journal.parse(text).notes for key in note.keys)
            if form in WITH_RECORDS or form is Form.ARCHIVE:
                for placed in parse(text).records:
                    for source in placed.record.sources:
                        for key in source.keys or (str(source),):
                            self.by_key.setdefault(key, []).append((page, said(placed.record)))
                for topic in topics_of(self.night, page):
                    for key in topic.messages:
                        self.by_key.setdefault(key, []).append((page, topic.text))
                for line in lines_of(text):
                    if line.text.startswith("~~"):
                        struck, keys = unmarked(line.text)
                        for key in keys:
                            self.by_key.setdefault(key, []).append((page, struck))

    def has(self, line: Line, home: PageId | None) -> bool:
        """Is the line's statement a record's already? By its messages; one message may state several things."""
        own = words(line.text)
        for key in line.keys or {str(line.sources[0])}:
            for page, text in self.by_key.get(key, ()):
                if same(text, line.text) or best(own, (((page, text), words(text)),)) is not None:
                    return True
                if page == home and self.lines[key] == 1:
                    return True  # the record was put in other words since, by a person or by another statement
        return False
