"""Who is welcome and how often one is answered: the rules alone."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.limits import MINUTE_S, QUIET_S, Answered, Bucket, Dm, Welcome, platform_of
from memory_core.ids import PersonKey

OWNER, NAMED, OTHER = PersonKey("discord:1"), PersonKey("slack:T1:U2"), PersonKey("discord:3")
CONSOLE = PersonKey("console:me")


@pytest.mark.parametrize(
    ("dm", "owner", "named", "other"),
    [
        (Dm.SHARED, True, True, None),
        (Dm.EVERYONE, True, True, True),
        (Dm.ALLOWLIST, True, True, False),
        (Dm.OWNER, True, False, False),
    ],
)
def test_who_may_write_a_dm(dm: Dm, owner: bool, named: bool, other: bool | None) -> None:
    welcome = Welcome(dm, frozenset({OWNER}), frozenset({NAMED}))
    assert [welcome.admits(one) for one in (OWNER, NAMED, OTHER, CONSOLE)] == [owner, named, other, True]


def test_a_platform_of_which_no_server_is_named_is_open() -> None:
    welcome = Welcome(servers=frozenset({"42"}))
    assert [welcome.serves("discord", server) for server in ("42", "43", "")] == [True, False, True]
    assert welcome.serves("slack", "T1")
    assert not Welcome(servers=frozenset({"T1"})).serves("slack", "T2")
    assert Welcome().serves("discord", "43")


@pytest.mark.parametrize(
    ("server", "platform"),
    [("42", "discord"), ("T01AB", "slack"), ("E9", "slack"), ("acme", ""), ("t1", ""), ("", ""), ("٤٢", "")],
)
def test_whose_id_a_server_is(server: str, platform: str) -> None:
    assert platform_of(server) == platform


@given(st.integers(1, 100), st.lists(st.floats(0, 120), max_size=100))
def test_no_window_gives_more_than_a_bucket_and_what_flowed_in(most: int, pauses: list[float]) -> None:
    bucket, now_s, given_at = Bucket.full(most, 0.0), 0.0, list[float]()
    told: list[float] = []
    for pause_s in pauses:
        now_s += pause_s
        bucket, answered = bucket.take(now_s)
        if answered is Answered.YES:
            given_at.append(now_s)
        if answered is Answered.TOLD:
            told.append(now_s)
        assert 0 <= bucket.left <= most
    for first, start in enumerate(given_at):
        for last in range(first, len(given_at)):
            flowed = (given_at[last] - start) * most / MINUTE_S
            assert last - first + 1 <= most + flowed + 1e-6
    assert all(later - earlier >= QUIET_S for earlier, later in itertools.pairwise(told))


def test_a_minute_of_rest_fills_the_bucket_and_a_clock_that_stands_does_not() -> None:
    bucket = Bucket.full(3, 0.0)
    answers = []
    for now_s in (0.0, 0.0, 0.0, 0.0, 0.0, MINUTE_S, MINUTE_S):
        bucket, answered = bucket.take(now_s)
        answers.append(answered)
    yes, told, silence = Answered.YES, Answered.TOLD, Answered.SILENCE
    assert answers == [yes, yes, yes, told, silence, yes, yes]


def test_zero_is_no_limit() -> None:
    bucket = Bucket.full(0, 0.0)
    assert all(bucket.take(0.0)[1] is Answered.YES for _ in range(1000))
