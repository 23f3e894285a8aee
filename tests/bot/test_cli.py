"""The command line: what it makes, what it refuses and in which words. A new process only where one is the point."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memory_core.lock import hold
from tests.bot.command_line import CommandLine, remem
from tests.data.make_export import make_export
from tests.scenarios.damage import as_bytes, as_folder, contents

__all__ = ["remem"]

COMMAND = [sys.executable, "-c", "from bot.cli import main; main()"]
ROOT = Path(__file__).parents[2]
DEADLINE_S = 60


def environment(home: Path, **given: str) -> dict[str, str]:
    """What a new process sees: nothing of the developer's settings, a home of its own."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("REMEM_", "SLACK_", "DISCORD_"))
    }
    return kept | {"HOME": str(home), "PYTHONPATH": str(ROOT)} | given


# -- help, unknown words ---------------------------------------------------------------------------------------------


def test_help_lists_every_command_and_loads_no_platform_and_no_model(tmp_path: Path) -> None:
    heavy = ("discord", "slack_bolt", "slack_sdk", "aiohttp", "pydantic_ai", "tiktoken", "structlog")
    code = "import sys\nsys.argv = ['remem', '--help']\nfrom bot.cli import main\ntry:\n    main()\nfinally:\n    "
    code += f"print([name for name in {heavy!r} if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        timeout=DEADLINE_S,
        check=False,
    )
    assert ran.stdout.rstrip().endswith("[]"), ran
    for word in ("chat", "run", "init", "replay", "show-context", "doctor", "discord-invite", "slack-manifest"):
        assert word in ran.stdout


def test_an_unknown_command_and_an_unknown_option_are_named(remem: CommandLine) -> None:
    ran = remem("frobnicate")
    assert (ran.code, ran.out) == (2, "")
    assert "No such command 'frobnicate'" in ran.err
    ran = remem("chat", "--frobnicate")
    assert ran.code == 2
    assert "--frobnicate" in ran.err
    assert "remem chat --help" in ran.err
    assert list(remem.home.iterdir()) == []


# -- init ------------------------------------------------------------------------------------------------------------


def test_init_says_what_it_made_and_the_second_time_that_nothing_was_missing(remem: CommandLine) -> None:
    ran = remem("init")
    workspace = remem.home / "remem"
    made = [line.removeprefix("created ") for line in ran.out.splitlines() if line.startswith("created ")]
    assert sorted(made) == sorted(str(path.relative_to(workspace)) for path in workspace.rglob("*") if path.is_file())
    assert {"SOUL.md", "USER.md", "MEMORY.md", "memory/main/index.md", "memory/groups/group_names.json"} <= set(made)
    assert f"{workspace} is ready." in ran.out
    before = contents(workspace, ("*",))
    again = remem("init")
    assert again.out == f"{workspace} is ready; nothing was missing.\n"
    assert contents(workspace, ("*",)) == before


def test_case_102_only_what_is_missing_is_made_and_no_byte_changes(remem: CommandLine) -> None:
    workspace = remem.home / "remem"
    remem("init")
    (workspace / "SOUL.md").write_bytes(b"\xef\xbb\xbfMy own\r\nvoice, caf\xe9")
    (workspace / "memory/main/attention.md").unlink()
    (workspace / ".remem/.gitignore").unlink()
    before = contents(workspace, ("*",))
    ran = remem("init")
    assert ran.out.splitlines()[:2] == ["created memory/main/attention.md", "created .remem/.gitignore"]
    after = contents(workspace, ("*",))
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"memory/main/attention.md", ".remem/.gitignore"}


def test_case_102_two_processes_that_race_make_one_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    racing = [
        subprocess.Popen(
            [*COMMAND, "init", "-w", str(workspace)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(tmp_path),
        )
        for _ in range(2)
    ]
    ended = [process.communicate(timeout=DEADLINE_S) for process in racing]
    assert [process.returncode for process in racing] == [0, 0], ended
    made = [line for out, _ in ended for line in out.splitlines() if line.startswith("created ")]
    assert sorted(made) == sorted(
        f"created {path.relative_to(workspace)}" for path in workspace.rglob("*") if path.is_file()
    )
    assert len((workspace / ".remem/key").read_bytes()) == 32


# -- the workspace ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["init", "chat", "show-context hello", "replay x.zip"])
def test_a_file_in_the_workspaces_place_is_named(remem: CommandLine, command: str) -> None:
    (remem.home / "file").write_text("mine", "utf-8")
    for workspace in (remem.home / "file", remem.home / "file/below"):
        refusal = remem(*command.split(), "-w", workspace).refusal
        assert f"{remem.home / 'file'} is no folder" in refusal
        assert "--workspace or REMEM_WORKSPACE" in refusal
    assert (remem.home / "file").read_text("utf-8") == "mine"


def test_a_workspace_that_another_process_holds_is_refused_and_the_holder_named(remem: CommandLine) -> None:
    workspace = remem.home / "w"
    remem("init", "-w", workspace)
    export = make_export(remem.home / "export.zip")
    (remem.home / "r/.remem").mkdir(parents=True)
    with hold(workspace), hold(remem.home / "r"):
        refusal = remem("chat", "-w", workspace).refusal
        assert f"{workspace} is held by process {os.getpid()} on " in refusal
        assert "stop that one first" in refusal
        assert "held by process" in remem("init", "--new-ledger", "-w", workspace).refusal
        assert "not empty" in remem("replay", export, "-w", remem.home / "r").refusal
        assert remem("show-context", "hello", "-w", workspace).code == 0
        assert remem("doctor", "-w", workspace).code == 0
        assert "nothing was missing" in remem("init", "-w", workspace).out


@pytest.mark.parametrize("command", ["chat", "show-context hello"])
def test_a_workspace_that_is_gone_is_not_made_anew(remem: CommandLine, command: str) -> None:
    workspace = remem.home / "w"
    assert remem("chat", "-w", workspace).code == 0
    workspace.rename(remem.home / "unmounted")
    refusal = remem(*command.split(), "-w", workspace).refusal
    assert f"The workspace {workspace} was here before and is gone; mount it" in refusal
    assert "remem init" in refusal
    assert not workspace.exists()
    workspace.mkdir()
    assert "is gone" in remem(*command.split(), "-w", workspace).refusal
    assert list(workspace.iterdir()) == []


def test_a_damaged_ledger_is_told_at_the_start_and_begun_anew_on_demand(remem: CommandLine) -> None:
    remem("chat")
    ledger = remem.home / "remem/.remem/ledger.db"
    ledger.write_bytes(b"\x00" * 5000)
    for told in ("is damaged", "is missing"):
        refusal = remem("chat").refusal
        assert told in refusal
        assert "set aside" in refusal
        assert "backup" in refusal
        assert "`remem init --new-ledger` begins anew" in refusal
    assert "The ledger is ready" in remem("init", "--new-ledger").out
    assert remem("chat").code == 0
    assert [kept.stat().st_size for kept in ledger.parent.glob("*.damaged-*")] == [5000]


# -- settings and tokens ---------------------------------------------------------------------------------------------


def test_wrong_settings_are_all_named_with_value_and_limit(remem: CommandLine) -> None:
    refusal = remem(
        "chat", REMEM_IDLE_S="-4", REMEM_SLACK_PORT="70000", REMEM_LAYOUT="pyramid", REMEM_OWNER="me"
    ).refusal
    assert "(4)" in refusal
    assert "REMEM_IDLE_S is '-4'" in refusal
    assert "less than or equal to 65535" in refusal
    assert "REMEM_LAYOUT is 'pyramid': it must be one of: apm" in refusal
    assert "console:<name>" in refusal
    assert remem("doctor").code == 1
    assert not (remem.home / "remem").exists()


@pytest.mark.parametrize("content", [b"REMEM_IDLE_S=5\n\xff\xfe", None])
def test_an_unreadable_settings_file_is_named(remem: CommandLine, content: bytes | None) -> None:
    file = remem.home / ".env"
    file.mkdir() if content is None else file.write_bytes(content)
    ran = remem("init")
    if content is None:  # a folder of that name is no settings file
        assert ran.code == 0
    else:
        assert ".env of this folder is no UTF-8 text; save it as UTF-8" in ran.refusal


def test_a_home_that_does_not_exist_is_named(remem: CommandLine) -> None:
    assert (
        "REMEM_WORKSPACE is '~nobody-here/w': there is no such home folder"
        in remem("init", REMEM_WORKSPACE="~nobody-here/w").refusal
    )


def test_run_without_a_token_says_which_ones_there_are(remem: CommandLine) -> None:
    refusal = remem("run").refusal
    for setting in ("DISCORD_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", ".env", "`remem chat` needs none"):
        assert setting in refusal
    assert not (remem.home / "remem").exists()


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-canary"}, "SLACK_APP_TOKEN (xapp-…"),
        ({"SLACK_APP_TOKEN": "xapp-canary"}, "needs SLACK_BOT_TOKEN (xoxb-…"),
        ({"SLACK_SIGNING_SECRET": "canary", "DISCORD_TOKEN": "canary"}, "needs SLACK_BOT_TOKEN (xoxb-…"),
        ({"SLACK_BOT_TOKEN": "xoxb-canary", "REMEM_SLACK_MODE": "http"}, "SLACK_SIGNING_SECRET (Basic"),
    ],
)
def test_half_of_slacks_tokens_is_told_before_anything_starts(
    remem: CommandLine, given: dict[str, str], missing: str
) -> None:
    refusal = remem("run", **given).refusal
    assert missing in refusal
    assert "canary" not in refusal
    ran = remem("doctor")
    assert ran.code == 1
    assert missing in ran.out
    assert "canary" not in ran.out + ran.err
    assert not (remem.home / "remem").exists()


# -- replay ----------------------------------------------------------------------------------------------------------


def _zip(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return path


def _cut(path: Path, size_bytes: int) -> Path:
    path.write_bytes(path.read_bytes()[:size_bytes])
    return path


def _flipped(path: Path) -> Path:
    """The export with some bytes inside of its first day changed; its directory is sound."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        day = next(info for info in archive.infolist() if "/" in info.filename)
    at = day.header_offset + 30 + len(day.filename) + 20
    content[at : at + 40] = bytes(40)
    path.write_bytes(content)
    return path


def _with_day(path: Path, text: str) -> Path:
    with zipfile.ZipFile(path, "a") as archive:
        channel = next(name.split("/")[0] for name in archive.namelist() if "/" in name)
        archive.writestr(f"{channel}/2030-01-01.json", text)
    return path


def test_a_wrong_export_is_refused_with_the_reason_and_claims_no_folder(remem: CommandLine) -> None:
    home = remem.home
    (home / "notes.txt").write_text("no archive", "utf-8")
    wrong = {
        home / "missing.zip": "No such file or directory",
        home: "Is a directory",
        home / "notes.txt": "not a zip file",
        _zip(home / "other.zip", photo_json="[]"): "channels.json",
        _zip(home / "half.zip", channels_json="[]"): "users.json",
        _zip(home / "list.zip", channels_json="{}", users_json="[]"): "channels.json is no list",
        _zip(home / "torn.zip", channels_json='[{"id', users_json="[]"): "Unterminated string",
        _cut(make_export(home / "cut.zip"), 3000): "not a zip file",
    }
    for export, reason in wrong.items():
        refusal = remem("replay", export, "-w", home / "w", "-q").refusal
        assert f"{export} is no Slack export" in refusal
        assert reason in refusal
        assert "give the ZIP that Slack's export page gives" in refusal
    broken = {
        _flipped(make_export(home / "flipped.zip")): "",
        _with_day(make_export(home / "day.zip"), "[{"): "Expecting property name",
        _with_day(make_export(home / "deep.zip"), "[" * 100_000): "",
    }
    for export, reason in broken.items():
        refusal = remem("replay", export, "-w", home / "w", "-q").refusal
        assert f".json in {export} cannot be read ({reason}" in refusal
        assert "export again" in refusal
    assert not (home / "w").exists()


def test_a_bar_is_drawn_when_the_work_begins_and_never_before_a_refusal(remem: CommandLine) -> None:
    home, export = remem.home, make_export(remem.home / "export.zip")
    (home / "README.md").write_text("# remem", "utf-8")
    (home / "used").mkdir()
    (home / "used/notes.txt").write_text("mine", "utf-8")
    for words in (
        ("replay", home / "README.md", "-w", home / "w"),
        ("replay", export, "-w", home / "used"),
        ("import", export, "-w", home / "w", "-r", "nosuch"),
        ("import", export, "-w", home / "w", "-r", "build", "--bot", "nobody"),
    ):
        ran = remem(*words)
        assert ran.refusal, "one sentence, and nothing else, on standard error"
        assert ran.out == ""
    for words in (("replay", export, "-w", home / "r"), ("import", export, "-w", home / "i", "-r", "general")):
        ran = remem(*words)
        assert ran.code == 0
        assert re.search(r"(\d+)/\1 ", ran.err), "all of it, on standard error"
        assert not re.search(r"\d/\d", ran.out)
        assert remem(*words, "-q").err == ""


def test_a_replay_needs_an_empty_workspace_or_its_own(remem: CommandLine) -> None:
    home = remem.home
    export = make_export(home / "export.zip")
    remem("init", "-w", home / "used")
    before = contents(home / "used", ("*",))
    refusal = remem("replay", export, "-w", home / "used", "-q").refusal
    assert f"{home / 'used'} is not empty and no replay; give an empty folder with --workspace" in refusal
    assert contents(home / "used", ("*",)) == before
    for mark in ('{"sha256": "another"}', "torn {", "[]"):
        (home / "other/.remem").mkdir(parents=True, exist_ok=True)
        (home / "other/.remem/replay.json").write_text(mark, "utf-8")
        assert "holds a replay of another export" in remem("replay", export, "-w", home / "other", "-q").refusal
        assert [path.name for path in (home / "other").rglob("*")] == [".remem", "replay.json"]


def test_messages_that_slack_never_wrote_stop_nothing(remem: CommandLine) -> None:
    strange = [
        '{"type": "message"}, {"ts": "soon", "user": "U1", "text": "x"}, 7, null, {"ts": 12, "text": ["x"]}',
        '{"ts": "1e400", "user": {}, "text": "x"}, {"ts": "nan", "user": "U1", "text": "x", "files": 3}',
        '{"ts": "1893456000.000100", "user": "U1", "text": "We decided to use Redis for sessions."}',
    ]
    export = remem.home / "strange.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("channels.json", '[{"id": "C1", "name": "build"}, 7]')
        archive.writestr("users.json", '[{"profile": 3}, {}]')
        archive.writestr("build/2030-01-01.json", f"[{', '.join(strange)}]")
    ran = remem("replay", export, "-w", remem.home / "w", "-q")
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    assert "Redis" in (remem.home / "w/memory/groups/build/experience.md").read_text("utf-8")


# -- what is printed to paste elsewhere ------------------------------------------------------------------------------


def test_the_invitation_holds_the_application_id_and_the_permissions(remem: CommandLine) -> None:
    ran = remem("discord-invite", "123456789012345678")
    assert ran.out.startswith("https://discord.com/oauth2/authorize?client_id=123456789012345678&scope=bot")
    assert "applications.commands" in ran.out
    for wrong in ("abc", "12 34", "https://discord.com", "１２３"):
        assert "is no application id; give the digits" in remem("discord-invite", wrong).refusal


def test_the_manifest_is_json_for_either_mode(remem: CommandLine) -> None:
    socket = json.loads(remem("slack-manifest").out)
    assert socket["settings"]["socket_mode_enabled"] is True
    http = json.loads(remem("slack-manifest", "--url", "https://bot.example/slack/events").out)
    assert http["settings"]["event_subscriptions"]["request_url"] == "https://bot.example/slack/events"
    for wrong in ("http://bot.example", "bot.example"):
        assert f"not {wrong!r}" in remem("slack-manifest", "--url", wrong).refusal


# -- a real terminal -------------------------------------------------------------------------------------------------


def test_a_chat_takes_any_bytes_and_ends_at_once_when_it_is_interrupted(tmp_path: Path) -> None:
    chat = subprocess.Popen(
        [*COMMAND, "chat", "-w", str(tmp_path / "w")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, PYTHONUTF8="1"),
    )
    assert chat.stdin is not None
    assert chat.stdout is not None
    try:
        chat.stdin.write(b"remember that the caf\xe9 closes at ten\n/remem show user\n/nowhere\n")
        chat.stdin.flush()
        shown = b""
        while b"/nowhere is no command" not in shown:
            line = chat.stdout.readline()
            assert line, chat.stderr and chat.stderr.read()
            shown += line
        assert "the caf\ufffd closes at ten".encode() in shown
        chat.send_signal(signal.SIGINT)
        _, err = chat.communicate(timeout=DEADLINE_S)
    finally:
        chat.kill()
    assert chat.returncode == 0, "to be told to stop is no failure"
    assert b"Traceback" not in err
    assert len(err.splitlines()) <= 1, err


def test_a_chat_whose_screen_nobody_reads_takes_in_what_is_typed(tmp_path: Path) -> None:
    chat = subprocess.Popen(
        [*COMMAND, "chat", "-w", str(tmp_path / "w")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    assert chat.stdout is not None
    chat.stdout.close()
    _, err = chat.communicate(b"remember that the cafe closes at ten\n/remem\n", timeout=DEADLINE_S)
    assert (chat.returncode, err) == (0, b"")
    assert any(b"closes at ten" in page.read_bytes() for page in (tmp_path / "w/memory/main").glob("*.md"))


def test_a_page_that_cannot_be_read_is_told_in_the_terminal_too(remem: CommandLine) -> None:
    remem("init")
    as_folder(remem.home / "remem/memory/main/index.md")
    as_bytes(lambda text: b"caf\xe9")(remem.home / "remem/MEMORY.md")
    ran = remem("chat", typed="what is new?\n/remem\n/quit\n")
    assert ran.code == 0
    assert ran.out.count("it is a folder where a file belongs; move it away.") == 2
    assert "Traceback" not in ran.out + ran.err


# -- status ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "shown"), [({}, "info"), ({"REMEM_LOG_LEVEL": "debug"}, "debug")])
def test_case_157_status_shows_the_log_level_that_the_bot_would_have(
    remem: CommandLine, given: dict[str, str], shown: str
) -> None:
    remem("init")
    ran = remem("status", "--json", **given)
    assert json.loads(ran.out)["settings"]["REMEM_LOG_LEVEL"] == shown
