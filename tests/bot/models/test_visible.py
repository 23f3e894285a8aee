"""What of a model's writing is shown: never what it thinks aloud, never a web page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models.visible import visible

QUOTED = "Ask for it so:\n```xml\n<thinking>\nsteps\n</thinking>\n```\nand read the rest."
CODE = "Strip it:\n```python\nre.sub(r'<think>.*?</think>', '', text)\ntext.split('</think>')[-1]\n```\nThat is all."

WHOLE = {
    "Redis.": "Redis.",
    "<think>hm, Redis?</think>Redis.": "Redis.",
    "<think>\nhm\n</think>\n\nRedis.": "Redis.",
    "<THINKING>hm</THINKING> Redis.": "Redis.",
    "hm, so\n</think>\nRedis.": "Redis.",
    "First.\n<think>wait</think>\nThen.": "First.\nThen.",
    "<think>never ends": "",
    "<think></think>": "",
    "": "",
    "  \n": "",
    "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>": "",
    "\n<html lang=en>": "",
    "a <b> and <think-tank> stay": "a <b> and <think-tank> stay",
    "1 < 2": "1 < 2",
    "Write `<think>` around it.": "Write `<think>` around it.",
    "<THINK >hm</THINK >Redis.": "Redis.",
    "<think\n>hm</think>Redis.": "Redis.",
    "Hi <think>hm</think> you": "Hi you",
    "- <think>hm</think>Redis\n- Valkey": "- Redis\n- Valkey",
    "Put <think> before it.": "Put <think> before it.",
    "Cut all before `</think>`, then go on.": "Cut all before `</think>`, then go on.",
    QUOTED: QUOTED,
    CODE: CODE,
    f"<think>\n```\nhm\n</think>\n{CODE}": CODE,
    "hm:\n```\nx\n</think>\nRedis.": "Redis.",
}


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_shown_of_a_whole_answer(text: str) -> None:
    assert visible(text) == WHOLE[text]


@pytest.mark.parametrize("text", [text for text in WHOLE if "\n</think>" not in text[:20]])
def test_nothing_that_is_hidden_is_shown_while_it_grows(text: str) -> None:
    for end in range(len(text) + 1):
        shown = visible(text[:end], growing=True)
        assert WHOLE[text].startswith(shown), (text[:end], shown)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thi", "secret", "\n", " ", "word", "<"]), max_size=12))
def test_no_thought_is_ever_shown(pieces: list[str]) -> None:
    text = "<think>secret" + "".join(pieces)
    if "</think>" not in text:
        assert visible(text) == visible(text, growing=True) == ""
