"""A page taken apart: its records as they stand, its struck lines, and everything else.

A record's block is kept as text, not rendered anew: its fields, a person's lines in it, its order stay as they are;
only the depth of its headings follows the place that it gets. An entry of one line (`[2026-04-06] Decision: … → …`)
becomes a block, because a line could melt into the record above it; a label that reading drops stays as a tag. A
fence or comment that is never closed is made harmless, so that it cannot swallow what stands below it elsewhere.

What is no record: text under a heading without a date that has none of our fields. That is a person's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memory_core.forms import archive, sections
from memory_core.forms.blocks import is_struck, lines_of
from memory_core.forms.records import PlacedRecord, Record, on_page, render
from memory_core.ids import PageId
from memory_core.layouts import Form

_HEADING = re.compile(r"(#{1,6})([ \t]+.*|)")
_ACTIVE = re.compile(r" {0,3}(?:`{3,}|~{3,})|<!--")
_LABEL = re.compile(r"(?:[-*+] )?\[[^\]]*\] (?:\*\*)?([A-Z][\w ]{2,20}):")
_TAGS = re.compile(r"- (?:\*\*)?Tags(?:\*\*)?:(?:\*\*)? ?(.*)", re.IGNORECASE)
_BLANKS = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A record with its block (LF line ends, none at the end), the page and section that it left, and its label."""

    record: Record
    block: str
    page: PageId
    section: str = ""
    label: str = ""

    @property
    def level(self) -> int:
        """The depth of its heading."""
        return len(self.block) - len(self.block.lstrip("#"))


@dataclass(frozen=True, slots=True)
class Apart:
    """A page taken apart: records and struck lines (each with its section) in order; `rest` is all other text."""

    pieces: tuple[Piece, ...]
    struck: tuple[tuple[str, str], ...]
    rest: str


def is_record(record: Record) -> bool:
    """A dated entry, or one with our fields; a heading that a person wrote over some text is that person's."""
    return record.day is not None or bool(record.sources or record.body or record.tags)


def take_apart(page: PageId, form: Form, text: str) -> Apart:
    """The records, struck lines and other text of a page, its line ends made LF. Never raises."""
    text = text.replace("\r\n", "\n")
    placed = [one for one in on_page(text, form) if is_record(one.record)]
    pieces = tuple(_piece(page, form, text, one) for one in placed)
    rest: list[str] = []
    struck: list[tuple[str, str]] = []
    at = 0
    for start, end in [*((one.start, one.end) for one in placed), (len(text), len(text))]:
        kept, gone = _without_struck(text, at, start)
        rest.append(kept)
        struck += gone
        at = end
    return Apart(pieces, tuple(struck), tidied("".join(rest)))


def tidied(text: str) -> str:
    """`text` without runs of blank lines, and without those at its ends."""
    return _BLANKS.sub("\n\n", text).strip("\n")


def at_level(block: str, level: int) -> str:
    """The block with its first heading at that depth, and the headings in it as much deeper or less deep."""
    lines = lines_of(block)
    old = len(block) - len(block.lstrip("#"))
    if old == level:
        return block
    out: list[str] = []
    for number, line in enumerate(lines):
        found = None if line.inert else _HEADING.fullmatch(line.text)
        if found is None:
            out.append(line.text)
            continue
        depth = level if number == 0 else max(level + 1, min(6, len(found[1]) + level - old))
        out.append("#" * min(6, depth) + found[2])
    return "\n".join(out)


def deeper(text: str, more: int) -> str:
    """The text with its headings that much deeper."""
    return at_level(f"#\n{text}", 1 + more).partition("\n")[2]


def sound(block: str) -> str:
    """The block with every fence and comment that it never closes made harmless."""
    if archive.is_sound(block):
        return block
    lines = lines_of(block)
    return "\n".join("\\" + line.text if not line.inert and _ACTIVE.match(line.text) else line.text for line in lines)


def with_tag(piece: Piece, tag: str) -> Piece:
    """The piece with one tag more, at the end."""
    if tag in piece.record.tags:
        return piece
    return _tagged(piece, (*piece.record.tags, tag))


def without_tag(piece: Piece, tag: str) -> Piece:
    """The piece without that tag."""
    return _tagged(piece, tuple(one for one in piece.record.tags if one != tag))


def archived(piece: Piece, told: archive.Archived) -> str:
    """The block as it stands in an archive: with the line that says when it left which page."""
    lines = [line for line in at_level(piece.block, 2).split("\n") if not _is_archived(line)]
    return "\n".join([*lines, f"- Archived: {told}"])


def _is_archived(line: str) -> bool:
    return line.startswith("- Archived:")


def _tagged(piece: Piece, tags: tuple[str, ...]) -> Piece:
    head, *others = piece.block.split("\n")
    lines = others
    at = next((n for n, line in enumerate(others) if _TAGS.fullmatch(line)), None)
    new = [f"- Tags: {', '.join(tags)}"] if tags else []
    lines = [*new, *others] if at is None else [*others[:at], *new, *others[at + 1 :]]
    return replace(piece, record=replace(piece.record, tags=tags), block="\n".join([head, *lines]))


def _piece(page: PageId, form: Form, text: str, placed: PlacedRecord) -> Piece:
    raw = text[placed.start : placed.end]
    section = sections.section_at(text, placed.start) if form in (Form.SECTIONS, Form.CHANNEL) else ""
    if placed.level:
        return Piece(placed.record, sound(raw.rstrip("\n")), page, section)
    found = _LABEL.match(raw)
    label = found[1] if found and not placed.record.title.startswith(found[1]) else ""
    record = replace(placed.record, tags=(label,)) if label else placed.record
    return Piece(record, render(record).rstrip("\n"), page, section, label)


def _without_struck(text: str, start: int, end: int) -> tuple[str, list[tuple[str, str]]]:
    """The text from `start` to `end` without its struck lines, and those with their sections."""
    part = text[start:end]
    if "~~" not in part:
        return part, []
    gone: list[tuple[str, str]] = []
    kept: list[str] = []
    at = start
    for line in part.splitlines(keepends=True):
        if is_struck(line.rstrip("\n")):
            gone.append((line.rstrip("\n"), sections.section_at(text, at)))
        else:
            kept.append(line)
        at += len(line)
    return "".join(kept), gone
