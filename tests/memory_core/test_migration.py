"""A memory in another layout: nothing vanishes, nothing is there twice, what a person wrote stays. Pure, no files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms import flush_state, tasks
from memory_core.forms.archive import archived
from memory_core.forms.board import BOARDS, board
from memory_core.forms.records import Record, Source, parse, render
from memory_core.ids import MessageKey, PageId, Scope
from memory_core.index import parse as parse_index
from memory_core.layouts import ADAPTIVE, APM, DREAMING, FLUSH_STATE, INDEX, TASKS, Form, Kind, Layout
from memory_core.migration.homes import home_of
from memory_core.search.sources import searchable
from memory_core.store.base import Stamp
from tests.memory_core.migration_kit import (
    BUILD,
    DIRECTIONS,
    HAND,
    JOURNAL,
    OWNER,
    SCOPES,
    bare,
    move,
    pages,
    record,
    records_in,
)
from tests.scale import scale

MONTH = PageId("archive/2026-09")
every_way = pytest.mark.parametrize(("old", "new"), DIRECTIONS, ids=lambda layout: layout.name)
every_scope = pytest.mark.parametrize("scope", SCOPES, ids=["group", "dm"])


@every_way
@every_scope
def test_every_record_is_there_once_as_it_was(old: Layout, new: Layout, scope: Scope) -> None:
    texts = pages(old, scope)
    before = {one.identity: bare(one) for _, one in records_in(old, scope, texts)}
    after = move(old, new, scope, texts)
    found = [(page, one) for page, one in records_in(new, scope, after.pages) if one.identity in before]
    assert Counter(one.identity for _, one in found) == Counter(before.keys())
    assert {one.identity: bare(one) for _, one in found} == before
    assert len(before) > 10 or new is ADAPTIVE or old is ADAPTIVE


@every_way
@every_scope
def test_records_stand_on_the_page_of_their_kind(old: Layout, new: Layout, scope: Scope) -> None:
    after = move(old, new, scope, pages(old, scope))
    where = {one.identity: page for page, one in records_in(new, scope, after.pages)}
    for number, kind in enumerate([Kind.DECISION, Kind.LESSON, Kind.ROLE]):
        page = where.get(record(kind, list_number(kind)).identity)
        home = home_of(new.table(scope), kind)
        if home_of(old.table(scope), kind) is None:
            assert page is None
        elif home is None:
            assert page == MONTH
        else:
            assert page == home.page or (number == 2 and page == "user"), (kind, page)


def list_number(kind: Kind) -> int:
    """The number of the first record of a kind in the kit's memory."""
    from tests.memory_core.migration_kit import SAID

    return list(SAID).index(kind) * 3


@every_way
@every_scope
def test_every_record_can_be_searched(old: Layout, new: Layout, scope: Scope) -> None:
    after = move(old, new, scope, pages(old, scope))
    looked = set(searchable(new.table(scope), list(after.pages)))
    assert {page for page, _ in records_in(new, scope, after.pages)} <= looked


@every_way
@every_scope
def test_what_was_being_done_is_still_to_be_done(old: Layout, new: Layout, scope: Scope) -> None:
    after = move(old, new, scope, pages(old, scope))
    table = new.table(scope)
    file = tasks.parse(after.pages[TASKS])
    assert not file.broken
    assert {"t-1", "t-2"} <= {task.id for task in file.tasks}
    on = next((rule for rule in table.rules if rule.form in BOARDS), None)
    had = any(rule.form in BOARDS for rule in old.table(scope).rules)
    if on is not None:
        said = board(on.form).parse(after.pages[on.page])
        rows = {row.task: row for row in said.tasks}
        assert rows["prepare the release"].status == "in_progress" or on.form is Form.CHANNEL
        assert "due 2026-09-10" in rows["prepare the release"].notes
        if had:
            assert (rows["a task of the page alone"].who, rows["a task of the page alone"].notes) == (
                "bo",
                "ask cy first",
            )
            assert said.blockers == ("the staging certificate has expired (@bo, 2026-08-30)",)
            assert board(on.form).keys_of(after.pages[on.page], blocker=said.blockers[0]) == ("slack:T1:C9:31",)
    elif had:
        titles = {task.title: task for task in file.tasks}
        assert "@bo" in titles["a task of the page alone"].note
        assert "ask cy first" in titles["a task of the page alone"].note
        blocked = titles["the staging certificate has expired (@bo, 2026-08-30)"]
        assert blocked.status is tasks.TaskStatus.BLOCKED
        assert blocked.source.endswith(", slack:T1:C9:31")


@every_scope
def test_tasks_of_a_board_go_there_and_back(scope: Scope) -> None:
    first = move(APM, DREAMING, scope, pages(APM, scope))
    again = move(DREAMING, APM, scope, first.pages)
    said = board(Form.ATTENTION).parse(again.pages[PageId("attention")])
    assert {row.task for row in said.tasks} >= {"prepare the release", "a task of the page alone"}
    row = said.row("a task of the page alone")
    assert row is not None
    assert row.who == "bo"


def test_facts_of_the_environment_and_topics_are_kept_with_their_messages() -> None:
    dreaming = move(APM, DREAMING, BUILD, pages(APM, BUILD))
    (fact,) = [
        placed.record
        for placed in parse(dreaming.pages[PageId("tools-config")]).records
        if "10.0" in placed.record.body and placed.record.title == "staging db"
    ]
    assert fact.messages == ("slack:T1:C9:32",)
    assert fact.day == date(2026, 8, 30)
    assert fact.body == "staging db: 10.0.0.9", "who said it stands in its source, and not in the text again"
    adaptive = move(APM, ADAPTIVE, BUILD, pages(APM, BUILD))
    context = adaptive.pages[PageId("channel_context")]
    assert board(Form.CHANNEL).parse(context).fact("staging db") == "10.0.0.9 (@ana, 2026-08-30)"
    assert board(Form.CHANNEL).keys_of(context, fact="staging db") == ("slack:T1:C9:32",)
    back = move(ADAPTIVE, APM, BUILD, pages(ADAPTIVE, BUILD))
    (topic,) = [placed.record for placed in parse(back.pages[PageId("project")]).records]
    assert (topic.body, topic.day) == ("the database moves to Postgres 17", date(2026, 8, 30))
    assert topic.messages == ("slack:T1:C9:33",)


@every_way
@every_scope
def test_a_persons_text_is_kept_verbatim_and_named(old: Layout, new: Layout, scope: Scope) -> None:
    texts = pages(old, scope)
    written = [rule.page for rule in old.table(scope).rules if rule.page in texts and rule.form in _TEXTS]
    for number, page in enumerate(written):
        head, _, tail = texts[page].partition("\n")
        texts[page] = f"{head}\n\n{HAND.replace('Tuesday', f'Tuesday {number}')}\n{tail}"
    after = move(old, new, scope, texts)
    all_text = "\n".join(after.pages.values())
    for number, page in enumerate(written):
        for line in HAND.replace("Tuesday", f"Tuesday {number}").split("\n"):
            if not line.startswith("#"):
                assert line in all_text, (page, line)
        assert "Rituals" in all_text
        stays = after.pages.get(page) == texts[page]
        assert stays or any(told == page for told, _ in after.told), page


_TEXTS = {Form.NEWEST_FIRST, Form.ADDED, Form.SECTIONS, Form.CHANNEL, Form.ATTENTION, Form.ACTIVE, Form.DAILY_LINES}


@every_way
@every_scope
def test_struck_lines_are_kept(old: Layout, new: Layout, scope: Scope) -> None:
    texts = pages(old, scope)
    home = home_of(old.table(scope), Kind.DECISION)
    assert home is not None
    line = "~~[2026-01-09] Memcached for sessions: no persistence~~ <!-- slack:T1:C9:3 -->"
    texts[home.page] = f"{texts[home.page]}\n{line}\n"
    after = move(old, new, scope, texts)
    assert sum(text.split("\n").count(line) for text in after.pages.values()) == 1


@every_way
def test_memory_md_of_a_person_stays_word_for_word(old: Layout, new: Layout) -> None:
    texts = pages(old, OWNER)
    mine = "# My memory\r\n\r\nI am Ana's helper.\r\n\r\n## Environment\r\n\r\n- a laptop\r\n"
    texts[PageId("memory")] = mine
    after = move(old, new, OWNER, texts).pages[PageId("memory")]
    if old is ADAPTIVE:
        assert after == mine.replace("\r\n", "\n")
    elif new is ADAPTIVE:
        kept = [line for line in after.split("\r\n") if line in mine.split("\r\n")]
        assert [line for line in kept if line] == [line for line in mine.split("\r\n") if line]
        assert "\n" not in after.replace("\r\n", "")
    else:
        assert after == mine


@every_way
@every_scope
def test_what_is_the_same_file_in_both_is_not_touched(old: Layout, new: Layout, scope: Scope) -> None:
    texts = pages(old, scope)
    if scope is OWNER:
        texts[PageId("user")] = "# User\r\n\r\nI like short answers.\r\n"
    after = move(old, new, scope, texts)
    assert after.pages[PageId("journal/2026-08-30")] == JOURNAL
    if scope is OWNER and old is not DREAMING:
        assert after.pages[PageId("user")] == texts[PageId("user")]


@every_way
@every_scope
def test_the_index_is_carried(old: Layout, new: Layout, scope: Scope) -> None:
    after = move(old, new, scope, pages(old, scope))
    table = new.table(scope)
    text = after.pages[INDEX]
    index = parse_index(text, table)
    assert index.front["purpose"] == "We build things"
    assert index.front["colour"] == "blue"
    assert str(index.zone) == "Asia/Shanghai"
    assert index.rules[0] == "Never deploy on Fridays"
    assert "Ask ana before you change this." in text
    assert index.rooms == (("slack:T1:C9",) if scope is BUILD else ())
    home = home_of(table, Kind.DECISION)
    assert home is not None
    assert any(route.trigger == "sessions, cookies" and route.page == home.page for route in index.routes)
    live = {route.page for route in index.routes if not route.deprecated}
    assert {rule.page for rule in table.routed() if not rule.page.endswith("*")} <= live
    assert not [one for one in index.problems if "no page" in one]
    assert any(page == INDEX and "sessions" in what for page, what in after.told)


def test_a_row_without_an_heir_is_marked_dead_and_stays() -> None:
    texts = pages(APM, BUILD)
    texts[INDEX] = (
        texts[INDEX]
        .replace("| Trigger Scenario", "| Trigger Scenario")
        .replace("| sessions, cookies | experience.md | P1 |", "| birthdays | people.md | P3 |")
    )
    after = move(APM, ADAPTIVE, BUILD, texts)
    assert "| [DEPRECATED] birthdays | people.md | P3 |" in after.pages[INDEX]
    assert any("birthdays" in what and "no heir" in what for _, what in after.told)


def test_projects_leave_their_names_behind_and_find_them_again() -> None:
    alpha, beta = PageId("projects/alpha"), PageId("projects/beta")
    texts = pages(APM, OWNER, {alpha: [record(Kind.STACK, 50)], beta: [record(Kind.AGREEMENT, 51)]})
    texts[beta] += "\n## About beta\n\nIt is small.\n"
    first = move(APM, DREAMING, OWNER, texts)
    context = parse(first.pages[PageId("project-context")])
    assert {tag for placed in context.records for tag in placed.record.tags if "/" in tag} == {alpha, beta}
    assert "It is small." in first.pages[PageId("project-context")]
    again = move(DREAMING, APM, OWNER, first.pages)
    assert [placed.record for placed in parse(again.pages[alpha]).records] == [record(Kind.STACK, 50)]
    assert [placed.record for placed in parse(again.pages[beta]).records] == [record(Kind.AGREEMENT, 51)]
    assert {alpha, beta} <= {route.page for route in parse_index(again.pages[INDEX], APM.direct).routes}


def test_a_page_that_stands_at_every_start_takes_the_liveliest_within_its_budget() -> None:
    many = [record(Kind.DECISION, number, proven=number == 3) for number in range(100, 160)]
    many[7] = replace(many[7], proven=True, last_referenced=date(2025, 1, 1))
    after = move(APM, ADAPTIVE, BUILD, pages(APM, BUILD, {PageId("experience"): many}))
    context = after.pages[PageId("channel_context")]
    assert len(context.splitlines()) <= 100
    there = {placed.record.identity for placed in parse(context).records}
    assert many[7].identity in there
    away = [placed.record for placed in parse(after.pages[MONTH]).records if placed.record.archived]
    told = [archived(one) for one in away if one.title.startswith("we decided")]
    assert told
    assert {(one.page, one.section) for one in told if one} == {("channel_context", "Recent Decisions")}


@every_way
@every_scope
def test_the_archive_leads_back_to_the_new_page(old: Layout, new: Layout, scope: Scope) -> None:
    after = move(old, new, scope, pages(old, scope))
    (one,) = [placed.record for placed in parse(after.pages[PageId("archive/2026-05")]).records]
    told, home = archived(one), home_of(new.table(scope), Kind.DECISION)
    assert told is not None
    assert home is not None
    assert (told.page, told.section, told.score, str(told.day)) == (home.page, home.section, 41, "2026-05-20")


def test_what_stands_in_a_new_pages_place_is_added_to() -> None:
    standing = {
        PageId(
            "decisions"
        ): f"# Mine\r\n\r\nA line of mine.\r\n\r\n{render(record(Kind.DECISION, 0), chr(13) + chr(10))}",
        PageId("lessons"): "# Lessons\n",
        INDEX: "# Another tool's index\n\nIt knew things.\n",
    }
    texts = pages(APM, OWNER)
    after = move(APM, DREAMING, OWNER, texts, standing)
    text = after.pages[PageId("decisions")]
    assert text.startswith("# Mine\r\n\r\nA line of mine.\r\n")
    assert "\n" not in text.replace("\r\n", "")
    found = Counter(one.identity for _, one in records_in(DREAMING, OWNER, after.pages))
    assert max(found.values()) == 1
    assert "It knew things." in after.pages[MONTH]


def test_the_same_record_in_other_words_is_kept_twice() -> None:
    other = replace(record(Kind.DECISION, 0), body="quite another body")
    standing = {PageId("decisions"): f"# Decisions\n\n{render(other)}"}
    after = move(APM, DREAMING, BUILD, pages(APM, BUILD), standing)
    bodies = {one.body for _, one in records_in(DREAMING, BUILD, after.pages) if one.identity == other.identity}
    assert bodies == {other.body, record(Kind.DECISION, 0).body}


def test_an_entry_of_one_line_keeps_its_identity_and_its_label() -> None:
    texts = pages(APM, BUILD)
    texts[PageId("experience")] += "\n## Old notes\n\n- [2025-12-01] Lesson: pin versions → Context: a broken build\n"
    before = {one.identity for _, one in records_in(APM, BUILD, texts) if one.title == "pin versions"}
    after = move(APM, DREAMING, BUILD, texts)
    (found,) = [
        placed.record
        for placed in parse(after.pages[PageId("lessons")]).records
        if placed.record.title == "pin versions"
    ]
    assert {found.identity} == before
    assert (found.body, found.day, found.tags) == ("Context: a broken build", date(2025, 12, 1), ("Lesson",))


def test_headings_in_a_record_stay_below_it() -> None:
    deep = "## [2026-08-03] Deep\n- Body: x\n\n### Notes\n\ntext\n\n```\n### no heading\n```\n"
    texts = pages(APM, OWNER)
    texts[PageId("longterm")] = f"# Long-term\n\n{deep}"
    after = move(APM, ADAPTIVE, OWNER, texts)
    text = after.pages[PageId("memory")]
    assert "### [2026-08-03] Deep\n- Body: x\n\n#### Notes\n\ntext\n\n```\n### no heading\n```" in text
    back = move(ADAPTIVE, APM, OWNER, after.pages)
    assert deep.strip() in back.pages[PageId("longterm")]


def test_an_unclosed_fence_swallows_nothing() -> None:
    texts = pages(APM, BUILD)
    texts[PageId("experience")] += "\n## [2026-08-02] Broken\n- Body: y\n```\nnever closed\n"
    count = len(records_in(APM, BUILD, texts))
    for new in (ADAPTIVE, DREAMING):
        after = move(APM, new, BUILD, texts)
        facts = 0 if new is ADAPTIVE else 1
        assert len(records_in(new, BUILD, after.pages)) == count + facts
        assert "never closed" in "".join(after.pages.values())


def test_two_unclosed_fences_that_meet_on_one_page_do_not_close_each_other() -> None:
    texts = pages(APM, BUILD)
    for page, day in (("experience", "2026-08-31"), ("project", "2020-01-01")):
        texts[PageId(page)] += f"\n## [{day}] Broken {page}\n- Body: y\n```\nopen\n"
    said = {one.identity for _, one in records_in(APM, BUILD, texts)}
    after = move(APM, ADAPTIVE, BUILD, texts)
    assert said <= {one.identity for _, one in records_in(ADAPTIVE, BUILD, after.pages)}
    old = {PageId("decisions"): "# Decisions\n", PageId("lessons"): "# Lessons\n"}
    for page, day in (("decisions", "2026-08-31"), ("lessons", "2020-01-01")):
        old[PageId(page)] += f"\n## [{day}] Broken {page}\n- Body: y\n```\nopen\n"
    old[PageId("decisions")] = old[PageId("decisions")] + "\n" + render(record(Kind.DECISION, 0))
    said = {one.identity for _, one in records_in(DREAMING, BUILD, old)}
    after = move(DREAMING, APM, BUILD, old)
    assert said == {one.identity for _, one in records_in(APM, BUILD, after.pages)}


def test_a_wide_table_and_lines_below_a_task_are_kept_verbatim() -> None:
    wide = "# Attention\n\n## Active Tasks\n\n| Task | Status | Cost |\n|---|---|---|\n| paint | pending | 30 EUR |\n"
    after = move(APM, ADAPTIVE, BUILD, {PageId("attention"): wide})
    assert "| paint | pending | 30 EUR |" in after.pages[MONTH]
    assert "**paint**" in after.pages[PageId("channel_context")]
    below = "# Active Context\n\n## In Progress\n- **paint**: @bo\n  - two coats\n"
    after = move(ADAPTIVE, APM, OWNER, {PageId("active_context"): below})
    assert "  - two coats" in after.pages[MONTH]
    assert "| paint | in_progress | bo |" in after.pages[PageId("attention")]


def test_a_broken_task_file_is_kept_beside() -> None:
    after = move(APM, DREAMING, BUILD, pages(APM, BUILD) | {TASKS: "{ no json"})
    (copy,) = [page for page in after.pages if page.startswith("backup/")]
    assert after.pages[copy] == "{ no json"
    assert not tasks.parse(after.pages[TASKS]).broken


def test_the_state_file_forgets_pages_that_are_no_more() -> None:
    texts = pages(APM, BUILD)
    stamps = {PageId("experience"): Stamp(1, 2, "a"), PageId("people"): Stamp(3, 4, "b")}
    texts[FLUSH_STATE] = flush_state.render(flush_state.FlushState(flush_number=7, pages=stamps))
    state = flush_state.parse(move(APM, DREAMING, BUILD, texts).pages[FLUSH_STATE])
    assert state.flush_number == 7
    assert state.pages == {PageId("people"): stamps[PageId("people")]}


def test_an_empty_scope_stays_empty() -> None:
    for old, new in DIRECTIONS:
        assert move(old, new, BUILD, {}).pages == {}


NASTY = st.sampled_from(
    (
        "plain words",
        "# no heading",
        "| a | b |",
        "~~[x]~~",
        "```",
        "- Body: no field",
        "<!-- open",
        "決定した",
        "[2026-01-01] x",
    )
)


@st.composite
def _records(draw: st.DrawFn, place: int) -> list[Record]:
    """Records that no other place has, with whatever people write in them."""
    kinds = [Kind.DECISION, Kind.LESSON, Kind.AGREEMENT, Kind.ROLE, Kind.TOOL]
    made = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=8))):
        key = MessageKey(f"console:x:{place}.{number}")
        known, unknown = (
            Source("console:ana", "ana", "#build", "2026-08-20 14:02", (key,)),
            Source(keys=(key,), text=key),
        )
        made.append(
            record(
                kind,
                number,
                title=f"{draw(NASTY)} {number}",
                body=draw(st.sampled_from(["", "x", "y\nz", "# h\n```"])),
                day=draw(st.sampled_from([date(2026, 8, 1), None, date(2024, 2, 29)])),
                extra=draw(st.sampled_from(_EXTRAS)),
                sources=(draw(st.sampled_from([known, unknown])),),
            )
        )
    return made


_EXTRAS = (
    (),
    ("free text",),
    ("### deeper", "", "text"),
    ("```", "## [2020-01-01] fenced", "```"),
    ("| a |", "|---|"),
)


@every_way
@every_scope
@given(data=st.data())
@settings(max_examples=scale(60), deadline=None)
def test_random_records_go_there_and_back(data: st.DataObject, old: Layout, new: Layout, scope: Scope) -> None:
    table = old.table(scope)
    forms = (Form.NEWEST_FIRST, Form.ADDED, Form.SECTIONS, Form.CHANNEL)
    spots = [PageId(rule.page.replace("*", "alpha")) for rule in table.rules if rule.form in forms]
    more = {page: data.draw(_records(place)) for place, page in enumerate(spots)}
    texts = pages(old, scope, more)
    said = {one.identity: one for _, one in records_in(old, scope, texts)}
    first = move(old, new, scope, texts)
    here = [one for _, one in records_in(new, scope, first.pages) if one.identity in said]
    assert Counter(one.identity for one in here) == Counter(said.keys())
    assert {one.identity: _words(one) for one in here} == {key: _words(one) for key, one in said.items()}
    again = move(new, old, scope, first.pages)
    there = Counter(one.identity for _, one in records_in(old, scope, again.pages) if one.identity in said)
    assert there == Counter(said.keys())
    assert move(old, new, scope, texts) == first


def _words(one: Record) -> Record:
    """The record as `bare`, headings in it apart from their depth, fences that were made harmless as they were."""
    extra = tuple(line.lstrip("#\\").strip() for line in one.extra)
    return replace(bare(one), extra=extra)
