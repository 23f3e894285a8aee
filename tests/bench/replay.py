"""How fast an export becomes memory, against the bare cost of keeping its messages.

    python -m tests.bench replay [--export ZIP] [--days N] [--json F]

    remem           bot.replay: names, ledger, turns, saves, pages, sleep, all on the messages' own clock
    without sleep   the same with REMEM_SLEEP=off
    bare            the reference: read the same ZIP, put each message into SQLite in a transaction of its own
                    (WAL, synchronous=FULL: one fsync a message)
    group commit    the same, a hundred messages in a transaction, as remem takes them in

The export is the shared one (`slack-export-racket-2017.zip` beside the other data), or its first N days.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from rich.table import Table

from bot.message_clock import GROUP
from bot.replay import replayed
from bot.settings import Switch
from tests.bench.figures import console, keep, parser, quiet, ratio
from tests.data_dir import data_dir
from tests.scenarios.terminal import settings

EXPORT = "slack-export-racket-2017.zip"
REFERENCE = "bare"


def first_days(export: Path, into: Path, days: int) -> Path:
    """An export with the first `days` days of each channel only. Blocking."""
    with zipfile.ZipFile(export) as given, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as made:
        kept = dict[str, int]()
        for name in sorted(given.namelist()):
            folder = name.rpartition("/")[0]
            kept[folder] = kept.get(folder, 0) + 1
            if not folder or kept[folder] <= days:
                made.writestr(name, given.read(name))
    return into


def messages_in(export: Path) -> Iterator[tuple[str, str, str, str]]:
    """Channel, time, author and text of every message, as the files have them. Blocking."""
    with zipfile.ZipFile(export) as archive:
        for name in sorted(archive.namelist()):
            channel, _, file = name.rpartition("/")
            if channel and file.endswith(".json"):
                for said in json.loads(archive.read(name)):
                    yield channel, str(said.get("ts")), str(said.get("user")), str(said.get("text"))


def bare(export: Path, folder: Path, group: int) -> tuple[int, float]:
    """How many messages were kept, `group` of them in a transaction, and in how many seconds. Blocking."""
    began, count = time.perf_counter(), 0
    with closing(sqlite3.connect(folder / f"bare{group}.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE said (channel TEXT, ts TEXT, author TEXT, text TEXT)")
        for count, row in enumerate(messages_in(export), 1):
            if count % group == 1 % group:
                database.execute("BEGIN")
            database.execute("INSERT INTO said VALUES (?, ?, ?, ?)", row)
            if count % group == 0:
                database.execute("COMMIT")
        if database.in_transaction:
            database.execute("COMMIT")
    return count, time.perf_counter() - began


def remem(export: Path, workspace: Path, *, sleep: bool) -> tuple[int, float, dict[str, float]]:
    """How many messages were replayed, in how many seconds, and the seconds of each stage. Blocking."""
    given = settings(workspace, sleep=Switch.ON if sleep else Switch.OFF)
    began = time.perf_counter()
    figures = asyncio.run(replayed(export, given))
    return figures.messages, time.perf_counter() - began, figures.stages_s


def measured(export: Path, days: int) -> dict[str, dict[str, object]]:
    """Each way with its messages, seconds and stages. Blocking."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        used = first_days(export, folder / "export.zip", days) if days else export
        told: dict[str, dict[str, object]] = {}
        for way, group in ((REFERENCE, 1), ("group commit", GROUP)):
            count, seconds = bare(used, folder, group)
            told[way] = {"messages": count, "seconds": seconds}
        for way, sleep in (("remem", True), ("without sleep", False)):
            count, seconds, stages = remem(used, folder / way.replace(" ", "-"), sleep=sleep)
            told[way] = {"messages": count, "seconds": seconds, "stages": stages}
    return told


def speed(row: dict[str, object]) -> float:
    """Messages in a second."""
    return ratio(float(str(row["messages"])), float(str(row["seconds"])))


def main(arguments: Sequence[str] = ()) -> int:
    """`replay` of the command line."""
    options = parser("replay", __doc__)
    options.add_argument("--export", type=Path, help="a Slack export (ZIP); without it the shared one")
    options.add_argument("--days", type=int, default=0, help="only the first days of each channel; 0: all")
    given = options.parse_args(list(arguments))
    quiet()
    folder = data_dir()
    export = given.export or (folder / EXPORT if folder else None)
    if export is None or not export.exists():
        print("Name an export with --export ZIP.")
        return 2
    told = measured(export, given.days)
    table = Table("way", "messages", "messages/s", f"time against {REFERENCE}", "where the time goes", title="replay")
    for way, row in told.items():
        stages = row.get("stages")
        parts = stages if isinstance(stages, dict) else {}
        shares = ", ".join(f"{name} {ratio(one, sum(parts.values())):.0%}" for name, one in parts.items())
        slower = ratio(speed(told[REFERENCE]), speed(row))
        table.add_row(way, f"{row['messages']:,}", f"{speed(row):,.0f}", f"{slower:.2f}", shares)
    console().print(table)
    keep(given.json, told)
    return 0
