"""How much a model may use: values that check themselves, and the detector of loops. Pure.

One answer has limits on requests, calls of tools, tokens and seconds. A memory has limits on tokens and money a day,
for answers and for upkeep apart, so that upkeep can never silence the bot. A model that makes the same call with the
same arguments `SAME_CALLS` times in one answer goes in circles.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from memory_core.errors import BadInput

SAME_CALLS = 3
"""So often one answer may make one and the same call of a tool."""


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """For one answer. Raises BadInput for a limit that forbids every answer."""

    requests: int = 8
    tool_calls: int = 12
    tokens: int = 100_000
    seconds: float = 300.0

    def __post_init__(self) -> None:
        for name, limit, least in (
            ("requests", self.requests, 1),
            ("tool_calls", self.tool_calls, 0),
            ("tokens", self.tokens, 1),
            ("seconds", self.seconds, 0.001),
        ):
            if limit < least:
                raise BadInput(f"The limit of {name} for one answer is {limit}; it must be at least {least}.")


@dataclass(frozen=True, slots=True)
class DayLimits:
    """For one memory and day; 0 is no limit. Raises BadInput for a negative limit."""

    tokens: int = 0
    usd: float = 0.0

    def __post_init__(self) -> None:
        for name, limit in (("tokens", self.tokens), ("dollars", self.usd)):
            if limit < 0:
                raise BadInput(f"The limit of {name} for one day is {limit}; it must be 0 or more.")


@dataclass(slots=True)
class Loops:
    """The calls of one answer."""

    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def again(self, tool: str, arguments: str) -> bool:
        """Count a call; True where it was made too often."""
        self._seen[tool, arguments] += 1
        return self._seen[tool, arguments] > SAME_CALLS
