"""The workspace: laid down without touching what is there, held by one process, missed when it is gone."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
import stat
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.clock import ManualClock
from memory_core.errors import StoreFailed, WorkspaceGone, WorkspaceHeld
from memory_core.index import parse
from memory_core.layouts import APM
from memory_core.lock import hold
from memory_core.templates import new_page
from memory_core.workspace import OWNER_PURPOSE, Workspace, initialise, workspace_key
from tests.memory_core.disks import temporary_files
from tests.memory_core.processes import initialise_many

DAY = date(2026, 4, 6)
FILES = {
    "SOUL.md",
    "USER.md",
    "MEMORY.md",
    "memory/main/index.md",
    "memory/main/attention.md",
    "memory/main/longterm.md",
    "memory/main/daily-synced.md",
    "memory/groups/group_names.json",
    ".remem/.gitignore",
    ".remem/key",
    ".remem/layout",
}


def contents(workspace: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    files = (path for path in workspace.rglob("*") if path.is_file())
    return {path.relative_to(workspace).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_new_workspace_has_the_whole_tree_for_its_owner_only(tmp_path: Path) -> None:
    workspace = tmp_path / "deep/down"
    created = initialise(workspace, APM, day=DAY, zone="Europe/Berlin")
    assert {str(file) for file in created} == FILES == set(contents(workspace))
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in [workspace, *workspace.rglob("*")]}
    assert modes == {(True, 0o700), (False, 0o600)}
    assert len(workspace_key(workspace)) == 32
    assert len((workspace / "MEMORY.md").read_text().splitlines()) <= 50
    index = parse((workspace / "memory/main/index.md").read_text(), APM.direct)
    assert index.purpose == OWNER_PURPOSE
    assert [route.page for route in index.routes] == ["attention", "longterm", "daily-synced"]
    assert index.problems == ()


def test_the_index_of_an_older_workspace_routes_to_its_projects(tmp_path: Path) -> None:
    (tmp_path / "memory/main/projects").mkdir(parents=True)
    (tmp_path / "memory/main/projects/日常.md").write_text("# 日常\n")
    (tmp_path / "memory/2026-04-05.md").write_text("# 2026-04-05\n")
    initialise(tmp_path, APM, day=DAY)
    index = parse((tmp_path / "memory/main/index.md").read_text(), APM.direct)
    assert "projects/日常" in [route.page for route in index.routes]
    assert "journal/2026-04-05" not in [route.page for route in index.routes]


@given(st.sets(st.sampled_from(sorted(FILES))), st.binary(max_size=8))
@settings(max_examples=25, deadline=None)
def test_case_102_only_what_is_missing_is_created(
    tmp_path_factory: pytest.TempPathFactory, present: set[str], content: bytes
) -> None:
    workspace = tmp_path_factory.mktemp("w")
    for file in present:
        (workspace / file).parent.mkdir(parents=True, exist_ok=True)
        (workspace / file).write_bytes(content)
    before = contents(workspace)
    created = {str(file) for file in initialise(workspace, APM, day=DAY)}
    assert created == FILES - present
    after = contents(workspace)
    assert {file: after[file] for file in before} == before
    assert initialise(workspace, APM, day=date(2027, 1, 1)) == ()
    assert contents(workspace) == after


def test_a_link_where_a_file_belongs_is_left_alone(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (tmp_path / "outside").write_text("x")
    (workspace / "USER.md").symlink_to(tmp_path / "outside")
    assert PurePosixPath("USER.md") not in initialise(workspace, APM, day=DAY)
    assert (tmp_path / "outside").read_text() == "x"


def test_case_102_two_processes_that_race_lay_down_one_workspace(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(3)
    processes = [spawn.Process(target=initialise_many, args=(tmp_path, 10, barrier)) for _ in range(2)]
    for process in processes:
        process.start()
    for number in range(10):
        hand_made = tmp_path / f"{number}/memory/main/longterm.md"
        hand_made.parent.mkdir(parents=True)
        hand_made.write_bytes(b"by hand\r\n")
        barrier.wait()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    for number in range(10):
        workspace = tmp_path / str(number)
        assert set(contents(workspace)) == FILES
        assert (workspace / "memory/main/longterm.md").read_bytes() == b"by hand\r\n"
        assert len(workspace_key(workspace)) == 32
        assert parse((workspace / "memory/main/index.md").read_text(), APM.direct).problems == ()
    assert temporary_files(tmp_path) == []


# Held


def test_case_109_a_second_holder_is_told_who_holds_it(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 4, 6, 14, 2, tzinfo=UTC))
    with Workspace.open(tmp_path / "w", APM, day=DAY, clock=clock):
        with pytest.raises(WorkspaceHeld, match=rf"process {os.getpid()} on .+ since 2026-04-06 14:02:00\+00:00"):
            Workspace.open(tmp_path / "w", APM, day=DAY)
        before = contents(tmp_path / "w")
    Workspace.open(tmp_path / "w", APM, day=DAY).close()
    assert {file for file in before if file != ".remem/lock"} == FILES


def test_the_lock_ends_with_its_process_however_that_ends(tmp_path: Path) -> None:
    holding = (
        "import sys; from pathlib import Path; from memory_core.lock import hold\n"
        "lock = hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(WorkspaceHeld, match=f"process {child.pid} "):
            hold(tmp_path)
        child.kill()
    hold(tmp_path).release()


def test_an_unreadable_note_in_the_lock_still_keeps_the_second_out(tmp_path: Path) -> None:
    with hold(tmp_path):
        (tmp_path / ".remem/lock").write_text("[1")
        with pytest.raises(WorkspaceHeld, match="another process"):
            hold(tmp_path)


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".remem").mkdir()
    (tmp_path / ".remem/lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreFailed, match="link"):
        hold(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_case_113_opening_sweeps_what_a_crash_left(tmp_path: Path) -> None:
    Workspace.open(tmp_path, APM, day=DAY).close()
    left = tmp_path / "memory/groups/.remem-00112233aabbccdd.tmp"
    left.write_text("half a page")
    with Workspace.open(tmp_path, APM, day=DAY) as workspace:
        assert workspace.swept == (PurePosixPath("memory/groups") / left.name,)
        assert workspace.created == ()
        assert workspace.ledger == tmp_path / ".remem/ledger.db"
    assert not left.exists()


# Gone


@pytest.mark.parametrize("unmounted", [True, False])
def test_a_known_workspace_that_is_gone_is_not_made_anew(tmp_path: Path, unmounted: bool) -> None:
    workspace, known = tmp_path / "w", tmp_path / "state/remem/workspaces.json"
    Workspace.open(workspace, APM, day=DAY, known=known).close()
    Workspace.open(workspace, APM, day=DAY, known=known).close()
    workspace.rename(tmp_path / "elsewhere")
    if unmounted:
        workspace.mkdir()
    with pytest.raises(WorkspaceGone, match=re.escape(str(workspace))):
        Workspace.open(workspace, APM, day=DAY, known=known)
    assert not unmounted or list(workspace.iterdir()) == []
    Workspace.open(tmp_path / "other", APM, day=DAY, known=known).close()
    initialise(workspace, APM, day=DAY)
    Workspace.open(workspace, APM, day=DAY, known=known).close()


def test_a_workspace_without_its_memory_folder_is_gone(tmp_path: Path) -> None:
    Workspace.open(tmp_path / "w", APM, day=DAY).close()
    (tmp_path / "w/memory").rename(tmp_path / "memory")
    with pytest.raises(WorkspaceGone, match="folder memory"):
        Workspace.open(tmp_path / "w", APM, day=DAY)
    assert not (tmp_path / "w/memory").exists()
    initialise(tmp_path / "w", APM, day=DAY)
    Workspace.open(tmp_path / "w", APM, day=DAY).close()


def test_a_start_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    (tmp_path / ".remem").mkdir()
    (tmp_path / ".remem/lock").touch()
    with Workspace.open(tmp_path, APM, day=DAY) as workspace:
        assert {str(file) for file in workspace.created} == FILES


@pytest.mark.parametrize("content", ["{", "[1, null]", '"x"', ""])
def test_a_damaged_list_of_known_workspaces_stops_nobody(tmp_path: Path, content: str) -> None:
    known = tmp_path / "known.json"
    known.write_text(content)
    Workspace.open(tmp_path / "w", APM, day=DAY, known=known).close()
    assert str(tmp_path / "w") in known.read_text()


def test_a_list_that_cannot_be_kept_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder belongs")
    Workspace.open(tmp_path / "w", APM, day=DAY, known=tmp_path / "state/known.json").close()


def test_a_cut_key_is_told_and_never_replaced(tmp_path: Path) -> None:
    Workspace.open(tmp_path, APM, day=DAY).close()
    (tmp_path / ".remem/key").write_bytes(b"short")
    with pytest.raises(StoreFailed, match="32 bytes"):
        Workspace.open(tmp_path, APM, day=DAY)
    assert (tmp_path / ".remem/key").read_bytes() == b"short"
    hold(tmp_path).release()


def test_every_page_that_people_or_the_flush_start_from_has_a_template() -> None:
    for table in (APM.direct, APM.group):
        for rule in table.rules:
            page = rule.page.replace("*", "2026-04-06" if "journal" in rule.page else "2026-04")
            text = new_page(table, type(rule.page)(page))
            assert (text is None) == (rule.form in {"index", "state", "journal", "archive"})
            assert text is None or text.startswith("# ")
