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
`parse(render(r))` is `r`. Here they are written into pages; record_reading reads them, record_values has the values.

Identity: the message that states the record, with its title; where no message is known, day and title. Hits, tags,
body and further sources may change without changing it.

Edits touch one block; every other byte of the page survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memory_core.forms import listed, sections
from memory_core.forms.blocks import newline_of, unswallowed
from memory_core.forms.escape import escape, escape_comment
from memory_core.forms.record_reading import Parsed, PlacedRecord, on_page, parse
from memory_core.forms.record_values import Record, Source, struck
from memory_core.layouts import Form
from memory_core.text import flat

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
