"""An import that is killed (-9) and continued leaves what an import leaves that was never stopped, file by file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from bot.import_command import imported, open_history
from memory_core.clock import ManualClock
from tests.data.make_export import make_export
from tests.memory_core.disks import temporary_files
from tests.scale import scale
from tests.scenarios.import_checks import TODAY, ask, events, lived
from tests.scenarios.killed_process import FORKS, came_to_its_end, deaths_in, ended, killer_for, writes_of
from tests.scenarios.killer import KilledDisk
from tests.scenarios.replay_checks import pages, waiting
from tests.scenarios.terminal import settings

FORKS.set_forkserver_preload(["bot.import_command", "tests.scenarios.test_import_killed"])
_MESSAGES = "SELECT scope, room, thread, message, sent_us FROM messages ORDER BY room, thread, seq"
_REST = (
    "SELECT message, scope, posted, gone FROM known ORDER BY message",
    "SELECT scope, room, thread, newest - cursor, heard FROM conversations ORDER BY scope, room, thread",
    "SELECT key FROM timers ORDER BY key",
    "SELECT scope, number, closed FROM plans ORDER BY scope, place",
)


def _imports(export: Path, workspace: Path, dies_at: int) -> None:
    """In a process of its own: import, and die at the write of that number; else say how many there were."""
    killer = killer_for(workspace, dies_at)
    made, clock = settings(workspace, raw_days="never"), ManualClock(TODAY)
    history, disk = open_history(export), KilledDisk(killer, dies_at)
    asyncio.run(imported(history, made, ["build"], clock=clock, disk=disk, ledger_faults=killer.hear))
    came_to_its_end(killer, workspace)


def _lives(export: Path, workspace: Path) -> None:
    """A workspace in which the last third of the room was heard live, and the end of that is not saved yet."""
    workspace.parent.mkdir(exist_ok=True)
    said = events(export, "#build")
    lived(workspace, said[len(said) * 2 // 3 : -3], raw_days="never")
    lived(workspace, said[-3:], save=False, raw_days="never")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small export."""
    return make_export(tmp_path_factory.mktemp("export") / "small.zip")


@pytest.fixture(scope="module")
def whole(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an import that nobody stopped. Only to be read."""
    workspace = tmp_path_factory.mktemp("whole") / "memory"
    _lives(small, workspace)
    assert ended(_imports, small, workspace, 0)
    return workspace


@pytest.mark.parametrize("seed", range(scale(20)))
def test_killed_at_a_chosen_write_it_goes_on_as_if_nothing_was(
    small: Path, whole: Path, tmp_path: Path, seed: int
) -> None:
    """Twenty kills a seed (five in the ordinary run), each so many writes after the last start."""
    writes = writes_of(whole)
    random, workspace = Random(seed), tmp_path / "w" / "memory"
    _lives(small, workspace)
    steps = [random.randint(1, writes // 5) for _ in range(20 if scale(20) == 20 else 5)]
    came = any(ended(_imports, small, workspace, step) for step in steps)
    assert came or ended(_imports, small, workspace, 0)
    kinds = deaths_in(workspace)
    assert kinds
    print(f"\n{sum(kinds.values())} kills among {writes} writes: {dict(kinds)}")  # noqa: T201
    assert not temporary_files(workspace)
    left, right = pages(whole), pages(workspace)
    assert sorted(left) == sorted(right)
    for name, text in left.items():
        assert right[name] == text, name
    assert waiting(workspace) == 0
    for question in (_MESSAGES, *_REST):
        assert ask(workspace, question) == ask(whole, question), question
