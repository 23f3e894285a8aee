"""`python -m tests.bench [turn] [sleep]`, `python -m tests.bench recall|cjk [options]`: tables of ratios against a
named reference in the same run, or of shares of a labelled set."""

from __future__ import annotations

import asyncio
import sys

from tests.bench import cjk, recall, sleep, turn

BENCHES = {"turn": turn.main, "sleep": sleep.main}
WITH_OPTIONS = {"cjk": cjk.main, "recall": recall.main}


def main(arguments: list[str]) -> int:
    """Run the benches that are named, all of them where none is."""
    if arguments and arguments[0] in WITH_OPTIONS:
        return WITH_OPTIONS[arguments[0]](arguments[1:])
    for name in arguments or list(BENCHES):
        if name not in BENCHES:
            print(f"There is no bench {name!r}; there are: {', '.join([*BENCHES, *WITH_OPTIONS])}.")
            return 2
        asyncio.run(BENCHES[name]())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
