"""What holds the answer: which part of the evidence stands in the context, at a budget of tokens.

    python -m tests.bench recall [--data PATH] [--budgets 1000,2000] [--against fts5,bm25,recency,oracle] [--json F]
                                 [--leave-one-out]

The store is raw here: every turn of a room, nothing flushed. A ranking orders the turns; they are taken best first as
long as they fit, each under the date of its session, which counts too. A question's share is the part of what it
wants that is in the context; `all` counts the questions that have everything. Questions are pooled over all rooms.

    index     remem as it ships: what was said is in a ledger, the room's search index is asked (recall_index)
    remem     its formula alone (recall_rankings), where the references stand too
    left out  its formula, each group of rooms asked with weights that never saw it (--leave-one-out, recall_weights)
    flushed   not what was said, but the pages that the real flush with the rules extractor made of it, searched in
              the same budget (recall_flushed)
    index+embedder      the shipped search with the optional embedder, if installed and named in --against
    embedder left out   its formula fused with the order by meaning, by a weight that never saw the room
                        (--leave-one-out, recall_embedded)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from memory_core.tokens import load_counter
from memory_core.weights import SHIPPED
from tests.bench.recall_data import Data, data_of
from tests.bench.recall_embedded import EMBEDDER, fused_groups, fusion_left_out, with_embedder
from tests.bench.recall_flushed import measured_flushed
from tests.bench.recall_index import measured_by_index
from tests.bench.recall_rankings import RANKINGS, Share, formula_ms, measured, summary
from tests.bench.recall_weights import groups_of, left_out
from tests.data_dir import data_dir

REMEM = ("index", "remem", "flushed")
_PLAIN = ("share", "all", "tokens", "mean tokens")

Results: TypeAlias = dict[str, dict[int, dict[str, float]]]
"""By ranking and budget."""


def _shown(data: Data, budgets: Sequence[int], results: Results) -> Table:
    table = Table(title=f"{data.name}: {data.questions} questions, share of the evidence in the context")
    first = next(iter(results.values()))[budgets[0]]
    categories = [key for key in first if key not in _PLAIN]
    for head in ("ranking", "tokens", "share", "all", *categories, "most tokens", "against fts5"):
        table.add_column(head)
    for ranked, by_budget in results.items():
        for budget in budgets:
            told = by_budget[budget]
            reference = results.get("fts5", {}).get(budget)
            ratio = f"{told['share'] / reference['share']:.2f}" if reference and reference["share"] else "–"
            figures = [f"{told[key]:.3f}" for key in ("share", "all", *categories)]
            table.add_row(ranked, str(budget), *figures, str(int(told["tokens"])), ratio)
    return table


def _summaries(shares: Mapping[int, Sequence[Share]]) -> dict[int, dict[str, float]]:
    return {budget: summary(of_budget) for budget, of_budget in shares.items()}


def run(sets: Sequence[Data], budgets: Sequence[int], against: Sequence[str], *, fit: bool) -> dict[str, object]:
    """Measure and print every data set; the figures as data. `fit`: also by weights found without the room asked."""
    counter, console = load_counter(), Console(width=150)
    told: dict[str, object] = {"weights": asdict(SHIPPED)}
    embedder = with_embedder() if EMBEDDER in against else None
    others = {name: RANKINGS[name] for name in against if name != EMBEDDER}
    unseen: dict[str, dict[int, list[Share]]] = {}
    fused: dict[str, dict[int, list[Share]]] = {}
    if fit:
        unseen, found = left_out([group for data in sets for group in groups_of(data, counter)], budgets)
        told["weights left out"] = {name: asdict(weights) for name, weights in found.items()}
    if fit and embedder is not None:
        groups = [group for data in sets for group in fused_groups(data, budgets, counter, embedder)]
        fused, told["meaning left out"] = fusion_left_out(groups)
    for data in sets:
        results = {"index": _summaries(measured_by_index(data.rooms, budgets, counter))}
        results["remem"] = _summaries(measured(data.rooms, RANKINGS["remem"], budgets, counter))
        if data.name in unseen:
            results["left out"] = _summaries(unseen[data.name])
        if embedder is not None:
            results[f"index+{EMBEDDER}"] = _summaries(measured_by_index(data.rooms, budgets, counter, embedder))
        if data.name in fused:
            results[f"{EMBEDDER} left out"] = _summaries(fused[data.name])
        flushed, kept = measured_flushed(data.rooms, budgets, counter)
        results["flushed"] = _summaries(flushed)
        for name, rank in others.items():
            results[name] = _summaries(measured(data.rooms, rank, budgets, counter))
        console.print(_shown(data, budgets, results))
        console.print(f"{data.name}, flushed: its pages have {kept.ratio:.1%} of the tokens of what was said")
        console.print(f"{data.name}: the formula takes {formula_ms(data.rooms):.2f} ms of a processor for 100 parts")
        for what, count in data.left_out.items():
            console.print(f"{data.name}, left out: {count} {what}")
        told[data.name] = {**results, "kept": kept.ratio, "left out of the data": dict(data.left_out)}
    return told


def main(arguments: Sequence[str] = ()) -> int:
    """`recall` of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench recall", description=__doc__)
    parser.add_argument("--data", action="append", type=Path, help="a LoCoMo file or a GateMem folder; repeatable")
    parser.add_argument("--budgets", default="500,1000,2000", help="tokens, comma separated")
    parser.add_argument("--against", default="fts5,bm25,recency,oracle", help="rankings beside remem's")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--leave-one-out", action="store_true", help="also with weights that never saw the room")
    given = parser.parse_args(list(arguments))
    folder = data_dir()
    paths = given.data or ([folder / "locomo-1-5.json", folder / "gatemem"] if folder else [])
    against = [name for name in given.against.split(",") if name and name not in REMEM]
    unknown = [name for name in against if name not in (*RANKINGS, EMBEDDER)]
    if unknown or not paths:
        print(f"There is no ranking {', '.join(unknown)}." if unknown else "Name the data with --data PATH.")
        return 2
    try:
        budgets = [int(one) for one in given.budgets.split(",") if one]
        sets = [data_of(path) for path in paths]
    except (ValueError, OSError) as wrong:
        print(wrong)
        return 2
    told = run(sets, budgets, against, fit=given.leave_one_out)
    if given.json:
        given.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 0
