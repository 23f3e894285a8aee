"""A real model behind remem, plain and streamed. Opt-in: it needs a server, and what a model says is never the same.

    REMEM_TEST_MODEL=openai:smollm2 REMEM_TEST_MODEL_URL=http://127.0.0.1:8000/v1 \\
        python -m pytest tests/scenarios/test_real_model.py -s

Any server that speaks OpenAI's API will do, such as llama.cpp's or Ollama's. It shows the wire, not the quality: an
answer comes, it grows in parts, the conversation goes on, and nothing of it is an error.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from bot.models.failures import LINES
from bot.models.providers import chosen
from bot.settings import Settings
from tests.scenarios.terminal import settings, terminal

NAME, URL = os.environ.get("REMEM_TEST_MODEL", ""), os.environ.get("REMEM_TEST_MODEL_URL", "")

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(not (NAME and URL), reason="REMEM_TEST_MODEL and REMEM_TEST_MODEL_URL name no model to ask"),
]


def _settings(workspace: Path) -> Settings:
    return settings(workspace, model=NAME, model_base_url=URL, model_timeout_s=300)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


async def test_a_real_model_answers_in_a_conversation_and_after_a_restart(tmp_path: Path) -> None:
    for question in ("Hello, who are you?", "And what is a cache good for? One sentence."):
        async with terminal(tmp_path / "w", model=NAME, model_base_url=URL, model_timeout_s=300) as screen:
            began = time.monotonic()
            said = (await screen.type(question))[-1]
            _print(f"{time.monotonic() - began:.1f} s, {len(said)} characters: {said[:100]!r}")
            assert len(said) > len("remem: ")
            assert not [line for line in LINES.values() if line in said]


async def test_a_real_model_is_heard_while_it_speaks(tmp_path: Path) -> None:
    from pydantic_ai import Agent

    models = await asyncio.to_thread(chosen, _settings(tmp_path / "w"))
    assert models.reply is not None
    began, parts = time.monotonic(), list[float]()
    async with models.reply, Agent(models.reply).run_stream("Say in one sentence what a cache is.") as answer:
        async for _ in answer.stream_text(delta=True, debounce_by=None):
            parts.append(time.monotonic() - began)
    _print(f"first word after {parts[0]:.2f} s, whole after {parts[-1]:.2f} s, {len(parts)} parts")
    assert len(parts) > 1
