"""A server that speaks OpenAI's chat completions, over real sockets: what a model's provider does, and does wrong.

    async with OpenAIServer() as server:
        server.script(text("Redis, as you decided."), Status(429, retry_after_s=1), …)
        … REMEM_MODEL=openai:model, REMEM_MODEL_BASE_URL=server.base_url …

Each request takes the next answer of the script, and `otherwise` where the script is at its end. Answers are of the
shapes that OpenAI, vLLM and llama.cpp were seen to send, whole or as a stream of chunks with the usage in the last.
Requests that OpenAI refuses are refused here too, and kept in `refused`, which is empty at the end of a scenario.
What was asked stands in `asked`.

Sources of the rules: https://platform.openai.com/docs/api-reference/chat/create (roles, tool messages, streaming) and
https://platform.openai.com/docs/guides/error-codes (statuses and codes).
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

from aiohttp import web

MODEL = "small-model"

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: text, or calls of tools, or both. `content` None stands on the wire as null."""

    content: str | None = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    pieces: int = 4
    usage: tuple[int, int] | None = (50, 7)
    """Tokens in and out; None: the server says nothing of it, as llama-cpp-python does while it streams."""
    wait: asyncio.Event | None = None
    """The whole answer waits for it: a server that thinks."""
    cut_after: int | None = None
    """So many chunks are sent; then the connection is dropped."""
    holds_after: int | None = None
    """So many chunks are sent; then nothing comes any more until the caller goes away or the server ends."""
    ends_early: bool = False
    """With `cut_after`: the stream ends as if it were whole, as a proxy ends it whose server died."""


@dataclass(frozen=True, slots=True)
class Status:
    """A refusal by HTTP, as OpenAI words it."""

    status: int
    code: str | None = None
    type: str = "invalid_request_error"
    message: str = "The request was refused."
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Something that is no answer of an API: a proxy's page, an empty body."""

    status: int = 200
    body: str = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing comes, until the caller goes away or the server ends."""


Answer = Said | Status | Page | Hang


def text(content: str) -> Said:
    """A plain answer."""
    return Said(content)


def call(tool: str, **arguments: object) -> Said:
    """The model calls a tool."""
    return Said(None, ((tool, json.dumps(arguments)),), finish="tool_calls")


@dataclass(slots=True)
class OpenAIServer:
    """The server. `key`: the only key that it takes; '' takes all, and none."""

    key: str = ""
    models: tuple[str, ...] = (MODEL,)
    otherwise: Answer = field(default_factory=lambda: text("Noted."))
    by_model: dict[str, Answer] = field(default_factory=dict)
    """What a model always answers, whatever the script says."""
    asked: list[Json] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    base_url: str = ""
    _script: deque[Answer] = field(default_factory=deque)
    _runner: web.AppRunner | None = None
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def script(self, *answers: Answer) -> None:
        """What is answered next, one for each request."""
        self._script.extend(answers)

    @property
    def environment(self) -> dict[str, str]:
        """What a process is told to find this server."""
        return {"REMEM_MODEL": f"openai:{self.models[0]}", "REMEM_MODEL_BASE_URL": self.base_url}

    async def was_asked(self, times: int) -> None:
        """Wait until so many requests have come."""
        async with self._news, asyncio.timeout(30):
            await self._news.wait_for(lambda: len(self.asked) >= times)

    async def __aenter__(self) -> OpenAIServer:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._completions)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # -- the two routes -----------------------------------------------------------------------------------------

    async def _models(self, request: web.Request) -> web.Response:
        rows = [{"id": name, "object": "model", "created": 1, "owned_by": "tests"} for name in self.models]
        return web.json_response({"object": "list", "data": rows})

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _refusal(Status(401, "invalid_api_key", message="Incorrect API key provided: sk-***."))
        asked: Json = await request.json()
        async with self._news:
            self.asked.append(asked)
            self._news.notify_all()
        if asked.get("model") not in self.models:
            missing = f"The model `{asked.get('model')}` does not exist or you do not have access to it."
            return _refusal(Status(404, "model_not_found", message=missing))
        if why := fault_in(asked):
            self.refused.append(why)
            return _refusal(Status(400, message=why))
        answer = self.by_model.get(str(asked["model"]))
        if answer is None:
            answer = self._script.popleft() if self._script else self.otherwise
        return await self._answered(answer, asked, request)

    async def _answered(self, answer: Answer, asked: Json, request: web.Request) -> web.StreamResponse:
        match answer:
            case Status():
                return _refusal(answer)
            case Page():
                return web.Response(status=answer.status, text=answer.body, content_type=answer.content_type)
            case Hang():
                await self._ended.wait()
                return web.Response(status=503)
            case Said():
                if answer.wait is not None:
                    await answer.wait.wait()
                if asked.get("stream"):
                    return await _streamed(answer, asked, request)
                return web.json_response(_whole(answer, str(asked["model"])))


def _refusal(one: Status) -> web.Response:
    """OpenAI's form of an error."""
    headers = {"Retry-After": f"{one.retry_after_s:g}"} if one.retry_after_s is not None else {}
    body = {"error": {"message": one.message, "type": one.type, "param": None, "code": one.code}}
    return web.json_response(body, status=one.status, headers=headers)


def _usage(answer: Said) -> Json | None:
    if answer.usage is None:
        return None
    given, made = answer.usage
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _calls(answer: Said) -> list[Json]:
    return [
        {
            "index": place,
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for place, (name, arguments) in enumerate(answer.calls)
    ]


def _whole(answer: Said, model: str) -> Json:
    """An answer in one piece."""
    message: Json = {"role": "assistant", "content": answer.content, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [{key: one[key] for key in ("id", "type", "function")} for one in _calls(answer)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}
    head: Json = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": model}
    return {**head, "choices": [choice], "usage": _usage(answer)}


def _chunks(answer: Said, model: str, *, with_usage: bool) -> list[Json]:
    """An answer in chunks: the role, the text or the calls, the reason of the end, the usage."""
    head: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": model}

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    chunks = [chunk({"role": "assistant", "content": None if answer.content is None else ""})]
    content = answer.content or ""
    step = max(1, -(-len(content) // max(1, answer.pieces)))
    chunks += [chunk({"content": content[at : at + step]}) for at in range(0, len(content), step)]
    chunks += [chunk({"tool_calls": [one]}) for one in _calls(answer)]
    chunks.append(chunk({}, answer.finish))
    if with_usage and answer.usage is not None:
        chunks.append({**head, "choices": [], "usage": _usage(answer)})
    return chunks


async def _streamed(answer: Said, asked: Json, request: web.Request) -> web.StreamResponse:
    """Server-sent events; a cut stream loses its connection, or its end."""
    options = asked.get("stream_options")
    with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    chunks = _chunks(answer, str(asked["model"]), with_usage=with_usage)
    for number, chunk in enumerate(chunks[: answer.cut_after]):
        if number == answer.holds_after:
            await asyncio.Event().wait()
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    if answer.cut_after is None:
        await response.write(b"data: [DONE]\n\n")
    elif not answer.ends_early and request.transport is not None:
        request.transport.abort()
        return response
    await response.write_eof()
    return response


# -- what OpenAI refuses ------------------------------------------------------------------------------------------

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def fault_in(asked: Json) -> str:
    """Why OpenAI refuses a request; '' where it does not."""
    messages = asked.get("messages")
    if not isinstance(messages, list) or not messages:
        return "[] is too short - 'messages'"
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        if why := _fault_of(message, waiting):
            return f"Invalid 'messages[{place}]': {why}"
    if waiting:
        return f"An assistant message with 'tool_calls' must be followed by tool messages; missing: {sorted(waiting)}"
    return ""


def _fault_of(message: Json, waiting: set[str]) -> str:
    """Why one message is refused. `waiting`: the calls that have no result yet; kept."""
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        return f"role {role!r} is none of {sorted(ROLES)}"
    if role == "tool":
        if message.get("tool_call_id") not in waiting:
            return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        waiting.discard(str(message.get("tool_call_id")))
        return ""
    if waiting:
        return f"'tool_calls' must be followed by tool messages; missing: {sorted(waiting)}"
    calls = message.get("tool_calls")
    if role == "assistant" and isinstance(calls, list):
        waiting.update(str(one["id"]) for one in calls)
    if content in (None, "", []) and not calls:
        return f"content of a message of role {role!r} is empty"
    return ""


def contents(asked: Json, role: str = "") -> list[str]:
    """The texts of a request's messages, of one role or of all."""
    messages = asked.get("messages")
    found: Sequence[Json] = messages if isinstance(messages, list) else []
    return [str(one.get("content") or "") for one in found if not role or one.get("role") == role]
