"""Whose memory a message belongs to, and when it has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.messages import Author, Room
from adapters.rooms import NO_PARTNER, SHARED, UNKNOWN_KIND, Placed, Rooms
from memory_core.errors import StoreFailed
from memory_core.ids import DirectScope, GroupScope, PersonKey, RoomKey, RoomKind, Scope
from memory_core.layouts import APM
from memory_core.messages import Voice
from memory_core.names import MemoryNames
from memory_core.names_file import NamesFile

ANA = Author(PersonKey("slack:T1:U1"), "ana")
BOT = Author(PersonKey("slack:T1:UBOT"), "remem", Voice.SELF)
OWNERS = (PersonKey("discord:1"), PersonKey("slack:T1:U9"))


def room(key: str, kind: RoomKind, title: str = "build", *, shared: bool = False) -> Room:
    return Room(RoomKey(key), kind, title, server="Acme", shared=shared)


def rooms(*, shared_rooms: bool = False) -> Rooms:
    return Rooms(MemoryNames(), OWNERS, shared_rooms=shared_rooms)


async def scope_of(found: Rooms, where: Room, author: Author) -> Scope | None:
    return (await found.place(where, author)).scope


@pytest.mark.parametrize(
    "kind",
    [RoomKind.CHANNEL, RoomKind.PUBLIC_THREAD, RoomKind.PRIVATE_THREAD, RoomKind.FORUM_POST, RoomKind.GROUP_DM],
)
@pytest.mark.asyncio
async def test_every_shared_place_is_a_group(kind: RoomKind) -> None:
    assert await scope_of(rooms(), room("discord:5", kind), ANA) == GroupScope("build")


@pytest.mark.asyncio
async def test_a_thread_shares_its_parents_memory_and_a_private_thread_does_not() -> None:
    found = rooms()
    channel = await scope_of(found, room("discord:5", RoomKind.CHANNEL), ANA)
    assert await scope_of(found, room("discord:5", RoomKind.PUBLIC_THREAD), ANA) == channel
    assert await scope_of(found, room("discord:5", RoomKind.FORUM_POST), ANA) == channel
    assert await scope_of(found, room("discord:6", RoomKind.PRIVATE_THREAD), ANA) == GroupScope("build-acme")


@pytest.mark.asyncio
async def test_a_dm_is_the_persons_and_the_owners_keys_are_one_person() -> None:
    found = rooms()
    direct = room("slack:T1:D1", RoomKind.DIRECT)
    assert await scope_of(found, direct, ANA) == DirectScope(ANA.key)
    for owner in OWNERS:
        assert await scope_of(found, direct, Author(owner, "me")) == DirectScope(OWNERS[0], owner=True)
        assert found.person(owner) == DirectScope(OWNERS[0], owner=True)
    assert (await scope_of(found, room("discord:7", RoomKind.CHANNEL), Author(OWNERS[0], "me"))) == GroupScope(
        "build"
    )


@pytest.mark.asyncio
async def test_what_the_bot_says_in_a_dm_belongs_to_its_partner() -> None:
    found = rooms()
    direct = room("slack:T1:D1", RoomKind.DIRECT)
    assert await found.place(direct, BOT) == Placed(None, NO_PARTNER)
    await scope_of(found, direct, ANA)
    assert await scope_of(found, direct, BOT) == DirectScope(ANA.key)
    assert await scope_of(found, room("slack:T1:D2", RoomKind.DIRECT), BOT) is None


@pytest.mark.asyncio
async def test_who_deleted_in_a_dm_is_not_told_and_never_becomes_its_partner() -> None:
    found = rooms()
    direct, someone = room("slack:T1:D1", RoomKind.DIRECT), Author(PersonKey("slack:T1:U99"), "someone")
    assert await found.place(direct, someone, spoke=False) == Placed(None, NO_PARTNER)
    await scope_of(found, direct, ANA)
    assert await found.place(direct, someone, spoke=False) == Placed(DirectScope(ANA.key))
    assert await scope_of(found, direct, BOT) == DirectScope(ANA.key)


@pytest.mark.asyncio
async def test_an_unknown_kind_has_no_memory_and_gets_no_name() -> None:
    names = MemoryNames()
    unknown = room("slack:T1:D1", RoomKind.UNKNOWN)
    assert await Rooms(names, OWNERS).place(unknown, Author(OWNERS[0], "me")) == Placed(None, UNKNOWN_KIND)
    await Rooms(names, OWNERS).renamed(unknown)
    assert await names.lookup(unknown.key) is None


@pytest.mark.parametrize("kind", [RoomKind.CHANNEL, RoomKind.DIRECT, RoomKind.GROUP_DM])
@pytest.mark.asyncio
async def test_rooms_shared_with_another_organisation_are_off_until_switched_on(kind: RoomKind) -> None:
    shared = room("slack:T1:C1", kind, shared=True)
    assert await rooms().place(shared, ANA) == Placed(None, SHARED)
    assert await scope_of(rooms(shared_rooms=True), shared, ANA) is not None


@pytest.mark.asyncio
async def test_case_59_a_damaged_mapping_shuts_the_room_and_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "memory/groups"
    (folder / "lost").mkdir(parents=True)
    (folder / "group_names.json").write_text('{"discord:5": {"name": "bu')
    found = Rooms(NamesFile(tmp_path, APM), OWNERS)
    placed = await found.place(room("discord:5", RoomKind.CHANNEL), ANA)
    assert placed.scope is None
    assert "lost" in placed.why
    assert await scope_of(found, room("discord:1", RoomKind.DIRECT), ANA) == DirectScope(ANA.key)


@pytest.mark.asyncio
async def test_a_name_that_cannot_be_written_shuts_the_room() -> None:
    class Refusing(MemoryNames):
        async def claim(self, room: RoomKey, title: str, server: str) -> str:
            raise StoreFailed("group_names.json could not be read or written: the disk is full; free some space.")

    placed = await Rooms(Refusing(), OWNERS).place(room("discord:5", RoomKind.CHANNEL), ANA)
    assert placed.scope is None
    assert "disk is full" in placed.why


@pytest.mark.asyncio
async def test_case_51_a_renamed_room_keeps_its_memory() -> None:
    names = MemoryNames()
    found = Rooms(names, OWNERS)
    await scope_of(found, room("discord:5", RoomKind.CHANNEL, "build"), ANA)
    await found.renamed(room("discord:5", RoomKind.CHANNEL, "build-2026"))
    assert await scope_of(found, room("discord:5", RoomKind.CHANNEL, "build-2027"), ANA) == GroupScope("build")
    assert names.table.entries[RoomKey("discord:5")] == {
        "name": "build",
        "channel": "discord",
        "title": "build-2027",
        "server": "Acme",
    }
