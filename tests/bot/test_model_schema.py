"""Answers of every shape: what can be used is taken, the rest is counted, nothing raises."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.models.schema import TEXT_LIMIT, Answer, Reading, read
from memory_core.layouts import Kind

ONE = {"kind": "decision", "text": "we use Redis", "sources": ["m1"]}
TWO = {"kind": "task", "text": "ben writes the docs", "sources": ["m2", "m3"], "who": "ben"}
BOTH = json.dumps({"candidates": [ONE, TWO]})


def _texts(reading: Reading) -> list[str]:
    return [draft.text for draft in reading.drafts]


@pytest.mark.parametrize(
    "given_answer",
    [
        BOTH,
        f"```json\n{BOTH}\n```",
        f"Sure! Here [m1, m2] are the facts {{as asked}}:\n\n{BOTH}\n\nHope this helps.",
        f"<think>maybe {json.dumps({'candidates': [ONE]})} or not</think>{BOTH}",
        f"<|channel|>analysis<|message|>maybe {json.dumps({'candidates': [ONE]})} or not<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{BOTH}<|return|>",
        f"<|channel|>commentary to=functions.keep <|constrain|>json<|message|>{BOTH}<|call|>",
        f"I should look at {{}} first.</think>\n{BOTH}",
        json.dumps([ONE, TWO]),
        f"{json.dumps(ONE)}\n{json.dumps(TWO)}",
        json.dumps({"name": "keep", "arguments": {"candidates": [ONE, TWO]}}),
        json.dumps({"entries": [ONE, TWO], "summary": "x"}),
        {"candidates": [ONE, TWO]},
        json.dumps(
            {"candidates": [{**ONE, "sources": "m1", "due": 2026}, {**TWO, "sources": "m2, m3", "who": None}]}
        ),
    ],
    ids=[
        "json",
        "fence",
        "prose",
        "thought",
        "frames",
        "call in a frame",
        "end of a thought",
        "list",
        "lines",
        "call",
        "names",
        "object",
        "types",
    ],
)
def test_case_146_an_answer_is_read_in_whatever_it_is_wrapped(given_answer: object) -> None:
    reading = read(given_answer)
    assert _texts(reading) == ["we use Redis", "ben writes the docs"]
    assert reading.drafts[1].sources == ["m2", "m3"]
    assert reading.found
    assert reading.whole
    assert reading.left_out == 0


def test_a_cut_answer_gives_its_complete_facts_and_is_not_whole() -> None:
    for length in range(len(BOTH) - 1):
        reading = read(BOTH[:length])
        assert not reading.whole
        assert _texts(reading) in ([], ["we use Redis"], ["we use Redis", "ben writes the docs"])
        assert reading.found == bool(reading.drafts)
        if length > BOTH.index(', {"kind": "task"'):
            assert "we use Redis" in _texts(reading)


@pytest.mark.parametrize(
    "given_answer",
    ["", "NO_REPLY", "I'm sorry, but I can't help with that.", "<html><body>502</body></html>", "null", "42", "{}",
     '{"summary": {"text": "x"}, "entries": "none", "date": 20260401}', "<think>still thinking", None, 7, [1], "[1]"],
)  # fmt: skip
def test_case_147_what_holds_no_candidates_is_of_no_use(given_answer: object) -> None:
    assert read(given_answer) == Reading()


def test_case_147_wrong_types_never_become_text() -> None:
    wrong = [
        {"kind": "decision", "text": {"text": "x"}, "sources": ["m1"]},
        {"kind": "decision", "text": ["x"], "sources": ["m1"]},
        {"kind": 7, "text": "x", "sources": ["m1"]},
        {"kind": "gossip", "text": "x", "sources": ["m1"]},
        {"kind": "decision", "text": "x", "sources": {"m1": 1}},
        {"kind": "decision", "text": "x", "sources": [1, None]},
        {"kind": "decision", "text": "  ", "sources": ["m1"]},
        "x",
        None,
        {**ONE, "title": {"text": "x"}, "who": ["ben"], "status": 3, "settled": {"no": 1}},
    ]
    reading = read({"candidates": wrong})
    assert reading.left_out == 9
    (draft,) = reading.drafts
    assert (draft.title, draft.who, draft.status, draft.settled) == ("", "", "", False)


def test_nothing_worth_keeping_is_an_answer() -> None:
    answers: tuple[object, ...] = ('{"candidates": []}', "Nothing here.\n```json\n[]\n```", {"candidates": []})
    for nothing in answers:
        assert read(nothing) == Reading(found=True, whole=True)


def test_text_is_printable_and_on_one_line() -> None:
    (draft,) = read({"candidates": [{**ONE, "text": "we\n## use\x00 \u202eRedis\ud800\u3000now"}]}).drafts
    assert draft.text == "we ## use Redis now"


def test_names_that_models_use_are_understood() -> None:
    (draft,) = read([{"kind": "TODO", "body": "x y", "message_ids": ["[M1]"], "status": "Completed"}]).drafts
    assert (draft.kind, draft.text, draft.sources, draft.status) == (Kind.TASK, "x y", ["m1"], "done")


def test_the_schema_that_a_model_gets_uses_the_names_that_it_is_told() -> None:
    schema = Answer.model_json_schema(by_alias=False)
    assert set(schema["$defs"]["Draft"]["properties"]) >= {"kind", "text", "sources", "due", "settled"}
    assert set(schema["$defs"]["Kind"]["enum"]) == set(Kind)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["candidates", "kind", "text", "sources", "who", "input"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)


_CUT = st.builds(lambda value, end: json.dumps(value)[:end], _JSON, st.integers(0, 80))


@given(_JSON | st.text(max_size=200) | _CUT)
@example({"candidates": [{"kind": "decision", "text": "x", "sources": [["m1"]]}]})
def test_nothing_that_a_model_says_raises(value: object) -> None:
    for draft in read(value).drafts:
        assert draft.text
        assert draft.sources


_HOSTILE = ("{", "[", '{"a":', '{"a":[', "<think>", "</think", '{"kind":', "[{}")


@pytest.mark.parametrize("piece", _HOSTILE)
def test_the_time_of_reading_grows_no_faster_than_the_answer(piece: str) -> None:
    began = time.process_time()
    read(piece * (TEXT_LIMIT // 8 // len(piece)))
    short = time.process_time() - began
    began = time.process_time()
    read(piece * (TEXT_LIMIT // len(piece)))
    long = time.process_time() - began
    print(f"{piece}: {short:.3f} s, 8 times as long {long:.3f} s")  # noqa: T201  (asked for)
    assert long < 24 * short + 0.2
