"""Strangers and floods, at the whole program: who is turned away leaves nothing, who floods is recorded as ever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.messages import Author
from bot.wording import CANNOT_TELL, DM_NOT_NAMED, DM_NOT_SHARED, SERVER_NOT_NAMED
from memory_core.ids import PersonKey
from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, Stage, channel, direct, rows, stage
from tests.scenarios.terminal import terminal

pytestmark = pytest.mark.asyncio

EVE = Author(PersonKey("discord:666"), "eve")
DM = direct(500, EVE)
BUILD = channel(10, "build")
SECRET = "remember that my door code word is xyzzy"


def nothing_of(workspace: Path, what: str, person: Author = EVE) -> None:
    """No file holds `what`, the ledger's bytes included, and the person has no folder."""
    assert not (workspace / "people" / person.key.folder).exists()
    for path in workspace.rglob("*"):
        assert not path.is_file() or what.encode() not in path.read_bytes(), path
    assert rows(workspace, "SELECT count(*) FROM messages") == [(0,)]
    assert rows(workspace, "SELECT count(*) FROM events") == [(0,)]


@pytest.mark.parametrize(
    ("policy", "shares", "line"),
    [
        ("shared", False, DM_NOT_SHARED),
        ("shared", None, CANNOT_TELL),
        ("allowlist", True, DM_NOT_NAMED),
        ("owner", True, DM_NOT_NAMED),
    ],
)
async def test_a_stranger_gets_one_friendly_line_and_nothing_is_kept(
    tmp_path: Path, policy: str, shares: bool | None, line: str
) -> None:
    async with stage(tmp_path / "w", dm=policy, owner="discord:9") as on:
        on.platform.shares[EVE.key] = shares
        said = on.events.said(DM, EVE, SECRET, addressed=True)
        assert await on.hears(said, said) == [line]
        assert await on.hears(on.events.edited(said, SECRET + " now"), on.events.deleted(said, EVE)) == []
        for _ in range(20):
            assert await on.says(DM, EVE, SECRET) == []
        assert await on.command(DM, EVE, f"note {SECRET}") == line, "a command is told each time"
        assert on.sent()[-1].private
        assert rows(tmp_path / "w", "SELECT text FROM texts") == []
        on.clock.advance(601)
        assert await on.says(DM, EVE, SECRET) == [line]
    left = {str(event) for (event,) in rows(tmp_path / "w", "SELECT event FROM events")}
    assert left <= {f"{said.message}!deleted"}
    assert b"xyzzy" not in b"".join(path.read_bytes() for path in (tmp_path / "w").rglob("*") if path.is_file())
    assert not (tmp_path / "w/people").exists() or not list((tmp_path / "w/people").iterdir())


@pytest.mark.parametrize(
    ("given", "shares"),
    [
        ({"dm": "shared"}, True),
        ({"dm": "everyone"}, False),
        ({"dm": "allowlist", "dm_allow": "discord:666"}, False),
        ({"dm": "shared", "dm_allow": "discord:666"}, False),
        ({"dm": "owner", "owner": "discord:666"}, False),
    ],
)
async def test_who_is_welcome_has_a_dm_with_memory(tmp_path: Path, given: dict[str, Any], shares: bool) -> None:
    async with stage(tmp_path / "w", **given) as on:
        on.platform.shares[EVE.key] = shares
        (said,) = await on.says(DM, EVE, "decision: backups run at noon")
        assert "Noted" in said


async def test_whom_the_platform_cannot_tell_of_keeps_the_memory_they_have(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as on:
        first = on.events.said(DM, EVE, "decision: backups run at noon", addressed=True)
        assert "Noted" in (await on.hears(first))[0]
        on.platform.shares[EVE.key] = None
        assert "Noted" in (await on.says(DM, EVE, "decision: the logs rotate weekly"))[0]
        on.platform.shares[EVE.key] = False
        assert await on.says(DM, EVE, "decision: cats are purple") == [DM_NOT_SHARED]
        await on.hears(on.events.edited(first, "decision: backups run at dusk"))
    texts = [text for (text,) in rows(tmp_path / "w", "SELECT text FROM texts")]
    assert "decision: backups run at dusk" in texts, "what was kept is still corrected by its author"
    assert not any("purple" in str(text) for text in texts)


async def test_in_rooms_strangers_are_people_like_others_and_the_console_is_always_open(tmp_path: Path) -> None:
    async with stage(tmp_path / "w", dm="owner", owner="discord:9") as on:
        on.platform.shares[EVE.key] = False
        await on.enter(BUILD)
        assert "Noted" in (await on.says(BUILD, EVE, "decision: backups run at noon"))[0]
    async with terminal(tmp_path / "v", dm="owner", owner="discord:9") as screen:
        assert "Noted" in (await screen.type("/as ana", "decision: backups run at noon"))[0]


async def test_a_server_that_was_not_chosen_is_not_listened_to(tmp_path: Path) -> None:
    async with stage(tmp_path / "w", servers="900, T7") as on:
        other = channel(20, "elsewhere", server_id="901")
        assert await on.says(other, ANA, "hello") == []
        assert await on.command(other, ANA, "note decision: we use tabs") == SERVER_NOT_NAMED
        assert rows(tmp_path / "w", "SELECT count(*) FROM events") == [(0,)]
        assert "Hello" in (await on.says(BUILD, ANA, "hello"))[0]
        assert "Hello" in (await on.says(direct(501, BEN), BEN, "hello"))[0]
    assert not (tmp_path / "w/memory/groups/elsewhere.md").exists()


async def _asks(on: Stage, spot: Spot, author: Author, count: int) -> list[str]:
    """So many messages at once, and what was said to them."""
    return await on.hears(
        *(on.events.said(spot, author, f"@remem what about topic {n}?", addressed=True) for n in range(count))
    )


async def test_a_flood_of_one_person_is_recorded_answered_so_often_and_told_once(tmp_path: Path) -> None:
    async with stage(tmp_path / "w", answers_per_person=5, answers_per_room=50) as on:
        await on.enter(BUILD)
        on.clock.advance(60)
        said = await _asks(on, BUILD, ANA, 30)
        assert len(said) == 6
        assert said[-1].startswith("That is more than I can answer at once")
        assert "still kept" in said[-1]
        assert rows(tmp_path / "w", "SELECT count(*) FROM messages WHERE author_name = 'ana'") == [(30,)]
        assert await on.app.parts.intake.owed() == (), "what is not answered now is not answered after a restart"
        (text,) = await on.says(BUILD, ANA, "decision: backups run at noon") or [""]
        assert text == "", "silence"
        assert "backups run at noon" in on.page("build/experience.md"), "what cannot wait is written all the same"
        assert "more than I can answer" in await on.command(BUILD, ANA, "status"), "a command is told each time"
        assert len(await on.says(BUILD, BEN, "hello")) == 1, "others are answered"
        on.clock.advance(13)
        assert len(await _asks(on, BUILD, ANA, 2)) == 1, "a fifth of a minute, one answer"


async def test_a_flood_in_one_room_leaves_other_rooms_alone_and_costs_its_people_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path / "w", answers_per_person=8, answers_per_room=4) as on:
        await on.enter(BUILD)
        on.clock.advance(60)
        people = [Author(PersonKey(f"discord:{n}"), f"p{n}") for n in range(100, 110)]
        said = [text for one in people for text in await _asks(on, BUILD, one, 1)]
        assert len(said) == 5
        assert "So much is asked here" in said[-1]
        elsewhere = channel(11, "ops")
        await on.enter(elsewhere)
        on.clock.advance(60)
        assert (
            len(await on.hears(*(on.events.said(elsewhere, one, "hello", addressed=True) for one in people[:4]))) == 4
        )


async def test_many_strangers_fill_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.admission.KEPT", 10)
    async with stage(tmp_path / "w", dm="owner", owner="discord:9") as on:
        for number in range(30):
            eve = replace(EVE, key=PersonKey(f"discord:{7000 + number}"))
            assert await on.says(direct(600 + number, eve), eve, "hi") == [DM_NOT_NAMED]
        nothing_of(tmp_path / "w", "hi from", eve)
