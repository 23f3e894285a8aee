"""`remem migrate` as an operator meets it: dry run, backup, the lock, kills, and the bot that goes on afterwards."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date
from pathlib import Path

import pytest

from bot.migrate import Moved, Wanted, migrated, told
from memory_core.clock import ManualClock
from memory_core.errors import BadInput, PageChanged, PageDamaged
from memory_core.first_join import ensure_index
from memory_core.flush.plans import Body, Receipt, Trigger, dump
from memory_core.forms.records import Record, render
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, message_key
from memory_core.layout_note import MIGRATING, NOTE
from memory_core.layouts import LAYOUTS, Kind
from memory_core.ledger.base import Hit, Plan
from memory_core.ledger.timers import Timer
from memory_core.lock import hold
from memory_core.migration.homes import home_of
from memory_core.migration.work import STAGING
from memory_core.store.disk import Disk
from memory_core.store.pages import ScopePages
from memory_core.store.tree import Tree
from memory_core.workspace import initialise
from tests.bot.command_line import CommandLine, remem
from tests.memory_core.migration_kit import BUILD, DIRECTIONS, OWNER, bare, pages, record, records_in
from tests.scale import scale
from tests.scenarios.stage import ANA, Stage, channel, direct, stage
from tests.scenarios.terminal import START, settings

__all__ = ["remem"]

ROOM = channel(100, "build")
DM = direct(500, ANA)
DECISION = "Decision: sessions live in Redis, because they must survive a restart"


def everything(folder: Path) -> dict[str, bytes]:
    """Every file of a workspace but what SQLite and the lock keep."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if not path.name.startswith("ledger.db") and path.name != "lock"
    }


def memory(folder: Path) -> dict[str, bytes]:
    """The files of a workspace that are memory."""
    return {file: raw for file, raw in everything(folder).items() if not file.startswith(".remem")}


async def move(
    workspace: Path, to: str, *, yes: bool = True, origin: str = "", layout: str = "apm", disk: Disk | None = None
) -> Moved:
    """The command on a workspace, on a clock that stands."""
    clock = ManualClock(START)
    wanted = Wanted(to, origin, yes)
    return await migrated(settings(workspace, layout=layout), wanted, zone=UTC, clock=clock, disk=disk)


def moved_to(workspace: Path, to: str, *, yes: bool = True, disk: Disk | None = None) -> Moved:
    """The command, to its end."""
    return asyncio.run(move(workspace, to, yes=yes, disk=disk))


async def started(workspace: Path) -> None:
    """A start of the bot that ends at once."""
    async with stage(workspace, layout="dreaming"):
        pass


def rich(workspace: Path, name: str) -> None:
    """A workspace of that layout: the kit's memory as the owner's and as a group's."""
    layout = LAYOUTS[name]
    initialise(workspace, layout, day=date(2026, 4, 6), zone="UTC")
    for scope in (OWNER, BUILD):
        for page, text in pages(layout, scope).items():
            file = workspace / layout.file(scope, page)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())


def texts_of(workspace: Path, name: str, scope: DirectScope | GroupScope) -> dict[PageId, str]:
    """The pages of a scope as they stand on disk."""
    own = ScopePages(LAYOUTS[name], scope)
    return {page: (workspace / own.file(page)).read_bytes().decode() for page in own.existing(Tree(workspace).names)}


@pytest.mark.parametrize(("old", "new"), [(one.name, other.name) for one, other in DIRECTIONS])
def test_every_direction_on_files(remem: CommandLine, tmp_path: Path, old: str, new: str) -> None:
    workspace = tmp_path / "w"
    rich(workspace, old)
    before = everything(workspace)
    kept = {scope: {one.identity: bare(one) for _, one in _all(workspace, old, scope)} for scope in (OWNER, BUILD)}
    dry = remem("migrate", workspace, "--to", new)
    assert (dry.code, dry.err) == (0, "")
    assert everything(workspace) == before
    assert "dry run and nothing was written" in dry.out
    done = remem("migrate", workspace, "--to", new, "--yes")
    assert done.code == 0, done
    assert dry.out.splitlines()[:-2] == done.out.splitlines()[: len(dry.out.splitlines()) - 2]
    assert f"Set REMEM_LAYOUT={new}" in done.out
    for scope, records in kept.items():
        found = [one for _, one in _all(workspace, new, scope) if one.identity in records]
        assert len(found) == len(records)
        assert {one.identity: bare(one) for one in found} == records
    gone = before.keys() - everything(workspace).keys()
    for file in gone:
        assert f"removed  {file}: " in done.out, "what becomes of it is said"
    (backup,) = (workspace / ".remem/backups").iterdir()
    assert backup.name.startswith("migrate-")
    assert {file: (backup / file).read_bytes() for file in gone} == {file: before[file] for file in gone}
    assert (workspace / NOTE).read_text() == f"{new}\n"
    assert not (workspace / MIGRATING).exists()
    assert not (workspace / STAGING).exists()


def test_a_page_that_goes_because_it_holds_nothing_is_called_empty(remem: CommandLine) -> None:
    remem("init")
    workspace = remem.home / "remem"
    (workspace / "memory/main/longterm.md").write_text("# Long-term\n")
    out = remem("migrate", "--to", "dreaming").out
    assert "removed  memory/main/longterm.md: (empty)" in out
    assert "removed  memory/main/attention.md: (empty)" in out
    assert "removed  memory/main/index.md: its rules and rows go on in memory/INDEX.md" in out


def _all(workspace: Path, name: str, scope: DirectScope | GroupScope) -> list[tuple[PageId, Record]]:
    return list(records_in(LAYOUTS[name], scope, texts_of(workspace, name, scope)))


def test_one_of_a_kind_is_told_in_the_singular(remem: CommandLine) -> None:
    counts = {"task": 1, "record": 1, "file new or changed": 2, "blocker among the tasks": 1}
    lines = told(Moved("apm", "adaptive", counts=counts, backup="b", copies=1, done=True))
    assert lines[0] == ("From apm to adaptive: 1 task, 1 record, 2 files new or changed, 1 blocker among the tasks.")
    assert lines[1] == "Backup: b (1 file, copied before anything was changed)."
    folder = remem.home / "w"
    assert remem("init", "-w", folder).code == 0
    (folder / "memory/main/attention.md").write_text(
        "# Attention\n\n## Active Tasks\n\n| Task | Status | Who | Notes |\n|---|---|---|---|\n"
        "| Move the runner | pending | ana | |\n\n## Blockers\n\n- the licence is missing\n",
        "utf-8",
    )
    dry = remem("migrate", folder, "--to", "dreaming").out
    assert "1 task, 1 blocker among the tasks, 3 files new or changed, 4 files removed." in dry


def test_copying_the_backup_back_restores_the_memory(remem: CommandLine, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    rich(workspace, "apm")
    before = memory(workspace)
    assert remem("migrate", workspace, "--to", "dreaming", "--yes").code == 0
    (backup,) = (workspace / ".remem/backups").iterdir()
    shutil.copytree(backup, workspace, dirs_exist_ok=True)
    assert before.items() <= memory(workspace).items()
    assert (workspace / NOTE).read_text() == "apm\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--to", "apn"), "must be one of"),
        (("--to", "apm"), "already"),
        ((), "--to"),
        (("--to", "dreaming", "--from", "adaptive"), "is in the layout apm"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(
    remem: CommandLine, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    workspace = tmp_path / "w"
    rich(workspace, "apm")
    before = everything(workspace)
    for yes in ((), ("--yes",)):
        ran = remem("migrate", workspace, *words, *yes)
        assert (ran.code, ran.out) == (2, "")
        assert why in ran.err
    assert everything(workspace) == before


def test_a_folder_that_is_no_workspace_is_refused(remem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    ran = remem("migrate", tmp_path / "w", "--to", "dreaming", "--yes")
    assert ran.code == 2
    assert "no workspace of remem yet" in ran.err
    assert list((tmp_path / "w").iterdir()) == []


def test_while_a_bot_runs_it_refuses_and_names_it(remem: CommandLine, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    rich(workspace, "apm")
    before = everything(workspace)
    with hold(workspace):
        ran = remem("migrate", workspace, "--to", "dreaming", "--yes")
        assert ran.code == 2
        assert f"process {os.getpid()}" in ran.err
        assert remem("migrate", workspace, "--to", "dreaming").code == 0
    assert everything(workspace) == before


def test_another_layout_than_the_workspaces_is_refused_at_start(remem: CommandLine, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    rich(workspace, "apm")
    assert remem("init", "-w", workspace).code == 0
    before = everything(workspace)
    for words in (("init",), ("chat",)):
        refusal = remem(*words, "-w", workspace, REMEM_LAYOUT="dreaming").refusal
        assert "is in the layout apm" in refusal
        assert "remem migrate --to dreaming" in refusal
    assert everything(workspace) == before


def test_a_workspace_of_before_the_note_is_known_by_its_index(remem: CommandLine, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    rich(workspace, "adaptive")
    (workspace / NOTE).unlink()
    assert "is in the layout adaptive" in remem("init", "-w", workspace).refusal
    assert remem("migrate", workspace, "--to", "apm", "--yes").code == 0
    assert remem("init", "-w", workspace).code == 0


def test_a_page_with_bytes_that_are_no_text_stops_it_before_anything_happens(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    rich(workspace, "apm")
    page = workspace / "memory/groups/build/experience.md"
    page.write_bytes(page.read_bytes() + b"caf\xe9\n")
    before = everything(workspace)
    for yes in (False, True):
        with pytest.raises(PageDamaged, match=r"experience\.md holds bytes that are not UTF-8"):
            moved_to(workspace, "dreaming", yes=yes)
    assert everything(workspace) == before
    page = workspace / "memory/groups/build/journal/2026-08-30.md"
    (workspace / "memory/groups/build/experience.md").write_bytes(b"# Experience\n")
    page.write_bytes(b"caf\xe9\n")
    assert (moved_to(workspace, "dreaming")).done
    assert page.read_bytes() == b"caf\xe9\n"


class Death:
    """Ends the process, with no cleaning up, at the `at`-th change of the disk or statement of the ledger."""

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.steps = 0

    def step(self, statement: str = "") -> None:
        """One moment more."""
        self.steps += 1
        if self.steps == self.at:
            os._exit(9)


class MortalDisk(Disk):
    """A disk on which every change of a name is a moment, before it and after it."""

    def __init__(self, death: Death) -> None:
        self.death = death

    def _around(self, call: Callable[[], None]) -> None:
        self.death.step()
        call()
        self.death.step()

    def rename(self, old: str, new: str, parent: int) -> None:
        self._around(lambda: super(MortalDisk, self).rename(old, new, parent))

    def link(self, old: str, new: str, parent: int) -> None:
        self._around(lambda: super(MortalDisk, self).link(old, new, parent))

    def unlink(self, name: str, parent: int) -> None:
        self._around(lambda: super(MortalDisk, self).unlink(name, parent))


def moved_and_killed(workspace: Path, at: int) -> None:
    """The command in a process of its own, which ends at that moment."""
    child = os.fork()
    if not child:
        death = Death(at)
        asyncio.run(
            migrated(
                settings(workspace),
                Wanted("dreaming", yes=True),
                zone=UTC,
                clock=ManualClock(START),
                disk=MortalDisk(death),
                ledger_faults=death.step,
            )
        )
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9


def moments(workspace: Path) -> int:
    """How many moments a whole run on that workspace has; it is done then."""
    death = Death()
    asyncio.run(
        migrated(
            settings(workspace),
            Wanted("dreaming", yes=True),
            zone=UTC,
            clock=ManualClock(START),
            disk=MortalDisk(death),
            ledger_faults=death.step,
        )
    )
    return death.steps


def _points(total: int) -> list[int]:
    """Some moments of a run: half of them spread over all of it, half over what comes after the plan."""
    half = max(2, min(total, scale(100)) // 2)
    spread = {1 + number * (total - 1) // half for number in range(half)}
    return sorted(spread | {total - number * (total * 2 // 5) // half for number in range(half)})


def test_killed_anywhere_it_is_finished_by_the_next_run(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    rich(whole, "apm")
    total = moments(whole)
    wanted, finished, untouched = memory(whole), 0, 0
    for at in _points(total):
        workspace = tmp_path / str(at)
        rich(workspace, "apm")
        before = memory(workspace)
        moved_and_killed(workspace, at)
        begun, noted = (workspace / MIGRATING).exists(), (workspace / NOTE).read_text()
        if begun:
            with pytest.raises(BadInput, match="interrupted"):
                asyncio.run(started(workspace))
        elif noted == "apm\n":
            assert memory(workspace) == before
            untouched += 1
        else:
            assert memory(workspace) == wanted
            continue
        assert moved_to(workspace, "dreaming").resumed is begun
        finished += begun
        assert memory(workspace) == wanted
        assert not (workspace / MIGRATING).exists()
        assert not (workspace / STAGING).exists()
    sys.stdout.write(f"\n{total} moments; killed before the plan {untouched}, after it {finished} times\n")
    assert finished
    assert untouched


def test_a_page_that_a_person_changed_in_between_is_not_lost(tmp_path: Path) -> None:
    rich(tmp_path / "whole", "apm")
    workspace, total = tmp_path / "w", moments(tmp_path / "whole")
    rich(workspace, "apm")
    moved_and_killed(workspace, total - 12)
    assert (workspace / MIGRATING).exists()
    olds = ("project.md", "longterm.md", "experience.md", "attention.md", "index.md")
    left = [path for path in sorted((workspace / "memory").rglob("*.md")) if path.name in olds]
    page = left[-1]
    page.write_bytes(page.read_bytes() + b"\nmine\n")
    with pytest.raises(PageChanged, match=page.name):
        moved_to(workspace, "dreaming")
    assert page.read_bytes().endswith(b"\nmine\n")
    page.rename(tmp_path / "mine.md")
    assert moved_to(workspace, "dreaming").resumed


# the bot goes on


@asynccontextmanager
async def bot(workspace: Path, layout: str, before: Stage | None = None) -> AsyncIterator[Stage]:
    """The bot, with Ana as the owner; `before` is the run before it, whose events it goes on from."""
    events = before.events if before else None
    async with stage(workspace, layout=layout, owner=(ANA.key,), events=events) as on:
        yield on


@pytest.mark.asyncio
@pytest.mark.parametrize(("old", "new"), [(one.name, other.name) for one, other in DIRECTIONS])
async def test_the_bot_answers_an_old_question_in_the_new_layout(tmp_path: Path, old: str, new: str) -> None:
    async with bot(tmp_path, old) as on:
        await on.enter(ROOM)
        await on.says(ROOM, ANA, DECISION)
        await on.command(ROOM, ANA)
        await on.says(DM, ANA, "Decision: the garden gets a pond")
        await on.command(DM, ANA)
    await migrated(
        settings(tmp_path, layout=old, owner=(ANA.key,)), Wanted(new, yes=True), zone=UTC, clock=ManualClock(START)
    )
    async with bot(tmp_path, new, on) as on:
        (said,) = await on.says(ROOM, ANA, "why did we decide that sessions live in Redis?")
        assert "survive a restart" in said
        (said,) = await on.says(DM, ANA, "what did I decide about the pond in the garden?")
        assert "pond" in said
        found = await on.command(ROOM, ANA, "search Redis sessions")
        assert "survive a restart" in found


@pytest.mark.asyncio
async def test_undo_ends_at_the_migration_and_what_was_not_saved_goes_to_the_new_pages(tmp_path: Path) -> None:
    async with bot(tmp_path, "apm") as on:
        await on.enter(ROOM)
        await on.says(ROOM, ANA, DECISION)
        await on.command(ROOM, ANA)
        await on.says(ROOM, ANA, "Decision: Postgres 17 for the reports", addressed=False)
        await on.says(ROOM, ANA, "we agreed that everything is reviewed by two people", addressed=False)
        await on.app.schedule.rest("a test")
    done = await migrated(
        settings(tmp_path, owner=(ANA.key,)), Wanted("dreaming", yes=True), zone=UTC, clock=ManualClock(START)
    )
    assert done.done
    async with bot(tmp_path, "dreaming", on) as on:
        assert "nothing" in (await on.command(ROOM, ANA, "undo")).lower()
        receipt = await on.command(ROOM, ANA)
        assert "decision" in receipt
        assert on.page("build/decisions.md").count("Postgres 17 for the reports\n") >= 1
        titles = [line for line in on.page("build/decisions.md").splitlines() if line.startswith("## ")]
        assert len(titles) == len(set(titles)) == 2
        assert "Postgres 17" in on.page("build/journal/2026-04-06.md")
        await on.command(ROOM, ANA, "undo")
        assert "sessions live in Redis" in on.page("build/decisions.md")


@pytest.mark.asyncio
async def test_uses_of_records_are_counted_and_timers_stay(tmp_path: Path) -> None:
    clock = ManualClock(START)
    async with stage(tmp_path, clock=clock) as on:
        await on.enter(ROOM)
        await on.says(ROOM, ANA, DECISION)
        await on.command(ROOM, ANA)
        handle = on.app.parts.handles.open(GroupScope("build"))
        (found,) = await asyncio.to_thread(_all, tmp_path, "apm", BUILD)
        await handle.ledger.add_hits([Hit(found[0], found[1].identity, START)] * 2)
        await on.app.schedule._timers.set(Timer("idle/x", START, "kept"))
    await move(tmp_path, "dreaming")
    ((page, one),) = await asyncio.to_thread(_all, tmp_path, "dreaming", BUILD)
    assert page == "decisions"
    assert one.hit_count == found[1].hit_count + 2
    async with stage(tmp_path, layout="dreaming", clock=clock) as on:
        handle = on.app.parts.handles.open(GroupScope("build"))
        assert await handle.ledger.hits() == ()
        assert [timer.key for timer in await on.app.schedule._timers.due(START)] == ["idle/x"]


def _write_longterm(file: Path, made: Record) -> None:
    file.write_text(f"# Long-term\n\n{render(made)}")


@pytest.mark.asyncio
async def test_people_whose_keys_have_capitals_keep_their_ledger(tmp_path: Path) -> None:
    clock = ManualClock(START)
    bo = PersonKey("slack:T1:U2")
    async with stage(tmp_path, clock=clock) as on:
        handle = on.app.parts.handles.open(DirectScope(bo))
        await ensure_index(handle, UTC)
        made = record(Kind.DECISION, 0)
        await asyncio.to_thread(_write_longterm, tmp_path / "people/slack-t1-u2/memory/main/longterm.md", made)
        body = Body(Receipt(1, Trigger.COMMAND, at=START), (), None, True, ())
        await handle.ledger.save_plan(Plan("1.0", 1, dump(body)))
        await handle.ledger.close_plan(Plan("1.0", 1, dump(body)))
        await handle.ledger.mark_written(
            message_key(DM.room.key, "1"), PageId("longterm"), f"decision/{made.identity}"
        )
    await move(tmp_path, "dreaming")
    assert (tmp_path / "people/slack-t1-u2/memory/INDEX.md").exists()
    async with stage(tmp_path, layout="dreaming", clock=clock) as on:
        ledger = on.app.parts.handles.open(DirectScope(bo)).ledger
        last = await ledger.last_plan()
        assert last is not None
        assert last.id == "1.1"
        assert [page for _, page, _ in await ledger.written()] == ["decisions"]


def test_the_homes_of_the_layouts_are_as_the_documents_say() -> None:
    for layout in LAYOUTS.values():
        for table in (layout.group, layout.direct):
            assert home_of(table, Kind.DECISION) is not None
