"""`remem replay`: an export on the path of live messages: keys once, memory in order, nothing lost or doubled."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.message_clock import Figures
from bot.replay import replayed
from memory_core.errors import BadInput
from tests.data.make_export import make_export
from tests.data_dir import data_file
from tests.scale import scale
from tests.scenarios.replay_checks import Memory, cut, events_in, keys_of, memory_of, pages, waiting
from tests.scenarios.terminal import settings

GROUPS = ("build", "general", "设计")
RACKET = "slack-export-racket-2017.zip"
RACKET_MESSAGES = 6757


class Stop(Exception):
    """The process goes away in the middle."""


@contextmanager
def no_errors() -> Iterator[None]:
    """Nothing in the log is a warning or an error."""
    with capture_logs() as log:
        yield
    assert [line for line in log if _is_bad(line)] == []


def _is_bad(line: MutableMapping[str, Any]) -> bool:
    return line["log_level"] not in {"debug", "info"}


def replay(export: Path, workspace: Path, *, stop_at: int = 0) -> Figures | None:
    """Replay, stopped in the middle of message number `stop_at`; None then."""

    def moved(done: int, total: int) -> None:
        if done == stop_at:
            raise Stop

    try:
        with no_errors():
            return asyncio.run(replayed(export, settings(workspace, sleep="off"), moved))
    except Stop:
        return None


def read_groups(export: Path, workspace: Path) -> dict[str, Memory]:
    """Every group's memory, each without a problem."""
    known = frozenset(key.partition("!")[0] for key in keys_of(export))
    found = {group: memory_of(workspace, group, known) for group in GROUPS}
    assert {group: memory.problems for group, memory in found.items()} == {group: [] for group in GROUPS}
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small export."""
    return make_export(tmp_path_factory.mktemp("export") / "small.zip")


@pytest.fixture(scope="module")
def done(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a replay of it. Only to be read."""
    workspace = tmp_path_factory.mktemp("replayed") / "memory"
    figures = replay(small, workspace)
    assert figures is not None
    assert (figures.messages, figures.known) == (len(keys_of(small)), 0)
    return workspace


def test_every_event_is_in_the_ledger_once_and_nothing_waits(small: Path, done: Path) -> None:
    assert events_in(done) == keys_of(small)
    assert waiting(done) == 0


def test_memory_is_in_order_and_every_flush_with_content_is_noted(small: Path, done: Path) -> None:
    groups = read_groups(small, done)
    for group, memory in groups.items():
        assert memory.records, group
        assert memory.entries >= memory.flushes > 0, group
    assert groups["build"].days == sorted(groups["build"].days)
    print(f"{sum(len(memory.days) for memory in groups.values())} journals")  # noqa: T201


def test_people_threads_and_days_are_the_messages_own(small: Path, done: Path) -> None:
    groups = read_groups(small, done)
    records = [record for _, record in groups["build"].records]
    lesson = next(record for record in records if "cp1252" in record.body)
    (source,) = lesson.sources
    assert (source.name, source.place, source.at) == (
        "dmitri",
        "#build thread 1772445300.000700",
        "2026-03-02 10:20",
    )
    assert lesson.day == date(2026, 3, 2)
    redis = next(record for record in records if "Redis" in record.title)
    assert {source.name for source in redis.sources} == {"ben", "dmitri"}
    graz = next(record for _, record in groups["general"].records if "office in Graz" in record.body)
    assert [source.name for source in graz.sources] == ["ana"]
    assert {source.person.split(":")[0] for _, record in groups["设计"].records for source in record.sources} == {
        "slack"
    }
    attention = pages(done)["memory/groups/build/attention.md"]
    assert "| write the docs for the export by Tuesday | pending | chloe | due 2026-03-10 |" in attention


def test_the_clock_is_the_messages_and_no_page_knows_of_today(done: Path) -> None:
    today = date.today().isoformat()  # noqa: DTZ011  # the day that the machine would write
    groups = {name: text for name, text in pages(done).items() if name.startswith("memory/groups/")}
    assert groups
    assert [name for name, text in groups.items() if today in text] == []


def test_bots_jokes_quotes_and_the_systems_own_lines_leave_nothing(done: Path) -> None:
    memory = "\n".join(text for name, text in pages(done).items() if name.startswith("memory/"))
    for words in (
        "1041",
        "Nightly backup",
        "SVN",
        "kubernetes",
        "tea",
        "has joined",
        "retry in 5s",
        "semantic-release",
    ):
        assert f" {words}" not in memory, words


def test_a_second_replay_of_it_changes_nothing(small: Path, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done, tmp_path / "again")
    figures = replay(small, tmp_path / "again")
    assert figures is not None
    assert figures.known == figures.messages
    assert pages(tmp_path / "again") == pages(done)
    assert events_in(tmp_path / "again") == keys_of(small)


def test_two_replays_give_the_same_pages(small: Path, done: Path, tmp_path: Path) -> None:
    replay(small, tmp_path / "other")
    assert pages(tmp_path / "other") == pages(done)


@pytest.mark.parametrize("stops", [(1,), (2, 3, 60), (10, 40, 41, 42, 100), (139,)])
def test_stopped_and_continued_nothing_is_lost_or_doubled(
    small: Path, done: Path, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    for stop_at in stops:
        assert replay(small, tmp_path / "memory", stop_at=stop_at) is None
    figures = replay(small, tmp_path / "memory")
    assert figures is not None
    assert figures.known >= stops[-1]
    assert events_in(tmp_path / "memory") == keys_of(small)
    assert waiting(tmp_path / "memory") == 0
    whole, parts = read_groups(small, done), read_groups(small, tmp_path / "memory")
    for group in GROUPS:
        assert _identities(parts[group]) == _identities(whole[group])
        assert parts[group].tasks == whole[group].tasks
        assert {(note.part, note.text) for note in parts[group].notes} == {
            (note.part, note.text) for note in whole[group].notes
        }


def _identities(memory: Memory) -> set[tuple[str, str]]:
    return {(page, record.identity) for page, record in memory.records}


def test_a_workspace_of_something_else_is_refused(small: Path, done: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.md").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        replay(small, tmp_path / "mine")
    assert pages(tmp_path / "mine") == {"notes.md": "mine"}
    before = pages(done)
    with pytest.raises(BadInput, match="another export"):
        replay(cut(small, tmp_path / "part.zip", 20), done)
    assert pages(done) == before


def test_what_is_no_export_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "photo.zip").write_bytes(b"GIF89a")
    with pytest.raises(BadInput, match="no Slack export"):
        replay(tmp_path / "photo.zip", tmp_path / "memory")
    assert not (tmp_path / "memory").exists()


def test_a_busy_channel_of_real_people(tmp_path: Path) -> None:
    """Point 3 of what is shown: 6,757 messages of 200 days (a twentieth of them in the ordinary run)."""
    messages = scale(RACKET_MESSAGES)
    export = data_file(RACKET)
    if messages < RACKET_MESSAGES:
        export = cut(export, tmp_path / "part.zip", messages)
    figures = replay(export, tmp_path / "memory")
    assert figures is not None
    keys = keys_of(export)
    assert figures.messages == messages == len(keys)
    assert events_in(tmp_path / "memory") == keys
    assert waiting(tmp_path / "memory") == 0
    memory = memory_of(tmp_path / "memory", "racket-general", frozenset(key.partition("!")[0] for key in keys))
    assert memory.problems == []
    assert memory.entries >= memory.flushes > 0
    print(  # noqa: T201
        f"\n{figures.text()}\n{len(keys)} keys in the ledger, each once; {memory.flushes} flushes with content, "
        f"{len(memory.days)} journals, {len(memory.records)} records, {memory.tasks} tasks"
    )
    before = pages(tmp_path / "memory")
    again = replay(export, tmp_path / "memory")
    assert again is not None
    assert again.known == messages
    assert pages(tmp_path / "memory") == before
