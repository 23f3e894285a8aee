"""Operations of sleep (the two rules they keep: memory_core.operations).

They name what they change by its very text, never by a title alone: what a person changed since the plan was made no
longer fits, and stays as the person left it. Texts here have `\\n` as line end; a page keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from memory_core.forms import heartbeat, journal
from memory_core.forms.archive import missing, with_blocks, without_blocks
from memory_core.forms.blocks import is_struck, lines_of, newline_of
from memory_core.forms.records import Record, insert, insert_all, parse
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.operations.pages import text_hash

Pair: TypeAlias = tuple[str, str]
"""A record's block, or a struck line, as it stands, and what takes its place ('' for nothing)."""


@dataclass(frozen=True, slots=True)
class EditRecords:
    """Records of a page change together: of each edit all pairs, as long as all of them stand, or none.

    A pair whose first half is '' puts its block on the page, under the heading that `sections` names for it.
    """

    page: PageId
    edits: tuple[tuple[Pair, ...], ...]
    sections: tuple[Pair, ...] = ()
    op: Literal["edit_records"] = "edit_records"

    def apply(self, text: str, form: Form) -> str:
        """The page with the edits that fit."""
        places = _places(text)
        changes: list[tuple[int, int, str]] = []
        added: list[str] = []
        for edit in self._fitting(places):
            changes += [(*places[before].pop(0), after) for before, after in edit if before]
            added += [after for before, after in edit if not before]
        newline = newline_of(text)
        for start, end, after in sorted(changes, reverse=True):
            text = _put(text, start, end, after, newline)
        return _with_records(text, added, dict(self.sections), form) if added else text

    def undo(self, before: str) -> EditRecords:
        """The edits that fit, turned round."""
        places = _places(before)
        fitting: list[tuple[Pair, ...]] = []
        for edit in self._fitting(places):
            for block, _ in edit:
                if block:
                    places[block].pop(0)
            if new := tuple((after, block) for block, after in edit if block or after not in places):
                fitting.append(new)
        return EditRecords(self.page, tuple(fitting), self.sections)

    def _fitting(self, places: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[tuple[Pair, ...]]:
        """The edits of which all that is to change stands, as `places` (which the caller uses up) tells."""
        for edit in self.edits:
            wanted = [before for before, _ in edit if before]
            if all(len(places.get(before, ())) >= wanted.count(before) for before in wanted):
                yield edit


@dataclass(frozen=True, slots=True)
class AddBlocks:
    """Blocks go to the end of an archive, which begins with `title` where there is none yet."""

    page: PageId
    title: str
    blocks: tuple[str, ...]
    op: Literal["add_blocks"] = "add_blocks"

    def apply(self, text: str, form: Form) -> str:
        """The archive with the blocks that do not stand there."""
        return with_blocks(text, self.title, self.blocks)

    def undo(self, before: str) -> DropBlocks:
        """Without those that were not there before."""
        return DropBlocks(self.page, missing(before or self.title, self.blocks), self.title)


@dataclass(frozen=True, slots=True)
class DropBlocks:
    """Blocks leave a page or an archive, each as it stands; `title` is what the archive begins with."""

    page: PageId
    blocks: tuple[str, ...]
    title: str = ""
    op: Literal["drop_blocks"] = "drop_blocks"

    def apply(self, text: str, form: Form) -> str:
        """The page without the blocks."""
        return without_blocks(text, self.blocks)

    def undo(self, before: str) -> AddBlocks:
        """Those that stood there, at the end."""
        stood = tuple(block for block in self.blocks if without_blocks(before, (block,)) != before)
        return AddBlocks(self.page, self.title, stood)


@dataclass(frozen=True, slots=True)
class AbsorbLines:
    """Lines of ours in a journal were taken up by deep sleep: they are marked, and headings with nothing else."""

    page: PageId
    lines: tuple[str, ...]
    op: Literal["absorb_lines"] = "absorb_lines"

    def apply(self, text: str, form: Form) -> str:
        """The note with the marks."""
        return journal.absorb(text, self.lines)

    def undo(self, before: str) -> ReleaseLines:
        """Without them."""
        return ReleaseLines(self.page, self.lines)


@dataclass(frozen=True, slots=True)
class ReleaseLines:
    """The marks of deep sleep leave those lines, and the headings above them (only to undo)."""

    page: PageId
    lines: tuple[str, ...]
    op: Literal["release_lines"] = "release_lines"

    def apply(self, text: str, form: Form) -> str:
        """The note without the marks."""
        return journal.release(text, self.lines)

    def undo(self, before: str) -> AbsorbLines:
        """The marks again."""
        return AbsorbLines(self.page, self.lines)


@dataclass(frozen=True, slots=True)
class Restore:
    """A page becomes `text` again, as long as it is what a step left: text with this hash (only to undo)."""

    page: PageId
    sha256: str
    text: str
    op: Literal["restore"] = "restore"

    def apply(self, text: str, form: Form) -> str:
        """The earlier text; a page that changed since then as it is."""
        return self.text if text_hash(text) == self.sha256 else text

    def undo(self, before: str) -> Restore:
        """What stood there."""
        return Restore(self.page, text_hash(self.text), before)


@dataclass(frozen=True, slots=True)
class PutHeartbeat:
    """The scope slept at `at`."""

    page: PageId
    at: datetime
    deep: bool
    rem: bool
    idle_runs: int
    notes: str
    read: str
    op: Literal["put_heartbeat"] = "put_heartbeat"

    def apply(self, text: str, form: Form) -> str:
        """The file with the newer times."""
        old = heartbeat.parse(text)
        new = heartbeat.Heartbeat(
            self.at,  # also where a clock that was ahead of its time left a later one
            self.at if self.deep else old.last_deep,
            self.at if self.rem else old.last_rem,
            self.idle_runs if self.deep else old.idle_runs,
            self.notes if self.deep else old.notes,
            self.read if self.deep else old.read,
            old.extra,
            undone_deep=None if self.deep else old.undone_deep,
            undone_rem=None if self.rem else old.undone_rem,
        )
        return text if new == old else heartbeat.render(new)

    def undo(self, before: str) -> TakeHeartbeat:
        """What the file told before, and that this sleep was taken back."""
        old = heartbeat.parse(before)
        last = old.last_deep if self.deep else old.last_rem
        return TakeHeartbeat(self.page, self.at, self.deep, last, old.idle_runs, old.notes, old.read)


@dataclass(frozen=True, slots=True)
class TakeHeartbeat:
    """The sleep of `at` (`deep`, else REM) was taken back: `last` is the last one that stands (only to undo).

    Runs of its stage that came after it found nothing to do, because of what it had done: they count with it.
    """

    page: PageId
    at: datetime
    deep: bool
    last: datetime | None
    idle_runs: int
    notes: str
    read: str
    op: Literal["take_heartbeat"] = "take_heartbeat"

    def apply(self, text: str, form: Form) -> str:
        """The file with the earlier times; the run that was taken back stands apart."""
        old = heartbeat.parse(text)
        ran = old.last_deep if self.deep else old.last_rem
        if ran is None or ran < self.at.replace(microsecond=0) or ran == self.last:
            return text
        new = (
            replace(
                old,
                last_deep=self.last,
                undone_deep=ran,
                idle_runs=self.idle_runs,
                notes=self.notes,
                read=self.read,
            )
            if self.deep
            else replace(old, last_rem=self.last, undone_rem=ran)
        )
        stands = max(filter(None, (new.last_deep, new.last_rem)), default=None)
        return heartbeat.render(replace(new, last_consolidated_at=stands))

    def undo(self, before: str) -> PutHeartbeat:
        """It ran."""
        return PutHeartbeat(self.page, self.at, self.deep, not self.deep, self.idle_runs, self.notes, self.read)


def _with_records(text: str, blocks: Sequence[str], sections: Mapping[str, str], form: Form) -> str:
    """`text` with the records of those blocks that do not stand there, each where its form puts it."""
    newline = newline_of(text)
    standing = [placed.record for placed in parse(text).records]
    known = {one.identity for one in standing}
    said = {(key, one.body) for one in standing for key in one.messages}
    new: list[Record] = []
    for block in blocks:
        placed = parse(block).records
        record = placed[0].record if placed else None
        if record is None or record.identity in known or said & {(key, record.body) for key in record.messages[:1]}:
            continue
        known.add(record.identity)
        if sections.get(block):
            text = insert(text, record, form, newline, sections[block])
        else:
            new.append(record)
    return insert_all(text, new, form, newline)


def _places(text: str) -> dict[str, list[tuple[int, int]]]:
    """Where each block and struck line stands, by its text."""
    spans = [(placed.start, placed.end) for placed in parse(text).records if placed.level]
    spans += [(line.start, line.end) for line in lines_of(text) if not line.inert and is_struck(line.text)]
    places: dict[str, list[tuple[int, int]]] = {}
    for start, end in sorted(spans):
        places.setdefault(text[start:end].replace("\r\n", "\n"), []).append((start, end))
    return places


def _put(text: str, start: int, end: int, block: str, newline: str) -> str:
    """`text` with the block in that place; what goes takes the blank line after it along."""
    if block:
        return text[:start] + block.replace("\n", newline) + text[end:]
    before, after = text[:start], text[end:]
    for _ in range(2):
        after = after.removeprefix(newline)
    if not after and before.endswith(newline * 2):
        before = before.removesuffix(newline)
    return before + after
