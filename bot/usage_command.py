"""`remem usage`: what models cost, scope by scope and day by day, answers and saving apart.

It takes no lock and changes nothing, so it works while the bot runs. It shows numbers, names of models and whose
memory it was, and no word of it. Exit code 0; 2: it could not run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.scopes import is_former_owner, named
from bot.settings import Settings
from memory_core.answers_usage import known_cost_usd, purpose_word, sum_text, usage_text
from memory_core.clock import day_in
from memory_core.errors import BadInput, RememError, StoreError
from memory_core.handle import Handle
from memory_core.ids import DirectScope, Scope
from memory_core.ledger.overview import usage_at
from memory_core.ledger.usage import Spent
from memory_core.text import counted
from memory_core.workspace import LEDGER, require
from memory_core.zone import zone_of

WELL, COULD_NOT = 0, 2


@dataclass(frozen=True, slots=True)
class ScopeCost:
    """What models cost one scope, by day (of its zone), purpose and model."""

    scope: Scope
    zone: tzinfo
    spent: tuple[Spent, ...]


@dataclass(frozen=True, slots=True)
class Costs:
    """What models cost in a workspace in the last `days` days, today included."""

    workspace: Path
    days: int
    scopes: tuple[ScopeCost, ...]


def usage(workspace: Path | None, *, days: int, as_json: bool) -> int:
    """Print what models cost; the exit code."""
    try:
        settings = settings_for(workspace, quiet=True)
        found = asyncio.run(costs(settings, days, known=KNOWN.expanduser()))
    except RememError as refused:
        sys.stderr.write(f"remem: {refused}\n")
        return COULD_NOT
    if as_json:
        sys.stdout.write(as_text(found) + "\n")
    else:
        Console().print("\n".join(map(escape, lines(found))), highlight=False, soft_wrap=True)
    return WELL


async def costs(settings: Settings, days: int, *, known: Path | None = None) -> Costs:
    """What models cost in the last `days` days. Raises BadInput, WorkspaceGone, StoreError, LedgerError."""
    await asyncio.to_thread(require, settings.workspace, known)
    if not await asyncio.to_thread(settings.workspace.is_dir):
        raise BadInput(f"There is no workspace {settings.workspace}; give a folder that holds a memory.")
    async with reading(settings, await asyncio.to_thread(host_zone)) as (handles, _):
        now = handles.clock.now()
        # A day earlier: where it is that day, it may be the day before in UTC.
        since = now.astimezone(UTC).date() - timedelta(days=days)
        spent = _by_home(await asyncio.to_thread(usage_at, settings.workspace / LEDGER, since), settings)
        found = [await _cost(handles.open(scope), its, days, now) for scope, its in spent.items()]
    return Costs(settings.workspace, days, tuple(one for one in found if one.spent))


def _by_home(spent: Mapping[Scope, tuple[Spent, ...]], settings: Settings) -> dict[Scope, tuple[Spent, ...]]:
    """A DM that was the owner's once is that person's own by now, and not the owner's of today."""
    return {
        DirectScope(scope.person)
        if isinstance(scope, DirectScope) and is_former_owner(scope, settings)
        else scope: its
        for scope, its in spent.items()
    }


async def _cost(handle: Handle, spent: Sequence[Spent], days: int, now: datetime) -> ScopeCost:
    try:
        zone = await zone_of(handle)
    except StoreError:
        zone = handle.host_zone
    first = day_in(zone, now) - timedelta(days=days - 1)
    return ScopeCost(handle.scope, zone, tuple(one for one in spent if one.day >= first))


def lines(found: Costs) -> list[str]:
    """It for people."""
    everything = [one for cost in found.scopes for one in cost.spent]
    span = "today" if found.days == 1 else f"the last {found.days} days"
    told = [f"{found.workspace}: {span}, {counted(len(found.scopes), 'scope')}: {usage_text(everything)}"]
    for cost in found.scopes:
        told.append(f"{named(cost.scope)}: {usage_text(cost.spent)}")
        told += [f"  {line}" for line in _days(cost.spent)]
    return told


def _days(spent: Sequence[Spent]) -> Iterator[str]:
    for day, of_day in groupby(spent, key=lambda one: one.day):
        for purpose, runs in groupby(of_day, key=lambda one: one.purpose):
            of_purpose = list(runs)
            models = ", ".join(one.model for one in of_purpose)
            yield f"{day}  {purpose_word(purpose)} {sum_text(of_purpose)}, {models}"


def as_text(found: Costs) -> str:
    """It as JSON."""
    scopes = [
        {
            "scope": cost.scope.key,
            "name": named(cost.scope),
            "zone": str(cost.zone),
            "usage": [as_data(one) for one in cost.spent],
        }
        for cost in found.scopes
    ]
    data = {"workspace": str(found.workspace), "days": found.days, "scopes": scopes}
    return json.dumps(data, ensure_ascii=False, indent=2)


def as_data(spent: Spent) -> dict[str, object]:
    """One sum as JSON has it. `cost_usd` null: the price of some of its runs (`unpriced_runs`) is not known.

    The tokens of `estimated_runs` are counted by remem, because their provider reported none.
    """
    return {
        "day": spent.day.isoformat(),
        "purpose": spent.purpose.value,
        "model": spent.model,
        "runs": spent.runs,
        "requests": spent.requests,
        "tool_calls": spent.tool_calls,
        "input_tokens": spent.input_tokens,
        "cached_tokens": spent.cached_tokens,
        "output_tokens": spent.output_tokens,
        "cost_usd": known_cost_usd(spent),
        "unpriced_runs": spent.unpriced_runs,
        "estimated_runs": spent.estimated_runs,
    }
