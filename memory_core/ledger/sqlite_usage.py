"""What models cost, on SQLite: one scope's sums, and what providers reported in all scopes."""

from __future__ import annotations

from datetime import date

from memory_core.ids import Scope
from memory_core.ledger.database import Database
from memory_core.ledger.rows import SPENT, keep_scope, report_of_row, spent_of
from memory_core.ledger.usage import KEPT_REPORTS, Report, Spent, Usage, report_of
from memory_core.ledger.values import storable
from memory_core.ledger.worker import Worker

_ADD = """INSERT INTO usage (scope, day, purpose, model, runs, requests, tool_calls, input_tokens, cached_tokens,
        output_tokens, cost_micro_usd, unpriced_runs, estimated_runs)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET runs = runs + 1, requests = requests + excluded.requests,
        tool_calls = tool_calls + excluded.tool_calls, input_tokens = input_tokens + excluded.input_tokens,
        cached_tokens = cached_tokens + excluded.cached_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
        unpriced_runs = unpriced_runs + excluded.unpriced_runs,
        estimated_runs = estimated_runs + excluded.estimated_runs"""
_REPORT = "INSERT INTO usage_reports (scope, model, counted_tokens, input_tokens) VALUES (?, ?, ?, ?)"
_DROP_OLD = """DELETE FROM usage_reports WHERE scope = ?1 AND model = ?2 AND number <= (
    SELECT number FROM usage_reports WHERE scope = ?1 AND model = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)"""
_LATEST = """SELECT model, counted_tokens, input_tokens FROM (SELECT *,
    row_number() OVER (PARTITION BY model ORDER BY number DESC) AS age FROM usage_reports)
    WHERE age <= ? ORDER BY number"""


class SqliteScopeUsage:
    """One scope's usage. Every statement binds the scope's key, like those of its ledger."""

    def __init__(self, scope: Scope, worker: Worker) -> None:
        self._scope = scope
        self._key = scope.key
        self._worker = worker

    async def spend(self, usage: Usage) -> None:
        """Keep one run, durably. Raises LedgerFailed."""
        model, report = storable(usage.model), report_of(usage)

        def work(database: Database) -> None:
            keep_scope(database, self._scope)
            database.run(
                _ADD,
                (
                    self._key,
                    usage.day.isoformat(),
                    usage.purpose,
                    model,
                    usage.requests,
                    usage.tool_calls,
                    usage.input_tokens,
                    usage.cached_tokens,
                    usage.output_tokens,
                    usage.cost_micro_usd or 0,
                    usage.unpriced,
                    usage.estimated,
                ),
            )
            if report is not None:
                database.run(_REPORT, (self._key, model, report.counted_tokens, report.input_tokens))
                database.run(_DROP_OLD, (self._key, model, KEPT_REPORTS))

        await self._worker.run(work, self._key)

    async def spent(self, since: date) -> tuple[Spent, ...]:
        """What was used on `since` and after, by day, purpose and model. Raises LedgerFailed."""
        rows = await self._worker.run(
            lambda database: database.rows(
                f"SELECT {SPENT} WHERE scope = ? AND day >= ? ORDER BY day, purpose, model",
                (self._key, since.isoformat()),
            ),
            self._key,
        )
        return tuple(map(spent_of, rows))


class SqliteReports:
    """What providers reported in all scopes."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def latest(self) -> tuple[Report, ...]:
        """The last ones of each model, oldest first. Raises LedgerFailed."""
        rows = await self._worker.run(lambda database: database.rows(_LATEST, (KEPT_REPORTS,)))
        return tuple(map(report_of_row, rows))
