"""The steps that both plans share: the index, a page, the convention that it names. Pure generators.

A page is shown whole if it fits. A page of P2 is read by search: its matching records, best first, at most half of
the budget; the newest ones where no record matches, because "what did we decide?" names none. Everything that is not
shown is named in the tally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.conventions import conventions_in, only_points
from memory_core.disclosure import Loaded, Step
from memory_core.forms.units import Unit, Units
from memory_core.ids import PageId
from memory_core.index import within
from memory_core.index_fit import first_of
from memory_core.layouts import INDEX, Form, Priority
from memory_core.loading.budget import SMALLEST_TOKENS, Because, Fit, Tally, count, fit
from memory_core.loading.plan import Missing, Plan, View, authored, read, units
from memory_core.routing import Match, best_convention
from memory_core.search import Placed, rank, strong
from memory_core.store.base import PageText
from memory_core.terms import terms
from memory_core.text import counted

_HALF = "a page of P2 is read by search, at most half of the budget"
_EMPTY = "it is empty"
_PROBLEMS = 3
_NOTE_TOKENS = 40
"""For the line in which a shortened index names what it left out."""


def show_index(view: View, tally: Tally, step: Step, catalogue_tokens: int) -> None:
    """Show the index: with its catalogue up to `catalogue_tokens`, its rules and routes as far as the budget goes."""
    note_bytes(view, tally, view.index_page)
    _note_problems(view, tally)
    whole = view.index_page.text
    limit = tally.room_tokens
    text, left, tokens = whole, tuple[str, ...](), count(tally.counter, whole)
    if tokens > min(limit, catalogue_tokens):
        limit = min(limit, max(catalogue_tokens, count(tally.counter, authored(whole)) + _NOTE_TOKENS))
        text, left = within(whole, limit, tally.counter)
        tokens = count(tally.counter, text)
    parts = units(view, view.index_page).units
    if text and tokens <= tally.room_tokens:
        tally.loaded.append(
            Loaded(
                page=INDEX,
                step=step,
                text=text,
                tokens=tokens,
                why="the only door into this memory",
                sha256=view.index_page.stamp.sha256,
                cut=bool(left),
                shown=tuple(unit.mark for unit in parts),
                form=Form.INDEX,
            )
        )
    named = first_of(left)
    for what in named:
        tally.leave(INDEX, what, "the index is larger than its share of the budget")
    if left:
        tally.notes.append(
            f"The index is too large for the budget of {tally.budget_tokens} tokens; left out: {'; '.join(named)}."
        )
    tally.breaker = tally.breaker or tally.room_tokens < SMALLEST_TOKENS
    tally.took(step, f"{counted(len(view.index.routes), 'row')}, {counted(tokens, 'token')}")


@dataclass(frozen=True, slots=True)
class Routed:
    """A page that a message routes to, with the parts of it that the conversation does not hold yet."""

    found: Match
    page: PageText
    parts: Units


def fetch(view: View, tally: Tally, found: Match) -> Plan[Routed | None]:
    """Step 3, or layer 1: get the page that a message routes to; None where it holds nothing (the tally says so)."""
    page = yield from content(view, tally, found.page)
    if page is None:
        return None
    parts = _fresh(tally, found.page, units(view, page))
    if not parts.units:
        tally.leave(found.page, "the page", "all of it stands in the conversation")
        return None
    return Routed(found, page, parts)


def show_routed(view: View, tally: Tally, pages: Sequence[Routed], step: Step) -> Plan[None]:
    """Show these pages, the best match first, then the conventions that they name.

    They share the room: a page leaves each that comes after it what that one needs, as far as an equal share.
    """
    share = tally.room_tokens // max(len(pages), 1)
    for at, routed in enumerate(pages):
        kept = sum(min(count(tally.counter, later.parts.text), share) for later in pages[at + 1 :])
        found, limit = routed.found, max(0, tally.room_tokens - kept)
        why = f"{found.why}, score {found.score:.1f}" if found.score else found.why
        show = _by_search if found.priority is Priority.P2 else whole
        because = Because(step, why, found.priority, matched=found.score > 0)
        show(view, tally, routed.page, routed.parts, because, limit)
        tally.took(step, f"{found.page}: {why}")
    for routed in pages:
        yield from convention(view, tally, routed.page)


def _fresh(tally: Tally, page: PageId, parts: Units) -> Units:
    """The parts that the conversation does not hold yet: a search may have shown some."""
    held = tally.session.shown
    fresh = tuple(unit for unit in parts.units if (page, unit.mark) not in held)
    return parts if len(fresh) == len(parts.units) else Units(fresh)


def content(view: View, tally: Tally, page: PageId) -> Plan[PageText | None]:
    """A page with something in it; None where there is none, which the tally is told."""
    answer = yield from read(page)
    if isinstance(answer, Missing):
        tally.leave(page, "the page", answer.why)
        if answer.broken:
            tally.notes.append(f"{page}: {answer.why}")
        return None
    note_bytes(view, tally, answer)
    parts = units(view, answer)
    if not parts.units:
        tally.leave(page, "the page", _EMPTY)
        return None
    if view.table.rule(page).priority is not None:
        _note_hand_made(view, tally, page, parts)
    return answer


def whole(view: View, tally: Tally, page: PageText, parts: Units, because: Because, limit_tokens: int) -> bool:
    """Show a page whole, or its best parts as far as `limit_tokens` go."""
    fitted = fit_best(view, tally, page.page, parts, limit_tokens)
    return tally.show(page.page, fitted, because, sha256=page.stamp.sha256)


def _by_search(view: View, tally: Tally, page: PageText, parts: Units, because: Because, limit_tokens: int) -> bool:
    """Show the matching records of a page, best first, in at most half of the budget; else its newest ones."""
    hits = rank([Placed(page.page, unit) for unit in parts.units], view.message, view.today)
    order = [hit.number for hit in strong(hits)] or _newest_first(view, page.page, parts.units)
    numbers = sorted(order)
    places = {number: place for place, number in enumerate(numbers)}
    half = tally.budget_tokens // 2
    fitted = fit(
        page.page,
        [parts.units[number] for number in numbers],
        min(half, limit_tokens),
        tally.counter,
        [places[number] for number in order],
    )
    rest = [unit for number, unit in enumerate(parts.units) if number not in places]
    if rest:
        tokens = tally.counter.count("\n".join(unit.text for unit in rest))
        tally.leave(page.page, counted(len(rest), "part without a match"), "a page of P2 is read by search", tokens)
    how = f"{len(hits)} of {len(parts.units)} parts match" if hits else "no part matches, newest first"
    because = replace(because, why=f"{because.why}; {how}")
    short = _HALF if half < limit_tokens else ""
    return tally.show(page.page, fitted, because, sha256=page.stamp.sha256, rest=rest, short=short)


def fit_best(view: View, tally: Tally, page: PageId, parts: Units, limit_tokens: int) -> Fit:
    """A page as far as it fits, its best parts first. They are ranked only where it does not fit whole."""
    tokens = count(tally.counter, parts.text)
    if tokens <= limit_tokens:
        return Fit(parts.text, tokens, parts.units, ())
    return fit(page, parts.units, limit_tokens, tally.counter, wanted(view, page, parts.units))


def wanted(view: View, page: PageId, parts: Sequence[Unit]) -> list[int]:
    """The numbers of a page's parts, best first: by the message, then the newest."""
    best = [hit.number for hit in rank([Placed(page, unit) for unit in parts], view.message, view.today)]
    return list(dict.fromkeys([*best, *_newest_first(view, page, parts)]))


def _newest_first(view: View, page: PageId, parts: Sequence[Unit]) -> list[int]:
    """The numbers of a page's parts, newest first: by day, then as the page's form orders them."""
    grows_down = view.table.rule(page).form in (Form.ADDED, Form.JOURNAL)
    numbers = range(len(parts) - 1, -1, -1) if grows_down else range(len(parts))
    return sorted(numbers, key=lambda number: -(day.toordinal() if (day := parts[number].day) else 0))


def convention(view: View, tally: Tally, page: PageText) -> Plan[None]:
    """Step 4: at most one convention that the loaded page names, the best match for the message.

    Of a page that is read by search, only what is shown of it counts.
    """
    shown = next((part for part in reversed(tally.loaded) if part.page == page.page), None)
    text = shown.text if shown and shown.priority is Priority.P2 else page.text
    named = conventions_in(text, view.table) if shown else ()
    if not named:
        return
    best = _best_of(view, named, text)
    for other in named:
        if other != best:
            about = "one convention is loaded" if best else "the message is about none of several"
            tally.leave(other, "the page", f"{page.page} names it; {about}")
    if best is None:
        return
    if reason := tally.session.over_ceiling(best, None, tally.loaded):
        tally.leave(best, "the page", reason)
        return
    if best in tally.session.loaded:
        return
    found = yield from content(view, tally, best)
    if found is not None:
        because = Because(Step.CONVENTION, f"{page.page} names it")
        whole(view, tally, found, units(view, found), because, tally.room_tokens)
        tally.took(Step.CONVENTION, f"{best}: {page.page} names it")


def _best_of(view: View, named: Sequence[PageId], text: str) -> PageId | None:
    """The convention that the message is about: by routing, by the lines that name it; a single one in any case."""
    best = best_convention(view.message, named, view.index, view.table)
    if best is not None or len(named) == 1:
        return best or named[0]
    asked = frozenset(terms(view.message))
    shared = [len(asked & _words_about(page, text)) for page in named]
    return named[shared.index(max(shared))] if max(shared) else None


def _words_about(page: PageId, text: str) -> frozenset[str]:
    """The terms of a convention's name and of the lines that name it."""
    lines = [line for line in text.splitlines() if page in line]
    return frozenset(terms(" ".join([page.rpartition("/")[2], *lines])))


def note_bytes(view: View, tally: Tally, page: PageText) -> None:
    """Say which bytes of a page could not be read: file and offset."""
    if page.bad_bytes:
        file = view.layout.file(tally.scope, page.page)
        more = f" and {len(page.bad_bytes) - 1} more" if len(page.bad_bytes) > 1 else ""
        tally.notes.append(
            f"{file}: the byte at offset {page.bad_bytes[0].offset}{more} is not UTF-8; it is shown as \ufffd, and "
            f"the file is not written before a person has repaired it."
        )


def _note_problems(view: View, tally: Tally) -> None:
    """What of the index could not be understood: the first few, and how many more."""
    problems = view.index.problems
    tally.notes += [f"index: {problem}" for problem in problems[:_PROBLEMS]]
    if len(problems) > _PROBLEMS:
        tally.notes.append(f"index: {counted(len(problems) - _PROBLEMS, 'more problem')}.")


def _note_hand_made(view: View, tally: Tally, page: PageId, parts: Units) -> None:
    listed = view.table.rule(page).form in (Form.NEWEST_FIRST, Form.ADDED)
    if listed and not any(unit.record for unit in parts.units) and not only_points(parts.text, view.table):
        tally.notes.append(f"{page} holds no entry in remem's form; it is read as plain text.")
