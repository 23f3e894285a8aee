"""`remem import` as a person meets it: lists, counts, refusals with the next step, lines that nobody wrote."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from memory_core.lock import hold
from tests.bot.command_line import CommandLine
from tests.data import discord_export
from tests.data.make_export import make_export


@pytest.fixture
def remem(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line, in an empty folder and home."""
    return CommandLine(tmp_path, capfd, monkeypatch)


def test_a_file_is_listed_counted_and_imported(remem: CommandLine) -> None:
    folder, workspace = discord_export.server(remem.home / "files"), remem.home / "w"
    listed = remem("import", folder, "-w", workspace)
    assert (listed.code, listed.err) == (0, "")
    assert f"#ops ({discord_export.OPS}): 1 message of 2024-02-05 to 2024-02-05, 1 person, 0 threads" in listed.out
    assert "Nothing was imported." in listed.out
    dry = remem("import", folder, "-w", workspace, "--room", "#build", "--dry-run")
    assert "A dry run: nothing was written." in dry.out
    assert not workspace.exists()
    done = remem("import", folder, "-w", workspace, "--room", "#build", "-q")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == dry.out.splitlines()[0]
    assert "group build (new): 13 messages of 2024-02-05 to 2024-02-06, 4 people, 1 thread, 3 attachments" in done.out
    assert f"deleted users: Deleted User {discord_export.GONE}" in done.out
    assert "kept in memory: " in done.out
    assert "left out: Acme - Private - Ana" in done.out
    again = remem("import", folder, "-w", workspace, "--room", discord_export.BUILD, "-q")
    assert "group build: 13 messages" in again.out
    assert "; 13 known before" in again.out
    assert ", 0 messages/s" in again.out
    assert "hunter2" not in "".join(file.read_text("utf-8") for file in workspace.rglob("*.md"))
    assert b"hunter2" not in (workspace / ".remem/ledger.db").read_bytes()


def test_what_cannot_be_imported_is_refused_with_the_next_step(remem: CommandLine) -> None:
    home, workspace = remem.home, remem.home / "w"
    export = make_export(home / "export.zip")
    (home / "notes.txt").write_text("no export", "utf-8")
    (home / "README.md").write_text("# remem\n\nis a chat bot", "utf-8")
    (home / "day.json").write_text("[{}]", "utf-8")
    (home / "odd.json").write_text("{odd", "utf-8")
    (home / "nothing.json").write_bytes(b"")
    (home / "photo.png").write_bytes(b"\x89PNG\r\n")
    (home / "cut.json").write_text('{"guild": {"id": "1"}, "messages": [{"id"', "utf-8")
    (home / "empty").mkdir()
    with zipfile.ZipFile(home / "other.zip", "w") as archive:
        archive.writestr("photo.txt", "x")
    for path, why in {
        home / "missing.zip": "There is no ",
        home
        / "notes.txt": "notes.txt is no JSON object (it begins with 'n'); give a Slack export (ZIP), or what Disc",
        home / "README.md": "README.md is no JSON object (it begins with '#'); give ",
        home / "day.json": "is no JSON object (it begins with '['); give ",
        home / "odd.json": "is no JSON object (Expecting ",
        home / "nothing.json": "is no JSON object (it is empty); give ",
        home / "photo.png": "is no JSON object (it is no UTF-8 text); give ",
        home / "cut.json": "is broken at byte 36 (",
        home / "empty": "holds no .json file",
        home / "other.zip": "is no Slack export",
    }.items():
        assert why in remem("import", path, "-w", workspace, "--room", "build", "-q").refusal
    assert "it has: #build, #general" in remem("import", export, "-w", workspace, "-r", "nosuch", "-q").refusal
    twice = remem("import", export, "-w", workspace, "-r", "build=one", "-r", "#build=two", "-q")
    assert "#build was asked for twice, under two names" in twice.refusal
    assert not workspace.exists()
    assert remem("init", "-w", workspace).code == 0
    with hold(workspace):
        assert "stop that one first" in remem("import", export, "-w", workspace, "-r", "build", "-q").refusal


def test_a_room_in_which_a_member_stopped_recording_is_refused(remem: CommandLine) -> None:
    export, workspace = make_export(remem.home / "export.zip"), remem.home / "w"
    assert remem("import", export, "-w", workspace, "-r", "general", "-q").code == 0
    import sqlite3  # the ledger as the command left it

    with sqlite3.connect(workspace / ".remem/ledger.db") as ledger:
        ledger.execute("INSERT INTO rooms (room, recorded, stopped) VALUES ('slack:T0REMEM01:C0REMEM02', 1, 1)")
    assert (
        "A member stopped recording in #build"
        in remem("import", export, "-w", workspace, "-r", "build", "-q").refusal
    )


def test_lines_that_slack_never_wrote_are_counted_and_named(remem: CommandLine) -> None:
    strange = [
        {"type": "message"},
        {"ts": "soon", "user": "U1", "text": "x"},
        7,
        None,
        {"ts": 12, "text": ["x"]},
        {"ts": "1e400", "user": {}, "text": "x"},
        {"ts": "99999999999.000100", "user": "U1", "text": "in the year 5138"},
        {"ts": "1893456000.000050", "user": "U1:x/../../y", "text": "nobody"},
        {"ts": "1893456000.000100", "user": "U1", "text": "We decided to use Redis for sessions."},
        {"ts": "1893456000.000200", "user": "U9", "text": "fine", "files": 3},
        {"ts": "1893456000.000300", "user": "U2", "text": "<@U2> has joined", "subtype": "channel_join"},
    ]
    export = remem.home / "strange.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("channels.json", '[{"id": "C1", "name": "build"}, {"id": "C:/../x", "name": "odd"}, 7]')
        archive.writestr("users.json", '[{"id": "U1", "name": "ana", "team_id": "T1"}, {"profile": 3}, {}]')
        archive.writestr("odd/2030-01-01.json", "[]")
        archive.writestr("dms.json", '[{"id": "D1", "members": ["U1", "U9"]}]')
        archive.writestr("build/2030-01-01.json", json.dumps(strange))
        archive.writestr("D1/2030-01-01.json", json.dumps([{"ts": "1893456000.1", "user": "U1", "text": "secret"}]))
    ran = remem("import", export, "-w", remem.home / "w", "-r", "build", "-q")
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    assert "2 messages of 2030-01-01 to 2030-01-01, 2 people" in ran.out
    assert "1 notice skipped" in ran.out
    assert "malformed and left out: 8 (build/2030-01-01.json, message 1: no time; " in ran.out
    assert "message 3: no object" in ran.out
    assert "deleted users: Deleted User U9" in ran.out
    assert "left out: a DM of ana, U9" in ran.out
    assert "left out: #odd (an id that Slack does not give)" in ran.out
    assert "Redis" in (remem.home / "w/memory/groups/build/experience.md").read_text("utf-8")


def test_a_fresh_import_is_no_neglect(remem: CommandLine) -> None:
    export, workspace = make_export(remem.home / "export.zip"), remem.home / "w"
    assert remem("import", export, "-w", workspace, "-r", "build", "-r", "general", "-q").code == 0
    audited = remem("audit", workspace, "--json")
    assert audited.code == 0, audited.out
    assert "journal-archive-due" in audited.out, "what the next sleep does is told, and is no fault"
    for file in (workspace / "memory/groups/build/journal").iterdir():
        stood = file.stat().st_mtime - 24 * 3600
        os.utime(file, (stood, stood))
    later = remem("audit", workspace, "--json")
    assert later.code == 1
    assert "distillation-overdue" in later.out
