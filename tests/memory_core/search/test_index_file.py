"""The index file: it says what ranking says, forgets to the last byte, and can be lost at any time."""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms.units import Unit, units_of
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form
from memory_core.ledger.transcript import TranscriptState
from memory_core.ranking import scores, shares
from memory_core.search import Searches, scope_search
from memory_core.search.index_file import IndexFile
from memory_core.search.meaning import Meaning
from memory_core.search.parts import Placed, at_hand
from memory_core.search.question import question
from memory_core.search.sources import TALK, Source
from memory_core.store.tree import Tree
from memory_core.weights import SHIPPED
from tests.memory_core.search.embedders import WordEmbedder
from tests.memory_core.search.kit import Memory, memory
from tests.scale import scale

NOTHING = TranscriptState()
SAID = "redis cache deploy friday ana bo office lunch when queue job work 2026-03-04 部署 缓存 サーバー v2.3 foo_bar"
WORD = st.sampled_from(tuple(SAID.split()))
TAGS = ("", "redis", "redis cache")
TEXT = st.lists(WORD, min_size=1, max_size=7).map(" ".join)


@st.composite
def sources(draw: st.DrawFn) -> list[Source]:
    """A few pages of records and lines, and pieces of talk."""
    found = []
    for number in range(draw(st.integers(0, 3))):
        page = PageId(f"projects/p{number}")
        lines = draw(st.lists(st.tuples(TEXT, TEXT, st.booleans(), st.integers(1, 28)), max_size=5))
        placed = tuple(_unit(page, *line, at) for at, line in enumerate(lines))
        found.append(Source(page, page, "1", partial(tuple, placed)))
    for number in range(draw(st.integers(0, 2))):
        said = draw(st.lists(st.tuples(TEXT, st.sampled_from(["ana", "bo"]), st.booleans()), min_size=1, max_size=6))
        place = f":console:x/{number:012}"
        placed = tuple(_said(place, at, *line) for at, line in enumerate(said))
        found.append(Source(place, TALK, "1", partial(tuple, placed)))
    return sorted(found, key=lambda one: one.place)


def _unit(page: PageId, title: str, body: str, is_record: bool, day: int, at: int) -> Placed:
    unit = Unit(
        body, ("# X",), title, body, f"{page}-{at}" if is_record else "", date(2026, 3, day), words=TAGS[day % 3]
    )
    return Placed(page, unit, "sha")


def _said(talk: str, at: int, text: str, who: str, asks: bool) -> Placed:
    body = f"{text}?" if asks else text
    unit = Unit(f"- @{who}: {body}", ("## 2026-04-06, said",), body=body, day=date(2026, 4, 6), said_by=who)
    return Placed(TALK, unit, message=MessageKey(f"console:x:{talk}{at}"), talk=talk, at=739000 + at / 100)


@given(sources(), TEXT | st.just("redis cache"))
@settings(max_examples=scale(400), deadline=None)
def test_the_file_says_what_ranking_says(made: list[Source], words: str) -> None:
    index = IndexFile(None, "test")
    index.update((), made, NOTHING)
    placed = [one for source in made for one in source.placed()]
    ready, wanted = at_hand(placed), question(words, date(2026, 4, 6))
    ranked = scores(ready.shelf, ready.places(wanted), wanted) if placed else {}
    expected = {
        number: score for number, score in ranked.items() if score.shared or score.kin or placed[number].page == TALK
    }
    hits = index.search(wanted, lambda page: True, 1000)
    assert {hit.number: hit.shared for hit in hits} == {number: score.shared for number, score in expected.items()}
    assert all(hit.score == pytest.approx(expected[hit.number].value) for hit in hits)
    assert all(hit.placed == placed[hit.number] for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    index.close()


def test_every_share_of_a_score_stands_in_the_file() -> None:
    """A question to which every share has something to say."""
    lines = [
        ("when is her job due?", "bo", True),
        ("redis deploy friday 7", "ana", False),
        ("her work", "ana", False),
    ]
    talk = tuple(_said(":console:x/1", at, *line) for at, line in enumerate(lines))
    page = PageId("experience")
    made = [
        Source(":console:x/1", TALK, "1", partial(tuple, talk)),
        Source(page, page, "1", lambda: (_unit(page, "redis deploy", "friday", True, 6, 0),)),
    ]
    index = IndexFile(None, "test")
    index.update((), made, NOTHING)
    ready = at_hand([one for source in made for one in source.placed()])
    wanted = question("when did ana do the job of redis deploy on 2026-03-06?")
    looked_at, told = shares(ready.shelf, ready.places(wanted), wanted)
    heard = {name for name, share in told.items() if any(share.values.get(number) for number in looked_at)}
    heard |= {name for name, values in ready.shelf.still.items() if any(values[number] for number in looked_at)}
    assert heard == set(asdict(SHIPPED))
    expected = scores(ready.shelf, ready.places(wanted), wanted)
    hits = index.search(wanted, lambda page: True, 9)
    assert {hit.number: hit.score for hit in hits} == pytest.approx({at: one.value for at, one in expected.items()})
    index.close()


@st.composite
def histories(draw: st.DrawFn) -> list[list[Source]]:
    """The same places at several times: most stay as they were, others change, come and go."""
    drafts = [{one.place: one for one in draw(sources())} for _ in range(3)]
    places = sorted(set[str]().union(*drafts))
    found = []
    for _ in range(draw(st.integers(2, 5))):
        chosen = {place: draw(st.sampled_from((0, 0, 0, 1, 2))) for place in places}
        found.append([drafts[at][place] for place, at in chosen.items() if place in drafts[at]])
    return found


@given(histories(), TEXT)
@settings(max_examples=scale(400), deadline=None)
def test_an_index_that_was_caught_up_is_one_that_was_made_anew(states: list[list[Source]], words: str) -> None:
    """Only what changed is put in, so that what came together goes apart."""
    caught_up, anew = IndexFile(None, "test"), IndexFile(None, "test")
    known = dict[str, object]()
    for state in states:
        now: dict[str, object] = {one.place: one.placed() for one in state}
        changed = [one for one in state if known.get(one.place) != now[one.place]]
        caught_up.update(known.keys() - now.keys(), changed, NOTHING)
        known = now
    anew.update((), states[-1], NOTHING)
    every = lambda page: True  # noqa: E731
    for asked in (words, SAID):
        assert caught_up.search(question(asked), every, 99) == anew.search(question(asked), every, 99)
    assert caught_up.contents() == anew.contents()


def test_what_is_not_wanted_is_no_hit() -> None:
    index = IndexFile(None, "test")
    page, other = PageId("experience"), PageId("archive/2026-01")
    for one in (page, other):
        text = "# X\n\n- redis for the cache\n"
        placed = tuple(Placed(one, unit) for unit in units_of(one, Form.ADDED, text).units)
        index.update((), [Source(one, one, "1", partial(tuple, placed))], NOTHING)
    assert {hit.placed.page for hit in index.search(question("redis"), lambda one: True, 9)} == {page, other}
    assert {hit.placed.page for hit in index.search(question("redis"), lambda one: one != other, 9)} == {page}
    assert len(index.search(question("redis"), lambda one: True, 1)) == 1


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
            with sqlite3.connect(path) as connection:
                connection.execute("DROP TABLE postings")
                connection.execute("CREATE TABLE postings (other INTEGER)")
        case _:
            with sqlite3.connect(path) as connection:
                connection.execute("UPDATE meta SET value = 'an older remem' WHERE name = 'made_by'")
    async with memory(tmp_path) as one:
        assert await one.finds("redis") == ["- redis for the cache"]
        assert await one.finds("friday lunch") == ["- lunch on friday"]


def test_an_update_of_the_rules_begins_every_index_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fingerprint is of all our files that decide what a page's terms and units are."""
    ours = Path(scope_search.__file__).parent.parent
    for folder in ("search", "forms", "layouts"):
        shutil.copytree(ours / folder, tmp_path / folder)
    for module in ours.glob("*.py"):
        shutil.copy(module, tmp_path)
    monkeypatch.setattr(scope_search, "__file__", str(tmp_path / "search/scope_search.py"))
    before = scope_search._rules()
    assert before == scope_search._OURS
    for name in (
        "terms.py",
        "loanwords.py",
        "spoken_dates.py",
        "forms/units.py",
        "layouts/base.py",
        "search/sources.py",
    ):
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write("# another rule\n")
        assert scope_search._rules() != before, name
        before = scope_search._rules()


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
@pytest.mark.parametrize("embedder", [None, WordEmbedder()], ids=["words", "vectors"])
async def test_a_removal_leaves_no_term_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], embedder: WordEmbedder | None
) -> None:
    """Words that no other unit holds, and vectors, looked for in the bytes of every file of the index after each
    removal."""
    random_ = random.Random(6)
    words = ["".join(random_.choices("bcdfghjklmnpqrstvwxz", k=9)) for _ in range(scale(400) + 60)]
    left = seen = 0
    meaning = Meaning(embedder) if embedder else None
    async with memory(tmp_path, Searches(Tree(tmp_path), meaning)) as one:
        lines = {word: f"- the {word} is at the {number}th door\n" for number, word in enumerate(words)}
        keys = {word: await one.says(f"we saw the {word} today") for word in words[::3]}
        for word in words[: scale(400)]:
            one.put("experience", "# Experience\n\n" + "".join(lines.values()))
            assert await one.finds(word)
            gone = [word.encode()]
            if meaning and embedder:
                await meaning.settled()
                texts = {text for call in embedder.calls for text in call if word in text and text != word}
                assert len(texts) == 1 + (word in keys)
                gone += [embedder.vector(text).tobytes() for text in texts]
            seen += all(any(bytes_ in path.read_bytes() for path in one.index_files()) for bytes_ in gone)
            del lines[word]
            one.put("experience", "# Experience\n\n" + "".join(lines.values()))
            if word in keys:
                await one.deletes(keys[word])
            assert not any(word in found for found in await one.finds(word))
            left += any(any(bytes_ in path.read_bytes() for bytes_ in gone) for path in one.index_files())
    with capsys.disabled():
        sys.stdout.write(f"\n{scale(400)} removals from an index, {left} left something\n")
    assert (left, seen) == (0, scale(400))


@pytest.mark.asyncio
async def test_the_file_is_for_its_owner_s_eyes(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await _three(one)
        (path,) = one.index_files()
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0
