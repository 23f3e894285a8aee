"""Counting tokens."""

from __future__ import annotations

from typing import Protocol


class Counter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """How many tokens `text` has; never raises, special tokens are plain text."""
        ...
