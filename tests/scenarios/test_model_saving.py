"""Saves whose conversations are read by a model, through the whole program: real sockets, real files.

Replies and saves go to different servers, so that one of them can fail while the other one answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.models.extraction import ModelExtractor
from bot.models.providers import chosen
from memory_core.extract import RulesExtractor
from memory_core.tokens import EstimatingCounter
from tests.bot.model_reader import Money, answer, draft
from tests.peers.openai_server import OpenAIServer, Page, Status, call, text
from tests.scenarios.stage import rows
from tests.scenarios.terminal import Terminal, settings, terminal

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def _world(folder: Path, talking: OpenAIServer, reading: OpenAIServer) -> AsyncIterator[Terminal]:
    name = f"openai:{talking.models[0]}"
    picked = await asyncio.to_thread(chosen, settings(folder / "w", model=name, model_base_url=reading.base_url))
    extractor = ModelExtractor(
        picked.memory,
        RulesExtractor(),
        counter=EstimatingCounter(),
        meter=Money(),
        window_tokens=picked.window_tokens,
        timeout_s=10,
    )
    async with (
        picked.memory,
        terminal(folder / "w", extractor=extractor, model=name, model_base_url=talking.base_url) as screen,
    ):
        yield screen


def _files(folder: Path) -> str:
    pages = sorted((folder / "w").rglob("*.md")) + sorted((folder / "w").rglob("*.json"))
    return "\n".join(page.read_text("utf-8") for page in pages)


def _prompt(asked: dict[str, object]) -> str:
    return json.dumps(asked["messages"], ensure_ascii=False)


async def test_case_86_a_failing_save_blocks_no_reply_and_loses_nothing(tmp_path: Path) -> None:
    refusing = Status(500, None, "server_error")
    async with (
        OpenAIServer(otherwise=text("Sure.")) as talking,
        OpenAIServer(otherwise=refusing) as reading,
        _world(tmp_path, talking, reading) as screen,
    ):
        with capture_logs() as logs:
            lines = [f"note {at}: the parcel for depot {at + 100} goes by rail" for at in range(10)]
            for at, line in enumerate(lines):
                assert any("Sure." in said for said in await screen.type(line))
                if at in (3, 5, 7):
                    await screen.silence(1801)
            await screen.silence(1801)
            await screen.silence(3601)
        failed = [log["tries"] for log in logs if log["event"] == "extraction failed"]
        print(f"{len(reading.asked)} requests to read, tries {failed}")  # noqa: T201  (asked for)
        assert failed[:3] == [1, 2, 3]
        assert not any("parcel" in repr(log) for log in logs)
        kept = _files(tmp_path) + repr(
            rows(tmp_path / "w", "SELECT text FROM messages JOIN texts ON texts.id = text_id")
        )
        assert all(line in kept for line in lines)
        # The provider is well again: what was kept as it was said is read after all.
        reading.otherwise = call(
            "keep", **answer(draft("environment", "the parcel for depot 103 goes by rail", "m4"))
        )
        before = len(reading.asked)
        await screen.silence(7201)
        assert len(reading.asked) > before


@pytest.mark.parametrize(
    "given_answer",
    [
        text("Here are the facts:\n```json\n{\"candidates\": []}\n```\nHope this helps"),
        text('{"summary": {"text": "x"}, "entries": "none", "date": 20260401}'),
        text("NO_REPLY"),
        text(""),
        Page(200),
    ],
    ids=["empty in a fence", "wrong types", "NO_REPLY", "nothing", "HTML"],
)  # fmt: skip
async def test_case_147_nothing_of_a_bad_answer_stands_in_a_file(tmp_path: Path, given_answer: object) -> None:
    async with OpenAIServer(otherwise=text("Sure.")) as talking, OpenAIServer() as reading:
        reading.otherwise = given_answer  # type: ignore[assignment]
        async with _world(tmp_path, talking, reading) as screen:
            await screen.type("remember: the spare key is with Frau Roth", "I decided to take the flat in Leipzig")
            await screen.silence(1801)
        files = _files(tmp_path)
        assert "Leipzig" in files
        assert "spare key" in files
        for bad in ("NO_REPLY", "summary", "'text'", '{"text"', "<html", "Hope this helps"):
            assert bad not in files


async def test_what_the_model_finds_stands_in_the_pages(tmp_path: Path) -> None:
    keep = call("keep", **answer(draft("contact", "the plumber is Frau Roth, 030 5550199", "m1")))
    async with OpenAIServer(otherwise=text("Sure.")) as talking, OpenAIServer(otherwise=keep) as reading:
        async with _world(tmp_path, talking, reading) as screen:
            await screen.type("about the pipes: the plumber is Frau Roth, 030 5550199")
            await screen.silence(1801)
        assert "Frau Roth" in _files(tmp_path)
        (asked,) = reading.asked
        assert "the plumber is Frau Roth" in _prompt(asked)
        assert "Sure." not in _prompt(asked) or '\\"is\\": \\"bot\\"' in _prompt(asked)
        assert reading.refused == []
