"""Records: the entries of a page (experience, longterm, project, people, …). Read leniently, written in one form.

    ## [2026-04-06] [PROVEN] Redis for the session cache
    - Tags: redis, cache
    - Fitness: last_referenced=2026-04-06, hit_count=1, decision_value=HIGH
    - Source: @ana (slack:T1:U2) in #build, 2026-04-06 14:02, slack:T1:C9:1712412120.000100; @bo (…) in …
    - Body: Redis over Memcached, because sessions must survive a restart.
      A body may go on, indented by two blanks.
    - Supersedes: ~~[2026-01-09] Memcached for sessions: no persistence~~
    - Conflicts: [2026-03-02] No new services this quarter
    - Archived: 2026-09-01, score=41

Values are plain text; `render` escapes what people wrote and `parse` takes it back (forms/escape), so that
`parse(render(r))` is `r`. What a person wrote into a block besides the known fields (other `- Key:` lines, bullets,
tables, prose) is kept as it stands in `extra`. Where a block begins and ends is memory_core.forms.blocks' business.

Identity: the message that states the record, with its title; where no message is known, day and title. Hits, tags,
body and further sources may change without changing it.

Edits touch one block; every other byte of the page survives. A date is only ever taken from the heading: a heading
without one, or with an impossible one, stays undated, never "today".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memory_core.candidates import Value
from memory_core.forms import listed, sections
from memory_core.forms.blocks import Block, blocks, line_entry, newline_of, unswallowed
from memory_core.forms.escape import escape, escape_comment, unescape, unescape_comment
from memory_core.forms.record_values import Record, Source, struck
from memory_core.forms.source_line import sources_of
from memory_core.layouts import Form
from memory_core.text import flat

_FIELD = re.compile(r"- (?:\*\*)?([A-Za-z]+)(?:\*\*)?:(?:\*\*)?(?: (.*)|$)", re.DOTALL)
_KNOWN = frozenset({"tags", "fitness", "source", "body", "supersedes", "conflicts", "archived"})
_OURS = {f"- {name.title()}": name for name in _KNOWN}
"""How fields begin that `render` wrote."""
_VALUES = {value.value: value for value in Value}
_NONE = ("",)
_MANY = frozenset({"supersedes", "conflicts"})
_SHORT = 4000
"""Characters of a text that is a block rather than a page."""
_FITNESS = re.compile(
    r"last_referenced=(\d{4}-\d\d-\d\d|never), hit_count=(\d{1,9}), decision_value=(HIGH|MEDIUM|LOW)", re.ASCII
)

__all__ = [
    "Parsed",
    "PlacedRecord",
    "Record",
    "Source",
    "disclosed",
    "insert",
    "insert_all",
    "on_page",
    "parse",
    "remove",
    "render",
    "replace",
    "struck",
]


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


def render(record: Record, newline: str = "\n", level: int = 2) -> str:
    """The block of a record, ending with a line end. `level` is the depth of its heading."""
    lines = [_heading(record, level)]
    if record.tags:
        lines.append(f"- Tags: {escape_comment(', '.join(record.tags))}")
    referenced = record.last_referenced.isoformat() if record.last_referenced else "never"
    lines.append(
        f"- Fitness: last_referenced={referenced}, hit_count={record.hit_count}, decision_value={record.value.value}"
    )
    if record.sources:
        lines.append(f"- Source: {escape_comment('; '.join(map(str, record.sources)))}")
    if record.body:
        lines.append("- Body: " + escape(record.body).replace("\n", "\n  "))
    lines += [f"- Supersedes: ~~{escape_comment(old)}~~" for old in record.supersedes]
    lines += [f"- Conflicts: {escape_comment(other)}" for other in record.conflicts]
    if record.archived:
        lines.append(f"- Archived: {escape_comment(record.archived)}")
    lines += record.extra
    return "\n".join(lines).replace("\n", newline) + newline


def disclosed(record: Record) -> str:
    """What loading and search show: date, title, body and a short source; Tags, Fitness and ids stay on disk."""
    lines = [_heading(record, 2)]
    if record.body:
        lines.append(escape(record.body))
    lines += record.extra
    for old in record.supersedes:
        lines.append(f"(replaces: {escape_comment(old)})")
    for other in record.conflicts:
        lines.append(f"(in conflict with: {escape_comment(other)})")
    if record.sources:
        lines.append(f"({escape_comment('; '.join([source.short for source in record.sources]))})")
    return "\n".join(lines) + "\n"


def insert(text: str, record: Record, form: Form, newline: str = "\n", section: str = "") -> str:
    """`text` with the record in it. NEWEST_FIRST: before the first record of its day or earlier; else at the end.

    With a `section`: under that heading, which is added at the end where it is missing, newest first.
    """
    if section:
        found = sections.span(text, section)
        if found is None:
            text = _put_in(text, len(text), f"## {section}{newline}", newline)
            found = (len(text), len(text), 2)
        start, end, level = found
        level = min(level + 1, 6)
        at = _place(text, record, start, end, level)
        if at and text[at - 1] != "\n":
            at = listed.after(text, at)
        return _put_in(text, at, render(record, newline, level), newline)
    at = _place(text, record, 0, len(text)) if form is Form.NEWEST_FIRST else len(text)
    return _put_in(text, at, render(record, newline), newline)


def insert_all(text: str, new: Sequence[Record], form: Form, newline: str = "\n") -> str:
    """`text` as if each of the records were inserted in turn; the page is read once."""
    places: dict[int, list[tuple[date, int, Record]]] = {}
    for number, record in enumerate(new):
        newest = form is Form.NEWEST_FIRST
        at = _place(text, record, 0, len(text)) if newest else len(text)
        places.setdefault(at, []).append((record.day or date.min, number if newest else -number, record))
    for at, found in sorted(places.items(), reverse=True):
        found.sort(key=lambda one: one[:2] if form is Form.NEWEST_FIRST else (date.min, one[1]), reverse=True)
        text = _put_in(text, at, newline.join(render(record, newline) for _, _, record in found), newline)
    return text


def replace(text: str, identity: str, record: Record) -> str:
    """`text` with the record of that identity written anew; unchanged where there is none.

    A heading that says the same keeps the form that a person gave it.
    An entry of one line has no fields: it is rewritten only when title or body change.
    """
    placed = parse(text).find(identity)
    if placed is None:
        return text
    if placed.level == 0:
        same = (placed.record.title, placed.record.body) == (record.title, record.body)
        new = text[placed.start : placed.end] if same else f"{_line(record)}"
    else:
        newline = newline_of(text)
        new = render(record, newline, placed.level).removesuffix(newline)
        if _heading(record, 2) == _heading(placed.record, 2):
            _, separator, rest = new.partition(newline)
            new = text[placed.start : placed.end].partition("\n")[0].removesuffix("\r") + separator + rest
    return text[: placed.start] + new + text[placed.end :]


def remove(text: str, identity: str) -> str:
    """`text` without the record of that identity and the blank line after it; unchanged where there is none."""
    placed = parse(text).find(identity)
    if placed is None:
        return text
    newline = newline_of(text)
    after = text[placed.end :]
    for _ in range(2):
        after = after.removeprefix(newline)
    before = text[: placed.start]
    return before.removesuffix(newline) if not after and before.endswith(newline * 2) else before + after


def _heading(record: Record, level: int) -> str:
    day = f"[{record.day.isoformat()}] " if record.day else ""
    proven = "[PROVEN] " if record.proven else ""
    return f"{'#' * level} {day}{proven}{escape(record.title)}"


def _line(record: Record) -> str:
    body = f" → {escape_comment(flat(record.body))}" if record.body else ""
    day = f"[{record.day.isoformat()}] " if record.day else ""
    return f"{day}{escape_comment(record.title)}{body}"


def _record(block: Block, problems: list[str]) -> Record | None:
    """The record of a block with a heading; None for a heading that has neither a date nor anything under it."""
    lines = block.lines
    while lines and not lines[-1].strip():
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


def _place(text: str, record: Record, start: int, end: int, level: int = 2) -> int:
    """Where a newest-first record goes: before the first of its day or earlier, else after the last dated one.

    Looked at are the records between `start` and `end`; without any it goes to `end`. `level` is its heading's.
    """
    found = (placed for placed in parse(text).records if start <= placed.start < end)
    dated = [placed for placed in found if placed.record.day is not None and placed.level]
    if record.day is not None:
        for placed in dated:
            if placed.record.day is not None and placed.record.day <= record.day:
                return placed.start
    return unswallowed(text, dated[-1].end, end, level) if dated else end


def _put_in(text: str, at: int, block: str, newline: str) -> str:
    """`text` with `block` at `at`, a blank line on either side of it."""
    before, after = text[:at], text[at:]
    if before and not before.endswith("\n"):
        before += newline
    if before and not before.endswith((newline * 2, "\n\n")):
        before += newline
    if after.strip():
        after = newline + after.removeprefix(newline) if after.startswith(newline) else newline + after
    else:
        after = ""
    return before + block + after


def _day(text: str) -> date | None:
    try:
        return None if text == "never" else date.fromisoformat(text)
    except ValueError:
        return None


def _bare(text: str) -> str:
    return text.removeprefix("~~").removesuffix("~~")
