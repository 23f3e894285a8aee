"""How a DM's memory is disclosed: three layers, at the first message of a session. Pure.

    layer 0   SOUL, USER, MEMORY.md and the index, always
    layer 1   attention, always; one routed page (two in all)
    layer 2   today's and yesterday's journal, by the day in the scope's zone

Over the budget, what is least missed goes first. The parts are given room in the opposite order, so that each takes
what those before it left: MEMORY.md, index, SOUL, USER, attention, the routed page (its weakest records go first),
today's journal (its oldest lines go first), yesterday's (whole or not at all); once one had to be cut, those after it
get nothing. MEMORY.md leaves the index what its rules and routes need, as far as half of the budget; without them
nothing could be opened. They are shown in the layout's order. Later messages are treated as a
group's (intent.py).
"""

from __future__ import annotations

from memory_core.disclosure import Loaded, Step
from memory_core.ids import PageId
from memory_core.layouts import INDEX
from memory_core.loading.budget import Because, Tally, count, fit
from memory_core.loading.intent import Mode, by_intent, described
from memory_core.loading.later import changed
from memory_core.loading.plan import Missing, Plan, View, authored, read, units
from memory_core.loading.steps import content, fit_best, note_bytes, show_index, whole

_MEMORY = PageId("memory")


def direct_plan(view: View, tally: Tally, mode: Mode) -> Plan[None]:
    """Complete the tally for a message in a DM."""
    first = INDEX not in tally.session.loaded
    if first:
        tally.took(Step.NAME, f"{tally.title}: {tally.scope.key}")
        yield from _layer_0(view, tally)
        yield from _attention(view, tally)
    else:
        yield from changed(view, tally)
    tally.took(Step.INTENT, described(view))
    if not view.pleasantry:
        yield from by_intent(view, tally, mode, Step.LAYER_1)
    if first:
        tally.full = tally.breaker
        yield from _journals(view, tally)
        tally.loaded.sort(key=lambda part: _place(view, part))


def _layer_0(view: View, tally: Tally) -> Plan[None]:
    """MEMORY.md and the index first, then the rest of what is always there."""
    start = [page for page in view.table.start if view.table.rule(page).priority is None and page != INDEX]
    if _MEMORY in start:
        index_tokens = count(tally.counter, authored(view.index_page.text))
        kept = min(index_tokens, tally.budget_tokens // 2)
        yield from _always(view, tally, _MEMORY, tally.room_tokens - kept)
    show_index(view, tally, Step.LAYER_0, catalogue_tokens=tally.budget_tokens // 2)
    tally.full = tally.breaker
    for page in start:
        if page != _MEMORY:
            yield from _always(view, tally, page, tally.room_tokens)


def _always(view: View, tally: Tally, page: PageId, limit_tokens: int) -> Plan[None]:
    """A page of layer 0; where there is none, nothing is missing."""
    answer = yield from read(page)
    if isinstance(answer, Missing):
        if answer.broken:
            tally.leave(page, "the page", answer.why)
            tally.notes.append(answer.why)
        return
    note_bytes(view, tally, answer)
    fitted = fit_best(view, tally, page, units(view, answer), min(limit_tokens, tally.room_tokens))
    tally.show(page, fitted, Because(Step.LAYER_0, "always"), sha256=answer.stamp.sha256)
    tally.took(Step.LAYER_0, f"{page}: always")
    tally.full = tally.breaker and page != _MEMORY


def _attention(view: View, tally: Tally) -> Plan[None]:
    """The pages of layer 1 that are always loaded."""
    for page in view.table.start:
        priority = view.table.rule(page).priority
        if priority is None:
            continue
        found = yield from content(view, tally, page)
        if found is not None:
            whole(view, tally, found, units(view, found), Because(Step.LAYER_1, "always", priority))
            tally.took(Step.LAYER_1, f"{page}: always")
            tally.full = tally.breaker


def _journals(view: View, tally: Tally) -> Plan[None]:
    """Layer 2: today's journal without its oldest lines, if it must be; yesterday's whole or not at all."""
    for back, page in enumerate(view.journals):
        answer = yield from read(page)
        if isinstance(answer, Missing):
            if answer.broken:
                tally.leave(page, "the page", answer.why)
                tally.notes.append(answer.why)
            continue
        note_bytes(view, tally, answer)
        parts = units(view, answer).units
        room, newest_first = tally.room_tokens, range(len(parts) - 1, -1, -1)
        fitted = fit(page, parts, room, tally.counter, newest_first, in_turn=True)
        if back and not fitted.whole:
            fitted = fit(page, parts, 0, tally.counter)
        why = "yesterday's journal" if back else "today's journal"
        tally.show(page, fitted, Because(Step.LAYER_2, why), sha256=answer.stamp.sha256)
        tally.full = tally.breaker
        tally.took(Step.LAYER_2, f"{page}: {why}")


def _place(view: View, part: Loaded) -> int:
    """Where a part stands: the layout's order, then what was routed to, then the journals."""
    start = view.table.start
    return start.index(part.page) if part.page in start else len(start) + (part.step is Step.LAYER_2)
