"""Indexes that are closed because others are in use: nothing that is found depends on which are open, or known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memory_core.handle import Handles
from memory_core.ids import GroupScope, MessageKey
from memory_core.search import Searches, searches
from memory_core.store import base
from memory_core.store.tree import Tree
from tests.memory_core.search.kit import Memory, memory, searched
from tests.scale import scale

SCOPES = tuple(GroupScope(f"g{number}") for number in range(5))
WORDS = ("redis", "valkey", "kafka", "deploy", "friday", "invoice", "rollback", "quokka")
PAGES = ("project", "experience", "journal/2026-04-05", "archive/2026-03")


async def _as_told(handles: Handles, scope: GroupScope, words: str) -> list[tuple[str, float]]:
    hits = await searched(handles.open(scope), words)
    return [(hit.placed.unit.body, hit.score) for hit in hits]


def _is_open(one: Memory, scope: GroupScope) -> bool:
    opened = one.handles.searches._open.get(scope.key)
    return opened is not None and opened.file._connection is not None


@pytest.mark.asyncio
async def test_only_the_last_used_files_are_open_and_all_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "_OPEN_FILES", 2)
    monkeypatch.setattr(base, "TICK_NS", 0)
    async with memory(tmp_path) as one:
        for scope in SCOPES:
            one.put("project", f"# Project\n\n- {scope.name} runs on redis\n", scope)
            assert await one.finds("redis", scope)
        assert [_is_open(one, scope) for scope in SCOPES] == [False, False, False, True, True]
        before = {scope: one.handles.searches._open[scope.key].file._last_reading._reading for scope in SCOPES}
        for scope in SCOPES:
            assert await one.finds("redis", scope) == [f"- {scope.name} runs on redis"]
            after = one.handles.searches._open[scope.key].file._last_reading._reading
            assert after is before[scope], "nothing was made anew"
        assert one.handles.searches._units == len(SCOPES)


@pytest.mark.asyncio
async def test_what_is_known_of_the_indexes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "_KEPT_UNITS", 25)
    async with memory(tmp_path) as one:
        for scope in SCOPES:
            one.put("project", "# Project\n\n" + "".join(f"- redis number {at}\n" for at in range(10)), scope)
            assert len(await one.finds("redis", scope)) == 10
        assert list(one.handles.searches._open) == [scope.key for scope in SCOPES[-2:]]
        assert one.handles.searches._units == 20
        assert len(await one.finds("redis", SCOPES[0])) == 10
        await asyncio.to_thread(one.handles.searches.remove, SCOPES[0])
        assert one.handles.searches._units == 10


class _Life:
    """What happens to the memories and to the files of their indexes, at random."""

    def __init__(self, one: Memory, seed: int) -> None:
        self.one, self.random = one, Random(seed)
        self.elsewhere = replace(one.handles, searches=Searches(Tree(one.root)))
        """As another process has them."""
        self._length = 200
        self._said: list[MessageKey] = []
        self._copies: dict[Path, bytes] = {}

    def _text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=3))

    async def step(self) -> str:
        """Something happens; what."""
        scope = self.random.choice(SCOPES)
        names = ("write", "unlink", "say", "delete", "search elsewhere", "copy", "put back", "lose", "damage")
        what = self.random.choices(names, (5, 1, 5, 2, 4, 1, 1, 1, 1))[0]
        page, file = self.random.choice(PAGES), self.one.root / f".remem/search/group-{scope.name}.sqlite3"
        if what == "write":
            lines = "".join(f"- {self._text()}\n" for _ in range(self.random.randint(1, 4)))
            self._length += 1
            self.one.put(page, f"# Page\n\n{lines}".ljust(self._length), scope)
        elif what == "unlink":
            self.one.file(page, scope).unlink(missing_ok=True)
        elif what == "say":
            self._said.append(await self.one.says(self._text(), scope=scope))
        elif what == "delete" and self._said:
            await self.one.deletes(self._said.pop(self.random.randrange(len(self._said))))
        elif what == "search elsewhere":
            await searched(self.elsewhere.open(scope), self._text())
        elif what == "copy" and file.exists():
            self._copies[file] = file.read_bytes()
        elif file.exists() and not _is_open(self.one, scope):
            if what == "put back" and file in self._copies:
                file.write_bytes(self._copies[file])
            elif what == "lose":
                file.unlink()
            elif what == "damage":
                whole = file.read_bytes()
                file.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
        return f"{what} {scope.name}"


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(3))
async def test_closed_indexes_find_what_one_that_is_made_anew_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(searches, "_OPEN_FILES", 2)
    monkeypatch.setattr(searches, "_KEPT_UNITS", 30)
    monkeypatch.setattr(base, "TICK_NS", 0)  # every writing of a page here has a length of its own
    done: list[str] = []
    async with memory(tmp_path) as one:
        life = _Life(one, seed)
        try:
            for _ in range(scale(2400)):
                done.append(await life.step())
                if life.random.random() < 0.7:
                    scope, words = life.random.choice(SCOPES), " ".join(life.random.choices(WORDS, k=2))
                    anew = replace(one.handles, searches=Searches())
                    assert await _as_told(one.handles, scope, words) == await _as_told(anew, scope, words), done
                    done.append(f"ask {scope.name}")
        finally:
            await asyncio.to_thread(life.elsewhere.searches.close)
