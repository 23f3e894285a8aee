"""The agent that speaks through a model: prompt → stream → answer (bot.agent.Agent).

    check      may this memory spend anything today? (the meter)
    ask        the request, fitted into the window; again before every further request of the same answer
    listen     what is written is shown as far as it goes, without what is thought aloud
    call       tools, within the limits of one answer
    again      one failed request is tried once more, where its kind allows it and nothing was shown yet
    spend      what was used goes to the meter, whatever became of the answer

A second try goes on where the first failed: what tools brought stays in the request. Every request has a time of its
own, all of them together have a deadline. The library's errors leave here as ModelFailed (bot.models.failures).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import structlog
from pydantic_ai import Agent, AgentRun, ModelRequestNode
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage, UsageLimits

from bot.agent import Ask, Doors, Reply, Show
from bot.models.failures import AGAIN, AT_WORK, Failure, ModelFailed, failed, foreign, translated
from bot.models.limits import TurnLimits
from bot.models.prompt import Measure
from bot.models.quoting import quoted
from bot.models.request import FittedRequest
from bot.models.spending import Meter, Run
from bot.models.tools import Calls, tools
from bot.models.visible import visible
from memory_core.errors import RememError
from memory_core.ids import Scope
from memory_core.ledger.usage import Purpose
from memory_core.tokens import Counter

PAUSE_S = 1.0
"""How long to wait before the second try, with up to as much again by chance, where the server asks for nothing."""
LONGEST_PAUSE_S = 30.0
"""A server that asks for more is not asked again for this answer."""
CUT_OFF = "(My answer ends here, because it reached the model's limit.)"

_log = structlog.get_logger()


@dataclass(slots=True)
class _Answer:
    """One answer while it is made."""

    request: FittedRequest
    calls: Calls
    show: Show
    usage: RunUsage = field(default_factory=RunUsage)
    written: list[str] = field(default_factory=list)
    """What each response has written, thoughts included."""
    shown: str = ""
    cut_off: bool = False
    estimated_input_tokens: int = 0
    estimated_output_tokens: int = 0
    """What no provider reported, by our own count: some servers report nothing, no cut stream does."""

    def text(self, *, growing: bool = False) -> str:
        """What a person sees of it."""
        *before, last = self.written or [""]
        parts = [*(visible(text) for text in before), visible(last, growing=growing)]
        return "\n\n".join(part for part in parts if part)

    @property
    def tokens(self) -> int:
        """What it has used, in and out, reported or estimated."""
        reported = self.usage.input_tokens + self.usage.output_tokens
        return reported + self.estimated_input_tokens + self.estimated_output_tokens

    def estimate(self, written: ModelResponse | str, *, reported: tuple[int, int]) -> None:
        """Count what was asked and written last, as far as its provider has not `reported` it (in, out)."""
        if not reported[0]:
            self.estimated_input_tokens += self.request.asked_tokens
        if not reported[1]:
            self.estimated_output_tokens += self.request.written_tokens(written)

    async def grew(self) -> None:
        """Show it as far as it goes."""
        text = self.text(growing=True)
        if text and text != self.shown:
            self.shown = text
            await self.show(text)


class Speaker:
    """Answers through a model. `window_tokens`: what one request and its answer may have together.

    `timeout_s` is for one request. `pause` and `chance` are the waiting before a second try.
    """

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
        self._model = model
        self._counter = counter
        self._meter = meter
        self._limits = limits
        self._window_tokens = window_tokens
        self._timeout_s = timeout_s
        self._pause = pause
        self._chance = chance
        self._agent: Agent[Calls, str] = Agent(
            model,
            name="remem",
            deps_type=Calls,
            tools=tools(),
            # A call that fits no tool is told so, and counts like any other (Calls): our limits end it, not these.
            retries={"tools": limits.requests, "output": 0},
        )

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """The model's answer. Raises ModelFailed, and what the meter raises before anything is asked."""
        await self._meter.check(ask.scope, Purpose.REPLY)
        measure = Measure(self._counter, self._meter.factor(self._model.model_name))
        request = FittedRequest(ask, measure, self._window_tokens)
        answer = _Answer(request, Calls(doors, self._limits, request.missing), show)
        try:
            text = await self._in_time(answer)
        finally:
            await asyncio.shield(self._spend(ask.scope, answer))
        return Reply(text, quoted(text, ask.message.text, [*ask.disclosures, *answer.calls.brought]))

    async def _in_time(self, answer: _Answer) -> str:
        """The answer before the deadline."""
        try:
            async with asyncio.timeout(self._limits.seconds) as deadline:
                return await self._whole(answer)
        except TimeoutError as late:
            if deadline.expired():
                raise failed(Failure.LIMIT, f"{self._limits.seconds:g} s for one answer") from late
            raise translated(late) from late

    async def _whole(self, answer: _Answer) -> str:
        """The answer, with one more try where that is allowed."""
        history = answer.request.messages()
        try:
            await self._run(answer, history)
        except _Stopped as stopped:
            wait_s = self._wait_s(stopped.failure)
            if stopped.failure.failure not in AGAIN or answer.shown or wait_s > LONGEST_PAUSE_S:
                raise stopped.failure from stopped
            _log.info(
                "asking once more", failure=stopped.failure.failure.value, why=stopped.failure.why, wait_s=wait_s
            )
            await self._pause(wait_s)
            try:
                await self._run(answer, stopped.history or history)
            except _Stopped as again:
                raise again.failure from again
        return f"{answer.text()}\n\n{CUT_OFF}" if answer.cut_off else answer.text()

    def _wait_s(self, failure: ModelFailed) -> float:
        if failure.wait_s is not None:
            return max(0.0, failure.wait_s)
        return PAUSE_S * (1 + self._chance())

    async def _run(self, answer: _Answer, history: Sequence[ModelMessage]) -> None:
        """Ask until the model has answered. Raises _Stopped, with what was said between us until then."""
        run: AgentRun[Calls, str] | None = None
        del answer.written[:]
        try:
            async with self._agent.iter(
                message_history=history,
                deps=answer.calls,
                instructions=answer.request.head,
                model_settings=ModelSettings(max_tokens=answer.request.answer_tokens, timeout=self._timeout_s),
                usage=answer.usage,
                usage_limits=UsageLimits(request_limit=self._limits.requests, total_tokens_limit=self._limits.tokens),
                capabilities=[ProcessHistory(answer.request.fit)],
            ) as run:
                async for node in run:
                    if Agent.is_model_request_node(node):
                        await self._listen(node, run, answer)
                    elif Agent.is_call_tools_node(node):
                        self._count(answer, node.model_response)
                        answer.cut_off = node.model_response.finish_reason == "length"
                        answer.calls.come(node.model_response.tool_calls)
            if not answer.text():
                raise failed(Failure.UNUSABLE, "an empty answer, or a page of HTML")
        except ModelFailed as failure:
            raise _Stopped(failure, _so_far(run)) from failure
        except foreign() as error:
            raise _Stopped(translated(error), _so_far(run)) from error

    async def _listen(self, node: ModelRequestNode[Calls, str], run: AgentRun[Calls, str], answer: _Answer) -> None:
        """One request: take what is written, and show it."""
        before = (answer.usage.input_tokens, answer.usage.output_tokens)
        at_work, whole = False, False
        answer.written.append("")
        try:
            async with asyncio.timeout(self._timeout_s), node.stream(run.ctx) as stream:
                at_work = True
                await _take(stream, answer)
            whole = True
        except asyncio.CancelledError:
            at_work = True
            raise
        except foreign() as error:
            at_work = at_work or translated(error).failure in AT_WORK
            raise
        finally:
            if at_work and not whole:
                now = (answer.usage.input_tokens, answer.usage.output_tokens)
                answer.estimate(answer.written[-1], reported=(now[0] - before[0], now[1] - before[1]))

    def _count(self, answer: _Answer, response: ModelResponse) -> None:
        """A response came. Raises ModelFailed where tokens that nobody reported are more than one answer may have."""
        used = response.usage
        answer.estimate(response, reported=(used.input_tokens, used.output_tokens))
        answer.request.was_answered()
        if answer.tokens > self._limits.tokens:  # what is reported, the library counts itself
            raise failed(Failure.LIMIT, f"about {answer.tokens} tokens for one answer")

    async def _spend(self, scope: Scope, answer: _Answer) -> None:
        """Tell the meter. An answer that stands already is not taken back because its price could not be kept."""
        usage = answer.usage
        run = Run(
            model=self._model.model_name,
            requests=max(usage.requests, answer.request.sent),
            tool_calls=answer.calls.made,
            input_tokens=usage.input_tokens + answer.estimated_input_tokens,
            cached_tokens=usage.cache_read_tokens,
            output_tokens=usage.output_tokens + answer.estimated_output_tokens,
            counted_tokens=answer.request.counted_tokens,
            cost_usd=float(usage.cost) if usage.cost is not None else None,
            estimated=bool(answer.estimated_input_tokens + answer.estimated_output_tokens),
        )
        try:
            await self._meter.spend(scope, Purpose.REPLY, run)
        except RememError as refused:
            _log.error("usage not kept", scope=scope.key, why=str(refused))


async def _take(stream: AsyncIterable[object], answer: _Answer) -> None:
    """Take what is written while it comes."""
    parts: dict[int, str] = {}
    async for event in stream:
        match event:
            case PartStartEvent(index=at, part=TextPart(content=text)):
                parts[at] = text
            case PartDeltaEvent(index=at, delta=TextPartDelta(content_delta=text)):
                parts[at] = parts.get(at, "") + text
            case _:
                continue
        answer.written[-1] = "\n\n".join(parts[at] for at in sorted(parts))
        await answer.grew()


class _Stopped(Exception):
    """A run that failed, and the messages with which it may go on."""

    def __init__(self, failure: ModelFailed, history: Sequence[ModelMessage]) -> None:
        super().__init__(failure.why)
        self.failure = failure
        self.history = history


def _so_far(run: AgentRun[Calls, str] | None) -> list[ModelMessage]:
    """What was said up to the last request; none where there was none yet. Half an answer is left out."""
    said = list(run.all_messages()) if run is not None else []
    while said and not (isinstance(said[-1], ModelRequest) and said[-1].parts):
        said.pop()
    return said
