"""What Discord refuses, in our terms: the table is complete."""

from __future__ import annotations

from types import SimpleNamespace

import aiohttp
import discord
import pytest

from adapters.discord.errors import REFUSALS, delivery, refusal, why
from adapters.messages import Delivery
from memory_core.errors import RememError


def _answer(status: int, code: int, words: str = "no") -> discord.HTTPException:
    kind = {403: discord.Forbidden, 404: discord.NotFound}.get(status, discord.HTTPException)
    response = SimpleNamespace(status=status, reason="")
    return kind(response, {"code": code, "message": words})  # type: ignore[arg-type]  # raw payload


def _all_kinds(root: type[BaseException]) -> set[type[BaseException]]:
    return {root, *(kind for child in root.__subclasses__() for kind in _all_kinds(child))}


def test_every_error_of_the_library_and_the_network_is_in_the_table() -> None:
    kinds = _all_kinds(discord.DiscordException) | _all_kinds(aiohttp.ClientError) | {TimeoutError, ConnectionError}
    assert all(issubclass(kind, REFUSALS) for kind in kinds)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (_answer(403, 50013), Delivery.NOT_ALLOWED),
        (_answer(403, 50001), Delivery.GONE),
        (_answer(403, 50007), Delivery.NOT_ALLOWED),
        (_answer(400, 50083), Delivery.NOT_ALLOWED),
        (_answer(403, 1), Delivery.NOT_ALLOWED),
        (_answer(404, 10003), Delivery.GONE),
        (_answer(404, 10008), Delivery.GONE),
        (_answer(400, 50035), Delivery.FAILED),
        (_answer(500, 0), Delivery.FAILED),
        (aiohttp.ClientConnectionError(), Delivery.FAILED),
        (TimeoutError(), Delivery.FAILED),
    ],
)
def test_what_a_sending_became(error: Exception, expected: Delivery) -> None:
    assert delivery(error) is expected
    assert why(error)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (discord.LoginFailure("x"), "DISCORD_TOKEN is refused"),
        (_answer(401, 0), "DISCORD_TOKEN is refused"),
        (discord.PrivilegedIntentsRequired(None), "MESSAGE CONTENT INTENT"),
        (aiohttp.ClientConnectionError(), "REMEM_DISCORD_PROXY"),
        (_answer(502, 0), "discordstatus.com"),
    ],
)
def test_a_refused_start_says_what_to_do(error: Exception, words: str) -> None:
    told = refusal(error)
    assert isinstance(told, RememError)
    assert words in str(told)
