"""The adaptive layout through the flush: files where the layout says, kinds without a page in the journal."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_core.answers import corrected_text
from memory_core.candidates import Candidate
from memory_core.clock import ManualClock
from memory_core.errors import BadInput
from memory_core.first_join import ensure_index
from memory_core.flush.correct import correct
from memory_core.flush.engine import Trigger, write_now
from memory_core.flush.undo import undo
from memory_core.forms import journal, listed
from memory_core.forms.active import ACTIVE, COMPLETED
from memory_core.forms.channel import CHANNEL, DECISIONS, TOPICS
from memory_core.forms.records import insert, on_page
from memory_core.forms.sections import section_at
from memory_core.ids import Conversation, DirectScope, GroupScope, MessageKey, PageId, PersonKey
from memory_core.layouts import ADAPTIVE, DREAMING, FLUSH_STATE, Form, Kind
from memory_core.ledger.sqlite import SqliteLedger
from memory_core.messages import Message, Voice
from memory_core.store.files import FileStores
from tests.memory_core.flush_kit import ROOM, START, Disk, World, labelled

ANA = PersonKey("slack:T1:ANA")
OWNER = DirectScope(ANA, owner=True)
WRITTEN = (Form.ACTIVE, Form.CHANNEL, Form.SECTIONS, Form.ADDED, Form.STATE)
MEMORY, TODAY = PageId("memory"), PageId("journal/2026-04-06")
TALK = (
    "decision: we decided to use Redis for sessions",
    "agreement: releases happen on Thursdays",
    "task: write the release notes",
    "blocker: the staging certificate has expired",
    "role: I look after the database",
    "lesson: the build broke because of the clock, so we pin it",
)


def _notes(world: World, page: PageId = TODAY) -> list[str]:
    return [note.text for note in journal.parse(world.text(page)).notes]


async def _candidate(world: World, key: MessageKey) -> Candidate:
    entry = await world.handle.ledger.find(key)
    candidate = labelled(entry.message) if entry else None
    assert candidate is not None
    return candidate


def _said(text: str, at: datetime = START) -> Message:
    key = MessageKey("slack:T1:C9:command")
    return Message(key, Conversation(ROOM, ""), ANA, "ana", text, at, Voice.PERSON, "#build")


@pytest.mark.asyncio
async def test_a_group_has_its_channel_context_and_nothing_else() -> None:
    world = World(layout=ADAPTIVE)
    await world.say(*TALK)
    receipt = await world.flush()
    assert receipt.pages == ("channel_context", TODAY)
    assert receipt.kinds == dict.fromkeys(
        (Kind.DECISION, Kind.AGREEMENT, Kind.TASK, Kind.BLOCKER, Kind.LESSON), 1
    )  # no role: a group of this layout keeps none
    text = world.text("channel_context")
    assert text.startswith("# build\n\n## Current Topics\n\n- releases happen on Thursdays (@ana, 2026-04-06) <!-- ")
    (placed,) = on_page(text, Form.CHANNEL)
    assert (placed.record.title, section_at(text, placed.start)) == (
        "we decided to use Redis for sessions",
        DECISIONS,
    )
    assert [row.task for row in CHANNEL.parse(text).tasks] == ["write the release notes"]
    assert CHANNEL.parse(text).blockers == ("the staging certificate has expired (@ana, 2026-04-06)",)
    assert "database" not in text + world.text(TODAY)
    assert "the build broke because of the clock, so we pin it" in _notes(world)


@pytest.mark.asyncio
async def test_a_dm_keeps_decisions_in_the_journal_and_what_is_done_in_the_active_context() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    await world.say(*TALK)
    receipt = await world.flush()
    assert receipt.pages == ("active_context", "user", TODAY)
    assert not world.text("memory")
    assert TALK[0].partition(": ")[2] in _notes(world)
    said = ACTIVE.parse(world.text("active_context"))
    assert [row.task for row in said.tasks] == ["write the release notes"]
    await world.say("status done: the release notes are written", "status done: the staging certificate is renewed")
    await world.flush()
    said = ACTIVE.parse(world.text("active_context"))
    assert (said.tasks[0].status, said.tasks[0].notes, said.blockers) == ("done", "done 2026-04-06", ())
    assert listed.items(world.text("active_context"), COMPLETED)


@pytest.mark.asyncio
async def test_a_decision_in_a_dm_is_in_the_journal_when_it_is_said_and_not_written_again() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    (key,) = await world.say(TALK[0])
    page, record = await write_now(world.handle, await _candidate(world, key), world.zone)
    assert (page, record.title) == (TODAY, "we decided to use Redis for sessions")
    assert _notes(world) == ["we decided to use Redis for sessions"]
    receipt = await world.flush()
    assert (receipt.kinds, receipt.pages) == ({Kind.DECISION: 1}, (TODAY,))
    assert _notes(world) == ["we decided to use Redis for sessions"]
    assert not (await world.flush()).written


@pytest.mark.asyncio
async def test_a_note_of_yesterday_is_counted_today_and_not_written_again() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    candidate = Candidate(Kind.LESSON, "pin the clock", "pin the clock", ANA, (MessageKey("slack:T1:C9:n1"),))
    assert (await write_now(world.handle, candidate, world.zone))[0] == TODAY
    world.clock.advance(86_400)
    assert (await world.flush()).kinds == {Kind.LESSON: 1}
    assert _notes(world) == ["pin the clock"]
    assert not world.text("journal/2026-04-07")


@pytest.mark.asyncio
async def test_what_was_written_at_once_goes_with_its_message() -> None:
    for scope, page in ((OWNER, TODAY), (GroupScope("build"), PageId("channel_context"))):
        world = World(scope, layout=ADAPTIVE)
        (key,) = await world.say(TALK[0])
        assert (await write_now(world.handle, await _candidate(world, key), world.zone))[0] == page
        await world.delete(key)
        receipt = await world.flush()
        assert not receipt.kinds
        assert "Redis" not in world.text(page)


@pytest.mark.asyncio
async def test_what_a_scope_does_not_keep_is_refused_when_it_is_asked_for() -> None:
    world = World(layout=ADAPTIVE)
    candidate = Candidate(Kind.ROLE, "database", "I look after it", ANA, (MessageKey("slack:T1:C9:n1"),))
    with pytest.raises(BadInput, match="keeps nothing of the kind 'role'"):
        await write_now(world.handle, candidate, world.zone)
    assert not world.text(TODAY)


@pytest.mark.asyncio
async def test_a_deleted_message_leaves_every_page_and_what_others_said_stays() -> None:
    world = World(layout=ADAPTIVE)
    keys = await world.say(*TALK[:4])
    await world.say("decision: we decided to move the office")
    await world.say("agreement: releases happen on Thursdays", by="bo")
    await world.flush()
    for key in keys:
        await world.delete(key)
    await world.flush()
    text = world.text("channel_context")
    assert [placed.record.title for placed in on_page(text, Form.CHANNEL)] == ["we decided to move the office"]
    assert listed.items(text, TOPICS) == ("releases happen on Thursdays (@ana, 2026-04-06)",)
    assert CHANNEL.parse(text) == CHANNEL.parse("")
    for key in (keys[0], keys[2], keys[3]):
        assert key not in text + world.text(TODAY) + world.text("state/tasks")


@pytest.mark.asyncio
async def test_a_task_of_the_active_context_goes_with_its_message() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    (first, _) = await world.say("task: write the release notes", "task: renew the certificate")
    await world.flush()
    await world.delete(first)
    await world.flush()
    assert [row.task for row in ACTIVE.parse(world.text("active_context")).tasks] == ["renew the certificate"]


@pytest.mark.asyncio
@pytest.mark.parametrize("scope", [OWNER, GroupScope("build")])
async def test_undo_gives_back_every_byte(scope: DirectScope | GroupScope) -> None:
    world = World(scope, layout=ADAPTIVE)
    await world.say("task: renew the certificate", "decision: we decided to move the office")
    await world.flush()
    pages = [rule.page for rule in world.handle.table.rules if "*" not in rule.page and rule.form in WRITTEN]
    pages.append(TODAY)
    before = {page: world.text(page) for page in pages}
    await world.say(*TALK, "status done: the certificate is renewed")
    await world.flush()
    assert {page: world.text(page) for page in pages} != before
    await undo(world.open())
    after = {page: world.text(page) for page in pages}
    assert {page: text for page, text in after.items() if page != FLUSH_STATE} == {
        page: text for page, text in before.items() if page != FLUSH_STATE
    }


@pytest.mark.asyncio
async def test_undo_keeps_what_a_person_changed_since() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    await world.say("task: write the release notes", "task: renew the certificate")
    await world.flush()
    world.put("active_context", world.text("active_context").replace("- **renew", "- **By hand**\n- **renew"))
    await undo(world.open())
    assert [row.task for row in ACTIVE.parse(world.text("active_context")).tasks] == ["By hand"]


@pytest.mark.asyncio
async def test_a_decision_of_a_group_is_corrected_and_stays_in_its_section() -> None:
    world = World(layout=ADAPTIVE)
    await world.say(TALK[0], TALK[3])
    await world.flush()
    corrected = await correct(world.handle, "Redis sessions", _said("we use Valkey for sessions"), world.zone)
    assert (corrected.page, corrected.old and corrected.old.title) == ("channel_context", TALK[0].partition(": ")[2])
    text = world.text("channel_context")
    (placed,) = on_page(text, Form.CHANNEL)
    assert (placed.record.title, placed.level) == ("we use Valkey for sessions", 3)
    assert section_at(text, placed.start) == DECISIONS
    assert "~~[2026-04-06] we decided to use Redis for sessions" in text


@pytest.mark.asyncio
async def test_a_decision_that_stands_in_the_journal_is_corrected_there_and_taken_back() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    await world.say(TALK[0], TALK[5])
    await world.flush()
    before = world.text(TODAY)
    world.clock.advance(86_400)
    said = _said("we use Valkey for sessions", world.clock.now())
    corrected = await correct(world.handle, "Redis sessions", said, world.zone)
    assert (corrected.page, corrected.new and corrected.new.title) == (
        "journal/2026-04-07",
        "we use Valkey for sessions",
    )
    assert corrected_text(corrected, "Redis") == (
        "Corrected in journal/2026-04-07: we use Valkey for sessions "
        "(before: [2026-04-06] we decided to use Redis for sessions)"
    )
    old, other = journal.parse(world.text(TODAY)).notes
    assert (old.absorbed, other.absorbed) == (True, False)
    assert _notes(world, PageId("journal/2026-04-07")) == ["we use Valkey for sessions"]
    assert (await correct(world.handle, "Redis sessions", said, world.zone)).candidates == ()
    assert not (await undo(world.open())).nothing
    assert world.text(TODAY) == before
    assert not world.text("journal/2026-04-07")


@pytest.mark.asyncio
async def test_a_corrected_line_of_the_journal_is_counted_and_not_written_again() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    await world.say(TALK[0])
    await world.flush()
    await correct(world.handle, "Redis", _said("we use Valkey for sessions", world.clock.now()), world.zone)
    assert (await world.flush()).kinds == {Kind.DECISION: 1}
    assert _notes(world).count("we use Valkey for sessions") == 1


@pytest.mark.asyncio
async def test_an_opposite_topic_takes_the_place_of_the_old_one() -> None:
    world = World(layout=ADAPTIVE)
    await world.say("agreement: releases happen on Thursdays")
    await world.flush()
    await world.say("agreement: releases do not happen on Thursdays", by="bo")
    await world.flush()
    assert listed.items(world.text("channel_context"), TOPICS) == (
        "releases do not happen on Thursdays (@bo, 2026-04-06)",
    )


@pytest.mark.asyncio
async def test_what_sleep_took_to_memory_is_a_hit_there_and_follows_its_message() -> None:
    world = World(OWNER, layout=ADAPTIVE)
    (key,) = await world.say(TALK[0])
    other = World(layout=ADAPTIVE)  # the same words become the record that deep sleep would make of them
    assert await other.say(TALK[0]) == [key]
    await other.flush()
    record = on_page(other.text("channel_context"), Form.CHANNEL)[0].record
    await world.flush()
    world.put("memory", insert("# Long-Term Memory\n", record, Form.SECTIONS, section="Key Decisions"))
    await world.say(TALK[0], by="bo")
    receipt = await world.flush()
    assert not receipt.written
    (placed,) = on_page(world.text("memory"), Form.SECTIONS)
    assert (placed.record.hit_count, len(placed.record.sources)) == (1, 2)
    words = TALK[0].partition(": ")[2]
    candidate = Candidate(Kind.DECISION, words, words, ANA, (MessageKey("slack:T1:C9:n1"),))
    page, found = await write_now(world.handle, candidate, world.zone)
    assert (page, found.hit_count) == (MEMORY, 2)
    assert not (await world.flush()).written
    await world.delete(key)
    await world.flush()
    (placed,) = on_page(world.text("memory"), Form.SECTIONS)
    assert key not in world.text("memory")
    assert placed.record.title == "we decided to use Redis for sessions"


@pytest.mark.asyncio
async def test_without_a_board_tasks_stand_in_their_file_and_the_journal() -> None:
    world = World(layout=DREAMING)
    await world.say(*TALK[:4])
    receipt = await world.flush()
    assert set(receipt.pages) == {"decisions", "project-context", TODAY}
    assert "write the release notes" in world.text("state/tasks")
    assert "write the release notes" in _notes(world)
    before = world.text("state/tasks")
    await undo(world.open())
    assert not world.text("state/tasks")
    assert before


HAND = (
    "\ufeff# Active Context\r\n\r\n## In Progress\r\n- **Login flow**: OAuth, 70% done\r\n  - Next: tokens\r\n\r\n"
    "## Own section\r\n| a | b |\r\n\r\n## Recently Completed\r\n- **Timezone fix**: Deployed (2026-01-01)\r\n"
)


def put_file(folder: Path, text: str) -> None:
    """The active context as a person left it."""
    (folder / "memory").mkdir()
    (folder / ".remem").mkdir()
    (folder / "memory/active_context.md").write_bytes(text.encode())


def files_in(folder: Path) -> set[str]:
    """The files of a workspace, without the program's own."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {file for file in found if not file.startswith(".remem")}


@pytest.mark.asyncio
async def test_two_groups_and_a_dm_on_disk(tmp_path: Path) -> None:
    put_file(tmp_path, HAND)
    clock = ManualClock(START)
    stores = FileStores(tmp_path, ADAPTIVE)
    ledger = await SqliteLedger.open(tmp_path / ".remem/ledger.db", clock)
    disk = Disk(tmp_path, stores, ledger)
    try:
        worlds = [
            World(scope, clock=clock, disk=disk, layout=ADAPTIVE, indexed=False)
            for scope in (OWNER, GroupScope("build"), GroupScope("ops"))
        ]
        for at, world in enumerate(worlds):
            world.said = 100 * at
            await ensure_index(world.handle, UTC)
            await world.say(*TALK)
            assert (await world.flush(Trigger.DAY)).written
    finally:
        await ledger.close()
        await asyncio.to_thread(stores.close)
    assert files_in(tmp_path) == {
        "USER.md",
        "memory/2026-04-06.md",
        "memory/active_context.md",
        "memory/flush-state.json",
        "memory/index.md",
        "memory/pending_tasks.json",
        *(
            f"memory/{file}".format(group=group)
            for group in ("build", "ops")
            for file in (
                "channel_context/{group}.md",
                "groups/{group}.md",
                "groups/{group}/flush-state.json",
                "groups/{group}/journal/2026-04-06.md",
                "groups/{group}/pending_tasks.json",
            )
        ),
    }
    text = (tmp_path / "memory/active_context.md").read_bytes().decode()
    assert text.startswith(HAND[: HAND.index("\r\n\r\n## Own")])
    assert text.count("\n") == text.count("\r\n")
    for line in HAND.split("\r\n"):
        assert line in text.split("\r\n")
    assert text.startswith("\ufeff")
    for group in ("build", "ops"):
        assert (tmp_path / f"memory/channel_context/{group}.md").read_text().startswith(f"# {group}\n")
