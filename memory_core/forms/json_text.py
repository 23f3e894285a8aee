"""JSON files of ours that people may edit: read so that nothing in them gets lost unseen."""

from __future__ import annotations

import json

_DEPTH = 50
"""Deeper than that no file of ours is nested; what is, is compared as a whole."""


def loads(text: str) -> tuple[object, bool]:
    """The value, and whether a key stands twice in one of its objects. Raises ValueError, RecursionError."""
    twice = False

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal twice
        found = dict(pairs)
        twice = twice or len(found) < len(pairs)
        return found

    return json.loads(text, object_pairs_hook=once), twice


def holds(after: object, before: object, depth: int = 0) -> bool:
    """Is all of `before` in `after`: every key with its value, every element of a list somewhere in the list?"""
    if depth < _DEPTH and isinstance(before, dict):
        return isinstance(after, dict) and all(
            key in after and holds(after[key], value, depth + 1) for key, value in before.items()
        )
    if depth < _DEPTH and isinstance(before, list):
        return isinstance(after, list) and all(any(holds(one, value, depth + 1) for one in after) for value in before)
    # Types count too: True == 1 == 1.0, but a person wrote one of them. (NaN is no other than itself.)
    return type(after) is type(before) and (after == before or after is before or repr(after) == repr(before))
