"""One page of records while REM looks through it: what each record will be, and the edits that make it so.

A person's undated section is no slot: it is never touched, and its lines are not counted against the page's budget.
Neither is an entry of one line, nor a block that stands twice to the letter, as long as its copies are not merged
into it, which REM does first: no edit could tell which of them it means. A record that opens a fence or comment and
does not close it is left alone as well: what it swallows would change with it. On such a page so is every record with
a fence of its own: merged into a record further down, it would pair with the open one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import date

from memory_core.forms.archive import Archived, has_fence, is_open, is_sound
from memory_core.forms.blocks import is_struck, lines_of
from memory_core.forms.escape import escape_comment
from memory_core.forms.marks import marked
from memory_core.forms.records import Record, parse, render, struck
from memory_core.forms.records import replace as replace_record
from memory_core.ids import PageId
from memory_core.layouts import PageRule
from memory_core.operations.records import section_of
from memory_core.operations.sleep import EditRecords, Pair
from memory_core.sleep.fitness import is_kept, score

__all__ = ["Sheet", "Slot", "counted_lines", "sheet_of"]


@dataclass(slots=True)
class Slot:
    """One record: its block as it stands (`\\n` line ends) and what it will be; `after` '' means that it goes."""

    at: int
    block: str
    was: Record
    record: Record
    section: str
    gone: bool = False
    line: str = ""
    """The struck line that stays in its place, once it is superseded."""
    group: int = -1
    """Slots of one group change together or not at all."""
    twins: list[Slot] = field(default_factory=list, repr=False, compare=False)
    """All slots with this very block."""

    @property
    def alone(self) -> bool:
        """Can an edit tell it from every other? Its block stands once, or the others are merged into it."""
        return all(one is self or (one.gone and one.group == self.group) for one in self.twins)

    @property
    def after(self) -> str:
        """What will stand in its place."""
        if self.gone:
            return self.line
        new = self.block if self.record == self.was else replace_record(self.block, self.was.identity, self.record)
        return new.removesuffix("\n")

    @property
    def lines(self) -> int:
        """The lines that it takes on its page, with the blank one after it."""
        return self.block.count("\n") + 2


@dataclass(slots=True)
class Sheet:
    """A page's slots, top to bottom, and the struck lines between them."""

    page: PageId
    rule: PageRule
    slots: list[Slot]
    struck: list[str]
    returned: set[str] = field(default_factory=set)
    """Identities of records that came back in this run, and stay for now."""

    @property
    def live(self) -> list[Slot]:
        """The slots that are still records of this page."""
        return [slot for slot in self.slots if not slot.gone]

    def join(self, one: Slot, other: Slot) -> None:
        """From now on both change together or not at all."""
        old = other.group
        for slot in self.slots:
            if slot.group == old:
                slot.group = one.group

    def strike(self, old: Slot, new: Slot) -> None:
        """`new` takes the place of `old`, which leaves a struck line."""
        left = struck(old.record)
        new.record = replace(new.record, supersedes=(left, *old.record.supersedes, *new.record.supersedes))
        old.line = marked(f"~~{escape_comment(left)}~~", old.record.messages)
        old.gone = True
        self.join(new, old)

    def leaving(self, slot: Slot, today: date) -> str:
        """The slot's block as it will stand in the archive; '' where it could not stand there unharmed."""
        why = Archived(today, score(slot.record, today), self.page, slot.section)
        record = replace(slot.record, archived=str(why))
        block = render(record).removesuffix("\n")
        found = parse(block).records
        unharmed = len(found) == 1 and found[0].record == record and is_sound(block)
        return block if unharmed else ""

    def edits(self) -> EditRecords | None:
        """What makes the page so; None where nothing changes.

        A group is told whole: what was merged away leaves only where the record that took it in stands, and of blocks
        that are equal to the letter one more application takes none.
        """
        groups: dict[int, list[Pair]] = {}
        changed: set[int] = set()
        for slot in self.slots:
            after = slot.after
            if after != slot.block:
                changed.add(slot.group)
            groups.setdefault(slot.group, []).append((slot.block, after))
        edits = tuple(tuple(pairs) for group, pairs in groups.items() if group in changed)
        return EditRecords(self.page, edits, self.sections_of(self.slots)) if edits else None

    def sections_of(self, slots: Iterable[Slot]) -> tuple[Pair, ...]:
        """The heading that each block stands under, where there is one."""
        return tuple((slot.block, slot.section) for slot in slots if slot.section)


def sheet_of(page: PageId, rule: PageRule, text: str) -> Sheet:
    """The page as REM sees it."""
    kept = [placed for placed in parse(text).records if placed.level and is_kept(placed.record)]
    blocks = [text[placed.start : placed.end].replace("\r\n", "\n") for placed in kept]
    opened = is_open(text)
    slots = [
        Slot(at, block, placed.record, placed.record, section_of(text, placed) if rule.sections else "", group=at)
        for at, (placed, block) in enumerate(zip(kept, blocks, strict=True))
        if len(parse(block).records) == 1 and is_sound(block) and not (opened and has_fence(block))
    ]
    twins: dict[str, list[Slot]] = {}
    for slot in slots:
        slot.twins = twins.setdefault(slot.block, [])
        slot.twins.append(slot)
    lines = [line.text for line in lines_of(text) if not line.inert and is_struck(line.text)]
    return Sheet(page, rule, slots, lines)


def counted_lines(text: str, own: Collection[str] = ()) -> int:
    """The lines that count against a page's budget: all but a person's undated sections and entries of one line.

    `own`: the sections in which remem itself writes entries of one line; these count.
    """
    total = len(text.splitlines())
    for placed in parse(text).records:
        if not ((placed.level and is_kept(placed.record)) or placed.record.title in own):
            end = placed.end
            while text.startswith(("\n\n", "\n\r\n", "\r\n\r\n"), end):
                end += 2 if text.startswith("\r\n", end) else 1
            total -= len(text[placed.start : end].splitlines())
    return total
