"""Archived records come back to the page that they left: those that were used since, and those that were said again.

Used: the record's last use is later than the day on which it was archived (a search finds it there, and the flush
writes the hit). Said again: a record of the page says the same and was stated since; one is made of both. What
was taken back meanwhile is struck in the archive first, and what is in conflict with a record of a page comes back
marked (retracted.py); what else a record of the page contradicts stays away.

What comes back stays as it is in this run: a record that the same plan puts on the page and merges away would be put
there once more by the reading that proves the plan done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from memory_core.forms.archive import Archived, archived, has_fence, is_open, title_of
from memory_core.forms.records import Record, parse, render
from memory_core.forms.records import replace as replace_record
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.operations.records import AddRecord
from memory_core.operations.sleep import DropBlocks, EditRecords
from memory_core.sleep.likeness import Alike, contrary, said, same, told_last
from memory_core.sleep.merging import merged
from memory_core.sleep.night import Night
from memory_core.sleep.retracted import settle
from memory_core.sleep.sheet import sheet_of


def bring_back(night: Night) -> dict[PageId, set[str]]:
    """Plan what comes back; the identities of what did, by page."""
    back = settle(night)
    homes = {page: _Home(night, page) for page in night.record_pages()}
    for page, block, record in _archived(night):
        gone = archived(record)
        if gone is not None and (home := homes.get(PageId(gone.page))):
            home.away.append((page, block, record, gone))
    for home in homes.values():
        for page, block, record, gone, again in home.coming():
            new = replace(record, archived="")
            added = not again and night.draft.do(AddRecord(home.page, render(new), gone.section))
            if not added and not home.join(new, again or new.identity):
                continue
            night.draft.do(DropBlocks(page, (block,), title_of(page.partition("/")[2])))
            back.setdefault(home.page, set()).add(again or new.identity)
            night.tally.returned += 1
            night.tally.merged += bool(again)
            why = "said again" if again else f"used on {record.last_referenced}, archived on {gone.day}"
            night.tally.lines.append(f"returned {new.label} to {home.page} ({why})")
    return back


@dataclass(slots=True)
class _Home:
    """A page, and what left it for the archive: the archive's page, the block, the record, what its field says."""

    night: Night
    page: PageId
    away: list[tuple[PageId, str, Record, Archived]] = field(default_factory=list)

    def coming(self) -> Iterator[tuple[PageId, str, Record, Archived, str]]:
        """What comes back, with the identity of the record that says it again ('': it was used)."""
        text = self.night.draft.texts[self.page]
        standing = [slot.record for slot in sheet_of(self.page, self.night.draft.table.rule(self.page), text).slots]
        texts = [*map(said, standing), *(said(record) for _, _, record, _ in self.away)]
        again: dict[int, str] = {}
        denied: set[int] = set()
        for one, other in Alike(texts).pairs(len(standing)) if self.away and standing else ():
            at = other - len(standing)
            since = told_last(standing[one]) >= self.away[at][3].day
            if since and same(texts[one], texts[other]):
                again.setdefault(at, standing[one].identity)
            denied |= {at} if contrary(texts[one], texts[other]) else set()
        for at, (page, block, record, gone) in enumerate(self.away):
            used = record.last_referenced is not None and record.last_referenced > gone.day
            swallowed = is_open(text) and has_fence(block)
            if (at in again or used) and at not in denied and not swallowed:
                yield page, block, record, gone, again.get(at, "")

    def join(self, record: Record, identity: str) -> bool:
        """Merge the record into the one of that identity, which stands on the page."""
        text = self.night.draft.texts[self.page]
        placed = parse(text).find(identity)
        if placed is None or not placed.level:
            return False
        block = text[placed.start : placed.end].replace("\r\n", "\n")
        both = replace_record(block, identity, merged(placed.record, (record,))).removesuffix("\n")
        return both == block or self.night.draft.do(EditRecords(self.page, (((block, both),),)))


def _archived(night: Night) -> Iterator[tuple[PageId, str, Record]]:
    """The records of all archives."""
    for page, text in list(night.draft.texts.items()):
        if night.draft.table.rule(page).form is Form.ARCHIVE and page not in night.damaged:
            for placed in parse(text).records:
                if placed.record.archived:
                    yield page, text[placed.start : placed.end].replace("\r\n", "\n"), placed.record
