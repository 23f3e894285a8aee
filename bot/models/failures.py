"""What can go wrong with a model, in our words: the one table from the library's errors to what a person is told.

    kind        from                                        tried again                        a person reads
    BUSY        429                                         once, after what the server asks   busy, try in a minute
    DOWN        5xx, no connection, a cut stream            once, after a moment               cannot be reached
    SLOW        no answer in time                           once                               takes too long
    TOO_LONG    the request is over the window              no (it is cut before)              too long for the model
    REFUSED     the provider's filter, a refusal            no                                 will not answer this
    UNUSABLE    empty, HTML, nothing that can be read       once                               nothing that I can use
    SETUP       key, name, quota, an unknown request        no                                 is not set up
    LIMIT       requests, tool calls, tokens, seconds       no                                 that took too much
    LOOP        the same call again and again               no                                 I was going in circles
    DAY         the day's tokens or money are used up       tomorrow                           used up for today

Fallback models are asked before any of this counts; where all of them failed, the failure that gives most hope is
told. The provider's own words are for nobody: they may repeat what was sent, so `why` names the kind of error, its
status and its codes, and never its message or body. Retrying happens before the first word is shown, never after: a
person would read the answer twice.

The library is imported when the first error is translated, so that whoever needs only the words pays nothing. Not
here: how long to wait (bot.models.speaker), who is told (bot.turn).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from memory_core.errors import RememError


class Failure(StrEnum):
    """The kinds of failure, each with its own line and its own rule."""

    BUSY = "busy"
    DOWN = "down"
    SLOW = "slow"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    UNUSABLE = "unusable"
    SETUP = "setup"
    LIMIT = "limit"
    LOOP = "loop"
    DAY = "day"


LINES = {
    Failure.BUSY: "The model has too much to do just now; ask again in a minute.",
    Failure.DOWN: "The model cannot be reached just now; ask again in a while.",
    Failure.SLOW: "The model takes too long to answer; ask again in a while.",
    Failure.TOO_LONG: "This is too long for the model; `/remem` flushes the conversation and begins anew.",
    Failure.REFUSED: "The model will not answer this; put it in other words.",
    Failure.UNUSABLE: "The model gave nothing that I can use; ask again.",
    Failure.SETUP: "My model is not set up as it should be; whoever runs me finds the reason in the log.",
    Failure.LIMIT: "That took more than one answer may; ask for a part of it.",
    Failure.LOOP: "I was going in circles over this; put it in other words.",
    Failure.DAY: "What I may spend on answers here today is used up; ask again tomorrow.",
}
"""What a person reads: what is wrong, and the next step."""

AGAIN = frozenset({Failure.BUSY, Failure.DOWN, Failure.SLOW, Failure.UNUSABLE})
"""What is tried once more, before anything is shown."""

AT_WORK = frozenset({Failure.SLOW, Failure.REFUSED, Failure.UNUSABLE})
"""Here a server had read the request before it failed: what it read counts, by our own estimate if need be."""

_HOPE = (
    Failure.BUSY,
    Failure.SLOW,
    Failure.DOWN,
    Failure.UNUSABLE,
    Failure.LIMIT,
    Failure.TOO_LONG,
    Failure.REFUSED,
    Failure.SETUP,
)
"""Where several models failed, the first of these is told: what passes by itself before what somebody must mend."""

_REFUSALS = frozenset({"content_filter", "content_policy_violation", "moderation_blocked", "safety"})
"""Codes with which providers refuse content in a 4xx, which is else an error in the request."""

_CODE = re.compile(r"[\w.:/-]{1,80}")
"""A code or a name; whatever does not look like one is not logged."""


class ModelFailed(RememError):
    """The model gave no answer. The text is for a person, `why` for the log, `wait_s` what the server asked."""

    def __init__(self, failure: Failure, text: str, *, why: str = "", wait_s: float | None = None) -> None:
        super().__init__(text)
        self.failure = failure
        self.why = why
        self.wait_s = wait_s


def reason(refused: RememError) -> str:
    """Why something failed, for the log: a model's failure has more to tell there than a room may read."""
    return f"{refused.failure}: {refused.why}" if isinstance(refused, ModelFailed) else str(refused)


def failed(failure: Failure, why: str, *, wait_s: float | None = None) -> ModelFailed:
    """A failure in its usual words."""
    return ModelFailed(failure, LINES[failure], why=why, wait_s=wait_s)


@cache
def table() -> dict[type[BaseException], Failure]:
    """The library's errors, and the loop's timeouts: what each of them is to us. Imports the library."""
    from pydantic_ai import exceptions as library
    from pydantic_ai.models.fallback import ResponseRejected

    return {
        library.ModelRateLimitError: Failure.BUSY,
        library.ConcurrencyLimitExceeded: Failure.BUSY,
        library.ModelOverloadedError: Failure.BUSY,
        library.ModelUnavailableError: Failure.DOWN,
        library.ModelServerError: Failure.DOWN,
        library.ModelConnectionError: Failure.DOWN,
        library.SuspendedResponseExpired: Failure.DOWN,
        library.ModelTimeoutError: Failure.SLOW,
        library.ModelRequestTimeout: Failure.SLOW,
        library.RunTimedOut: Failure.SLOW,
        TimeoutError: Failure.SLOW,
        asyncio.TimeoutError: Failure.SLOW,
        library.ModelContextWindowExceededError: Failure.TOO_LONG,
        library.ContentFilterError: Failure.REFUSED,
        library.UsageLimitExceeded: Failure.LIMIT,
        library.RunCancelled: Failure.LIMIT,  # only we cancel a run by the library's own means, at a limit
        library.ModelQuotaExceededError: Failure.SETUP,
        library.ModelAuthenticationError: Failure.SETUP,
        library.ModelNotFoundError: Failure.SETUP,
        library.ModelRequestRejectedError: Failure.SETUP,
        library.ModelHTTPError: Failure.SETUP,
        library.UserError: Failure.SETUP,
        library.UndrainedPendingMessagesError: Failure.SETUP,
        # An answer that is none: HTML, broken JSON, nothing at all, arguments that fit no tool after all retries.
        library.ModelAPIError: Failure.UNUSABLE,
        library.UnexpectedModelBehavior: Failure.UNUSABLE,
        library.OutputTokenLimitExceeded: Failure.UNUSABLE,
        library.IncompleteToolCall: Failure.UNUSABLE,
        library.AgentRunError: Failure.UNUSABLE,
        ResponseRejected: Failure.UNUSABLE,
        library.FallbackExceptionGroup: Failure.UNUSABLE,  # an empty one; else what it holds counts
        # How tools and hooks talk to the library. One that comes out here was answered by nobody.
        library.ModelRetry: Failure.UNUSABLE,
        library.ToolFailed: Failure.UNUSABLE,
        library.ToolRetryError: Failure.UNUSABLE,
        library.ToolFailedError: Failure.UNUSABLE,
        library.CallDeferred: Failure.UNUSABLE,
        library.ApprovalRequired: Failure.UNUSABLE,
        library.SkipModelRequest: Failure.UNUSABLE,
        library.RetryModelRequest: Failure.UNUSABLE,
        library.SkipToolValidation: Failure.UNUSABLE,
        library.SkipToolExecution: Failure.UNUSABLE,
        Warning: Failure.UNUSABLE,  # only where a filter makes errors of warnings
    }


def foreign() -> tuple[type[BaseException], ...]:
    """What an edge catches to translate it: all that the table knows but warnings. Imports the library."""
    return tuple(error for error in table() if error is not Warning)


def translated(error: BaseException) -> ModelFailed:
    """The library's error in our words; one that is ours already stays. Raises `error` where it is a cancellation.

    An error that the table does not know is UNUSABLE: an edge catches `foreign()`, so that a fault of our own is
    not taken for one of the model's.
    """
    if isinstance(error, ModelFailed):
        return error
    if isinstance(error, asyncio.CancelledError):
        raise error
    if isinstance(error, BaseExceptionGroup):
        return _most_hopeful(error)
    wait_s = getattr(error, "retry_after", None)
    return failed(_kind(error), _why(error), wait_s=wait_s if isinstance(wait_s, int | float) else None)


def _kind(error: BaseException) -> Failure:
    """The nearest class that the table names; codes and statuses say more than some classes do."""
    codes = {getattr(error, "provider_error_code", None), getattr(error, "provider_error_type", None)}
    if codes & _REFUSALS:
        return Failure.REFUSED
    known = table()
    nearest = next((cls for cls in _precise_first(type(error)) if cls in known), None)
    status = getattr(error, "status_code", None)
    if nearest is not None and nearest.__name__ == "ModelHTTPError" and isinstance(status, int):
        return _of_status(status)
    return known[nearest] if nearest is not None else Failure.UNUSABLE


def _of_status(status: int) -> Failure:
    """An HTTP error of which the library says no more (RFC 9110; 425: RFC 8470)."""
    by_status = {408: Failure.SLOW, 409: Failure.DOWN, 413: Failure.TOO_LONG, 425: Failure.DOWN, 429: Failure.BUSY}
    return by_status.get(status, Failure.DOWN if status >= 500 else Failure.SETUP)


def _precise_first(cls: type[BaseException]) -> Iterator[type[BaseException]]:
    """The classes of an error, nearest first; that it came by HTTP stands behind the category that it belongs to."""
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

    for one in cls.__mro__:
        if one is ModelAPIError and issubclass(cls, ModelHTTPError):
            yield ModelHTTPError
        if issubclass(one, BaseException) and one is not ModelHTTPError:
            yield one


def _most_hopeful(group: BaseExceptionGroup[BaseException]) -> ModelFailed:
    """Several models failed, one after the other: what is told of it. `why` tells all."""
    each = [translated(error) for error in group.exceptions]
    best = min(each, key=lambda one: _HOPE.index(one.failure) if one.failure in _HOPE else len(_HOPE))
    waits = [one.wait_s for one in each if one.wait_s is not None and one.failure is best.failure]
    why = "all models failed: " + "; ".join(one.why for one in each)
    return failed(best.failure, why, wait_s=min(waits, default=None))


def _why(error: BaseException) -> str:
    """What the log may hold of an error: kinds and codes, nothing that was sent or answered."""
    told = [type(error).__name__]
    for name, label in (
        ("model_name", "model"),
        ("status_code", "status"),
        ("provider_error_code", "code"),
        ("provider_error_type", "type"),
        ("suggested_model_id", "did you mean"),
        ("phase", "phase"),
        ("setting", "limit"),
        ("timeout", "seconds"),
    ):
        value = str(getattr(error, name, None) or "")
        if _CODE.fullmatch(value):
            told.append(f"{label} {value}")
    return ", ".join(told)
