"""The indexes are the second witness of which room has which name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.errors import NamesDamaged
from memory_core.ids import RoomKey
from memory_core.layouts import layout_named
from memory_core.names_file import NamesFile
from tests.scenarios.terminal import START

pytestmark = pytest.mark.asyncio

BUILD, OPS, NEW = RoomKey("discord:11"), RoomKey("discord:12"), RoomKey("discord:13")


class Mapping:
    """A mapping on disk, and what was told of it."""

    def __init__(self, workspace: Path) -> None:
        self.folder = workspace / "memory/groups"
        self.folder.mkdir(parents=True)
        self.told: list[str] = []
        self.names = NamesFile(workspace, layout_named("apm"), clock=ManualClock(START), tell=self.told.append)

    @property
    def file(self) -> Path:
        return self.folder / "group_names.json"

    def says(self, **names: str) -> None:
        entries = {f"discord:{room[1:]}": {"name": name, "channel": "discord"} for room, name in names.items()}
        self.file.write_text(json.dumps(entries), "utf-8")

    def index(self, name: str, *rooms: str) -> None:
        text = f"---\ngroup_name: {name}\nrooms: {json.dumps(rooms)}\n---\n\n# Memory of {name}\n"
        (self.folder / f"{name}.md").write_text(text, "utf-8")


@pytest.fixture
def mapping(tmp_path: Path) -> Iterator[Mapping]:
    mapping = Mapping(tmp_path)
    mapping.index("build", BUILD)
    mapping.index("ops", OPS)
    yield mapping
    mapping.names.close()


async def test_a_room_that_only_another_groups_index_names_has_no_memory_until_a_person_decides(
    mapping: Mapping,
) -> None:
    mapping.says(r11="ops", r12="ops")
    with pytest.raises(NamesDamaged, match="a person must decide") as refused:
        await mapping.names.claim(BUILD, "#build", "")
    assert "'" not in str(refused.value)  # the room hears of no other group
    with pytest.raises(NamesDamaged):
        await mapping.names.lookup(BUILD)
    assert await mapping.names.claim(OPS, "#ops", "") == "ops"
    (fault,) = await mapping.names.faults()
    assert "the name 'ops'" in fault
    assert "index of 'build'" in fault
    mapping.index("ops", OPS, BUILD)  # a person moves the room
    assert await mapping.names.claim(BUILD, "#build", "") == "ops"
    assert await mapping.names.faults() == ()


async def test_swapped_names_open_neither_memory(mapping: Mapping) -> None:
    mapping.says(r11="ops", r12="build")
    for room in (BUILD, OPS):
        with pytest.raises(NamesDamaged):
            await mapping.names.claim(room, "", "")


async def test_a_room_that_no_index_names_shares_a_memory_where_the_operator_wrote_it_so(mapping: Mapping) -> None:
    mapping.says(r11="build", r12="ops", r13="build")
    assert await mapping.names.claim(NEW, "#new", "") == "build"


async def test_a_room_that_lost_its_entry_gets_its_memory_back_and_no_new_name(mapping: Mapping) -> None:
    mapping.says(r12="ops")
    assert await mapping.names.claim(BUILD, "#build", "Acme") == "build"
    assert any("discord:11 was missing" in line for line in mapping.told)
    assert json.loads(mapping.file.read_text("utf-8"))[BUILD]["name"] == "build"
    assert await mapping.names.claim(NEW, "#build", "Acme") == "build-acme"


async def test_a_room_in_two_indexes_gets_no_name(mapping: Mapping) -> None:
    mapping.says(r12="ops")
    mapping.index("ops", OPS, BUILD)
    with pytest.raises(NamesDamaged, match="decide which"):
        await mapping.names.claim(BUILD, "#build", "")


async def test_a_torn_file_is_a_fault_also_when_it_can_be_rebuilt(mapping: Mapping) -> None:
    mapping.file.write_text('{"discord:11": {"name": "bui', "utf-8")
    (fault,) = await mapping.names.faults()
    assert "no valid JSON" in fault
    assert "rebuilt from the indexes" in fault
    assert mapping.file.read_text("utf-8") == '{"discord:11": {"name": "bui'  # looking changes nothing
    assert await mapping.names.claim(BUILD, "#build", "") == "build"
    (told,) = mapping.told
    (kept,) = mapping.folder.glob("*.broken-*")
    assert kept.name in told
    assert await mapping.names.faults() == ()
