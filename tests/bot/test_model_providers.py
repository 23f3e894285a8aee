"""From settings to models: what is built, and what is said at the start where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

from bot.models.providers import ASSUMED_WINDOW_TOKENS, Chosen, chosen
from bot.settings import Settings, load
from memory_core.errors import BadInput
from tests.bot.command_line import CommandLine, remem

__all__ = ["remem"]

KEY = "sk-canary-0123456789"
LOCAL = "http://localhost:11434/v1"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)


def _settings(**given: object) -> Settings:
    return load(**given)


def _refusal(**given: object) -> str:
    with pytest.raises(BadInput) as refused:
        chosen(_settings(**given))
    return str(refused.value)


def _client(model: Model | None) -> tuple[str, str]:
    """The address and the key that a model's client uses."""
    assert model is not None
    assert model.provider is not None
    client = model.provider.client
    return str(client.base_url).rstrip("/"), client.api_key


# -- what is built ------------------------------------------------------------------------------------------------


def test_openai_itself_is_asked_by_its_own_api() -> None:
    models = chosen(_settings(model="openai:gpt-5", model_key=KEY))
    assert isinstance(models.reply, OpenAIResponsesModel)
    assert models.memory is models.reply
    assert _client(models.reply) == ("https://api.openai.com/v1", KEY)
    assert models.doubts == ()


def test_a_server_with_an_address_is_asked_for_chat_completions_and_needs_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-alone")
    models = chosen(_settings(model="openai:qwen3", model_base_url=LOCAL))
    assert isinstance(models.reply, OpenAIChatModel)
    address, key = _client(models.reply)
    assert address == LOCAL
    assert key != "sk-of-openai-alone"
    assert _client(chosen(_settings(model="openai:qwen3", model_base_url=LOCAL, model_key=KEY)).reply)[1] == KEY


@pytest.mark.parametrize("name", ["ollama:qwen3", "vllm:qwen/qwen3", "litellm:qwen3", "openai-chat:qwen3"])
def test_servers_that_have_names_of_their_own_take_the_address(name: str) -> None:
    assert _client(chosen(_settings(model=name, model_base_url=LOCAL)).reply)[0] == LOCAL


def test_address_and_key_are_for_the_first_models_provider_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-anthropic")
    models = chosen(
        _settings(
            model="ollama:qwen3",
            model_base_url=LOCAL,
            model_key=KEY,
            memory_model="ollama:qwen3-small",
            model_fallbacks="ollama:gemma3, anthropic:claude-sonnet-4-5",
        )
    )
    assert isinstance(models.reply, FallbackModel)
    assert isinstance(models.memory, FallbackModel)
    first, second, third = models.reply.models
    assert [one.model_name for one in models.reply.models] == ["qwen3", "gemma3", "claude-sonnet-4-5"]
    assert [one.model_name for one in models.memory.models] == ["qwen3-small", "gemma3", "claude-sonnet-4-5"]
    assert isinstance(first, OllamaModel)
    assert _client(first) == _client(second) == (LOCAL, KEY)
    assert isinstance(third, AnthropicModel)
    assert _client(third) == ("https://api.anthropic.com", "sk-of-anthropic")


def test_a_memory_model_alone_leaves_the_answers_to_the_rules() -> None:
    models = chosen(_settings(memory_model="openai:gpt-5", model_key=KEY))
    assert models.reply is None
    assert models.memory.model_name == "gpt-5"


def test_a_key_in_the_env_file_counts_and_the_environment_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(f"REMEM_MODEL=anthropic:claude-sonnet-4-5\nANTHROPIC_API_KEY={KEY}\n", "utf-8")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert _client(chosen(load()).reply)[1] == KEY
    import os

    assert "ANTHROPIC_API_KEY" not in os.environ
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
    assert _client(chosen(load()).reply)[1] == "sk-of-the-environment"


@pytest.mark.parametrize("name", ["openai:gpt-5", "anthropic:claude-sonnet-4-5"])
def test_every_request_is_bounded_in_time_and_made_once(name: str) -> None:
    bounds = chosen(_settings(model=name, model_key=KEY, model_timeout_s=7.5)).memory.settings or {}
    assert bounds.get("request_timeout") == bounds.get("timeout") == 7.5
    assert bounds.get("max_retries") == 0


def test_the_window_is_the_settings_else_the_models_else_thirty_two_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    def window(**given: object) -> int:
        return chosen(_settings(**given)).window_tokens

    known = window(model="anthropic:claude-sonnet-4-5")
    assert known >= 200_000
    assert window(model="openai:nobody-knows", model_base_url=LOCAL) == ASSUMED_WINDOW_TOKENS == 32_000
    assert window(model="anthropic:claude-sonnet-4-5", model_window=9_000) == 9_000
    # What fits must fit every model that may be asked, also one of which nothing is known.
    both = {"model": "openai:nobody-knows", "model_base_url": LOCAL, "model_fallbacks": "anthropic:claude-sonnet-4-5"}
    assert window(**both) == 32_000


# -- what is wrong ------------------------------------------------------------------------------------------------


def test_a_name_without_a_provider_is_written_out() -> None:
    assert "REMEM_MODEL names 'gpt-5', " in _refusal(model="gpt-5")
    assert "write 'openai:gpt-5'" in _refusal(model="gpt-5")
    assert "write 'anthropic:claude-opus-4'" in _refusal(model="claude-opus-4")
    assert "openai:…" in _refusal(model="test")


def test_the_nearest_provider_is_suggested_and_the_setting_named() -> None:
    assert "nearest that is known is 'openai:gpt-5'" in _refusal(model="opnai:gpt-5")
    said = _refusal(memory_model="antropic:claude-sonnet-4-5")
    assert said.startswith("REMEM_MEMORY_MODEL names 'antropic:")
    assert "'anthropic:claude-sonnet-4-5'" in said
    said = _refusal(model="openai:gpt-5", model_key=KEY, model_fallbacks="olama:x")
    assert said.startswith("REMEM_MODEL_FALLBACKS names 'olama:x'")
    assert "'ollama:x'" in said
    assert "says no model" in _refusal(model="openai:", model_key=KEY)


def test_a_missing_key_is_said_with_both_ways_to_set_it() -> None:
    said = _refusal(model="anthropic:claude-sonnet-4-5")
    assert "ANTHROPIC_API_KEY or REMEM_MODEL_KEY" in said
    assert ".env" in said
    said = _refusal(model="openai:gpt-5", model_key=KEY, model_fallbacks="anthropic:claude-sonnet-4-5")
    assert "ANTHROPIC_API_KEY" in said
    assert "REMEM_MODEL_KEY" not in said


def test_a_missing_address_is_said() -> None:
    assert "REMEM_MODEL_BASE_URL (such as http://localhost:11434/v1) or OLLAMA_BASE_URL" in _refusal(model="ollama:q")


@pytest.mark.parametrize("provider", ["groq", "google", "mistral", "bedrock"])
def test_a_missing_package_is_said_with_the_command(provider: str) -> None:
    assert f'pip install "pydantic-ai-slim[{provider}]"' in _refusal(model=f"{provider}:x", model_key=KEY)


def test_an_address_for_a_provider_that_has_its_own_is_said() -> None:
    assert _refusal(model="deepseek:deepseek-chat", model_key=KEY, model_base_url=LOCAL).startswith(
        "REMEM_MODEL_BASE_URL does not go with deepseek:"
    )


@pytest.mark.parametrize(
    "url", ["localhost:11434", "http://", "http://localhost:99999/v1", "ftp://x/v1", "http://[::1"]
)
def test_an_address_that_is_none_is_a_fault_of_the_settings(url: str) -> None:
    with pytest.raises(BadInput, match="REMEM_MODEL_BASE_URL"):
        _settings(model="openai:x", model_base_url=url)


@pytest.mark.parametrize("key", [KEY + "\n", f"{KEY} {KEY}", KEY + "ä"])
def test_a_key_that_no_header_can_carry_is_said_and_not_shown(key: str) -> None:
    said = _refusal(model="openai:gpt-5", model_key=key)
    assert "REMEM_MODEL_KEY" in said
    assert "canary" not in said


@pytest.mark.parametrize("name", ["gpt-5", "opnai:x", "groq:x", "bedrock:x", "deepseek:x", "azure:x", "elevenlabs:x"])
def test_no_refusal_shows_the_key(name: str) -> None:
    assert "canary" not in _refusal(model=name, model_key=KEY, model_base_url="" if name != "deepseek:x" else LOCAL)


def test_a_name_that_comes_close_is_a_doubt_and_not_refused() -> None:
    def doubts(name: str) -> tuple[str, ...]:
        models: Chosen = chosen(_settings(model=name, model_key=KEY))
        return models.doubts

    (doubt,) = doubts("anthropic:claude-sonet-5-5")
    assert "'anthropic:claude-sonnet-5-5' is known" in doubt
    assert doubts("anthropic:claude-sonnet-4-5") == ()
    assert doubts("openai:something-of-next-year") == ()


@pytest.mark.parametrize("command", ["chat", "run", "doctor"])
def test_each_command_says_it_at_the_start_and_lays_nothing_down(remem: CommandLine, command: str) -> None:
    ran = remem(command, REMEM_MODEL="opnai:gpt-5", REMEM_MODEL_KEY=KEY, DISCORD_TOKEN="x")
    said = ran.out if command == "doctor" else ran.err.splitlines()[-1]
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert "REMEM_MODEL names 'opnai:gpt-5'" in said
    assert "'openai:gpt-5'" in said
    assert "canary" not in ran.out + ran.err
    assert not (remem.home / "remem").exists()


def test_a_setting_of_another_provider_is_kept_out_of_the_log(remem: CommandLine) -> None:
    ran = remem("run", REMEM_MODEL="groq:x", REMEM_MODEL_KEY=KEY, DISCORD_TOKEN="x")
    assert 'pip install "pydantic-ai-slim[groq]"' in ran.err.splitlines()[-1]
    assert "canary" not in ran.out + ran.err
