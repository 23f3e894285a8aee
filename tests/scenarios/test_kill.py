"""Killed at chosen points: nothing that was acknowledged is lost, doubled or torn.

One life of each act is lived without a kill; it counts every write point, and proves that there is no other write.
Then, for each of many points, the act begins again on a copy of its beginning, dies there, is started again (and dies
again while it recovers, in some), goes on to its end, and is compared.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import IO

import pytest

from memory_core.store.disk import Disk
from tests.scale import scale
from tests.scenarios.killed import Order
from tests.scenarios.killed_checks import Legal, Told, after, digest, kept_its_word, legal_in, whole
from tests.scenarios.killed_script import ACTS
from tests.scenarios.killer import AFTER, ANY, BEFORE, TORN

ROOT = Path(__file__).parents[2]
LIVES = 4
"""More lives than this for one act: it never comes to its end."""


@dataclass(slots=True)
class Outcome:
    """What became of one life."""

    died: tuple[str, str] | None = None
    step: int | None = None
    took: dict[int, list[str]] = field(default_factory=dict)
    said: list[tuple[int, str]] = field(default_factory=list)
    puts: list[tuple[str, str]] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    unseen: set[tuple[str, str]] = field(default_factory=set)
    failed: str = ""
    code: int | None = None

    def hear(self, told: dict[str, object]) -> None:
        """One report."""
        match told:
            case {"begins": int(step)}:
                self.step = step
            case {"done": int(step)}:
                self.done.add(step)
            case {"took": str(event)}:
                self.took.setdefault(-1 if self.step is None else self.step, []).append(event)
            case {"said": str(text), "step": int(step)}:
                self.said.append((step, text))
            case {"put": str(path), "sha256": str(content)}:
                self.puts.append((path, content))
            case {"died": str(kind), "moment": str(moment)}:
                self.died = (kind, moment)
            case {"counts": dict(counts)}:
                self.counts = {str(kind): int(count) for kind, count in counts.items()}
            case {"unseen": str(event), "path": str(path)}:
                self.unseen.add((event, path))
            case {"failed": str(why)}:
                self.failed = why
            case {"ended": int(code)}:
                self.code = code


class Mortals:
    """The process that forks lives."""

    def __init__(self, errors: IO[bytes]) -> None:
        program = [sys.executable, "-m", "tests.scenarios.killed"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("REMEM_")}
        self._process = subprocess.Popen(
            program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment
        )
        self.below_python = bool(self._line()["ready"])

    def _line(self) -> dict[str, object]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that forks lives has ended"
        told: dict[str, object] = json.loads(line)
        return told

    def live(self, order: Order) -> Outcome:
        """One life, to its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(order.line())
        self._process.stdin.flush()
        outcome = Outcome()
        while outcome.code is None:
            outcome.hear(self._line())
        return outcome

    def close(self) -> None:
        """No more orders."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortals]:
    """The process that forks lives; what lives log goes into a file."""
    with (tmp_path_factory.mktemp("lives") / "errors").open("wb") as errors:
        running = Mortals(errors)
        yield running
        running.close()


@dataclass(frozen=True, slots=True)
class Whole:
    """An act without a kill: its beginning (a copy of the folder), its points by kind, what memory says then."""

    beginning: Path
    counts: dict[str, int]
    memory: dict[str, object]


def _workspace(folder: Path) -> Path:
    return folder / "run/w"


def _copied(beginning: Path, folder: Path) -> Path:
    """The workspace as it stood when the act began; always at the same place."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    shutil.copytree(beginning, folder / "run")
    return _workspace(folder)


def _rehearse(folder: Path, forks: Mortals) -> list[Whole]:
    """Every act once, one after the other, undisturbed: each must be right, or nothing can be compared with it."""
    found = []
    workspace = _workspace(folder)
    workspace.parent.mkdir()
    for number, act in enumerate(ACTS):
        if act.prepare:
            act.prepare(workspace)
        shutil.copytree(workspace.parent, folder / act.name)
        outcome = forks.live(Order(str(workspace), number, watched=True))
        assert (outcome.failed, outcome.code) == ("", 0), act.name
        assert outcome.unseen <= _own_folders(workspace), f"writes that are no points: {outcome.unseen}"
        memory, told = digest(workspace, act), _heard(Told(), outcome)
        assert after(workspace, act, told, memory) == [], act.name
        assert kept_its_word(workspace, act, told.said) == [], act.name
        outcome.counts.pop(ANY)
        found.append(Whole(folder / act.name, outcome.counts, memory))
    return found


def _own_folders(workspace: Path) -> set[tuple[str, str]]:
    """The only changes that are no points: the folder that the operator chose, that of `known`; and a hand's edit."""
    folders = (workspace, workspace.parent / "state")
    page = workspace / "memory/groups/build/experience.swp"
    return {*(("os.mkdir", str(one)) for one in folders), ("open", str(page)), ("os.rename", str(page))}


def _heard(told: Told, outcome: Outcome) -> Told:
    for events in outcome.took.values():
        told.took.update(events)
    for step, text in outcome.said:
        told.said[step].append(text)
    return told


def _moments(kind: str) -> tuple[str, ...]:
    if kind.startswith("ledger "):
        return (BEFORE,)
    return (BEFORE, TORN, AFTER) if "write" in kind else (BEFORE, AFTER)


Target = tuple[int, str, int, str]
"""An act, and a point in it: kind, number, moment."""


def _targets(acts: Sequence[Whole], count: int) -> list[Target]:
    """`count` points: half of them from each kind in turn, half spread evenly over all points.

    The second half has a third for each of disk, ledger and SQLite: SQLite makes more calls than the others together.
    """
    random, kinds, layers = Random(count), dict[tuple[str, str], list[Target]](), dict[str, list[Target]]()
    for number, act in enumerate(acts):
        for kind, counted in sorted(act.counts.items()):
            for nth, moment in product(range(1, counted + 1), _moments(kind)):
                kinds.setdefault((kind, moment), []).append((number, kind, nth, moment))
                layers.setdefault(kind.split()[0], []).append((number, kind, nth, moment))
    turns = sorted(kinds)
    random.shuffle(turns)
    chosen = [random.choice(kinds[turn]) for turn, _ in zip(cycle(turns), range(count // 2), strict=False)]
    for points in layers.values():
        share = (count - count // 2) // len(layers)
        chosen += [points[int((at + random.random()) * len(points) / share)] for at in range(share)]
    return [*chosen, *random.sample(layers["disk"], count - len(chosen))]


def _next(order: Order, outcome: Outcome, random: Random) -> Order:
    """The life after a kill: from the step that was interrupted."""
    step = order.begins_with if outcome.step is None else outcome.step
    if step in outcome.done:
        step, took, said = step + 1, (), False
    else:
        before = order.took if step == order.begins_with else ()
        took = (*before, *outcome.took.get(step, ()))
        said = any(number == step for number, _ in outcome.said) or (order.said and step == order.begins_with)
    second = (ANY, random.randint(1, 90), random.choice((BEFORE, AFTER))) if random.random() < 0.3 else None
    return replace(
        order,
        life=order.life + 1,
        begins_with=step,
        took=tuple(took),
        said=said,
        again=random.random() < 0.5,
        chosen=second if order.life == 0 else None,
    )


def _run(folder: Path, forks: Mortals, acts: Sequence[Whole], target: Target) -> tuple[list[str], int]:
    """One act, killed at that point: what is wrong, and how often it died."""
    number, kind, nth, moment = target
    act, random = ACTS[number], Random(repr(target))
    workspace = _copied(acts[number].beginning, folder)
    legal: Legal = legal_in(workspace)
    order, told, wrong, deaths = Order(str(workspace), number, chosen=(kind, nth, moment)), Told(), list[str](), 0
    for _ in range(LIVES):
        outcome = forks.live(order)
        _heard(told, outcome)
        for path, content in outcome.puts:
            legal[path].add(content)
        wrong += [*whole(workspace, legal), *kept_its_word(workspace, act, told.said)]
        if outcome.failed:
            wrong.append(outcome.failed)
        if outcome.died is None:
            break
        deaths += 1
        order = _next(order, outcome, random)
    return [*wrong, *after(workspace, act, told, acts[number].memory)], deaths


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: what a kill leaves does not depend on syncing, which takes time."""
    shared = Path("/dev/shm")
    if not (shared.is_dir() and os.access(shared, os.W_OK)):
        yield tmp_path
        return
    with TemporaryDirectory(dir=shared, prefix="remem-kill-") as made:
        yield Path(made)


def test_a_kill_at_any_write_point_loses_nothing_doubles_nothing_tears_nothing(
    folder: Path, forks: Mortals, capsys: pytest.CaptureFixture[str]
) -> None:
    count, began = scale(1000), time.perf_counter()
    acts = _rehearse(folder, forks)
    _is_complete(acts, forks)
    targets = _targets(acts, count)
    wrong: dict[Target, list[str]] = {}
    deaths: Counter[int] = Counter()
    for target in targets:
        found, died = _run(folder, forks, acts, target)
        deaths[died] += 1
        if found:
            wrong[target] = found
    with capsys.disabled():
        sys.stdout.write(_printed(acts, targets, deaths, wrong, time.perf_counter() - began))
    assert wrong == {}
    assert deaths[0] <= count // 20, "points that were not met: the script is not the same each time"


def test_a_kill_while_a_damaged_ledger_is_set_aside_hides_nothing(folder: Path, forks: Mortals) -> None:
    workspace = _workspace(folder)
    workspace.parent.mkdir()
    assert forks.live(Order(str(workspace), 0)).code == 0
    shutil.copytree(workspace.parent, folder / "sound")
    for nth, moment in product((1, 2), (BEFORE, AFTER)):
        ledger = _copied(folder / "sound", folder) / ".remem/ledger.db"
        damaged, log = b"no database" + ledger.read_bytes()[11:], b"what it wrote last"
        ledger.write_bytes(damaged)
        ledger.with_name("ledger.db-wal").write_bytes(log)
        assert forks.live(Order(str(workspace), 1, chosen=("disk rename", nth, moment))).died is not None
        for _ in range(2):
            assert "LedgerDamaged" in forks.live(Order(str(workspace), 1)).failed, "a person decides, each time"
        aside = [path.read_bytes() for path in ledger.parent.glob("ledger.db.damaged-*")]
        assert (aside.count(damaged), aside.count(log), ledger.exists()) == (1, 1, False), (nth, moment)


def _is_complete(acts: Sequence[Whole], forks: Mortals) -> None:
    """Each call of the disk that writes, and each statement in the ledger's source that does, was met."""
    seen = {kind for act in acts for kind in act.counts}
    reads = {"open_root", "open_folder", "open_file", "read", "status", "close", "scan", "kind", "now_ns", "token"}
    reads |= {"named_status", "statuses"}
    calls = {name for name in vars(Disk) if not name.startswith("_")} - reads
    assert calls == {kind.removeprefix("disk ") for kind in seen if kind.startswith("disk ")}
    statements = set()
    for path in (ROOT / "memory_core/ledger").glob("*.py"):
        for found in re.finditer(
            r"\b(INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM) ([a-z_]+)\b", path.read_text("utf-8")
        ):
            statements.add(f"ledger {found[1].split()[0]} {found[2]}")
    statements.remove("ledger UPDATE events")  # of an import alone: tests/scenarios/test_import_killed.py
    assert statements <= seen, statements - seen
    assert {f"ledger {verb}" for verb in ("BEGIN", "COMMIT", "VACUUM", "PRAGMA wal_checkpoint")} <= seen
    assert not forks.below_python or {"sqlite pwrite ledger.db", "sqlite pwrite ledger.db-wal"} <= seen


def _printed(
    acts: Sequence[Whole],
    targets: Sequence[Target],
    deaths: Counter[int],
    wrong: dict[Target, list[str]],
    took_s: float,
) -> str:
    points: Counter[str] = Counter()
    for act in acts:
        points.update(act.counts)
    hit = Counter(kind for _, kind, _, _ in targets)
    table = "\n".join(f"  {kind:<38}{count:>6} points{hit[kind]:>5} runs" for kind, count in sorted(points.items()))
    told = "\n".join(f"{target}: {found}" for target, found in wrong.items())
    sums = Counter(one.split(":")[0] for found in wrong.values() for one in found)
    kinds = ", ".join(f"{kind} {sums.pop(kind, 0)}" for kind in ("lost", "doubled", "torn"))
    return (
        f"\n{table}\n{points.total()} write points of {len(points)} kinds; {len(targets)} runs, {took_s:.0f} s; "
        f"killed twice in {deaths[2]}, point not met in {deaths[0]}; {kinds}, otherwise wrong {sums.total()}\n{told}"
    )


WRITING = {
    "write",
    "pwrite",
    "rename",
    "replace",
    "link",
    "symlink",
    "unlink",
    "remove",
    "mkdir",
    "makedirs",
    "rmdir",
}
WRITING |= {"truncate", "ftruncate", "fsync", "fdatasync", "open", "chmod", "utime", "writev", "sendfile"}
ON_PATHS = {"write_text", "write_bytes", "touch", "mkdir", "rmdir", "unlink", "rename", "symlink_to", "hardlink_to"}
ELSEWHERE = {
    ("memory_core/workspace.py", "mkdir"),  # the folder that the operator chose, and that of `known`
    ("bot/replay.py", "mkdir"),  # the same
    ("bot/evaluate.py", "write_text"),  # the file of figures that the operator named
    ("bot/run.py", "os.open"),  # /dev/null
}


def test_no_source_writes_files_but_through_the_disk() -> None:
    found = set()
    for path in (path for floor in ("memory_core", "bot", "adapters") for path in (ROOT / floor).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            name, of = node.func.attr, node.func.value
            if isinstance(of, ast.Name) and of.id == "os" and name in WRITING:
                found.add((str(path.relative_to(ROOT)), f"os.{name}"))
            elif name in ON_PATHS and not (isinstance(of, ast.Attribute | ast.Name) and _name(of) == "disk"):
                found.add((str(path.relative_to(ROOT)), name))
    assert {one for one in found if one[0] != "memory_core/store/disk.py"} == ELSEWHERE


def _name(of: ast.Attribute | ast.Name) -> str:
    return of.attr if isinstance(of, ast.Attribute) else of.id
