"""An index that was caught up is one that was made anew, whatever became of what was said, and of the ledger."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.handle import Handle
from memory_core.ids import GroupScope, MessageKey
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.search import Hit, ScopeSearch, Searches
from memory_core.search.sources import PAUSE, PIECE, is_talk
from tests.memory_core.search.kit import BUILD, NOON, Memory, memory
from tests.scale import scale

THREADS = ("", "1", "2 and/more")
SAID = ["redis", "cache", "deploy", "friday", "office", "lunch", "queue", "staging", "server"]
LEDGERS = ("memory", "sqlite")


@dataclass
class Life:
    """What happens to a memory, at random."""

    one: Memory
    chance: random.Random
    keys: list[MessageKey] = field(default_factory=list)

    async def goes_on(self) -> None:
        """One thing happens."""
        handle = self.one.handles.open(BUILD)
        match self.chance.randrange(12):
            case 0 if self.keys:
                await self.one.edits(self.chance.choice(self.keys), self._text())
            case 1 if self.keys:
                await self.one.deletes(self.chance.choice(self.keys))
            case 2:
                await self._flushed(handle)
                await handle.ledger.erase(self.one.clock.now() - timedelta(minutes=self.chance.randrange(120)))
            case 3:
                await self._flushed(handle)
                await handle.ledger.put_in_order()
            case 4:
                self.one.put("experience", f"# Experience\n\n- {self._text()}\n- {self._text()}\n")
            case 5:
                await self.one.says(self._text(), scope=GroupScope("shop"))
            case 6:
                await self.says_much()
            case _:
                await self._says()

    async def says_much(self) -> None:
        """A talk of more than one piece, as a rule."""
        thread = self.chance.choice(THREADS)
        for _ in range(self.chance.randrange(3 * PIECE)):
            self.keys.append(await self.one.says(self._text(), thread=thread))

    async def _says(self) -> None:
        if self.chance.random() < 0.2:
            self.one.clock.advance(self.chance.choice((600, PAUSE.seconds - 20, PAUSE.seconds, 7200)))
        for _ in range(self.chance.randint(1, 3)):
            thread, who = self.chance.choice(THREADS), self.chance.choice(("ana", "bo"))
            self.keys.append(await self.one.says(self._text(), who, thread=thread))

    async def _flushed(self, handle: Handle) -> None:
        for conversation in await handle.ledger.conversations():
            if self.chance.random() < 0.7:
                newest = (await handle.ledger.context(conversation)).fresh[-1:]
                await handle.ledger.move_cursors({conversation: newest[0].seq if newest else 0})

    def _text(self) -> str:
        return " ".join(self.chance.choices(SAID, k=self.chance.randint(1, 5))) + self.chance.choice(("", "", "?"))


async def _is_as_made_anew(one: Memory) -> None:
    handle = one.handles.open(BUILD)
    for words in ("redis cache", "who deploys on friday?", "ana office lunch"):
        expected, marks = await _asked(handle, Searches(), words)
        found, caught_up = await _asked(handle, handle.searches, words)
        assert [_told(hit) for hit in found] == [_told(hit) for hit in expected]
        assert caught_up == marks


async def _asked(handle: Handle, searches: Searches, words: str) -> tuple[tuple[Hit, ...], dict[str, str]]:
    """The hits, and the marks of all that was said."""
    search = ScopeSearch(handle.store, handle.ledger, handle.layout, searches, UTC)
    hits = await search.find(words, [], lambda page: True)
    contents = await asyncio.to_thread(search._opened().file.contents)
    if searches is not handle.searches:
        await asyncio.to_thread(searches.close)
    return hits, {place: mark for place, mark in contents.marks.items() if is_talk(place)}


def _told(hit: Hit) -> Hit:
    return replace(hit, score=round(hit.score, 9))


@asynccontextmanager
async def _ledger(kind: str, path: Path) -> AsyncIterator[MemoryLedger | OpenLedger]:
    if kind == "memory":
        yield MemoryLedger(ManualClock(NOON))
        return
    ledger = await SqliteLedger.open(path, ManualClock(NOON))
    try:
        yield ledger
    finally:
        await ledger.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", LEDGERS)
async def test_an_index_that_was_caught_up_is_one_that_was_made_anew(tmp_path: Path, kind: str) -> None:
    for seed in range(scale(100)):
        root = tmp_path / str(seed)
        root.mkdir()
        async with _ledger(kind, root / "ledger.db") as ledger, memory(root, None, ledger) as one:
            life = Life(one, random.Random(seed))
            await life.says_much()
            for _ in range(12):
                await life.goes_on()
                if life.chance.random() < 0.6:
                    await _is_as_made_anew(one)
            await _is_as_made_anew(one)


@pytest.mark.asyncio
async def test_a_message_more_is_read_alone_with_its_last_piece(tmp_path: Path) -> None:
    async with _ledger("sqlite", tmp_path / "ledger.db") as ledger, memory(tmp_path, None, ledger) as one:
        for number in range(5 * PIECE):
            await one.says(f"line {number} of the talk")
            await one.says(f"aside {number}", thread=str(number % 7))
        assert await one.finds("line 7 talk")
        handle, looked, read = one.handles.open(BUILD), list[int](), list[int]()

        class Watched:
            """The ledger, which tells how much is asked of it."""

            transcript_state = staticmethod(handle.ledger.transcript_state)

            @staticmethod
            async def transcript_outline(*asked: object) -> object:
                lines = await handle.ledger.transcript_outline(*asked)  # type: ignore[arg-type]
                looked.append(len(lines))
                return lines

            @staticmethod
            async def transcript(seqs: list[int]) -> object:
                read.append(len(seqs))
                return await handle.ledger.transcript(seqs)

        await one.says("a quokka came", thread="3")
        search = ScopeSearch(handle.store, Watched(), handle.layout, handle.searches, UTC)  # type: ignore[arg-type]
        (best, *_) = await search.find("quokka", [], lambda page: True)
        assert best.placed.unit.body == "a quokka came"
        assert sum(looked) <= PIECE + 2, looked
        assert sum(read) <= PIECE, read


@pytest.mark.asyncio
@pytest.mark.parametrize("anew", [False, True])
async def test_after_another_ledger_was_put_in_its_place_nothing_of_the_first_is_told(
    tmp_path: Path, anew: bool
) -> None:
    """Both come to the same numbers: only the openings of the file tell one from the other."""
    path, kept = tmp_path / "ledger.db", tmp_path / "backup.db"

    async def said(first: int, *texts: str) -> list[str]:
        async with _ledger("sqlite", path) as ledger, memory(tmp_path, None, ledger, first) as one:
            for text in texts:
                await one.says(text)
            return await one.finds("quokka wombat numbat")

    await said(1, *([] if anew else ["we saw a numbat"]))
    await asyncio.to_thread(shutil.copy, path, kept)
    assert "and then a quokka" in await said(2, "and then a quokka")
    assert [path] == await asyncio.to_thread(lambda: list(tmp_path.glob("ledger.db*"))), "no log is left over"
    await asyncio.to_thread(shutil.move, kept, path)
    assert sorted(await said(2, "and then a wombat")) == sorted(
        ["and then a wombat"] if anew else ["we saw a numbat", "and then a wombat"]
    )


@pytest.mark.asyncio
@pytest.mark.parametrize("more", ["said", "edited"])
async def test_a_backup_that_was_made_while_the_ledger_was_written_to(tmp_path: Path, more: str) -> None:
    """It shares the name of its opening with what came after it; only where the next one began tells them apart."""
    path, kept = tmp_path / "ledger.db", tmp_path / "backup.db"

    async def goes_on(one: Memory, key: MessageKey, text: str) -> None:
        await (one.says(text) if more == "said" else one.edits(key, text))

    async with _ledger("sqlite", path) as ledger, memory(tmp_path, None, ledger) as one:
        key = await one.says("we saw a numbat")
        await asyncio.to_thread(_backed_up, path, kept)
        await goes_on(one, key, "and then a quokka")
        assert "and then a quokka" in await one.finds("quokka wombat numbat")
    await asyncio.to_thread(shutil.move, kept, path)
    async with _ledger("sqlite", path) as ledger, memory(tmp_path, None, ledger, 10) as one:
        await goes_on(one, key, "and then a wombat")
        await _is_as_made_anew(one)
        assert not any("quokka" in told for told in await one.finds("quokka wombat numbat"))
        (index,) = await asyncio.to_thread(one.index_files)
        assert b"quokka" not in await asyncio.to_thread(index.read_bytes)


def _backed_up(path: Path, kept: Path) -> None:
    """As tools do that copy a database in use."""
    with closing(sqlite3.connect(path)) as ledger, closing(sqlite3.connect(kept)) as copy:
        ledger.backup(copy)


@pytest.mark.asyncio
async def test_another_start_of_the_same_ledger_reads_nothing_again(tmp_path: Path) -> None:
    path, states = tmp_path / "ledger.db", []
    for number in range(20):
        async with _ledger("sqlite", path) as ledger, memory(tmp_path, None, ledger, number) as one:
            own = ledger.open(BUILD)
            before = await own.transcript_state()
            await one.says(f"start {number}")
            states.append(await own.transcript_state())
            assert states[-1].follows(before)
            assert await one.finds(f"start {number}")
    assert states[-1].follows(states[-16])
    assert not states[-1].follows(states[0]), "so far back nothing is known"
    assert not states[3].follows(states[-1])


@pytest.mark.asyncio
@pytest.mark.parametrize("page", [False, True])
async def test_an_index_that_is_damaged_while_it_is_open_is_made_anew_at_once(tmp_path: Path, page: bool) -> None:
    """Found out by the search, or by the update for a page whose times are too fresh to be trusted."""
    async with memory(tmp_path) as one:
        if page:
            one.put("experience", "# Experience\n\n- redis for the cache\n")
        await one.says("the door code is quokka")
        assert await one.finds("quokka")
        (path,) = one.index_files()
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.write(b"\xff" * size)
        assert await one.finds("quokka") == ["the door code is quokka"]
        assert await one.finds("redis") == ["- redis for the cache"] * page
