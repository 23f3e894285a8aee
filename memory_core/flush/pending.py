"""Unsettled things: what a flush leaves open, the next one settles first, and the third drops.

A pending item is settled by a fact of the same matter that meets its bar, or by the same thing said again: by
somebody else where a decision is meant, in another message for anything else. The sources of both then bear the
fact, the earlier first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memory_core.flush.bars import Fact
from memory_core.flush.sameness import best, stated, words
from memory_core.forms.flush_state import PendingItem
from memory_core.forms.record_values import with_sources
from memory_core.ids import MessageKey
from memory_core.layouts import Kind

FLUSHES = 3
"""The flush that drops an item: it was seen by two before."""


def settle(items: Sequence[PendingItem], facts: Sequence[Fact]) -> tuple[tuple[Fact, ...], tuple[PendingItem, ...]]:
    """What is settled now, in the order it was said, and what stays open."""
    found = list(facts)
    kept: list[PendingItem] = []
    for item in items:
        at = _answer(item, found)
        if at is not None:
            found[at] = replace(found[at], settled=True, sources=with_sources(item.sources, found[at].sources))
        elif item.flushes + 1 < FLUSHES:
            kept.append(replace(item, flushes=item.flushes + 1))
    for fact in found:
        if not fact.settled and not any(_same(item, fact) for item in kept):
            kept.append(_item(fact))
    return tuple(fact for fact in found if fact.settled), tuple(kept)


def without(items: Sequence[PendingItem], gone: Collection[MessageKey]) -> tuple[PendingItem, ...]:
    """The items that do not rest on messages alone that are gone."""
    return tuple(item for item in items if not item.sources or not _keys(item) <= set(gone))


def _keys(item: PendingItem) -> set[MessageKey]:
    return {key for source in item.sources for key in source.keys}


def _answer(item: PendingItem, facts: Sequence[Fact]) -> int | None:
    """Which fact settles the item; None for none."""
    matching = [at for at, fact in enumerate(facts) if _same(item, fact)]
    settled = [at for at in matching if facts[at].settled]
    if settled:
        return settled[0]
    return next((at for at in matching if _says_again(item, facts[at])), None)


def _same(item: PendingItem, fact: Fact) -> bool:
    known = words(stated(item.title, item.body))
    return item.kind is fact.kind and best(words(fact.text), ((item, known),)) is not None


def _says_again(item: PendingItem, fact: Fact) -> bool:
    people = {source.person for source in item.sources}
    if item.kind in (Kind.DECISION, Kind.TASK):
        return fact.sources[0].person not in people and (item.kind is Kind.DECISION or bool(fact.who))
    return not _keys(item).issuperset(fact.sources[0].keys)


def _item(fact: Fact) -> PendingItem:
    return PendingItem(fact.kind, fact.title, fact.body, fact.sources, who=fact.who, project=fact.project)
