"""The table from the library's errors to ours: complete, and without a word of what was sent or answered."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic_ai import exceptions as library
from pydantic_ai.models.fallback import ResponseRejected

from bot.models.failures import AGAIN, LINES, Failure, ModelFailed, failed, foreign, table, translated

CANARY = "canary-of-the-prompt"


def _public_errors() -> list[type[BaseException]]:
    """Every exception of the library's module, exported or not; its warnings are no failures of a model."""
    named = [(name, one) for name, one in inspect.getmembers(library, inspect.isclass) if not name.startswith("_")]
    errors = [one for _, one in named if issubclass(one, BaseException) and not issubclass(one, Warning)]
    return [one for one in errors if one.__module__.startswith("pydantic_ai")]


def test_the_table_names_every_public_error_of_the_library_itself() -> None:
    errors = _public_errors()
    assert len(errors) > 30
    assert {library.ModelAPIError, library.ToolRetryError, library.FallbackExceptionGroup} <= set(errors)
    assert not [one.__name__ for one in errors if one not in table()]


def test_everything_that_the_library_exports_is_seen() -> None:
    exported = {getattr(library, name) for name in library.__all__}
    classes = {one for one in exported if inspect.isclass(one) and issubclass(one, BaseException)}
    assert not [one for one in classes if one not in table() and not issubclass(one, Warning)]


def test_every_kind_has_its_line_and_only_what_may_pass_is_tried_again() -> None:
    assert set(LINES) == set(Failure)
    assert len(set(LINES.values())) == len(Failure)
    for failure, line in LINES.items():
        assert len(line) < 100
        assert line.endswith(".")
        assert (failure in AGAIN) == (failure in {Failure.BUSY, Failure.DOWN, Failure.SLOW, Failure.UNUSABLE})


CATEGORIES: list[tuple[type[library.ModelAPIError], int, Failure]] = [
    (library.ModelRateLimitError, 429, Failure.BUSY),
    (library.ModelQuotaExceededError, 429, Failure.SETUP),
    (library.ModelUnavailableError, 503, Failure.DOWN),
    (library.ModelOverloadedError, 529, Failure.BUSY),
    (library.ModelServerError, 500, Failure.DOWN),
    (library.ModelContextWindowExceededError, 400, Failure.TOO_LONG),
    (library.ModelRequestRejectedError, 400, Failure.SETUP),
    (library.ModelAuthenticationError, 401, Failure.SETUP),
    (library.ModelNotFoundError, 404, Failure.SETUP),
]


@pytest.mark.parametrize(("category", "status", "failure"), CATEGORIES, ids=lambda one: getattr(one, "__name__", ""))
def test_a_category_counts_whether_it_came_by_http_or_not(
    category: type[library.ModelAPIError], status: int, failure: Failure
) -> None:
    by_http = library.ModelHTTPError.for_category(category, status_code=status, model_name="m")  # type: ignore[arg-type]
    assert translated(by_http).failure is failure
    assert translated(category("m", "why")).failure is failure


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (408, Failure.SLOW),
        (409, Failure.DOWN),
        (413, Failure.TOO_LONG),
        (418, Failure.SETUP),
        (425, Failure.DOWN),
        (429, Failure.BUSY),
        (507, Failure.DOWN),
    ],
)
def test_a_status_without_a_category(status: int, failure: Failure) -> None:
    assert translated(library.ModelHTTPError(status, "m")).failure is failure


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_refused_content_is_no_fault_of_the_setup(code: str) -> None:
    refused = library.ModelHTTPError.for_category(
        library.ModelRequestRejectedError, status_code=400, model_name="m", provider_error_code=code
    )
    assert translated(refused).failure is Failure.REFUSED
    assert translated(library.ContentFilterError("no")).failure is Failure.REFUSED


def test_timeouts_of_all_layers_are_slow() -> None:
    slow = (
        TimeoutError(),
        library.ModelTimeoutError("m", "t", phase="read"),
        library.ModelRequestTimeout("m", 3.0),
        library.RunTimedOut("t"),
    )
    assert {translated(one).failure for one in slow} == {Failure.SLOW}
    assert "seconds 3.0" in translated(slow[2]).why


@pytest.mark.asyncio
async def test_a_timeout_of_the_loop_is_slow() -> None:
    with pytest.raises(TimeoutError) as late:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
    assert translated(late.value).failure is Failure.SLOW


def test_what_the_server_asks_to_wait_is_passed_on() -> None:
    def busy(**headers: str) -> float | None:
        error = library.ModelHTTPError.for_category(
            library.ModelRateLimitError, status_code=429, model_name="m", headers=headers
        )
        return translated(error).wait_s

    assert busy(**{"Retry-After": "7"}) == 7.0
    assert busy(**{"retry-after-ms": "1500"}) == 1.5
    assert busy(**{"Retry-After": "soon"}) is None
    assert busy() is None
    later = busy(**{"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)})
    assert later is not None
    assert 0 < later <= 60


def test_why_holds_kinds_and_codes_and_nothing_that_was_sent_or_answered() -> None:
    body = {"error": {"message": CANARY, "param": CANARY}}
    errors = [
        library.ModelHTTPError(400, "m", body, provider_error_code="bad value: " + CANARY, hint=CANARY),
        library.ModelAPIError("m", CANARY, body=body),
        library.UnexpectedModelBehavior(CANARY, body=CANARY),
        library.UserError(CANARY),
        library.ModelRetry(CANARY),
        library.UsageLimitExceeded(CANARY),
        library.FallbackExceptionGroup(CANARY, [library.ModelAPIError("m", CANARY)]),
        ValueError(CANARY),
    ]
    for error in errors:
        told = translated(error)
        assert CANARY not in told.why
        assert CANARY not in str(told)
        assert type(error).__name__ in told.why or "all models failed" in told.why
    assert "status 400" in translated(errors[0]).why
    named = library.ModelHTTPError(
        404, "gtp-5", provider_error_code="model_not_found", suggested_model_id="openai:gpt-5"
    )
    assert translated(named).why == (
        "ModelHTTPError, model gtp-5, status 404, code model_not_found, did you mean openai:gpt-5"
    )


def test_of_several_models_the_failure_that_gives_most_hope_is_told() -> None:
    def http(category: type[library.ModelAPIError], status: int, **headers: str) -> library.ModelHTTPError:
        return library.ModelHTTPError.for_category(
            category,  # type: ignore[arg-type]
            status_code=status,
            model_name="m",
            headers=headers,
        )

    key = http(library.ModelAuthenticationError, 401)
    down = http(library.ModelServerError, 500)
    busy = [http(library.ModelRateLimitError, 429, **{"Retry-After": wait}) for wait in ("9", "4")]
    both = translated(library.FallbackExceptionGroup("all", [key, down]))
    assert both.failure is Failure.DOWN
    assert "401" in both.why
    assert "500" in both.why
    nested = library.FallbackExceptionGroup("all", [key, library.FallbackExceptionGroup("some", busy)])
    assert translated(nested).failure is Failure.BUSY
    assert translated(nested).wait_s == 4.0
    assert translated(library.FallbackExceptionGroup("all", [key, ResponseRejected(1)])).failure is Failure.UNUSABLE


def test_our_own_failure_stays_and_a_cancellation_goes_on() -> None:
    own = failed(Failure.DAY, "1,000 tokens")
    assert translated(own) is own
    assert isinstance(own, ModelFailed)
    with pytest.raises(asyncio.CancelledError):
        translated(asyncio.CancelledError())


def test_an_edge_catches_what_the_table_knows_and_no_fault_of_our_own() -> None:
    for error in (*_public_errors(), TimeoutError, ResponseRejected):
        assert issubclass(error, foreign())
    for fault in (KeyError, AttributeError, ValueError, OSError, asyncio.CancelledError, ModelFailed):
        assert not issubclass(fault, tuple(one for one in foreign() if one is not OSError))


def test_the_words_cost_no_library() -> None:
    program = "import sys, bot.models.failures, bot.wording; print('pydantic_ai' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
