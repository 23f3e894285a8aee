"""The doors of one conversation: opened one after the other, whoever knocks at several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.agent import Ask, Doors, Reply, Show
from memory_core.candidates import Candidate
from memory_core.disclosure import Disclosure
from memory_core.errors import BadInput, Denied, RememError
from memory_core.ids import GroupScope, PageId
from tests.scenarios.stage import ANA, BEN, channel, stage

pytestmark = pytest.mark.asyncio
BUILD = channel(1, "build")
PAGES = ("attention", "experience", "project", "people")


@dataclass(slots=True)
class Knocking:
    """An agent that knocks at all doors at once; what came of it."""

    wishes: tuple[tuple[str, str], ...] = ()
    brought: list[Disclosure | Candidate | BaseException] = field(default_factory=list)

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """Knock."""
        knocks: list[Awaitable[Disclosure | Candidate]] = [doors.open(PageId(page)) for page in PAGES]
        knocks += [doors.search("Redis"), doors.tasks(), *(doors.remember(*wish) for wish in self.wishes)]
        self.brought = list(await asyncio.gather(*knocks, return_exceptions=True))
        return Reply("")


async def test_doors_that_are_knocked_at_at_once_keep_the_ceilings_and_the_budget(tmp_path: Path) -> None:
    agent = Knocking()
    async with stage(tmp_path / "w", agent=agent) as on:
        await on.enter(BUILD)
        for text in ("We decided to use Redis.", "TODO: ben renews the TLS certificate", "I am the lead."):
            await on.says(BUILD, BEN, text, addressed=False)
        await on.command(BUILD, ANA, "note role: ben leads")
        await on.command(BUILD, ANA, "note stack: we build with Bazel")
        await on.command(BUILD, ANA)
        await on.says(BUILD, ANA, "hm, thinking about cats")
        session = on.app.parts.conversations.talk(BUILD.conversation, GroupScope("build")).session
    opened = [page for page in session.opened if page != "people"]
    assert len(opened) == 2
    refused = [one.reason for one in agent.brought if isinstance(one, Denied)]
    assert "over_ceiling" in refused
    shown = [(part.page, mark) for part in session.parts for mark in part.shown]
    assert len(shown) == len(set(shown))
    assert not [one for one in agent.brought if isinstance(one, BaseException) and not isinstance(one, RememError)]


async def test_one_message_gives_one_fact_at_once_and_five_are_the_most(tmp_path: Path) -> None:
    agent = Knocking(
        (
            *(("stack", "billing runs on Postgres 16"), ("stack", "billing runs on Postgres 16")),
            *(("tool", "the builds run on Bazel"), ("lesson", "nobody said this at all")),
        )
    )
    async with stage(tmp_path / "w", agent=agent) as on:
        await on.enter(BUILD)
        (answer,) = await on.says(BUILD, ANA, "billing runs on Postgres 16 now, and the builds run on Bazel")
    first, *others = agent.brought[-4:]
    assert isinstance(first, Candidate)
    assert [str(one).split(";")[0] for one in others if isinstance(one, BadInput)] == [
        *("That is noted already.", "Something of that message is noted already"),
        "Nobody here said that in such words. Only what a person said is kept: use their own words.",
    ]
    assert answer == "Noted as a fact about the stack in project: billing runs on Postgres 16"
