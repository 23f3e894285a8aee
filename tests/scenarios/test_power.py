"""The power fails while people talk: whatever was acknowledged before stands after the restart, once and whole.

A generation is a process that talks on a recorded disk (power_disk.py); its log is cut at random: between any two
writes of the disk, or right after an acknowledgement. Each cut's image is mounted, the program is started on it, and
what it holds is compared with what was acknowledged by then. The next generation goes on from the raw image of one
of these cuts, so that the power fails in recoveries too.

Not shown here: that a folder is synced after a rename. ext4 commits the rename with the next sync of any file, and
the ledger's comes before the acknowledgement.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest

from tests.scale import scale
from tests.scenarios.power import Acknowledged, Acknowledgement, Expected, Unsynced
from tests.scenarios.power_disk import Cuts, apart, copied, entries, formatted, why_not

IMAGE_BYTES = 64 << 20
DEADLINE_S = 600
"""For a generation to be over, or a look, on a loaded machine."""

LINES = max(24, scale(120))
"""Of a generation, in three rooms together."""

Kept: TypeAlias = tuple[Path, list[Acknowledgement]]
"""An image, and what it must hold."""


@dataclass(slots=True)
class Generation:
    """One process that talked: its disk as it was at first, all that the disk was told, all acknowledgements."""

    folder: Path
    said: int
    told: list[Acknowledgement]
    ends: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.ends = [entry.end for entry in entries(self.folder / "disk.log")]

    def moments(self, count: int, random: Random) -> list[int]:
        """Where to cut, in order: every second time right after an acknowledgement, else at any entry of the log."""
        told = [acknowledged["at"] for acknowledged in self.told]
        drawn = [random.choice(told if cut % 2 and told else self.ends) for cut in range(count)]
        return sorted(self.ends[bisect_right(self.ends, at) - 1] for at in drawn)

    def by(self, at: int) -> list[Acknowledgement]:
        """What was acknowledged when the log was `at` bytes long."""
        return [acknowledged for acknowledged in self.told if acknowledged["at"] <= at]


def talked(folder: Path, image: Path, first: int, unsynced: Unsynced = "") -> Generation:
    """A generation that begins with a copy of `image` and the number `first`."""
    folder.mkdir()
    copied(image, folder / "first.img")
    copied(image, folder / "disk.img")
    command = apart("tests.scenarios.power", "talk", str(folder), str(first), str(LINES), unsynced)
    ran = subprocess.run(command, capture_output=True, check=False, text=True, timeout=DEADLINE_S)
    assert ran.returncode == 0, ran.stderr
    return Generation(folder, first + LINES, [json.loads(told) for told in ran.stdout.splitlines()])


@dataclass(slots=True)
class Looker:
    """The process that looks into images."""

    process: subprocess.Popen[str]
    stderr: Path

    def faults(self, image: Path, said: int, told: list[Acknowledgement]) -> list[str]:
        """What is wrong with the image, given what was acknowledged."""

        def numbers(what: Acknowledged) -> list[int]:
            return sorted({number for one in told if one["what"] == what for number in one["numbers"]})

        expected = Expected(
            image=str(image),
            said=said,
            recorded=numbers("recorded"),
            noted=numbers("noted"),
            saved=numbers("saved"),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(expected) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        answer = self.process.stdout.readline() if ready else ""
        assert answer, f"the looker ended, or is late:\n{self.stderr.read_text('utf-8')[-3000:]}"
        faults: list[str] = json.loads(answer)
        return faults


@pytest.fixture(scope="module")
def looker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looker]:
    """A process that looks; its mounts end with it. Skips where the power cannot be cut, and says why."""
    folder = tmp_path_factory.mktemp("looker")
    if reason := why_not(folder):
        pytest.skip(reason)
    with (folder / "stderr").open("w") as errors:
        command = apart("tests.scenarios.power", "look", str(folder))
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield Looker(process, folder / "stderr")
            process.communicate(timeout=DEADLINE_S)
        finally:
            process.kill()
            process.communicate()


@dataclass(slots=True)
class Tally:
    """What was found after all cuts: `faults` by cut, and how many entries had been acknowledged before them."""

    faults: dict[str, list[str]] = field(default_factory=dict)
    acknowledged: Counter[str] = field(default_factory=Counter)
    cuts: int = 0

    def take(self, name: str, told: list[Acknowledgement], found: list[str]) -> None:
        """One more cut."""
        self.cuts += 1
        for one in told:
            self.acknowledged[one["what"]] += len(one["numbers"])
        if found:
            self.faults[name] = found

    def cuts_with(self, fault: str) -> int:
        """After how many cuts there was a fault of a kind."""
        return sum(any(one.startswith(fault) for one in found) for found in self.faults.values())


def cut(looker: Looker, generation: Generation, count: int, before: list[Acknowledgement], tally: Tally) -> Kept:
    """Cut a generation at `count` moments and look; one of the images and what it must hold, to go on from."""
    random = Random(f"{generation.folder.name} {count}")
    folder = generation.folder
    cuts, kept = Cuts(folder / "first.img", folder / "disk.log", folder), list[Kept]()
    for at in generation.moments(count, random):
        left = cuts.after_cut(at, random, folder / "left.img")
        told = [*before, *generation.by(at)]
        if not kept or random.randrange(2) == 0:
            kept = [(copied(left, folder / "next.img"), told)]
        tally.take(f"{folder.name} at {at}", told, looker.faults(left, generation.said, told))
    if not tally.faults:
        (folder / "disk.log").unlink()  # tens of megabytes
    return kept[0]


def test_what_was_acknowledged_before_a_power_cut_is_there_after_it(
    tmp_path: Path, looker: Looker, capsys: pytest.CaptureFixture[str]
) -> None:
    total, began, tally = scale(100), time.perf_counter(), Tally()
    generations = max(2, total // 12)
    image, told = formatted(tmp_path / "empty.img", IMAGE_BYTES), list[Acknowledgement]()
    for number in range(generations):
        generation = talked(tmp_path / f"generation-{number}", image, number * LINES)
        count = total * (number + 1) // generations - total * number // generations
        image, told = cut(looker, generation, count, told, tally)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{tally.cuts} power cuts in {generations} generations, "
            f"{', '.join(f'{count} {what}' for what, count in tally.acknowledged.items())} entries looked for: "
            f"lost after {tally.cuts_with('lost')} cuts, doubled after {tally.cuts_with('doubled')}, torn after "
            f"{tally.cuts_with('torn')}; {time.perf_counter() - began:.0f} s\n"
        )
    assert tally.cuts == total
    assert not tally.faults


@pytest.mark.parametrize("unsynced", ["pages", "ledger"])
def test_a_program_that_does_not_sync_is_seen_to_lose_entries(
    tmp_path: Path, looker: Looker, unsynced: Unsynced
) -> None:
    tally, count = Tally(), max(3, scale(20))
    generation = talked(tmp_path / "generation", formatted(tmp_path / "empty.img", IMAGE_BYTES), 0, unsynced)
    cut(looker, generation, count, [], tally)
    assert tally.cuts_with("lost") > count // 2, tally.faults
