"""What the program does for itself: raw text that was saved is erased, search kept clean, the overview written.

    REMEM_RAW_DAYS=7       every hour: what is saved and older leaves the ledger, and raw lines leave the journals
    REMEM_RAW_DAYS=0       with every save as well
    REMEM_RAW_DAYS=never   nothing is erased

The overview (memory_core.aggregate) is written after a group's save, at most once a minute. What fails here is logged
and tried again; it is never in the way of a save or an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from memory_core.aggregate import Aggregate
from memory_core.clock import Clock, day_in
from memory_core.errors import RememError
from memory_core.flush.plans import Receipt
from memory_core.flush.raw_notes import erase_raw
from memory_core.flush.steps import last_step
from memory_core.gate import revise_search
from memory_core.handle import Handles
from memory_core.ids import GroupScope, Scope
from memory_core.ledger.base import Intake
from memory_core.zone import zone_of

SWEEP_S = 3600.0
OVERVIEW_S = 60.0

_log = structlog.get_logger()


class Upkeep:
    """Erases and overviews. `raw_days`: as the setting; `aggregate` None: no overview is written."""

    def __init__(self, handles: Handles, intake: Intake, raw_days: str, aggregate: Aggregate | None = None) -> None:
        self._handles = handles
        self._intake = intake
        self._days = None if raw_days == "never" else int(raw_days)
        self._aggregate = aggregate
        self._counts: dict[str, int] = {}
        self._asked: set[tuple[str, int]] = set()
        self._overdue = False
        self._written_s: float | None = None

    @property
    def _clock(self) -> Clock:
        return self._handles.clock

    async def saved(self, scope: Scope, receipt: Receipt) -> None:
        """A scope was saved: with REMEM_RAW_DAYS=0 its raw text goes now; a group's line of the overview is due.

        What was taken back left its pages only now: it leaves the index of search as well.
        """
        if self._days == 0:
            await self.erase(scope)
        await self.revise(scope)
        if isinstance(scope, GroupScope):
            if receipt.written:
                self._counts[scope.name] = sum(receipt.kinds.values())
            self._overdue = True
            await self.overview()

    async def sweep(self) -> int:
        """Erase in every scope what is old enough; how many messages. Then no index of search holds what is gone."""
        before, erased = self._before(), 0
        if before is not None:
            try:
                erased = sum([await self.erase(scope) for scope in await self._intake.kept(before)])
            except RememError as refused:
                _log.error("nothing was erased", why=str(refused))
        await self._revise()
        return erased

    async def revise(self, scope: Scope) -> None:
        """Take what is gone out of a scope's index of search; what fails is made up for by the next sweep."""
        try:
            await revise_search(self._handles.open(scope))
        except RememError as refused:
            _log.warning("what is gone may stand in an index of search still", scope=scope.key, why=str(refused))

    async def _revise(self) -> None:
        """Take what is gone out of every index of search: what a hand removed, and what a stop came between."""
        searches = self._handles.searches
        try:
            known = await self._intake.known_scopes()
            for name in await asyncio.to_thread(searches.remove_others, known):
                _log.info("an index of search that belongs to nobody was removed", file=name)
            kept = await asyncio.to_thread(searches.kept, known)
        except RememError as refused:
            _log.error("what is gone may stand in an index of search still", why=str(refused))
            return
        for scope in kept:
            await self.revise(scope)

    async def overview(self, *, now: bool = False) -> None:
        """Write the overview if a save made it old and the last one is a minute ago; `now`: in any case."""
        now_s = self._clock.monotonic_s()
        if self._aggregate is None or not (self._overdue or now):
            return
        if self._written_s is not None and now_s - self._written_s < OVERVIEW_S and not now:
            return
        self._overdue, self._written_s = False, now_s
        try:
            unknown = await asyncio.to_thread(self._aggregate.write, dict(self._counts))
            if found := await self._counted(unknown):
                self._counts |= found
                await asyncio.to_thread(self._aggregate.write, dict(self._counts))
        except RememError as refused:
            self._overdue = True
            _log.warning("the overview of groups was not written", why=str(refused))

    async def _counted(self, unknown: Mapping[str, int]) -> dict[str, int]:
        """What flushes kept that an earlier process closed and did not tell of: the ledger holds the last one."""
        found = dict[str, int]()
        for name, number in unknown.items() - self._asked:
            self._asked.add((name, number))
            for step in (await last_step(self._handles.open(GroupScope(name)).ledger)).steps:
                if step.number == number and step.begins:
                    found[name] = sum(step.kinds.values())
        return found

    async def run(self) -> None:
        """Sweep every hour and look after the overview every minute, for ever (cancel to end)."""
        swept_s: float | None = None
        while True:
            now_s = self._clock.monotonic_s()
            if swept_s is None or now_s - swept_s >= SWEEP_S:
                swept_s = now_s
                await self.sweep()
            await self.overview()
            await asyncio.sleep(OVERVIEW_S)

    def _before(self) -> datetime | None:
        """What was sent before that goes; None: nothing. A platform's clock may be ahead of ours."""
        if self._days is None:
            return None
        return self._clock.now() - timedelta(days=self._days or -1)

    async def erase(self, scope: Scope) -> int:
        """Erase in one scope what is saved and old enough; what fails is tried again by the next sweep."""
        before, handle = self._before(), self._handles.open(scope)
        if before is None:
            return 0
        try:
            erased = await handle.ledger.erase(before)
            lines = await erase_raw(handle, day_in(await zone_of(handle), before))
        except RememError as refused:
            _log.error("raw text is not erased yet", scope=scope.key, why=str(refused))
            return 0
        if erased or lines:
            _log.info("raw text erased", scope=scope.key, messages=erased, lines=lines)
        return erased
