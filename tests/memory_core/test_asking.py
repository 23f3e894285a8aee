"""Questions as people type them, with and without a question mark, and statements that begin like one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_core.asking import _LONGEST, _TO_US, _forms, is_question

QUESTIONS = """
what database do we use
@remem what database do we use for orders
who is on call
who owns the checkout
whats the wifi password
when is the release
when's lunch
where is the quokka
how many retries do we have
which db for orders
do we use redis
is there a deadline
can you tell me the wifi
tell me the budget
remind me what we decided
why did the deploy fail
did we decide on a database
会话缓存用什么
什么时候发布前端
我们用redis吗
セッションはどこに保存しますか
リリースはいつだっけ
데이터베이스는 무엇인가요
was ist die datenbank
wann ist der release
who will write it?
"""
STATEMENTS = """
when a deploy fails we roll back
what we decided: redis for sessions
How to deploy: run make
how we deploy is described in the wiki
the door code is quokka
remember: we deploy on tuesdays
we use redis
who cares, we use redis. It is fine.
which is why we moved to MySQL in March: cost
I will tell you the budget tomorrow
is fine by me
do it tomorrow
Have fun
can do
前端周五发布
我们决定用 Redis 做会话缓存
デプロイは火曜日です
毎日バックアップを取る
배포는 화요일입니다
decision: we use kafka
what a day
When done, restart the server
why not
Does not work on staging
"""


@pytest.mark.parametrize("text", QUESTIONS.strip().splitlines())
def test_a_question_is_one_also_without_its_mark(text: str) -> None:
    assert is_question(text)
    assert is_question(f"@remem {text}")


@pytest.mark.parametrize("text", STATEMENTS.strip().splitlines())
def test_a_statement_is_none_whatever_it_begins_with(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize(
    "text", ["what is " + "very " * 20_000, "@" * 50_000, "? " * 30_000 + "x", "吗" * 50_000 + "x"]
)
def test_no_length_takes_long(text: str) -> None:
    assert not is_question(text)


def _asks(text: str) -> bool:
    """Every rule, one after the other."""
    said = _TO_US.sub("", text).strip()
    words, start, *ends = _forms()
    whole = words.match(said) and not re.search(r"[.:;!]\s+\S", said)
    short = len(said) <= _LONGEST and "\n" not in said
    asks = whole or start.match(said) or any(end.search(said) for end in ends)
    return bool(re.search(r"[?？][\W_]*$", said) or (short and asks))


_PIECES = st.sampled_from(
    [
        "who is ",
        "on call",
        "do we",
        "@remem ",
        "tell me",
        "redis",
        "?",
        "？",
        "! ",
        ". ",
        "\n",
        "吗",
        "か",
        "나요",
        "谁是",
        "。",
    ]
)


@given(st.lists(_PIECES, max_size=6).map("".join) | st.text())
@example("x" * 300 + "?")
def test_a_text_is_asked_only_what_it_could_be(text: str) -> None:
    assert is_question(text) == _asks(text)
