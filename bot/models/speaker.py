"""The agent with a model: for now the message and the conversation, as plain text; streamed, tried twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import structlog
from pydantic_ai import Agent as Runner
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models import Model

from bot.agent import Ask, Doors, Reply, Show
from bot.models.failures import AGAIN, Failure, ModelFailed, failed, foreign, translated
from bot.models.limits import TurnLimits
from bot.models.spending import Meter
from memory_core.messages import Voice
from memory_core.tokens import Counter

_log = structlog.get_logger()


class Speaker:
    """Speaks through a model (bot.agent.Agent)."""

    def __init__(
        self,
        model: Model,
        *,
        counter: Counter,
        meter: Meter,
        limits: TurnLimits,
        window_tokens: int,
        timeout_s: float,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._runner = Runner(model, instructions="You are remem.", retries=0)
        self._pause, self._chance = pause, chance

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """The model's answer. Raises ModelFailed."""
        try:
            return await self._once(ask)
        except ModelFailed as first:
            _log.warning("the model failed", kind=first.failure.value, why=first.why)
            if first.failure not in AGAIN:
                raise
            wait_s = first.wait_s if first.wait_s is not None else 1 + self._chance()
            if wait_s > 30:
                raise
            await self._pause(wait_s)
        return await self._once(ask)

    async def _once(self, ask: Ask) -> Reply:
        text = ""
        try:
            async with self._runner.run_stream(ask.message.text, message_history=_history(ask)) as result:
                async for text in result.stream_text(debounce_by=None):  # noqa: B007
                    pass
        except foreign() as error:
            raise translated(error) from None
        if not text.strip() or "<html" in text.lower():
            raise failed(Failure.UNUSABLE, "empty")
        return Reply(text)


def _history(ask: Ask) -> list[ModelMessage]:
    said: list[ModelMessage] = []
    for entry in [*ask.context.tail, *ask.context.fresh]:
        if entry.message.key == ask.message.key:
            continue
        mine = entry.message.voice is Voice.SELF
        said.append(
            ModelResponse([TextPart(entry.message.text)])
            if mine
            else ModelRequest.user_text_prompt(entry.message.text)
        )
    return said
