"""A curated MEMORY.md (adaptive): long-term memory that sleep writes and prunes, sorted by topic, not by date.

Told are: more lines than its budget; sections that are a dump (too many entries, an entry of a wall of text, a long
pasted block); headings and entries that are nothing but a date; entries that say the same as an earlier one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from memory_core.audit.cues import DAY
from memory_core.audit.findings import Finding
from memory_core.audit.lines import Statement, statements
from memory_core.audit.snapshot import Snapshot
from memory_core.forms.blocks import lines_of
from memory_core.layouts import PageRule
from memory_core.script import fold
from memory_core.terms import terms

MOST_ENTRIES = 60
"""Statements of one section: what is more was not chosen."""
LONGEST_CHARACTERS = 600
"""Of one statement: an entry is a sentence or two."""
LONGEST_BLOCK_LINES = 20
"""Of one code block: what is longer was pasted."""
_LIKE = 0.9
_WORDS = 4
_COMPARED = 600
"""So many statements are compared with each other; ten times the page's budget has other troubles."""
_FIELD = re.compile(r"(?:Tags|Fitness|Source|Supersedes|Conflicts|Archived):")


def curated_findings(seen: Snapshot, rule: PageRule, text: str) -> Iterator[Finding]:
    """What is wrong with the curated page `rule`, whose text this is."""
    lines, budget = len(text.splitlines()), rule.budget_lines or 0
    if lines > budget:
        what = (
            f"{lines} lines, its budget is {budget}: sleep moves the least used entries to the archive; what "
            "it does not know as an entry, shorten by hand."
        )
        yield seen.finding("memory-bloated", what, rule.page)
    every = statements(text)
    for code, first, last, what in (*_dumps(every, text), *_dates(every), *_duplicates(every)):
        yield seen.finding(code, what, rule.page, (first, last))


Told = tuple[str, int, int, str]


def _dumps(every: tuple[Statement, ...], text: str) -> Iterator[Told]:
    counts = Counter(one.headings[:2] for one in every if not one.level and not _FIELD.match(one.text))
    for headings, count in counts.items():
        if count > MOST_ENTRIES:
            own = [one.line for one in every if one.headings[:2] == headings]
            name = headings[-1] if headings else "the top of the page"
            what = (
                f"{count} statements under {name[:60]!r} are no choice any more: keep what lasts, the rest "
                "stands in the journals."
            )
            yield "memory-dump", own[0], own[-1], what
    for one in every:
        if len(one.text) > LONGEST_CHARACTERS:
            what = f"An entry of {len(one.text)} characters: say it in a sentence or two; the journal keeps the rest."
            yield "memory-dump", one.line, one.line, what
    first = 0
    for number, line in enumerate((*lines_of(text), None), start=1):
        if line is not None and line.inert:
            first = first or number
        elif first:
            if number - first > LONGEST_BLOCK_LINES:
                what = f"A block of {number - first} lines was pasted: name the file that holds it instead."
                yield "memory-dump", first, number - 1, what
            first = 0


def _dates(every: tuple[Statement, ...]) -> Iterator[Told]:
    for one in every:
        bare = one.text.strip("[]*_~:. -–—")
        if one.level == 1 or not (found := DAY.match(bare)):
            continue
        if found.end() == len(bare):
            what = "Nothing but a date: this page is sorted by topic; what happened on a day stands in its journal."
            yield "memory-date-only", one.line, one.line, what


def _duplicates(every: tuple[Statement, ...]) -> Iterator[Told]:
    known: list[tuple[str, frozenset[str], int]] = []
    for one in [one for one in every if not one.level and not _FIELD.match(one.text)][:_COMPARED]:
        text, words = fold(one.text).strip(" .。"), frozenset(terms(one.text))
        if len(words) < _WORDS:
            continue
        same = next((line for other, others, line in known if other == text or _like(words, others)), 0)
        if same:
            what = f"Says the same as line {same}: keep the fuller one."
            yield "memory-duplicate", one.line, one.line, what
        else:
            known.append((text, words, one.line))


def _like(one: frozenset[str], other: frozenset[str]) -> bool:
    """Is one of two sets of words nearly all of the other?"""
    return len(one & other) >= _LIKE * max(len(one), len(other))
