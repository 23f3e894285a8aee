"""What of a conversation is worth keeping, read by a model. An `Extractor`, with the rules behind it.

    nobody spoke, or only thanks and greetings     nothing; the model is not asked
    the model's window holds no conversation       the rules; the model is not asked
    the conversation in windows (windows)          each is asked for in the shape that worked last (memory_call)
      an answer that can be read                   its drafts are held against the messages (evidence)
      no use, cut, refused                         one more try in the other shape; then the rules for this window,
                                                   beside what could be read
      too long for the model                       the window in two halves; then the rules
      the day's share is used up                   the rules for all that is left, said in the log once
      the model cannot be reached, is not set up   ModelFailed: the flush keeps the text and tries again later
    all windows                                    put together without doubles; what the rules know to be taken back
                                                   in a later window goes

The model sees one conversation, as data, and nothing else: no page, no other scope, no tool that does anything. It
writes nothing. The bars of the flush are checked afterwards whoever extracted. What is written at once and what sleep
does stays with the rules (memory_core.extract): an answer must not wait for a second model. No text of a conversation
is logged, only counts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog
from pydantic_ai.models import Model

from bot.models.evidence import candidate_of
from bot.models.failures import AT_WORK, Failure, ModelFailed
from bot.models.memory_call import ENVELOPE, Heard, Shape, ask, shapes_for
from bot.models.schema import Reading
from bot.models.spending import Meter, Run
from bot.models.transcript import Line, cited, lines_of, told
from bot.models.windows import Window, merged, windows
from memory_core.candidates import Candidate, Extractor, Request
from memory_core.extract import retracted_in
from memory_core.ids import MessageKey, Scope
from memory_core.ledger.usage import Purpose
from memory_core.messages import Voice
from memory_core.pleasantry import is_pleasantry
from memory_core.tokens import Counter

WINDOW_TOKENS = 12_000
"""The most of a conversation that is asked for at once: beyond, models overlook more."""
LEAST_TOKENS = 400
"""A window is never halved below this."""
_ANSWER_TOKENS = 4_000

_BY_RULES = frozenset({Failure.DAY, Failure.REFUSED, Failure.UNUSABLE, Failure.TOO_LONG})
"""What a later try would meet again: the rules read instead. All else is the provider's trouble, and passes."""

_log = structlog.get_logger()


@dataclass(slots=True)
class _Work:
    """One request while it is read: what was found, what no answer covered, and counts for the log."""

    request: Request
    lines: Sequence[Line]
    found: list[tuple[Candidate, ...]] = field(default_factory=list)
    unread: set[MessageKey] = field(default_factory=set)
    counts: Tally[str] = field(default_factory=Tally)


def least_to_read_tokens(counter: Counter) -> int:
    """The smallest window into which the least of a conversation goes, with the frame around it and an answer."""
    envelope_tokens = counter.count(ENVELOPE)
    # What is left grows with the window, so the first that leaves enough is found by halving.
    windows_tokens = range(envelope_tokens, envelope_tokens + LEAST_TOKENS + _ANSWER_TOKENS + 1)
    at = bisect_left(windows_tokens, LEAST_TOKENS, key=lambda one: _room_tokens(one, envelope_tokens))
    return windows_tokens[at]


def _room_tokens(window_tokens: int, envelope_tokens: int) -> int:
    """What the frame and the answer leave for the conversation."""
    return window_tokens - envelope_tokens - min(_ANSWER_TOKENS, window_tokens // 4)


class ModelExtractor:
    """Candidates by a model. `fallback` are the rules, `window_tokens` what fits into one request to the model."""

    def __init__(
        self,
        model: Model,
        fallback: Extractor,
        *,
        counter: Counter,
        meter: Meter,
        window_tokens: int,
        timeout_s: float,
    ) -> None:
        self._model = model
        self._fallback = fallback
        self._counter = counter
        self._meter = meter
        self._window_tokens = window_tokens
        self._timeout_s = timeout_s
        self._shapes: tuple[Shape, ...] = shapes_for(model)
        self._envelope_tokens = 0
        self._used_up: set[Scope | None] = set()

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The candidates of one conversation, in the order they were said.

        Raises ModelFailed where the provider failed and a later try may do better, LedgerFailed of the meter, and
        what the fallback raises.
        """
        if not any(one.voice is Voice.PERSON and not is_pleasantry(one.text) for one in request.messages):
            return ()
        limit = self._limit_tokens()
        if limit < LEAST_TOKENS:  # told at the start and by `remem doctor` (bot.models.room)
            return await self._fallback.extract(request)
        work = _Work(request, lines_of(request, limit, self._counter))
        for window in windows([line.cost_tokens for line in work.lines], limit):
            await self._window(work, window, limit)
        if work.unread:
            by_rules = await self._fallback.extract(request)
            work.found.append(tuple(one for one in by_rules if one.sources[0] in work.unread))
        self._tell(work)
        return self._put_together(work)

    def _limit_tokens(self) -> int:
        """How much of a conversation fits into one request, in our tokens."""
        if not self._envelope_tokens:
            self._envelope_tokens = self._counter.count(ENVELOPE)
        ours = int(self._window_tokens / max(self._meter.factor(self._model.model_name), 0.1))
        return min(_room_tokens(ours, self._envelope_tokens), WINDOW_TOKENS)

    async def _window(self, work: _Work, window: Window, limit: int) -> None:
        """Read one window, as well as it can be read. Raises ModelFailed where it is the provider's trouble."""
        lines = work.lines[window.start : window.end]
        if not any(line.handle for line in work.lines[window.fresh : window.end]):
            return
        try:
            reading = await self._read(work, lines)
        except ModelFailed as failed:
            if failed.failure is Failure.TOO_LONG and len(lines) > 1 and limit // 2 >= LEAST_TOKENS:
                work.counts["halved"] += 1
                for half in windows([line.cost_tokens for line in lines], limit // 2):
                    moved = Window(*(window.start + at for at in (half.start, half.fresh, half.end)))
                    await self._window(work, moved, limit // 2)
                return
            if failed.failure not in _BY_RULES:
                _log.warning("the model read nothing", kind=failed.failure.value, why=failed.why)
                raise
            work.counts[f"rules_{failed.failure}"] += 1
            reading = Reading()
        if not reading.whole:
            work.unread.update(line.message.key for line in lines if line.handle)
        self._keep(work, lines, reading)

    async def _read(self, work: _Work, lines: Sequence[Line]) -> Reading:
        """The answer for these lines: the first that is whole, else the one that says most. Raises ModelFailed."""
        best, last = Reading(), None
        for shape in self._shapes:
            try:
                await self._check(work.request.scope)
            except ModelFailed:
                if best.found:
                    return best
                raise
            text = told(lines)
            counted = self._envelope_tokens + sum(line.cost_tokens for line in lines)
            try:
                heard = await ask(self._model, text, shape, counted_tokens=counted, timeout_s=self._timeout_s)
            except ModelFailed as failed:
                await self._spend(work, self._run_of_failure(failed, counted))
                # A server without tools refuses the request as such: asked in words, it may well answer.
                if failed.failure not in {Failure.UNUSABLE, Failure.REFUSED, Failure.SETUP}:
                    raise
                last = failed
                work.counts[f"no_{shape}_{failed.failure}"] += 1
                continue
            await self._spend(work, self._run_of(heard))
            if heard.reading.whole:
                self._shapes = (shape, *(one for one in self._shapes if one is not shape))
                return heard.reading
            last = None
            work.counts["cut" if heard.reading.found else "no_use"] += 1
            best = max(best, heard.reading, key=lambda one: len(one.drafts))
        if last is not None and not best.found:
            raise last
        return best

    def _run_of(self, heard: Heard) -> Run:
        """What a request has used, where its provider reported it; else as we count it."""
        run = heard.run
        if run.input_tokens and run.output_tokens:
            return run
        return replace(
            run,
            input_tokens=run.input_tokens or self._as_reported(run.counted_tokens),
            output_tokens=run.output_tokens or self._as_reported(self._counter.count(heard.written)),
            estimated=True,
        )

    def _run_of_failure(self, failed: ModelFailed, counted_tokens: int) -> Run:
        """A request without an answer. What was refused before it was read costs nothing."""
        read = failed.failure in AT_WORK
        return Run(
            self._model.model_name,
            requests=1,
            input_tokens=self._as_reported(counted_tokens) if read else 0,
            cost_usd=None if read or failed.failure is Failure.DOWN else 0.0,
            estimated=read,
        )

    def _as_reported(self, counted_tokens: int) -> int:
        """Our count as the model's provider would count."""
        return math.ceil(counted_tokens * self._meter.factor(self._model.model_name))

    async def _spend(self, work: _Work, run: Run) -> None:
        if work.request.scope is not None:
            await self._meter.spend(work.request.scope, Purpose.MEMORY, run)

    async def _check(self, scope: Scope | None) -> None:
        """Is something left of the day's share? Raises ModelFailed(DAY)."""
        if scope is None:
            return
        try:
            await self._meter.check(scope, Purpose.MEMORY)
        except ModelFailed as failed:
            if failed.failure is Failure.DAY and scope not in self._used_up:
                self._used_up.add(scope)
                _log.warning("the day's share for saving is used up: the rules read instead", scope=scope.key)
            raise
        self._used_up.discard(scope)

    def _keep(self, work: _Work, lines: Sequence[Line], reading: Reading) -> None:
        shown = cited(lines)
        candidates = [candidate_of(draft, shown, work.request) for draft in reading.drafts]
        work.found.append(tuple(one for one in candidates if one is not None))
        work.counts["left_out"] += reading.left_out
        work.counts["not_borne"] += sum(one is None for one in candidates)

    def _put_together(self, work: _Work) -> tuple[Candidate, ...]:
        order = {message.key: at for at, message in enumerate(work.request.messages)}
        found = merged(work.found, order)
        if len(work.found) == 1:
            return found
        gone = set(retracted_in(work.request))
        return tuple(one for one in found if not gone.issuperset(one.sources))

    def _tell(self, work: _Work) -> None:
        counts = {name: number for name, number in work.counts.items() if number}
        scope = work.request.scope.key if work.request.scope is not None else ""
        if counts:
            _log.warning("parts of the model's answer were of no use", scope=scope, **counts)
