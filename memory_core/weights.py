"""What each share of a part's score counts (memory_core.ranking says what the shares are)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts. These are the ones that remem ships; others are for those who look for better ones."""

    own: float = 0.3
    before: float = 0.5
    near: float = 0.4
    wide: float = 0.3
    session: float = 0.3
    kin: float = 0.2
    kin_before: float = 0.15
    phrase: float = 0.1
    cover: float = 0.15
    speaker: float = 0.6
    day: float = 1.0
    time: float = 0.2
    number: float = 0.15
    newness: float = 0.15
    asks: float = -0.2
    length: float = -0.2


SHIPPED = Weights()
