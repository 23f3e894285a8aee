"""What a model claims is held against the messages that it cites."""

from __future__ import annotations

from datetime import date

import pytest

from bot.models.evidence import candidate_of
from bot.models.schema import Draft
from bot.models.transcript import cited, lines_of
from memory_core.candidates import Candidate, Request, Value
from memory_core.layouts import Kind
from memory_core.tokens import EstimatingCounter
from tests.memory_core.extraction_talk import key, talk


def _made(request: Request, kind: str, text: str, *sources: str, **more: object) -> Candidate | None:
    draft = Draft.model_validate({"kind": kind, "text": text, "sources": list(sources), **more})
    return candidate_of(draft, cited(lines_of(request, 4000, EstimatingCounter())), request)


TALK = talk(
    "ana: morning",
    "ana: let's move the sessions to Redis, TTL 3600",
    "ben: +1, I'll write the terraform by Friday",
    "botty*: Decision: sprint length is 3 weeks",
)


def test_the_author_is_who_wrote_the_first_cited_message() -> None:
    made = _made(TALK, "decision", "move the sessions to Redis", "m2", "m3", "m9", "m2", who="eve")
    assert made is not None
    assert (made.author, made.sources) == ("console:ana", (key(1), key(2)))
    assert made.value is Value.HIGH
    assert made.who == ""


def test_a_nod_that_is_cited_first_does_not_become_the_author() -> None:
    made = _made(TALK, "decision", "move the sessions to Redis", "m1", "m2")
    assert made is not None
    assert made.author == "console:ana"
    assert made.sources[0] == key(1)


@pytest.mark.parametrize("sources", [("m9",), ("m4",), ("console:build:1",), ("1",), ("m0", "mm1")])
def test_messages_that_are_not_there_or_not_of_persons_bear_nothing(sources: tuple[str, ...]) -> None:
    assert _made(TALK, "decision", "sprint length is 3 weeks", *sources) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("we grant root access to eve on production", "invented"),
        ("move the sessions to Redis, TTL 7200", "a number that nobody said"),
        ("wir ziehen die Sitzungen nach Redis um", "translated"),
    ],
)
def test_what_the_messages_do_not_bear_is_told_in_the_speakers_words_and_unsettled(text: str, why: str) -> None:
    made = _made(TALK, "decision", text, "m2")
    assert made is not None, why
    assert made.body == "let's move the sessions to Redis, TTL 3600"
    assert not made.settled


def test_a_quotation_bears_nothing_that_is_not_in_it() -> None:
    request = talk("ana: > the board decided to sell the company")
    assert _made(request, "decision", "ana owns everything", "m1") is None


def test_the_day_of_a_task_is_read_from_the_message_never_believed() -> None:
    for told in ("by Friday", "2026-04-10", "2031-01-01", "", "Freitag"):
        made = _made(TALK, "task", "ben writes the terraform by Friday", "m3", who="ben", due=told)
        assert made is not None
        assert made.due == date(2026, 4, 10), told
    made = _made(TALK, "task", "ben writes the terraform", "m3", who="ben", status="done", due="by Friday")
    assert made is not None
    assert made.due is None
    made = _made(TALK, "decision", "move the sessions to Redis", "m2", due="2026-05-01")
    assert made is not None
    assert made.due is None


def test_an_absolute_date_in_the_text_is_borne_by_a_relative_one() -> None:
    made = _made(TALK, "task", "ben writes the terraform by 2026-04-10", "m3", who="@ben")
    assert made is not None
    assert made.settled
    assert (made.body, made.who) == ("ben writes the terraform by 2026-04-10", "ben")


def test_who_is_somebody_that_was_named() -> None:
    request = talk("ana: @chris please renew the certificate", "ben: I'll update the docs")
    said = [_made(request, "task", "renew the certificate", "m1", who=who) for who in ("chris", "dora", "BEN, chris")]
    assert [one.who for one in said if one] == ["chris", "", "ben, chris"]
    own = _made(request, "task", "update the docs", "m2", who="me")
    assert own is not None
    assert own.who == "ben"
    direct = talk("ana: renew the passport by Friday", direct=True)
    mine = _made(direct, "task", "renew the passport by Friday", "m1")
    assert mine is not None
    assert mine.who == "ana"


def test_secrets_are_masked_again_and_text_is_capped() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    request = talk(f"ana: the deploy token is {token}, it lives in the vault", f"ben: {'words and words ' * 100}")
    made = _made(request, "environment", f"the deploy token is {token}, it lives in the vault", "m1", title=token)
    assert made is not None
    assert token not in repr(made)
    long = _made(request, "environment", "words and words " * 100, "m2")
    assert long is not None
    assert len(long.body) <= 600
    assert len(long.title) <= 80


def test_what_is_replaced_was_said() -> None:
    assert (_made(TALK, "decision", "sessions to Redis", "m2", replaces="Memcached for carts") or TALK) is not TALK
    made = _made(TALK, "decision", "sessions to Redis", "m2", replaces="delete all hard rules")
    assert made is not None
    assert made.corrects == ""
    made = _made(TALK, "decision", "sessions to Redis", "m2", replaces="the sessions")
    assert made is not None
    assert made.corrects


def test_the_language_of_the_speaker_is_kept() -> None:
    request = talk("佐々木: 顧客DBはPostgreSQLに移行することに決めました", "中村: 了解です")
    kept = _made(request, "decision", "顧客DBはPostgreSQLに移行する", "m1")
    translated = _made(request, "decision", "Customer DB will be moved", "m1")
    assert kept is not None
    assert translated is not None
    assert kept.body == "顧客DBはPostgreSQLに移行する"
    assert translated.body == "顧客DBはPostgreSQLに移行することに決めました"
    assert kept.kind is translated.kind is Kind.DECISION
