"""From what a message is about to what is loaded for it: steps 2 to 4, the same for groups and DMs. Pure.

first question    the layout's number of pages (1, in dreaming 2), best match first; a second one only if it matches
                  more than half as well; an empty page falls to the next match, at last to P0; no match: P0;
                  where all of them are empty, excerpts: what was said may not be saved yet
later questions   a page that is clearly meant, ceilings kept; else excerpts (later.py)
no page to choose a layout whose pages all stand in its start order (adaptive) has excerpts for every question
mode `excerpts`   instead of a page: the best records of all routed pages together, for every question
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from memory_core.conventions import conventions_in, is_convention
from memory_core.disclosure import Step
from memory_core.ids import PageId
from memory_core.layouts import Priority
from memory_core.loading.budget import Tally
from memory_core.loading.later import as_good, clearly_elsewhere, excerpts
from memory_core.loading.plan import Plan, View
from memory_core.loading.steps import Routed, convention, fetch, show_routed
from memory_core.routing import Match
from memory_core.store.base import PageText

_ALL = 100
"""How many records the mode `excerpts` takes at most; its tokens are bound anyway."""


class Mode(StrEnum):
    """What step 3 takes: one page, or the best records of all routed pages (REMEM_DISCLOSURE)."""

    STRICT = "strict"
    EXCERPTS = "excerpts"


def by_intent(view: View, tally: Tally, mode: Mode, step: Step) -> Plan[None]:
    """Steps 3 and 4 for a message that asks something; `step` is what a routed page is called here."""
    first = all(page in view.table.start for page in tally.session.opened)
    choice = any(rule.page not in view.table.start for rule in view.table.routed())
    if mode is Mode.EXCERPTS:
        found = yield from _best_of_all(view, tally)
        if found or not first:
            return
    if first and choice:
        yield from _automatic(view, tally, step)
        return
    here = {part.page for part in tally.loaded}  # a page of the start order is shown already, by this very message
    pages = yield from _fetched(
        view, tally, [found for found in clearly_elsewhere(view, tally) if found.page not in here]
    )
    if pages:
        yield from show_routed(view, tally, pages, step)
    else:
        yield from excerpts(view, tally)


def described(view: View) -> str:
    """What step 2 found, for the trail."""
    if view.pleasantry:
        return "a greeting or thanks: nothing to look for"
    return "; ".join(f"{found.page}, score {found.score:.1f}" for found in view.matches[:3]) or "no row matches"


def _automatic(view: View, tally: Tally, step: Step) -> Plan[None]:
    """The pages of a session's first question, and the convention that one of them names."""
    chosen: list[Routed] = []
    for found in _candidates(view, tally):
        limit = view.table.routed_pages
        if chosen and not found.score:
            break
        if len(chosen) >= limit:
            tally.leave(found.page, "the page", f"it matches too ({found.why}); {limit} at once is the limit")
        elif chosen and found not in as_good([chosen[0].found, found]):
            tally.leave(found.page, "the page", f"it matches too ({found.why}), but not half as well")
        elif reason := tally.session.over_ceiling(
            found.page, found.priority, tally.loaded, [one.found for one in chosen]
        ):
            tally.leave(found.page, "the page", reason)
        else:
            chosen += yield from _fetched(view, tally, (found,))
    yield from show_routed(view, tally, chosen, step)
    if not chosen:
        tally.took(step, "nothing to load: what matches holds nothing, or it stands in the conversation")
        yield from excerpts(view, tally)


def _fetched(view: View, tally: Tally, matches: Sequence[Match]) -> Plan[list[Routed]]:
    """The pages of these matches that hold something new."""
    pages: list[Routed] = []
    for found in matches:
        page = yield from fetch(view, tally, found)
        pages += [page] if page is not None else []
    return pages


def _candidates(view: View, tally: Tally) -> tuple[Match, ...]:
    """The pages that may be loaded, best match first, at last P0; what is loaded, or was found empty, is none."""
    gone = {*tally.session.opened, *(part.page for part in tally.loaded), *(one.page for one in tally.left_out)}
    matches = [found for found in view.matches if found.page not in gone]
    last = _fallback(view)
    if last is not None and last.page not in {*gone, *(found.page for found in matches)}:
        matches.append(last)
    return tuple(matches)


def _fallback(view: View) -> Match | None:
    """P0; None where the index leads to no page of it."""
    why = "P0, because what matched holds nothing" if view.matches else "P0, because no row of the index matches"
    rows = (route for route in view.index.routes if not route.deprecated and not is_convention(route.page))
    return next((Match(row.page, row.priority, 0.0, "", why) for row in rows if row.priority is Priority.P0), None)


def _best_of_all(view: View, tally: Tally) -> Plan[bool]:
    """Step 3 in the mode `excerpts`: the best records of all routed pages together, at most half of the budget."""
    rows = (route.page for route in view.index.routes if not route.deprecated)
    pages = tuple(dict.fromkeys(page for page in rows if not is_convention(page)))
    before = len(tally.loaded)
    half = tally.budget_tokens // 2
    texts = yield from excerpts(view, tally, pages=pages, limit=_ALL, limit_tokens=half, shared_terms=1)
    tally.took(Step.PAGE, f"the best records of {len(tally.loaded) - before} of {len(pages)} routed pages")
    for page, text in zip([part.page for part in tally.loaded[before:]], texts, strict=True):
        if conventions_in(text, view.table):
            yield from convention(view, tally, _as_page(view, page, text))
            break
    return bool(texts)


def _as_page(view: View, page: PageId, text: str) -> PageText:
    return PageText(page, text, view.index_page.stamp)
