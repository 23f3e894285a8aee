"""Titles, bodies and tags do not begin with the people to whom something is said, and bear no platform ids."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.extract import candidates_in
from memory_core.extract.addressing import unaddressed
from memory_core.layouts import Kind
from tests.memory_core.extraction_talk import kept, talk


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("@Tina, @Vincenzo we decided to ship", "we decided to ship"),
        ("hey @ben we decided", "we decided"),
        ("@ben: please renew it", "please renew it"),
        ("@ben TODO: renew it", "TODO: renew it"),
        ("@Ana Lee @bo FWIW, it works", "it works"),
        ("@张三 我们决定用", "我们决定用"),
        ("ben, we use tabs", "we use tabs"),
        ("ben: renew it", "renew it"),
    ],
)
def test_who_is_spoken_to_is_left_out(text: str, rest: str) -> None:
    assert unaddressed(text, {"ben"}) == rest


@pytest.mark.parametrize(
    "text",
    [
        "@ana and I agreed",
        "@ana, @bo and I agreed",
        "@ben renews the certificate",
        "@ben fixed it, so we ship",
        "@ana is the owner",
        "@Ben Postgres, not MySQL",
        "ana, ben and I agreed",
        "note: use tabs",
        "@ana",
        "@ana:",
    ],
)
def test_who_is_told_of_stays(text: str) -> None:
    assert unaddressed(text, {"ben", "ana"}) == text


@given(st.text("@ab ,:;我We\n", max_size=400))
def test_of_any_text_the_end_is_left(text: str) -> None:
    rest = unaddressed(text, {"a"})
    assert text.rstrip().endswith(rest.rstrip())
    assert rest or not text


def test_an_id_behind_a_mention_is_in_no_title_body_or_tag() -> None:
    (decision,) = kept(
        "tilda: @Tina (UC43DFF8536), @Vincenzo (UD663D6279E) we decided to keep Postgres for the orders"
    )
    assert decision.title == "we decided to keep Postgres for the orders"
    assert decision.body == decision.title
    assert set(decision.tags) <= {"keep", "postgres", "orders"}
    (told,) = kept("tilda: we decided with @Vincenzo (UD663D6279E) to keep Postgres for the orders")
    assert "@Vincenzo to keep" in told.body
    assert "ud663d6279e" not in told.tags


def test_a_label_behind_the_people_addressed_is_seen() -> None:
    (decision,) = kept("ana: @ben (U0BEN12345), @cy (U0CY1234567) decision: we use Redis for the sessions")
    assert (decision.kind, decision.body) == (Kind.DECISION, "we use Redis for the sessions")
    (task,) = kept("ana: @ben (U0BEN12345) TODO: fix the login page by tomorrow")
    assert (task.who, task.title) == ("ben", "fix the login page by tomorrow")


@pytest.mark.parametrize(
    ("line", "who"),
    [
        ("ana: TODO: ben renews the TLS certificate by Friday", "ben"),
        ("ana: TODO: renew the certificate", ""),
        ("ana: TODO: server needs a restart", ""),
        ("ana: TODO: update docs and the wiki", ""),
        ("ana: TODO: release notes for 2.3", ""),
    ],
)
def test_a_task_is_of_the_one_who_does_it(line: str, who: str) -> None:
    (task,) = candidates_in(talk(line))
    assert (task.who, task.settled) == (who, bool(who))


def test_a_name_of_the_talk_is_known_whatever_the_verb() -> None:
    (task,) = kept("ben: morning", "ana: TODO: ben to renew the TLS certificate")
    assert task.who == "ben"


def test_by_friday_is_reckoned_from_the_day_that_the_scope_reads() -> None:
    request = talk("ana: TODO: renew the TLS certificate @ben tomorrow")
    late = datetime(2026, 4, 6, 23, 30, tzinfo=UTC)
    dues = []
    for zone in (UTC, ZoneInfo("Asia/Shanghai")):
        message = replace(request.messages[0], sent_at=late.astimezone(zone))
        (task,) = candidates_in(replace(request, messages=(message,)))
        dues.append(task.due)
    assert dues == [date(2026, 4, 7), date(2026, 4, 8)]


def test_no_that_is_not_the_point_corrects_nothing() -> None:
    (lesson,) = kept(
        "ana: the import hung; adding `sync` before binding the names fixed the issue",
        "ben: No, that's not the expected behavior",
    )
    assert "that's" not in lesson.body


def test_an_adverb_agrees_to_nothing() -> None:
    assert not kept(
        "ana: I propose we move the tests to CircleCI", "ben: definitely had projects that went over that"
    )
    assert kept("ana: I propose we move the tests to CircleCI", "ben: definitely!")
