"""What a model uses, whole program: also where its server says nothing of it, and where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from memory_core.answers_usage import usage_text
from memory_core.ledger.overview import usage_at
from memory_core.ledger.usage import Purpose, Spent
from memory_core.workspace import LEDGER
from tests.bot.model_reader import answer, draft
from tests.peers.openai_server import Answer, OpenAIServer, Said, Status, call, text
from tests.scenarios.terminal import START, Terminal, terminal

pytestmark = pytest.mark.asyncio

SILENT = replace(text("The sessions are held by Redis, because they must survive a restart."), usage=None)


@asynccontextmanager
async def _talk(workspace: Path, server: OpenAIServer, **given: object) -> AsyncIterator[Terminal]:
    """The program whose model is that server's; whoever asked hears the model, or a line."""
    named = "memory_model" if "memory_model" in given else "model"
    given[named] = f"openai:{server.models[0]}"
    async with terminal(
        workspace, clock=None, agent=None, extractor=None, model_base_url=server.base_url, model_timeout_s=20, **given
    ) as screen:
        yield screen


async def _spent(workspace: Path, purpose: Purpose) -> Spent:
    """The one sum of a purpose."""
    found = await asyncio.to_thread(usage_at, workspace / LEDGER, START.date())
    (spent,) = [one for its in found.values() for one in its if one.purpose is purpose]
    return spent


async def test_a_server_that_reports_nothing_is_counted_by_our_estimate_and_marked(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=SILENT) as server, _talk(tmp_path, server) as screen:
        assert any("Redis" in line for line in await screen.type("what holds the sessions?"))
        spent = await _spent(tmp_path, Purpose.REPLY)
        assert (spent.runs, spent.requests, spent.estimated_runs) == (1, 1, 1)
        print(spent)  # noqa: T201  (asked for)
        assert 700 < spent.input_tokens < 3_000, "rules, tools, the index and the question"
        assert 10 < spent.output_tokens < 30
        told = usage_text([spent])
        assert told == f"answers about {spent.tokens:,} tokens in 1 run (price unknown, estimated)"
        status = "\n".join(await screen.type("/remem status"))
        assert told in status
        server.otherwise = text("Reported.")
        await screen.type("and who runs it?")
        spent = await _spent(tmp_path, Purpose.REPLY)
        assert usage_text([spent]).endswith("in 2 runs (price unknown, 1 run estimated)")


async def test_the_days_limit_sees_a_server_that_reports_nothing_and_comes_in_mid_conversation(
    tmp_path: Path,
) -> None:
    async with (
        OpenAIServer(otherwise=SILENT) as server,
        _talk(tmp_path, server, day_tokens=2_500) as screen,
    ):
        questions = [f"what holds the sessions, time {number}?" for number in range(6)]
        said = ["\n".join(await screen.type(question)) for question in questions]
        answered = ["Redis" in one for one in said]
        at = answered.index(False)
        assert 1 <= at < 5
        assert not any(answered[at:])
        assert all("used up what I may use in a day" in one for one in said[at:])
        assert len(server.asked) == at
        assert "6 messages not saved yet" in "\n".join(await screen.type("/remem status")), "commands go on"
        await screen.type("remember: the spare key is with Frau Roth")
        assert "Frau Roth" in _memory(tmp_path), "what is said is kept"
        screen.clock.advance(24 * 3600)
        assert "Redis" in "\n".join(await screen.type("and today?"))


async def test_one_answers_limit_sees_a_server_that_reports_nothing(tmp_path: Path) -> None:
    search = replace(call("memory_search", words="sessions"), usage=None)
    async with (
        OpenAIServer(otherwise=search) as server,
        _talk(tmp_path, server, turn_tokens=1_500) as screen,
    ):
        said = "\n".join(await screen.type("what holds the sessions?"))
        assert "took more than one answer may" in said
        assert len(server.asked) <= 2


async def test_an_answer_that_is_cut_is_counted_as_far_as_it_went(tmp_path: Path) -> None:
    cut = replace(SILENT, cut_after=3)
    async with OpenAIServer(otherwise=cut) as server, _talk(tmp_path, server) as screen:
        await screen.type("what holds the sessions?")
        spent = await _spent(tmp_path, Purpose.REPLY)
        assert spent.estimated_runs == 1
        assert spent.input_tokens > 700
        assert 0 < spent.output_tokens < 20


@pytest.mark.parametrize(
    ("failure", "requests", "estimated"), [(Status(500), 1, 0), (text("no JSON"), 2, 0), (Status(429), 1, 0)]
)
async def test_a_failed_request_to_read_a_conversation_is_counted(
    tmp_path: Path, failure: Answer, requests: int, estimated: int
) -> None:
    async with (
        OpenAIServer(otherwise=failure) as server,
        _talk(tmp_path, server, memory_model="alone") as screen,
    ):
        await screen.type("the parcel for depot 101 goes by rail")
        await screen.silence(1801)
        spent = await _spent(tmp_path, Purpose.MEMORY)
        assert len(server.asked) == requests
        assert (spent.requests, spent.estimated_runs) == (requests, estimated)
        assert (spent.tokens > 0) == isinstance(failure, Said)


async def test_a_reading_that_nobody_reports_is_counted_too(tmp_path: Path) -> None:
    keep = replace(call("keep", **answer(draft("contact", "the plumber is Frau Roth", "m1"))), usage=None)
    async with (
        OpenAIServer(otherwise=keep) as server,
        _talk(tmp_path, server, memory_model="alone") as screen,
    ):
        await screen.type("about the pipes: the plumber is Frau Roth")
        await screen.silence(1801)
        spent = await _spent(tmp_path, Purpose.MEMORY)
        assert (spent.requests, spent.estimated_runs) == (1, 1)
        assert spent.input_tokens > 1_000
        assert spent.output_tokens > 5


async def test_a_model_for_memory_alone_reads_and_rules_answer(tmp_path: Path) -> None:
    keep = call("keep", **answer(draft("contact", "the plumber is Frau Roth, 030 5550199", "m1")))
    async with (
        OpenAIServer(otherwise=keep) as server,
        _talk(tmp_path, server, memory_model="alone") as screen,
    ):
        said = "\n".join(await screen.type("about the pipes: the plumber is Frau Roth, 030 5550199"))
        assert server.asked == [], "no answer asks the model"
        assert "offline" not in said.lower()
        await screen.silence(1801)
        (asked,) = server.asked
        assert asked.get("stream") is not True
        assert "Frau Roth" in _memory(tmp_path)
        answer_ = "\n".join(await screen.type("who is the plumber?"))
        assert "From memory:" in answer_
        assert "Frau Roth" in answer_
        assert len(server.asked) == 1
        found = await asyncio.to_thread(usage_at, tmp_path / LEDGER, START.date())
        assert {one.purpose for its in found.values() for one in its} == {Purpose.MEMORY}


def _memory(workspace: Path) -> str:
    pages = [path for path in sorted(workspace.rglob("*.md")) if ".remem" not in path.parts]
    return "\n".join(page.read_text("utf-8") for page in pages)
