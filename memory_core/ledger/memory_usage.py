"""What models cost, in memory: the twin of sqlite_usage."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from datetime import date

from memory_core.ids import Scope
from memory_core.ledger.book import Book
from memory_core.ledger.usage import KEPT_REPORTS, Report, Spent, Usage, report_of
from memory_core.ledger.values import storable


def _order(spent: Spent) -> tuple[date, str, str]:
    return spent.day, spent.purpose, spent.model


@dataclass(frozen=True, slots=True)
class MemoryScopeUsage:
    """One scope's usage, in memory."""

    scope: Scope
    _book: Book

    async def spend(self, usage: Usage) -> None:
        """Keep one run."""
        usage = replace(usage, model=storable(usage.model))
        place = (usage.day, usage.purpose, usage.model)
        sums = self._book.of(self.scope.key).usage
        sums[place] = _added(sums.get(place, Spent(*place)), usage)
        self._book.scopes[self.scope.key] = self.scope
        if report := report_of(usage):
            kept = self._book.reports.setdefault((self.scope.key, usage.model), deque(maxlen=KEPT_REPORTS))
            kept.append((self._book.number(), report))

    async def spent(self, since: date) -> tuple[Spent, ...]:
        """What was used on `since` and after, by day, purpose and model."""
        sums = self._book.of(self.scope.key).usage.values()
        return tuple(sorted((spent for spent in sums if spent.day >= since), key=_order))


def _added(spent: Spent, usage: Usage) -> Spent:
    return replace(
        spent,
        runs=spent.runs + 1,
        requests=spent.requests + usage.requests,
        tool_calls=spent.tool_calls + usage.tool_calls,
        input_tokens=spent.input_tokens + usage.input_tokens,
        cached_tokens=spent.cached_tokens + usage.cached_tokens,
        output_tokens=spent.output_tokens + usage.output_tokens,
        cost_micro_usd=spent.cost_micro_usd + (usage.cost_micro_usd or 0),
        unpriced_runs=spent.unpriced_runs + usage.unpriced,
        estimated_runs=spent.estimated_runs + usage.estimated,
    )


@dataclass(frozen=True, slots=True)
class MemoryReports:
    """What providers reported in all scopes, in memory."""

    _book: Book

    async def latest(self) -> tuple[Report, ...]:
        """The last ones of each model, oldest first."""
        by_model: dict[str, list[tuple[int, Report]]] = {}
        for (_, model), kept in self._book.reports.items():
            by_model.setdefault(model, []).extend(kept)
        last = [numbered for found in by_model.values() for numbered in sorted(found, key=_number)[-KEPT_REPORTS:]]
        return tuple(report for _, report in sorted(last, key=_number))


def _number(numbered: tuple[int, Report]) -> int:
    return numbered[0]
