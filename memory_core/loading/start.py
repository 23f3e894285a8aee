"""What a conversation begins with: the places of the layout's start order, each with the room that it gets. Pure.

The table says what stands in it (`start`, the order in which it is shown), who is given room first (`in_need`), and
for which page the others leave what it needs, as far as half of the budget (`keeps`). A place is

    a page              always: whole if it fits, else its best parts
    `state/tasks`       the list of open tasks, where there are any
    today, yesterday    the journal of that day in the scope's zone: today's without its oldest lines, if it must be;
                        yesterday's whole or not at all
    routed              what the message routes to (intent.py)

Each place takes what those before it left. Once one had to be cut, those after it get nothing, but for the page that
room is kept for. A page that is not there is missed by nobody, unless messages are routed to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.disclosure import Loaded, Step
from memory_core.ids import PageId
from memory_core.layouts import INDEX, TASKS, Form, Place, Priority, Slot
from memory_core.loading.budget import Because, Fit, Tally, count, fit
from memory_core.loading.intent import Mode, by_intent, described
from memory_core.loading.plan import Missing, Plan, View, authored, read, units
from memory_core.loading.steps import content, fit_best, note_bytes, show_index
from memory_core.routing import speaks_of
from memory_core.store.base import PageText

_OF_TASKS = "attention"
"""The word list of what is being done."""
_WHY = {Slot.TODAY: "today's journal", Slot.YESTERDAY: "yesterday's journal"}


@dataclass(frozen=True, slots=True)
class Steps:
    """What the steps are called in this kind of scope."""

    index: Step
    page: Step
    """A page that is always loaded and that nothing routes to."""
    ranked: Step
    """A page with a priority: one that is always loaded, or routed to."""


def begin(view: View, tally: Tally, mode: Mode, steps: Steps) -> Plan[None]:
    """Complete the tally for the first message of a session."""
    kept_tokens = yield from _kept_tokens(view, tally)
    waiting = True
    for place in view.table.in_need:
        waiting = waiting and place != view.table.keeps
        limit = max(0, tally.room_tokens - (kept_tokens if waiting else 0))
        if place == INDEX:
            show_index(view, tally, steps.index, catalogue_tokens=tally.budget_tokens // 2)
        elif place is Slot.ROUTED:
            yield from ask(view, tally, mode, steps)
        elif isinstance(place, Slot):
            yield from _journal(view, tally, place, limit)
        else:
            yield from _page(view, tally, PageId(place), steps, limit)
        tally.full = tally.breaker and not waiting
    tally.loaded.sort(key=lambda part: _shown_at(view, part))


def ask(view: View, tally: Tally, mode: Mode, steps: Steps) -> Plan[None]:
    """What the message itself asks for; a greeting asks for nothing."""
    tally.took(Step.INTENT, described(view))
    if not view.pleasantry:
        yield from by_intent(view, tally, mode, steps.ranked)


def _kept_tokens(view: View, tally: Tally) -> Plan[int]:
    """What the others leave for the page that room is kept for; nothing where nobody comes before it."""
    keeps, order = view.table.keeps, view.table.in_need
    if keeps not in order or order[0] == keeps:
        return 0
    if keeps == INDEX:
        tokens = count(tally.counter, authored(view.index_page.text))
    else:
        answer = yield from read(keeps)
        tokens = count(tally.counter, units(view, answer).text) if isinstance(answer, PageText) else 0
    return min(tokens, tally.budget_tokens // 2)


def _page(view: View, tally: Tally, page: PageId, steps: Steps, limit_tokens: int) -> Plan[None]:
    """A page of the start order."""
    priority = view.table.rule(page).priority
    answer = yield from (_plain(view, tally, page) if priority is None else content(view, tally, page))
    if answer is None:
        return
    step, why = _named(view, page, priority, steps)
    fitted = fit_best(view, tally, page, units(view, answer), min(limit_tokens, tally.room_tokens))
    because = Because(step, why, priority, matched=_is_meant(view, page))
    tally.show(page, fitted, because, sha256=answer.stamp.sha256)
    tally.took(step, f"{page}: {why}")


def _is_meant(view: View, page: PageId) -> bool:
    """Does the message ask for this page: is it the best match, or does it speak of tasks?"""
    if page == TASKS:
        return speaks_of(view.message, _OF_TASKS)
    return bool(view.matches) and view.matches[0].page == page


def _named(view: View, page: PageId, priority: Priority | None, steps: Steps) -> tuple[Step, str]:
    """By which step, and why, a page of the start order is shown."""
    if page == TASKS:
        return Step.TASKS, "the open tasks, overdue ones first"
    return (steps.page if priority is None else steps.ranked), "always"


def _plain(view: View, tally: Tally, page: PageId) -> Plan[PageText | None]:
    """A page that nothing routes to; where there is none, or nothing on it, nothing is missing."""
    answer = yield from read(page)
    if isinstance(answer, Missing):
        if answer.broken:
            tally.leave(page, "the page", answer.why)
            tally.notes.append(answer.why)
        return None
    note_bytes(view, tally, answer)
    return answer


def _journal(view: View, tally: Tally, place: Slot, limit_tokens: int) -> Plan[None]:
    page = view.journals[place]
    answer = yield from _plain(view, tally, page)
    if answer is None:
        return
    fitted = _of_day(tally, page, answer, view, place, min(limit_tokens, tally.room_tokens))
    tally.show(page, fitted, Because(Step.LAYER_2, _WHY[place]), sha256=answer.stamp.sha256)
    tally.took(Step.LAYER_2, f"{page}: {_WHY[place]}")


def _of_day(tally: Tally, page: PageId, answer: PageText, view: View, place: Slot, limit_tokens: int) -> Fit:
    """Today's newest lines; yesterday's all or none."""
    parts = units(view, answer).units
    fitted = fit(page, parts, limit_tokens, tally.counter, range(len(parts) - 1, -1, -1), in_turn=True)
    if place is Slot.YESTERDAY and not fitted.whole:
        return fit(page, parts, 0, tally.counter)
    return fitted


def _shown_at(view: View, part: Loaded) -> int:
    """Where a part stands: in the layout's order; what was routed to stands in the place of it."""
    start: tuple[Place, ...] = view.table.start
    if part.page in start:
        return start.index(part.page)
    day = next((place for place, page in view.journals.items() if page == part.page), None)
    if day is not None and view.table.rule(part.page).form is Form.JOURNAL:
        return start.index(day)
    return start.index(Slot.ROUTED) if Slot.ROUTED in start else len(start)
