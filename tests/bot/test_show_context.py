"""`remem show-context`: the disclosure as a tree, for a group and the DM; it creates nothing and takes no lock."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from memory_core.lock import hold
from tests.bot.command_line import CommandLine, remem
from tests.scenarios.damage import as_bytes, contents
from tests.scenarios.terminal import terminal

__all__ = ["remem"]

QUESTION = "what did we decide about the session cache?"
DM_QUESTION = "what is my desk?"


async def _lay_down(workspace: Path) -> None:
    async with terminal(workspace) as screen:
        await screen.type("/join #build", "/remem purpose We run the build servers")
        await screen.type(
            "/join #build", "We decided to use Redis for the session cache.", "TODO: me buys cake", "/remem"
        )
        await screen.type("/join #Café Ops", "/remem purpose Operations")
        await screen.type("/as ana", "/dm", "remember that my desk is number seven", "/remem")
        await screen.type("/as me", "/dm", "remember that my desk is number four", "/remem")


@pytest.fixture(scope="module")
def _laid_down(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("context") / "w"
    asyncio.run(_lay_down(workspace))
    return workspace


@pytest.fixture
def workspace(_laid_down: Path, remem: CommandLine) -> Path:
    """A workspace with two groups and two persons, where the command line looks by default."""
    return Path(shutil.copytree(_laid_down, remem.home / "remem"))


def _everything(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder with size and time of change."""
    found = {path: os.stat(path, follow_symlinks=False) for path in folder.rglob("*")}
    return {str(path): (status.st_size, status.st_mtime_ns) for path, status in found.items()}


def test_a_groups_tree_names_steps_pages_reasons_tokens_and_the_sum(remem: CommandLine, workspace: Path) -> None:
    ran = remem("show-context", QUESTION, "--room", "build")
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert lines[0] == f"build: {QUESTION}"
    for step in ("0 name", "1 index", "2 intent", "3 page", "5 budget"):
        assert any(f"─ {step}" in line for line in lines), ran.out
    (page,) = [line for line in lines if "experience P2: " in line]
    assert " tokens; why: " in page
    assert lines[-1].endswith(" of 6000 tokens")


@pytest.mark.parametrize("room", ["#build", "build", "BUILD", "console:build"])
def test_a_group_is_found_by_its_name_its_title_and_its_key(remem: CommandLine, workspace: Path, room: str) -> None:
    assert "experience" in remem("show-context", QUESTION, "-r", room).out


def test_the_dm_is_the_default_and_has_its_layers(remem: CommandLine, workspace: Path) -> None:
    out = remem("show-context", DM_QUESTION).out
    assert out.startswith("dm: ")
    for layer in ("layer 0", "2 intent", "5 budget"):
        assert layer in out
    assert "soul" in out
    assert out.rstrip().endswith(" of 8000 tokens")
    assert remem("show-context", DM_QUESTION, "-r", "console:me").out.count("memory") == out.count("memory")


def test_another_persons_dm_is_named_by_the_persons_key(remem: CommandLine, workspace: Path) -> None:
    ran = remem("show-context", DM_QUESTION, "-r", "console:ana")
    assert ran.code == 0
    assert "direct:console:ana" in ran.out
    assert "build" not in ran.out


@pytest.mark.parametrize("room", ["#nowhere", "discord:5", "console:zoe", "slack:T1:C1"])
def test_an_unknown_room_is_refused_with_those_that_there_are(remem: CommandLine, workspace: Path, room: str) -> None:
    refusal = remem("show-context", QUESTION, "-r", room).refusal
    assert f"There is no memory for {room!r} in {workspace}" in refusal
    assert "build" in refusal


@pytest.mark.parametrize(("room", "why"), [("a:b:c:d", "no room key"), ("..", "cannot be"), ("", "")])
def test_a_room_that_cannot_be_is_refused(remem: CommandLine, workspace: Path, room: str, why: str) -> None:
    assert why in remem("show-context", QUESTION, "-r", room).refusal


def test_what_people_type_is_no_markup(remem: CommandLine, workspace: Path) -> None:
    message = "what did [bold]we[/bold] decide [/nothing] about [red]the session cache?"
    ran = remem("show-context", message, "-r", "build")
    assert ran.code == 0
    assert message in ran.out


def test_it_creates_nothing_and_takes_no_lock(remem: CommandLine, workspace: Path) -> None:
    before = _everything(workspace)
    with hold(workspace):
        held = (workspace / ".remem/lock").read_bytes()
        assert remem("show-context", QUESTION, "-r", "build").code == 0
        assert remem("show-context", DM_QUESTION).code == 0
        remem("show-context", QUESTION, "-r", "#nowhere")
        assert (workspace / ".remem/lock").read_bytes() == held
    after = _everything(workspace)
    lock = str(workspace / ".remem/lock")
    assert {name: state for name, state in after.items() if name != lock} == {
        name: state for name, state in before.items() if name != lock
    }


def test_without_a_workspace_there_is_nothing_to_show_and_nothing_is_made(remem: CommandLine) -> None:
    refusal = remem("show-context", QUESTION, "-w", remem.home / "never").refusal
    assert f"There is no workspace {remem.home / 'never'} yet; `remem chat` or `remem init` makes it." in refusal
    assert not (remem.home / "never").exists()


def test_a_fault_in_the_files_is_a_note_in_the_tree(remem: CommandLine, workspace: Path) -> None:
    as_bytes(lambda text: text.encode() + b"caf\xe9\n")(workspace / "memory/groups/build/experience.md")
    before = contents(workspace / "memory")
    out = remem("show-context", QUESTION, "-r", "build").out
    assert "note memory/groups/build/experience.md: the byte at offset " in out
    assert contents(workspace / "memory") == before
