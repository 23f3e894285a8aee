"""What holds for every conversation, how fast it goes, and what real chat of programmers leaves."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evaluation.labelled import load
from memory_core.candidates import Request
from memory_core.extract import at_once, candidates_in, retracted_in
from memory_core.extract.extractor import urgent_in
from memory_core.ids import Conversation, PersonKey, RoomKey, message_key
from memory_core.messages import Message, Voice
from tests.data_dir import data_file
from tests.memory_core.extraction_talk import message
from tests.scale import scale

_LABELLED = [said.text for one in load() for said in one.messages]
_texts = st.one_of(st.sampled_from(_LABELLED), st.text(max_size=200))
_voices = st.sampled_from([Voice.PERSON, Voice.PERSON, Voice.BOT, Voice.SELF])


@st.composite
def _requests(draw: st.DrawFn) -> Request:
    lines = draw(st.lists(st.tuples(st.sampled_from(["ana", "ben", "cy"]), _texts, _voices), max_size=12))
    messages = tuple(_message(number, *line) for number, line in enumerate(lines))
    cut = draw(st.integers(0, len(messages)))
    return Request(messages[cut:], before=messages[:cut], direct=draw(st.booleans()))


def _message(number: int, who: str, text: str, voice: Voice) -> Message:
    plain = message(f"{who}: x", number)
    return Message(plain.key, plain.conversation, plain.author, who, text, plain.sent_at, voice)


@settings(max_examples=scale(6000), deadline=None)
@given(_requests())
def test_candidates_cite_what_persons_said_and_keep_their_form(request: Request) -> None:
    found = candidates_in(request)
    citable = {one.key for one in request.messages if one.voice is Voice.PERSON}
    authors = {one.key: one.author for one in request.messages}
    for candidate in found:
        assert set(candidate.sources) <= citable
        assert authors[candidate.sources[0]] == candidate.author
        assert 0 < len(candidate.title) <= 80
        assert len(candidate.body.splitlines()) == 1
        assert len(candidate.corrects) <= 80
    assert candidates_in(request) == found
    keys = {one.key for one in (*request.before, *request.messages)}
    assert set(retracted_in(request)) <= keys


def test_the_quick_look_misses_nothing_that_cannot_wait() -> None:
    for conversation in load():
        for one in conversation.request.messages:
            if one.voice is Voice.PERSON:
                assert at_once(one, direct=False) == urgent_in(one, direct=False)


@settings(max_examples=scale(4000), deadline=None)
@given(_texts, st.booleans(), _voices)
def test_what_cannot_wait_is_what_the_flush_finds_too(text: str, direct: bool, voice: Voice) -> None:
    one = _message(0, "ana", text, voice)
    found = at_once(one, direct=direct)
    if found:
        assert voice is Voice.PERSON
    every = candidates_in(Request((one,), direct=direct))
    assert list(found) == [candidate for candidate in every if candidate in found]  # in their order, each once
    assert all(candidate.settled for candidate in found)


_PIECES = (
    *(
        "@a_",
        "@a.",
        "a ",
        "哈",
        "! ",
        ", ",
        "ok ",
        "ok, so ",
        "we decided ",
        "。",
        "1.",
        "to ",
        "\n",
        "> ",
        "`",
        "```",
    ),
    *('"', "“", "- ", "1) ", "TODO: ", "[x] ", "no, not ", "我", "的话", "the fix was ", "I'll fix ", "waiting for "),
    *("\t", "<@U1|", "https://", "not a not b ", "the new ", "Ana owns ", "a@b.", "+1 2", "不是", "status for "),
)


@pytest.mark.parametrize("piece", _PIECES)
def test_no_repetition_makes_it_slow(piece: str) -> None:
    for text in (piece * 60, piece * (12_000 // len(piece)), piece * 50 + "x", "so " + piece * 40 + "?!"):
        start = time.process_time()
        candidates_in(Request((message(f"ana: {text}"), message("ben: ok", 1))))
        assert time.process_time() - start < 2.0


def test_ten_thousand_messages_in_a_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [_LABELLED[number % len(_LABELLED)] for number in range(scale(10_000))]
    messages = tuple(_message(number, "abc"[number % 3], text, Voice.PERSON) for number, text in enumerate(texts))
    start = time.perf_counter()
    for first in range(0, len(messages), 200):
        candidates_in(Request(messages[first : first + 200]))
    flushed_s = time.perf_counter() - start
    start = time.perf_counter()
    for one in messages:
        at_once(one, direct=False)
    at_once_s = time.perf_counter() - start
    with capsys.disabled():
        each_us = 1e6 / len(messages)
        print(f"\n{len(messages)} messages: {flushed_s * each_us:.0f} µs each, at once {at_once_s * each_us:.0f} µs")  # noqa: T201


def test_real_chat_of_programmers_leaves_little_and_breaks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    messages = list(_slack_messages("slack-export-racket-2017.zip"))[: max(1000, scale(6757))]
    found = [one for stretch in _stretches(messages) for one in candidates_in(Request(tuple(stretch)))]
    keys = {one.key for one in messages}
    assert all(set(one.sources) <= keys for one in found)
    per_hundred = 100 * len(found) / len(messages)
    with capsys.disabled():
        print(f"\n{len(messages)} real messages: {len(found)} candidates, {per_hundred:.2f} per 100")  # noqa: T201
    assert per_hundred < 2


def _slack_messages(name: str) -> Iterator[Message]:
    """The messages of an export's channels, oldest first."""
    with zipfile.ZipFile(data_file(name)) as archive:
        for path in sorted(archive.namelist()):
            if "/" not in path or not path.endswith(".json"):
                continue
            room = RoomKey(f"slack:T1:{path.split('/')[0]}")
            for said in json.loads(archive.read(path)):
                sent_at = datetime.fromtimestamp(float(said["ts"]), UTC)
                author = PersonKey(f"slack:T1:{said['user']}")
                yield Message(
                    message_key(room, said["ts"]), Conversation(room), author, said["user"], said["text"], sent_at
                )


def _stretches(messages: list[Message]) -> Iterator[list[Message]]:
    """The messages, cut where half an hour passes without one."""
    stretch = messages[:1]
    for one in messages[1:]:
        if (one.sent_at - stretch[-1].sent_at).total_seconds() > 1800:
            yield stretch
            stretch = []
        stretch.append(one)
    yield stretch
