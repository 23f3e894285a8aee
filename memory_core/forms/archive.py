"""archive/YYYY-MM.md: what left its page or is an old journal; searched as every page, never loaded by itself.

    # Archive 2026-09

    ## [2026-04-06] Redis for the session cache
    - Fitness: …
    - Body: …
    - Archived: 2026-09-01, score=41, page=experience

    ## Journal 2026-08-12 (+08:00)

    #### 14:30 Notes
    …

A record stands as on its page, with one line more, which says when and why it left and where it goes back to when it
is used again. A journal is one block: its headings are two levels deeper, so that its text is nobody's record, and a
fence or comment that it never closes is made harmless, so that it cannot swallow what stands below it. A struck line,
and a line of the days, stand as they stood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_core.forms.blocks import day_of, lines_of, newline_of
from memory_core.forms.records import Record

_HEADING = re.compile(r"(#{1,6})([ \t]+.*|)")
_TITLE = re.compile(r"#[ \t]+(\d{4}-\d{2}-\d{2}.*)")
_ACTIVE = re.compile(r" {0,3}(?:`{3,}|~{3,})|<!--")
_DATED = re.compile(r"(#{3,6}[ \t]+)(?=\[?\d{4}[-/.]\d)")
_ARCHIVED = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:, score=(\d+))?(?:, page=([^,]+))?(?:, section=([^,]+))?")


@dataclass(frozen=True, slots=True)
class Archived:
    """What the `Archived` field says: the day, the score, and the page (and section) that the record left."""

    day: date
    score: int = 0
    page: str = ""
    section: str = ""

    def __str__(self) -> str:
        section = f", section={self.section}" if self.section else ""
        return f"{self.day.isoformat()}, score={self.score}, page={self.page}{section}"


def archived(record: Record) -> Archived | None:
    """What the record's `Archived` field says; None for a record that has none in our form."""
    found = _ARCHIVED.fullmatch(record.archived)
    day = day_of(found[1], found[2], found[3]) if found else None
    return Archived(day, int(found[4] or 0), found[5] or "", found[6] or "") if found and day else None


def title_of(month: str) -> str:
    """The first line of a month's archive."""
    return f"# Archive {month}"


def journal_block(day: str, text: str) -> str:
    """A journal as one block of an archive, without a line end."""
    lines: list[str] = []
    title = ""
    for line in lines_of(text):
        heading = None if line.inert else _HEADING.fullmatch(line.text)
        if not title and heading and (found := _TITLE.fullmatch(line.text)) and found[1].startswith(day):
            title = f"## Journal {found[1].rstrip()}"
        elif heading:
            lines.append(_DATED.sub(r"\1Note ", f"{'#' * min(6, len(heading[1]) + 2)}{heading[2]}"))
        elif not line.inert and _ACTIVE.match(line.text):
            lines.append("\\" + line.text)
        else:
            lines.append(line.text)
    return "\n".join([title or f"## Journal {day}", "", *"\n".join(lines).strip("\n").split("\n")]).rstrip()


def is_sound(block: str) -> bool:
    """Does the block close every fence and comment that it opens, so that it may stand among others?"""
    return not any(not line.inert and _ACTIVE.match(line.text) for line in lines_of(block))


def is_open(text: str) -> bool:
    """Does the text open a fence or comment and never close it? It would pair with the next one that comes after."""
    problems: list[str] = []
    lines_of(text, problems)
    return bool(problems)


def has_fence(block: str) -> bool:
    """Does the block hold a fence or a comment of several lines?"""
    return any(line.inert for line in lines_of(block))


def with_blocks(text: str, title: str, blocks: Sequence[str]) -> str:
    """`text` with those of the blocks at its end that do not stand there; begun with `title` where it is empty."""
    newline = newline_of(text)
    new = missing(text, blocks)
    if not new:
        return text
    lead = f"{title}\n\n" if not text.strip() and title else ""
    if text and not text.endswith("\n"):
        lead = "\n\n" + lead
    elif text and not text.endswith(("\n\n", "\r\n\r\n")):
        lead = "\n" + lead
    return text + (lead + "\n\n".join(new) + "\n").replace("\n", newline)


def missing(text: str, blocks: Sequence[str]) -> tuple[str, ...]:
    """Those of the blocks that do not stand in `text`, each once."""
    plain = f"\n{text.replace(chr(13) + chr(10), chr(10))}\n"
    return tuple(block for block in dict.fromkeys(blocks) if f"\n{block}\n" not in plain)


def without_blocks(text: str, blocks: Sequence[str]) -> str:
    """`text` without those blocks, each once and only as it stands, and without the blank line after each."""
    newline = newline_of(text)
    for block in blocks:
        wanted = block.replace("\n", newline)
        at = _found(text, wanted, newline)
        if at is None:
            continue
        before, after = text[:at], text[at + len(wanted) :]
        for _ in range(2):
            after = after.removeprefix(newline)
        if not after and before.endswith(newline * 2):
            before = before.removesuffix(newline)
        text = before + after
    return text


def _found(text: str, wanted: str, newline: str) -> int | None:
    """Where those lines stand as whole lines."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if (at == 0 or text[at - 1] == "\n") and (end == len(text) or text.startswith(newline, end)):
            return at
        at = text.find(wanted, at + 1)
    return None
