"""`python -m tests.bench [turn] [sleep]`, `python -m tests.bench NAME [options]` with another NAME: tables of ratios
against a named reference in the same run, or of shares of a labelled set. What takes options is run alone; `--help`
behind its name tells them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib import import_module
from typing import cast

from tests.bench import sleep, turn

BENCHES = {"turn": turn.main, "sleep": sleep.main}
WITH_OPTIONS = (
    "recall", "cjk", "route", "cost", "latency", "add", "rebuild", "isolation", "forget", "coldstart", "replay",
)  # fmt: skip
"""Modules beside this one whose `main` takes the rest of the command line and gives the exit code."""


def main(arguments: list[str]) -> int:
    """Run the benches that are named; where none is, those that take no options."""
    if arguments and arguments[0] in WITH_OPTIONS:
        run = cast(Callable[[list[str]], int], import_module(f"tests.bench.{arguments[0]}").main)
        return run(arguments[1:])
    for name in arguments or list(BENCHES):
        if name not in BENCHES:
            print(f"There is no bench {name!r}; there are: {', '.join([*BENCHES, *WITH_OPTIONS])}.")
            return 2
        asyncio.run(BENCHES[name]())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
