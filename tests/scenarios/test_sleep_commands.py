"""`/remem sleep`, its `undo`, `status`; `remem sleep`, `remem status`, the log of the start, a replay with sleep."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.replay import replayed
from bot.run import run_platforms
from bot.scopes import every_scope
from bot.settings import effective, load
from memory_core.candidates import Candidate, Request
from memory_core.clock import ManualClock
from memory_core.errors import RememError
from memory_core.extract import candidates_in
from memory_core.ids import DirectScope, GroupScope, PersonKey
from memory_core.ledger.overview import Look
from memory_core.lock import hold
from tests.bot.command_line import CommandLine, remem
from tests.data.make_export import make_export
from tests.peers.slack import SlackPeer
from tests.scenarios.recording import Events
from tests.scenarios.stage import ANA, BEN, Stage, channel, direct, stage
from tests.scenarios.terminal import START, settings, terminal

__all__ = ["remem"]

BUILD = channel(1, "build")
DM = direct(50, BEN)


def _bytes(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, and what it holds."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _memory(workspace: Path) -> dict[str, bytes]:
    """What people may read and edit; without the program's own, and the report of when it slept."""
    kept = _bytes(workspace)
    return {name: text for name, text in kept.items() if ".remem/" not in name and "heartbeat-state" not in name}


async def _saved(on: Stage, *texts: str) -> None:
    for text in texts:
        await on.says(BUILD, ANA, text, addressed=False)
    await on.command(BUILD, ANA)


@pytest.fixture
def talked(remem: CommandLine) -> Path:
    """A workspace where the command line looks by default, with a saved group and something that waits."""
    workspace = remem.home / "remem"

    async def talk() -> None:
        clock = ManualClock(START)
        async with terminal(workspace, clock=clock, layout="adaptive", sleep="off") as on:
            for day in range(2):
                await on.type(
                    "/join #build", "@remem hello", "we build servers", f"Decision: server {day} runs Debian"
                )
                await on.type(
                    "/join #build", "lesson learned: the queue stalled, because the disk was full; a quota fixed it"
                )
                await on.type("/join #build", "/remem")
                await on.silence(86_400)
            await on.type("/join #build", "Decision: said and not saved yet")

    asyncio.run(talk())
    remem("init", REMEM_LAYOUT="adaptive")
    return workspace


@pytest.mark.asyncio
async def test_an_admin_lets_a_group_sleep_and_takes_it_back(tmp_path: Path) -> None:
    async with stage(tmp_path, sleep="off", layout="dreaming") as on:
        await on.enter(BUILD)
        await _saved(on, "Decision: Redis for the session cache", "agreed: no deploys on Friday")
        on.clock.advance(86_400)
        await _saved(on, "lesson learned: the queue stalled, because the disk was full; a quota fixed it")
        before = _memory(tmp_path)
        assert "Only an admin" in await on.command(BUILD, BEN, "sleep")
        assert _memory(tmp_path) == before
        said = await on.command(BUILD, ANA, "sleep")
        assert said.startswith("Deep sleep (no. 3): ")
        assert "absorbed; in " in said
        assert "[absorbed]" in on.page("build/journal/2026-04-06.md")
        assert _memory(tmp_path) != before
        assert await on.command(BUILD, ANA, "sleep") == "Deep sleep: nothing to do."
        undone = await on.command(BUILD, ANA, "undo")
        assert undone.startswith("Taken back: deep sleep no. 3")
        assert "The next sleep may come to the same again." in undone
        after = _memory(tmp_path)
        changed = {name for name in before if after.get(name) != before[name]}
        assert changed <= {"memory/groups/build/flush-state.json", "memory/groups/flush-state.json"}, changed
        status = await on.command(BUILD, ANA, "status")
        assert "sleep: deep never (that of 2026-04-07" in status, status
        assert (await on.command(BUILD, ANA, "undo")).startswith("Taken back: flush no. 2")
        assert "nothing to undo" in await on.command(BUILD, ANA, "undo")


@pytest.mark.asyncio
async def test_in_a_dm_the_person_may_and_a_room_without_memory_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        assert "no memory here yet" in await on.command(DM, BEN, "sleep")
        await on.says(DM, BEN, "Decision: I write my letters on Sundays")
        await on.command(DM, BEN)
        assert (await on.command(DM, BEN, "sleep")).startswith("Deep sleep")
        assert "no memory here yet" in await on.command(BUILD, ANA, "sleep")


@pytest.mark.asyncio
async def test_what_was_deleted_is_saved_out_before_it_could_be_promoted(tmp_path: Path) -> None:
    async with stage(tmp_path, sleep="off", layout="dreaming") as on:
        await on.enter(BUILD)
        said = on.events.said(BUILD, ANA, "lesson learned: the canary sings, because it is yellow; a cloth fixed it")
        await on.hears(said)
        await on.command(BUILD, ANA)
        await on.hears(on.events.deleted(said, ANA))
        assert (await on.command(BUILD, ANA, "sleep")).startswith("Deep sleep")
        assert not [name for name, text in _memory(tmp_path).items() if b"canary" in text]


@pytest.mark.asyncio
async def test_status_tells_of_sleep_and_of_what_went_wrong(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        assert "next look after the first flush" in await on.command(BUILD, BEN, "status")
        await _saved(on, "Decision: Redis for the session cache")
        told = await on.command(BUILD, BEN, "status")
        assert "- sleep: deep never, REM never; next look 2026-04-07 0" in told
        assert "; 1 journal not gone through" in told
        await on.command(BUILD, ANA, "sleep")
        told = await on.command(BUILD, BEN, "status")
        assert "- sleep: deep 2026-04-06 12:00, REM never; next look 2026-04-07 0" in told
        assert "0 journals not gone through" in told


class Failing:
    """The rules, until they fail."""

    def __init__(self) -> None:
        self.well = True

    async def extract(self, request: Request) -> tuple[Candidate, ...]:
        """As the rules, or not at all."""
        if not self.well:
            raise RememError("inner words of a model")
        return candidates_in(request)


async def _troubled(workspace: Path) -> None:
    """A group whose last save failed, with a message that waits in it and one in a thread."""
    extractor, clock = Failing(), ManualClock(START)
    async with stage(workspace, clock=clock, events=Events(clock), extractor=extractor) as on:
        await on.enter(BUILD)
        await _saved(on, "Decision: Redis for the session cache")
        extractor.well = False
        await on.says(BUILD, ANA, "Decision: Kafka for events", addressed=False)
        await on.says(channel(1, "build", thread="77"), BEN, "and what about the lamps?", addressed=False)
        await on.command(BUILD, ANA)
        assert "could not be read through" in await on.command(BUILD, ANA, "status")


def test_case_157_status_tells_what_becomes_of_what_is_said(remem: CommandLine) -> None:
    workspace = remem.home / "memory"
    asyncio.run(_troubled(workspace))
    with hold(workspace):  # as a running bot does
        before = _bytes(workspace)
        ran = remem("status", workspace, "--json")
        assert _bytes(workspace) == before
    assert (ran.code, ran.err) == (1, "")
    found = json.loads(ran.out)
    assert found["settings"]["REMEM_SLEEP"] == "on"
    (build,) = [one for one in found["scopes"] if one["scope"] == "group:build"]
    assert build["last_flush"] == "2026-04-06T12:00:00+00:00"
    assert build["messages_waiting"] == 2
    assert [one["messages_waiting"] for one in build["conversations"]] == [1, 1]
    assert build["conversations"][1]["conversation"].endswith("#77")
    assert build["last_error"]["at"] == "2026-04-06T12:00:00+00:00"
    assert "could not read through" in build["last_error"]["why"]
    assert "inner words" not in ran.out
    assert build["next_sleep"].startswith("2026-04-07T0")
    text = remem("status", "-w", workspace)
    assert text.code == 1
    assert "group build: last flush 2026-04-06 12:00 (no. 1), 0 pending, 2 messages waiting" in text.out
    assert "discord:1#77: 1 message waiting" in text.out
    assert "error: the flush of 2026-04-06 12:00 failed" in text.out
    assert "sleep is off" not in text.out


def test_case_157_a_save_that_comes_through_ends_the_error(remem: CommandLine) -> None:
    workspace = remem.home / "memory"
    asyncio.run(_troubled(workspace))

    async def mend() -> None:
        clock = ManualClock(START + timedelta(hours=1))
        async with stage(workspace, clock=clock, events=Events(clock, 100)) as on:
            await on.command(BUILD, ANA)

    asyncio.run(mend())
    ran = remem("status", workspace, REMEM_SLEEP="off")
    assert ran.code == 0
    assert "error" not in ran.out
    assert "sleep off" in ran.out
    assert "only when asked (REMEM_SLEEP is off)" in ran.out


@pytest.mark.asyncio
async def test_case_157_the_start_tells_the_settings_that_count_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with SlackPeer() as peer:
        given = load(
            _env_file=None,
            workspace=tmp_path / "w",
            sleep="off",
            SLACK_BOT_TOKEN="xoxb-canary",  # a wrong token: the run ends at once
            SLACK_APP_TOKEN=peer.app_token,
            slack_api_url=peer.api_url,
            discord_proxy="http://ana:canary@proxy:3128",
        )
        with capture_logs() as lines, pytest.raises(RememError):
            await run_platforms(given)
    (told,) = [line for line in lines if line["event"] == "settings"]
    assert set(effective(given)) <= set(told)
    assert (told["REMEM_SLEEP"], told["REMEM_LAYOUT"], told["REMEM_IDLE_S"]) == ("off", "apm", "1800")
    assert (told["SLACK_BOT_TOKEN"], told["DISCORD_TOKEN"]) == ("set", "unset")
    assert told["REMEM_DISCORD_PROXY"] == "http://…@proxy:3128"
    assert "canary" not in str(lines)
    assert set(effective(given)) == set(effective(load(_env_file=None)))


def test_a_dry_run_says_what_would_be_done_and_writes_no_byte(remem: CommandLine, talked: Path) -> None:
    before = _bytes(talked)
    times = {name: (talked / name).stat().st_mtime_ns for name in before}
    with hold(talked):
        before[".remem/lock"] = (talked / ".remem/lock").read_bytes()
        times.pop(".remem/lock")
        for words in ((), ("--stage", "rem"), ("--scope", "build")):
            ran = remem("sleep", talked, "--dry-run", *words)
            assert (ran.code, ran.err) == (0, "")
            assert ran.out.endswith("This was a dry run: nothing was written.\n")
    assert _bytes(talked) == before
    assert {name: (talked / name).stat().st_mtime_ns for name in times} == times
    told = remem("sleep", "--dry-run", "--scope", "build").out
    assert "group build: Deep sleep" in told
    real = remem("sleep", "--scope", "build").out
    assert told.replace("This was a dry run: nothing was written.\n", "") == real.replace(" (no. 3)", "")


def test_sleep_runs_the_stage_that_is_named_in_the_scope_that_is_named(remem: CommandLine, talked: Path) -> None:
    ran = remem("sleep", talked, "--scope", "build")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("group build: Deep sleep (no. ")
    beat = json.loads((talked / "memory/groups/build/heartbeat-state.json").read_text())
    assert (bool(beat["lastDeep"]), beat["lastRem"]) == (True, None)
    ran = remem("sleep", talked, "--stage", "rem")
    assert ran.code == 0
    assert "group build: REM sleep" in ran.out
    assert ran.out.startswith("dm: ")
    assert json.loads((talked / "memory/groups/build/heartbeat-state.json").read_text())["lastRem"]
    assert "group build: Deep sleep: nothing to do." in remem("sleep", talked).out


def test_a_home_is_the_persons_whom_the_ledger_knows_by_that_folder(tmp_path: Path) -> None:
    (tmp_path / "people/slack-t1-u2/memory").mkdir(parents=True)
    (tmp_path / "people/discord-7/memory").mkdir(parents=True)
    known = DirectScope(PersonKey("slack:T1:U2"))
    every = every_scope(settings(tmp_path), [Look(known), Look(GroupScope("build"))])
    assert set(every[1:]) == {known, DirectScope(PersonKey("discord:7")), GroupScope("build")}
    assert every[0] == DirectScope(PersonKey("console:me"), owner=True)


@pytest.mark.parametrize(
    "words",
    [("--stage", "light"), ("--scope", "nobody"), ("nowhere",), ("--scope", "a:b")],
    ids=["no stage", "no scope", "no workspace", "no key"],
)
def test_what_cannot_run_is_one_sentence_and_exit_code_two(
    remem: CommandLine, talked: Path, words: tuple[str, ...]
) -> None:
    ran = remem("sleep", *words)
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert line.startswith("remem: ")


def test_a_held_workspace_is_not_slept_in_and_its_holder_is_named(remem: CommandLine, talked: Path) -> None:
    with hold(talked) as lock:
        ran = remem("sleep", talked)
        assert (ran.code, ran.out) == (2, "")
        assert f"held by process {lock.holder.pid}" in ran.err
        assert remem("status", talked).code == 0


def test_a_scope_that_cannot_sleep_makes_the_exit_code_one_and_holds_up_no_other(
    remem: CommandLine, talked: Path
) -> None:
    (talked / "memory/groups/build/heartbeat-state.json").unlink(missing_ok=True)
    (talked / "memory/groups/build/heartbeat-state.json").mkdir()
    ran = remem("sleep", talked)
    assert ran.code == 1
    assert "group build: No sleep: " in ran.out
    assert "dm: Deep sleep" in ran.out


def _replayed(export: Path, workspace: Path, **given: object) -> None:
    with capture_logs() as lines:
        asyncio.run(replayed(export, settings(workspace, **given)))
    assert [line for line in lines if line["log_level"] not in {"debug", "info"}] == []


def test_a_replay_sleeps_on_the_messages_clock_and_two_replays_give_the_same_pages(tmp_path: Path) -> None:
    export = make_export(tmp_path / "small.zip")
    for number in range(2):
        _replayed(export, tmp_path / f"w{number}")
    _replayed(export, tmp_path / "awake", sleep="off")
    first, second = (_bytes(tmp_path / f"w{number}/memory") for number in range(2))
    timed = {name for name in first if name.endswith("flush-state.json")}  # they hold times of files
    assert {name: first[name] for name in first if name not in timed} == {
        name: second[name] for name in second if name not in timed
    }
    beats = [json.loads(text) for name, text in first.items() if name.endswith("heartbeat-state.json")]
    assert any(beat["lastDeep"] for beat in beats)
    assert not [name for name in _bytes(tmp_path / "awake") if name.endswith("heartbeat-state.json")]


def test_replay_takes_no_sleep_as_an_option(remem: CommandLine, tmp_path: Path) -> None:
    export = make_export(tmp_path / "small.zip")
    assert remem("replay", export, "-q", "--no-sleep", "-w", tmp_path / "awake").code == 0
    assert not list((tmp_path / "awake").rglob("heartbeat-state.json"))
