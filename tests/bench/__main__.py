"""`python -m tests.bench [turn] [sleep]`, `python -m tests.bench NAME [options]` with another NAME: tables of ratios
against a named reference in the same run, or of shares of a labelled set."""

from __future__ import annotations

import asyncio
import sys

from tests.bench import add, cjk, rebuild, recall, sleep, turn

BENCHES = {"turn": turn.main, "sleep": sleep.main}
OPTIONED = {"recall": recall.main, "add": add.main, "rebuild": rebuild.main, "cjk": cjk.main}
"""Those that stand alone and take options."""


def main(arguments: list[str]) -> int:
    """Run the benches that are named, all of them where none is."""
    if arguments[:1] and arguments[0] in OPTIONED:
        return OPTIONED[arguments[0]](arguments[1:])
    for name in arguments or list(BENCHES):
        if name not in BENCHES:
            print(f"There is no bench {name!r}; there are: {', '.join([*BENCHES, *OPTIONED])}.")
            return 2
        asyncio.run(BENCHES[name]())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
