"""Wrong words, broken files, a full disk: a clear sentence each, nothing lost, and all is well once it is mended."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.base import Taken
from adapters.console.adapter import ConsoleAdapter
from adapters.messages import Incoming
from bot.app import begin_ledger_anew
from memory_core.clock import ManualClock
from memory_core.errors import LedgerDamaged, LedgerFailed
from memory_core.forms.records import parse
from tests.memory_core.disks import temporary_files
from tests.scenarios.damage import (
    ASK,
    INDEX,
    PAGES,
    Damage,
    FullDisk,
    as_bytes,
    as_folder,
    as_link,
    contents,
    grown,
    lay_down,
    mend,
    on_disk,
    sentence,
    unlike,
)
from tests.scenarios.terminal import START, settings, terminal

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def _sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("sound") / "w"
    asyncio.run(lay_down(workspace))
    return workspace


@pytest.fixture
def workspace(_sound: Path, tmp_path: Path) -> Path:
    """A workspace of this test's own, with a decision of the group `build` in it."""
    return Path(shutil.copytree(_sound, tmp_path / "w"))


# -- words -----------------------------------------------------------------------------------------------------------


async def test_an_unknown_word_gets_the_nearest_form_and_the_table(workspace: Path) -> None:
    async with terminal(workspace) as screen:
        (near,) = await screen.type("/join #build", "/remem stauts")
        (far,) = await screen.type("/join #build", "!remem xyzzy " + "x" * 3000)
    assert "I don't know `stauts`. Did you mean `status`?" in near
    assert "`/remem search <words>`" in near
    assert "I don't know `xyzzy`.\n" in far
    assert len(far) < 1500


async def test_a_form_without_its_argument_gets_an_example(workspace: Path) -> None:
    async with terminal(workspace) as screen:
        for word in ("search", "note", "purpose", "zone", "rule"):
            (said,) = await screen.type("/join #build", f"/remem {word}  ")
            assert f"`/remem {word}` needs" in said
            assert "For example" in said


# -- the index -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (as_bytes(lambda text: text.replace("We run", '"We: run *\n\t- : [').encode()), "Front matter, line"),
        (as_bytes(lambda text: text.partition("## Routing Index")[0].encode()), ""),
        (as_bytes(lambda text: b""), ""),
        (as_bytes(lambda text: ("---\n" + text.replace("memory_budget: 6000", "memory_budget: lots")).encode()), ""),
    ],
    ids=["no YAML", "no table", "empty", "a rule line on top and no number"],
)
async def test_a_broken_index_blocks_nothing(workspace: Path, damage: Damage, told: str) -> None:
    damage(workspace / INDEX)
    async with terminal(workspace) as screen:
        (answer,) = await screen.type("/join #build", ASK)
        assert "Redis" in answer
        (status,) = await screen.type("/join #build", "/remem status")
        assert told in status
        receipt = (await screen.type("/join #build", "@remem decision: backups run at noon", "/remem"))[-1]
        assert "Saved" in receipt
    assert "backups run at noon" in (workspace / PAGES / "experience.md").read_text("utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        as_bytes(lambda text: text.encode("utf-16")),
        as_bytes(lambda text: text.replace("We run", "我们构建").encode("gbk", "replace")),
        as_bytes(lambda text: text.encode().replace(b"servers", b"serv\xe9rs")),
    ],
    ids=["UTF-16", "GBK", "one byte"],
)
async def test_case_68_an_index_in_another_encoding_is_read_told_and_never_written(
    workspace: Path, damage: Damage
) -> None:
    damage(workspace / INDEX)
    before = (workspace / INDEX).read_bytes()
    async with terminal(workspace) as screen:
        (answer,) = await screen.type("/join #build", ASK)
        assert "Redis" in answer
        (status,) = await screen.type("/join #build", "/remem status")
        assert f"{INDEX}: the byte at offset" in status
        await screen.type("/join #build", "decision: backups run at noon")
        for words in ("purpose something else", "zone Europe/Berlin", "rule be kind"):
            (said,) = await screen.type("/join #build", f"/remem {words}")
            assert "not UTF-8" in sentence(said)
            assert "the first at offset" in said
            assert "save it as UTF-8" in said
        (receipt,) = await screen.type("/join #build", "/remem")  # the pages are sound: only the index waits
        assert "Saved" in receipt
        assert "index holds bytes that are not UTF-8" in receipt
        assert "save it as UTF-8" in receipt
        assert (workspace / INDEX).read_bytes() == before
        mend(workspace / INDEX)
        (receipt,) = await screen.type("/join #build", "decision: restores are tried on Monday", "/remem")
        assert "not UTF-8" not in receipt
        assert "restores are tried on Monday" in (workspace / INDEX).read_text("utf-8")
    assert (workspace / PAGES / "experience.md").read_text("utf-8").count("backups run at noon") == 2  # title, body


@pytest.mark.parametrize(
    ("place", "damage", "step"),
    [
        (INDEX, as_folder, "it is a folder where a file belongs; move it away"),
        (INDEX, as_link, "it is a symbolic link, which is never followed; put the real file there"),
        (PAGES, as_link, "put a real folder there"),
    ],
    ids=["index: a folder", "index: a link", "pages: a link"],
)
async def test_memory_that_cannot_be_read_is_said_in_the_answers_place(
    workspace: Path, place: str, damage: Damage, step: str
) -> None:
    damage(workspace / place)
    async with terminal(workspace) as screen:
        (said,) = await screen.type("/join #build", ASK)
        assert "I cannot look into my memory now" in sentence(said)
        assert place in said
        assert step in said
        assert "What you said is kept" in said
        for words in ("status", "show", "note decision: x", "purpose something", ""):
            for said in await screen.type("/join #build", f"/remem {words}"):
                assert place not in said or step in said
        await screen.type("/join #build", "decision: backups run at noon")
        mend(workspace / place)
        (receipt,) = await screen.type("/join #build", "/remem")
        assert "Saved" in receipt
        (answer,) = await screen.type("/join #build", ASK)
        assert "Redis" in answer
    assert "backups run at noon" in (workspace / PAGES / "experience.md").read_text("utf-8")


async def test_a_persona_that_cannot_be_read_stops_no_answer(workspace: Path) -> None:
    as_folder(workspace / "SOUL.md")
    async with terminal(workspace) as screen:
        (answer,) = await screen.type("/join #build", ASK)
        assert "Redis" in answer
        assert "SOUL.md could not be read" in (await screen.type("/join #build", "/remem status"))[0]


# -- pages and state files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "step"),
    [
        (as_folder, "move it away"),
        (as_link, "put the real file there"),
    ],
    ids=["a folder", "a link"],
)
async def test_a_page_that_cannot_be_used_is_told_and_only_its_own_part_waits(
    workspace: Path, damage: Damage, step: str
) -> None:
    page = workspace / PAGES / "experience.md"
    damage(page)
    before = contents(workspace / PAGES)
    async with terminal(workspace) as screen:
        (answer,) = await screen.type("/join #build", ASK)
        assert ("I could not look into experience" in answer and step in answer) or "Redis" in answer
        assert step in (await screen.type("/join #build", "/remem status"))[0]
        said = (await screen.type("/join #build", "@remem decision: backups run at noon"))[0]
        assert "I could not write that down yet" in said
        assert step in said
        (receipt,) = await screen.type("/join #build", "/remem")
        assert step in sentence(receipt)
        assert "What belongs there waits" in receipt
        assert "decision" not in receipt  # only what was read back is counted
        grown(before, contents(workspace / PAGES))
        assert "backups run at noon" in (workspace / PAGES / "journal/2026-04-06.md").read_text("utf-8")
        mend(page)
        (receipt,) = await screen.type("/join #build", "/remem")
        assert "What waited for experience is written now." in receipt
    records = parse(page.read_text("utf-8")).records
    assert [placed.record.title[:7] for placed in records] == ["backups", "We deci"]


async def test_a_page_with_bytes_of_another_encoding_is_told_and_only_its_own_part_waits(workspace: Path) -> None:
    page = workspace / PAGES / "experience.md"
    as_bytes(lambda text: text.encode() + b"caf\xe9\n")(page)
    before = page.read_bytes()
    async with terminal(workspace) as screen:
        (answer,) = await screen.type("/join #build", ASK)
        assert "Redis" in answer
        assert "is not UTF-8" in (await screen.type("/join #build", "/remem status"))[0]
        said = (await screen.type("/join #build", "@remem decision: backups run at noon"))[0]
        assert "I could not write that down yet" in said
        assert "save it as UTF-8" in said
        (receipt,) = await screen.type("/join #build", "/remem")
        assert "experience holds bytes that are not UTF-8" in receipt
        assert "decision" not in receipt  # only what was read back is counted
        assert page.read_bytes() == before
        mend(page)
        (receipt,) = await screen.type("/join #build", "/remem")
        assert "What waited for experience is written now." in receipt
    records = parse(page.read_text("utf-8")).records
    assert [placed.record.title[:7] for placed in records] == ["backups", "We deci"]


@pytest.mark.parametrize("name", ["pending_tasks.json", "flush-state.json"])
@pytest.mark.parametrize("content", ["{ torn", "[1, 2", '"text"', "\x00" * 40])
async def test_a_broken_state_file_is_told_kept_and_written_anew(workspace: Path, name: str, content: str) -> None:
    page = workspace / PAGES / name
    page.write_text(content, "utf-8")
    async with terminal(workspace) as screen:
        (status,) = await screen.type("/join #build", "/remem status")
        assert f"state/{'tasks' if 'tasks' in name else 'flush'}" in status or name in status
        (receipt,) = await screen.type("/join #build", "TODO: me renews the certificate by Friday", "/remem")
        assert "1 task" in receipt
    assert json.loads(page.read_text("utf-8"))
    assert content in [other.read_text("utf-8") for other in (workspace / PAGES).glob("*.broken")]


# -- the mapping of rooms --------------------------------------------------------------------------------------------


async def test_a_mapping_that_cannot_be_read_keeps_every_room_shut(workspace: Path) -> None:
    names = workspace / "memory/groups/group_names.json"
    as_folder(names)
    before = contents(workspace / "memory")
    async with terminal(workspace) as screen:
        (said,) = await screen.type("/join #build", ASK)
        assert "group_names.json" in sentence(said)
        assert "move it away" in said
        assert "Redis" not in said
        assert contents(workspace / "memory") == before
        mend(names)
        (answer,) = await screen.type("/join #build", ASK)
        assert "Redis" in answer


async def test_a_title_that_cannot_be_noted_takes_no_memory_away(workspace: Path) -> None:
    disk = FullDisk()
    async with on_disk(workspace, disk) as screen:
        await screen.type("/join #build", "hello")
        names = workspace / "memory/groups/group_names.json"
        names.write_text(names.read_text("utf-8").replace('"#build"', '"#build-2025"'), "utf-8")
        disk.fill(0)
        await screen.type("/join #build", "decision: backups run at noon")
        disk.free()
        (receipt,) = await screen.type("/join #build", "/remem")
        assert "1 decision" in receipt


# -- a full disk -----------------------------------------------------------------------------------------------------


def _titles(workspace: Path) -> list[str]:
    page = (workspace / PAGES / "experience.md").read_text("utf-8")
    return [placed.record.title for placed in parse(page).records]


async def test_a_disk_that_is_full_at_any_call_of_a_save_loses_nothing(workspace: Path) -> None:
    disk = FullDisk()
    async with on_disk(workspace, disk) as screen:
        disk.fill(1_000_000)
        await screen.type("/join #build", "We decided: number 999 is the first", "/remem")
        calls = disk.free()
        assert calls > 10
        for call in range(calls):
            before, said = _titles(workspace), unlike(call)
            disk.fill(call)
            refused = (await screen.type("/join #build", f"We decided: {said}", "/remem"))[-1]
            if "Saved" not in refused:
                assert "the disk is full; free some space" in sentence(refused)
                assert "kept" in refused
                assert set(before) <= set(_titles(workspace))
                disk.free()
                (receipt,) = await screen.type("/join #build", "/remem")
                assert "Nothing was saved" not in receipt, call
            disk.free()
            found = _titles(workspace)
            assert sum(said[:30] in title for title in found) == 1, call
            assert set(before) <= set(found)
    assert not temporary_files(workspace)


async def test_a_disk_that_is_full_when_something_is_written_at_once_loses_nothing(workspace: Path) -> None:
    disk = FullDisk()
    async with on_disk(workspace, disk) as screen:
        disk.fill(1_000_000)
        await screen.type("/join #build", "@remem decision: number 999 is the first")
        calls = disk.free()
        assert calls > 3
        for call in range(calls):
            before, said = _titles(workspace), unlike(call)
            disk.fill(call)
            answer = (await screen.type("/join #build", f"@remem decision: {said}"))[0]
            disk.free()
            if "Noted" not in answer:
                assert "I could not write that down yet" in answer
                assert "the disk is full; free some space" in answer
                assert "written by the next flush" in answer
            assert set(before) <= set(_titles(workspace))
            (receipt,) = await screen.type("/join #build", "/remem")
            assert "Nothing was saved" not in receipt, call
            assert sum(said[:30] in title for title in _titles(workspace)) == 1, call


async def test_a_command_on_a_full_disk_is_refused_in_words_and_works_afterwards(workspace: Path) -> None:
    disk = FullDisk()
    async with on_disk(workspace, disk) as screen:
        for words in ("note decision: backups run at noon", "purpose Builds", "zone Europe/Berlin", "rule be kind"):
            before = contents(workspace / "memory")
            disk.fill(0)
            (said,) = await screen.type("/join #build", f"/remem {words}")
            assert "the disk is full; free some space" in sentence(said)
            assert "say it again" in said
            assert contents(workspace / "memory") == before
            disk.free()
            (said,) = await screen.type("/join #build", f"/remem {words}")
            assert "full" not in said
            assert contents(workspace / "memory") != before


async def test_a_new_room_on_a_full_disk_is_told_and_begins_when_there_is_room(tmp_path: Path) -> None:
    disk = FullDisk()
    async with on_disk(tmp_path / "w", disk) as screen:
        disk.fill(0)
        assert await screen.type("/join #build") == []
        (said,) = await screen.type("/join #build", "@remem hello")
        assert "the disk is full" in sentence(said)
        disk.free()
        (greeting, *_) = await screen.type("/join #build", "@remem hello")
        assert "What is this group for?" in greeting


async def test_a_line_that_the_ledger_cannot_keep_is_asked_for_again() -> None:
    async def lines() -> AsyncIterator[str]:
        yield "hello"
        yield "/join #build"
        yield "/quit"

    async def refuse(_: Incoming) -> Taken:
        raise LedgerFailed("The ledger could not work: the disk is full; free some space, nothing was kept.")

    async def settled() -> None:
        return None

    shown: list[str] = []
    console = ConsoleAdapter(lines(), shown.append, ManualClock(START), lambda: "m1", settled)
    await console.run(refuse)
    assert len(shown) == 3  # the line, leaving the DM, coming into the room
    assert "was not kept" in sentence(shown[0])


# -- the ledger ------------------------------------------------------------------------------------------------------


async def test_a_damaged_ledger_is_set_aside_until_a_person_begins_anew(workspace: Path) -> None:
    ledger = workspace / ".remem/ledger.db"
    ledger.write_bytes(b"no database" * 1000)
    pages = contents(workspace / "memory")
    for said in ("damaged", "set aside"):
        with pytest.raises(LedgerDamaged) as refused:
            async with terminal(workspace):
                pass
        assert said in sentence(str(refused.value))
        assert "backup" in str(refused.value)
        assert not ledger.exists()
    await begin_ledger_anew(settings(workspace))
    async with terminal(workspace) as screen:
        answers = await screen.type("/join #build", ASK)
        assert "Redis" in answers[-1]
    assert contents(workspace / "memory") == pages
    assert [kept.read_bytes() for kept in ledger.parent.glob("ledger.db.damaged-*")] == [b"no database" * 1000]
