"""Facts of the environment beyond a board's budget: they become records of the page on which the layout keeps tools.

In apm that is `conventions/tools` of a group and `longterm` of a DM. Out goes what was said longest ago; what is said
again, or anew with another value, counts as said then. The record has the fact's day, source and messages, is found
by search and counted when it is used, and from there REM takes what nobody uses to the archive, as every record. A
layout that names no page for tools keeps its facts on the board.

A fact is known by its key, wherever it stands: said again with the value that a record has, it is a hit on that;
with another one it is on the board from now on, and the record leaves a struck line. A person's own line, and one
that somebody rewrote, stays. At most AT_ONCE facts move in one flush, and they are a part of its plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_core.flush.bars import Fact
from memory_core.flush.record_draft import strike
from memory_core.flush.target import TimedTarget
from memory_core.forms import facts
from memory_core.forms.board import board
from memory_core.forms.facts import Stated, stated
from memory_core.forms.records import PlacedRecord, on_page, render, struck
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Kind, Table
from memory_core.operations.attention import PutFact
from memory_core.operations.records import AddRecord, TouchRecord

AT_ONCE = 40
"""How many facts may leave in one flush."""
_LEAST_TASKS, _LEAST = 3, 6
"""One part of so many of the budget is the tasks' before any fact stands there, and the facts' in any case."""


@dataclass(frozen=True, slots=True)
class _OnBoard:
    """A fact as it stands on its board, and what that says."""

    key: str
    value: str
    said: Stated
    messages: tuple[MessageKey, ...]


def home_of_facts(table: Table) -> PageId | None:
    """The page of records that takes a board's facts; None where the layout names none for tools."""
    home = table.kinds.get(Kind.TOOL)
    return home if home and not home.endswith("*") and table.rule(home).form in WITH_RECORDS else None


def hold_facts(draft: TimedTarget, page: PageId, open_tasks: int, shown: int) -> None:
    """Move the facts that the board has no room for. `shown` of the open tasks stand on it."""
    rule, home = draft.table.rule(page), home_of_facts(draft.table)
    ours = sorted(_ours(draft, page), key=lambda one: (one.said.last, one.said.day)) if home else []
    if home is None or not rule.budget_lines or not ours:
        return
    others = len(draft.texts[page].splitlines()) - shown - len(ours)
    for_tasks = min(open_tasks, rule.budget_lines // _LEAST_TASKS)
    room = max(rule.budget_lines - others - for_tasks, rule.budget_lines // _LEAST)
    for one in ours[: min(max(len(ours) - room, 0), AT_ONCE)]:
        _move(draft, page, home, one)


def say_again(draft: TimedTarget, fact: Fact, key: str, value: str) -> bool:
    """Is the fact known to its home with that value? Then it is a hit on the record, and a further source."""
    home = home_of_facts(draft.table)
    known = next((one.record for one in _at_home(draft, home, key) if facts.value_of(one.record) == value), None)
    if home is None or known is None:
        return False
    first = known.identity not in draft.touched and fact.sources[0].keys[0] not in known.messages
    draft.touched.add(known.identity)
    draft.do(TouchRecord(home, known.identity, known.hit_count + first, draft.referenced or fact.day, fact.sources))
    return True


def is_older(draft: TimedTarget, fact: Fact, key: str, value: str) -> bool:
    """Has its home another value for that key, stated on a later day? So it is with history that is imported."""
    others = (one.record for one in _at_home(draft, home_of_facts(draft.table), key))
    return any(one.day is not None and one.day > fact.day and facts.value_of(one) != value for one in others)


def strike_others(draft: TimedTarget, key: str, value: str) -> None:
    """The records of that key with another value leave struck lines."""
    home = home_of_facts(draft.table)
    for placed in list(_at_home(draft, home, key)):
        if home is not None and facts.value_of(placed.record) != value:
            strike(draft, home, placed)


def _move(draft: TimedTarget, page: PageId, home: PageId, one: _OnBoard) -> None:
    """The fact leaves the board for its home, where it takes the place of an older one of its key."""
    record = facts.record_of(one.key, one.said, draft.name or "DM", one.messages)
    there = [placed.record for placed in _at_home(draft, home, one.key)]
    known = next((other for other in there if facts.value_of(other) == one.said.value), None)
    if known is not None:
        draft.do(TouchRecord(home, known.identity, known.hit_count, one.said.last, record.sources))
    else:
        used = max(one.said.last, draft.referenced or one.said.last)
        record = replace(record, last_referenced=used, supersedes=tuple(map(struck, there)))
        if not draft.do(AddRecord(home, render(record), draft.table.section_of.get(Kind.TOOL, ""))):
            return
        strike_others(draft, one.key, one.said.value)
    draft.do(PutFact(page, one.key, "", given=one.value, board=draft.table.rule(page).form))


def _ours(draft: TimedTarget, page: PageId) -> Iterator[_OnBoard]:
    """The facts of the board that somebody stated, in order; of two lines with one key neither can be told."""
    on, text = board(draft.table.rule(page).form), draft.texts[page]
    snapshot = on.parse(text).snapshot
    often = Counter(facts.comparable(key) for key, _ in snapshot)
    for key, value in snapshot:
        said, messages = stated(value), on.keys_of(text, fact=key)
        if said is not None and messages and often[facts.comparable(key)] == 1:
            yield _OnBoard(key, value, said, messages)


def _at_home(draft: TimedTarget, home: PageId | None, key: str) -> Iterator[PlacedRecord]:
    """The records of that key at the home of facts."""
    if home is None or home not in draft.texts:
        return
    for placed in on_page(draft.texts[home], draft.table.rule(home).form):
        if placed.level and placed.record.sources and facts.key_of(placed.record) == facts.comparable(key):
            yield placed
