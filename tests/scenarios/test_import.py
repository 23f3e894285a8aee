"""`remem import`: chosen rooms of a history into a workspace that lives: dated, once each, beside what is there."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.messages import Incoming
from bot.app import opened
from bot.import_command import listing, open_history
from bot.message_clock import Figures
from memory_core.clock import ManualClock
from memory_core.errors import BadInput, WorkspaceHeld
from memory_core.ledger.timers import Timer
from memory_core.lock import hold
from tests.data import discord_export
from tests.data.make_export import make_export
from tests.data_dir import data_file
from tests.scale import scale
from tests.scenarios import import_checks as checks
from tests.scenarios.import_checks import TODAY, ask, bring, events, lived, records_of
from tests.scenarios.replay_checks import cut, pages, waiting
from tests.scenarios.terminal import settings

RACKET = "slack-export-racket-2017.zip"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small export: three rooms, threads, edits, bots, files."""
    return make_export(tmp_path_factory.mktemp("export") / "small.zip")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of DiscordChatExporter's."""
    return discord_export.server(tmp_path_factory.mktemp("server"))


# -- counts, days, people, threads -----------------------------------------------------------------------------------


def test_a_real_slack_channel_arrives_whole_and_dated(tmp_path: Path) -> None:
    """Point 9: 6,757 messages of 85 people (the first 120 in the ordinary run), against the archive's raw JSON."""
    messages = 6757 if scale(20) == 20 else 120
    export = data_file(RACKET)
    if messages < 6757:
        export = cut(export, tmp_path / "part.zip", messages)
    workspace = tmp_path / "memory"
    done = bring(export, workspace, "racket-general=racket", raw_days="never")
    assert done is not None
    raw = checks.raw_messages(export, "racket-general")
    (one,) = done
    assert one.counted.messages == len(raw) == messages
    assert {person.native for person in one.counted.people} == {str(message["user"]) for message in raw}
    assert (one.counted.first, one.counted.last) == _span(raw)
    rows = ask(workspace, "SELECT message, author, sent_us FROM messages ORDER BY seq")
    assert sorted(str(key).rpartition(":")[2] for key, _, _ in rows) == sorted(str(message["ts"]) for message in raw)
    said = {str(message["ts"]): str(message["user"]) for message in raw}
    assert all(said[str(key).rpartition(":")[2]] == str(author).rpartition(":")[2] for key, author, _ in rows)
    assert [us for _, _, us in rows] == sorted(us for _, _, us in rows)  # type: ignore[type-var]  # integers
    days = {checks.day_of(message["ts"]) for message in raw}
    found = records_of(workspace, "racket")
    assert found or messages < 6757
    assert {record.day for record in found} <= days
    assert {record.last_referenced for record in found} <= {TODAY.date()}
    journals = {file.stem for file in (workspace / "memory/groups/racket/journal").iterdir()}
    assert journals <= {day.isoformat() for day in days}
    assert waiting(workspace) == 0
    assert ask(workspace, "SELECT key FROM timers WHERE key NOT LIKE 'sleep:%'") == []
    print(f"\n{messages} messages, {len(one.counted.people)} people, {len(journals)} journals, {len(found)} records")  # noqa: T201


def _span(raw: Sequence[dict[str, object]]) -> tuple[datetime, datetime]:
    times = sorted(float(str(message["ts"])) for message in raw)
    first, last = (
        datetime.fromtimestamp(0, UTC) + timedelta(microseconds=round(t * 1e6)) for t in (times[0], times[-1])
    )
    return first, last


def test_slack_threads_bots_files_and_the_deleted_are_those_of_the_raw_files(small: Path, tmp_path: Path) -> None:
    done = bring(small, tmp_path / "memory", "#build", "general", raw_days="never")
    assert done is not None
    for one in done:
        raw = checks.raw_messages(small, one.placed.room.title.removeprefix("#"))
        spoken = [m for m in raw if m.get("subtype", "") in ("", "bot_message", "file_share", "thread_broadcast")]
        roots = {m["thread_ts"] for m in spoken if m.get("thread_ts") not in (None, m["ts"])}
        assert one.counted.messages == len(spoken)
        assert one.counted.notices == len(raw) - len(spoken)
        assert one.counted.threads == roots
        assert one.counted.bots == sum("bot_id" in m for m in spoken)
        assert one.counted.attachments == sum(bool(m.get("files")) for m in spoken)
        rows = ask(tmp_path / "memory", "SELECT room, thread FROM messages")
        assert {thread for room, thread in rows if room == one.placed.room.key} - {""} == roots
    assert {name for one in done for name in one.counted.deleted.values()} == {"oldtimer"}
    lesson = next(record for record in records_of(tmp_path / "memory", "build") if "cp1252" in record.body)
    assert [source.place for source in lesson.sources] == ["#build thread 1772445300.000700"]
    assert {record.last_referenced for record in records_of(tmp_path / "memory", "build")} == {TODAY.date()}


def test_a_discord_server_arrives_with_its_threads(server: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "memory"
    done = bring(server, workspace, "build", "ideas", "ops=infra", raw_days="never")
    assert done is not None
    assert [(one.placed.name, one.counted.messages, len(one.counted.threads)) for one in done] == [
        ("build", 13, 1),
        ("ideas", 1, 1),
        ("infra", 1, 0),
    ]
    assert len(done[0].counted.people) == 4
    assert done[0].counted.bots == 1
    rows = {str(key): (thread, text, reply) for key, thread, text, reply in ask(workspace, _TEXTS)}
    assert {thread for thread, _, _ in rows.values()} == {"", discord_export.RETRY, discord_export.POST}
    assert not any("hunter2" in str(text) for _, text, _ in rows.values())
    assert not any("forget me" in str(text) for _, text, _ in rows.values())
    assert sum(reply is not None for _, _, reply in rows.values()) == 1
    assert any("[attached: plan.pdf (48213 bytes)]" in str(text) for _, text, _ in rows.values())
    found = {record.body: record for group in ("build", "infra") for record in records_of(workspace, group)}
    redis = next(record for body, record in found.items() if "Redis" in body)
    assert str(redis.day) == "2024-02-05"
    assert redis.sources[0].name == "Ana"
    retried = next(record for body, record in found.items() if "three times" in body)
    assert "retry" in retried.sources[0].place or discord_export.RETRY in retried.sources[0].place
    assert "another job" not in "".join(pages(workspace).values())
    names = json.loads((workspace / "memory/groups/group_names.json").read_text("utf-8"))
    assert names[f"discord:{discord_export.OPS}"] == {
        "name": "infra",
        "channel": "discord",
        "title": "#ops",
        "server": "Acme",
    }


_TEXTS = "SELECT m.message, m.thread, t.text, m.reply_to FROM messages m JOIN texts t ON t.id = m.text_id"


# -- beside what lives -----------------------------------------------------------------------------------------------


def test_what_was_heard_live_is_known_and_everything_else_stays_as_it_is(small: Path, tmp_path: Path) -> None:
    """Half of #build was heard live, and more is waiting; another room and its timers are nobody's business."""
    workspace, past = tmp_path / "memory", events(small, "#build")
    live, general = past[len(past) // 2 :], events(small, "#general")
    lived(workspace, live, general, raw_days="never")
    heard = ask(workspace, "SELECT room, thread, heard FROM conversations")
    before = pages(workspace)
    due = Timer(
        "idle:slack:T0REMEM01:C0REMEM01", datetime(2026, 3, 1, tzinfo=UTC), '{"scope":"group:general","owner":false}'
    )
    asyncio.run(_set(workspace, due))
    done = bring(small, workspace, "build", raw_days="never")
    assert done is not None
    (one,) = done
    assert (one.counted.messages, one.counted.known, one.placed.known) == (len(past), len(live), True)
    rows = ask(workspace, "SELECT message FROM messages WHERE scope = 'group:build' ORDER BY room, thread, seq")
    assert len(rows) == len({key for (key,) in rows}) == len(past) - _commands(past)
    after = pages(workspace)
    others = [name for name in before if "groups/build" not in name and name != "memory/groups/flush-state.json"]
    assert [name for name in others if before[name] != after[name]] == []
    assert sorted(name for name in after if "groups/build" not in name) == sorted(
        name for name in before if "groups/build" not in name
    )
    assert ("idle:slack:T0REMEM01:C0REMEM01",) in ask(workspace, "SELECT key FROM timers")
    assert set(heard) <= set(ask(workspace, "SELECT room, thread, heard FROM conversations"))
    _nothing_twice(workspace)
    times = {str(event.message): event.sent_at for event in past}
    place = {str(event.message): str(event.conversation) for event in past}
    for tail in _by_conversation(checks.contexts(workspace, "build"), past):
        said = [str(one.message) for one in past if str(one.conversation) == place[tail[-1]]]
        assert tail == [key for key in sorted(said, key=times.__getitem__) if key in tail]
        assert tail[-1] == said[-1]


def _commands(past: list[Incoming]) -> int:
    return sum(event.text.startswith("!remem") for event in past)


async def _set(workspace: Path, timer: Timer) -> None:
    async with opened(settings(workspace), clock=ManualClock(TODAY), zone=UTC) as app:
        await app.parts.timers.set(timer)


def _by_conversation(keys: list[str], past: list[Incoming]) -> list[list[str]]:
    place = {str(event.message): str(event.conversation) for event in past}
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(place[key], []).append(key)
    return list(found.values())


def _nothing_twice(workspace: Path) -> None:
    found = records_of(workspace, "build")
    assert len({(record.title, record.body) for record in found}) == len(found)


def test_what_waits_is_saved_first_and_an_import_after_all_was_heard_changes_nothing(
    small: Path, tmp_path: Path
) -> None:
    workspace = tmp_path / "memory"
    lived(workspace, events(small, "#build"), save=False)
    assert waiting(workspace) > 0
    lived(workspace)
    saved = tmp_path / "saved"
    shutil.copytree(workspace, saved)
    lived(saved, [replace(events(small, "#build")[0])])
    done = bring(small, workspace, "build")
    assert done is not None
    assert done[0].counted.known == done[0].counted.messages
    assert ask(workspace, "SELECT count(*) FROM known") == ask(saved, "SELECT count(*) FROM known")


def _decided(event: Incoming, text: str, at: datetime, number: int) -> Incoming:
    key = f"{event.room.key}:{number}"
    return replace(event, event=key, message=key, text=text, sent_at=at, reply_to=None)  # type: ignore[arg-type]


def test_what_is_older_takes_nothing_newer_back(tmp_path: Path) -> None:
    """A decision, a task's end and a fact of before, against what was said yesterday."""
    workspace, chat = tmp_path / "memory", discord_export.Chat(discord_export.OPS, "ops")
    for minute, text in enumerate(
        [
            "Decision: we use Memcached for sessions.",
            "The release notes are done.",
            "The staging server is at staging-old.example.com.",
            "Decision: we deploy on Tuesdays, because support is complete then.",
        ]
    ):
        chat.say(f"2024-02-05T12:{minute:02}:00", discord_export.BEN, text)
    export = chat.write(tmp_path)
    newer = (
        "Decision: we no longer use Memcached for sessions.",
        "I will write the release notes by Friday.",
        "The staging server is at staging-new.example.com.",
    )
    first, yesterday = events(export, "#ops")[0], TODAY - timedelta(days=1)
    lived(workspace, [_decided(first, text, yesterday, number) for number, text in enumerate(newer, 1)])
    before = {name: text for name, text in pages(workspace).items() if name.startswith("memory/groups/ops")}
    assert bring(export, workspace, "ops")
    after = pages(workspace)
    records = {record.title: record for record in records_of(workspace, "ops")}
    assert {title.split(",")[0] for title in records} == {
        "we no longer use Memcached for sessions",
        "we deploy on Tuesdays",
    }
    assert "write the release notes by Friday | pending |" in after["memory/groups/ops/attention.md"]
    for name in ("memory/groups/ops/attention.md", "memory/groups/ops/pending_tasks.json"):
        lines = [line for line in before[name].splitlines() if "last flush" not in line and "lastUpdated" not in line]
        assert [line for line in lines if line not in after[name]] == [], name
    assert "staging-old" not in after["memory/groups/ops/attention.md"]
    assert "we use Memcached for sessions" in after["memory/groups/ops/journal/2024-02-05.md"]


# -- again, stopped, refused -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an import of two rooms that nobody stopped. Only to be read."""
    workspace = tmp_path_factory.mktemp("whole") / "memory"
    assert bring(small, workspace, "build", "general", raw_days="never")
    return workspace


def test_a_second_import_changes_nothing(small: Path, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "again")
    done = bring(small, tmp_path / "again", "general", "build", raw_days="never")
    assert done is not None
    assert all(one.counted.known == one.counted.messages for one in done)
    assert pages(tmp_path / "again") == pages(whole)


@pytest.mark.parametrize("stops", [(1,), (3, 30, 31), (50, 90)])
def test_stopped_and_continued_it_leaves_the_same_files(
    small: Path, whole: Path, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    workspace = tmp_path / "memory"
    for stop_at in stops:
        assert bring(small, workspace, "build", "general", stop_at=stop_at, raw_days="never") is None
        assert ask(workspace, "SELECT count(*) FROM timers WHERE key LIKE 'import:%'") == [(1,)]
    figures = Figures()
    done = bring(small, workspace, "build", "general", figures=figures, raw_days="never")
    assert done is not None
    assert figures.known >= stops[-1]  # the pace is that of what this run took in
    assert pages(workspace) == pages(whole)
    assert waiting(workspace) == 0
    assert ask(workspace, "SELECT key FROM timers WHERE key LIKE 'import:%'") == []
    assert ask(workspace, _MESSAGES) == ask(whole, _MESSAGES)


_MESSAGES = "SELECT scope, room, thread, message, sent_us FROM messages ORDER BY room, thread, seq"


def test_a_dry_run_tells_the_same_and_writes_nothing(small: Path, whole: Path, tmp_path: Path) -> None:
    counted = bring(small, tmp_path / "none", "build", "general", dry_run=True)
    assert not (tmp_path / "none").exists()
    done = bring(small, tmp_path / "memory", "build", "general")
    assert counted is not None
    assert done is not None
    assert [(one.placed, one.counted) for one in counted] == [(one.placed, one.counted) for one in done]
    before = {file: file.read_bytes() for file in whole.rglob("*") if file.is_file()}
    again = bring(small, whole, "build", dry_run=True)
    assert again is not None
    assert again[0].counted.known == again[0].counted.messages
    assert {file: file.read_bytes() for file in whole.rglob("*") if file.is_file()} == before


def test_a_workspace_that_is_held_is_refused_and_named(small: Path, whole: Path) -> None:
    with hold(whole), pytest.raises(WorkspaceHeld, match="stop that one first"):
        bring(small, whole, "build")
    with hold(whole):
        assert bring(small, whole, "build", dry_run=True)


def test_rooms_that_cannot_be_are_refused_with_the_next_step(small: Path, server: Path, whole: Path) -> None:
    before = pages(whole)
    for rooms, why in {
        ("nosuch",): "it has: #build, #general",
        ("build=general",): "goes on under that name; leave out",
        ("设计=general",): "belongs to another room already",
        ("设计=Bad Name",): "'bad-name' can",
    }.items():
        with pytest.raises(BadInput, match=why):
            bring(small, whole, *rooms)
    with pytest.raises(BadInput, match="belongs to another room"):
        bring(server, whole, "ops=x", "ideas=x")
    assert pages(whole) == before


def test_without_rooms_the_file_is_listed(server: Path) -> None:
    told = "\n".join(listing(open_history(server)))
    assert f"#build ({discord_export.BUILD}): 13 messages of 2024-02-05 to 2024-02-06, 4 people, 1 thread" in told
    assert "left out: Acme - Private - Ana" in told
    assert "--room build" in told
