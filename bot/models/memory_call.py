"""One request to the model that reads conversations, in one of two forms, and what it cost.

    TOOL        the model must call `keep`, whose arguments have the schema of the candidates
    PROMPTED    the model is asked for JSON and shows it as text: for servers and models without tools

The request goes past pydantic-ai's agent on purpose: an agent rejects an answer as a whole where one field is wrong,
and asks again with the faulty answer in its history. Here what is usable is taken, and the second try is a fresh one.
The library's errors come out as `ModelFailed` (bot.models.failures); a request that takes longer than `timeout_s`
does too, whatever the provider's client thinks of it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from bot.models.failures import foreign, translated
from bot.models.providers import parts_of
from bot.models.schema import Answer, Reading, read
from bot.models.spending import Run
from bot.models.transcript import INSTRUCTIONS, SHAPE

_SCHEMA = Answer.model_json_schema(by_alias=False)
_TOOL = ToolDefinition(
    name="keep",
    description="Hand over what of the conversation is worth remembering; an empty list where nothing is.",
    parameters_json_schema=_SCHEMA,
    kind="output",
)
_AS_TEXT = (
    f"Answer with one JSON object of this shape and with nothing else, no prose, no fence:\n{SHAPE}\n"
    'Where nothing is worth keeping: {"candidates": []}'
)
_AS_CALL = "Call `keep` once with all candidates."


class Shape(StrEnum):
    """How an answer is asked for."""

    TOOL = "tool"
    PROMPTED = "prompted"


ENVELOPE = "\n".join((INSTRUCTIONS, _AS_TEXT, str(_SCHEMA)))
"""Rather more than any request holds beside the conversation, for counting."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back, and what it cost."""

    reading: Reading
    run: Run
    written: str
    """All that was written, for counting."""


def shapes_for(model: Model) -> tuple[Shape, Shape]:
    """The shapes in the order in which a model is asked: as it, or the first of its fallbacks, does it best."""
    profile = parts_of(model)[0].profile
    tools = (
        profile.get("supports_tools", True) and profile.get("default_structured_output_mode", "tool") != "prompted"
    )
    return (Shape.TOOL, Shape.PROMPTED) if tools else (Shape.PROMPTED, Shape.TOOL)


async def ask(model: Model, told: str, shape: Shape, *, counted_tokens: int, timeout_s: float) -> Heard:
    """Ask once. `told` is the conversation in its frame, `counted_tokens` our count of the request.

    Raises ModelFailed.
    """
    if shape is Shape.TOOL:
        wanted = ModelRequestParameters(output_mode="tool", output_tools=[_TOOL], allow_text_output=False)
    else:
        wanted = ModelRequestParameters(output_mode="text")
    prompt = f"{told}\n\n{_AS_CALL if shape is Shape.TOOL else _AS_TEXT}"
    request = ModelRequest(parts=[UserPromptPart(prompt)], instructions=INSTRUCTIONS)
    try:
        async with asyncio.timeout(timeout_s):
            response = await model_request(
                model,
                [request],
                model_settings=ModelSettings(timeout=timeout_s),
                model_request_parameters=wanted,
            )
    except foreign() as error:
        raise translated(error) from error
    return Heard(_read(response), _run(response, model, counted_tokens), _written(response))


def _read(response: ModelResponse) -> Reading:
    """What the calls of the tool hand over, whatever they call it, together; else what the text says."""
    calls = [read(part.args) for part in response.parts if isinstance(part, ToolCallPart)]
    text = "\n".join(part.content for part in response.parts if isinstance(part, TextPart))
    readings = [reading for reading in calls if reading.found] or [read(text)]
    return Reading(
        drafts=tuple(draft for reading in readings for draft in reading.drafts),
        left_out=sum(reading.left_out for reading in readings),
        found=any(reading.found for reading in readings),
        whole=all(reading.whole for reading in readings) and response.finish_reason != "length",
    )


def _written(response: ModelResponse) -> str:
    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    return "\n".join([*calls, *(part.content for part in response.parts if isinstance(part, TextPart))])


def _run(response: ModelResponse, model: Model, counted_tokens: int) -> Run:
    used = response.usage
    return Run(
        model=model.model_name,  # the name that was asked: the limits and what is learnt go by it
        requests=1,
        input_tokens=used.input_tokens,
        cached_tokens=used.cache_read_tokens,
        output_tokens=used.output_tokens,
        counted_tokens=counted_tokens,
        cost_usd=_cost(response),
    )


def _cost(response: ModelResponse) -> float | None:
    """What the library's price list says; None where it knows no such model."""
    if not response.model_name:
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None
