"""The index file: it says what ranking says, forgets to the last byte, and can be lost at any time."""

from __future__ import annotations

import random
import sqlite3
import sys
from collections.abc import Collection
from datetime import date
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms.units import Unit, units_of
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form
from memory_core.ledger.transcript import TranscriptState
from memory_core.ranking import scores
from memory_core.search.index_file import IndexFile
from memory_core.search.index_place import IndexPlace
from memory_core.search.parts import Placed, held
from memory_core.search.sources import TALK, Source
from memory_core.store.tree import Tree
from memory_core.terms import asked
from tests.memory_core.search.kit import Memory, memory
from tests.scale import scale

NOTHING = TranscriptState()
SAID = "redis cache deploy friday ana bo office lunch queue staging server 部署 缓存 サーバー v2.3 foo_bar"
WORD = st.sampled_from(tuple(SAID.split()))
TEXT = st.lists(WORD, min_size=1, max_size=7).map(" ".join)


@st.composite
def sources(draw: st.DrawFn) -> list[Source]:
    """A few pages of records and lines, and pieces of talk."""
    found = []
    for number in range(draw(st.integers(0, 3))):
        page = PageId(f"projects/p{number}")
        lines = draw(st.lists(st.tuples(TEXT, TEXT, st.booleans(), st.integers(1, 28)), max_size=5))
        placed = tuple(_unit(page, *line, at) for at, line in enumerate(lines))
        found.append(Source(page, page, "1", placed))
    for number in range(draw(st.integers(0, 2))):
        said = draw(st.lists(st.tuples(TEXT, st.sampled_from(["ana", "bo"]), st.booleans()), min_size=1, max_size=6))
        place = f":console:x/{number:012}"
        placed = tuple(_said(place, at, *line) for at, line in enumerate(said))
        found.append(Source(place, TALK, "1", placed))
    return sorted(found, key=lambda one: one.place)


def _update(index: IndexFile, gone: Collection[str], new: list[Source]) -> None:
    assert index.update(index.known(), gone, new, NOTHING)


def _unit(page: PageId, title: str, body: str, is_record: bool, day: int, at: int) -> Placed:
    unit = Unit(body, ("# X",), title, body, f"{page}-{at}" if is_record else "", date(2026, 3, day), words="redis")
    return Placed(page, unit, "sha")


def _said(talk: str, at: int, text: str, who: str, asks: bool) -> Placed:
    body = f"{text}?" if asks else text
    unit = Unit(f"- @{who}: {body}", ("## 2026-04-06, said",), body=body, day=date(2026, 4, 6), said_by=who)
    return Placed(TALK, unit, message=MessageKey(f"console:x:{talk}{at}"), talk=talk, at=739000 + at / 100)


@given(sources(), TEXT)
@settings(max_examples=scale(400), deadline=None)
def test_the_file_says_what_ranking_says(made: list[Source], words: str) -> None:
    index = IndexFile(None, "test")
    _update(index, (), made)
    placed = [one for source in made for one in source.placed]
    ready, wanted = held(placed), asked(words)
    ranked = scores(ready.shelf, ready.places(wanted), wanted) if placed else {}
    expected = {number: score for number, score in ranked.items() if score.shared or placed[number].page == TALK}
    hits = index.search(wanted, lambda page: True, 1000)
    assert {hit.number: hit.shared for hit in hits} == {number: score.shared for number, score in expected.items()}
    assert all(hit.score == pytest.approx(expected[hit.number].value) for hit in hits)
    assert all(hit.placed == placed[hit.number] for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    index.close()


@given(sources(), sources(), TEXT)
@settings(max_examples=scale(200), deadline=None)
def test_an_index_that_was_caught_up_is_one_that_was_made_anew(
    before: list[Source], after: list[Source], words: str
) -> None:
    caught_up, anew = IndexFile(None, "test"), IndexFile(None, "test")
    _update(caught_up, (), before)
    gone = caught_up.known().marks.keys() - {one.place for one in after}
    _update(caught_up, gone, after)
    _update(anew, (), after)
    every = lambda page: True  # noqa: E731
    assert caught_up.search(asked(words), every, 99) == anew.search(asked(words), every, 99)
    assert caught_up.known().marks == anew.known().marks


def test_who_knows_an_older_state_changes_nothing(tmp_path: Path) -> None:
    """Two programs with one file: the second to write looks again, and so does who finds it begun anew."""
    tree, page = Tree(tmp_path), PageId("experience")
    first, second = (IndexFile(IndexPlace(tree, PurePosixPath("x.sqlite3")), "test") for _ in range(2))
    both_know = (first.known(), second.known())
    assert first.update(both_know[0], (), [Source(page, page, "1", ())], NOTHING)
    assert not second.update(both_know[1], (), [Source(page, page, "2", ())], NOTHING)
    known = second.known()
    assert (known, known.marks) == (first.known(), {page: "1"})
    for one in (first, second):
        one.close()
    (tmp_path / "x.sqlite3").write_bytes(b"no database" * 1000)
    assert not second.update(known, (), [Source(PageId("people"), PageId("people"), "1", ())], NOTHING)
    assert second.known().marks == {}
    second.close()


def test_what_is_not_wanted_is_no_hit() -> None:
    index = IndexFile(None, "test")
    page, other = PageId("experience"), PageId("archive/2026-01")
    for one in (page, other):
        text = "# X\n\n- redis for the cache\n"
        placed = tuple(Placed(one, unit) for unit in units_of(one, Form.ADDED, text).units)
        _update(index, (), [Source(one, one, "1", placed)])
    assert {hit.placed.page for hit in index.search(("redi",), lambda one: True, 9)} == {page, other}
    assert {hit.placed.page for hit in index.search(("redi",), lambda one: one != other, 9)} == {page}
    assert len(index.search(("redi",), lambda one: True, 1)) == 1


# -- what is lost, and what must be gone -----------------------------------------------------------------------------


async def _three(one: Memory) -> None:
    one.put("experience", "# Experience\n\n- redis for the cache\n- lunch on friday\n")
    await one.says("the door code is quokka")
    assert await one.finds("redis") == ["- redis for the cache"]


@pytest.mark.asyncio
@pytest.mark.parametrize("damage", ["cut", "garbled", "empty", "no database", "a table less", "another version"])
async def test_a_file_that_cannot_be_used_is_made_anew(tmp_path: Path, damage: str) -> None:
    async with memory(tmp_path) as one:
        await _three(one)
    (path,) = one.index_files()
    whole = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(whole[: len(whole) // 2])
        case "garbled":
            path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        case "empty":
            path.write_bytes(b"")
        case "no database":
            path.write_bytes(b"This is no database. " * 1000)
        case "a table less":
            with sqlite3.connect(path) as held:
                held.execute("DROP TABLE postings")
                held.execute("CREATE TABLE postings (other INTEGER)")
        case _:
            with sqlite3.connect(path) as held:
                held.execute("UPDATE meta SET value = 'an older remem' WHERE name = 'made_by'")
    async with memory(tmp_path) as one:
        assert await one.finds("redis") == ["- redis for the cache"]
        assert await one.finds("friday lunch") == ["- lunch on friday"]


@pytest.mark.asyncio
async def test_where_no_file_can_be_had_it_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / ".remem").mkdir()
    (tmp_path / ".remem/search").write_text("a file in the way")
    async with memory(tmp_path) as one:
        await _three(one)
        assert await one.finds("door code") == ["the door code is quokka"]
    assert (tmp_path / ".remem/search").read_text() == "a file in the way"


@pytest.mark.asyncio
async def test_a_file_that_goes_while_it_is_open_is_no_fault(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await _three(one)
        for path in one.index_files():
            path.unlink()
        one.put("experience", "# Experience\n\n- valkey for the cache\n")
        assert await one.finds("cache") == ["- valkey for the cache"]


@pytest.mark.asyncio
async def test_a_removal_leaves_no_term_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Words that no other unit holds, looked for in the bytes of every file of the index after each removal."""
    random_ = random.Random(6)
    words = ["".join(random_.choices("bcdfghjklmnpqrstvwxz", k=9)) for _ in range(scale(400) + 60)]
    left = 0
    async with memory(tmp_path) as one:
        lines = {word: f"- the {word} is at the {number}th door\n" for number, word in enumerate(words)}
        keys = {word: await one.says(f"we saw the {word} today") for word in words[::3]}
        for word in words[: scale(400)]:
            one.put("experience", "# Experience\n\n" + "".join(lines.values()))
            assert await one.finds(word)
            del lines[word]
            one.put("experience", "# Experience\n\n" + "".join(lines.values()))
            if word in keys:
                await one.deletes(keys[word])
            assert not any(word in found for found in await one.finds(word))
            left += any(word.encode() in path.read_bytes() for path in one.index_files())
    with capsys.disabled():
        sys.stdout.write(f"\n{scale(400)} removals from an index, {left} left something\n")
    assert left == 0


@pytest.mark.asyncio
async def test_the_file_is_for_its_owner_s_eyes(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await _three(one)
        (path,) = one.index_files()
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0
