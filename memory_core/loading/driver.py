"""Progressive loading: from a message to the value that says what the agent may see of memory.

    disclose        for every addressed message: five steps in a group (group.py), three layers in a DM (direct.py)
    open_page       the agent's memory_open: one more page, within the session's ceilings and budget
    search_memory   the agent's memory_search: excerpts, within the budget

The rules are pure plans over values; this file only drives them: it reads through the gate what a plan asks for, and
nothing else. So a group's message opens the group's index, one page, and at most one convention; and nothing at all
where the scope has no index.

What is large is worked on in a thread, so that one huge page does not keep the others waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeAlias

from memory_core.conventions import is_convention
from memory_core.disclosure import Disclosure, Step
from memory_core.errors import Denied, RememError, StoreError
from memory_core.forms.units import Unit
from memory_core.gate import OpenIndex, denied, open_index
from memory_core.handle import Handle
from memory_core.ids import DirectScope, MessageKey, PageId
from memory_core.layouts import TASKS, Priority
from memory_core.loading.budget import Because, Tally, fit
from memory_core.loading.direct import direct_plan
from memory_core.loading.group import group_plan
from memory_core.loading.intent import Mode
from memory_core.loading.later import show_hits, unheld
from memory_core.loading.plan import (
    Answer,
    Ask,
    Look,
    Missing,
    Plan,
    Read,
    Seek,
    Sought,
    View,
    units,
)
from memory_core.loading.spoken import asks_nothing, file_names, spoken
from memory_core.loading.steps import note_bytes, wanted
from memory_core.routing import match
from memory_core.search import strong
from memory_core.session import Session
from memory_core.store.base import PageText

_LARGE_CHARACTERS = 1 << 16
_MANY_PARTS = 1000
SEARCH_TOKENS = 1000
"""What one search may disclose, at most."""
SEARCH_HITS = 30
"""How many hits one search may disclose, at most, however short they are."""
InContext: TypeAlias = Callable[[], Awaitable[Collection[MessageKey]]]
"""Tells what was said and stands in the conversation; asked only when a search needs to know it."""


async def _nothing() -> Collection[MessageKey]:
    """Nothing was said that the conversation holds."""
    return ()


async def disclose(
    handle: Handle,
    session: Session,
    message_text: str,
    *,
    title: str,
    mode: Mode = Mode.STRICT,
    in_context: InContext = _nothing,
) -> Disclosure:
    """What the agent may see of the scope's memory for this message; `session` is what it has seen already.

    `title` names the room for people; `in_context` tells what stands in the conversation anyway. Where the scope has
    no index, `indexed` is False and nothing was read. Raises StoreError when the index cannot be read; any other page
    that cannot be read is named in the notes.
    """
    opened = await open_index(handle)
    if opened is None:
        return Disclosure(handle.scope, title, spent_tokens=session.spent_tokens, indexed=False)
    view = _view(handle, opened, message_text)
    tally = _tally(handle, opened, session, title)
    direct = isinstance(handle.scope, DirectScope)
    plan = direct_plan(view, tally, mode) if direct else group_plan(view, tally, mode)
    await _drive(plan, opened, tally.notes, in_context)
    return tally.disclosure()


async def open_page(
    handle: Handle, session: Session, page: PageId, *, title: str = "", about: str = ""
) -> Disclosure:
    """Disclose one more page, because the agent asked for it; `about` says which of its parts are wanted most.

    Of a page that is in the conversation in part, the other parts are shown. Raises Denied with a reason of
    gate.DENIALS, StoreError.
    """
    opened = await _index_of(handle, page)
    if is_convention(page):
        for known in session.opened:
            if not opened.refusal(known):
                await opened.read(known)
    view, tally = _view(handle, opened, about), _tally(handle, opened, session, title)
    priority = _priority(opened, handle, page)
    read = await opened.read(page)
    if not _is_plain(view, page, priority) and tally.session.over_ceiling(page, priority):
        raise denied("over_ceiling", page)
    parts = units(view, read).units if read is not None else ()
    if read is None or not parts:
        raise denied("missing", page)
    held = session.shown
    fresh = [unit for unit in parts if (page, unit.mark) not in held]
    if not fresh:
        raise denied("already_loaded", page)
    note_bytes(view, tally, read)
    _show_asked(view, tally, read, fresh, priority)
    if not tally.loaded:
        raise denied("over_budget", page)
    return tally.disclosure()


async def search_memory(
    handle: Handle,
    session: Session,
    words: str,
    *,
    title: str = "",
    in_context: InContext = _nothing,
) -> Disclosure:
    """Disclose the best matches that the conversation does not hold yet, because the agent searched.

    So many as SEARCH_TOKENS hold: what is spent on many short parts finds more than a page. `in_context` as for
    `disclose`. Raises Denied (`no_index`, `over_budget`), StoreError.
    """
    opened = await _index_of(handle, PageId("search"))
    view, tally = _view(handle, opened, words), _tally(handle, opened, session, title)
    hits = strong(unheld(await opened.hits(words, tally.notes, without=await in_context()), session.shown))
    if hits and not show_hits(
        view, tally, hits, f"the agent searched for “{words[:80]}”", SEARCH_HITS, SEARCH_TOKENS
    ):
        raise denied("over_budget", hits[0].placed.page)
    if not hits:
        tally.took(Step.SEARCH, "nothing more matches")
    return tally.disclosure()


def _show_asked(view: View, tally: Tally, page: PageText, fresh: list[Unit], priority: Priority | None) -> None:
    """Show what was asked for; a page of P2 in at most half of the budget."""
    half = tally.budget_tokens // 2
    bound = priority is Priority.P2 and half < tally.room_tokens
    limit = half if bound else tally.room_tokens
    fitted = fit(page.page, fresh, limit, tally.counter, wanted(view, page.page, fresh))
    tally.show(
        page.page,
        fitted,
        Because(_step_of(view, page.page, priority), "the agent asked for it", priority, matched=True),
        sha256=page.stamp.sha256,
        short="a page of P2 is shown in at most half of the budget" if bound else "",
    )
    tally.took(Step.OPEN, f"{page.page}: the agent asked for it")


def _is_plain(view: View, page: PageId, priority: Priority | None) -> bool:
    """A page that conversations begin with, or the list of tasks, and nothing routes to: it counts in tokens only."""
    return priority is None and (page == TASKS or page in view.table.start)


def _step_of(view: View, page: PageId, priority: Priority | None) -> Step:
    if _is_plain(view, page, priority):
        return Step.TASKS if page == TASKS else Step.LAYER_0
    return Step.CONVENTION if priority is None else Step.OPEN


async def _index_of(handle: Handle, page: PageId) -> OpenIndex:
    opened = await open_index(handle)
    if opened is None:
        raise denied("no_index", page)
    return opened


def _priority(opened: OpenIndex, handle: Handle, page: PageId) -> Priority | None:
    """The priority that the index gives the page, best row first, else the layout's; None for a convention."""
    rows = [route.priority for route in opened.routes if route.page == page]
    if is_convention(page) or opened.refusal(page):
        return None
    return min(rows) if rows else handle.table.rule(page).priority


def _view(handle: Handle, opened: OpenIndex, message: str) -> View:
    asked = spoken(message, file_names(handle.layout))
    return View(
        index=opened.index,
        index_page=opened.page,
        layout=handle.layout,
        table=handle.table,
        message=asked,
        matches=match(asked, opened.index, handle.table),
        pleasantry=asks_nothing(asked),
        today=opened.today,
        journals=opened.journals,
    )


def _tally(handle: Handle, opened: OpenIndex, session: Session, title: str) -> Tally:
    budget_tokens, warning = opened.index.budget(handle.table.default_budget_tokens)
    held = session.under(handle.table)
    tally = Tally(handle.scope, title or opened.title, held, handle.counter, budget_tokens, handle.table)
    tally.notes += [warning] if warning else []
    tally.zone = opened.zone
    return tally


async def _drive(plan: Plan[None], opened: OpenIndex, notes: list[str], in_context: InContext) -> None:
    """Give the plan what it asks for until it is complete; what a search could not read goes to the notes."""
    answer: Answer = None
    while True:
        large = (isinstance(answer, PageText) and len(answer.text) > _LARGE_CHARACTERS) or (
            isinstance(answer, tuple) and len(answer) > _MANY_PARTS
        )
        ask = await asyncio.to_thread(_next, plan, answer) if large else _next(plan, answer)
        if ask is None:
            return
        answer = await _answer(opened, ask, notes, in_context)


def _next(plan: Plan[None], answer: Answer) -> Ask | None:
    try:
        return plan.send(answer)
    except StopIteration:
        return None


async def _answer(opened: OpenIndex, ask: Ask, notes: list[str], in_context: InContext) -> Answer:
    match ask:
        case Read(page):
            return await _read(opened, page)
        case Look(pages):
            return await opened.units(notes, pages)
        case Seek(words):
            return await _seek(opened, words, notes, in_context)
        case _:
            return await _states(opened, ask.pages, notes)


async def _read(opened: OpenIndex, page: PageId) -> PageText | Missing:
    try:
        return await opened.read(page) or Missing("it does not exist yet")
    except Denied as refused:
        return Missing(str(refused))
    except StoreError as failed:
        return Missing(str(failed), broken=True)


async def _seek(opened: OpenIndex, words: str, notes: list[str], in_context: InContext) -> Sought:
    try:
        return Sought(await opened.hits(words, notes, recent=True, without=await in_context()))
    except RememError as failed:
        notes.append(str(failed))
        return Sought(())


async def _states(opened: OpenIndex, pages: tuple[PageId, ...], notes: list[str]) -> Mapping[PageId, str]:
    """The hash of each page as it is now, '' for one that is gone; one that cannot be read is told in the notes."""
    found: dict[PageId, str] = {}
    for page in pages:
        try:
            stamp = await opened.stamp_of(page)
        except StoreError as failed:
            notes.append(str(failed))
            continue
        found[page] = stamp.sha256 if stamp is not None else ""
    return found
