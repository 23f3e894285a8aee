"""What was told in private stays there: the cases of privacy at the level of the whole program, on real files.

Each case asks for it where it must not be known, and looks at what the bot said, at what the agent was asked with,
and at two logs of access: the pages that the store read, and the names of folders and files that were opened at all.
Each also asks where it is known, since an answer that nobody gets proves nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pytest

from adapters.messages import Author, Incoming, Room
from adapters.rooms import UNKNOWN_KIND
from bot.app import App, opened
from memory_core.clock import ManualClock
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, RoomKey, RoomKind, Scope
from memory_core.store.disk import Disk
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.terminal import START
from tests.scenarios.terminal import settings as program_settings
from tests.scenarios.watching import NosyAgent

ANA, BEN = Author(PersonKey("slack:T1:U1"), "ana"), Author(PersonKey("slack:T1:U2"), "ben")
OWNER, BENS = DirectScope(ANA.key, owner=True), DirectScope(BEN.key)
OWN_FILES = {"main", "MEMORY.md", "USER.md"}
"""Names that only the owner's DM may open."""


def spot(native: str, kind: RoomKind, title: str = "", thread: str = "") -> Spot:
    """A place on Slack."""
    return Spot(Room(RoomKey(f"slack:T1:{native}"), kind, title), thread)


ANAS_DM, BENS_DM = spot("D1", RoomKind.DIRECT, "ana"), spot("D2", RoomKind.DIRECT, "ben")
GENERAL = spot("C1", RoomKind.CHANNEL, "#general")


@dataclass(slots=True)
class House:
    """The running program. `reads` are the pages that the store read, `names` what was opened on disk."""

    app: App
    clock: ManualClock
    slack: RecordingAdapter
    events: Events
    agent: NosyAgent
    reads: list[tuple[Scope, PageId]]
    names: list[str]

    async def hears(self, *incomings: Incoming) -> str:
        """Events come in; all that the bot says to them."""
        before = len(self.slack.sent)
        for incoming in incomings:
            await self.slack.happens(incoming)
        await self.app.parts.conversations.settled()
        return "\n\n".join(outgoing.text for outgoing in self.slack.sent[before:])

    async def told(self, place: Spot, author: Author, *texts: str) -> str:
        """Say things to the bot and save; what it said."""
        said = await self.hears(*(self.events.said(place, author, text, addressed=True) for text in texts))
        return f"{said}\n\n{await self.hears(self.events.command(place, author, ''))}"

    async def asked(self, place: Spot, author: Author, text: str, *, addressed: bool = True) -> str:
        """Ask, with fresh logs; all that the bot and its agent had of it."""
        self.reads.clear()
        self.names.clear()
        self.agent.asks.clear()
        self.agent.brought.clear()
        said = await self.hears(self.events.said(place, author, text, addressed=addressed))
        return f"{said}\n{self.agent.asks}\n{self.agent.brought}"

    def scopes_read(self) -> set[Scope]:
        """Whose pages were read since the last question."""
        return {scope for scope, _ in self.reads}


class OpeningDisk(Disk):
    """Keeps the names of the files and folders that are opened."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def open_file(self, name: str, parent: int) -> int:
        self.names.append(name)
        return super().open_file(name, parent)

    def open_folder(self, name: str, parent: int) -> int:
        self.names.append(name)
        return super().open_folder(name, parent)


@asynccontextmanager
async def house(workspace: Path) -> AsyncIterator[House]:
    """The program on a workspace; Ana is its owner."""
    disk = OpeningDisk()
    reads: list[tuple[Scope, PageId]] = []
    clock, agent = ManualClock(START), NosyAgent()
    async with opened(
        program_settings(workspace, owner=ANA.key),
        clock=clock,
        zone=UTC,
        agent=agent,
        on_read=lambda scope, page: reads.append((scope, page)),
        disk=disk,
    ) as app:
        events = Events(clock)
        slack = RecordingAdapter("slack", lambda: str(events.number()))
        app.add(slack)
        running = asyncio.create_task(slack.run(app.turn.take_in))
        await asyncio.sleep(0)
        yield House(app, clock, slack, events, agent, reads, disk.names)
        await slack.close()
        await running
        await app.parts.conversations.close()


@pytest.mark.asyncio
async def test_case_60_what_a_dm_knows_is_not_opened_in_a_channel(tmp_path: Path) -> None:
    async with house(tmp_path / "w") as at:
        await at.told(ANAS_DM, ANA, "remember: my birthday is 3 May")
        await at.told(GENERAL, ANA, "We decided to celebrate every birthday with cake.")
        here = await at.asked(ANAS_DM, ANA, "when is my birthday?")
        assert "3 May" in here
        assert OWN_FILES & set(at.names)
        there = await at.asked(GENERAL, ANA, "when is my birthday?")
        assert "cake" in there
        assert "3 May" not in there
        assert at.scopes_read() == {GroupScope("general")}
        assert not OWN_FILES & set(at.names)


@pytest.mark.parametrize("kind", [kind for kind in RoomKind if kind is not RoomKind.DIRECT])
@pytest.mark.asyncio
async def test_case_61_only_a_dm_opens_what_is_the_owners(tmp_path: Path, kind: RoomKind) -> None:
    thread = "17.1" if kind in {RoomKind.PUBLIC_THREAD, RoomKind.FORUM_POST} else ""
    place = spot("C9", kind, "#plans", thread)
    async with house(tmp_path / "w") as at:
        (tmp_path / "w/MEMORY.md").write_text("The vault code is 4711.\n", "utf-8")
        await at.told(ANAS_DM, ANA, "remember: the vault is in the cellar")
        at.reads.clear()
        at.names.clear()
        await at.told(place, ANA, "We decided to paint the vault green.")
        known = await at.asked(place, ANA, "what about the vault?")
        assert "4711" not in known
        assert "cellar" not in known
        assert not OWN_FILES & set(at.names)
        if kind is RoomKind.UNKNOWN:
            assert UNKNOWN_KIND in known
            assert "green" not in known
            assert at.reads == []
            assert at.names == []
        else:
            assert "green" in known
            assert at.scopes_read() == {GroupScope("plans")}
        assert "4711" in await at.asked(ANAS_DM, ANA, "what about the vault?")


@pytest.mark.asyncio
async def test_case_61_a_scheduled_save_of_a_group_opens_the_groups_pages_alone(tmp_path: Path) -> None:
    async with house(tmp_path / "w") as at:
        (tmp_path / "w/MEMORY.md").write_text("The vault code is 4711.\n", "utf-8")
        await at.asked(GENERAL, ANA, "blocked: waiting for the code of the vault")
        at.reads.clear()
        at.names.clear()
        at.clock.advance(1801)
        await at.app.schedule.ring()
        assert at.scopes_read() == {GroupScope("general")}
        assert not OWN_FILES & set(at.names)
        written = (tmp_path / "w/memory/groups/general/attention.md").read_text("utf-8")
        assert "vault" in written
        assert "4711" not in written


@pytest.mark.parametrize("kind", [RoomKind.DIRECT, RoomKind.PRIVATE_THREAD, RoomKind.CHANNEL])
@pytest.mark.asyncio
async def test_case_118_what_was_told_in_private_is_in_no_request_of_another_room(
    tmp_path: Path, kind: RoomKind
) -> None:
    private = spot("P1", kind, "ana" if kind is RoomKind.DIRECT else "#leads")
    async with house(tmp_path / "w") as at:
        # A room that is new is looked for in the `rooms:` of every index: its name may be in a mapping that was lost.
        await at.told(GENERAL, ANA, "remember: the kitchen is on the first floor")
        await at.told(private, ANA, "remember: staging db host is 10.0.0.9", "remember: the salary talk is on Friday")
        for question in ("what is the staging db host?", "when is the salary talk?"):
            known = await at.asked(private, ANA, question)
            assert "10.0.0.9" in known or "Friday" in known
            there = await at.asked(GENERAL, ANA, question)
            assert "10.0.0.9" not in there
            assert "Friday" not in there
            assert at.scopes_read() <= {GroupScope("general")}
            assert not {*OWN_FILES, "leads", "leads.md"} & set(at.names)
        await at.told(GENERAL, ANA, "remember: the printer is on the second floor")
        assert "second floor" not in await at.asked(private, ANA, "where is the printer?")
        assert GroupScope("general") not in at.scopes_read()


@pytest.mark.asyncio
async def test_case_119_two_persons_dms_are_two_memories(tmp_path: Path) -> None:
    async with house(tmp_path / "w") as at:
        await at.told(BENS_DM, BEN, "remember: I am pregnant", "We decided to tell the team in June.")
        known = await at.asked(BENS_DM, BEN, "any news for the team?")
        assert "June" in known
        assert at.scopes_read() == {BENS}
        for other, author in ((ANAS_DM, ANA), (spot("D3", RoomKind.DIRECT), Author(PersonKey("slack:T1:U3"), "cy"))):
            there = await at.asked(other, author, "any news from the team?")
            assert "pregnant" not in there
            assert "June" not in there
            assert BENS not in at.scopes_read()
            assert "people" not in at.names or BEN.key.folder not in at.names
        written = [path for path in (tmp_path / "w").rglob("*.md") if "pregnant" in path.read_text("utf-8")]
        assert written
        assert all(path.is_relative_to(tmp_path / "w/people" / BEN.key.folder) for path in written)


@pytest.mark.asyncio
async def test_case_120_a_group_dm_is_a_group(tmp_path: Path) -> None:
    trip = spot("G1", RoomKind.GROUP_DM, "ana, ben, cy")
    async with house(tmp_path / "w") as at:
        await at.told(ANAS_DM, ANA, "TODO: ana buys the surprise present by Friday")
        assert "surprise" in await at.asked(ANAS_DM, ANA, "what is on my list?")
        greeted = await at.told(trip, ANA, "TODO: ana books the train by Friday")
        assert "What is this group for?" in greeted
        assert await at.asked(trip, BEN, "what is on my list?", addressed=False) == "\n[]\n[]"
        known = await at.asked(trip, ANA, "what is on my list?")
        assert "train" in known
        assert "surprise" not in known
        assert at.scopes_read() == {GroupScope("ana-ben-cy")}
        assert not OWN_FILES & set(at.names)
        assert (tmp_path / "w/memory/groups/ana-ben-cy.md").exists()
