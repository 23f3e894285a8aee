"""Typed looks into Slack's JSON: what is missing or of another type reads as empty, never as an error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Json: TypeAlias = Mapping[str, object]
"""An object of Slack's JSON."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at(payload: Json, *path: str) -> object:
    """The value at `path`, or None."""
    value: object = payload
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def string(payload: Json, *path: str) -> str:
    """The string at `path`, or ""."""
    value = at(payload, *path)
    return value if isinstance(value, str) else ""


def whole(payload: Json, *path: str) -> int:
    """The whole number at `path`, or 0."""
    value = at(payload, *path)
    return value if isinstance(value, int) else 0


def flag(payload: Json, *path: str) -> bool:
    """Is the value at `path` true?"""
    return at(payload, *path) is True


def part(payload: Json, *path: str) -> Json:
    """The object at `path`, or an empty one."""
    value = at(payload, *path)
    return value if isinstance(value, Mapping) else {}


def parts(payload: Json, *path: str) -> tuple[Json, ...]:
    """The objects in the list at `path`."""
    value = at(payload, *path)
    return tuple(item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()


def strings(payload: Json, *path: str) -> tuple[str, ...]:
    """The strings in the list at `path`."""
    value = at(payload, *path)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def moment(ts: str) -> datetime:
    """The time of a Slack `ts` (`<seconds>.<microseconds>`), aware; the epoch where it is none."""
    seconds, _, fraction = ts.partition(".")
    try:
        return _EPOCH + timedelta(seconds=int(seconds), microseconds=int(fraction[:6].ljust(6, "0")))
    except (ValueError, OverflowError):
        return _EPOCH
