"""For tests of reading by a model: pydantic-ai's own FunctionModel, answers of any shape, a meter that counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.models.extraction import ModelExtractor
from bot.models.failures import Failure, ModelFailed
from bot.models.spending import Run
from memory_core.candidates import Candidate, Request
from memory_core.extract import RulesExtractor
from memory_core.ids import Scope
from memory_core.ledger.usage import Purpose
from memory_core.redact.mask import load
from memory_core.tokens import EstimatingCounter

load()  # the program does so at its start, in a thread

Answer = str | dict[str, object] | Exception
"""Text, the arguments of a call of the tool, or what the library raises."""


def draft(kind: str, text: str, *sources: str, **more: object) -> dict[str, object]:
    """One candidate as a model writes it."""
    return {"kind": kind, "text": text, "sources": list(sources), **more}


def answer(*drafts: dict[str, object]) -> dict[str, object]:
    """A whole answer."""
    return {"candidates": list(drafts)}


def in_prose(*drafts: dict[str, object]) -> str:
    """A whole answer as text."""
    return json.dumps(answer(*drafts), ensure_ascii=False)


@dataclass(slots=True)
class Money:
    """A meter that remembers what was spent, and refuses after `left` requests."""

    left: int = 1_000_000
    runs: list[Run] = field(default_factory=list)
    learnt: float = 1.0

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """Refuse where nothing is left."""
        assert purpose is Purpose.MEMORY
        if self.left <= 0:
            raise ModelFailed(Failure.DAY, "The day's tokens are used up.")
        self.left -= 1

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Remember the run."""
        self.runs.append(run)

    def factor(self, model: str) -> float:
        """What was learnt."""
        return self.learnt


@dataclass(slots=True)
class CountingRules:
    """The rules; counts how often they are asked."""

    asked: int = 0

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The rules' candidates."""
        self.asked += 1
        return await RulesExtractor().extract(request)


@dataclass(slots=True)
class Reader:
    """An extractor whose model gives these answers, one after the other, the last again and again."""

    answers: Sequence[Answer] | Callable[[str], Answer]
    window_tokens: int = 8000
    timeout_s: float = 5.0
    money: Money = field(default_factory=Money)
    rules: CountingRules = field(default_factory=CountingRules)
    prompts: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)

    def extractor(self) -> ModelExtractor:
        """The extractor."""
        return ModelExtractor(
            FunctionModel(self.respond, model_name="reader"),
            self.rules,
            counter=EstimatingCounter(),
            meter=self.money,
            window_tokens=self.window_tokens,
            timeout_s=self.timeout_s,
        )

    async def read(self, request: Request) -> Sequence[Candidate]:
        """What is made of a conversation."""
        return await self.extractor().extract(request)

    async def respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """The next answer, as pydantic-ai asks for it."""
        (request,) = messages
        assert isinstance(request, ModelRequest)
        (part,) = request.parts
        assert isinstance(part, UserPromptPart)
        assert isinstance(part.content, str)
        self.prompts.append(part.content)
        self.shapes.append("tool" if info.output_tools else "prompted")
        if callable(self.answers):
            given = self.answers(part.content)
        else:
            given = self.answers[min(len(self.prompts), len(self.answers)) - 1]
        if isinstance(given, Exception):
            raise given
        if isinstance(given, str):
            return ModelResponse(parts=[TextPart(given)])
        return ModelResponse(parts=[ToolCallPart("keep", json.dumps(given, ensure_ascii=False))])
