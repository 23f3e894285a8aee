"""The labelled messages of data/intent.jsonl: which page is loaded for what people write.

Each line: the text, the index that it is asked against, its language, the page that is right (`none`: no row, so P0
is loaded; `nothing`: a greeting), its set, and `held_out`: kept out when weights and word lists were tuned. The
sets were written one after the other: `plain`, then `hard` (indirect, sloppy, off topic), then `blind`, when all
else was done. At first sight, before their own other half was looked at, the kept-out halves gave 1.00, 0.66 and
0.75: messages that use none of the words a list knows are what rules miss. What counts is the page that is loaded:
for `none`, attention and no match are the same page. `strict` in the printed table tells them apart.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from memory_core.index import Index, new_index, parse
from memory_core.layouts import APM, Table
from memory_core.pleasantry import is_pleasantry
from memory_core.routing import match

DATA = Path(__file__).parent / "data"
GOAL = 0.90


@dataclass(frozen=True, slots=True)
class Case:
    text: str
    index: str
    lang: str
    want: str
    set: str
    held_out: bool


def cases() -> list[Case]:
    return [Case(**json.loads(line)) for line in (DATA / "intent.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def asked(name: str) -> tuple[Index, Table]:
    """The index of that name, read from its file; `group` is the one that a new group gets."""
    table = APM.direct if name == "dm" else APM.group
    if name == "group":
        text = new_index(table, name="g", rooms=[], purpose="", created=date(2026, 1, 1), zone="UTC")
    else:
        text = (DATA / f"index-{name}.md").read_text(encoding="utf-8")
    index = parse(text, table)
    assert index.problems == ()
    return index, table


def outcome(case: Case) -> str:
    index, table = asked(case.index)
    found = match(case.text, index, table)
    if found:
        return found[0].page
    return "nothing" if is_pleasantry(case.text) else "none"


def is_right(case: Case, got: str) -> bool:
    loaded = {"none": "attention"}
    return loaded.get(got, got) == loaded.get(case.want, case.want)


@pytest.mark.parametrize("held_out", [False, True], ids=["tuned", "held out"])
def test_accuracy(held_out: bool, capsys: pytest.CaptureFixture[str]) -> None:
    results: dict[str, list[bool]] = defaultdict(list)
    for case in cases():
        if case.held_out is held_out:
            got = outcome(case)
            for group in ("all", f"language {case.lang}", f"kind {case.want.split('/')[0]}", f"set {case.set}"):
                results[group].append(is_right(case, got))
            results["strict"].append(got == case.want)
    rows = (f"  {group}: {sum(right) / len(right):.3f} of {len(right)}" for group, right in sorted(results.items()))
    with capsys.disabled():
        sys.stdout.write("\n".join(["", f"intent, {'held out' if held_out else 'tuned'}", *rows, ""]))
    assert sum(results["all"]) / len(results["all"]) >= GOAL
    assert sum(results["set hard"]) / len(results["set hard"]) >= GOAL - 0.1


def test_the_set_is_large_and_fairly_split() -> None:
    everything = cases()
    assert len(everything) >= 200
    assert len({(case.text, case.index) for case in everything}) == len(everything)
    assert abs(sum(case.held_out for case in everything) - len(everything) / 2) <= 1
    for attribute in ("lang", "set"):
        for value in {getattr(case, attribute) for case in everything}:
            halves = [case.held_out for case in everything if getattr(case, attribute) == value]
            assert 0.35 <= sum(halves) / len(halves) <= 0.65, value
    most = max(sum(is_right(case, page) for case in everything) for page in {case.want for case in everything})
    assert most / len(everything) < 0.45  # answering one page always is no way to pass
