"""What went wrong last in each scope, kept where `remem status` of another process finds it: in the ledger.

    trouble:<scope>   a timer that never rings; it tells when the last flush failed and why; the next one ends it

The reason is the sentence that a room may hear, never an extractor's own words. A trouble that the ledger cannot keep
is in the log all the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

import structlog

from memory_core.clock import Clock
from memory_core.errors import LedgerError
from memory_core.ids import DirectScope, Scope
from memory_core.ledger.timers import NEVER, Timer, Timers

TROUBLE = "trouble:"
"""How the keys of these timers begin."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Trouble:
    """When a flush failed last, and why."""

    at: datetime
    why: str


def trouble_in(timer: Timer) -> Trouble:
    """The trouble of such a timer."""
    about = json.loads(timer.about)
    return Trouble(datetime.fromisoformat(about["at"]), about["why"])


class Troubles:
    """The troubles of all scopes."""

    def __init__(self, timers: Timers, clock: Clock) -> None:
        self._timers = timers
        self._clock = clock
        self._known: dict[str, Trouble] | None = None

    async def note(self, scope: Scope, why: str) -> None:
        """The scope's save failed, and why; '': it did not fail."""
        key = f"{TROUBLE}{scope.key}"
        try:
            known = await self._all()
            if why:
                owner = isinstance(scope, DirectScope) and scope.owner
                about = {"scope": scope.key, "owner": owner, "at": self._clock.now().isoformat(), "why": why}
                timer = Timer(key, NEVER, json.dumps(about))
                await self._timers.set(timer)
                known[key] = trouble_in(timer)
            elif key in known:
                await self._timers.cancel(key)
                del known[key]
        except LedgerError as refused:
            _log.error("a trouble was not kept", scope=scope.key, why=str(refused))

    async def of(self, scope: Scope) -> Trouble | None:
        """Why the scope's last flush failed; None where it did not. Raises LedgerError."""
        return (await self._all()).get(f"{TROUBLE}{scope.key}")

    async def _all(self) -> dict[str, Trouble]:
        if self._known is None:
            timers = [one for one in await self._timers.due(NEVER) if one.key.startswith(TROUBLE)]
            if self._known is None:  # another scope asked at the same moment, and may have changed it since
                self._known = {one.key: trouble_in(one) for one in timers}
        return self._known
