"""A replay that is killed (-9) and continued, again and again, leaves what a replay leaves that was never stopped.

Compared file by file, the times of files aside, and by what the ledger holds. Two ways of killing: `remem replay`
from outside, when the ledger holds so many events, wherever it is then; and, on a small export, the process by itself
at a chosen write of ledger or pages.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from bot.replay import replayed
from tests.data.make_export import make_export
from tests.data_dir import data_file
from tests.memory_core.disks import temporary_files
from tests.scale import scale
from tests.scenarios.killed_process import FORKS, came_to_its_end, deaths_in, ended, killer_for, writes_of
from tests.scenarios.killer import KilledDisk
from tests.scenarios.replay_checks import cut, events_in, keys_of, pages, waiting
from tests.scenarios.terminal import settings

RACKET = "slack-export-racket-2017.zip"
RACKET_MESSAGES = 6757
DEADLINE_S = 300.0
FORKS.set_forkserver_preload(["bot.replay", "tests.scenarios.test_replay_killed"])

_TABLES = {
    "messages": "SELECT message, text, voice, owed FROM messages JOIN texts ON texts.id = text_id ORDER BY room, seq",
    "cursors": "SELECT scope, room, thread, newest - cursor, heard FROM conversations ORDER BY scope, room, thread",
    "known": "SELECT message, scope, posted, gone FROM known ORDER BY message",
    "rooms": "SELECT * FROM rooms ORDER BY room",
    "plans": "SELECT scope, id, number, closed FROM plans ORDER BY scope, place",
    "marks": "SELECT scope, message, page, record FROM written ORDER BY scope, message",
    "hits": "SELECT scope, page, record, at_us FROM hits ORDER BY scope, number",
    "changes": "SELECT scope, message, deleted FROM changes ORDER BY scope, message",
    "timers": "SELECT key, due_us, about FROM timers ORDER BY key",
}
"""What the ledger holds, in the order of each room, without the numbers that a repeated attempt may use up."""


def ledger(workspace: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a replay left in its ledger."""
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as found:
        return {table: found.execute(question).fetchall() for table, question in _TABLES.items()}


def kept(workspace: Path) -> int:
    """How many events the ledger holds now, as another process sees it."""
    try:
        with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as found:
            return int(found.execute("SELECT count(*) FROM events").fetchone()[0])
    except sqlite3.Error:  # not there yet, or being made
        return 0


def same(whole: Path, parts: Path, export: Path) -> None:
    """Both workspaces hold the same memory, file by file, and nothing waits."""
    assert not temporary_files(parts)
    left, right = pages(whole), pages(parts)
    assert sorted(left) == sorted(right)
    for name, text in left.items():
        assert right[name] == text, name
    held = ledger(whole)
    for table, rows in ledger(parts).items():
        assert rows == held[table], table
    assert events_in(parts) == keys_of(export)
    assert waiting(parts) == 0


# -- from outside ----------------------------------------------------------------------------------------------------


def _start(export: Path, workspace: Path, home: Path) -> subprocess.Popen[bytes]:
    """`remem replay`, as a person starts it."""
    home.mkdir(exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("REMEM_")}
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from bot.cli import main; main()",
            *("replay", str(export), "--workspace", str(workspace), "--quiet"),
        ],
        env={**inherited, "HOME": str(home), "TZ": "UTC"},
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _killed_when(process: subprocess.Popen[bytes], workspace: Path, events: int) -> bool:
    """Kill it as soon as the ledger holds so many events; False where it ended before."""
    ends_s = time.monotonic() + DEADLINE_S
    while kept(workspace) < events:
        if process.poll() is not None:
            return False
        assert time.monotonic() < ends_s, "it hangs"
    process.send_signal(signal.SIGKILL)
    assert process.wait(DEADLINE_S) == -signal.SIGKILL
    return True


def _in_peace(export: Path, workspace: Path, home: Path) -> str:
    process = _start(export, workspace, home)
    said, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, said.decode()
    assert b"Traceback" not in said, said.decode()
    return said.decode()


def test_killed_twenty_times_at_random_an_export_leaves_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Point 11 of what is shown: the whole export, 20 kills (in the ordinary run a part of it, 2 kills)."""
    whole = scale(20) == 20
    messages, kills = (RACKET_MESSAGES, 20) if whole else (160, 2)
    export = data_file(RACKET)
    if not whole:
        export = cut(export, tmp_path / "part.zip", messages)
    began_s = time.monotonic()
    in_peace = _in_peace(export, tmp_path / "whole", tmp_path / "home")
    random = Random(11)
    at = sorted(random.sample(range(1, messages - messages // 20), kills))
    killed = 0
    for events in at:
        process = _start(export, tmp_path / "parts", tmp_path / "home")
        killed += _killed_when(process, tmp_path / "parts", events)
        process.communicate()
    assert killed == kills
    last = _in_peace(export, tmp_path / "parts", tmp_path / "home")
    same(tmp_path / "whole", tmp_path / "parts", export)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{killed} kills at {at} of {messages} messages, {len(pages(tmp_path / 'parts'))} files and the ledger "
            f"the same; {time.monotonic() - began_s:.0f} s\nin peace: {in_peace.splitlines()[0]}\n"
            f"the last part: {last.splitlines()[0]}\n"
        )


# -- at chosen writes ------------------------------------------------------------------------------------------------


def _replays(export: Path, workspace: Path, dies_at: int) -> None:
    """In a process of its own: replay, and die at the write of that number; else say how many there were."""
    killer = killer_for(workspace, dies_at)
    disk = KilledDisk(killer, dies_at)
    asyncio.run(replayed(export, settings(workspace), disk=disk, ledger_faults=killer.hear))
    came_to_its_end(killer, workspace)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small export: decisions, tasks, edits, threads, three rooms."""
    return make_export(tmp_path_factory.mktemp("export") / "small.zip")


@pytest.fixture(scope="module")
def whole(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a replay of it that nobody stopped. Only to be read."""
    workspace = tmp_path_factory.mktemp("whole") / "memory"
    assert ended(_replays, small, workspace, 0)
    return workspace


@pytest.mark.parametrize("seed", range(scale(20)))
def test_killed_at_a_chosen_write_it_goes_on_as_if_nothing_was(
    small: Path, whole: Path, tmp_path: Path, seed: int
) -> None:
    """Twenty kills a seed (six in the ordinary run), each so many writes after the last start."""
    writes = writes_of(whole)
    random, workspace = Random(seed), tmp_path / "memory"
    steps = [random.randint(1, writes // 6) for _ in range(20 if scale(20) == 20 else 6)]
    came = any(ended(_replays, small, workspace, step) for step in steps)
    assert came or ended(_replays, small, workspace, 0)
    kinds = deaths_in(workspace)
    assert len(kinds) > 1, kinds
    same(whole, workspace, small)
