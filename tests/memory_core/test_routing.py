"""Matching a message against the index's rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.ids import PageId
from memory_core.index import Index, Route, new_index, parse
from memory_core.layouts import APM, LAYOUTS, Priority, Table
from memory_core.lexicon import cues, lexicons, likely_meant
from memory_core.routing import Match, best_convention, match
from tests.scale import scale

GROUP, DIRECT = APM.group, APM.direct


def index_of(*rows: tuple[str, str], dead: Sequence[str] = ()) -> Index:
    ranks = {"attention": Priority.P0, "project": Priority.P1, "experience": Priority.P2}
    return Index(
        routes=tuple(
            Route(trigger, PageId(page), ranks.get(page, Priority.P3), deprecated=trigger in dead)
            for trigger, page in rows
        )
    )


def default(table: Table, pages: Sequence[str] = ()) -> Index:
    found = [PageId(page) for page in pages]
    text = new_index(table, name="x", rooms=[], purpose="", created=date(2026, 1, 1), zone="UTC", pages=found)
    return parse(text, table)


def first(message: str, index: Index, table: Table = GROUP) -> str:
    found = match(message, index, table)
    return found[0].page if found else ""


def test_case_65_chinese_and_japanese_words_match() -> None:
    index = index_of(("部署, 发布", "project"), ("who", "people"))
    assert first("今天下午要不要把服务发布到线上？", index) == "project"
    assert first("本番へのデプロイをお願い", index_of(("デプロイ", "project"), ("会議", "attention"))) == "project"
    assert first("언제 배포를 하나요", index_of(("배포", "project"), ("회의", "attention"))) == "project"


def test_an_english_table_routes_other_languages() -> None:
    index = default(GROUP)
    assert first("缓存为什么选了Redis？当时怎么决定的", index) == "experience"
    assert first("谁负责支付", index) == "people"
    assert first("wer ist für die Abrechnung zuständig", index) == "people"
    assert first("デプロイはどうやる", index) == "project"


def test_a_rows_own_words_count_more_than_the_word_lists() -> None:
    index = index_of(("decisions about lunch", "people"), ("other things", "experience"))
    assert first("what did we decide about lunch", index) == "people"


def test_a_tie_goes_to_the_higher_priority() -> None:
    index = index_of(("kiwi", "people"), ("kiwi", "project"), ("kiwi", "experience"))
    assert [found.page for found in match("kiwi?", index, GROUP)] == ["project", "experience", "people"]


def test_deprecated_rows_never_match() -> None:
    assert match("zebra", index_of(("zebra", "people"), dead=["zebra"]), GROUP) == ()
    assert match("who owns billing", index_of(("who", "people"), dead=["who"]), GROUP) == ()


def test_only_pages_that_a_live_row_names_are_candidates() -> None:
    assert match("who is the owner", index_of(("tasks", "attention")), GROUP) == ()


@pytest.mark.parametrize(
    "message", ["hi", "谢谢啦", "thanks a lot!", "", "   ", "🙂", "is pineapple on pizza ok", "一加一等于几"]
)
def test_what_asks_for_nothing_matches_nothing(message: str) -> None:
    assert match(message, default(GROUP), GROUP) == ()


def test_a_sentence_as_trigger() -> None:
    index = index_of(
        ("When someone asks about shipping, refunds or supplier contracts", "project"),
        ("如果有人问到部署相关的问题，或者环境配置", "experience"),
    )
    assert first("a customer wants a refund", index) == "project"
    assert first("部署失败了", index) == "experience"
    assert first("someone asks a question", index) == ""


def test_conventions_are_reached_through_a_page_only() -> None:
    index = index_of(("api style", "conventions/api"), ("sql naming", "conventions/database"), ("tasks", "attention"))
    names = [PageId("conventions/api"), PageId("conventions/database"), PageId("conventions/tools")]
    assert match("what is our api style", index, GROUP) == ()
    assert best_convention("what is our api style", names, index, GROUP) == "conventions/api"
    assert best_convention("how do we name tables in sql", names, index, GROUP) == "conventions/database"
    assert best_convention("which tools are there", names, index, GROUP) == "conventions/tools"
    assert best_convention("who is ana", names, index, GROUP) is None
    assert best_convention("api", [], index, GROUP) is None


def test_a_projects_name_is_the_strongest_word() -> None:
    index = default(DIRECT, ["projects/atlas", "projects/home-server", "projects/论文"])
    assert first("why did I decide on flutter for Atlas", index, DIRECT) == "projects/atlas"
    assert first("todo for the home server", index, DIRECT) == "projects/home-server"
    assert first("homeserver status", index, DIRECT) == "projects/home-server"
    assert first("我的论文进度", index, DIRECT) == "projects/论文"
    assert first("what is the architecture", index, DIRECT) == ""
    assert first("what is the architecture", default(DIRECT, ["projects/atlas"]), DIRECT) == "projects/atlas"


def test_mistyped_words_are_understood() -> None:
    assert first("what was the decison on pricing", default(GROUP)) == "experience"
    assert first("any deadlnie for me", default(GROUP)) == "attention"
    assert likely_meant("contract") == ""
    assert likely_meant("decision") == ""


def test_why_tells_the_word_and_the_row() -> None:
    found = match("what have we decided?", default(GROUP), GROUP)[0]
    assert found == Match(found.page, Priority.P2, found.score, found.trigger, found.why)
    assert found.why == '"decided" in row "decision, decided, why, lesson, bug, root cause, workaround"'
    assert '"谁负责" is a word of people' in match("谁负责", default(GROUP), GROUP)[0].why


def test_every_word_list_that_a_layout_names_exists_and_every_cue_can_be_found() -> None:
    named = {
        rule.lexicon for layout in LAYOUTS.values() for table in (layout.group, layout.direct) for rule in table.rules
    }
    assert named - {""} <= set(lexicons())
    for name in lexicons():
        for cue in cues(name):
            assert cue.terms or cue.piece or cue.pattern, cue


def test_a_long_message_is_bounded() -> None:
    message = "lorem ipsum dolor " * 20_000 + "who owns billing?"
    assert first(message, default(GROUP)) == "people"


@settings(max_examples=scale(2000))
@given(
    st.text(max_size=200),
    st.lists(st.tuples(st.text(max_size=60), st.sampled_from(["project", "people"])), max_size=6),
)
def test_matches_are_sorted_routed_and_repeatable(message: str, rows: list[tuple[str, str]]) -> None:
    index = index_of(*rows)
    found = match(message, index, GROUP)
    assert found == match(message, index, GROUP)
    assert [(-one.score, one.priority) for one in found] == sorted((-one.score, one.priority) for one in found)
    assert len({one.page for one in found}) == len(found)
    assert {one.page for one in found} <= {route.page for route in index.routes}


@settings(max_examples=scale(1000))
@given(st.text(min_size=4, max_size=30))
def test_a_triggers_own_text_matches_its_row(trigger: str) -> None:
    """Whatever has two or more words, or a word of weight, finds itself."""
    index = index_of((trigger, "people"), ("zzyzx", "project"))
    found = match(f"xylophone {trigger}", index, GROUP)
    assert found == () or found[0].page == "people" or found[0].page == "project"
    if len(trigger) > 8 and trigger.isalpha() and trigger.isascii():
        assert found[0].page == "people"
