"""Typed looks into a platform's JSON: what is missing or of another type reads as empty, never as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Json: TypeAlias = Mapping[str, object]
"""An object of a platform's JSON."""


def at(payload: object, *path: str) -> object:
    """The value at `path`, or None."""
    value = payload
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def string(payload: object, *path: str) -> str:
    """The string at `path`, or ""."""
    value = at(payload, *path)
    return value if isinstance(value, str) else ""


def whole(payload: object, *path: str) -> int:
    """The whole number at `path`, or 0."""
    value = at(payload, *path)
    return value if isinstance(value, int) else 0


def flag(payload: object, *path: str) -> bool:
    """Is the value at `path` true?"""
    return at(payload, *path) is True


def part(payload: object, *path: str) -> Json:
    """The object at `path`, or an empty one."""
    value = at(payload, *path)
    return value if isinstance(value, Mapping) else {}


def parts(payload: object, *path: str) -> tuple[Json, ...]:
    """The objects in the list at `path`."""
    value = at(payload, *path)
    return tuple(item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()


def strings(payload: object, *path: str) -> tuple[str, ...]:
    """The strings in the list at `path`."""
    value = at(payload, *path)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
