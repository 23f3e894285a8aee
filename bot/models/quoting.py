"""Which of the disclosed records an answer quotes: these are used, and their hits count (design section 10). Pure.

A model does not say what it quotes, so the answer is compared with every record that the conversation holds. A record
is quoted where the answer has a run of its words, or most of them. Words of the question count for nothing: an answer
that only repeats it quotes nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_core.disclosure import Disclosure, Loaded
from memory_core.forms.units import Unit, units_of
from memory_core.ids import PageId
from memory_core.terms import terms

RUN = 4
"""So many words of a record, one after the other, are a quotation."""
MOST = 0.6
"""So much of a record's words is one, in whatever order."""
LEAST = 3
"""A quotation holds at least so many words that the question does not."""


def quoted(answer: str, question: str, disclosures: Iterable[Disclosure]) -> tuple[tuple[PageId, str], ...]:
    """Page and identity of every record that the answer quotes, each once, in the order of disclosure."""
    said, asked = terms(answer), frozenset(terms(question))
    words, runs = frozenset(said), _runs(said)
    parts = (part for disclosure in disclosures for part in disclosure.loaded)
    found = (
        (part.page, record) for part in parts for record, unit in _records(part) if _is(unit, words, runs, asked)
    )
    return tuple(dict.fromkeys(found))


def _records(part: Loaded) -> Iterator[tuple[str, Unit]]:
    """The records of a disclosed text, by their identities; they are named in order."""
    dated = [unit for unit in units_of(part.page, part.form, part.text).units if unit.record]
    if len(dated) == len(part.records):
        yield from zip(part.records, dated, strict=True)


def _is(unit: Unit, words: frozenset[str], runs: frozenset[tuple[str, ...]], asked: frozenset[str]) -> bool:
    own = terms(f"{unit.title} {unit.body}")
    distinct = frozenset(own)
    new = (distinct & words) - asked
    if len(new) < min(LEAST, len(distinct - asked)) or not new:
        return False
    return len(distinct & words) >= MOST * len(distinct) or bool(_runs(terms(unit.body)) & runs)


def _runs(said: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(said[at : at + RUN] for at in range(len(said) - RUN + 1))
