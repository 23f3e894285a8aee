"""Hand-made workspaces, such as other tools leave behind: read, searched, added to, audited; never rewritten.

Every page of a layout is written by hand here in a manner of its own: CRLF, a BOM, Chinese, tables, headings without
dates, prose, no line end at the end, no front matter. Then the whole program runs on it, in a DM and in a group. What
stood there must stand there afterwards, byte for byte and in order, whatever was added before, between or behind; the
program's own JSON files must keep every field and task.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest

from bot.audit import Audited, Wanted, audited
from memory_core.audit.findings import Severity
from memory_core.ids import DirectScope, GroupScope, PersonKey, Scope
from memory_core.layouts import LAYOUTS, Form, Layout
from tests.scenarios.terminal import settings, terminal

OWNER = DirectScope(PersonKey("console:me"), owner=True)
GROUP = GroupScope("build")
SAID = (
    "We decided to use Zanzibar for the session cache because sessions must survive a restart.",
    "TODO: @me renew the wildcard certificate",
    "The build failed because the disk was full; we fixed it by rotating the logs.",
    "decision: Quokka is the name of the release train",
)
NOT_OURS = {
    "AGENTS.md": "# AGENTS\r\n\r\nRead SOUL.md first.\r\n",
    "TOOLS.md": "# Tools\n\n- camera: front door\n",
    "HEARTBEAT.md": "# keep this empty\n",
    "memory/ideas.md": "# 点子\n\n- 做一个日历\n",
    "memory/archive-2025.txt": "old",
}


def _with_crlf(name: str, word: str) -> str:
    return f"# {name}\r\n\r\n## Things\r\n- the {word} lives in the cellar\r\n  - second level\r\n\r\n***\r\nend\r\n"


def _with_bom(name: str, word: str) -> str:
    return f"\ufeff# {name} 笔记\n\n| 名称 | 值 |\n|---|---|\n| {word} | 地下室 |\n\n部署在夜里。\n"


def _as_prose(name: str, word: str) -> str:
    fence = "```\n## [2026-01-01] not a record\n```"
    return f"{word} is kept in the cellar, said Bo.\n\n> quoted\n\n{fence}\nno end"


def _as_headings(name: str, word: str) -> str:
    old = f"## 2026-03-01 - Old {word}\nKept in the cellar."
    return f"# {name}\n\n\n\n{old}\n\n### Deeper\n* starred\n\n<!-- mine -->\n"


_MANNERS: tuple[Callable[[str, str], str], ...] = (_with_crlf, _with_bom, _as_prose, _as_headings)


def _hand_made(layout: Layout, scope: Scope) -> Iterator[tuple[str, bytes]]:
    """Every page of the scope that a person may have written, each in the next manner; with the word it speaks of."""
    manners = 0
    for rule in layout.table(scope).rules:
        if rule.form in (Form.STATE, Form.INDEX, Form.ARCHIVE) or rule.shared:
            continue
        for name in {Form.JOURNAL: ("2026-04-05", "2026-04-06")}.get(rule.form, ("harbour",)):
            file = layout.place(scope, rule, name)
            yield str(file), _MANNERS[manners % len(_MANNERS)](file.stem, _word(file)).encode()
            manners += 1


def _word(file: PurePosixPath) -> str:
    """A word that only this page holds."""
    return "quince" + "".join(letter for letter in file.stem if letter.isalpha())


def _index(layout: Layout, scope: Scope) -> tuple[str, bytes]:
    """An index as a person writes it: CRLF, no front matter, a table without outer pipes."""
    rules = [rule for rule in layout.table(scope).routed() if not rule.page.endswith("*")]
    rows = "".join(f"{', '.join(rule.triggers)} | {rule.page}.md | P{rule.priority or 0}\r\n" for rule in rules)
    head = "# Mine\r\n\r\n## Hard Rules\r\n\r\n1. Nothing leaves.\r\n\r\n## Routing Index\r\n\r\n"
    text = f"{head}Trigger | File | Priority\r\n--- | --- | ---\r\n{rows}\r\n## Own words\r\n\r\nKeep.\r\n"
    return _index_file(layout, scope), text.encode()


def _index_file(layout: Layout, scope: Scope) -> str:
    rule = next(rule for rule in layout.table(scope).rules if rule.form is Form.INDEX)
    return str(layout.place(scope, rule, ""))


def lay_down(workspace: Path, layout: Layout, *, indexed: bool) -> dict[str, bytes]:
    """The hand-made workspace; its files by path."""
    files: dict[str, bytes] = {name: text.encode() for name, text in NOT_OURS.items()}
    files["SOUL.md"] = b"# Soul\r\n\r\nI am Rook.\r\n"
    for scope in (OWNER, GROUP):
        files |= dict(_hand_made(layout, scope))
        files |= dict([_index(layout, scope)]) if indexed else {}
    tasks = {"note": "mine", "tasks": [{"id": 7, "title": "Feed the cat", "colour": "grey"}]}
    files["memory/pending_tasks.json"] = json.dumps(tasks).encode()
    files["memory/groups/group_names.json"] = b'{"console:build": {"name": "build", "mine": 1}}'
    for name, content in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return files


def missing(before: bytes, after: bytes) -> bytes:
    """The first line of `before` that does not stand in `after` in its order; empty if all do.

    A last line without an end may get one.
    """
    lines = before.splitlines(keepends=True)
    there = iter(after.splitlines(keepends=True))
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        if not any(other == line or (last and other.rstrip(b"\r\n") == line.rstrip(b"\r\n")) for other in there):
            return line
    return b""


async def _lived_in(workspace: Path, layout: Layout) -> list[str]:
    """A conversation in each scope, saved; what the bot said."""
    async with terminal(workspace, layout=layout.name) as screen:
        heard = await screen.type("/dm", *SAID, "what about the certificate?", "/remem")
        return heard + await screen.type("/join #build", *(f"@remem {said}" for said in SAID), "/remem")


@pytest.mark.asyncio
@pytest.mark.parametrize("indexed", [True, False], ids=["own index", "no index"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_nothing_that_stood_there_is_gone(layout: Layout, indexed: bool, tmp_path: Path) -> None:
    before = lay_down(tmp_path, layout, indexed=indexed)
    await _lived_in(tmp_path, layout)
    added = 0
    for name, content in before.items():
        after = (tmp_path / name).read_bytes()
        if name.endswith(".json"):
            continue
        assert missing(content, after) == b"", name
        assert after.startswith(b"\xef\xbb\xbf") is content.startswith(b"\xef\xbb\xbf"), name
        if b"\r\n" in content and after != content:
            assert after.count(b"\r\n") == after.count(b"\n"), f"{name}: line ends are mixed"
        added += after != content
    assert added >= 3, "the conversation was saved into hand-made pages"
    for name in (*NOT_OURS, "SOUL.md"):
        assert (tmp_path / name).read_bytes() == before[name]
    tasks = json.loads((tmp_path / "memory/pending_tasks.json").read_text())
    assert tasks["note"] == "mine"
    assert any(task["title"] == "Feed the cat" and task["colour"] == "grey" for task in tasks["tasks"])
    names = json.loads((tmp_path / "memory/groups/group_names.json").read_text())
    assert names["console:build"]["mine"] == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_lean_memory_is_never_written(layout: Layout, tmp_path: Path) -> None:
    before = lay_down(tmp_path, layout, indexed=True)
    await _lived_in(tmp_path, layout)
    assert (tmp_path / "MEMORY.md").read_bytes() == before["MEMORY.md"]


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_what_stands_there_is_found(layout: Layout, tmp_path: Path) -> None:
    """Each page holds a word of its own: search finds it, in the DM and in the group."""
    lay_down(tmp_path, layout, indexed=True)
    for scope, way in ((OWNER, "/dm"), (GROUP, "/join #build")):
        table = layout.table(scope)
        pages = {str(layout.place(scope, rule, "harbour")): rule for rule in table.routed()}
        async with terminal(tmp_path, layout=layout.name) as screen:
            for name in pages:
                word = _word(PurePosixPath(name))
                heard = await screen.type(way, f"/remem search {word}")
                assert any(word in answer.partition("\n")[2] for answer in heard), (name, heard)


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_a_question_loads_the_hand_made_page(layout: Layout, tmp_path: Path) -> None:
    lay_down(tmp_path, layout, indexed=True)
    rule = layout.group.routed()[0]
    word = _word(layout.place(GROUP, rule, ""))
    async with terminal(tmp_path, layout=layout.name) as screen:
        heard = await screen.type("/join #build", f"@remem where is the {word}?")
    assert any("cellar" in line or "地下室" in line for line in heard), heard


def _files(folder: Path) -> dict[str, bytes]:
    """Every file below the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _codes(done: Audited) -> Mapping[str, int]:
    codes: dict[str, int] = {}
    for _, one in done.findings:
        codes[one.code] = codes.get(one.code, 0) + 1
    return codes


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_it_is_audited_sensibly_and_not_touched(layout: Layout, tmp_path: Path) -> None:
    before = lay_down(tmp_path, layout, indexed=False)
    done = await audited(settings(tmp_path), Wanted(layout.name))
    assert _files(tmp_path) == before
    codes = _codes(done)
    assert codes["index-missing"] == 2
    assert codes["page-unlisted"] == 1
    noisy = {"record-unread", "page-damaged", "page-unreadable", "secret", "side-file-broken", "page-over-budget"}
    assert not noisy & codes.keys(), done.findings
    worst = [one for _, one in done.findings if one.severity is Severity.ERROR]
    assert worst == []
