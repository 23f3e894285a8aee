"""What answers and upkeep cost: values, and the port that keeps them beside the transcript.

One row a model run: the tokens that the provider reported, what we had counted ourselves (their ratio is what is
learnt about a provider's tokenizer), and money in millionths of a US dollar. No text, no message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from memory_core.errors import BadInput


class Purpose(StrEnum):
    """What a model was asked for; each has limits of its own."""

    REPLY = "reply"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Usage:
    """One run of a model. `day` is the scope's; `counted_tokens` is our own count of the input.

    `cost_micro_usd` None: the price is not known. Raises BadInput for a naive time or a negative number.
    """

    at: datetime
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

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise BadInput("The time of a model's usage has no zone; pass an aware datetime.")
        numbers = (self.requests, self.tool_calls, self.input_tokens, self.cached_tokens, self.output_tokens)
        for number in (*numbers, self.counted_tokens, self.cost_micro_usd or 0):
            if number < 0:
                raise BadInput(f"A model's usage of {number} was reported; it must be 0 or more.")

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input_tokens + self.output_tokens


class ScopeUsage(Protocol):
    """One scope's usage, bound at creation like its ledger."""

    async def spend(self, usage: Usage) -> None:
        """Keep one run, durably. Raises LedgerFailed."""
        ...

    async def spent(self, since: date) -> Sequence[Usage]:
        """What was used on `since` and after, oldest first: per day, purpose and model one summed value."""
        ...
