"""One answer's requests: each fits into the model's window, the first and those that follow calls of tools.

    window = head + tools + what is told + what came since (calls, their results) + room for the answer

What came since is never cut from the middle: first the conversation before it goes, oldest first (prompt.fitted),
then the texts that tools brought, oldest first. What has no room even then is too long for the model.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.agent import Ask
from bot.models.failures import Failure, failed
from bot.models.marks import LABEL_CHARACTERS
from bot.models.prompt import (
    PER_ITEM_TOKENS,
    PERSONA_SHARE,
    ItemKind,
    Measure,
    fitted,
    framed,
    head,
    items,
    least_question_tokens,
    messages,
)
from bot.models.tools import tools
from bot.models.words import DEFAULT_PERSONA

ANSWER_TOKENS = 4096
"""How long an answer may be, thoughts included; at most a quarter of the window."""
SPARE_TOKENS = 64
GONE = "[what this call brought is left out here, because the request would be too long]"


class FittedRequest:
    """The requests for one answer. Raises ModelFailed(TOO_LONG) for a window that holds no question."""

    def __init__(self, ask: Ask, measure: Measure, window_tokens: int) -> None:
        self.answer_tokens = _answer_tokens(window_tokens)
        self.head = head(ask, measure, _persona_tokens(window_tokens, measure))
        self.sent = 0
        self._measure = measure
        self.missing = set[str]()
        """What the request says could not be shown."""
        self._told = items(ask, self.missing)
        self._fixed_tokens = measure.text(self.head) + measure.text(_TOOLS) + PER_ITEM_TOKENS
        self._room_tokens = window_tokens - self.answer_tokens - self._fixed_tokens - SPARE_TOKENS
        self._now = fitted(self._told, self._room_tokens, measure)
        self._check()
        self._last_tokens = 0
        self._counted = 0

    def messages(self) -> list[ModelMessage]:
        """The first request's messages."""
        return messages(self._now)

    async def fit(self, said: list[ModelMessage]) -> list[ModelMessage]:
        """What is sent next, within the window; `said` is the request's beginning and what came since."""
        since = said[self._end(said) :]
        room = self._room_tokens - self._count(since)
        if sum(map(self._measure.item, self._now)) > room:
            self._now = fitted(self._told, max(room, self._least()), self._measure)
            self._check()
            since = self._lightened(since)
            begun = messages(self._now)
            said = [*begun, *since]
        self.sent += 1
        told = sum(map(self._measure.item, self._now))
        self._last_tokens = self._fixed_tokens + told + self._count(since)
        return said

    @property
    def asked_tokens(self) -> int:
        """What we count for the last request, as its provider would; 0 where it was answered, or none was sent."""
        return self._last_tokens

    def was_answered(self) -> None:
        """The last request got its answer: its tokens are comparable with what the provider reports."""
        self._counted += self._last_tokens
        self._last_tokens = 0

    def written_tokens(self, written: ModelResponse | str) -> int:
        """What we count for an answer, or the beginning of one, as its provider would."""
        return self._measure.text(written) if isinstance(written, str) else self._count([written])

    @property
    def counted_tokens(self) -> int:
        """What we counted for all requests that were answered, by our own counter."""
        return round(self._counted / self._measure.factor)

    def _check(self) -> None:
        if not self._now or self._now[-1].kind is not ItemKind.SAID:
            raise failed(Failure.TOO_LONG, f"{self._room_tokens} tokens are left for the conversation")

    def _end(self, said: Sequence[ModelMessage]) -> int:
        """Where the beginning ends: behind the message that is answered."""
        asked = self._now[-1].text
        for at in range(len(said) - 1, -1, -1):
            parts = said[at].parts if isinstance(said[at], ModelRequest) else ()
            if any(isinstance(part, UserPromptPart) and part.content == asked for part in parts):
                return at + 1
        return len(said)

    def _least(self) -> int:
        """The room that the message itself is never denied, as far as the window has it."""
        return min(self._room_tokens // 2, self._measure.item(self._told[-1]) + 3 * PER_ITEM_TOKENS + SPARE_TOKENS)

    def _lightened(self, since: Sequence[ModelMessage]) -> list[ModelMessage]:
        """What came since without the oldest texts of tools that have no room. Raises ModelFailed(TOO_LONG)."""
        left = list(since)
        room = self._room_tokens - sum(map(self._measure.item, self._now))
        for at, message in enumerate(left):
            if self._count(left) <= room:
                return left
            if isinstance(message, ModelRequest):
                left[at] = replace(message, parts=[_light(part) for part in message.parts])
        if self._count(left) > room:
            raise failed(Failure.TOO_LONG, f"{self._count(left)} tokens came since, {room} fit")
        return left

    def _count(self, said: Sequence[ModelMessage]) -> int:
        return sum(self._measure.text(text) + PER_ITEM_TOKENS for message in said for text in _texts(message))


def least_to_answer_tokens(measure: Measure) -> int:
    """The smallest window in which a turn is answered: rules, tools, a brief persona, a question, an answer.

    A longer persona is cut as far as that; for memory there is little room in it.
    """
    persona = measure.text(DEFAULT_PERSONA)
    fixed = -_spare_tokens(0, measure)
    # What is spare grows with the window, so the first with enough of it is found by halving.
    windows_tokens = range(fixed, 2 * (fixed + persona))
    return windows_tokens[bisect_left(windows_tokens, persona, key=lambda one: _spare_tokens(one, measure))]


def _answer_tokens(window_tokens: int) -> int:
    return max(1, min(ANSWER_TOKENS, window_tokens // 4))


def _persona_tokens(window_tokens: int, measure: Measure) -> int:
    """The room for the persona: its share, less where a question would have no room beside it."""
    return max(0, min(int(window_tokens * PERSONA_SHARE), _spare_tokens(window_tokens, measure)))


def _spare_tokens(window_tokens: int, measure: Measure) -> int:
    """What a window has beside all that every turn needs; the persona can have it."""
    fixed = measure.text(framed("", _LONG_PLACE)) + measure.text(_TOOLS) + PER_ITEM_TOKENS + SPARE_TOKENS
    return window_tokens - _answer_tokens(window_tokens) - fixed - least_question_tokens(measure)


def _light(part: ModelRequestPart) -> ModelRequestPart:
    if not isinstance(part, ToolReturnPart):
        return part
    return ToolReturnPart(part.tool_name, GONE, part.tool_call_id)


def _texts(message: ModelMessage) -> list[str]:
    """Everything of a message that is sent."""
    found = []
    for part in message.parts:
        match part:
            case ToolReturnPart():
                found.append(part.model_response_str())
            case ToolCallPart():
                found.append(f"{part.tool_name}{part.args_as_json_str()}")
            case TextPart() | ThinkingPart():
                found.append(part.content)
            case UserPromptPart(content=str(text)):
                found.append(text)
            case _:
                found.append(str(getattr(part, "content", "")))
    return found


def _tools_as_sent() -> str:
    """The tools as a provider gets them, for counting."""
    defined = [tool.tool_def for tool in tools()]
    return json.dumps([[one.name, one.description, one.parameters_json_schema] for one in defined])


_TOOLS = _tools_as_sent()
_LONG_PLACE = "This is the group " + "名" * LABEL_CHARACTERS
"""More than any place takes in the head."""
