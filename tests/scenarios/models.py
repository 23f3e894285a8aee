"""Models for scenarios: pydantic-ai's own FunctionModel that does what a test tells it, and the speaker around it.

model = Model([calls("memory_open", page="people"), "Ben runs the builds."])
async with terminal(workspace, agent=speaking(model)) as screen: …
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from bot.models.limits import TurnLimits
from bot.models.speaker import Speaker
from bot.models.spending import Run
from memory_core.ids import Scope
from memory_core.ledger.usage import Purpose
from memory_core.tokens import load_counter

COUNTER = load_counter()

Answer: TypeAlias = str | DeltaToolCalls


@dataclass(slots=True)
class Books:
    """A meter without limits that keeps what was spent."""

    runs: list[tuple[Scope, Run]] = field(default_factory=list)

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """There is always something left."""

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Keep it."""
        self.runs.append((scope, run))

    def factor(self, model: str) -> float:
        """As we count."""
        return 1.0


@dataclass(slots=True)
class Model:
    """Answers with the next of `script`, word by word where it is text; with `otherwise` when that is at its end."""

    script: list[Answer] = field(default_factory=list)
    otherwise: str = "I have nothing to add."
    requests: list[list[ModelMessage]] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by a test: the model writes no further than a `|` before that."""

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Answer]:
        """The next answer."""
        self.requests.append(list(messages))
        answer = self.script.pop(0) if self.script else self.otherwise
        if not isinstance(answer, str):
            yield answer
            return
        for word in answer.split(" "):
            if word == "|":
                await self.go_on.wait()
            else:
                yield f"{word} "

    @property
    def results(self) -> list[str]:
        """What the tools answered in the last request, in order."""
        last = self.requests[-1][-1]
        assert isinstance(last, ModelRequest)
        return [str(part.content) for part in last.parts if isinstance(part, ToolReturnPart)]

    @property
    def told(self) -> list[str]:
        """What the last request told, without what tools answered, oldest first."""
        parts = [part for message in self.requests[-1] for part in message.parts]
        return [str(part.content) for part in parts if isinstance(part, UserPromptPart)]


def calls(*tools: str, **arguments: object) -> DeltaToolCalls:
    """Calls of tools at once, all with the same arguments."""
    return {
        at: DeltaToolCall(tool, json.dumps(arguments), tool_call_id=f"{tool}-{at}-{len(str(arguments))}")
        for at, tool in enumerate(tools)
    }


def speaking(
    model: Model,
    *,
    books: Books | None = None,
    limits: TurnLimits | None = None,
    window_tokens: int = 32_000,
) -> Speaker:
    """The speaker with that model."""
    return Speaker(
        FunctionModel(stream_function=model, model_name="scripted"),
        counter=COUNTER,
        meter=books or Books(),
        limits=limits or TurnLimits(),
        window_tokens=window_tokens,
        timeout_s=20,
    )


def texts(requests: Sequence[Sequence[ModelMessage]]) -> str:
    """Everything that went to the model, in one text."""
    parts = [part for request in requests for message in request for part in message.parts]
    return "\n".join(str(getattr(part, "content", "")) for part in parts)
