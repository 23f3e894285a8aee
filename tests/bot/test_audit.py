"""`remem audit` as a person meets it: what it prints, exit codes, JSON, --fix with its copies; that it only reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memory_core.audit.findings import CODES
from memory_core.lock import hold
from memory_core.workspace import KEY
from tests.bot.command_line import CommandLine, remem
from tests.bot.test_show_context import _everything

__all__ = ["remem"]

ROOT = Path(__file__).parents[2]
LOG = "# Memory\n\n## Log\n- 2026-03-02: the mail server went down\n- Status: 60% complete\n"


@pytest.fixture
def workspace(remem: CommandLine) -> Path:
    """A new workspace where the command line looks by default."""
    assert remem("init").code == 0
    return remem.home / "remem"


def _json(text: str) -> dict[str, object]:
    read: dict[str, object] = json.loads(text)
    return read


def test_a_new_workspace_is_clean(remem: CommandLine, workspace: Path) -> None:
    ran = remem("audit")
    assert (ran.code, ran.err) == (0, "")
    assert "apm: 0 errors, 0 warnings, 0 to watch." in ran.out
    assert "memory-lean" in ran.out


def test_warnings_make_the_exit_code_one_and_name_line_and_place(remem: CommandLine, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text(LOG)
    ran = remem("audit", workspace)
    assert ran.code == 1
    (event,) = [line for line in ran.out.splitlines() if "memory-event" in line]
    assert "MEMORY.md:4 " in event
    assert "memory/YYYY-MM-DD.md" in event


def test_what_is_only_to_watch_leaves_the_exit_code_zero(remem: CommandLine, workspace: Path) -> None:
    (workspace / "memory" / "ideas.md").write_text("# Ideas\n")
    ran = remem("audit")
    assert ran.code == 0
    assert "page-unlisted" in ran.out


@pytest.mark.parametrize(
    "words",
    [("audit", "nowhere"), ("audit", "--layout", "apn"), ("audit", "--scope", "nobody"), ("audit", "--scope", "a:b")],
    ids=["no workspace", "no layout", "no scope", "no key"],
)
def test_what_cannot_run_is_one_sentence_and_exit_code_two(
    remem: CommandLine, workspace: Path, words: tuple[str, ...]
) -> None:
    ran = remem(*words)
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert line.startswith("remem: ")


def test_json_holds_every_finding_and_the_counts(remem: CommandLine, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text(LOG)
    ran = remem("audit", "--json")
    data = _json(ran.out)
    findings = data["findings"]
    assert isinstance(findings, list)
    assert data["counts"] == {"ok": 1, "watch": 0, "warning": 2, "error": 0}
    assert data["layout"] == "apm"
    event = next(one for one in findings if one["code"] == "memory-event")
    assert (event["scope"], event["file"], event["line"], event["severity"]) == ("dm", "MEMORY.md", 4, "warning")


def test_one_scope_alone(remem: CommandLine, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text(LOG)
    (workspace / "memory/groups/build.md").write_text("# build\n")
    (workspace / "memory/groups/build").mkdir()
    (workspace / "memory/groups/build/people.md").write_text("# People\n\n## [2026-04-01] Ana\n- Body: lead\n")
    ran = remem("audit", "--scope", "build")
    assert ran.code == 1
    assert "index-missing-row" in ran.out
    assert "MEMORY.md" not in ran.out
    assert "index-missing-row" not in remem("audit", "--scope", "dm").out


def test_it_reads_only_and_works_while_the_bot_runs(remem: CommandLine, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text(LOG)
    before = _everything(remem.home)
    with hold(workspace):
        held = _everything(remem.home)
        for layout in ("apm", "adaptive", "dreaming"):
            assert remem("audit", "--layout", layout).code in (0, 1)
        assert _everything(remem.home) == held
    assert held.keys() - before.keys() <= {str(workspace / ".remem" / "lock")}


def _needs_fixing(workspace: Path) -> dict[str, bytes]:
    """A group with a page that no row leads to, and a task that was done long ago; the bytes of all files."""
    group = workspace / "memory/groups/build"
    group.mkdir(parents=True)
    (workspace / "memory/groups/build.md").write_bytes(
        b"\xef\xbb\xbf---\r\nrooms: [console:build]\r\n---\r\n# build\r\n\r\n## Routing Index\r\n\r\n"
        b"| Trigger | File | Priority |\r\n|---|---|---|\r\n| tasks | attention.md | P0 |\r\n"
    )
    (group / "people.md").write_text("# People\n\n## [2026-04-01] Ana\n- Body: lead\n")
    tasks = [{"title": "Old", "status": "done", "completedAt": "2020-01-01T00:00:00Z", "mine": 1}, {"title": "New"}]
    (group / "pending_tasks.json").write_text(json.dumps({"tasks": tasks, "theirs": True}))
    return {str(path.relative_to(workspace)): path.read_bytes() for path in workspace.rglob("*") if path.is_file()}


def test_fix_does_what_is_safe_and_keeps_a_copy(remem: CommandLine, workspace: Path) -> None:
    before = _needs_fixing(workspace)
    ran = remem("audit", "--fix")
    assert ran.code == 0
    assert "added rows to people" in ran.out
    assert "took 1 off the list: Old" in ran.out
    index = (workspace / "memory/groups/build.md").read_bytes()
    assert index.startswith(before["memory/groups/build.md"][:-2]), "what stood there stands there"
    assert b"people.md | P3 |\r\n" in index
    left = _json((workspace / "memory/groups/build/pending_tasks.json").read_text())
    assert isinstance(left["tasks"], list)
    assert [task["title"] for task in left["tasks"]] == ["New"]
    assert left["theirs"] is True
    (folder,) = (workspace / ".remem/backups").iterdir()
    assert str(folder.relative_to(workspace)) in ran.out
    copies = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert copies == {name: before[name] for name in copies}
    assert set(copies) == {"memory/groups/build.md", "memory/groups/build/pending_tasks.json"}
    for name, content in before.items():
        if name not in copies and not name.startswith(".remem"):
            assert (workspace / name).read_bytes() == content, name


def test_fix_twice_is_fix_once(remem: CommandLine, workspace: Path) -> None:
    _needs_fixing(workspace)
    remem("audit", "--fix")
    once = _everything(workspace)
    ran = remem("audit", "--fix")
    assert "fixed in" not in ran.out
    assert _everything(workspace).keys() == once.keys()


def test_fix_refuses_while_the_bot_runs_and_names_the_holder(remem: CommandLine, workspace: Path) -> None:
    before = _needs_fixing(workspace)
    with hold(workspace) as lock:
        ran = remem("audit", "--fix")
        assert ran.code == 2
        assert str(lock.holder.pid) in ran.err
    assert all((workspace / name).read_bytes() == content for name, content in before.items() if "lock" not in name)


def test_fix_refuses_what_is_no_workspace_of_ours(remem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/MEMORY.md").write_text("# Memory\n")
    before = _everything(tmp_path / "other")
    ran = remem("audit", tmp_path / "other", "--fix")
    assert ran.code == 2
    assert "remem init" in ran.err
    assert _everything(tmp_path / "other") == before
    assert not (tmp_path / "other" / KEY).exists()


def test_a_damaged_mapping_is_told(remem: CommandLine, workspace: Path) -> None:
    (workspace / "memory/groups/group_names.json").write_text("{broken")
    (workspace / "memory/groups/build.md").write_text("# build\n")
    ran = remem("audit")
    assert ran.code == 1
    assert "names-damaged" in ran.out


@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
def test_what_was_written_at_once_leaves_nothing_to_say(remem: CommandLine, layout: str) -> None:
    remem(
        "chat",
        typed="decision: we use Redis for sessions\n/remem\ndecision: we use Postgres for orders\n/quit\n",
        REMEM_LAYOUT=layout,
    )
    pages = [path for path in (remem.home / "remem").rglob("*.md") if "Postgres" in path.read_text("utf-8")]
    assert pages, "it stands on a page"
    ran = remem("audit")
    assert (ran.code, "index-catalogue-stale" in ran.out) == (0, False), ran.out
    assert "wrote the catalogue anew" in remem("audit", "--fix").out


def test_no_name_is_cut_on_a_narrow_terminal(remem: CommandLine, workspace: Path) -> None:
    name = "build-and-release-engineering-of-the-northern-region"
    (workspace / f"memory/groups/{name}.md").write_text("# build\n")
    (workspace / f"memory/groups/{name}").mkdir()
    (workspace / f"memory/groups/{name}/people.md").write_text("# People\n\n## [2026-04-01] Ana\n- Body: lead\n")
    (workspace / "MEMORY.md").write_text(LOG)
    out = remem("audit", COLUMNS="80").out
    assert "…" not in out
    rows = [[cell.strip() for cell in line.split("│")] for line in out.splitlines() if line.startswith("│")]
    columns = ["".join(cells) for cells in zip(*rows, strict=True)]
    assert name in columns[2].replace("group ", "")
    assert f"memory/groups/{name}/people.md" in columns[3]
    assert "memory/main/projects/{name}.md" in columns[4]


def test_every_code_is_in_the_reference() -> None:
    reference = (ROOT / "docs/reference/audit.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|[^|]*\|[^|]*\| ([^|]+) \|$", reference, re.MULTILINE))
    assert rows.keys() == CODES.keys()
    assert all(rows.values())


def test_the_options_are_documented() -> None:
    how_to = (ROOT / "docs/how-to/audit-a-memory.md").read_text("utf-8")
    for option in ("--layout", "--scope", "--json", "--fix"):
        assert f"`{option}" in how_to or f" {option}" in how_to
