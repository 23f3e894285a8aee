"""Search in one scope: what is written a moment ago is found, what is gone is not, and nothing is anybody else's."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, date
from pathlib import Path

import pytest

from memory_core.errors import StoreFailed
from memory_core.first_join import ensure_index
from memory_core.forms.units import render, units_of
from memory_core.gate import revise_search
from memory_core.ids import GroupScope, PageId
from memory_core.layouts import Form
from memory_core.loading import disclose, search_memory
from memory_core.messages import Voice
from memory_core.search import ScopeSearch, Searches, telling
from memory_core.search.sources import PIECE
from memory_core.session import Session
from memory_core.store.base import PageText
from tests.memory_core.search.kit import BUILD, memory, searched

SHOP = GroupScope("shop")
ROOMS = 80
"""More than there are files open at once."""


@pytest.mark.asyncio
async def test_a_hand_edit_is_found_at_once_also_one_of_the_same_size_and_time(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n- the code is quokka\n")
        assert await one.finds("code") == ["- the code is quokka"]
        path = one.file("experience")
        times = path.stat()
        for word in ("wombat", "numbat", "possum", "quokka") * 5:
            path.write_text(f"# Experience\n\n- the code is {word}\n")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            assert await one.finds("code") == [f"- the code is {word}"]
        path.unlink()
        assert await one.finds("code") == []


@pytest.mark.asyncio
async def test_what_was_said_is_found_as_long_as_it_is_kept(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        key = await one.says("the door code is quokka")
        await one.says("and lunch is at noon", "bo")
        (first, *_) = await searched(one.handles.open(BUILD), "door code")
        unit = first.placed.unit
        assert (unit.body, unit.source, unit.day) == ("the door code is quokka", "@ana, 12:00", unit.day)
        assert first.placed.message == key
        await one.edits(key, "the gate code is wombat")
        assert "the gate code is wombat" in await one.finds("wombat")
        assert await one.finds("quokka") == []
        await one.deletes(key)
        assert await one.finds("wombat") == []
        assert await one.erases() == 1
        assert await one.finds("lunch noon") == []


@pytest.mark.asyncio
async def test_what_was_said_is_no_page_that_a_later_turn_looks_for(tmp_path: Path) -> None:
    """It was looked for among the pages that a hand may have changed, and every later answer bore a note."""
    async with memory(tmp_path) as one:
        await one.says("the door code is quokka")
        handle, session = one.handles.open(BUILD), Session()
        await ensure_index(handle, UTC)
        session = session.with_(await disclose(handle, session, "good morning, who is there?", title="room"))
        found = await search_memory(handle, session, "what is the door code?", title="room")
        assert "quokka" in "".join(part.text for part in found.loaded)
        later = await disclose(handle, session.with_(found), "and who painted the fence?", title="room")
        assert not [note for note in later.notes if "talk" in note]


@pytest.mark.asyncio
async def test_an_answer_without_the_question_s_words_is_found_behind_it(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        for text in ("good morning", "the train was late", "so was mine"):
            await one.says(text)
        await one.says("which store holds the session cache?", "bo")
        await one.says("Valkey, since April")
        assert "Valkey, since April" in (await one.finds("which store holds the session cache?"))[:2]


@pytest.mark.asyncio
async def test_a_person_is_shown_what_holds_the_words_and_what_answers_a_question_that_does(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        for text in ("good morning", "which port has the gateway?", "8443 since March", "the train was late"):
            await one.says(text)
        hits = await searched(one.handles.open(BUILD), "gateway port")
        assert [hit.placed.unit.body for hit in telling(hits)] == ["which port has the gateway?", "8443 since March"]
        assert len(hits) > 2, "an agent may want to know what stands beside it"


@pytest.mark.asyncio
async def test_where_nothing_holds_the_words_what_holds_one_of_the_same_field_is_shown(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n- the budget is 9,000\n- lunch is at noon\n")
        await one.says("my sister plays the violin")
        found = {
            words: await searched(one.handles.open(BUILD), words) for words in ("预算", "instruments?", "budget")
        }
        shown = {words: [hit.placed.unit.body for hit in telling(hits)] for words, hits in found.items()}
        assert shown == {
            "预算": ["- the budget is 9,000"],
            "instruments?": ["my sister plays the violin"],
            "budget": ["- the budget is 9,000"],
        }
        await one.says("the instruments are tuned")
        hits = await searched(one.handles.open(BUILD), "instruments?")
        assert [hit.placed.unit.body for hit in telling(hits)] == ["the instruments are tuned"]


@pytest.mark.asyncio
async def test_the_day_that_is_asked_for_comes_first(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        for _ in range(3):
            await one.says("the gateway was restarted")
            one.clock.advance(10 * 86_400)
        handle = one.handles.open(BUILD)
        search = ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC)
        today = one.clock.now().date()
        for words, day in (
            ("who restarted the gateway on 16 April?", "2026-04-16"),
            ("who restarted the gateway on 2026-04-06?", "2026-04-06"),
            ("who restarted the gateway 10 days ago?", "2026-04-26"),
        ):
            hits = await search.find(words, [], lambda page: True, today=today)
            assert str(hits[0].placed.unit.day) == day


@pytest.mark.asyncio
async def test_what_remem_said_and_what_it_was_asked_is_no_memory(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await one.says("where is the quokka?", addressed=True)
        await one.says("From memory: the quokka is in the garden", "remem", voice=Voice.SELF)
        await one.says("the quokka is fed by the keeper", "ci", voice=Voice.BOT)
        assert await one.finds("quokka") == ["the quokka is fed by the keeper"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "question", ["which store holds the quokka cache", "@remem, what is the quokka cache", "quokka 缓存用什么"]
)
async def test_a_question_to_remem_without_its_mark_is_not_found_as_its_own_answer(
    tmp_path: Path, question: str
) -> None:
    async with memory(tmp_path) as one:
        await one.says("the quokka cache 缓存 is in Valkey")
        one.clock.advance(7200)
        await one.says(question, "bo", addressed=True)
        assert await one.finds(question) == ["the quokka cache 缓存 is in Valkey"]


@pytest.mark.asyncio
async def test_what_is_known_now_is_found_once_and_not_in_the_note_of_its_day_too(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await one.says("Decision: we use Redis for the sessions")
        noted = "- we use Redis for the sessions (@ana, 12:00)\n"
        one.put("journal/2026-04-06", f"# 2026-04-06\n\n## 12:00 Notes\n\n### Decisions\n{noted}- redis is fast\n")
        assert await one.finds("redis sessions") == [noted.strip(), "- redis is fast"]
        record = "## [2026-04-06] Redis for the sessions\n- Body: We use Redis for the sessions.\n"
        one.put("experience", f"# Experience\n\n{record}")
        one.put("daily-synced", "# Daily\n\n- 2026-04-06: we use Redis for the sessions\n")
        assert await one.finds("redis sessions") == ["We use Redis for the sessions.", "- redis is fast"]


@pytest.mark.asyncio
async def test_threads_are_talks_of_their_own_and_long_talks_stay_together(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        for number in range(3 * PIECE):
            await one.says(f"line {number} of the long talk")
            if number % 40 == 0:
                await one.says(f"aside {number} in the thread", thread="1")
        search = await searched(one.handles.open(BUILD), "talk")
        talks = {hit.placed.talk for hit in search}
        assert len(talks) == 1
        assert await one.finds("line 150 long talk"), "the middle piece"
        assert (await one.finds("aside 80 thread"))[0] == "aside 80 in the thread"
        one.clock.advance(3600)
        await one.says("another talk")
        found = await searched(one.handles.open(BUILD), "another quite long talk")
        assert len({hit.placed.talk for hit in found}) == 2


@pytest.mark.asyncio
async def test_a_line_that_a_page_tells_is_not_told_twice(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        await one.says("we chose Redis for the session cache")
        assert len(await one.finds("session cache")) == 1
        one.put("experience", "# Experience\n\n- we chose Redis for the session cache (@ana, 12:00)\n")
        assert await one.finds("session cache") == ["- we chose Redis for the session cache (@ana, 12:00)"]


@pytest.mark.asyncio
async def test_nothing_of_another_scope_is_in_it_nor_moves_a_score(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n- redis for the cache\n- valkey for the queue\n")
        before = [hit.score for hit in await searched(one.handles.open(BUILD), "redis cache queue")]
        for number in range(20):
            await one.says(f"redis secret {number}", scope=SHOP)
        one.put("experience", "# Experience\n\n- redis of the shop\n", SHOP)
        assert "redis secret 3" in await one.finds("redis secret 3", SHOP)
        assert [hit.score for hit in await searched(one.handles.open(BUILD), "redis cache queue")] == before
        assert await one.finds("secret shop") == []
        theirs = one.root / ".remem/search/group-build.sqlite3"
        assert b"secret" not in theirs.read_bytes()


@pytest.mark.asyncio
async def test_many_scopes_and_many_searches_at_once(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        scopes = [GroupScope(f"room{number}") for number in range(ROOMS)]
        for number, scope in enumerate(scopes):
            one.put("experience", f"# Experience\n\n- the code is number{number}\n", scope)
        for _ in range(2):
            found = await asyncio.gather(*(one.finds("code", scope) for scope in scopes for _ in range(3)))
            assert found == [[f"- the code is number{at // 3}"] for at in range(3 * ROOMS)]
        assert len(one.index_files()) == ROOMS


@pytest.mark.asyncio
async def test_a_search_that_is_given_up_hinders_no_other(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n" + "".join(f"- redis number{at}\n" for at in range(300)))
        for _ in range(10):
            task = asyncio.ensure_future(one.finds("redis"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert (await one.finds("number77"))[0] == "- redis number77"


@pytest.mark.asyncio
async def test_what_is_gone_leaves_the_files_without_a_search(tmp_path: Path) -> None:
    """The gate's revise_search, which follows every deletion: nothing of it stays on the disk until somebody asks."""
    async with memory(tmp_path) as one:
        one.put("index", "# build\n")
        (tmp_path / "memory/groups/build.md").write_text("---\nlevel: 1\n---\n# build\n")
        handle = one.handles.open(BUILD)
        await revise_search(handle)
        assert one.index_files() == [], "none is made where none is"
        key = await one.says("the door code is quokka")
        assert await one.finds("quokka")
        await one.deletes(key)
        await revise_search(handle)
        assert not any(b"quokka" in path.read_bytes() for path in one.index_files())
        (tmp_path / "memory/groups/build.md").unlink()
        await revise_search(handle)
        assert one.index_files() == [], "a memory without an index has none to search"


@pytest.mark.asyncio
async def test_where_nothing_can_be_read_it_says_so_and_what_stood_there_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n- redis for the cache\n")
        assert await one.finds("redis")
        one.put("experience", "# Experience\n\n- redis for the cache, and more\n")
        handle = one.handles.open(BUILD)

        async def read(page: PageId) -> PageText | None:
            raise StoreFailed(f"{page}.md could not be read: permission is missing.")

        monkeypatch.setattr(type(handle.store), "read", lambda store, page: read(page))
        with pytest.raises(StoreFailed, match="experience"):
            await searched(handle, "redis")
        monkeypatch.undo()
        assert await one.finds("redis") == ["- redis for the cache, and more"]


@pytest.mark.asyncio
async def test_an_index_in_memory_needs_no_folder(tmp_path: Path) -> None:
    async with memory(tmp_path, Searches()) as one:
        await one.says("the door code is quokka")
        assert await one.finds("quokka") == ["the door code is quokka"]
        assert not (tmp_path / ".remem").exists()


@pytest.mark.asyncio
async def test_what_was_noted_before_is_no_page_that_could_not_be_read(tmp_path: Path) -> None:
    async with memory(tmp_path) as one:
        one.put("experience", "# Experience\n\n- redis for the cache\n")
        handle, notes = one.handles.open(BUILD), ["The budget of the index is no number."]
        search = ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, UTC)
        (hit,) = await search.find("redis", notes, lambda page: True)
        assert hit.placed.page == "experience"
        assert len(notes) == 1


@pytest.mark.asyncio
async def test_what_was_said_can_be_read_again_from_a_disclosure_with_its_day_and_source(tmp_path: Path) -> None:
    """An agent quotes from what it was shown; a message of several lines is one part."""
    async with memory(tmp_path) as one:
        await one.says("the door code:\n\n```\nquokka\n```\n# no heading")
        one.clock.advance(86_400)
        await one.says("the door code is changed, says (Bo)", "bo")
        hits = await searched(one.handles.open(BUILD), "door code")
        units = [hit.placed.unit for hit in sorted(hits, key=lambda hit: hit.number)]
        read = units_of(PageId("talk"), Form.JOURNAL, render(units)).units
        assert [(unit.day, unit.source, unit.said_by) for unit in read] == [
            (date(2026, 4, 6), "@ana, 12:00", "@ana"),
            (date(2026, 4, 7), "@bo, 12:00", "@bo"),
        ]
