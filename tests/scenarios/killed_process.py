"""Work in a process of its own that dies (-9) at a chosen write of ledger or pages.

Beside the workspace it leaves `told`, the kind of write at which it died, a line for each death, and `writes`, how
many writes there were when it came to its end.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.scenarios.killer import ANY, Killer, Point

DEADLINE_S = 300.0
FORKS = multiprocessing.get_context("forkserver")


def killer_for(workspace: Path, dies_at: int) -> Killer:
    """Dies at the write of that number (0: at none) and tells of it beside the workspace."""
    workspace.parent.mkdir(exist_ok=True)
    told = (workspace.parent / "told").open("a")

    def report(**what: object) -> None:
        if "died" in what:
            told.write(f"{what['died']}\n")
            told.flush()

    return Killer(report, Point(ANY, dies_at))


def came_to_its_end(killer: Killer, workspace: Path) -> None:
    """Tell how many writes there were."""
    (workspace.parent / "writes").write_text(str(killer.counts[ANY]))


def writes_of(workspace: Path) -> int:
    """How many writes the work took that came to its end."""
    return int((workspace.parent / "writes").read_text())


def deaths_in(workspace: Path) -> Counter[str]:
    """At which kinds of write it died, and how often."""
    return Counter((workspace.parent / "told").read_text().splitlines())


def ended(work: Callable[[Path, Path, int], None], export: Path, workspace: Path, dies_at: int) -> bool:
    """Do the work in a forked process; False where it was killed."""
    # Not forked from this process: the masker of secrets has threads of its own, which a fork does not take.
    process = FORKS.Process(target=work, args=(export, workspace, dies_at))
    process.start()
    process.join(DEADLINE_S)
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode == 0
