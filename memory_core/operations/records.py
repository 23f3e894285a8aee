"""Operations on records (the two rules they keep: memory_core.operations).

A person may copy a block, and then two records have one identity. What is struck, revised or dropped is so in all of
them at once, and a use counts for the first alone, also where it changes its identity: a record without a message is
known by its day until one is among its sources. Else a plan that is applied again would go on with the copies.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from memory_core.forms import sections
from memory_core.forms.blocks import lines_of, newline_of
from memory_core.forms.record_values import with_sources
from memory_core.forms.records import PlacedRecord, Record, Source, insert, parse, remove
from memory_core.forms.records import replace as replace_record
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class AddRecord:
    """A new record, as its block of text; under the heading `section`, where the page has sections."""

    page: PageId
    block: str
    section: str = ""
    op: Literal["add_record"] = "add_record"

    @property
    def record(self) -> Record:
        """The record of the block."""
        return parse(self.block).records[0].record

    def apply(self, text: str, form: Form) -> str:
        """The page with the record; unchanged where it, or the same statement of the same message, stands there."""
        new = self.record
        for placed in parse(text).records:
            old = placed.record
            same = bool(new.messages) and new.messages[0] in old.messages and old.body == new.body
            if same or old.identity == new.identity:
                return text
        return insert(text, new, form, newline_of(text), self.section)

    def undo(self, before: str) -> DropRecord:
        """Without it."""
        return DropRecord(self.page, self.record.identity, words_hash(self.record))


@dataclass(frozen=True, slots=True)
class DropRecord:
    """A record leaves its page; with `words` only as long as it says what this hash was made of."""

    page: PageId
    identity: str
    words: str = ""
    op: Literal["drop_record"] = "drop_record"

    def apply(self, text: str, form: Form) -> str:
        """The page without the record; one that a person changed meanwhile stays as it is."""
        placed = parse(text).find(self.identity)
        while placed is not None and self.words in ("", words_hash(placed.record)):
            text = remove(text, self.identity)
            placed = parse(text).find(self.identity)
        return text

    def undo(self, before: str) -> AddRecord | DropRecord:
        """The record as it stood."""
        placed = parse(before).find(self.identity)
        return AddRecord(self.page, before[placed.start : placed.end], section_of(before, placed)) if placed else self


@dataclass(frozen=True, slots=True)
class TouchRecord:
    """A record was used or said again: at least `hit_count` hits, the last on `day`, with these sources more."""

    page: PageId
    identity: str
    hit_count: int
    day: date
    sources: tuple[Source, ...] = ()
    op: Literal["touch_record"] = "touch_record"

    def apply(self, text: str, form: Form) -> str:
        """The page with the record's fitness and sources; a record that is gone stays gone."""
        placed = parse(text).find(self.identity)
        if placed is None or (not placed.record.messages and self._is_done(text)):
            return text
        old = placed.record
        new = replace(
            old,
            hit_count=max(old.hit_count, self.hit_count),
            last_referenced=max(old.last_referenced or self.day, self.day),
            sources=with_sources(old.sources, self.sources),
        )
        return text if new == old else replace_record(text, self.identity, new)

    def undo(self, before: str) -> LowerRecord:
        """The fitness that stood there, without the sources that were new."""
        placed = parse(before).find(self.identity)
        old = placed.record if placed else Record(None, self.identity)
        keys = tuple(key for source in self.sources for key in source.keys if key not in old.messages)
        new = replace(old, sources=with_sources(old.sources, self.sources)) if placed else None
        identity = new.identity if new else self.identity
        return LowerRecord(self.page, identity, old.hit_count, old.last_referenced, keys)

    def _is_done(self, text: str) -> bool:
        """Did a record of that identity get these sources already, and with the first of them another identity?"""
        keys = {key for source in self.sources for key in source.keys}
        others = (placed.record for placed in parse(text).records if keys and placed.record.identity != self.identity)
        known = (one for one in others if keys.issubset(one.messages))
        return any(replace(one, sources=()).identity == self.identity for one in known)


@dataclass(frozen=True, slots=True)
class LowerRecord:
    """A record's fitness is set, and messages leave its sources."""

    page: PageId
    identity: str
    hit_count: int
    last_referenced: date | None
    keys: tuple[MessageKey, ...] = ()
    op: Literal["lower_record"] = "lower_record"

    def apply(self, text: str, form: Form) -> str:
        """The page with the earlier fitness."""
        placed = parse(text).find(self.identity)
        if placed is None:
            return text
        old = placed.record
        sources = tuple(
            replace(source, keys=kept) if kept != source.keys else source
            for source in old.sources
            if (kept := tuple(key for key in source.keys if key not in self.keys)) or not source.keys
        )
        new = replace(old, hit_count=self.hit_count, last_referenced=self.last_referenced, sources=sources)
        return text if new == old else replace_record(text, self.identity, new)

    def undo(self, before: str) -> TouchRecord:
        """The fitness that stood there."""
        placed = parse(before).find(self.identity)
        old = placed.record if placed else Record(None, self.identity)
        day = old.last_referenced or old.day or date.min
        return TouchRecord(self.page, self.identity, old.hit_count, day, old.sources)


@dataclass(frozen=True, slots=True)
class StrikeRecord:
    """A record is superseded: its place keeps `line` alone, struck. `block` is what stood there then."""

    page: PageId
    identity: str
    block: str
    line: str
    op: Literal["strike_record"] = "strike_record"

    def apply(self, text: str, form: Form) -> str:
        """The page with the struck line; a record that a person changed meanwhile stays as it is."""
        placed = parse(text).find(self.identity)
        while placed is not None and _same_words(placed, parse(self.block).records):
            text = text[: placed.start] + self.line + text[placed.end :]
            placed = parse(text).find(self.identity)
        return text

    def undo(self, before: str) -> UnstrikeRecord:
        """The block as it stood."""
        placed = parse(before).find(self.identity)
        return UnstrikeRecord(self.page, self.line, before[placed.start : placed.end] if placed else self.block)


@dataclass(frozen=True, slots=True)
class UnstrikeRecord:
    """A superseded record takes its place again (only to undo)."""

    page: PageId
    line: str
    block: str
    op: Literal["unstrike_record"] = "unstrike_record"

    def apply(self, text: str, form: Form) -> str:
        """The page with the block where the struck line stands; unchanged where the record stands already."""
        if any(parse(text).find(placed.record.identity) for placed in parse(self.block).records):
            return text
        newline = newline_of(text)
        block = self.block.replace("\r\n", "\n").replace("\n", newline)
        for line in lines_of(text):
            if line.text == self.line and not line.inert:
                return text[: line.start] + block + text[line.end :]
        return text

    def undo(self, before: str) -> StrikeRecord:
        """The struck line again."""
        found = parse(self.block).records
        return StrikeRecord(self.page, found[0].record.identity if found else "", self.block, self.line)


@dataclass(frozen=True, slots=True)
class ReviseRecord:
    """A record says what its message reads now. Its date, fitness and sources stay."""

    page: PageId
    identity: str
    title: str
    body: str
    tags: tuple[str, ...]
    op: Literal["revise_record"] = "revise_record"

    def apply(self, text: str, form: Form) -> str:
        """The page with the record's new words."""
        placed = parse(text).find(self.identity)
        while placed is not None:
            new = replace(placed.record, title=self.title, body=self.body, tags=self.tags)
            if new == placed.record:
                break
            text = replace_record(text, self.identity, new)
            placed = parse(text).find(self.identity)
        return text

    def undo(self, before: str) -> ReviseRecord:
        """The words that stood there."""
        placed = parse(before).find(self.identity)
        old = placed.record if placed else Record(None, self.title, self.body, self.tags)
        new = replace(old, title=self.title, body=self.body, tags=self.tags)
        return ReviseRecord(self.page, new.identity, old.title, old.body, old.tags)


def section_of(text: str, placed: PlacedRecord) -> str:
    """The heading that a record stands under on a page with sections; '' on any other."""
    return sections.section_at(text, placed.start) if placed.level > 2 else ""


def words_hash(record: Record) -> str:
    """The hash of what the record says itself: hits, sources and links apart."""
    said = "\n".join((str(record.day), record.title, record.body, *record.extra))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


def _same_words(placed: PlacedRecord, planned: tuple[PlacedRecord, ...]) -> bool:
    """Does the record say what it said when the plan was made, hits and sources apart?"""
    old = placed.record
    return any(words_hash(one.record) == words_hash(old) for one in planned)
