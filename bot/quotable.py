"""What of memory the offline agent may quote (bot/offline.py), and how well it fits a question. Pure.

A disclosure is cut into its parts. No memory of anybody are: the index, SOUL.md (it says how remem speaks), what a
template of ours says and nobody changed, what remem notes of its own flushes. What was disclosed and no longer stands
on its page, because a hand or the bot itself changed it since, is none any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_core.answers import quoted
from memory_core.asking import about
from memory_core.disclosure import Disclosure, Loaded
from memory_core.forms.board import BOARDS
from memory_core.forms.units import units_of
from memory_core.ids import PageId
from memory_core.layouts import INDEX, Form
from memory_core.layouts.base import SOUL
from memory_core.loading.later import CHANGED, is_gone_line
from memory_core.search import Hit, Placed, rank, strong
from memory_core.search.parts import part_of
from memory_core.templates import is_ours
from memory_core.terms import terms
from memory_core.text import one_line

_SHARE = 0.34
"""Which part of what a question is about a quoted part must hold, where it holds but one word of it."""
_OWN_LINE = re.compile(r"- (?:last flush|pending): ")
"""What remem itself notes in the environment snapshot: no fact of the room."""
_ASIDE = re.compile(r"\n\((?:@|replaces: |in conflict with: )[^\n]*\)|[ \t]\(@[^()\n]*\)$", re.MULTILINE)
"""The source of a part, and what it replaces or contradicts, as they are disclosed."""
_NO_MEMORY = frozenset({INDEX, SOUL.page})


@dataclass(frozen=True, slots=True)
class Quotable:
    """A part that can be quoted, and the identity of its record ('' for other text)."""

    placed: Placed
    record: str = ""
    form: Form | None = None
    """The form of its page; None for what was said here."""
    mark: str = ""
    """Its mark as it was disclosed, '' where that is not known."""

    @property
    def bare(self) -> bool:
        """Is it a line of a day's summary? It tells neither who said it nor why."""
        return self.form is Form.DAILY_LINES


def standing(disclosures: Sequence[Disclosure], now: Mapping[PageId, frozenset[str]]) -> Iterator[Quotable]:
    """What was disclosed, without what was changed or taken away since: that is no memory any more.

    What a hand changed was disclosed anew; `now` are the marks on the pages that the bot wrote (Ask.standing).
    """
    parts = [part for disclosure in disclosures for part in disclosure.loaded]
    for number, part in enumerate(parts):
        later = [one for one in parts[number + 1 :] if one.page == part.page and one.why == CHANGED]
        known = now.get(part.page)
        if known is None and later:
            known = frozenset((*later[-1].shown, *later[-1].rest))
        yield from (one for one in in_part(part) if known is None or not one.mark or one.mark in known)


def in_disclosure(disclosure: Disclosure) -> Iterator[Quotable]:
    """What one disclosure holds."""
    for part in disclosure.loaded:
        yield from in_part(part)


def in_part(part: Loaded) -> Iterator[Quotable]:
    """The parts of a disclosed text. Its records are named in order, so that a quotation counts for the right one."""
    if part.page in _NO_MEMORY:
        return
    units = units_of(part.page, part.form, part.text).units
    dated = [unit for unit in units if unit.record]
    names = iter(part.records) if len(dated) == len(part.records) else iter(())
    marks = part.shown if len(part.shown) == len(units) else ("",) * len(units)
    for unit, mark in zip(units, marks, strict=True):
        if (part.form in BOARDS and _OWN_LINE.match(unit.body)) or is_gone_line(unit.body) or is_ours(unit.body):
            continue
        name = next(names, "") if unit.record else ""
        yield Quotable(Placed(part.page, unit), name, part.form, mark)


def fitting(quotable: Sequence[Quotable], question: str) -> tuple[Hit, ...]:
    """The parts that fit the question, best first: two words of what it is about, or one of few."""
    wanted = about(question)
    hits = strong(rank([one.placed for one in quotable], question))
    shared = [(hit, held(hit.placed, wanted)) for hit in hits]
    return tuple(hit for hit, number in shared if number >= 2 or number >= max(1, _SHARE * len(wanted)))


def held(placed: Placed, wanted: Sequence[str]) -> int:
    """How many of these terms a part holds, as search sees it."""
    own = {term for run in part_of(placed).runs for term in run.terms}
    return sum(term in own for term in wanted)


def same(one: Quotable, other: Quotable) -> bool:
    """Does one of two parts say all that the other says? Who said it, and what it replaces, is not what it says."""
    first, second = (set(terms(_ASIDE.sub("", part.placed.unit.body))) for part in (one, other))
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= 0.9 * shorter


def line(placed: Placed) -> str:
    """One quotation: date, title, text, page and source."""
    unit = placed.unit
    day = f"[{unit.day.isoformat()}] " if unit.day else ""
    title = unit.title if unit.record else ""
    return quoted(placed.page, one_line(unit.body, 600), day=day, title=title, source=unit.source)
