"""docs/how-to/keep-it-running.md is true: exit codes, signals, the log, what is written, the unit and the image."""

from __future__ import annotations

import asyncio
import configparser
import re
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.conversations import CLOSING_S
from bot.run import LEFT_S
from bot.settings import Settings, variable
from tests.peers.slack import SlackPeer
from tests.scenarios.program import Program, program, start

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/keep-it-running.md").read_text("utf-8")
SESSIONS_A_DAY = 1000
"""What Discord allows: https://discord.com/developers/docs/events/gateway#session-start-limit-object"""


def _blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def _unit() -> Mapping[str, str]:
    """All that the unit says, its sections taken together."""
    read = configparser.ConfigParser(interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]  # directives have capitals
    read.read_string(next(block for block in _blocks("ini") if "[Service]" in block))
    return {name: value for section in read.sections() for name, value in read[section].items()}


async def _after_connecting(remem: Program, told: signal.Signals) -> int:
    await remem.logged("Slack is connected")
    remem.process.send_signal(told)
    return await remem.ended()


@pytest.mark.asyncio
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
async def test_both_signals_end_it_with_0_also_without_a_place_for_what_it_knows(
    tmp_path: Path, told: signal.Signals
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.local").write_text("no folder", "utf-8")
    async with SlackPeer() as peer:
        remem = await start(tmp_path / "w", peer.environment)
        try:
            assert await _after_connecting(remem, told) == 0
        finally:
            await remem.kill()
    said = [line for line in remem.lines if "remem starts" in line or "is connected" in line]
    assert [bool("remem starts" in line) for line in said] == [True, False], remem.stderr
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ", remem.lines[0]), "the time in UTC"
    assert "Traceback" not in remem.stderr
    assert [one.name for one in (tmp_path / "home").iterdir()] == [".local"], "nothing else is written"


@pytest.mark.asyncio
async def test_what_is_refused_ends_with_1_and_one_sentence(tmp_path: Path) -> None:
    async with SlackPeer() as peer, program(tmp_path / "w", peer.environment) as first:
        await first.logged("Slack is connected")
        held, wrong = await asyncio.gather(
            start(tmp_path / "w", peer.environment),
            start(tmp_path / "other", {**peer.environment, "SLACK_BOT_TOKEN": "xoxb-canary"}),
        )
        assert {await held.ended(), await wrong.ended()} == {1}
    assert held.lines[-1].startswith("remem: ")
    assert f"process {first.process.pid} on " in held.lines[-1]
    assert wrong.lines[-1].startswith("remem: Slack refused SLACK_BOT_TOKEN")
    assert "canary" not in wrong.stderr


def test_the_unit_stops_and_starts_it_as_it_needs() -> None:
    unit = _unit()
    assert unit["ExecStart"].endswith("/remem run")
    assert unit["Restart"] == "on-failure"
    assert 24 * 3600 / int(unit["RestartSec"]) < SESSIONS_A_DAY
    assert int(unit["TimeoutStopSec"]) > 2 * (2 * CLOSING_S + 2 * LEFT_S), "twice what closing may wait for"
    assert unit["User"] == "remem"
    workspace = next(block for block in _blocks("ini") if "REMEM_WORKSPACE" in block).strip().partition("=")[2]
    assert Path(workspace).is_relative_to(unit["ReadWritePaths"])
    assert unit["ProtectSystem"] == "strict"


def test_the_image_holds_what_the_build_needs_and_no_root() -> None:
    (image,) = _blocks("dockerfile")
    lines = [line.split() for line in image.splitlines()]
    copied = {word for line in lines if line[0] == "COPY" for word in line[1:-1]}
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    packages = re.search(r"^packages = \[(.*)\]", project, re.MULTILINE)
    assert packages is not None
    assert copied == {"pyproject.toml", "README.md", "LICENSE", *re.findall(r'"(\w+)"', packages[1])}
    assert ["USER", "remem"] in lines
    assert ["STOPSIGNAL", "SIGTERM"] in lines
    assert ["ENTRYPOINT", '["remem"]'] in lines, "no shell before it: the signal must reach it"


def test_the_settings_that_it_names_exist() -> None:
    named = set(re.findall(r"\bREMEM_[A-Z_]+\b", PAGE))
    assert named
    assert named <= {variable(name) for name in Settings.model_fields}
