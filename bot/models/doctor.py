"""`remem doctor` asks each model of the settings: does it answer, how fast, how much fits, tools, structured output.

    answer       one token (OpenAI's least is 16), with the time that it took and the context that counts
    tools        a tool that must be called to answer: memory_open and memory_search need that
    structure    a value in a fixed form: what is read when a conversation is saved comes so

A model without an answer is asked no further. Every question ends after ASK_S, or REMEM_MODEL_TIMEOUT_S where that is
less. It costs some hundred tokens a model. What went wrong is told by kind and code, never in the provider's words,
which may repeat a key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import TypeVar

from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel
from pydantic_ai import Agent, PromptedOutput
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.usage import UsageLimits

from adapters.base import Check
from bot.models.failures import Failure, ModelFailed, failed, foreign, translated
from bot.models.providers import Chosen, chosen, parts_of, window_of
from bot.models.room import reads_nothing, require_room
from bot.settings import Settings
from memory_core.errors import BadInput
from memory_core.tokens import load_counter

ASK_S = 30.0
"""The longest that one question takes."""
LEAST_TOKENS = 16
"""The smallest answer that every provider lets one ask for."""
FEW_REQUESTS = 3

_T = TypeVar("_T")


class _Fact(BaseModel):
    """What was decided."""

    subject: str
    decided: bool


async def model_checks(settings: Settings) -> tuple[Check, ...]:
    """What is found of the models that are set."""
    try:
        models = await asyncio.to_thread(chosen, settings)
        counter = await asyncio.to_thread(load_counter)
        require_room(models, settings, counter)
    except BadInput as refused:
        return (Check("model", ok=False, found="cannot be used", next_step=str(refused)),)
    checks = [
        Check("model", ok=True, found="of a name that is not known", next_step=doubt) for doubt in models.doubts
    ]
    checks += [
        Check("model", ok=True, found="with a small window", next_step=small)
        for small in reads_nothing(models, counter)
    ]
    for model in _each(models):
        async with model:
            checks += await _asked(model, settings)
    return tuple(checks)


def _each(models: Chosen) -> list[Model]:
    """Every model once, in the order in which they are asked."""
    found = [*parts_of(models.reply)] if models.reply is not None else []
    return found + [one for one in parts_of(models.memory) if one not in found]


async def _asked(model: Model, settings: Settings) -> list[Check]:
    name = model.model_name
    longest = min(ASK_S, settings.model_timeout_s)
    began = time.monotonic()
    try:
        await _bounded(lambda: _answer(model), longest)
    except ModelFailed as why:
        step = await _step(why, model, settings)
        return [Check(f"model {name}", ok=False, found=f"no answer ({why.why})", next_step=step)]
    found = f"answers in {time.monotonic() - began:.1f} s; {_window(model, settings)}"
    tools, structure = "calls them", "works"
    steps = ["", ""]
    try:
        await _bounded(lambda: _tool(model), longest)
    except ModelFailed as why:
        tools = f"calls none ({why.why})"
        steps[0] = "choose a model that calls tools; this one sees only what was loaded for the message"
    try:
        structure = await _bounded(lambda: _structure(model), longest)
    except ModelFailed as why:
        structure = f"gives none ({why.why})"
        steps[1] = "set REMEM_MEMORY_MODEL to a model that can; until then rules find what is worth keeping"
    return [
        Check(f"model {name}", ok=True, found=found),
        Check(f"tools of {name}", ok=not steps[0], found=tools, next_step=steps[0]),
        Check(f"structured output of {name}", ok=not steps[1], found=structure, next_step=steps[1]),
    ]


def _window(model: Model, settings: Settings) -> str:
    """How much fits into a request, and who says so."""
    if settings.model_window:
        return f"{settings.model_window:,} tokens fit into a request (REMEM_MODEL_WINDOW)"
    source = "known of the model" if model.context_window else "assumed: set REMEM_MODEL_WINDOW"
    return f"{window_of(model):,} tokens fit into a request ({source})"


# -- the questions ------------------------------------------------------------------------------------------------


async def _bounded(question: Callable[[], Awaitable[_T]], longest_s: float) -> _T:
    """The result of a question. Raises ModelFailed."""
    try:
        async with asyncio.timeout(longest_s):
            return await question()
    except foreign() as error:
        raise translated(error) from error


async def _answer(model: Model) -> None:
    """Whatever it says is an answer: a model that thinks first has not begun to speak after so few tokens."""
    said = [ModelRequest.user_text_prompt("Say: ok")]
    await model_request(model, said, model_settings={"max_tokens": LEAST_TOKENS})


async def _tool(model: Model) -> None:
    """Does it call a tool, with the argument that was asked for?"""
    words: list[str] = []
    asking = Agent(model, instructions="Answer only with what the tools tell you.", retries=1)

    @asking.tool_plain
    def memory_open(page: str) -> str:
        """Open a page of the memory by its name."""
        words.append(page)
        return "We decided to use Redis."

    await asking.run("What stands on the page `decisions`?", usage_limits=UsageLimits(request_limit=FEW_REQUESTS))
    if not any("decisions" in word for word in words):
        raise failed(Failure.UNUSABLE, "it answered without the tool" if not words else "with other arguments")


async def _structure(model: Model) -> str:
    """In which form it gives a value: by a tool, else as JSON that was asked for in words."""
    said, limits = "We decided to use Redis for the session cache.", UsageLimits(request_limit=FEW_REQUESTS)
    try:
        await Agent(model, output_type=_Fact, retries=1).run(said, usage_limits=limits)
    except foreign() as error:
        if translated(error).failure not in (Failure.UNUSABLE, Failure.SETUP, Failure.LIMIT):
            raise
        await Agent(model, output_type=PromptedOutput(_Fact), retries=1).run(said, usage_limits=limits)
        return "works, as JSON in the text"
    return "works"


# -- the next step --------------------------------------------------------------------------------------------------


async def _step(why: ModelFailed, model: Model, settings: Settings) -> str:
    """What to do where a model does not answer."""
    status = getattr(why.__cause__, "status_code", None)
    server = settings.model_base_url
    where = (
        f"REMEM_MODEL_BASE_URL ({server.rpartition('@')[2]})"
        if server
        else "the network, and the provider's status page"
    )
    if status in (401, 403):
        return "the key is not taken; look at REMEM_MODEL_KEY, or the provider's own variable"
    if status == 404:
        end = (
            "" if not server or server.rstrip("/").endswith("/v1") else " REMEM_MODEL_BASE_URL ends in /v1 as a rule."
        )
        return f"no such model there; {await _nearest(model)}.{end}"
    match why.failure:
        case Failure.DOWN:
            return f"see that the server runs; look at {where}"
        case Failure.SLOW:
            return "choose a faster model, or raise REMEM_MODEL_TIMEOUT_S"
        case Failure.BUSY:
            return "wait, raise the limit with the provider, or name others in REMEM_MODEL_FALLBACKS"
        case Failure.UNUSABLE:
            return f"no model's server answers there; look at {where}"
        case _:
            return "look at the provider's account and the model's name"


async def _nearest(model: Model) -> str:
    """The names that the server itself has, the nearest first."""
    client = model.provider.client if model.provider is not None else None
    nothing = "look at its name in REMEM_MODEL"
    if not isinstance(client, AsyncOpenAI):
        return nothing
    try:
        async with asyncio.timeout(ASK_S):
            names = [one.id async for one in client.with_options(max_retries=0).models.list()]
    except (OpenAIError, TimeoutError, ValueError, AttributeError):  # a server without a list, or with another one
        return nothing
    near = get_close_matches(model.model_name, names, n=1, cutoff=0.5)
    listed = [*near, *(name for name in sorted(names) if name not in near)][:5]
    return f"the server has: {', '.join(listed)}" if listed else nothing
