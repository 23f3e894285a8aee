"""The recall bench on what a flush leaves: the rooms' messages saved by the real flush, its pages searched.

Every room is a group of its own. Each session of the data set is saved when it ends, and again before a question that
is asked in the middle of one; the extractor is the one of rules. The transcript is then looked at no more: a question
is put to the scope's search over its pages (records, journals), and hits are taken best first as long as they fit,
under their headings, which count. A turn is in the context when its message is a source of a shown record or stands
in the comment of a shown journal line. So a turn counts also where the record tells only the gist of it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC

from memory_core.clock import ManualClock
from memory_core.extract import RulesExtractor
from memory_core.flush.engine import Trigger, flush
from memory_core.forms.journal import read_line
from memory_core.forms.records import on_page
from memory_core.forms.units import units_of
from memory_core.handle import Handle, Handles
from memory_core.ids import EventKey, GroupScope, MessageKey, PageId
from memory_core.index import new_index
from memory_core.layouts import INDEX, Form
from memory_core.layouts.apm import APM
from memory_core.ledger.base import Posted
from memory_core.ledger.memory import MemoryLedger
from memory_core.messages import Message
from memory_core.search import TALK, Placed, ScopeSearch, Searches
from memory_core.search.sources import searchable
from memory_core.store.memory import MemoryStores
from memory_core.tokens import Counter, EstimatingCounter
from tests.bench.recall_data import Question, Room
from tests.bench.recall_index import MOST
from tests.bench.recall_rankings import LEAST_TOKENS, ROOM, Share, messages, number_of, part_of_wanted, today

_SCOPE = GroupScope("room")
_COMMENT = re.compile(r"\s*<!--.*?-->")


@dataclass(slots=True)
class Kept:
    """How much the flush left: tokens of its pages as they are disclosed, and of the whole talk under its dates."""

    pages_tokens: int = 0
    talk_tokens: int = 0

    @property
    def ratio(self) -> float:
        """The pages' part of the talk."""
        return self.pages_tokens / max(1, self.talk_tokens)


@dataclass(frozen=True, slots=True)
class _Pages:
    """What is searched at a moment, by page: which messages a record or a line of it was made from."""

    sources: dict[PageId, dict[str, tuple[MessageKey, ...]]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def made_from(self, placed: Placed) -> tuple[MessageKey, ...]:
        """The messages behind a hit."""
        unit = placed.unit
        return self.sources.get(placed.page, {}).get(unit.record or unit.text.strip(), ())


def measured_flushed(
    rooms: Sequence[Room], budgets: Sequence[int], counter: Counter
) -> tuple[dict[int, list[Share]], Kept]:
    """Every question's share at every budget, on the pages that the flush left; and how much these are."""
    return asyncio.run(_measured(rooms, budgets, counter))


async def _measured(
    rooms: Sequence[Room], budgets: Sequence[int], counter: Counter
) -> tuple[dict[int, list[Share]], Kept]:
    shares: dict[int, list[Share]] = {budget: [] for budget in budgets}
    kept = Kept()
    for room in rooms:
        async for question, hits, pages in _asked_of(room, counter, kept):
            for budget in budgets:
                shares[budget].append(_share(room, question, hits, pages, budget, counter))
    return shares, kept


async def _asked_of(room: Room, counter: Counter, kept: Kept) -> AsyncIterator[tuple[Question, list[Placed], _Pages]]:
    said = messages(room.turns)
    if not said:
        return
    clock = ManualClock(said[0].sent_at)
    stores, ledger = MemoryStores(APM), MemoryLedger(clock)
    with closing(Searches()) as searches:
        handle = Handles(stores, ledger, APM, EstimatingCounter(), clock, UTC, searches).open(_SCOPE)
        index = new_index(handle.table, name="room", rooms=[ROOM], purpose="", created=clock.now().date(), zone="")
        stores.put(_SCOPE, INDEX, index.encode())
        search = ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC)
        questions = sorted(room.questions, key=lambda one: one.until)
        for start, until in _stretches(room, questions):
            await _said(ledger, clock, said[start:until])
            await flush(handle, RulesExtractor(), Trigger.IDLE)
            for question in questions:
                if question.until == until:
                    day = today(room.turns[:until])
                    hits = await search.find(question.text, [], _is_page, MOST, day)
                    yield question, [hit.placed for hit in hits], await _pages(handle)
        kept.pages_tokens += sum(counter.count(text) for text in (await _pages(handle)).texts)
    kept.talk_tokens += sum(counter.count(turn.line) for turn in room.turns)
    kept.talk_tokens += sum(
        counter.count(heading) for _, heading in {(one.session, one.heading) for one in room.turns}
    )


def _stretches(room: Room, questions: Sequence[Question]) -> Iterable[tuple[int, int]]:
    """From where to where is said before each flush: to the end of a session, or to a question."""
    turns = room.turns
    ends = {at + 1 for at, turn in enumerate(turns) if at + 1 == len(turns) or turns[at + 1].session != turn.session}
    start = 0
    for end in sorted(ends | {one.until for one in questions}):
        yield start, end
        start = end


async def _said(ledger: MemoryLedger, clock: ManualClock, new: Sequence[Message]) -> None:
    await ledger.intake.record([Posted(EventKey(one.key), one, _SCOPE) for one in new])
    if new:
        clock.move_to(max(clock.now(), new[-1].sent_at))


def _is_page(page: PageId) -> bool:
    return page != TALK


async def _pages(handle: Handle) -> _Pages:
    found = _Pages()
    for page in searchable(handle.table, await handle.store.pages()):
        read = await handle.store.read(page)
        if read is not None:
            form = handle.table.rule(page).form
            found.sources[page] = _sources(form, read.text)
            found.texts.append(units_of(page, form, read.text).text)
    return found


def _sources(form: Form, text: str) -> dict[str, tuple[MessageKey, ...]]:
    """By the identity of a record, or the line as it is shown, the messages it was made from."""
    lines = [(line, read_line(line, "").keys) for line in text.splitlines() if "<!--" in line]
    found = {_COMMENT.sub("", line).strip(): keys for line, keys in lines if keys}
    if form is not Form.JOURNAL:
        found |= {one.record.identity: one.record.messages for one in on_page(text, form)}
    return found


def _share(
    room: Room, question: Question, hits: Sequence[Placed], pages: _Pages, budget_tokens: int, counter: Counter
) -> Share:
    used, headed, keys = 0, set[tuple[PageId, tuple[str, ...]]](), set[str]()
    for placed in hits:
        heading = (placed.page, placed.unit.context)
        above = 0 if heading in headed else counter.count("\n".join((*placed.unit.context, "")))
        cost = counter.count(placed.unit.text + "\n")
        if used + cost + above <= budget_tokens:
            used += cost + above
            headed.add(heading)
            keys.update(room.turns[number_of(key)].key for key in pages.made_from(placed))
        if budget_tokens - used < LEAST_TOKENS:
            break
    return Share(question.category, part_of_wanted(question, keys), used)
