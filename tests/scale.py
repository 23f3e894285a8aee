"""Counts: issues name full counts; the ordinary test run does a thirtieth of them, `python -m tests.long` all."""

from __future__ import annotations

import os


def scale(full: int) -> int:
    """`full` under `python -m tests.long`, else a thirtieth of it, at least 1."""
    return full if os.environ.get("REMEM_LONG") == "1" else max(1, full // 30)
