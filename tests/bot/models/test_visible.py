"""What of a model's writing is shown: never what it thinks aloud, never a web page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models.visible import visible

QUOTED = "Ask for it so:\n```xml\n<thinking>\nsteps\n</thinking>\n```\nand read the rest."
CODE = "Strip it:\n```python\nre.sub(r'<think>.*?</think>', '', text)\ntext.split('</think>')[-1]\n```\nThat is all."

ANALYSIS = "<|channel|>analysis<|message|>They ask about `Redis`:\n```\nsecret<|end|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"
CALL = '<|start|>assistant<|channel|>commentary to=functions.tasks <|constrain|>json<|message|>{"secret": 1}<|call|>'
HARMONY = (
    "A frame is `<|channel|>analysis<|message|>`:\n```\n<|start|>assistant<|channel|>final<|message|>\n```\nSo it is."
)

WHOLE = {
    f"{ANALYSIS}{FINAL}Redis.<|return|>": "Redis.",
    f"{ANALYSIS}{FINAL}Redis.": "Redis.",
    f"{ANALYSIS}{CALL}{FINAL}1 < 2 and <b>": "1 < 2 and <b>",
    f"<|start|>assistant{ANALYSIS}\n{FINAL}Redis\n\nand Valkey.<|end|>": "Redis\n\nand Valkey.",
    f"{ANALYSIS}Redis.": "Redis.",
    ANALYSIS: "",
    ANALYSIS.removesuffix("<|end|>"): "",
    f"I look.\n{ANALYSIS}{FINAL}Redis.": "I look.\nRedis.",
    f"{FINAL}<think>hm</think>Redis.<|return|>": "Redis.",
    f"{FINAL}{HARMONY}": HARMONY,
    HARMONY: HARMONY,
    "<|start|>assistant<|message|>Redis.<|end|>": "Redis.",
    "Redis.<|end|>": "Redis.",
    "A turn ends with <|end|> there.": "A turn ends with <|end|> there.",
    "The mark <|channel|> names the channel.": "The mark <|channel|> names the channel.",
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


def test_a_thought_whose_frame_began_in_the_template_is_not_shown() -> None:
    assert visible(f"secret thoughts<|end|>{FINAL}Redis.") == "Redis."


@given(
    st.lists(
        st.sampled_from(
            ["<|message|>", "<|chan", "<|", "secret", "<|channel|>analysis<|message|>", "`", "\n```\n", " "]
        ),
        max_size=12,
    )
)
def test_no_frame_but_the_final_one_is_ever_shown(pieces: list[str]) -> None:
    text = "<|channel|>analysis<|message|>secret" + "".join(pieces)
    assert visible(text) == visible(text, growing=True) == ""
    assert visible(f"{text}{FINAL}Redis.") == "Redis."


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thi", "secret", "\n", " ", "word", "<"]), max_size=12))
def test_no_thought_is_ever_shown(pieces: list[str]) -> None:
    text = "<think>secret" + "".join(pieces)
    if "</think>" not in text:
        assert visible(text) == visible(text, growing=True) == ""
