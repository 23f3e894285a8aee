"""`remem status`: what becomes of what is said, scope by scope, for the person who runs remem.

    scope           last flush and its number, pending items, last error, last and next sleep, journals to go through,
                    what models cost it today
    conversation    messages that are not saved yet, when the newest one was sent

It takes no lock and changes nothing, so it works while the bot runs. Exit code 0: all well; 1: a flush or a sleep
failed and was not made up for; 2: it could not run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from bot.reading import KNOWN, host_zone, reading, settings_for
from bot.scopes import every_scope, named
from bot.settings import Settings, Switch, effective
from bot.sleeping import SLEEP, Rest, night_in, rest_of
from bot.troubles import TROUBLE, Trouble, trouble_in
from bot.usage_command import as_data
from memory_core.answers import flush_time
from memory_core.answers_sleep import rest_text, sleep_notes, trouble_text
from memory_core.answers_usage import usage_text
from memory_core.clock import day_in
from memory_core.errors import BadInput, RememError
from memory_core.flush.engine import read_state
from memory_core.handle import Handle
from memory_core.ids import Scope
from memory_core.ledger.overview import Look, look_at, usage_at
from memory_core.ledger.timers import Timer
from memory_core.ledger.usage import Spent
from memory_core.sleep.report import Stage
from memory_core.text import counted
from memory_core.workspace import LEDGER, require
from memory_core.zone import zone_of

WELL, TROUBLED, COULD_NOT = 0, 1, 2
_AGAIN = "again:"


@dataclass(frozen=True, slots=True)
class ScopeStatus:
    """How one scope stands. `unreadable`: why its files could not be read; then times and counts are unknown."""

    look: Look
    zone: tzinfo
    last_flush: datetime | None = None
    flush_number: int = 0
    pending: int = 0
    rest: Rest | None = None
    trouble: Trouble | None = None
    again_at: datetime | None = None
    unreadable: str = ""
    usage: tuple[Spent, ...] = ()
    """What models cost it today, in its zone."""

    @property
    def scope(self) -> Scope:
        """The scope."""
        return self.look.scope

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong, in sentences."""
        found = [trouble_text(self.trouble.at, self.trouble.why, self.zone)] if self.trouble else []
        if found and self.again_at is not None:
            found.append(f"saving is tried again at {flush_time(self.again_at, self.zone)}")
        found += sleep_notes(self.rest.trouble, self.rest.stuck) if self.rest else []
        return (*found, *([self.unreadable] if self.unreadable else []))


@dataclass(frozen=True, slots=True)
class Statuses:
    """The workspace's scopes, and the settings that count."""

    settings: Settings
    scopes: tuple[ScopeStatus, ...]

    @property
    def code(self) -> int:
        """The exit code."""
        return TROUBLED if any(one.errors for one in self.scopes) else WELL


def status(workspace: Path | None, *, as_json: bool) -> int:
    """Print how every scope stands; the exit code."""
    try:
        settings = settings_for(workspace, quiet=True)
        found = asyncio.run(statuses(settings, known=KNOWN.expanduser()))
    except RememError as refused:
        sys.stderr.write(f"remem: {refused}\n")
        return COULD_NOT
    if as_json:
        sys.stdout.write(as_text(found) + "\n")
    else:
        Console().print("\n".join(map(escape, lines(found))), highlight=False, soft_wrap=True)
    return found.code


async def statuses(settings: Settings, *, known: Path | None = None) -> Statuses:
    """How every scope stands. Raises BadInput, WorkspaceGone, StoreError, LedgerError."""
    await asyncio.to_thread(require, settings.workspace, known)
    if not await asyncio.to_thread(settings.workspace.is_dir):
        raise BadInput(f"There is no workspace {settings.workspace}; give a folder that holds a memory.")
    looks = {look.scope: look for look in await asyncio.to_thread(look_at, settings.workspace / LEDGER)}
    every = await asyncio.to_thread(every_scope, settings, tuple(looks.values()))
    async with reading(settings, await asyncio.to_thread(host_zone)) as (handles, _):
        on = settings.sleep is Switch.ON
        found = [await _status(handles.open(scope), looks.get(scope, Look(scope)), on=on) for scope in every]
        now = handles.clock.now()
    # A day earlier: where it is today, it may be yesterday in UTC.
    since = now.astimezone(UTC).date() - timedelta(days=1)
    usage = await asyncio.to_thread(usage_at, settings.workspace / LEDGER, since)
    return Statuses(settings, tuple(_with_usage(one, usage.get(one.scope, ()), now) for one in found))


def _with_usage(one: ScopeStatus, spent: Sequence[Spent], now: datetime) -> ScopeStatus:
    today = day_in(one.zone, now)
    return replace(one, usage=tuple(sum_ for sum_ in spent if sum_.day == today))


async def _status(handle: Handle, look: Look, *, on: bool) -> ScopeStatus:
    trouble = next((trouble_in(one) for one in _timers(look, TROUBLE)), None)
    again = next((one.due_at for one in _timers(look, _AGAIN)), None)
    night = next((night_in(one) for one in _timers(look, SLEEP) if on), None)
    try:
        zone, state = await zone_of(handle), await read_state(handle)
        rest = await rest_of(handle, zone, night)
    except RememError as refused:
        return ScopeStatus(look, handle.host_zone, trouble=trouble, again_at=again, unreadable=str(refused))
    pending = len(state.pending_items)
    return ScopeStatus(look, zone, state.last_flush_time, state.flush_number, pending, rest, trouble, again)


def _timers(look: Look, kind: str) -> Sequence[Timer]:
    return [timer for timer in look.timers if timer.key.startswith(kind)]


def lines(found: Statuses) -> list[str]:
    """It for people."""
    settings, on = found.settings, found.settings.sleep is Switch.ON
    told = [f"{settings.workspace}: layout {settings.layout}, sleep {settings.sleep}, {_all(found)}"]
    for one in found.scopes:
        saved = flush_time(one.last_flush, one.zone)
        number = f" (no. {one.flush_number})" if saved else ""
        waiting = counted(one.look.messages, "message")
        told.append(
            f"{named(one.scope)}: last flush {saved or 'never'}{number}, {one.pending} pending, {waiting} waiting"
        )
        if one.rest is not None:
            rest = one.rest
            times = (rest.last_deep, rest.last_rem, rest.next_at)
            sleep = rest_text(*times, rest.undigested, one.zone, on=on, undone=rest.undone)
            told.append(f"  sleep: {sleep}")
        if one.usage or settings.model or settings.memory_model:
            told.append(f"  the model today: {usage_text(one.usage)}")
        for talk in one.look.conversations:
            newest = f", newest {flush_time(talk.newest_at, one.zone)}" if talk.newest_at else ""
            told.append(f"  {talk.conversation}: {counted(talk.messages, 'message')} waiting{newest}")
        told += [f"  error: {error}" for error in one.errors]
    return told


def _all(found: Statuses) -> str:
    waiting = counted(sum(one.look.messages for one in found.scopes), "message")
    return f"{counted(len(found.scopes), 'scope')}, {waiting} waiting"


def as_text(found: Statuses) -> str:
    """It as JSON; times with their offset, in the scope's zone."""
    data = {
        "workspace": str(found.settings.workspace),
        "settings": effective(found.settings),
        "scopes": [_json(one) for one in found.scopes],
    }
    return json.dumps(data, ensure_ascii=False, indent=2)


def _json(one: ScopeStatus) -> dict[str, object]:
    rest = one.rest
    return {
        "scope": one.scope.key,
        "name": named(one.scope),
        "last_flush": _iso(one.last_flush, one.zone),
        "flush_number": one.flush_number,
        "pending": one.pending,
        "messages_waiting": one.look.messages,
        "conversations": [
            {
                "conversation": str(talk.conversation),
                "messages_waiting": talk.messages,
                "newest": _iso(talk.newest_at, one.zone),
            }
            for talk in one.look.conversations
        ],
        "last_deep": _iso(rest.last_deep if rest else None, one.zone),
        "last_rem": _iso(rest.last_rem if rest else None, one.zone),
        "undone_deep": _iso(rest.undone.get(Stage.DEEP) if rest else None, one.zone),
        "undone_rem": _iso(rest.undone.get(Stage.REM) if rest else None, one.zone),
        "next_sleep": _iso(rest.next_at if rest else None, one.zone),
        "undigested": rest.undigested if rest else None,
        "usage_today": [as_data(spent) for spent in one.usage],
        "last_error": {"at": _iso(one.trouble.at, one.zone), "why": one.trouble.why} if one.trouble else None,
        "errors": list(one.errors),
    }


def _iso(moment: datetime | None, zone: tzinfo) -> str | None:
    return moment.astimezone(zone).isoformat(timespec="seconds") if moment else None
