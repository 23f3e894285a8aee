"""What every bench shares: percentiles, ratios, tables on the screen and figures in a file."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog
from rich.console import Console

from tests.bench.recall_data import Room, rooms
from tests.data_dir import data_dir


def at(values: Sequence[float], share: float) -> float:
    """The value below which that share of `values` lies (nearest rank); 0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def ms(seconds: float) -> str:
    """Seconds as milliseconds, for people."""
    return f"{seconds * 1000:.2f} ms"


def ratio(value: float, reference: float) -> float:
    """`value` in terms of the reference; 0 where there is no reference."""
    return value / reference if reference else 0.0


def console() -> Console:
    """The screen; wide where it is no screen."""
    return Console(width=None if sys.stdout.isatty() else 140)


def quiet() -> None:
    """Let the program log warnings only: the figures are what is to be read."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


def parser(name: str, about: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """The options that every bench has: `--json`, and `--data` where it asks the data sets."""
    found = argparse.ArgumentParser(
        prog=f"python -m tests.bench {name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument("--json", type=Path, help="a file for the figures")
    if data:
        found.add_argument("--data", action="append", type=Path, help="a LoCoMo file or a GateMem folder; repeatable")
    return found


def data_sets(given: Sequence[Path] | None) -> dict[str, tuple[Room, ...]]:
    """The rooms of the data sets that were given, else of the two that tests know, by the set's name."""
    folder = data_dir()
    paths = given or ([folder / "locomo-1-5.json", folder / "gatemem"] if folder else [])
    found: dict[str, tuple[Room, ...]] = {}
    for path in paths:
        name, own = rooms(path)
        found[name] = (*found.get(name, ()), *own)
    return found


def no_data() -> int:
    """Say that data must be named; the exit code."""
    print("Name the data with --data PATH (a LoCoMo file or a GateMem folder).")
    return 2


def keep(path: Path | None, figures: Mapping[str, object]) -> None:
    """Write the figures into `path`, if there is one."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1, default=str) + "\n", encoding="utf-8")
