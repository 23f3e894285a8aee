"""Undo, corrections, edits and deletes, failing saves and erasing, through the whole program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.retries import BACK_OFF_S, LATER_S
from memory_core.candidates import Candidate, Request
from memory_core.errors import RememError
from memory_core.extract import candidates_in
from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, Stage, channel, stage

BUILD = channel(1, "build")
INNER = '<think>NO_REPLY</think> {"tool": "save"}'


class Refusing:
    """The rules, which answer only when `well`; else inner words come back, as from a model that is out of order."""

    def __init__(self) -> None:
        self.well = False
        self.requests: list[Request] = []

    async def extract(self, request: Request) -> tuple[Candidate, ...]:
        """As the rules."""
        self.requests.append(request)
        if not self.well:
            raise RememError(INNER)
        return candidates_in(request)


async def _saved(on: Stage, *texts: str, spot: Spot = BUILD) -> str:
    for text in texts:
        await on.says(spot, ANA, text, addressed=False)
    return await on.command(spot, ANA)


def _bytes(workspace: Path) -> bytes:
    """All that memory and the ledger's files hold."""
    files = [path for path in workspace.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    return b"\n".join(path.read_bytes() for path in files)


@pytest.mark.asyncio
async def test_an_admin_undoes_the_last_save_and_nothing_twice(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await _saved(on, "agreed: no deploys on Friday", "we agreed on that: no deploys on Friday")
        before = on.page("build/project.md"), on.page("build/attention.md"), on.state("build")["flush_number"]
        assert "Saved (no. 2)" in await _saved(
            on, "lesson learned: the queue stalled, because the disk was full; a quota fixed it"
        )
        assert "Only an admin" in await on.command(BUILD, BEN, "undo")
        said = await on.command(BUILD, ANA, "undo")
        assert "Taken back: flush no. 2" in said
        assert "experience" in said
        assert on.titles("build") == []
        assert (
            on.page("build/project.md"),
            on.page("build/attention.md"),
            on.state("build")["flush_number"],
        ) == before
        assert "nothing to undo" in await on.command(BUILD, ANA, "undo")
        assert "Nothing new" in await on.command(BUILD, ANA)


@pytest.mark.asyncio
async def test_a_member_corrects_one_record(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await _saved(on, "Decision: Redis for the session cache", "Decision: Redis for the event queue")
        assert "needs <words> => <text>" in await on.command(BUILD, BEN, "correct something")
        assert "does not name one record" in await on.command(BUILD, BEN, "correct Redis => Valkey everywhere")
        said = await on.command(BUILD, BEN, "correct session cache => Valkey for the session cache")
        assert "Corrected in experience" in said
        assert "Valkey for the session cache" in on.titles("build")
        assert "@ben" in on.page("build/experience.md")
        assert "the last correction" in await on.command(BUILD, ANA, "undo")
        assert "Valkey" not in on.page("build/experience.md")


@pytest.mark.asyncio
async def test_case_25_a_silent_room_forgets_what_was_deleted_after_its_save(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        said = on.events.said(BUILD, ANA, "Decision: the aardvark guards the door")
        await on.hears(said)
        await on.command(BUILD, ANA)
        assert "aardvark" in on.page("build/experience.md")
        await on.hears(on.events.deleted(said, ANA))
        on.clock.advance(1800)
        await on.app.schedule.ring()
        assert b"aardvark" not in _bytes(tmp_path)


@pytest.mark.asyncio
async def test_an_edit_is_followed_in_a_silent_room(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        said = on.events.said(BUILD, ANA, "Decision: Redis for the session cache")
        await on.hears(said)
        await on.command(BUILD, ANA)
        await on.hears(on.events.edited(said, "Decision: Valkey for the session cache"))
        on.clock.advance(1800)
        await on.app.schedule.ring()
        assert on.titles("build") == ["Valkey for the session cache"]


@pytest.mark.asyncio
async def test_case_86_a_save_that_keeps_failing_holds_up_no_reply_and_loses_nothing(tmp_path: Path) -> None:
    extractor = Refusing()
    async with stage(tmp_path, extractor=extractor) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "lesson learned: the queue stalled, because the disk was full; a quota fixed it")
        heard = [await on.command(BUILD, ANA)]
        for number in range(10):
            assert len(await on.says(BUILD, BEN, f"what about topic {number}?")) == 1
        assert "could not be read through (1 try)" in await on.command(BUILD, ANA, "status")
        for pause_s in BACK_OFF_S:
            on.clock.advance(pause_s)
            await on.app.schedule.ring()
        tried = [request for request in extractor.requests if request.messages == extractor.requests[0].messages]
        assert len(tried) == 3  # case 101: the same messages, whatever came since
        assert "### Raw" in on.page("build/journal/2026-04-06.md")
        assert "a quota fixed it" in on.page("build/journal/2026-04-06.md")
        assert "stands in the journal" in await on.command(BUILD, ANA, "status")
        extractor.well = True
        on.clock.advance(LATER_S)
        await on.app.schedule.ring()
        assert len(on.titles("build")) == 1
        assert "### Raw" not in on.page("build/journal/2026-04-06.md")
        assert "tries" not in await on.command(BUILD, ANA, "status")
        posted = " ".join([*heard, *(outgoing.text for outgoing in on.sent())])
        assert all(word not in posted for word in ("NO_REPLY", "think", '"tool"'))  # case 100


@pytest.mark.asyncio
async def test_a_try_outlives_a_restart(tmp_path: Path) -> None:
    extractor = Refusing()
    async with stage(tmp_path, extractor=extractor) as on:
        await on.enter(BUILD)
        await _saved(on, "Decision: Redis for the session cache")
        events, clock = on.events, on.clock
    extractor.well = True
    async with stage(tmp_path, extractor=extractor, events=events, clock=clock) as on:
        clock.advance(BACK_OFF_S[0])
        await on.app.schedule.ring()
        assert on.titles("build") == ["Redis for the session cache"]


@pytest.mark.asyncio
@pytest.mark.parametrize(("raw_days", "gone_after"), [("0", 0), ("7", 7), ("never", None)])
async def test_what_was_said_is_erased_in_time_and_leaves_no_byte(
    tmp_path: Path, raw_days: str, gone_after: int | None
) -> None:
    async with stage(tmp_path, raw_days=raw_days) as on:
        await on.enter(BUILD)
        await _saved(on, "the aardvark ate my lunch, what a morning", "Decision: Redis for the session cache")
        await on.app.upkeep.sweep()
        assert (b"aardvark" in _bytes(tmp_path)) is (gone_after != 0)
        on.clock.advance(7 * 86400 + 60)
        await on.says(BUILD, ANA, "the capybara is not saved yet", addressed=False)
        await on.app.upkeep.sweep()
        assert (b"aardvark" in _bytes(tmp_path)) is (gone_after is None)
        assert b"capybara" in _bytes(tmp_path)
        assert on.titles("build") == ["Redis for the session cache"]


@pytest.mark.asyncio
async def test_the_overview_of_groups_tells_when_and_nothing_else(tmp_path: Path) -> None:
    ops = channel(2, "ops")
    file = tmp_path / "memory/groups/flush-state.json"
    async with stage(tmp_path) as on:
        for spot in (BUILD, ops):
            await on.enter(spot)
        await _saved(on, "Decision: Redis for the session cache")
        first = json.loads(file.read_text())
        assert first["groups"]["build"] == {
            "last_flush_time": "2026-04-06T12:00:00+00:00",
            "flush_number": 1,
            "count": 1,
        }
        await _saved(on, "Decision: the aardvark guards the door", spot=ops)
        assert json.loads(file.read_text()) == first  # at most once a minute
        on.clock.advance(60)
        await on.app.upkeep.overview()
        second = json.loads(file.read_text())["groups"]
        assert (second["ops"]["flush_number"], second["build"]) == (1, first["groups"]["build"])
        assert "aardvark" not in file.read_text()
        file.write_text("[broken")
        on.clock.advance(60)
        assert "Saved (no. 2)" in await _saved(on, "Decision: Kafka for events")
        assert json.loads(file.read_text())["groups"]["build"]["flush_number"] == 2


@pytest.mark.asyncio
@pytest.mark.parametrize("what", ["folder", "link", "bytes"])
async def test_a_group_whose_state_cannot_be_read_does_not_stop_the_overview(tmp_path: Path, what: str) -> None:
    ops, file = channel(2, "ops"), tmp_path / "memory/groups/flush-state.json"
    async with stage(tmp_path) as on:
        for spot in (BUILD, ops):
            await on.enter(spot)
            await _saved(on, "Decision: Redis for the session cache", spot=spot)
        on.clock.advance(60)
        await on.app.upkeep.overview()
        first = json.loads(file.read_text())["groups"]["build"]
        state = tmp_path / "memory/groups/build/flush-state.json"
        state.rename(tmp_path / "elsewhere.json")
        if what == "folder":
            state.mkdir()
        elif what == "link":
            state.symlink_to(tmp_path / "elsewhere.json")
        else:
            state.write_bytes(b"\xff\xfe{}")
        for spot in (BUILD, ops):
            assert "Saved (no. 2)" in await _saved(on, "Decision: Kafka for the events", spot=spot)
        on.clock.advance(60)
        await on.app.upkeep.overview()
        groups = json.loads(file.read_text())["groups"]
        assert groups["ops"]["flush_number"] == 2
        assert what == "bytes" or groups["build"] == first


@pytest.mark.asyncio
async def test_a_damaged_page_is_told_and_holds_up_nothing_else(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        page = tmp_path / "memory/groups/build/experience.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_bytes(b"# Experience\n\ncaf\xe9\n")
        said = await _saved(on, "lesson learned: the queue stalled, because the disk was full; a quota fixed it")
        assert "experience holds bytes that are not UTF-8" in said
        assert "Saved" in await _saved(on, "agreed: no deploys on Friday", "we agreed: no deploys on Friday")
        page.write_bytes(b"# Experience\n")
        await on.command(BUILD, ANA)
        assert len(on.titles("build")) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("file", ["pending_tasks.json", "attention.md", "heartbeat-state.json", "flush-state.json"])
async def test_a_status_is_given_whatever_stands_in_a_files_place(tmp_path: Path, file: str) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await _saved(on, "TODO: @ben renew the certificate")
        path = tmp_path / "memory/groups/build" / file
        if path.exists():
            path.rename(tmp_path / "aside")
        path.mkdir()
        told = await on.command(BUILD, ANA, "status")
        assert "last flush" in told
        assert file == "flush-state.json" or f"{file} could not be read or written: it is a folder" in told


@pytest.mark.asyncio
async def test_undo_of_a_save_is_not_held_up_by_a_page_that_the_save_could_not_write(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await _saved(on, "Decision: Redis for the session cache")
        page = tmp_path / "memory/groups/build/experience.md"
        page.rename(tmp_path / "aside")
        page.mkdir()
        said = await _saved(on, "Decision: Kafka for the events", "TODO: @ben renew the certificate")
        assert "experience.md could not be read or written: it is a folder" in said
        assert "Taken back: flush no. 2" in await on.command(BUILD, ANA, "undo")
        page.rmdir()
        (tmp_path / "aside").rename(page)
        await on.command(BUILD, ANA)
        assert on.titles("build") == ["Redis for the session cache"]


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("remember: the shop server is in Paris", "we are blocked by the DNS team"),
        ("we are blocked by the DNS team", "remember: the shop server is in Paris"),
        ("we are blocked by the DNS team", "TODO: @ben renew the certificate"),
        ("Decision: Redis for the session cache", "TODO: @ben renew the certificate"),
        ("TODO: @ben renew the certificate", "we are blocked by the DNS team"),
    ],
)
async def test_an_edit_that_makes_another_thing_of_a_message_is_followed_and_the_next_save_is_done(
    tmp_path: Path, layout: str, was: str, now: str
) -> None:
    async with stage(tmp_path, layout=layout) as on:
        await on.enter(BUILD)
        said = on.events.said(BUILD, BEN, was)
        await on.hears(said)
        await on.command(BUILD, ANA)
        await on.hears(on.events.edited(said, now))
        for _ in range(2):
            told = await on.command(BUILD, ANA)
            assert "Nothing was saved" not in told, told
        left = "".join(path.read_text() for path in (tmp_path / "memory").rglob("*.md"))
        assert was.rpartition(": ")[2].removeprefix("@ben ") not in left
        assert "\n\n\n" not in left.partition("<!-- remem:catalogue")[0]
