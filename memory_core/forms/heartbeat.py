"""heartbeat-state.json: when a scope slept last, for the schedule and for people.

    {"lastConsolidatedAt": "2026-04-06T03:00:00+08:00", "lastDeep": …, "lastRem": …, "idleRuns": 0,
     "notes": "…", "read": "…", "undoneDeep": …, "undoneRem": …}

`lastDeep` and `lastRem` are the last sleeps whose work stands. `undoneDeep` and `undoneRem` tell of one that was
taken back since: the next is due a period after it, because a person wanted it away for now (`ran_deep`, `ran_rem`).
`notes` and `read` are fingerprints of what the last deep sleep found in the journals, and of what of it could be
read: new notes of which nothing can be read, run after run, are the sign of a stuck upkeep (`idleRuns`). The
file holds times and counts, never a text of memory. Read leniently: what is of another type is unknown, fields that
we do not know are kept, a file that is no object is `broken` and copied before it is written anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

_YEARS = range(1970, 9000)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The file as read; None, 0 and '' where a value is unknown. `extra`: fields that we do not know, as JSON."""

    last_consolidated_at: datetime | None = None
    last_deep: datetime | None = None
    last_rem: datetime | None = None
    idle_runs: int = 0
    notes: str = ""
    read: str = ""
    extra: str = "{}"
    broken: bool = False
    undone_deep: datetime | None = None
    undone_rem: datetime | None = None

    @property
    def ran_deep(self) -> datetime | None:
        """When a deep sleep ran last, whether it stands or was taken back: the period counts from there."""
        return max(filter(None, (self.last_deep, self.undone_deep)), default=None)

    @property
    def ran_rem(self) -> datetime | None:
        """When REM ran last, whether it stands or was taken back."""
        return max(filter(None, (self.last_rem, self.undone_rem)), default=None)


def parse(text: str | None) -> Heartbeat:
    """Read the file (None: there is none); never raises."""
    try:
        data = json.loads(text) if text and text.strip() else {}
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return Heartbeat(broken=True)
    undone_deep, undone_rem = _time(data.pop("undoneDeep", None)), _time(data.pop("undoneRem", None))
    return Heartbeat(
        _time(data.pop("lastConsolidatedAt", None)),
        _time(data.pop("lastDeep", None)),
        _time(data.pop("lastRem", None)),
        _count(data.pop("idleRuns", 0)),
        _word(data.pop("notes", "")),
        _word(data.pop("read", "")),
        json.dumps(data, ensure_ascii=False),
        undone_deep=undone_deep,
        undone_rem=undone_rem,
    )


def render(heartbeat: Heartbeat) -> str:
    """The file's text."""
    data: dict[str, object] = {
        "lastConsolidatedAt": _iso(heartbeat.last_consolidated_at),
        "lastDeep": _iso(heartbeat.last_deep),
        "lastRem": _iso(heartbeat.last_rem),
        "idleRuns": heartbeat.idle_runs,
        "notes": heartbeat.notes,
        "read": heartbeat.read,
    }
    undone = {"undoneDeep": heartbeat.undone_deep, "undoneRem": heartbeat.undone_rem}
    data |= {name: _iso(moment) for name, moment in undone.items() if moment}
    data |= json.loads(heartbeat.extra)
    return json.dumps(data, ensure_ascii=False, indent=2).encode("utf-8", "replace").decode() + "\n"


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None


def _time(value: object) -> datetime | None:
    """The moment; other tools write it without an offset (UTC), or as milliseconds."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value / 1000, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if moment.year in _YEARS else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**6 else 0


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
