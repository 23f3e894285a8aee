"""Boards of bullets (active context, channel context): what is put is read back, what is ours alone is touched."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.forms import listed, records
from memory_core.forms.active import ACTIVE, COMPLETED, IN_PROGRESS, WAITING
from memory_core.forms.attention import TaskRow
from memory_core.forms.board import BOARDS, Board, board
from memory_core.forms.channel import CHANNEL, TOPICS, UNRESOLVED
from memory_core.forms.task_line import as_read
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import ADAPTIVE, Form
from memory_core.script import fold
from memory_core.templates import new_page
from memory_core.text import flat
from tests.scale import scale

ONE, TWO = MessageKey("slack:T1:C9:1.1"), MessageKey("slack:T1:C9:2.2")
NASTY = [
    "a, b",
    "**bold** **",
    "C:\\path\\",
    "\\*",
    "*",
    "@ana",
    "\\@x",
    "done, pending",
    "blocked",
    "## In Progress",
    "Source",
    "Body: x",
    "<!-- slack:T1:C9:1.1 -->",
    "a --> b",
    "- x: y",
    "release notes",
    "漢字：だ",
    ", x",
]
TEXTS = (st.sampled_from(NASTY) | st.text(max_size=30)).filter(lambda text: bool(fold(flat(text)).strip()))
NOTES = TEXTS | st.sampled_from(["", "due 2026-04-12", "done 2026-04-06"])
OPEN = st.sampled_from(["pending", "in_progress", "blocked"])
ROWS = st.builds(TaskRow, TEXTS, OPEN, TEXTS | st.just(""), NOTES)
HAND = st.lists(
    st.sampled_from(
        [
            "# Active Context",
            "",
            "## In Progress",
            "- **Project X login flow**: OAuth integration, 70% complete",
            "  - Next: token refresh logic",
            "- plain, by hand",
            "* another **bold** one",
            "## Blocked / Waiting",
            "- **API key for service Z**: Requested 2026-03-30, awaiting approval",
            "- the DNS team",
            "## Recently Completed",
            "- **Timezone fix**: Deployed (2026-04-01)",
            "## Unresolved",
            "- Performance regression in endpoint /api/users",
            "## Current Topics",
            "1. numbered",
            "## Recent Decisions",
            "### [2026-04-01] By hand",
            "- Body: why",
            "## Own section",
            "prose",
            "```",
            "| a | b |",
        ]
    ),
    max_size=14,
).map("\n".join)
FORMS = st.sampled_from([Form.ACTIVE, Form.CHANNEL])
NEWLINES = st.sampled_from(["\n", "\r\n"])


def _new(form: Form, newline: str = "\n") -> str:
    table, page = (ADAPTIVE.direct, "active_context") if form is Form.ACTIVE else (ADAPTIVE.group, "channel_context")
    return (new_page(table, PageId(page), "build") or "").replace("\n", newline)


def _lines(text: str) -> Counter[str]:
    return Counter(line for line in text.split("\n"))


@settings(max_examples=scale(4000), deadline=None)
@given(st.lists(ROWS, max_size=5), FORMS, NEWLINES)
def test_tasks_are_read_back_and_leave_without_a_trace(rows: list[TaskRow], form: Form, newline: str) -> None:
    on, text = board(form), _new(form, newline)
    wanted: dict[str, TaskRow] = {}
    for row in rows:
        if row.key in wanted:
            continue
        text = on.with_task(text, row, (ONE,))
        wanted[row.key] = as_read(row)
        assert on.with_task(text, row, (ONE,)) == text
        assert on.keys_of(text, task=row.task) == (ONE,)
    assert {row.key: row for row in on.parse(text).tasks} == wanted
    assert text.count("\n") == text.count(newline)
    for row in rows:
        text = on.without_task(text, row.task)
    assert text.split() == _new(form, newline).split()


@settings(max_examples=scale(4000), deadline=None)
@given(HAND, ROWS, TEXTS, TEXTS, FORMS, NEWLINES)
def test_what_a_person_wrote_stays_line_for_line(
    hand: str, row: TaskRow, blocker: str, value: str, form: Form, newline: str
) -> None:
    on, hand = board(form), hand.replace("\n", newline)
    known = {one.key for one in on.parse(hand).tasks}

    def put(text: str) -> str:
        text = on.with_blocker(on.with_task(text, row, (ONE,)), blocker, (TWO,))
        return on.with_fact(text, "last seen", value, (ONE,))

    text = put(hand)
    found = on.parse(text).row(row.task)
    assert found is not None
    assert found.status == row.status
    assert any(fold(one) == fold(flat(blocker)) for one in on.parse(text).blockers)
    assert on.parse(text).fact("last seen") == flat(value)
    assert put(text) == text
    if row.key not in known:
        lost = _lines(hand.replace("\r", "")) - _lines(text.replace("\r", ""))
        assert set(lost) <= {""}
        assert text.count("\n") == text.count(newline) or newline not in hand
        back = on.without_task(on.without_blocker(on.with_fact(text, "last seen", ""), blocker), row.task)
        assert on.parse(back) == on.parse(hand) or flat(blocker) in on.parse(hand).blockers


@settings(max_examples=scale(2000), deadline=None)
@given(HAND, st.lists(ROWS, min_size=1, max_size=4), st.permutations(range(4)), FORMS, NEWLINES)
def test_raising_moves_lines_and_changes_none(
    hand: str, rows: list[TaskRow], order: list[int], form: Form, newline: str
) -> None:
    on, text = board(form), hand.replace("\n", newline)
    for row in rows:
        text = on.with_task(text, row, (ONE,))
    titles = [rows[at].task for at in order if at < len(rows)]
    new = on.raised(text, titles)
    assert _lines(new.replace("\r", "")) == _lines(text.replace("\r", ""))
    assert on.raised(new, titles) == new
    assert {row.key: row for row in on.parse(new).tasks} == {row.key: row for row in on.parse(text).tasks}
    if form is Form.CHANNEL:
        wanted = list(dict.fromkeys(fold(flat(title)) for title in titles))
        assert [row.key for row in on.parse(new).tasks][: len(wanted)] == wanted
        rest = [row.key for row in on.parse(text).tasks if row.key not in wanted]
        assert [row.key for row in on.parse(new).tasks][len(wanted) :] == rest
    if len(set(hand.split("\n"))) == len(hand.split("\n")):  # the same line twice has no order of its own
        assert on.raised(new, [row.task for row in on.parse(text).tasks]) == text


def test_a_task_moves_with_what_hangs_below_it() -> None:
    text = "## In Progress\n- **Login flow**: OAuth, 70% complete\n  - Next: tokens\n- **Other**\n"
    text = ACTIVE.with_task(text, TaskRow("login flow", "blocked"))
    assert listed.items(text, IN_PROGRESS) == ("**Other**",)
    assert text.endswith(f"## {WAITING}\n\n- **Login flow**: OAuth, 70% complete\n  - Next: tokens\n")
    text = ACTIVE.with_task(text, TaskRow("login flow", "done", notes="done 2026-04-06"), (ONE,))
    assert "- **Login flow**: OAuth, 70% complete, done 2026-04-06\n  - Next: tokens\n" in text
    assert ONE not in text  # a person's line gets no mark: deleting a message cannot take it out
    assert ACTIVE.parse(text).row("Login flow") == TaskRow(
        "Login flow", "done", notes="OAuth, 70% complete, done 2026-04-06"
    )


def test_what_is_done_leaves_the_active_context_after_seven_days_and_the_channel_at_once() -> None:
    row = TaskRow("Fix the time zone", "done", "ana", "done 2026-04-01")
    text = ACTIVE.with_task(_new(Form.ACTIVE), row, (ONE,))
    by_hand = text.replace(f"## {COMPLETED}\n", f"## {COMPLETED}\n- **Mine**: Deployed (2026-01-01)\n")
    for day, stays in ((date(2026, 4, 1), True), (date(2026, 4, 7), True), (date(2026, 4, 8), False)):
        left = ACTIVE.without_done(by_hand, day)
        assert ("Fix the time zone" in left) is stays
        assert "- **Mine**: Deployed (2026-01-01)" in left
    channel = CHANNEL.with_task(_new(Form.CHANNEL), TaskRow("Ship it"), (ONE,))
    assert CHANNEL.parse(channel).row("ship it") == TaskRow("Ship it")
    assert CHANNEL.with_task(channel, TaskRow("Ship it", "done")) == _new(Form.CHANNEL)


def test_in_waiting_a_bullet_without_a_bold_title_is_a_blocker() -> None:
    text = f"## {WAITING}\n- **API key**: requested 2026-03-30\n- the DNS team\n"
    said = ACTIVE.parse(text)
    assert [row.task for row in said.tasks] == ["API key"]
    assert said.blockers == ("the DNS team",)
    assert ACTIVE.without_blocker(text, "the DNS team") == f"## {WAITING}\n- **API key**: requested 2026-03-30\n"
    same_words = ACTIVE.with_blocker(text, "**API key**: requested 2026-03-30", (ONE,))
    assert ACTIVE.parse(same_words).blockers == ("the DNS team", "**API key**: requested 2026-03-30")


@pytest.mark.parametrize("form", sorted(BOARDS))
def test_a_message_takes_with_it_what_it_stated(form: Form) -> None:
    on: Board = board(form)
    text = on.with_blocker(on.with_fact("", "db", "one", (ONE,)), "the build", (ONE,))
    text = on.with_blocker(text, "the DNS team", (ONE, TWO))
    text = on.without_message(text, ONE)
    assert on.parse(text).blockers == ("the DNS team",)
    assert on.parse(text).snapshot == ()
    assert on.keys_of(text, blocker="the DNS team") == (TWO,)


def test_a_task_goes_with_the_message_that_stated_it_and_stays_without_a_later_one() -> None:
    text = CHANNEL.with_task(_new(Form.CHANNEL), TaskRow("Ship it"), (ONE,))
    text = CHANNEL.with_task(text, TaskRow("Ship it", "in_progress"), (ONE, TWO))
    assert CHANNEL.parse(CHANNEL.without_message(text, TWO)).tasks == (TaskRow("Ship it", "in_progress"),)
    assert CHANNEL.without_message(text, ONE).split() == _new(Form.CHANNEL).split()


def test_topics_are_items_of_their_own_section() -> None:
    text = CHANNEL.with_blocker(_new(Form.CHANNEL), "Postgres 17", (ONE,), TOPICS)
    assert listed.items(text, TOPICS) == ("Postgres 17",)
    assert listed.items(text, UNRESOLVED) == ()
    assert CHANNEL.with_blocker(text, "postgres 17", (TWO,), TOPICS) == text.replace(ONE, f"{ONE} {TWO}")
    assert CHANNEL.without_blocker(text, "Postgres 17", TOPICS).split() == _new(Form.CHANNEL).split()


@pytest.mark.parametrize("words", ["Source", "Body", "tags", "Fitness"])
def test_no_item_reads_like_a_field_of_a_record(words: str) -> None:
    text = CHANNEL.with_task(_new(Form.CHANNEL), TaskRow(words), (ONE,))
    text = CHANNEL.with_blocker(text, f"{words}: the certificate", (ONE,))
    text = CHANNEL.with_fact(CHANNEL.with_blocker(text, f"{words}: a topic", (ONE,), TOPICS), words, "x", (ONE,))
    found = CHANNEL.parse(text)
    assert (found.tasks, found.blockers) == ((TaskRow(words),), (f"{words}: the certificate",))
    assert found.fact(words) == "x"
    for placed in records.parse(text).records:
        assert not placed.record.sources
        assert not placed.record.body
        assert not placed.record.messages


def test_sections_are_known_however_their_headings_are_spaced() -> None:
    text = "### blocked/waiting\n- the DNS team\n"
    assert ACTIVE.parse(text).blockers == ("the DNS team",)


def test_new_pages_have_the_sections_that_the_layout_names() -> None:
    assert (
        _new(Form.ACTIVE) == "# Active Context\n\n## In Progress\n\n## Blocked / Waiting\n\n## Recently Completed\n"
    )
    assert _new(Form.CHANNEL) == "# build\n\n## Current Topics\n\n## Recent Decisions\n\n## Unresolved\n"


@pytest.mark.parametrize("form", sorted(BOARDS))
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_put_and_taken_out_again_and_again_leaves_the_page_as_it_was(form: Form, newline: str) -> None:
    page, on = _new(form, newline), board(form)
    texts = set()
    for _ in range(3):
        page = on.with_blocker(page, "we wait for the DNS team", [ONE])
        page = on.with_fact(page, "the shop", "in Paris", [TWO])
        texts.add(page)
        page = on.with_fact(on.without_message(page, ONE), "the shop", "")
        texts.add(page)
    assert len(texts) == 2, texts
