"""A model that fails, through the whole program: real sockets to a server that speaks OpenAI's API, real files.

Each fault ends as issue 5 says: one short line, its own rule for a second try, and the conversation goes on with the
next message. Nothing of a failure stands in the transcript, in memory or in a later request, also after a restart.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.models.failures import LINES, Failure
from tests.peers.openai_server import Answer, OpenAIServer, Page, Said, Status, text
from tests.scenarios.stage import rows
from tests.scenarios.terminal import Terminal, terminal

pytestmark = pytest.mark.asyncio

BUSY = Status(429, "rate_limit_exceeded", "requests", retry_after_s=0)
HTML = Page(200)
OVERFLOW = Status(400, "context_length_exceeded", message="This model's maximum context length is 8192 tokens.")
BROKEN_CALL = Said(None, (("memory_search", '{"words": "redis'),), finish="tool_calls")

FAULTS: dict[str, tuple[Answer, Failure, int]] = {
    "429 with Retry-After": (BUSY, Failure.BUSY, 2),
    "429 without quota": (Status(429, "insufficient_quota", "insufficient_quota"), Failure.SETUP, 1),
    "500": (Status(500, None, "server_error"), Failure.DOWN, 2),
    "503": (Status(503, None, "service_unavailable"), Failure.DOWN, 2),
    "401": (Status(401, "invalid_api_key"), Failure.SETUP, 1),
    "404 of a model": (Status(404, "model_not_found"), Failure.SETUP, 1),
    "404 HTML": (Page(404), Failure.SETUP, 1),
    "200 HTML": (HTML, Failure.UNUSABLE, 2),
    "200 empty": (Page(200, "", "application/json"), Failure.UNUSABLE, 2),
    "too long": (OVERFLOW, Failure.TOO_LONG, 1),
    "content filter": (Said("", finish="content_filter"), Failure.REFUSED, 1),
    "content policy": (Status(400, "content_policy_violation"), Failure.REFUSED, 1),
    "dropped connection": (Said("Half of an answer that goes on", cut_after=3), Failure.DOWN, 2),
    "stream without an end": (
        Said("Half of an answer that goes on", cut_after=3, ends_early=True),
        Failure.UNUSABLE,
        2,
    ),
    "empty content": (Said(""), Failure.UNUSABLE, 2),
    "null content": (Said(None), Failure.UNUSABLE, 2),
    "malformed arguments": (BROKEN_CALL, Failure.UNUSABLE, 2),
}
"""What the server answers again and again, what it is to us, and how often it is asked."""


@asynccontextmanager
async def _world(folder: Path, server: OpenAIServer, **given: object) -> AsyncIterator[Terminal]:
    model = {"model": f"openai:{server.models[0]}", "model_base_url": server.base_url, "model_timeout_s": 10}
    async with terminal(folder / "w", **{**model, **given}) as screen:
        yield screen


def _transcript(folder: Path) -> list[str]:
    return [str(row[0]) for row in rows(folder / "w", "SELECT text FROM messages ORDER BY seq")]


def _files(folder: Path) -> str:
    paths = sorted(path for path in (folder / "w").rglob("*.md"))
    return "\n".join(path.read_text("utf-8") for path in paths)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_one_short_line_and_the_conversation_goes_on(tmp_path: Path, name: str) -> None:
    answer, failure, tries = FAULTS[name]
    async with OpenAIServer(otherwise=answer) as server, _world(tmp_path, server) as screen:
        (said,) = await screen.type("what is our cache?")
        asked = len(server.asked)
        print(name, asked, said)
        assert LINES[failure] in said
        assert asked == tries
        server.otherwise = text("Redis, I think.")
        (said,) = await screen.type("and now?")
        assert "Redis, I think." in said
        assert server.refused == []
