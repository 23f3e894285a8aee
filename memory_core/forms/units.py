"""The parts that a page is disclosed, searched and cut in.

A unit is the smallest part that makes sense alone: a record; else a paragraph, a list item with what hangs below it,
a table row, a fenced block. A unit is never cut by loading, save one that is larger than all the room there is. What
stands above units and is not one itself (headings, the head of a table) is their context; it is shown once, before
the first unit that needs it. So a page, some of its parts, or one search result are all written by `render`.

What is disclosed is not what stands on disk: of a record date, title, body and a short source (forms/records);
of everything else the text without comments, which are ours (message keys) or invisible in Markdown anyway. A heading
with nothing below it, and an empty table, are no units: a page of such is empty. Nor is a journal's absorbed line:
what it says stands on a page, or was superseded there.

A mark is a unit's fingerprint with its title: it tells a changed part from a known one, and can name one that went.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache

from memory_core.forms.blocks import Line, day_of, is_struck, lines_of
from memory_core.forms.journal import ABSORBED
from memory_core.forms.records import Record, disclosed, on_page
from memory_core.forms.records import parse as parse_records
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.remembered import Remembered
from memory_core.text import one_line

_HEADING = re.compile(r"(#{1,6})[ \t]+\S.*")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,4}[.)])[ \t]+\S.*")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,}).*")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_SAID_ON = re.compile(r"## Said on (\d{4})-(\d\d)-(\d\d)")
_SAID_BY = re.compile(r"\((@[^()]{1,80})\)$")
_WITHOUT_RECORDS = frozenset({Form.JOURNAL, Form.STATE, Form.INDEX})
_DEEPEST = 6
_TITLE_CHARACTERS = 80
_REMEMBERED_CHARACTERS = 20_000_000
"""The pages of a thousand busy groups; remembered, they take some eight bytes a character."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One part of a page. `text` is what is disclosed, without a line end; `context` are the lines above it.

    `record` is the record's identity, empty for other text. `said_by` are the names in its source, `words` what is
    searched as well and not shown (tags). `close`: it follows the unit before it without a blank line.
    """

    text: str
    context: tuple[str, ...] = ()
    title: str = ""
    body: str = ""
    record: str = ""
    day: date | None = None
    source: str = ""
    said_by: str = ""
    words: str = ""
    close: bool = False

    @property
    def mark(self) -> str:
        """The fingerprint and the title."""
        return _mark(self)

    @property
    def label(self) -> str:
        """What a person would call it: `[2026-04-06] Redis for the session cache`, or its heading."""
        day = f"[{self.day.isoformat()}] " if self.day and self.record else ""
        return f"{day}{one_line(self.title or self.body, _TITLE_CHARACTERS)}"


@lru_cache(maxsize=4096)
def _mark(unit: Unit) -> str:
    """Remembered, since every disclosure asks for those of a whole page."""
    return f"{hashlib.sha256(unit.text.encode('utf-8', 'replace')).hexdigest()[:12]} {unit.label}"


@dataclass(frozen=True)  # without slots: `text` is kept in it
class Units:
    """A page's units in order; `text` is the whole page as it would be disclosed; `problems` are for people."""

    units: tuple[Unit, ...]
    problems: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The page as it would be disclosed; written when it is first asked for, which search never does."""
        return render(self.units)


REMEMBERED = Remembered[tuple[PageId, Form, str], Units](_REMEMBERED_CHARACTERS)
"""The units of pages that were asked for last."""


def units_of(page: PageId, form: Form, text: str) -> Units:
    """The units of a page. Never raises. Remembered by the text, so that an unchanged page is taken apart once."""
    return REMEMBERED.get((page, form, text), len(text), lambda: cut(page, form, text))


def cut(page: PageId, form: Form, text: str) -> Units:
    """The same, not remembered: for what is looked at once."""
    parsed = parse_records(text) if form not in _WITHOUT_RECORDS else None
    ours = [placed for placed in on_page(text, form) if _is_ours(placed.record)] if parsed else []
    day = _day_of(page)
    found: list[Unit] = []
    path: tuple[str, ...] = ()
    at, deepest = 0, 0  # no heading of the path is deeper than `deepest`, so that most records leave it as it is
    for placed in ours:
        between, level = text[at : placed.start], max(placed.level, 2)
        if between.strip():
            plain = _Plain(day, path)
            found += plain.units(between)
            path, deepest = plain.headings, _DEEPEST
        if level <= deepest:
            path, deepest = tuple(line for line in path if _level(line) < level), level - 1
        found.append(_record_unit(placed.record, path))
        at = placed.end
    found += _Plain(day, path).units(text[at:])
    if form in (Form.JOURNAL, Form.ARCHIVE):
        found = [unit for unit in found if not unit.text.endswith(ABSORBED)]
    return Units(tuple(found), parsed.problems if parsed else ())


def render(units: Iterable[Unit]) -> str:
    """The units as Markdown, their context before the first that needs it; ends with a line end (for none: empty)."""
    lines: list[str] = []
    shown: tuple[str, ...] = ()
    for unit in units:
        same = _common(shown, unit.context)
        if lines and not (unit.close and same == len(unit.context)):
            lines.append("")
        lines += unit.context[same:]
        lines.append(unit.text)
        shown = unit.context
    return "\n".join(lines) + "\n" if lines else ""


def _is_ours(record: Record) -> bool:
    """A dated entry or one with our fields; a heading that a person wrote over some text is plain text."""
    return record.day is not None or bool(record.sources or record.body or record.tags)


def said_on(day: date) -> str:
    """The heading under which a disclosure tells what was said on a day and stands on no page."""
    return f"## Said on {day.isoformat()}"


def _record_unit(record: Record, path: tuple[str, ...]) -> Unit:
    """The record as a unit; given in the order of the fields, since by name it takes half as long again."""
    text, source = disclosed(record).rstrip("\n"), "; ".join([one.short for one in record.sources])
    names, words = " ".join([one.name for one in record.sources]), " ".join(record.tags)
    return Unit(text, path, record.title, record.text, record.identity, record.day, source, names, words)


@dataclass(slots=True)
class _Plain:
    """Takes text apart that holds no record of ours. `headings` is the path of headings at the point reached."""

    day: date | None
    headings: tuple[str, ...]
    _table: tuple[str, ...] = ()
    _open: list[str] = field(default_factory=list)
    _close: bool = False
    _blank: bool = True

    def units(self, text: str) -> Iterator[Unit]:
        """The units of `text`, in order."""
        lines = _visible(lines_of(text))
        for number, (line, fenced) in enumerate(lines):
            after = lines[number + 1][0] if number + 1 < len(lines) else ""
            yield from self._line(line, fenced, after)
        yield from self._end()

    def _line(self, line: str, fenced: bool, after: str) -> Iterator[Unit]:
        heading = None if fenced else _HEADING.fullmatch(line)
        if fenced and self._open and not self._blank:
            self._open.append(line)
        elif not line.strip():
            yield from self._end()
            self._blank, self._table = True, ()
        elif heading is not None:
            yield from self._end()
            self._blank, self._table = True, ()
            kept = tuple(one for one in self.headings if _level(one) < len(heading[1]))
            self.headings = (*kept, line.strip())
            if said := _SAID_ON.fullmatch(line.strip()):
                self.day = day_of(*said.groups())
        elif line.lstrip().startswith("|") and not fenced:
            yield from self._row(line, after)
        elif self._open and not (_ITEM.fullmatch(line) and not fenced):
            self._open.append(line)
        else:
            yield from self._begin(line)

    def _row(self, line: str, after: str) -> Iterator[Unit]:
        """A row of a table: head and rule are context, everything below them is a unit each."""
        if not self._table and _is_rule(after):
            yield from self._end()
            self._table = (line.strip(),)
        elif len(self._table) == 1 and _is_rule(line):
            self._table = (*self._table, line.strip())
        elif line.strip(" |\t:-"):
            yield from self._begin(line)
            yield from self._end()

    def _begin(self, line: str) -> Iterator[Unit]:
        yield from self._end()
        self._open, self._close, self._blank = [line], not self._blank, False

    def _end(self) -> Iterator[Unit]:
        """The unit that was open, if any; a page's rules (`---`) and blanks are none."""
        body, self._open = "\n".join(self._open), []
        if not body.strip(" \t\n-=*_"):
            return
        said_by = _SAID_BY.search(body)
        title = self.headings[-1].lstrip("# ") if self.headings else ""
        yield Unit(
            text=body,
            context=(*self.headings, *self._table),
            title=title,
            body=body.strip(),
            day=self.day,
            source=said_by[1] if said_by else "",
            said_by=said_by[1].rpartition(", ")[0] if said_by else "",
            close=self._close,
        )


def _visible(lines: Sequence[Line]) -> list[tuple[str, bool]]:
    """The lines without comments and without what was superseded, each with whether it stands in a fence.

    What took the place of a struck line names it; alone it would read as valid.
    """
    shown: list[tuple[str, bool]] = []
    comment = fence = False
    for line in lines:
        if comment or (line.inert and not fence and line.text.startswith("<!--")):
            comment = "-->" not in line.text
        elif line.inert:
            fence = not fence if _FENCE.fullmatch(line.text) else fence
            shown.append((line.text, True))
        elif not is_struck(line.text):
            fence = False
            plain = _without_comments(line.text).rstrip()
            if plain or not line.text.strip():
                shown.append((plain, False))
    return shown


def _without_comments(line: str) -> str:
    """The line without what stands in `<!-- … -->`; in one pass, however many marks a line has."""
    kept: list[str] = []
    at = 0
    while (start := line.find("<!--", at)) >= 0 and (end := line.find("-->", start + 4)) >= 0:
        kept.append(line[at:start])
        at = end + 3
    return "".join(kept) + line[at:] if kept else line


def _is_rule(line: str) -> bool:
    """The line below the head of a table: `|---|:--|`."""
    return "-" in line and "|" in line and not line.strip(" \t|:-")


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _day_of(page: PageId) -> date | None:
    """The day that a journal is of."""
    found = _DAY.fullmatch(page.rpartition("/")[2])
    return day_of(*found.groups()) if found else None


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many lines both begin with."""
    same = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        same += 1
    return same
