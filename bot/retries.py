"""Saves whose extraction failed: when they are tried again, with what, and what the operator hears.

    1st, 2nd failure     tried again after BACK_OFF_S, with the same messages, whatever came since
    3rd                  what was said goes into the journal word for word (flush/raw_notes); then every LATER_S

Nothing waits for a try: replies go on, and what is said meanwhile is saved after the messages that failed. The count
lives as long as the process; the timers outlive it, so that after a restart the tries go on, from the first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from memory_core.errors import LedgerError
from memory_core.flush.engine import Receipt
from memory_core.flush.plans import reach_of
from memory_core.ids import Conversation, Scope
from memory_core.text import counted

TRIES = 3
BACK_OFF_S = (60.0, 300.0)
LATER_S = 3600.0

Later: TypeAlias = Callable[[Scope, int, float], Awaitable[None]]
"""Saves a scope again: the number of the try, and in how many seconds. Raises LedgerFailed."""

_log = structlog.get_logger()


@dataclass(slots=True)
class _Failed:
    tries: int
    until: Mapping[Conversation, int]
    why: str


class Retries:
    """Which scopes wait for another try."""

    def __init__(self, later: Later | None = None) -> None:
        self.later = later
        self._failed: dict[str, _Failed] = {}

    def until(self, scope: Scope) -> Mapping[Conversation, int] | None:
        """The messages of the try that failed, which the next one is asked about first."""
        failed = self._failed.get(scope.key)
        return failed.until if failed is not None else None

    def is_last(self, scope: Scope) -> bool:
        """Do the messages go into the journal as they are, if the next try fails too?"""
        failed = self._failed.get(scope.key)
        return failed is not None and failed.tries + 1 >= TRIES

    def trouble(self, scope: Scope) -> str:
        """What a status says of it; '' where nothing waits."""
        failed = self._failed.get(scope.key)
        if failed is None:
            return ""
        kept = "it stands in the journal as it was said" if failed.tries >= TRIES else "it is kept"
        tries = counted(failed.tries, "try", "tries")
        return f"what was said could not be read through ({tries}); {kept}, and I try again"

    async def note(self, scope: Scope, receipt: Receipt) -> None:
        """Take account of how a flush ended; a failed one is tried again later."""
        if not receipt.unread:
            if not receipt.problem and not receipt.running:
                self._failed.pop(scope.key, None)
            return
        known = self._failed.get(scope.key)
        tries = known.tries + 1 if known is not None else 1
        until = known.until if known is not None and tries < TRIES else reach_of(receipt)
        self._failed[scope.key] = _Failed(tries, until, receipt.why)
        pause_s = BACK_OFF_S[tries - 1] if tries < TRIES else LATER_S
        _log.error(
            "extraction failed", scope=scope.key, tries=tries, raw=receipt.raw, again_in_s=pause_s, why=receipt.why
        )
        if self.later is not None:
            try:
                await self.later(scope, tries, pause_s)
            except LedgerError as refused:
                _log.error("the next try waits for the next flush", scope=scope.key, why=str(refused))
