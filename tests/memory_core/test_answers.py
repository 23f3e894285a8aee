"""What commands say: counted right, one line a fact, nothing of what people typed as structure, never endless."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.answers import (
    SHOWN_CHARACTERS,
    PageSize,
    Status,
    flush_time,
    found_line,
    help_text,
    kinds_counted,
    missing_text,
    page_text,
    pages_text,
    receipt_text,
    search_text,
    status_text,
    unknown_text,
    why_text,
)
from memory_core.commands import FORMS, Right, Unknown
from memory_core.disclosure import Disclosure, LeftOut, Loaded, Step
from memory_core.flush.engine import Receipt, Trigger
from memory_core.gate import Found
from memory_core.ids import GroupScope, PageId
from memory_core.layouts import Kind, Priority
from memory_core.text import counted

AT = datetime(2026, 4, 6, 22, 30, tzinfo=UTC)
INDEX, EXPERIENCE, ATTENTION = PageId("index"), PageId("experience"), PageId("attention")


def _receipt(**given: object) -> Receipt:
    return Receipt(**{"number": 3, "trigger": Trigger.COMMAND, "at": AT, **given})  # type: ignore[arg-type]


def _status(**given: object) -> Status:
    told: dict[str, object] = {
        "title": "#build",
        "purpose": "We build",
        "zone": "UTC",
        "last_flush": "2026-04-06 22:30",
        "flush_number": 3,
        "unsaved": 1,
        "pending": 0,
        "tasks": (),
        "pages": (PageSize(EXPERIENCE, 12, 340, 200),),
        "budget_tokens": 6000,
        "spent_tokens": 340,
        "loaded": (EXPERIENCE,),
    }
    return Status(**{**told, **given})  # type: ignore[arg-type]


def test_one_thing_and_several_things() -> None:
    assert counted(1, "message") == "1 message"
    assert counted(0, "message") == "0 messages"
    assert counted(2, "fact about the stack") == "2 facts about the stack"


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_plural(kind: Kind) -> None:
    one, two = kinds_counted({kind: 1}), kinds_counted({kind: 2})
    assert one.startswith("1 ")
    assert two.startswith("2 ")
    assert "s" in two.removeprefix("2 ")
    assert one[2:] != two[2:]
    assert kinds_counted({kind: 0}) == ""


def test_a_receipt_names_kinds_messages_pages_and_what_is_open() -> None:
    kinds = {Kind.DECISION: 2, Kind.TASK: 1}
    receipt = _receipt(kinds=kinds, pages=(EXPERIENCE, ATTENTION), messages=9, pending=1, written=True)
    assert receipt_text(receipt) == (
        "Saved (no. 3): 2 decisions, 1 task from 9 messages, in experience, attention. "
        "1 thing still open, settled at the next flush."
    )
    assert "notes for the journal from 1 message" in receipt_text(
        _receipt(pages=(PageId("journal/2026-04-06"),), messages=1, written=True)
    )


def test_a_receipt_without_content_claims_nothing() -> None:
    assert receipt_text(_receipt()) == "Nothing new since the last flush."
    assert receipt_text(_receipt(messages=1)) == "Nothing new to keep (1 message read)."
    assert "already running" in receipt_text(_receipt(running=True))
    refused = receipt_text(_receipt(problem="experience: the disk is full; free some space.", messages=4))
    assert refused.startswith("Nothing was saved: experience: the disk is full; free some space.")
    assert "is kept" in refused
    assert "Saved" not in refused


def test_help_is_the_table_of_what_exists() -> None:
    rows = help_text().splitlines()[1:]
    assert len(rows) == len(FORMS)
    for form, row in zip(FORMS, rows, strict=True):
        assert row.startswith("- `/remem" + (f" {form.word}" if form.word else ""))
        assert (form.right is Right.MEMBER) == (not row.endswith(f"({form.right})"))
    assert "`!remem status`" in help_text(prefix="!remem")


def test_an_unknown_word_gets_the_nearest_and_the_table() -> None:
    said = unknown_text(Unknown("stauts", "status"))
    assert said.startswith("I don't know `stauts`. Did you mean `status`?\n")
    assert said.endswith(help_text())
    assert "Did you mean" not in unknown_text(Unknown("xyzzy"))


@pytest.mark.parametrize("form", [form for form in FORMS if form.needs], ids=lambda form: form.word)
def test_a_form_that_needs_more_says_so_with_an_example(form: object) -> None:
    (known,) = [one for one in FORMS if one is form]
    said = missing_text(known)
    assert f"`/remem {known.word}` needs {known.argument}." in said
    assert f"For example: `/remem {known.word} " in said


def test_a_status_tells_each_fact_in_a_line() -> None:
    said = status_text(_status())
    assert said.splitlines()[0] == "**#build**: We build"
    assert "last flush: 2026-04-06 22:30 (no. 3); 1 message not saved yet; 0 pending" in said
    assert "tasks: none" in said
    assert "experience 12 lines/340 tokens" in said
    assert "loaded now: experience (340 of 6000 tokens); time zone UTC" in said


def test_a_status_of_a_memory_that_is_new_or_faulty() -> None:
    said = status_text(
        _status(
            purpose="",
            last_flush="",
            pages=(),
            loaded=(),
            recorded=False,
            tasks=("renew (pending)", "cake (blocked)"),
            notes=("index: line 3 is no row.",),
        )
    )
    assert said.splitlines()[0] == "**#build**"
    assert "last flush: never; " in said
    assert "pages: none yet" in said
    assert "loaded now: nothing" in said
    assert "tasks: renew (pending); cake (blocked)" in said
    assert "I do not record this room" in said
    assert said.endswith("- note: index: line 3 is no row.")


def test_a_page_over_its_budget_is_marked() -> None:
    assert "201 lines/1 token (over its budget)" in pages_text([PageSize(EXPERIENCE, 201, 1, 200)])
    assert "over its budget" not in pages_text([PageSize(EXPERIENCE, 200, 1, 200), PageSize(INDEX, 900, 1)])
    assert "no page yet" in pages_text(())


def test_why_tells_steps_pages_triggers_tokens_and_what_was_left_out() -> None:
    assert "nothing was loaded" in why_text(None)
    assert "no index yet" in why_text(Disclosure(GroupScope("build"), "#build", indexed=False))
    told = why_text(
        Disclosure(
            GroupScope("build"),
            "#build",
            loaded=(
                Loaded(INDEX, Step.INDEX, "…", 300, "the only door into this memory"),
                Loaded(EXPERIENCE, Step.PAGE, "…", 61, '"decide" in row "decisions"', Priority.P2, cut=True),
            ),
            left_out=(LeftOut(ATTENTION, "the page", "the budget is spent", 90),),
            budget_tokens=6000,
            spent_tokens=361,
            notes=("memory_budget is 'lots'.",),
            trail=((Step.INTENT, "experience, score 1.8"), (Step.PAGE, "experience")),
        )
    )
    for line in (
        "For the last answer in #build:",
        "- 2 intent: experience, score 1.8",
        "- 1 index: index, 300 tokens: the only door into this memory",
        '- 3 page: experience (P2), 61 tokens, cut: "decide" in row "decisions"',
        "- left out: attention, the page, 90 tokens: the budget is spent",
        "- in all 361 tokens; the session holds 361 of 6000",
        "- note: memory_budget is 'lots'.",
    ):
        assert line in told.splitlines()


def _found(text: str = "Redis over Memcached.", title: str = "Redis for sessions", source: str = "@ana") -> Found:
    return Found(EXPERIENCE, "id", title, date(2026, 4, 6), text, source, 1.0)


def test_a_result_names_its_day_page_and_source() -> None:
    assert search_text("cache", []) == "Nothing about “cache” in this memory."
    said = search_text("cache", [_found()])
    assert said.startswith("About “cache”:\n- [2026-04-06] ")
    assert "Redis for sessions" in said
    assert "(experience, @ana)" in said


@given(st.text(max_size=3000), st.text(max_size=80))
def test_a_result_is_one_line_and_never_endless(text: str, title: str) -> None:
    line = found_line(_found(text, title.strip()))
    assert len(line) < 1200
    assert "\n" not in line


@given(st.integers(0, 3 * SHOWN_CHARACTERS))
def test_a_long_page_is_cut_and_says_how_much_is_left(size: int) -> None:
    said = page_text(EXPERIENCE, "x" * size)
    assert len(said) <= SHOWN_CHARACTERS + 200
    if size > SHOWN_CHARACTERS:
        assert f"({size - SHOWN_CHARACTERS} more characters" in said
    else:
        assert "more characters" not in said
    assert page_text(EXPERIENCE, " \n\t") == "experience is empty."


def test_a_flush_is_told_in_the_scopes_zone() -> None:
    assert flush_time(AT, ZoneInfo("Asia/Shanghai")) == "2026-04-07 06:30"
    assert flush_time(None, UTC) == ""


def test_why_tells_each_step_once_and_of_the_budget_the_last_word() -> None:
    trail = (
        (Step.INTENT, "no row matches"),
        (Step.BUDGET, "389 of 8000"),
        (Step.SEARCH, "x"),
        (Step.BUDGET, "400 of 8000"),
    )
    said = why_text(Disclosure(GroupScope("build"), "#build", trail=(*trail, trail[0])))
    assert said.count("5 budget") == 1
    assert "- 5 budget: 400 of 8000" in said
    assert said.count("no row matches") == 1


def test_chat_users_read_of_a_flush_and_of_no_save() -> None:
    receipts = [receipt_text(_receipt(running=True)), receipt_text(_receipt(messages=0, pending=2))]
    told = [*receipts, help_text(), pages_text([])]
    assert not re.search(r"\b(?:a|the|next|last) save\b", " ".join(told), re.IGNORECASE)
