"""Two records that say the same become one: the fullest is kept, and nothing of the others is lost.

body, own lines     those of the others that hold a word, or a number, which the kept one does not
sources, tags, supersedes, conflicts        all, each once
hits                summed
value, last use     the highest, the latest; PROVEN if one was
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_core.candidates import Value
from memory_core.flush.sameness import stated
from memory_core.forms.record_values import Record, Source
from memory_core.script import fold
from memory_core.sleep.likeness import details

_RANK = {Value.LOW: 0, Value.MEDIUM: 1, Value.HIGH: 2}


def fullness(record: Record) -> tuple[int, int, int]:
    """How much a record says; the fullest is kept."""
    text = stated(record.title, record.text)
    return len(details(text)), len(text), len(record.sources)


def merged(kept: Record, others: Sequence[Record]) -> Record:
    """The kept record with what the others have more."""
    every = (kept, *others)
    gone = {record.label for record in every}
    return replace(
        kept,
        day=next((record.day for record in every if record.day), None),
        body=_body(kept, others),
        tags=tuple(dict.fromkeys(tag for record in every for tag in record.tags)),
        last_referenced=max((record.last_referenced for record in every if record.last_referenced), default=None),
        hit_count=sum(record.hit_count for record in every),
        value=max((record.value for record in every), key=_RANK.__getitem__),
        sources=all_sources(record.sources for record in every),
        proven=any(record.proven for record in every),
        supersedes=tuple(dict.fromkeys(old for record in every for old in record.supersedes)),
        conflicts=tuple(dict.fromkeys(one for record in every for one in record.conflicts if one not in gone)),
        extra=_extra(every),
    )


def all_sources(groups: Iterable[Sequence[Source]]) -> tuple[Source, ...]:
    """The sources of all groups in order, each message and each unreadable source once."""
    keys: set[str] = set()
    texts: set[str] = set()
    found: list[Source] = []
    for source in (source for group in groups for source in group):
        known = keys.issuperset(source.keys) if source.keys else str(source) in texts
        if not known:
            found.append(source)
        keys |= set(source.keys)
        texts.add(str(source))
    return tuple(found)


def _body(kept: Record, others: Sequence[Record]) -> str:
    text = stated(kept.title, kept.text)
    lines = [kept.body] if kept.body else []
    for other in others:
        for part in (other.title.rstrip("…"), *other.body.split("\n")):
            new = part.strip() and fold(part) not in fold(text) and not details(part) <= details(text)
            if new:
                lines.append(part)
                text = f"{text}\n{part}"
    return "\n".join(lines)


def _extra(records: Sequence[Record]) -> tuple[str, ...]:
    """A person's own lines: those of the first, then each other block that does not stand there as a whole."""
    found = list(records[0].extra)
    for record in records[1:]:
        if record.extra and "\n".join(record.extra) not in "\n".join(found):
            found += record.extra
    return tuple(found)
