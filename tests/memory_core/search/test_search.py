"""Search in one scope: the right part first, in any script, also when a file cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.errors import StoreFailed
from memory_core.forms.units import units_of
from memory_core.gate import open_index
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.search import Found, Placed, rank, strong
from memory_core.store.base import PageText
from tests.memory_core.loading_parts import BUILD, EXPERIENCE, Workspace, group, record
from tests.scale import scale

JOURNAL = "# 2026-04-05 (+00:00)\n\n## 14:30 Notes\n\n- 我们决定用 Redis 做会话缓存 (@bo, 14:02) <!-- k -->\n"


async def _search(workspace: Workspace, words: str, limit: int = 10) -> tuple[Found, ...]:
    opened = await open_index(workspace.handle(BUILD))
    assert opened is not None
    return await opened.search(words, limit)


@pytest.mark.asyncio
async def test_the_best_record_is_first_with_its_source() -> None:
    found = await _search(group(), "why did we choose Redis over Memcached?")
    assert (found[0].page, found[0].title) == ("experience", "Redis for the session cache")
    assert found[0].source == "@ana in #build, 2026-04-06 14:02"
    assert found[0].text == "Redis over Memcached, because sessions survive a restart."
    assert found[0].record


@pytest.mark.asyncio
async def test_journals_and_the_archive_are_searched_in_any_script() -> None:
    workspace = group()
    workspace.put(
        BUILD,
        {"journal/2026-04-05": JOURNAL, "archive/2026-01": "# A\n\n" + record("2026-01-02", "Old", "was Debian")},
    )
    chinese = await _search(workspace, "会话缓存用什么？")
    assert (chinese[0].page, chinese[0].source) == ("journal/2026-04-05", "@bo, 14:02")
    assert "archive/2026-01" in [found.page for found in await _search(workspace, "Debian")]


@pytest.mark.asyncio
async def test_nothing_matches_nothing() -> None:
    assert await _search(group(), "zookeeper") == ()
    assert await _search(group(), "?!") == ()


@pytest.mark.asyncio
async def test_one_unreadable_page_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = group()
    store = workspace.handle(BUILD).store

    async def read(page: PageId) -> PageText | None:
        if page == "people":
            raise StoreFailed("people.md could not be read: permission is missing.")
        return await store.read(page)

    class Broken:
        """A store of which one page cannot be read."""

        scope = store.scope
        stamp = staticmethod(store.stamp)
        pages = staticmethod(store.pages)
        states = staticmethod(store.states)
        commit = staticmethod(store.commit)

        @staticmethod
        async def read(page: PageId) -> PageText | None:
            """The page, unless it is `people`."""
            return await read(page)

    monkeypatch.setattr(workspace.stores, "open", lambda scope: Broken())
    assert [found.page for found in await _search(workspace, "Redis")] == ["experience"]


def test_a_title_counts_more_than_a_body_and_a_phrase_more_than_its_words() -> None:
    page = "\n".join(
        [
            record("2026-01-01", "Cache", "something else entirely"),
            record("2026-01-02", "Other", "the cache was mentioned once"),
            record("2026-01-03", "Talk", "a session about a cache"),
            record("2026-01-04", "Talk", "a cache for the session cache"),
        ]
    )
    placed = [
        Placed(PageId("experience"), unit) for unit in units_of(PageId("experience"), Form.NEWEST_FIRST, page).units
    ]
    assert rank(placed, "cache")[0].placed.unit.title == "Cache"
    assert rank(placed, "session cache")[0].placed.unit.day == placed[3].unit.day


@given(st.lists(st.sampled_from(["redis", "cache", "ana", "决定", "deploy", "friday"]), max_size=5))
@settings(max_examples=scale(1000), deadline=None)
def test_hits_are_ordered_real_and_never_weak_ones_before_strong(words: list[str]) -> None:
    units = units_of(PageId("experience"), Form.NEWEST_FIRST, EXPERIENCE).units
    hits = rank([Placed(PageId("experience"), unit) for unit in units], " ".join(words))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.shared > 0 and hit.score > 0 and units[hit.number] is hit.placed.unit for hit in hits)
    assert strong(hits) == hits[: len(strong(hits))]
