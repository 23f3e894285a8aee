"""What models cost: asked before a run, told after it.

The meter knows the limits of a day and the ledger; the agent and the extractor know neither. What a provider reports
is compared with our own count, so that the next request is counted as that provider counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memory_core.ids import Scope
from memory_core.ledger.usage import Purpose


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a model used, as its provider reported it; `counted_tokens` is our own count of the input.

    `estimated`: it did not report all of it, some tokens are our own count. `cost_usd` None: nobody knows the price.
    """

    model: str
    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    counted_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False


class Meter(Protocol):
    """Whose account a run goes on, and whether there is something left."""

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """May one more run begin? Raises ModelFailed(DAY) where the day's share is used up, LedgerFailed."""
        ...

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Keep what a run used, whatever became of it. Raises LedgerFailed."""
        ...

    def factor(self, model: str) -> float:
        """How many tokens the model's provider reports for one of ours; 1.0 until it is known."""
        ...
