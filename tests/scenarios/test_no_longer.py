"""What is no longer so: the statement that it opposes is superseded, in several languages and in every layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_core.flush.sameness import denials, opposes, words
from tests.scenarios.stage import ANA, channel, direct, stage

BUILD, DM = channel(1, "build"), direct(9, ANA)
ASKED = "what did we decide for the session cache?"


@pytest.mark.parametrize(
    ("known", "said", "taken_back"),
    [
        ("We use Redis for the cache", "We no longer use Redis for the cache", True),
        ("We use Redis for the cache", "We don't use Redis for the cache anymore", True),
        ("We use Redis for the cache", "We do not use Redis for the cache any more", True),
        ("We use Redis for the cache", "We no longer use Redis for the cache, we use Valkey", True),
        (
            "We use Redis for the cache",
            "As it was slow, we no longer use Redis for the cache; Valkey it is",
            True,
        ),
        ("Wir nutzen Redis für den Cache", "Wir nutzen Redis nicht mehr für den Cache", True),
        ("Wir nutzen Redis für den Cache", "Wir nutzen kein Redis mehr für den Cache", True),
        ("我们用 Redis 做缓存", "我们不再用 Redis 做缓存", True),
        ("我们用 Redis 做缓存", "我们不再用 Redis 做缓存，改用 Valkey", True),
        ("缓存用 Redis", "缓存不用 Redis 了", True),
        ("We use Redis for the cache", "We use Valkey for the cache", False),
        ("We use Redis for the cache", "We no longer use Redis for the queue of the mails", False),
        ("We use Redis for the cache", "The cache is no longer slow, we use Redis for it", False),
        ("我们用 Redis 做缓存", "我们用 Valkey 做缓存", False),
        ("Wir nutzen Redis für den Cache", "Wir nutzen mehr Redis für den Cache", False),
    ],
)
def test_what_ended_opposes_what_was(known: str, said: str, taken_back: bool) -> None:
    assert any(opposes(one, words(known)) for one in denials(said)) is taken_back


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
@pytest.mark.parametrize(
    ("was", "ended", "now", "is_so"),
    [
        (
            "We decided to use Redis for the session cache",
            "We decided to no longer use Redis for the session cache",
            "We decided to use Valkey for the session cache",
            "to use Redis",
        ),
        (
            "决定：我们用 Redis 做 session cache",
            "决定：我们不再用 Redis 做 session cache",
            "决定：我们用 Valkey 做 session cache",
            "我们用 Redis",
        ),
    ],
)
async def test_what_is_no_longer_so_is_not_told_as_valid(
    tmp_path: Path, layout: str, was: str, ended: str, now: str, is_so: str
) -> None:
    async with stage(tmp_path, layout=layout) as on:
        await on.enter(BUILD)
        for spot in (BUILD, DM):
            await on.says(spot, ANA, was)
            (before,) = await on.says(spot, ANA, ASKED)
            assert is_so in before
            for text in (ended, now):
                await on.says(spot, ANA, text)
            for _ in range(2):
                (told,) = await on.says(spot, ANA, ASKED)
                lines = [line for line in told.splitlines() if is_so in line.partition("(replaces")[0]]
                assert (lines, "Valkey" in told) == ([], True), told
                receipt = await on.command(spot, ANA)
            assert "Nothing new" in receipt


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
async def test_after_a_correction_the_old_words_are_not_told_any_more(tmp_path: Path, layout: str) -> None:
    async with stage(tmp_path, layout=layout) as on:
        await on.enter(BUILD)
        for spot in (BUILD, DM):
            await on.says(spot, ANA, "We decided to use Redis for the session cache")
            assert "Redis" in (await on.says(spot, ANA, ASKED))[0]
            assert "Corrected" in await on.command(spot, ANA, "correct session cache => Valkey for the session cache")
            (told,) = await on.says(spot, ANA, ASKED)
            assert "Valkey for the session cache" in told
            assert not any("Redis" in line.partition("(replaces")[0] for line in told.splitlines()), told
            await on.command(spot, ANA, "undo")
            (told,) = await on.says(spot, ANA, ASKED)
            assert ("Redis" in told, "Valkey" in told) == (True, False)


@pytest.mark.asyncio
async def test_what_is_said_and_taken_back_in_one_talk_in_a_daily_note(tmp_path: Path) -> None:
    async with stage(tmp_path, layout="adaptive") as on:
        await on.says(DM, ANA, "We decided to use Redis for the session cache")
        await on.says(DM, ANA, "We decided to no longer use Redis for the session cache")
        assert "1 decision " in await on.command(DM, ANA)
        note = (tmp_path / "people/discord-1/memory/2026-04-06.md").read_text()
        assert note.count("--> [absorbed]") == 1
        await on.command(DM, ANA, "undo")
        assert "no longer" in await on.command(DM, ANA, "undo")
        note = (tmp_path / "people/discord-1/memory/2026-04-06.md").read_text()
        assert "[absorbed]" not in note
        assert "no longer" not in note
        assert "to use Redis" in note


@pytest.mark.asyncio
async def test_two_decisions_of_one_make_by_one_person_are_both_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, "We decided to use Redis for the session cache")
        assert "Redis" in (await on.says(BUILD, ANA, ASKED))[0]
        await on.says(BUILD, ANA, "We decided to use Valkey for the session cache")
        (told,) = await on.says(BUILD, ANA, ASKED)
        assert ("Redis" in told, "Valkey" in told) == (True, True), told
