"""Keeping to the budget: what fits is shown, what does not is named. Pure.

A `Tally` collects one disclosure. It knows how many tokens the session has left, counts everything that is added, the
index included, and holds back one token for each seam between two parts (texts that are put together can count one
more than alone). Nothing gets past it: `show` adds a part that fits and names what it leaves out.

`fit` cuts a page between its units: the wanted ones as far as they go, in the page's own order, and a line that says
how much is left out. Only where not even one unit fits is that unit itself cut, at its end, marked with `…`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from memory_core.disclosure import Disclosure, LeftOut, Loaded, Step
from memory_core.forms.units import Unit, render
from memory_core.ids import PageId, Scope
from memory_core.layouts import Form, Priority, Table
from memory_core.remembered import Remembered
from memory_core.search import TALK
from memory_core.session import Session
from memory_core.text import counted
from memory_core.tokens import Counter, cut

SEAM_TOKENS = 1
SMALLEST_TOKENS = 24
"""Less room than this is not worth a cut text: the line that says so would take all of it."""
OVER_BUDGET = "it does not fit into the budget"
_LONG_CHARACTERS = 400
_NAMED = 200
_COUNTED = Remembered[tuple[Hashable, str | bytes], int](1_000_000)
"""The tokens of texts, of so many characters together, long ones by their hash: some pages and parts of a thousand
groups, in some three megabytes."""
_MISSES = 40
"""After so many units in a row that do not fit, the rest is not tried."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What of a page is shown. `whole`: nothing is left out. `cut`: the only unit shown is itself cut."""

    text: str
    tokens: int
    shown: tuple[Unit, ...]
    left: tuple[Unit, ...]
    cut: bool = False

    @property
    def whole(self) -> bool:
        """Is everything shown?"""
        return not self.left and not self.cut


@dataclass(frozen=True, slots=True)
class Because:
    """Why a page is shown: by which step, in words, with which priority; `matched`: the message asked for it."""

    step: Step
    why: str
    priority: Priority | None = None
    matched: bool = False


def count(counter: Counter, text: str) -> int:
    """The tokens of `text`; remembered, a long text by its hash: a page may be large."""
    if not isinstance(counter, Hashable):
        return counter.count(text)
    known = text if len(text) < _LONG_CHARACTERS else hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return _COUNTED.get((counter, known), len(known), lambda: counter.count(text))


def fit(
    page: PageId,
    units: Sequence[Unit],
    limit_tokens: int,
    counter: Counter,
    order: Sequence[int] | None = None,
    *,
    in_turn: bool = False,
) -> Fit:
    """As much of `units` as `limit_tokens` hold; `order` are their numbers, most wanted first (else as they stand).

    `in_turn`: stop at the first that does not fit, instead of trying smaller ones behind it.
    """
    wanted = range(len(units)) if order is None else order
    if len(wanted) == len(units):
        whole = render(units)
        tokens = count(counter, whole)
        if tokens <= limit_tokens:
            return Fit(whole, tokens, tuple(units), ())
    taken = list(_taken(page, units, wanted, limit_tokens, counter, in_turn=in_turn))
    while taken:
        text = _with_line(page, units, taken)
        tokens = count(counter, text)
        if tokens <= limit_tokens:
            return Fit(text, tokens, _at(units, taken), _at(units, set(range(len(units))) - set(taken)))
        taken.pop()
    return _cut_one(page, units, wanted, limit_tokens, counter)


def _taken(
    page: PageId, units: Sequence[Unit], wanted: Sequence[int], limit_tokens: int, counter: Counter, *, in_turn: bool
) -> Iterator[int]:
    """Numbers of units that go into `limit_tokens` together, the line about the rest included; most wanted first."""
    used = count(counter, _line(page, len(units), len(units)))
    above: set[str] = set()
    misses = 0
    for number in wanted:
        unit = units[number]
        context = [line for line in unit.context if line not in above]
        cost = count(counter, "\n".join([*context, unit.text, ""] if unit.close else [*context, unit.text, "", ""]))
        if used + cost <= limit_tokens:
            yield number
            used += cost
            above.update(context)
            misses = 0
        else:
            misses += 1
        if misses and (in_turn or misses > _MISSES or limit_tokens - used < SMALLEST_TOKENS // 2):
            return


def _cut_one(page: PageId, units: Sequence[Unit], wanted: Sequence[int], limit_tokens: int, counter: Counter) -> Fit:
    """The most wanted unit, cut; nothing where there is no room for that."""
    nothing = Fit("", 0, (), tuple(units))
    if not wanted or limit_tokens < SMALLEST_TOKENS:
        return nothing
    unit, line = units[wanted[0]], _line(page, len(units), len(units))
    room = limit_tokens - count(counter, line) - 2 * SEAM_TOKENS
    while room >= SMALLEST_TOKENS // 2:
        text = f"{cut(render([unit]), room, counter).rstrip()} …\n{line}\n"
        tokens = count(counter, text)
        if tokens <= limit_tokens:
            left = tuple(one for number, one in enumerate(units) if number != wanted[0])
            return Fit(text, tokens, (unit,), left, cut=True)
        room -= tokens - limit_tokens
    return nothing


def _with_line(page: PageId, units: Sequence[Unit], taken: Sequence[int]) -> str:
    left = len(units) - len(taken)
    text = render(_at(units, taken))
    return f"{text}\n{_line(page, left, len(units))}\n" if left else text


def _line(page: PageId, left: int, of: int) -> str:
    return f"[… {left} of {of} parts of {page} are left out here; a search finds them]"


def _at(units: Sequence[Unit], numbers: Collection[int]) -> tuple[Unit, ...]:
    return tuple(units[number] for number in sorted(numbers))


def named(page: PageId, left: Sequence[Unit], why: str, counter: Counter) -> Iterator[LeftOut]:
    """What was left out, by name: each record, and how many other parts under each heading; at last the number."""
    groups: dict[str, list[Unit]] = {}
    for unit in left[:_NAMED]:
        groups.setdefault(unit.label if unit.record else f"“{unit.label if unit.title else 'text'}”", []).append(unit)
    for name, units in groups.items():
        what = name if len(units) == 1 else f"{len(units)} parts of {name}"
        yield LeftOut(page, what, why, sum(count(counter, unit.text) for unit in units))
    if more := left[_NAMED:]:
        tokens = count(counter, "\n".join(unit.text for unit in more))
        yield LeftOut(page, counted(len(more), "more part"), why, tokens)


@dataclass(slots=True)
class Tally:
    """One disclosure while it is made."""

    scope: Scope
    title: str
    session: Session
    counter: Counter
    budget_tokens: int
    table: Table
    loaded: list[Loaded] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trail: list[tuple[Step, str]] = field(default_factory=list)
    breaker: bool = False
    full: bool = False
    """Nothing more may be added: something that must be cut later was cut already."""
    zone: tzinfo | None = None
    """Where the scope lives."""

    @property
    def room_tokens(self) -> int:
        """What one more part may cost; never negative."""
        if self.full:
            return 0
        seams = SEAM_TOKENS * (len(self.session.parts) + len(self.loaded) + 1)
        spent = self.session.spent_tokens + sum(part.tokens for part in self.loaded)
        return max(0, self.budget_tokens - spent - seams)

    def took(self, step: Step, found: str) -> None:
        """Note a step and what it found."""
        self.trail.append((step, found))

    def leave(self, page: PageId, what: str, why: str, tokens: int = 0) -> None:
        """Name something that is not shown."""
        self.left_out.append(LeftOut(page, what, why, tokens))

    def show(
        self,
        page: PageId,
        fitted: Fit,
        because: Because,
        *,
        sha256: str,
        rest: Sequence[Unit] = (),
        rest_is_known: bool = False,
        short: str = "",
    ) -> bool:
        """Add what `fitted` holds of a page, name what it left out, and tell whether anything is shown.

        `rest` are parts that were not even wanted (the caller names them, or they are known). `short` says why there
        was less room than the budget has; '' means that the budget itself stopped it: the breaker.
        """
        self.left_out += named(page, fitted.left, short or OVER_BUDGET, self.counter)
        if fitted.cut:
            self.leave(page, f"the end of {fitted.shown[0].label}", short or OVER_BUDGET)
        self.breaker = self.breaker or not (fitted.whole or short)
        if not fitted.text:
            return False
        self.loaded.append(
            Loaded(
                page=page,
                step=because.step,
                text=fitted.text,
                tokens=fitted.tokens,
                why=because.why,
                priority=because.priority,
                records=tuple(unit.record for unit in fitted.shown if unit.record),
                sha256=sha256,
                cut=not fitted.whole or bool(rest and not rest_is_known),
                matched=because.matched,
                shown=tuple(unit.mark for unit in fitted.shown),
                rest=tuple(unit.mark for unit in (*fitted.left, *rest)),
                form=Form.JOURNAL if page == TALK else self.table.rule(page).form,
            )
        )
        return True

    def disclosure(self) -> Disclosure:
        """The finished value; at the breaker a note says what stopped."""
        spent = self.session.spent_tokens + sum(part.tokens for part in self.loaded)
        if self.breaker:
            pages = ", ".join(dict.fromkeys(part.page for part in self.left_out))
            self.took(Step.BUDGET, f"stopped: {spent} of {self.budget_tokens} tokens are spent; left out of {pages}")
            self.notes.append(
                f"The memory budget of {self.budget_tokens} tokens stopped the loading; left out of: {pages}."
            )
        else:
            self.took(Step.BUDGET, f"{spent} of {self.budget_tokens} tokens are spent")
        return Disclosure(
            scope=self.scope,
            title=self.title,
            loaded=tuple(self.loaded),
            left_out=tuple(self.left_out),
            budget_tokens=self.budget_tokens,
            spent_tokens=spent,
            notes=tuple(self.notes),
            breaker=self.breaker,
            trail=tuple(self.trail),
            zone=self.zone,
        )
