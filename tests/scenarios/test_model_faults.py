"""A model that fails, through the whole program: real sockets to a server that speaks OpenAI's API, real files.

Each fault ends as it should: one short line, its own rule for a second try, and the conversation goes on with the
next message. Nothing of a failure stands in the transcript, in memory or in a later request, also after a restart.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bot.models.failures import LINES, Failure
from tests.peers.discord import DiscordPeer
from tests.peers.openai_server import Answer, Hang, OpenAIServer, Page, Said, Status, contents, text
from tests.scenarios.discord_world import World
from tests.scenarios.model_world import Pauses, memory, modelled_stage, modelled_terminal, transcript
from tests.scenarios.program import start
from tests.scenarios.stage import ANA, direct
from tests.scenarios.terminal import terminal

pytestmark = pytest.mark.asyncio

OVERFLOW = "This model's maximum context length is 8192 tokens."
BROKEN_CALL = Said(None, (("memory_search", '{"words": "redis'),), finish="tool_calls")
HALF = "Half of an answer that goes on and on"

FAULTS: dict[str, tuple[Answer, Failure, int]] = {
    "429 with Retry-After": (Status(429, "rate_limit_exceeded", "requests", retry_after_s=7), Failure.BUSY, 2),
    "429 without quota": (Status(429, "insufficient_quota", "insufficient_quota"), Failure.SETUP, 1),
    "500": (Status(500, None, "server_error"), Failure.DOWN, 2),
    "503": (Status(503, None, "service_unavailable"), Failure.DOWN, 2),
    "401": (Status(401, "invalid_api_key"), Failure.SETUP, 1),
    "404 of a model": (Status(404, "model_not_found"), Failure.SETUP, 1),
    "404 HTML": (Page(404), Failure.SETUP, 1),
    "200 HTML": (Page(200), Failure.UNUSABLE, 2),
    "200 empty": (Page(200, "", "application/json"), Failure.UNUSABLE, 2),
    "too long": (Status(400, "context_length_exceeded", message=OVERFLOW), Failure.TOO_LONG, 1),
    "content filter": (Said("", finish="content_filter"), Failure.REFUSED, 1),
    "content policy": (Status(400, "content_policy_violation"), Failure.REFUSED, 1),
    "dropped connection": (Said(HALF, cut_after=3), Failure.DOWN, 2),
    "stream without an end": (Said(HALF, cut_after=3, ends_early=True), Failure.UNUSABLE, 2),
    "empty content": (Said(""), Failure.UNUSABLE, 2),
    "null content": (Said(None), Failure.UNUSABLE, 2),
}
"""What the server answers again and again, what it is to us, and how often it is asked."""

ONCE_SHOWN = frozenset({"dropped connection", "stream without an end"})
"""Where something was shown before it failed there is no second try: a person would read the answer twice."""

UNSAID = ("<html", "nginx", HALF, OVERFLOW, "Error", "invalid_api_key", "status_code", *LINES.values())
"""What no transcript, no page and no later request may hold."""


def _is_clean(workspace: Path, server: OpenAIServer) -> None:
    for where in (transcript(workspace), memory(workspace), "\n".join(contents(server.asked[-1]))):
        assert not [one for one in UNSAID if one in where]
    assert server.refused == []


async def test_each_fault_is_one_short_line_and_the_conversation_goes_on(tmp_path: Path) -> None:
    pauses = Pauses()
    async with OpenAIServer() as server:
        async with modelled_terminal(tmp_path / "w", server, pauses) as screen:
            for number, (name, (answer, failure, tries)) in enumerate(FAULTS.items()):
                server.otherwise, before = answer, len(server.asked)
                (said,) = await screen.type(f"question {number}?")
                asked = len(server.asked) - before
                assert LINES[failure] in said, name
                assert len(said) < 200, name
                assert HALF not in said, name
                assert asked == tries or (name in ONCE_SHOWN and asked == 1), (name, asked)
                server.otherwise = text(f"Answer {number}, as you wish.")
                (said,) = await screen.type(f"and now, after {number}?")
                assert f"Answer {number}, as you wish." in said, name
            assert len((await screen.type("/remem"))[-1]) > 0
        assert pauses.seconds[0] == 7.0
        assert all(1 <= wait <= 2 for wait in pauses.seconds[1:])
        _is_clean(tmp_path / "w", server)
        async with modelled_terminal(tmp_path / "w", server) as screen:
            assert "as you wish" in (await screen.type("still there?"))[-1]
        _is_clean(tmp_path / "w", server)


async def test_case_149_an_error_page_is_a_short_sentence_and_kept_nowhere(tmp_path: Path) -> None:
    """Through all that the program itself builds of its settings; the second try waits as it does."""
    name = "openai:small-model"
    async with OpenAIServer() as server:
        async with terminal(tmp_path / "w", model=name, model_base_url=server.base_url) as screen:
            for page in (Page(404), Page(200), Page(200, "", "text/html")):
                server.otherwise = page
                (said,) = await screen.type("We decided to use Redis because it is quick. What do you think?")
                assert "<" not in said.partition("remem:")[2]
                assert len(said.splitlines()[-1]) < 200
            server.otherwise = text("I agree with that.")
            assert "I agree" in (await screen.type("and now?"))[-1]
            await screen.type("/remem")
        _is_clean(tmp_path / "w", server)
        assert "Redis" in memory(tmp_path / "w")
        async with terminal(tmp_path / "w", model=name, model_base_url=server.base_url) as screen:
            assert "I agree" in (await screen.type("and after a restart?"))[-1]
        _is_clean(tmp_path / "w", server)


async def test_case_150_a_null_answer_makes_no_later_call_fail(tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        async with modelled_terminal(tmp_path / "w", server) as screen:
            server.script(Said(None), Said(None))
            assert LINES[Failure.UNUSABLE] in (await screen.type("hello there, what is new?"))[-1]
            for number in range(5):
                server.script(text(f"Normal answer {number}."))
                assert f"Normal answer {number}." in (await screen.type(f"question {number}?"))[-1]
        assert len(server.asked) == 7
        async with modelled_terminal(tmp_path / "w", server) as screen:
            for number in range(5):
                server.script(text(f"Later answer {number}."))
                assert f"Later answer {number}." in (await screen.type(f"later question {number}?"))[-1]
        assert len(server.asked) == 12
        _is_clean(tmp_path / "w", server)
        said = contents(server.asked[-1])
        assert any("Normal answer 4." in one for one in said) or any("Later answer 3." in one for one in said)


async def test_case_152_a_provider_that_hangs_costs_a_deadline_one_more_try_and_a_line(tmp_path: Path) -> None:
    pauses, ana = Pauses(), direct(50, ANA)
    async with OpenAIServer() as server:
        server.script(Hang(), Hang(), text("The second answer."), text("The third answer."))
        async with modelled_stage(tmp_path / "w", server, pauses, model_timeout_s=0.4) as on:
            began = time.monotonic()
            said = [
                on.events.said(ana, ANA, f"question {number}?", addressed=True) for number in ("one", "two", "three")
            ]
            await on.hears(*said)
            answers = list(on.platform.stands.values())
            took_s = time.monotonic() - began
        assert took_s < 10  # two deadlines of 0.4 s; a provider's own would be minutes
        first, second, third = answers
        assert LINES[Failure.SLOW] in first
        assert "The second answer." in second
        assert "The third answer." in third
        assert len(server.asked) == 4
        (wait,) = pauses.seconds
        assert 1 <= wait <= 2
        assert any("question three?" in one for one in contents(server.asked[-1]))
        _is_clean(tmp_path / "w", server)


async def test_a_second_try_that_succeeds_is_not_noticed(tmp_path: Path) -> None:
    pauses = Pauses()
    async with OpenAIServer() as server:
        server.script(Status(429, "rate_limit_exceeded", retry_after_s=3), text("Here I am."))
        async with modelled_terminal(tmp_path / "w", server, pauses) as screen:
            (said,) = await screen.type("are you there, and well?")
            assert "Here I am." in said
            assert LINES[Failure.BUSY] not in said
            assert pauses.seconds == [3.0]
            # A server that asks for an hour is not waited for.
            server.script(Status(429, "rate_limit_exceeded", retry_after_s=3600))
            assert LINES[Failure.BUSY] in (await screen.type("and now?"))[-1]
        assert pauses.seconds == [3.0]
        assert len(server.asked) == 3


async def test_broken_arguments_of_a_tool_end_and_cost_no_later_message(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=BROKEN_CALL) as server:
        async with modelled_terminal(tmp_path / "w", server) as screen:
            (said,) = await screen.type("what is our session cache?")
            assert any(LINES[one] in said for one in (Failure.UNUSABLE, Failure.LIMIT, Failure.LOOP)), said
            assert 1 <= len(server.asked) <= 9
            server.otherwise = text("Ask away.")
            assert "Ask away." in (await screen.type("and now?"))[-1]
        _is_clean(tmp_path / "w", server)


# -- fallbacks ----------------------------------------------------------------------------------------------------


async def test_fallback_models_are_asked_in_order_and_refused_content_goes_to_none(tmp_path: Path) -> None:
    names = ("first", "second", "third")
    more = "openai:second, openai:third"
    async with OpenAIServer(models=names) as server:
        async with modelled_terminal(tmp_path / "w", server, model_fallbacks=more, model_timeout_s=0.5) as screen:

            async def asked(question: str, *answers: Answer) -> tuple[str, list[object]]:
                server.by_model, before = dict(zip(names, answers, strict=True)), len(server.asked)
                said = (await screen.type(question))[-1]
                return said, [one["model"] for one in server.asked[before:]]

            down, busy, well = Status(500), Status(429, "rate_limit_exceeded", retry_after_s=0), text("Third here.")
            said, order = await asked("one, please?", down, Status(401, "invalid_api_key"), well)
            assert "Third here." in said
            assert order == [*names]
            said, order = await asked("a hanging first one?", Hang(), text("Second here."), well)
            assert "Second here." in said
            assert order == ["first", "second"]
            said, order = await asked("a page for an answer?", Page(404), text("Second again."), well)
            assert "Second again." in said
            assert order == ["first", "second"]
            refusal = Status(400, "content_filter")
            said, order = await asked("something bad?", refusal, well, well)
            assert LINES[Failure.REFUSED] in said
            assert order == ["first"]
            said, order = await asked("and when all fail?", Status(401, "invalid_api_key"), busy, Page(404))
            assert LINES[Failure.BUSY] in said
            assert order == [*names, *names]
        assert server.refused == []


# -- through a platform, as a process -------------------------------------------------------------------------------


async def _connected(world: World) -> None:
    """Wait for a process that loads a model's library first: on a busy machine each step may take its time."""
    for step in ("settings", "remem starts", "Discord is connected"):
        await world.remem.logged(step)
    await world.remem.while_running(world.peer.connected())


async def test_on_discord_a_fault_is_one_line_and_kept_nowhere_also_after_a_restart(tmp_path: Path) -> None:
    async with OpenAIServer() as server, DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ["build"])
        ana, ben = peer.add_user("ana", guild), peer.add_user("ben", guild)
        environment = {**peer.environment(tmp_path), **server.environment, "REMEM_MODEL_KEY": "sk-canary-0123456789"}
        world = World(peer, await start(tmp_path / "w", environment), tmp_path / "w", guild, ana, ben)
        try:
            await _connected(world)
            server.otherwise = text("Hello, both of you.")
            await world.enter(world["build"], ana)
            server.otherwise = Page(200)
            said = await world.ask(world["build"], ana, "what is our cache?")
            assert LINES[Failure.UNUSABLE] in said.text
            server.otherwise = text("It is Redis.")
            assert "It is Redis." in (await world.ask(world["build"], ben, "and now?")).text
            assert "status" not in said.text
            await world.remem.end_cleanly()
            peer.gateway.forget_sessions()
            world.remem = await start(tmp_path / "w", environment)
            await _connected(world)
            assert "It is Redis." in (await world.ask(world["build"], ana, "and after a restart?")).text
            await world.remem.end_cleanly()
            assert "canary" not in world.remem.stderr
        finally:
            await world.remem.kill()
        _is_clean(tmp_path / "w", server)
