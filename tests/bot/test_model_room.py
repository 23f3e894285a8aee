"""A window that holds no turn is told at the start, with the least that a turn takes."""

from __future__ import annotations

import re

import pytest

from bot.models.failures import ModelFailed
from bot.models.prompt import ItemKind, Measure
from bot.models.request import FittedRequest, least_to_answer_tokens
from memory_core.tokens import EstimatingCounter, load_counter
from tests.bot.command_line import CommandLine, remem
from tests.bot.model_reader import Reader
from tests.bot.models.asking import Talk, disclosure
from tests.memory_core.extraction_talk import talk as conversation

__all__ = ["remem"]

MODEL = {
    "REMEM_MODEL": "openai:small",
    "REMEM_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
    "REMEM_MODEL_KEY": "none",
    "DISCORD_TOKEN": "x",
}


@pytest.mark.parametrize("command", ["chat", "run", "doctor"])
def test_each_command_refuses_a_window_without_room_for_a_turn(remem: CommandLine, command: str) -> None:
    ran = remem(command, **MODEL, REMEM_MODEL_WINDOW="1000")
    said = ran.out if command == "doctor" else ran.err.splitlines()[-1]
    assert ran.code == 1
    found = re.search(r"REMEM_MODEL_WINDOW is 1,000 tokens, and to answer one message takes at least ([\d,]+);", said)
    assert found is not None, said
    assert int(found[1].replace(",", "")) == least_to_answer_tokens(Measure(load_counter())) < 1_500
    assert "choose a model with a larger window" in said
    assert not (remem.home / "remem").exists()


def test_a_model_that_only_reads_needs_room_for_a_conversation(remem: CommandLine) -> None:
    only = {("REMEM_MEMORY_MODEL" if name == "REMEM_MODEL" else name): value for name, value in MODEL.items()}
    said = remem("run", **only, REMEM_MODEL_WINDOW="1500").err.splitlines()[-1]
    assert "to read a conversation takes at least 2," in said


def test_a_window_that_only_answers_is_told_by_doctor(remem: CommandLine) -> None:
    said = remem("doctor", **MODEL, REMEM_MODEL_WINDOW="1500").out
    assert "Rules read what is saved: a model takes a window of 2," in said
    assert "Rules read" not in remem("doctor", **MODEL, REMEM_MODEL_WINDOW="5000").out


@pytest.mark.parametrize("persona", ["", "Be kind. " * 3000])
@pytest.mark.parametrize("question", ["what did we decide about Redis?", "word " * 3000])
def test_the_least_window_answers_whatever_was_said_and_shown(persona: str, question: str) -> None:
    measure = Measure(EstimatingCounter())
    least = least_to_answer_tokens(measure)
    talk = Talk()
    talk.shows(talk.said("earlier " * 500), disclosure("a page " * 900))
    ask = talk.ask(talk.said(question), persona=persona)
    request = FittedRequest(ask, measure, least)
    said = [item for item in request._now if item.kind is ItemKind.SAID]
    assert [question[:5] in item.text for item in said] == [True]
    with pytest.raises(ModelFailed):
        FittedRequest(ask, measure, least // 2)


@pytest.mark.asyncio
@pytest.mark.parametrize(("window_tokens", "asked"), [(2_000, 0), (5_000, 1)])
async def test_a_window_without_room_for_a_conversation_is_read_by_rules(window_tokens: int, asked: int) -> None:
    reader = Reader(["no use"], window_tokens=window_tokens)
    found = await reader.read(conversation("ana: we decided: Redis for the cache"))
    assert bool(reader.prompts) == bool(asked)
    assert len(found) == 1
