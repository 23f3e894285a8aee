"""Records read from a page, leniently: from text to values. Their form, and how they are written: records.

A block (forms/blocks says where one begins and ends) is a record if its heading has a date, or something stands under
it. What a person wrote into it besides the known fields (other `- Key:` lines, bullets, tables, prose) is kept as it
stands in `extra`. A date is only ever taken from the heading: a heading without one, or with an impossible one, stays
undated, never "today".

The same text is read again and again, mostly with one block changed, so pages and blocks are remembered. Most fields
are as `render` wrote them; they are known by how their lines begin, and only others are matched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memory_core.candidates import Value
from memory_core.forms.blocks import Block, blocks, line_entry
from memory_core.forms.escape import unescape, unescape_comment
from memory_core.forms.record_values import Record
from memory_core.forms.source_line import sources_of
from memory_core.layouts import Form

_FIELD = re.compile(r"- (?:\*\*)?([A-Za-z]+)(?:\*\*)?:(?:\*\*)?(?: (.*)|$)", re.DOTALL)
_KNOWN = frozenset({"tags", "fitness", "source", "body", "supersedes", "conflicts", "archived"})
_OURS = {f"- {name.title()}": name for name in _KNOWN}
"""How fields begin that `render` wrote."""
_VALUES = {value.value: value for value in Value}
_NONE = ("",)
"""The values of a field that is not there."""
_MANY = frozenset({"supersedes", "conflicts"})
"""The fields that a record may have several times."""
_SHORT = 4000
"""Characters of a text that is a block rather than a page."""
_FITNESS = re.compile(
    r"last_referenced=(\d{4}-\d\d-\d\d|never), hit_count=(\d{1,9}), decision_value=(HIGH|MEDIUM|LOW)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """A record and its block: characters `start` to `end` of the text, without the blank lines after it.

    `level` is the heading's; 0 for an entry that is one line (`[2026-04-06] Decision: … → Context: …`).
    """

    record: Record
    start: int
    end: int
    level: int = 2


@dataclass(frozen=True, slots=True)
class Parsed:
    """The records of a text in order, and what could not be understood (kept all the same), for people's eyes."""

    records: tuple[PlacedRecord, ...]
    problems: tuple[str, ...] = ()

    def find(self, identity: str) -> PlacedRecord | None:
        """The first record of that identity."""
        return next((placed for placed in self.records if placed.record.identity == identity), None)


def parse(text: str) -> Parsed:
    """Read a page. Never raises; what is no record is no part of the answer and stays in the text."""
    return _parse(text) if len(text) > _SHORT else _parse_short(text)


@lru_cache(maxsize=8)  # one change looks at the same text half a dozen times, and a page may be thousands of records
def _parse(text: str) -> Parsed:
    records: list[PlacedRecord] = []
    problems: list[str] = []
    for block in blocks(text, problems):
        record = _line_record(block) if block.level == 0 else _record(block, problems)
        if record is not None:
            records.append(PlacedRecord(record, block.start, block.end, block.level))
    return Parsed(tuple(records), tuple(problems))


@lru_cache(maxsize=256)  # apart, so that a look at each block of a page does not drive out the page
def _parse_short(text: str) -> Parsed:
    return _parse.__wrapped__(text)


def on_page(text: str, form: Form) -> tuple[PlacedRecord, ...]:
    """The records of a page of that form: on one with sections, what stands under an undated heading of level 2 is a
    section, even where a line of it looks like a field."""
    found = parse(text).records
    if form not in (Form.SECTIONS, Form.CHANNEL):
        return found
    return tuple(placed for placed in found if placed.level != 2 or placed.record.day is not None)


def _record(block: Block, problems: list[str]) -> Record | None:
    """The record of a block with a heading; None for a heading that has neither a date nor anything under it."""
    lines = block.lines
    while (
        lines and not lines[-1].strip()
    ):  # how many there are depends on what follows, and the block shall be found again
        lines.pop()
    record, problem = _read(block.day, block.dated, block.title, tuple(lines))
    problems += [problem] if problem else []
    return record


@lru_cache(maxsize=4096)  # a change of a page leaves all of its blocks but one as they were
def _read(day: date | None, dated: bool, heading: str, lines: tuple[str, ...]) -> tuple[Record | None, str]:
    """The record of those lines, and what could not be understood of it."""
    proven = heading.startswith("[PROVEN]")
    title = unescape(heading.removeprefix("[PROVEN]").strip())
    fields, extra = _fields(lines)
    if day is None and not dated and not fields and not extra:
        return None, ""
    fitness, problem = _FITNESS.fullmatch(fields["fitness"][0]) if "fitness" in fields else None, ""
    if "fitness" in fields and fitness is None:
        problem = f"The Fitness line of {title[:60]!r} is not in our form; it is kept as text."
        extra.insert(0, f"- Fitness: {fields['fitness'][0]}")
    body = unescape(fields.get("body", _NONE)[0])
    tags = tuple(unescape_comment(fields.get("tags", _NONE)[0]).split(","))
    used = _day(fitness[1]) if fitness else day
    hits, value = (int(fitness[2]), _VALUES[fitness[3]]) if fitness else (0, Value.MEDIUM)
    sources = sources_of(unescape_comment(fields.get("source", _NONE)[0]))
    old = tuple(map(unescape_comment, map(_bare, fields.get("supersedes", ()))))
    other = tuple(map(unescape_comment, fields.get("conflicts", ())))
    archived = unescape_comment(fields.get("archived", _NONE)[0])
    # in the order of the fields: by name it takes half as long again
    record = Record(day, title, body, tags, used, hits, value, sources, proven, old, other, archived, tuple(extra))
    return record, problem


def _fields(lines: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The known fields of a block by lower-case name, and every other line as it stands."""
    fields: dict[str, list[str]] = {}
    extra: list[str] = []
    open_body = False
    for line in lines:
        if open_body and line.startswith("  ") and line.strip():
            fields["body"][0] += "\n" + line[2:]
            continue
        head, _, value = line.partition(": ")
        name = _OURS.get(head, "")
        if not name:
            name, value = _by_hand(line)
        if name in _KNOWN and (name not in fields or name in _MANY):
            fields.setdefault(name, []).append(value.strip())
            open_body = name == "body"
        else:
            extra.append(line)
            open_body = False
    while extra and not extra[-1].strip():
        extra.pop()
    first = next((number for number, line in enumerate(extra) if line.strip()), 0)
    return fields, extra[first:]


def _by_hand(line: str) -> tuple[str, str]:
    """The lower-case name and the value of a field as people write them; no name for any other line."""
    found = _FIELD.fullmatch(line)
    return (found[1].lower(), found[2] or "") if found else ("", "")


def _line_record(block: Block) -> Record | None:
    entry = line_entry(block)
    return None if entry is None else Record(block.day, entry[0], entry[1], last_referenced=block.day)


def _day(text: str) -> date | None:
    try:
        return None if text == "never" else date.fromisoformat(text)
    except ValueError:
        return None


def _bare(text: str) -> str:
    return text.removeprefix("~~").removesuffix("~~")
