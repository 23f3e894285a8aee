"""What a sleep is asked, what it may do at most, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory_core.errors import BadInput
from memory_core.ids import PageId

SAID = "sleep: "
"""How every line of a report begins, so that upkeep never takes its own words for somebody's."""


class Stage(StrEnum):
    """The two stages that are not the flush."""

    DEEP = "deep"
    REM = "rem"


@dataclass(frozen=True, slots=True)
class Caps:
    """What one run may do at most; what is beyond waits for the next one, and the report says so.

    `max_changes_share`: how much of a page's records merging and archiving by rule may take, but always
    `min_changes`. Line budgets and journals are not counted: they are promises, and whatever moves stays readable.
    `max_seconds` of planning;
    """

    max_changes_share: float = 0.10
    min_changes: int = 3
    max_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Raises BadInput for a share outside 0 to 1 or a negative amount."""
        if not 0 <= self.max_changes_share <= 1:
            raise BadInput(f"max_changes_share is {self.max_changes_share}; it must be between 0 and 1.")
        for name, value in (("min_changes", self.min_changes), ("max_seconds", self.max_seconds)):
            if value < 0:
                raise BadInput(f"{name} is {value}; it must be 0 or more.")

    def changes(self, records: int) -> int:
        """How many of a page's `records` one run may merge away or archive by rule."""
        return max(self.min_changes, int(self.max_changes_share * records))


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did, as it was read back (`dry_run`: what it would do).

    `absorbed` counts journal lines, `journals` those moved to the archive, `conflicts` pairs that were marked,
    `archived` records that left a page by rule or for a line budget. `over_budget` are pages that stay longer than
    their budget, `held_back` what this run left undone and why. `lines` say all that to a person, never to upkeep.
    `problem`: why nothing was done.
    """

    stage: Stage
    number: int
    at: datetime
    promoted: int = 0
    absorbed: int = 0
    merged: int = 0
    superseded: int = 0
    conflicts: int = 0
    proven: int = 0
    archived: int = 0
    returned: int = 0
    journals: int = 0
    pages: tuple[PageId, ...] = ()
    over_budget: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    problem: str = ""
    dry_run: bool = False

    @property
    def nothing(self) -> bool:
        """Was there nothing to do?"""
        return not self.pages
