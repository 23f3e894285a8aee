"""The value that says what was loaded for a message, by which step, why, at what cost, and what was left out.

Every token that the agent sees of memory stands in a disclosure; everything that did not fit is named in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum

from memory_core.ids import PageId, Scope
from memory_core.layouts import Form, Priority


class Step(StrEnum):
    """The steps of progressive loading, by their numbers in the protocol."""

    NAME = "0 name"
    INDEX = "1 index"
    INTENT = "2 intent"
    PAGE = "3 page"
    CONVENTION = "4 convention"
    BUDGET = "5 budget"
    LAYER_0 = "layer 0"
    LAYER_1 = "layer 1"
    LAYER_2 = "layer 2"
    TASKS = "tasks"
    SEARCH = "search"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Text that was disclosed: of which page, by which step, why (trigger, score or rule), and its cost in tokens.

    `records` are the identities of the records in it; `cut` is True when the page was larger than what is shown.
    `shown` and `rest` are the marks (forms/units) of the page's parts that stand here and that do not: what a
    later turn needs to tell a changed part from a known one. `matched`: the message asked for this page (a row of the
    index matched, or the agent opened it); False for P0 where nothing matched, and for what is always loaded
    unless it is just what was asked for. `form` is how the page is written.
    """

    page: PageId
    step: Step
    text: str
    tokens: int
    why: str
    priority: Priority | None = None
    records: tuple[str, ...] = ()
    sha256: str = ""
    cut: bool = False
    shown: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    matched: bool = False
    form: Form = Form.ADDED


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that was not disclosed: which page (or part: `what`), why, and its size in tokens."""

    page: PageId
    what: str
    why: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What one message disclosed. `spent_tokens` is the session's total so far, this disclosure included.

    `notes` are warnings for people (undecodable bytes, an invalid budget); `breaker` says that the budget stopped
    the loading. `indexed` is False when the scope has no index yet and nothing was read. `trail` tells every step
    that was taken and what it found, in order, also of steps that loaded nothing.
    """

    scope: Scope
    title: str
    loaded: tuple[Loaded, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    budget_tokens: int = 0
    spent_tokens: int = 0
    notes: tuple[str, ...] = ()
    breaker: bool = False
    indexed: bool = True
    trail: tuple[tuple[Step, str], ...] = ()
    zone: tzinfo | None = None
    """Where the scope lives, as its index says; None where there is none."""

    @property
    def tokens(self) -> int:
        """The cost of this disclosure alone."""
        return sum(part.tokens for part in self.loaded)
