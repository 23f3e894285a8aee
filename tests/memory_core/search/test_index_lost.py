"""An index that is lost, changed or made from another ledger while it is in use: what is found stays the same."""

from __future__ import annotations

import asyncio
import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath

import pytest

from memory_core.errors import StoreError
from memory_core.forms.units import Unit
from memory_core.gate import revise_search
from memory_core.ids import GroupScope, PageId
from memory_core.ledger.transcript import TranscriptState
from memory_core.search.index_file import IndexFile
from memory_core.search.index_place import IndexPlace
from memory_core.search.parts import Placed
from memory_core.search.sources import Source
from memory_core.store.tree import Tree
from tests.memory_core.search.kit import BUILD, Memory, memory, searched

LINES = 800
SHOP = GroupScope("shop")


def _page(what: str) -> str:
    return f"# Page\n\n{''.join(f'- {what} number{at} {at * 7919}{chr(10)}' for at in range(LINES))}"


async def _filled(one: Memory) -> Path:
    """A page and a talk in an index; its file."""
    one.put("experience", _page("redis"))
    for at in range(40):
        await one.says(f"kafka line {at} of the talk")
    await one.finds("redis")
    one.clock.advance(10)
    (path,) = one.index_files()
    return path


async def _all_is_found(one: Memory) -> None:
    for words, first in (
        ("redis number77", "- redis number77 609763"),
        ("kafka line 17", "kafka line 17 of the talk"),
    ):
        assert (await one.finds(words))[0] == first


@contextmanager
def _files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Every write behind `size_bytes` of a file fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.asyncio
async def test_a_disk_that_fills_while_an_index_grows_hides_nothing(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        path = await _filled(one)
        one.put("project", _page("valkey"))
        with _files_of_at_most(path.stat().st_size + 4096):
            assert (await one.finds("valkey number5"))[0] == "- valkey number5 39595"
            await _all_is_found(one)
        await _all_is_found(one)


@pytest.mark.asyncio
async def test_a_file_that_is_damaged_between_two_searches_hides_nothing(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        path = await _filled(one)
        whole = path.read_bytes()
        path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
        with closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.DatabaseError):
            other.execute("SELECT * FROM meta")
        await asyncio.to_thread(one.handles.searches._open[BUILD.key].file.close)  # its pages were read before
        await _all_is_found(one)


@pytest.mark.asyncio
async def test_what_a_late_writer_of_the_same_file_brings_back_is_not_found(tmp_path: Path) -> None:
    """As when an index is closed for another one, and opened anew while a search of the first still runs."""
    async with memory(tmp_path) as one:
        await _filled(one)
        key = await one.says("the door code is quokka")
        assert (await one.finds("quokka"))[0] == "the door code is quokka"
        (path,) = one.index_files()
        before = path.read_bytes()
        await one.deletes(key)
        assert "the door code is quokka" not in await one.finds("quokka")
        path.write_bytes(before)  # as a transaction of somebody else would leave it
        await asyncio.to_thread(one.handles.searches._open[BUILD.key].file.close)
        assert "the door code is quokka" not in await one.finds("quokka")
        assert b"quokka" not in path.read_bytes()
        await _all_is_found(one)


@pytest.mark.asyncio
async def test_an_index_of_another_ledger_is_compared_with_the_one_that_is_there(tmp_path: Path) -> None:
    """The numbers of two ledgers may be the same: one that was begun anew has heard as many messages."""
    async with memory(tmp_path) as one:
        await one.says("the door code is quokka")
        assert await one.finds("quokka")
    async with memory(tmp_path) as one:
        one.clock.advance(86_400)
        await one.says("lunch is at noon")
        assert await one.finds("quokka") == []
        assert await one.finds("lunch") == ["lunch is at noon"]
        assert b"quokka" not in one.index_files()[0].read_bytes()


@pytest.mark.asyncio
async def test_no_link_in_the_folder_of_indexes_is_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine.sqlite3"
    with closing(sqlite3.connect(mine)) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    before = mine.read_bytes()
    folder = tmp_path / "w/.remem/search"
    folder.mkdir(parents=True)
    (folder / "group-build.sqlite3").symlink_to(mine)
    async with memory(tmp_path / "w") as one:
        one.put("experience", "# Experience\n\n- redis for the cache\n")
        assert await one.finds("redis") == ["- redis for the cache"]
    assert mine.read_bytes() == before


@pytest.mark.asyncio
async def test_what_belongs_to_no_scope_is_removed_with_what_a_kill_left_beside_it(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await _filled(one)
        await one.says("redis in the shop", scope=SHOP)
        assert await searched(one.handles.open(SHOP), "redis")
        folder = tmp_path / ".remem/search"
        (folder / "group-gone.sqlite3").write_text("the door code is quokka")
        (folder / "group-shop.sqlite3-journal").write_text("the door code is quokka")
        searches = one.handles.searches
        assert await asyncio.to_thread(searches.remove_others, [BUILD, SHOP]) == ("group-gone.sqlite3",)
        await asyncio.to_thread(searches.remove, SHOP)
        assert [path.name for path in one.index_files()] == ["group-build.sqlite3"]
        assert await asyncio.to_thread(searches.remove_others, []) == ("group-build.sqlite3",)
        await _all_is_found(one)


@pytest.mark.asyncio
async def test_an_index_whose_pages_cannot_be_read_is_thrown_away(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await _filled(one)
        one.file("index").parent.mkdir(parents=True, exist_ok=True)
        one.file("index").mkdir()
        with pytest.raises(StoreError, match="build"):
            await revise_search(one.handles.open(BUILD))
        assert one.index_files() == []


_DAMAGED = (
    "UPDATE sources SET spots = '5'",
    "UPDATE sources SET spots = '[[1, 2, 3, 4, 5, 6, 7]]'",
    "UPDATE sources SET first = 'x'",
    "UPDATE sources SET first = 1 << 27",
    "UPDATE sources SET first = first + 1",
    "UPDATE postings SET places = 'abcdefgh'",
    "UPDATE postings SET places = 5",
    "UPDATE postings SET places = x'00'",
    "UPDATE postings SET places = x'ffffffffffffffff'",
    "UPDATE postings SET segment = segment + 1000",
    "UPDATE units SET day = 'x'",
    "UPDATE units SET day = 99999999999",
    "UPDATE units SET day = -1",
    "UPDATE units SET context = 5",
    "UPDATE units SET context = x'00'",
    "DELETE FROM units",
    "DROP TABLE postings",
    "DROP TABLE units",
)
"""What a bit that fell over can make of a row and SQLite takes as it is."""


@pytest.mark.asyncio
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("damage", _DAMAGED)
async def test_a_value_that_cannot_be_is_no_fault_of_the_search_and_hides_nothing(
    tmp_path: Path, damage: str, closed: bool
) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n- redis for the cache\n- lunch on friday\n")
        await one.says("the door code is 39595")
        assert await one.finds("redis")
        (path,) = one.index_files()
        if closed:
            await asyncio.to_thread(one.handles.searches._open[BUILD.key].file.close)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute(damage)
            other.execute("UPDATE meta SET value = 'another' WHERE name = 'version'")  # nothing of it is remembered
        assert await one.finds("redis cache") == ["- redis for the cache"]
        assert await one.finds("door code") == ["the door code is 39595"]
        one.put("experience", "# Experience\n\n- quokka\n")
        assert await one.finds("quokka") == ["- quokka"]
        assert await one.finds("redis") == []


@pytest.mark.parametrize("damage", ["terms = x'00ff'", "first = 'x'", "segment = segment + 1000"])
def test_what_cannot_be_taken_away_is_taken_away_with_the_file(tmp_path: Path, damage: str) -> None:
    place = IndexPlace(Tree(tmp_path), PurePosixPath(".remem/search/x.db"))
    index, page = IndexFile(place, "test"), PageId("experience")
    unit = Unit("- redis for quokkas", body="- redis for quokkas")
    index.update((), [Source(page, page, "1", lambda: (Placed(page, unit),))], TranscriptState())
    with closing(sqlite3.connect(place.path)) as other, other:
        other.execute(f"UPDATE sources SET {damage}")  # noqa: S608  # our own constants
    index.update([page], [], TranscriptState())
    assert not index.contents().marks
    assert b"quokka" not in place.path.read_bytes()
    index.close()
