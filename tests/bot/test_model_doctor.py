"""`remem doctor` and models: each finding, from a server over real sockets, with its next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.base import Check
from bot.models import doctor
from bot.models.doctor import model_checks
from tests.peers.openai_server import Answer, Hang, OpenAIServer, Page, Said, Status, call, text
from tests.scenarios.model_world import model_settings

pytestmark = pytest.mark.asyncio

KEY = "sk-canary-0123456789"
OK, OPENS = text("ok"), call("memory_open", page="decisions")
FACT = call("final_result", subject="cache", decided=True)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)


async def _checks(tmp_path: Path, server: OpenAIServer, *answers: Answer, **given: object) -> list[Check]:
    server.script(*answers)
    found = list(await model_checks(model_settings(server, tmp_path / "w", **given)))
    assert server.refused == []
    assert "canary" not in repr(found)
    return found


async def test_a_model_that_can_everything_is_well(tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        found = await _checks(tmp_path, server, OK, OPENS, text("We decided to use Redis."), FACT)
        answer, tools, structure = found
        assert all(one.ok and not one.next_step for one in found)
        assert answer.name == "model small-model"
        assert " s; 32,000 tokens fit into a request (assumed: set REMEM_MODEL_WINDOW)" in answer.found
        assert (tools.found, structure.found) == ("calls them", "works")
        assert server.asked[0].get("max_completion_tokens") == doctor.LEAST_TOKENS
        assert len(server.asked) == 4
        (first, *_) = await _checks(tmp_path, server, OK, OPENS, OK, FACT, model_window=9_000)
        assert "9,000 tokens fit into a request (REMEM_MODEL_WINDOW)" in first.found


async def test_a_small_model_without_tools_is_told_what_it_lacks(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=text("Redis is a database.")) as server:
        answer, tools, structure = await _checks(tmp_path, server)
        assert answer.ok
        assert not tools.ok
        assert "without the tool" in tools.found
        assert "calls tools" in tools.next_step
        assert not structure.ok
        assert "REMEM_MEMORY_MODEL" in structure.next_step


async def test_structured_output_as_text_counts(tmp_path: Path) -> None:
    prose, json = text("I cannot call anything."), text('{"subject": "cache", "decided": true}')
    async with OpenAIServer() as server:
        *_, structure = await _checks(tmp_path, server, OK, OPENS, OK, prose, prose, json)
        assert structure.ok
        assert structure.found == "works, as JSON in the text"


@pytest.mark.parametrize(
    ("answer", "found", "step"),
    [
        (Status(500), "status 500", "REMEM_MODEL_BASE_URL"),
        (Status(429, "rate_limit_exceeded"), "rate_limit_exceeded", "REMEM_MODEL_FALLBACKS"),
        (Status(429, "insufficient_quota"), "insufficient_quota", "account"),
        (Page(200), "", "no model's server answers there"),
        (Page(404), "status 404", "the server has: small-model"),
        (Hang(), "request_timeout|Timeout", "REMEM_MODEL_TIMEOUT_S"),
    ],
)
async def test_a_model_without_an_answer_is_asked_once_and_the_next_step_told(
    tmp_path: Path, answer: Answer, found: str, step: str
) -> None:
    async with OpenAIServer(otherwise=answer) as server:
        (check,) = await _checks(tmp_path, server, model_timeout_s=0.5 if isinstance(answer, Hang) else 20)
        assert not check.ok
        assert check.found.startswith("no answer (")
        assert any(one in check.found for one in found.split("|"))
        assert step in check.next_step
        assert len(server.asked) == 1


async def test_a_wrong_key_and_a_wrong_name_are_told_apart(tmp_path: Path) -> None:
    async with OpenAIServer(key="sk-right", models=("llama3.2:3b", "qwen3:8b")) as server:
        (check,) = await _checks(tmp_path, server, model_key=KEY)
        assert "status 401" in check.found
        assert "REMEM_MODEL_KEY" in check.next_step
        (check,) = await _checks(tmp_path, server, model="openai:lama3.2:3b", model_key="sk-right")
        assert "status 404" in check.found
        assert "the server has: llama3.2:3b, qwen3:8b" in check.next_step


async def test_a_server_that_does_not_run_is_told_with_its_address(tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        gone = model_settings(server, tmp_path / "w")
    (check,) = await model_checks(gone)
    assert "ModelConnectionError" in check.found
    assert gone.model_base_url in check.next_step


async def test_every_model_that_may_be_asked_is_looked_at_once(tmp_path: Path) -> None:
    names = ("large", "spare", "small")
    async with OpenAIServer(models=names, otherwise=OK) as server:
        server.by_model = {"spare": Status(500)}
        given = {"model_fallbacks": "openai:spare", "memory_model": "openai:small"}
        found = await _checks(tmp_path, server, **given)
        assert [one.name for one in found if one.name.startswith("model ")] == [f"model {name}" for name in names]
        assert [one.ok for one in found if one.name == "model spare"] == [False]


async def test_a_question_ends_in_time_whatever_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "ASK_S", 0.3)
    async with OpenAIServer() as server:
        answer, tools, structure = await _checks(
            tmp_path, server, OK, Hang(), Said(None), Hang(), Hang(), model_timeout_s=600
        )
        assert answer.ok
        assert not tools.ok
        assert not structure.ok
