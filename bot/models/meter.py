"""The meter: what a memory's day has left, and how a provider counts tokens.

    check   the day's sums in the ledger against the limits of this purpose; at the limit the next run is refused
    spend   a run goes into the ledger, whatever became of it; its report teaches the factor
    factor  the median of the last reports of the model, within bounds; 1.0 until there are a few

A day is the scope's own (its zone). Runs that are under way at the same time are not counted before they end, so a
day may be overdrawn by as many runs as were under way. Answers and upkeep have limits of their own and are summed
apart: neither can silence the other. A price that nobody knows counts nothing against a limit in dollars, and this is
logged once a model; for such models there is the limit in tokens.

Not here: what a run costs (bot.models.speaker and extraction hand it in), what a refused run is replaced by (bot.turn
says the line, the rules extract instead). No model library is needed here.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from statistics import median

import structlog

from bot.models.failures import Failure, ModelFailed
from bot.models.limits import DayLimits
from bot.models.spending import Meter, Run
from bot.settings import Settings
from memory_core.answers import flush_time
from memory_core.clock import day_in, next_day
from memory_core.errors import StoreError
from memory_core.handle import Handle, Handles
from memory_core.ids import Scope
from memory_core.ledger.usage import KEPT_REPORTS, MOST_PER_RUN, Purpose, Report, Reports, Usage, report_of
from memory_core.zone import zone_of

LEAST, LARGEST = 0.7, 2.5
"""The bounds of the factor. Tokenizers of providers were seen to count 0.8 to 2 tokens for one of o200k, with Chinese
and code at the ends; what lies outside is a server that does not count."""

FEW = 3
"""From so many reports on the factor is believed."""

SMALLEST_TOKENS = 100
"""A smaller request teaches nothing: the provider's own frame around it outweighs it."""

_NONSENSE = 10.0
"""A report that is this many times off is no count of these tokens."""

_USED_UP = {
    Purpose.REPLY: "I have used up what I may use in a day to answer here. I answer again from {begins} on.",
    Purpose.MEMORY: "The model has used up what it may use in a day to save this. It helps again from {begins} on.",
}

_log = structlog.get_logger()


@dataclass(slots=True)
class _Learnt:
    """What one model's provider counted for one token of ours, of late."""

    ratios: deque[float] = field(default_factory=lambda: deque[float](maxlen=KEPT_REPORTS))

    def hear(self, report: Report) -> None:
        ratio = report.input_tokens / report.counted_tokens
        if report.counted_tokens >= SMALLEST_TOKENS and 1 / _NONSENSE <= ratio <= _NONSENSE:
            self.ratios.append(ratio)

    @property
    def factor(self) -> float:
        if len(self.ratios) < FEW:
            return 1.0
        return min(LARGEST, max(LEAST, median(self.ratios)))


class LedgerMeter(Meter):
    """The meter on the ledger. `learn` before its first use, so that what was learnt survives a restart."""

    def __init__(self, handles: Handles, reports: Reports, limits: Mapping[Purpose, DayLimits]) -> None:
        self._handles = handles
        self._reports = reports
        self._limits = dict(limits)
        self._learnt: dict[str, _Learnt] = {}
        self._unpriced: set[str] = set()
        self._keeping: set[asyncio.Task[None]] = set()

    async def learn(self) -> None:
        """Take up what the providers reported before. Raises LedgerFailed."""
        learnt: dict[str, _Learnt] = {}
        for report in await self._reports.latest():
            learnt.setdefault(report.model, _Learnt()).hear(report)
        self._learnt = learnt

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """May one more run begin? Raises ModelFailed(DAY) where the day's share is used up, LedgerFailed."""
        limits = self._limits.get(purpose, DayLimits())
        if not (limits.tokens or limits.usd):
            return
        handle = self._handles.open(scope)
        zone, now = await _zone_of(handle), handle.clock.now()
        today = day_in(zone, now)
        runs = [one for one in await handle.ledger.usage.spent(today) if (one.day, one.purpose) == (today, purpose)]
        tokens, micro_usd = sum(one.tokens for one in runs), sum(one.cost_micro_usd for one in runs)
        why = _used_up(limits, tokens, micro_usd)
        if why:
            begins = f"{flush_time(next_day(zone, now), zone)} ({zone})"
            raise ModelFailed(Failure.DAY, _USED_UP[purpose].format(begins=begins), why=why)

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Keep what a run used, whatever became of it; also where the caller is cancelled. Raises LedgerFailed."""
        keeping = asyncio.ensure_future(self._spend(scope, purpose, run))
        self._keeping.add(keeping)
        keeping.add_done_callback(self._keeping.discard)
        await asyncio.shield(keeping)

    async def close(self) -> None:
        """Wait for what is being kept, before the ledger is closed."""
        await asyncio.gather(*self._keeping, return_exceptions=True)

    async def _spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        handle = self._handles.open(scope)
        zone = await _zone_of(handle)
        usage = Usage(
            day=day_in(zone, handle.clock.now()),
            purpose=purpose,
            model=run.model,
            requests=_count(run.requests),
            tool_calls=_count(run.tool_calls),
            input_tokens=_count(run.input_tokens),
            cached_tokens=_count(run.cached_tokens),
            output_tokens=_count(run.output_tokens),
            counted_tokens=_count(run.counted_tokens),
            cost_micro_usd=_micro_usd(run.cost_usd),
            estimated=run.estimated,
        )
        self._warn_unpriced(usage)
        if report := report_of(usage):
            self._learnt.setdefault(run.model, _Learnt()).hear(report)
        await handle.ledger.usage.spend(usage)

    def factor(self, model: str) -> float:
        """How many tokens the model's provider reports for one of ours; 1.0 until it is known."""
        learnt = self._learnt.get(model)
        return learnt.factor if learnt is not None else 1.0

    def _warn_unpriced(self, usage: Usage) -> None:
        limits = self._limits.get(usage.purpose, DayLimits())
        if usage.unpriced and limits.usd and usage.model not in self._unpriced:
            self._unpriced.add(usage.model)
            _log.warning("a model has no known price, so a day's limit in dollars cannot count it", model=usage.model)


async def metered(settings: Settings, handles: Handles, reports: Reports) -> LedgerMeter:
    """The meter that the settings ask for, with what was learnt before. Raises LedgerFailed."""
    limits = {
        Purpose.REPLY: DayLimits(settings.day_tokens, settings.day_usd),
        Purpose.MEMORY: DayLimits(settings.memory_day_tokens, settings.memory_day_usd),
    }
    meter = LedgerMeter(handles, reports, limits)
    await meter.learn()
    return meter


async def _zone_of(handle: Handle) -> tzinfo:
    """The scope's zone; the host's where its index cannot be read: what was used counts all the same."""
    try:
        return await zone_of(handle)
    except StoreError:
        return handle.host_zone


def _used_up(limits: DayLimits, tokens: int, micro_usd: int) -> str:
    """Which limit is reached, for the log; '' for none."""
    if limits.tokens and tokens >= limits.tokens:
        return f"{tokens} tokens used, the limit of a day is {limits.tokens}"
    if limits.usd and micro_usd >= limits.usd * 1_000_000:
        return f"{micro_usd / 1_000_000:.4f} dollars used, the limit of a day is {limits.usd}"
    return ""


def _count(reported: int) -> int:
    """What a provider reports as the ledger may keep it: servers were seen to report anything."""
    return min(MOST_PER_RUN, max(0, reported))


def _micro_usd(cost_usd: float | None) -> int | None:
    """Money in millionths of a dollar; None where it is unknown, which is also what no sum of money is."""
    if cost_usd is None or not math.isfinite(cost_usd) or cost_usd < 0:
        return None
    return _count(round(cost_usd * 1_000_000))
