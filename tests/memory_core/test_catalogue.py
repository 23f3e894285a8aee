"""The catalogue: which day a page tells, what is read for it, and what stays."""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_core.catalogue import rebuild_catalogue
from memory_core.clock import ManualClock
from memory_core.flush.engine import Trigger, write_now
from memory_core.flush.standing import Standing
from memory_core.handle import Handle
from memory_core.ids import Conversation, DirectScope, EventKey, PageId, PersonKey, RoomKey, message_key
from memory_core.index import parse
from memory_core.layouts import ADAPTIVE, APM, INDEX
from memory_core.ledger.base import Posted
from memory_core.ledger.memory import MemoryLedger
from memory_core.messages import Message
from memory_core.sleep.report import Stage
from memory_core.sleep.stages import sleep
from memory_core.store.files import FileStores
from memory_core.tokens import EstimatingCounter
from tests.memory_core.flush_kit import GROUP, ROOM, World, labelled

RECORD = """# Experience

## [2026-03-01] Tabs
- Fitness: last_referenced=2026-03-09, hit_count=1, decision_value=LOW
- Body: tabs
"""


def rows(text: str) -> dict[str, str]:
    """The day of each page's last change, as the catalogue tells it."""
    return dict(re.findall(r"^\| ([\w/-]+) \| \d+ \| \d+ \| (\S+) \|", text, re.MULTILINE))


def journals(text: str) -> dict[str, str]:
    """What the catalogue says of each journal."""
    return dict(re.findall(r"^- (\d{4}-\d\d-\d\d): (.*)$", text.partition("remem:catalogue")[2], re.MULTILINE))


@pytest.mark.asyncio
async def test_a_page_tells_the_day_of_its_last_change() -> None:
    world = World()
    world.put("experience", RECORD)
    world.put("people", "# People\n\n## [2026-02-01] Ana\n- Body: ana\n\n## [2026-01-05] Bo\n- Body: bo\n")
    world.put("attention", "# Attention\n\n## Environment Snapshot\n\n- last flush: 2026-03-05 14:30 (+08:00)\n")
    assert await rebuild_catalogue(world.handle)
    assert rows(world.text("index")) == {
        "attention": "2026-03-05",
        "experience": "2026-03-09",
        "people": "2026-02-01",
    }


@pytest.mark.asyncio
async def test_a_page_that_tells_no_day_has_its_files_but_none_ahead_of_the_clock(tmp_path: Path) -> None:
    stores, clock = FileStores(tmp_path, APM), ManualClock(datetime(2026, 4, 6, 6, 0, tzinfo=UTC))
    folder = tmp_path / "memory/groups/build"
    folder.mkdir(parents=True)
    (tmp_path / "memory/groups/build.md").write_text("# Memory of build\n")
    for name, at in (
        ("project", datetime(2026, 1, 3, 20, 0, tzinfo=UTC)),
        ("people", datetime(2031, 1, 1, tzinfo=UTC)),
    ):
        (folder / f"{name}.md").write_text("By hand, without a date.\n")
        os.utime(folder / f"{name}.md", (at.timestamp(), at.timestamp()))
    ledger = MemoryLedger(clock).open(GROUP)
    handle = Handle(stores.open(GROUP), ledger, APM, EstimatingCounter(), clock, ZoneInfo("Asia/Shanghai"))
    assert await rebuild_catalogue(handle)
    text = (await handle.store.read(INDEX)).text  # type: ignore[union-attr]
    assert rows(text) == {"project": "2026-01-04", "people": "2026-04-06"}
    await asyncio.to_thread(stores.close)


@pytest.mark.asyncio
async def test_after_a_flush_journals_that_it_did_not_write_keep_their_line() -> None:
    world = World()
    await world.say("decision: decided: Redis | Memcached for the cache")
    await world.flush()
    world.put("journal/2026-04-06", world.text("journal/2026-04-06").replace("decided: Redis", "decided: Postgres"))
    before = journals(world.text("index"))
    assert "Redis" in before["2026-04-06"]
    world.clock.advance(86_400)
    await world.say("decision: decided: no deploys on Friday")
    await world.flush()
    after = journals(world.text("index"))
    assert after["2026-04-06"] == before["2026-04-06"]
    assert "deploys" in after["2026-04-07"]
    assert await rebuild_catalogue(world.handle)
    assert "Postgres" in journals(world.text("index"))["2026-04-06"]


@pytest.mark.asyncio
async def test_a_journal_that_left_for_the_archive_leaves_the_catalogue() -> None:
    world = World()
    await world.say("decision: decided: Redis for the cache")
    await world.flush()
    world.clock.advance(20 * 86_400)
    await sleep(world.handle, Stage.DEEP)
    assert PageId("journal/2026-04-06") not in await world.handle.store.pages()
    assert journals(world.text("index")) == {}


@pytest.mark.asyncio
async def test_what_was_written_at_once_is_in_the_catalogue_after_the_next_flush() -> None:
    world = World(DirectScope(PersonKey("slack:T1:ANA")), layout=ADAPTIVE)
    for text in ("decided: Redis for the cache", "decided: no deploys on Friday"):
        (key,) = await world.say(f"decision: {text}")
        entry = await world.handle.ledger.find(key)
        candidate = labelled(entry.message) if entry else None
        assert candidate is not None
        await write_now(world.handle, candidate, UTC)
        await world.flush()
        assert text in journals(world.text("index"))["2026-04-06"]


@pytest.mark.asyncio
async def test_what_is_known_is_not_read_and_a_hand_that_is_faster_is_not_lost() -> None:
    world = World()
    world.put("experience", RECORD)
    known = await Standing(await world.handle.store.pages()).reading(world.handle, [INDEX, PageId("experience")])
    world.put("index", world.text("index") + "\nA line by hand.\n")
    assert await rebuild_catalogue(world.handle, known)
    assert "A line by hand." in world.text("index")
    assert rows(world.text("index")) == {"experience": "2026-03-09"}


@pytest.mark.asyncio
async def test_a_save_without_news_reads_no_page_and_writes_none(tmp_path: Path) -> None:
    world = World()
    await world.say("decision: decided: Redis for the cache", "decision?: Kafka for the events")
    first = await world.flush()
    assert (first.number, first.pending) == (1, 1)
    files = dict(world.stores.files)
    reads: list[PageId] = []
    stores = FileStores(tmp_path, APM, on_read=lambda _, page: reads.append(page))
    world.store.inner = stores.open(GROUP)
    again = await world.flush(Trigger.IDLE)
    assert (again.number, again.pending, again.messages, again.written, again.problem) == (1, 1, 0, False, "")
    assert reads == []
    assert dict(world.stores.files) == files
    await asyncio.to_thread(stores.close)


@pytest.mark.asyncio
async def test_a_flush_reads_each_page_once_and_reads_back_what_it_wrote(tmp_path: Path) -> None:
    world = World()
    reads: list[PageId] = []
    stores = FileStores(tmp_path, APM, on_read=lambda _, page: reads.append(page))
    world.store.inner = stores.open(GROUP)
    (tmp_path / "memory/groups").mkdir(parents=True)
    (tmp_path / "memory/groups/build.md").write_text(world.text("index"))
    for text in ("decision: decided: Redis for the cache", "decision: decided: no deploys on Friday"):
        reads.clear()
        await world.say(text)
        assert (await world.flush()).written
        assert max(reads.count(page) for page in reads) <= 2
    await asyncio.to_thread(stores.close)


@pytest.mark.asyncio
async def test_a_thread_is_read_with_what_it_answers() -> None:
    world = World()
    (root,) = await world.say("the importer test is flaky")
    await world.flush()
    await world.say("found it", thread="17124.1", reply_to=root)
    await world.flush()
    assert [message.key for message in world.extractor.requests[-1].before] == [root]


@pytest.mark.asyncio
async def test_the_index_names_every_room_that_something_was_said_in() -> None:
    world = World()
    await world.say("decision: decided: Redis for the cache")
    await world.flush()
    other = RoomKey("slack:T1:C8")
    key = message_key(other, "17125.000001")
    said = "decision: decided: no deploys on Friday"
    message = Message(key, Conversation(other), PersonKey("slack:T1:U1"), "ana", said, world.clock.now())
    await world.ledger.intake.record([Posted(EventKey(key), message, GROUP)])
    await world.flush()
    assert parse(world.text("index"), APM.group).rooms == (ROOM, other)
    assert await rebuild_catalogue(world.handle)
    assert parse(world.text("index"), APM.group).rooms == (ROOM, other)
