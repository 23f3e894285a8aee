"""What counts as the same fact, as its opposite, as about the same; and the bars that code checks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory_core.candidates import Candidate, Request, Value
from memory_core.flush.bars import checked
from memory_core.flush.sameness import best, opposes, repeats, stated, words
from memory_core.ids import Conversation, DirectScope, GroupScope, MessageKey, PersonKey, RoomKey
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice

ROOM = RoomKey("slack:T1:C9")
ANA, BO = PersonKey("slack:T1:ANA"), PersonKey("slack:T1:BO")


@pytest.mark.parametrize(
    ("new", "old", "same"),
    [
        ("we decided: CI runs on Buildkite", "CI runs on Buildkite", True),
        ("CI runs on Buildkite now", "decided: CI runs on Buildkite", True),
        ("Memcached over Redis", "Redis over Memcached", False),
        ("Redis for the queue", "Redis for the session cache", False),
        ("retry 5 times on timeout", "retry 3 times on timeout", False),
        ("CI runs on Buildkite, with four agents and a cache", "CI runs on Buildkite", False),
        ("部署改到周五晚上", "部署改到周五晚上", True),
        ("部署改到周五晚上", "部署改到周四早上", False),
        ("important: a student wants it", "a student wants it, important", False),
        ("", "anything", False),
    ],
)
def test_a_repeat_adds_nothing(new: str, old: str, *, same: bool) -> None:
    assert repeats(words(new), words(old)) is same


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("alerts off", "alerts on"),
        ("we do not deploy on Friday", "we deploy on Friday"),
        ("周五不部署服务", "周五部署服务"),
        ("wir deployen freitags nicht", "wir deployen freitags"),
    ],
)
def test_the_same_words_with_a_negation_oppose(new: str, old: str) -> None:
    assert opposes(words(new), words(old))
    assert opposes(words(old), words(new))
    assert not repeats(words(new), words(old))


def test_what_something_is_about() -> None:
    titles = ["write the release notes", "renew the staging certificate"]
    known = [(title, words(title)) for title in titles]
    assert best(words("the release notes are written"), known) == titles[0]
    assert best(words("staging certificate"), known) == titles[1]
    assert best(words("release"), known) is None
    assert best(words("lunch"), known) is None
    assert stated("Redis for…", "Redis for sessions") == "Redis for sessions"


def _message(number: int, text: str, author: PersonKey = ANA, voice: Voice = Voice.PERSON) -> Message:
    at = datetime(2026, 4, 6, 14, number, tzinfo=UTC)
    name = author.native.lower()
    return Message(MessageKey(f"{ROOM}:{number}"), Conversation(ROOM), author, name, text, at, voice, "#build")


def _candidate(kind: Kind, *messages: Message) -> Candidate:
    first = messages[0]
    return Candidate(kind, first.text[:80], first.text, first.author, tuple(message.key for message in messages))


PLAIN = _message(1, "Redis for the session cache")
AGREED = _message(2, "Redis for the session cache, agreed", BO)
FORMAL = _message(3, "we decided to use Redis for sessions")


@pytest.mark.parametrize(
    ("candidate", "request_", "settled"),
    [
        (_candidate(Kind.DECISION, PLAIN), Request((PLAIN,)), False),
        (_candidate(Kind.DECISION, PLAIN, AGREED), Request((PLAIN, AGREED)), True),
        (_candidate(Kind.DECISION, FORMAL), Request((FORMAL,)), True),
        (_candidate(Kind.DECISION, AGREED), Request((AGREED,), before=(PLAIN,)), True),
        (_candidate(Kind.DECISION, PLAIN), Request((PLAIN,), direct=True), True),
        (replace(_candidate(Kind.DECISION, FORMAL), settled=False), Request((FORMAL,)), False),
        (_candidate(Kind.STACK, PLAIN), Request((PLAIN,)), False),
        (_candidate(Kind.STACK, PLAIN, AGREED), Request((PLAIN, AGREED)), True),
        (_candidate(Kind.TASK, PLAIN), Request((PLAIN,)), False),
        (replace(_candidate(Kind.TASK, PLAIN), who="ana"), Request((PLAIN,)), True),
    ],
)
def test_bars(candidate: Candidate, request_: Request, *, settled: bool) -> None:
    scope = DirectScope(ANA) if request_.direct else GroupScope("build")
    fact = checked(candidate, request_, UTC, scope)
    assert fact is not None
    assert fact.settled is settled


def test_nobodys_word_is_dropped() -> None:
    bot = _message(4, "we decided on Redis", BO, Voice.BOT)
    request = Request((PLAIN, bot), before=(FORMAL,))
    scope = GroupScope("build")
    for wrong in (
        _candidate(Kind.DECISION, bot),
        _candidate(Kind.DECISION, FORMAL),
        replace(_candidate(Kind.DECISION, PLAIN), author=BO),
        replace(_candidate(Kind.DECISION, PLAIN), sources=(MessageKey("slack:T1:C9:404"),)),
        replace(_candidate(Kind.DECISION, PLAIN), body="thanks!"),
    ):
        assert checked(wrong, request, UTC, scope) is None
    mixed = replace(_candidate(Kind.DECISION, PLAIN), sources=(PLAIN.key, MessageKey("slack:T1:C9:404"), bot.key))
    fact = checked(mixed, request, UTC, scope)
    assert fact is not None
    assert [key for source in fact.sources for key in source.keys] == [PLAIN.key]


def test_weights_are_ours() -> None:
    scope = GroupScope("build")
    request = Request((PLAIN,))
    for kind, value in ((Kind.TOOL, Value.LOW), (Kind.PREFERENCE, Value.MEDIUM), (Kind.DECISION, Value.HIGH)):
        fact = checked(replace(_candidate(kind, PLAIN), value=Value.HIGH), request, UTC, scope)
        assert fact is not None
        assert fact.value is value
    fact = checked(_candidate(Kind.ARCHITECTURE, PLAIN), request, UTC, scope)
    assert fact is not None
    assert fact.value is Value.HIGH
