"""What later messages of a session get: what a hand changed, a page that is clearly meant, else excerpts. Pure.

A page that stands in the conversation is not loaded again. If a hand changed it since, its new and changed parts are
shown, and what went is named; what the bot itself wrote is known (Session.wrote). Excerpts are the best parts of the
scope that the conversation does not hold yet, few and only where they share enough with the message.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_core.disclosure import Step
from memory_core.forms.units import Unit
from memory_core.ids import PageId
from memory_core.layouts import INDEX
from memory_core.loading.budget import SEAM_TOKENS, Because, Tally, count, fit
from memory_core.loading.plan import Missing, Plan, View, look, read, seek, states, units
from memory_core.routing import Match
from memory_core.search import TALK, Hit, is_near, rank, strong
from memory_core.store.base import PageText
from memory_core.terms import asked
from memory_core.text import counted

EXCERPTS = 5
"""How many excerpts one later message gets at most."""
CHANGED = "changed by hand since it was loaded"
"""Why a part is shown that a hand changed; `shown` and `rest` of it are all that stands on the page now."""
CLEARLY = 2.0
"""A page that matches so many times as well as another is clearly meant instead of it."""


def clearly_elsewhere(view: View, tally: Tally) -> tuple[Match, ...]:
    """The pages that a later message clearly routes to: at least twice the score of what is loaded, ceilings kept."""
    opened = tally.session.opened
    held = max((found.score for found in view.matches if found.page in opened), default=0.0)
    without = {*opened, *(left.page for left in tally.left_out if left.what == "the page")}
    new = [found for found in view.matches if found.page not in without]
    chosen: list[Match] = []
    for found in as_good(new)[: view.table.routed_pages]:
        if found.score < CLEARLY * held:
            why = f"it matches ({found.why}), but not twice as well as what is loaded"
        else:
            why = tally.session.over_ceiling(found.page, found.priority, tally.loaded, chosen)
        if why:
            tally.leave(found.page, "the page", why)
            break
        chosen.append(found)
    return tuple(chosen)


def as_good(matches: Sequence[Match]) -> tuple[Match, ...]:
    """The best match and those that are more than half as good: what matches less is clearly not meant beside it."""
    return tuple(found for found in matches if found.score * CLEARLY > matches[0].score) if matches else ()


def changed(view: View, tally: Tally) -> Plan[None]:
    """Show what a hand changed on pages that stand in the conversation: the changed parts only, counted."""
    session = tally.session
    pages = tuple(page for page in session.loaded if page not in (INDEX, TALK))  # no hand changes what was said
    now = dict((yield from states(pages)))
    if INDEX in session.loaded:
        now[INDEX] = view.index_page.stamp.sha256
    for page, sha256 in now.items():
        if sha256 in session.known_sha256(page):
            continue
        answer = view.index_page if page == INDEX else (yield from read(page))
        if isinstance(answer, Missing):
            tally.notes.append(f"{page} was loaded before and cannot be read now: {answer.why}.")
            continue
        _show_changes(view, tally, answer)


def _show_changes(view: View, tally: Tally, page: PageText) -> None:
    session = tally.session
    before = [part for part in session.parts if part.page == page.page]
    parts = units(view, page).units
    known = session.known_marks(page.page)
    fresh = [unit for unit in parts if unit.mark not in known]
    last = before[-1]
    if last.step is Step.SEARCH:
        records = {record for part in before for record in part.records}
        fresh = [unit for unit in fresh if unit.record in records]
    gone = _gone(tally, page.page, parts)
    if not fresh and not gone:
        return
    # before the records and apart from each other: what follows a record without a heading would belong to it
    fresh = [*(Unit(text=_gone_line(page.page, label), title=label) for label in gone), *fresh]
    fitted = fit(page.page, fresh, tally.room_tokens, tally.counter)
    rest = [unit for unit in parts if unit not in fresh]
    tally.show(
        page.page,
        fitted,
        Because(last.step, CHANGED, last.priority),
        sha256=page.stamp.sha256,
        rest=rest,
        rest_is_known=True,
    )
    tally.took(last.step, f"{page.page}: {counted(len(fresh), 'part changed by hand')}")


def _gone(tally: Tally, page: PageId, parts: Sequence[Unit]) -> list[str]:
    """What stands in the conversation and no longer on the page, by label, each told once."""
    present = {unit.label for unit in parts}
    told = {label for one, mark in tally.session.shown if one == page for label in [mark.partition(" ")[2]]}
    already = "".join(part.text for part in tally.session.parts if part.page == page)
    return sorted(label for label in told - present if label and _gone_line(page, label) not in already)


def is_gone_line(text: str) -> bool:
    """Does a part only tell that something went?"""
    return text.startswith("[no longer on ") and text.endswith("]")


def _gone_line(page: PageId, label: str) -> str:
    return f"[no longer on {page}: {label}]"


def excerpts(
    view: View,
    tally: Tally,
    *,
    pages: tuple[PageId, ...] | None = None,
    limit: int = EXCERPTS,
    limit_tokens: int = 0,
    shared_terms: int = 2,
) -> Plan[tuple[str, ...]]:
    """Show the best parts of the scope (or of `pages`) that the conversation does not hold yet; gives their texts.

    A part is shown that shares `shared_terms` different terms with the message, or all that it has; or that is one
    of the nearest in meaning, with an embedder.
    """
    held = tally.session.shown | {(part.page, mark) for part in tally.loaded for mark in part.shown}
    if pages is None:
        found = unheld((yield from seek(view.message)), held)
    else:
        placed = yield from look(pages)
        shown = {page for page, _ in held}
        fresh = [one for one in placed if one.page not in shown or (one.page, one.unit.mark) not in held]
        found = rank(fresh, view.message, view.today)
    need = min(shared_terms, len(frozenset(asked(view.message))))
    hits = strong([hit for hit in found if hit.shared >= need or is_near(hit)])
    return show_hits(
        view, tally, hits, f"search for the message, {counted(len(hits), 'match', 'matches')}", limit, limit_tokens
    )


def unheld(hits: Sequence[Hit], held: Collection[tuple[PageId, str]]) -> tuple[Hit, ...]:
    """The hits that the conversation does not hold yet."""
    pages = {page for page, _ in held}
    return tuple(
        hit for hit in hits if hit.placed.page not in pages or (hit.placed.page, hit.placed.unit.mark) not in held
    )


def show_hits(
    view: View, tally: Tally, hits: Sequence[Hit], why: str, limit: int = EXCERPTS, limit_tokens: int = 0
) -> tuple[str, ...]:
    """Show the best `limit` hits, in at most `limit_tokens` together (0: what the budget has left); their texts.

    They are chosen best first over all pages, and shown page by page. What is not shown is named.
    """
    budget_stops = not limit_tokens or tally.room_tokens <= limit_tokens
    room = tally.room_tokens if budget_stops else limit_tokens
    chosen, over = _chosen(hits[:limit], room, tally)
    shown: list[str] = []
    for page in dict.fromkeys(hit.placed.page for hit in chosen):
        own = [hit for hit in chosen if hit.placed.page == page]
        fitted = fit(page, [hit.placed.unit for hit in own], tally.room_tokens, tally.counter)
        because = Because(Step.SEARCH, why, None if page == TALK else view.table.rule(page).priority)
        if tally.show(page, fitted, because, sha256=own[0].placed.sha256):
            shown.append(fitted.text)
    for hit in over:
        tokens = count(tally.counter, hit.placed.unit.text)
        tally.leave(hit.placed.page, hit.placed.unit.label, "a match that the budget has no room for", tokens)
    tally.breaker = tally.breaker or bool(over and budget_stops)
    for page in dict.fromkeys(hit.placed.page for hit in hits[limit:]):
        number = sum(hit.placed.page == page for hit in hits[limit:])
        tally.leave(page, counted(number, "more match", "more matches"), f"the {limit} best are shown")
    if shown:
        tally.took(Step.SEARCH, f"{why}, {len(chosen)} shown")
    return tuple(shown)


def _chosen(hits: Sequence[Hit], room_tokens: int, tally: Tally) -> tuple[list[Hit], list[Hit]]:
    """The hits that go into the room together, best first, and those that do not."""
    chosen: list[Hit] = []
    over: list[Hit] = []
    above: set[tuple[PageId, str]] = set()
    for hit in hits:
        unit, page = hit.placed.unit, hit.placed.page
        context = [line for line in unit.context if (page, line) not in above]
        cost = count(tally.counter, "\n".join([*context, unit.text])) + 3 * SEAM_TOKENS
        (chosen if cost <= room_tokens else over).append(hit)
        if cost <= room_tokens:
            room_tokens -= cost
            above.update((page, line) for line in context)
    return chosen, over
