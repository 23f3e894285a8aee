"""The discipline of MEMORY.md on labelled files: precision and recall, for the half tuned on and for the other.

audit_set/ holds MEMORY.md files written for this test, English, Chinese and German: lean ones, ones with each
forbidden kind in several styles, mixed and bloated ones, and traps (a date of birth, a person's stack, a rule that
names what is forbidden). `labels.json` gives each file's expected codes with the lines that deserve them. The labels
were written before the rules. A keyed hash of the name puts a file into one half or the other; words and weights were
tuned on one half only. The first score on the other half was precision 1.00, recall 0.94.

One hand wrote those files and the rules. So there is a second set, `strangers.json`: files in the manner of
workspaces of other tools (decorated headings, sections named after what was done, project chapters, prose), written
after the rules and labelled before they were run on them. On it the first score was precision 0.88, recall 0.55 (30
right, 4 wrong, 25 missed): that is what to expect of a file in a manner unknown here. Its one half was tuned on
afterwards; the other half has a floor of its own, which tells when a change makes it worse.

A third set, `others.json`, imitates the manners of published workspaces (status after a dash in the heading, signs
for "done", notes that a program left, tables of agents, diaries, three words a line; Chinese, Japanese, German),
labelled before the rules saw it. Its first score, all 24 files: precision 0.94, recall 0.60 (34 right, 2 wrong, 23
missed); the half that was then kept out: precision 1.00, recall 0.48. After tuning on the other half the kept-out
half stands at 1.00 and 0.93. One hand wrote files and rules here too: take it for what it is. On eight published
files, abridged, labelled before a run and not kept here, the rules then had precision 0.79, recall 0.85 (11 right, 3
wrong, 2 missed), no better than before that tuning: that is what to expect of a stranger's file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from memory_core.audit.cues import Theme
from memory_core.audit.lean import theme_of_heading, told

SET = Path(__file__).parent / "audit_set"
SEED = "audit-set-1"
LEAST = 0.90

Labels: TypeAlias = Mapping[str, Mapping[str, list[int]]]


@dataclass(slots=True)
class Score:
    """How many were found rightly, found wrongly, and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, expected: set[object], found: set[object]) -> None:
        """Count one file."""
        self.right += len(expected & found)
        self.wrong += len(found - expected)
        self.missed += len(expected - found)

    @property
    def precision(self) -> float:
        """Which part of what was found is right."""
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Which part of what is there was found."""
        return self.right / (self.right + self.missed)

    def __str__(self) -> str:
        numbers = f"{self.right} right, {self.wrong} wrong, {self.missed} missed"
        return f"precision {self.precision:.3f}, recall {self.recall:.3f} ({numbers})"


def labels(name: str = "labels.json") -> Labels:
    """The labels of the set."""
    read: Labels = json.loads((SET / name).read_text("utf-8"))
    return read


def kept_out(name: str) -> bool:
    """Does this file belong to the half that no rule was tuned on?"""
    return bool(hashlib.sha256(f"{SEED}:{name}".encode()).digest()[0] & 1)


def found_in(name: str) -> dict[str, set[int]]:
    """The codes found in a file of the set, with their lines (blank ones apart)."""
    text = (SET / f"{name}.md").read_bytes().decode("utf-8-sig")
    lines = text.splitlines()
    found: dict[str, set[int]] = {}
    for one in told(text):
        filled = {number for number in range(one.line, one.last_line + 1) if lines[number - 1].strip()}
        found.setdefault(f"memory-{one.theme.value}", set()).update(filled)
    return found


def scores(names: Iterable[str], expected: Labels) -> tuple[Score, Score]:
    """The scores over those files: by file and code, and by line."""
    by_code, by_line = Score(), Score()
    for name in names:
        found = found_in(name)
        by_code.add(set(expected[name]), set(found))
        by_line.add(
            {(code, line) for code, lines in expected[name].items() for line in lines},
            {(code, line) for code, lines in found.items() for line in lines},
        )
    return by_code, by_line


def test_the_set_is_what_it_says() -> None:
    expected = labels()
    assert {path.stem for path in SET.glob("*.md")} == set(expected) | set(labels("strangers.json")) | set(
        labels("others.json")
    )
    assert len(expected) >= 40
    halves = [kept_out(name) for name in expected]
    assert min(halves.count(True), halves.count(False)) >= 20
    codes = {code for labelled in expected.values() for code in labelled}
    assert codes == {
        f"memory-{kind}"
        for kind in ("progress", "event", "decision", "tools", "group", "temporary", "result", "detail")
    }
    for name, labelled in expected.items():
        count = len((SET / f"{name}.md").read_text("utf-8").splitlines())
        assert all(1 <= line <= count for lines in labelled.values() for line in lines), name


@pytest.mark.parametrize("half", ["tuned on", "kept out"])
@pytest.mark.parametrize(
    ("file", "precision", "recall"),
    [("labels.json", LEAST, LEAST), ("strangers.json", 0.80, 0.80), ("others.json", LEAST, LEAST)],
)
def test_precision_and_recall(half: str, file: str, precision: float, recall: float) -> None:
    expected = labels(file)
    names = [name for name in sorted(expected) if kept_out(name) is (half == "kept out")]
    by_code, by_line = scores(names, expected)
    print(f"\nMEMORY.md, {half}, {file}, {len(names)} files: {by_code}; by line: {by_line}")  # noqa: T201
    assert by_code.precision >= precision
    assert by_code.recall >= recall


def test_lean_files_are_left_alone() -> None:
    lean = [name for name, labelled in labels().items() if not labelled]
    assert len(lean) >= 10
    assert {name: found for name in lean if (found := found_in(name))} == {}


@pytest.mark.parametrize(
    ("title", "theme"),
    [
        ("Troubleshooting Notes", Theme.DECISION),
        ("Known Issues & Resolutions", Theme.DECISION),
        ("What needs improvement", Theme.DECISION),
        ("排错", Theme.DECISION),
        ("Known issues", Theme.PROGRESS),
        ("Ready to start", Theme.PROGRESS),
        ("Deprioritized", Theme.PROGRESS),
        ("Ole's preferences", Theme.STABLE),
        ("System Configuration", Theme.STABLE),
        ("Services & Ports", Theme.STABLE),
        ("Daily Routines", Theme.STABLE),
        ("Shop website configuration", Theme.DETAIL),
    ],
)
def test_headings_of_published_files(title: str, theme: Theme) -> None:
    """Found in workspaces that others published, after the sets above were made; none of those stands in them."""
    assert theme_of_heading(title) is theme


def test_a_section_that_says_what_belongs_there_names_what_is_forbidden() -> None:
    text = "# Memory\n\n## Notes\n\n**This file is NOT for:**\n- Temporary todos\n- Raw logs of yesterday's meeting\n"
    assert told(text) == ()
    assert told(text.replace("This file is NOT for:", "Things:")) != ()
