"""What answers and upkeep cost: values, and the ports that keep them beside the transcript.

    run of a model → Usage → spend ┬→ sums per day, purpose and model (`Spent`): limits, `status`, `remem usage`
                                   └→ the last `KEPT_REPORTS` runs of each model (`Report`): the provider's tokenizer

Numbers, days, names of models, and whose memory it was: no text, no message. So nothing of it goes when text is
forgotten or erased. Money is counted in millionths of a US dollar, whole, so that sums are exact. A price that nobody
knows is not 0: such runs are counted apart (`unpriced_runs`). So are runs whose tokens no provider reported, which
count as we estimate them (`estimated_runs`); nothing is learnt from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from typing import Protocol

from memory_core.errors import BadInput

MOST_PER_RUN = 10**12
"""No number of one run is larger: nine million such runs a day can still be added up in SQLite's 64 bits."""

KEPT_REPORTS = 32
"""So many single runs of each model are kept in each scope."""


class Purpose(StrEnum):
    """What a model was asked for; each has limits of its own."""

    REPLY = "reply"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Usage:
    """One run of a model. `day` is the scope's; `counted_tokens` is our own count of the input.

    `estimated`: the provider did not report all its tokens, some are our own count. `cost_micro_usd` None: the price
    is not known. Raises BadInput for a number below 0 or over `MOST_PER_RUN`.
    """

    day: date
    purpose: Purpose
    model: str
    requests: int = 1
    tool_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    counted_tokens: int = 0
    cost_micro_usd: int | None = None
    estimated: bool = False

    def __post_init__(self) -> None:
        _require_counts(self)

    @property
    def unpriced(self) -> bool:
        """Did it ask a model whose price, or use of tokens, nobody knows?"""
        return self.cost_micro_usd is None and self.requests + self.input_tokens + self.output_tokens > 0


@dataclass(frozen=True, slots=True)
class Spent:
    """The sum of one day's runs of one model for one purpose.

    `cost_micro_usd` is what the runs with a known price cost; `unpriced_runs` asked and have none; the tokens
    of `estimated_runs` are in part our own count. Raises BadInput for a number below 0.
    """

    day: date
    purpose: Purpose
    model: str
    runs: int = 0
    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int = 0
    unpriced_runs: int = 0
    estimated_runs: int = 0

    def __post_init__(self) -> None:
        _require_counts(self, most=2**63 - 1)

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Report:
    """How many tokens of input a provider reported for one run, and how many we had counted ourselves.

    Raises BadInput where one of them is 0: that teaches nothing.
    """

    model: str
    counted_tokens: int
    input_tokens: int

    def __post_init__(self) -> None:
        if not (0 < self.counted_tokens <= MOST_PER_RUN and 0 < self.input_tokens <= MOST_PER_RUN):
            raise BadInput(f"A report of {self.input_tokens} tokens for {self.counted_tokens} teaches nothing.")


def report_of(usage: Usage) -> Report | None:
    """What the run tells about its provider's tokenizer; None where one of the counts is missing or our own."""
    if usage.estimated or not (usage.counted_tokens and usage.input_tokens):
        return None
    return Report(usage.model, usage.counted_tokens, usage.input_tokens)


def _require_counts(value: Usage | Spent, most: int = MOST_PER_RUN) -> None:
    for field in fields(value):
        number = getattr(value, field.name)
        if isinstance(number, int) and not 0 <= number <= most:
            raise BadInput(f"A model's usage of {number} ({field.name}) was reported; it must be 0 to {most}.")


class ScopeUsage(Protocol):
    """One scope's usage, bound at creation like its ledger."""

    async def spend(self, usage: Usage) -> None:
        """Keep one run, durably: its sum and, where it tells something, its report. Raises LedgerFailed."""
        ...

    async def spent(self, since: date) -> Sequence[Spent]:
        """What was used on `since` and after, by day, purpose and model. Raises LedgerFailed."""
        ...


class Reports(Protocol):
    """What providers reported in all scopes together: process-wide, for it is about models and not about memories."""

    async def latest(self) -> Sequence[Report]:
        """The last `KEPT_REPORTS` of each model, oldest first. Raises LedgerFailed."""
        ...
