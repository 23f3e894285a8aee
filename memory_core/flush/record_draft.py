"""How a fact becomes a record: new, in the place of one that it corrects or opposes, or one more hit on a known one.

The rules stand on top of flush/draft. What is taken back may lie in the archive: there it leaves a struck line as
well. On a page with sections the record goes under the heading of its kind, and is compared with the records of the
whole page: a decision may be said again as a lesson. What was said before a record's day never takes that record
back: so it is with history that is imported into a memory that lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from memory_core.candidates import TITLE_CHARACTERS
from memory_core.extract.switching import switch_in
from memory_core.flush.bars import Fact
from memory_core.flush.journal_draft import absorb_notes
from memory_core.flush.sameness import Words, best, denials, opposes, repeats, stated, words
from memory_core.flush.switched import ended_by
from memory_core.flush.target import Target
from memory_core.forms.escape import escape_comment
from memory_core.forms.marks import marked
from memory_core.forms.records import PlacedRecord, Record, on_page, parse, remove, render, struck
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.operations import Operation
from memory_core.operations.records import AddRecord, StrikeRecord, TouchRecord
from memory_core.text import one_line


class RecordTarget(Target, Protocol):
    """A draft that can take out again what it added."""

    operations: list[Operation]
    inverses: list[Operation]
    touched: set[str]
    taken_out: bool
    referenced: date | None


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """Changes of the records of one page, into a draft; `section` is the heading for new ones."""

    draft: RecordTarget
    page: PageId
    section: str = ""

    def take(self, fact: Fact) -> bool:
        """Write the fact as a record of that page, unless it is known; True for news."""
        own, known = denials(fact.text), self._known()
        old = None
        if not fact.claimed:
            old = best(words(fact.corrects), known) if fact.corrects else None
            old = old or next((placed for placed, other in known if any(opposes(one, other) for one in own)), None)
            old = old or self._switched(fact)
        if old is not None and _is_newer(old.record, fact):
            return True  # it was taken back long ago: the journal of its day has it
        news = self.repeat(fact) if old is None else None
        if news is not None:
            return news
        new = replace(record_of(fact), last_referenced=self.draft.referenced or fact.day)
        if old is not None and old.record.identity != new.identity:
            earlier = old.record.supersedes if self._take_out(old.record.identity) else ()
            new = replace(new, supersedes=(struck(old.record), *earlier))
        away = [] if fact.claimed else list(self._archived_against(fact))
        new = replace(new, supersedes=(*new.supersedes, *(struck(placed.record) for _, placed in away)))
        if not self.draft.do(AddRecord(self.page, render(new), self.section)):
            return False
        self.draft.touched.add(new.identity)
        if old is not None and old.record.identity != new.identity:
            strike(self.draft, self.page, old)
        for page, placed in away:
            strike(self.draft, page, placed)
        return True

    def _switched(self, fact: Fact) -> PlacedRecord | None:
        """The record whose thing gave its place to another ("we switched from X to Y")."""
        if switch_in(fact.text) is None:
            return None
        return ended_by(fact.text, ((one, stated(one.record.title, one.record.text)) for one, _ in self._known()))

    def repeat(self, fact: Fact) -> bool | None:
        """Where the fact is known: a hit on that record, and a further source; None where it is not.

        True for news: the record was written at once from this very message, by a process that ended before it could
        mark that.
        """
        own = words(fact.text)
        known = next((placed.record for placed, other in self._known() if repeats(own, other)), None)
        if known is None:
            return None
        first, named = known.identity not in self.draft.touched, fact.sources[0].keys[0] in known.messages
        self.draft.touched.add(known.identity)
        hits = known.hit_count + (1 if first and not named else 0)
        day = self.draft.referenced or fact.day
        self.draft.do(TouchRecord(self.page, known.identity, hits, day, fact.sources))
        return first and known.identity == record_of(fact).identity

    def _known(self) -> list[tuple[PlacedRecord, Words]]:
        """The records of the page with what of them is compared."""
        found = on_page(self.draft.texts.get(self.page, ""), self.draft.table.rule(self.page).form)
        known = [placed for placed in found if placed.level and _ours(placed.record)]
        return [(placed, words(stated(placed.record.title, placed.record.text))) for placed in known]

    def _take_out(self, identity: str) -> bool:
        """Forget a record that this very draft added: what is superseded at once is not written and struck.

        (Added and struck in one plan, it would be added again each time the plan is applied.)
        """
        draft = self.draft
        for at, operation in enumerate(draft.operations):
            if not isinstance(operation, AddRecord) or operation.page != self.page:
                continue
            if operation.record.identity == identity:
                del draft.operations[at]
                draft.taken_out = True
                draft.inverses = [one for one in draft.inverses if one != operation.undo("")]
                draft.texts[self.page] = remove(draft.texts[self.page], identity)
                return True
        return False

    def _archived_against(self, fact: Fact) -> Iterator[tuple[PageId, PlacedRecord]]:
        """The archived records that the fact takes back, where the archive was read for it (`takes_back`)."""
        own, corrected = words(fact.text), words(fact.corrects) if fact.corrects else None
        for page, text in self.draft.texts.items():
            if self.draft.table.rule(page).form is not Form.ARCHIVE:
                continue
            for placed in parse(text).records:
                if placed.level and placed.record.archived and fact.day >= (placed.record.day or fact.day):
                    other = words(stated(placed.record.title, placed.record.text))
                    if opposes(own, other) or (corrected and best(corrected, [(placed, other)]) is not None):
                        yield page, placed


def strike(draft: Target, page: PageId, old: PlacedRecord) -> None:
    """The record is superseded: its place keeps a struck line, and what became of it in the journals is absorbed."""
    text = draft.texts[page]
    placed = parse(text).find(old.record.identity)
    if placed is not None:
        line = marked(f"~~{escape_comment(struck(old.record))}~~", old.record.messages)
        draft.do(StrikeRecord(page, old.record.identity, text[placed.start : placed.end], line))
        absorb_notes(draft, old.record.messages)


def takes_back(fact: Fact) -> bool:
    """May the fact take back something that lies in the archive: does it negate ("we no longer use X"), or correct?

    The archive is read for such a fact alone; what else it contradicts there REM finds (memory_core.sleep.retracted).
    """
    return not fact.claimed and (bool(fact.corrects) or words(fact.text).negates)


def record_of(fact: Fact) -> Record:
    """The record that a fact becomes."""
    return Record(
        day=fact.day,
        title=one_line(fact.title, TITLE_CHARACTERS),
        body=fact.body,
        tags=fact.tags,
        last_referenced=fact.day,
        value=fact.value,
        sources=fact.sources,
    )


def _is_newer(record: Record, fact: Fact) -> bool:
    """Was the record stated on a later day than the fact?"""
    return record.day is not None and record.day > fact.day


def _ours(record: Record) -> bool:
    """A record with a date or a source: a person's undated section is never struck or counted."""
    return record.day is not None or bool(record.sources)
