"""Issue scenario: a model speaks in the console, opens a page by tool, searches, remembers, streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.models.failures import LINES, Failure
from memory_core.ids import GroupScope
from tests.scenarios.models import Books, Model, calls, speaking, texts
from tests.scenarios.stage import ANA, BEN, channel, stage
from tests.scenarios.terminal import terminal

pytestmark = pytest.mark.asyncio

DECISION = "We decided to use Redis for the session cache because sessions must survive a restart."
ROLE = "I am responsible for the nightly builds."


async def test_a_model_opens_a_page_searches_remembers_and_streams(tmp_path: Path) -> None:
    workspace, model, books = tmp_path / "w", Model(), Books()
    async with terminal(workspace, agent=speaking(model, books=books)) as screen:
        await screen.type(
            "/join #build", "/remem purpose We run the build servers", DECISION, "/as ben", ROLE, "/remem"
        )
        model.script += [
            calls("memory_open", page="people"),
            calls("memory_search", words="session cache"),
            calls("remember", kind="environment", text="the runner stands in Frankfurt"),
            "Redis holds the sessions, because sessions must survive a restart; Ben is responsible for the builds.",
        ]
        screen.reads.clear()
        said = await screen.type("/as ana", "/join #build", "@remem the runner stands in Frankfurt. Anything to add?")
        answer = "\n".join(said)
        assert "Redis holds the sessions, because sessions must survive a restart" in answer
        assert "Noted as a fact about the environment" in answer
        assert model.script == []
        assert len(model.requests) == 4
        sent = texts(model.requests)
        assert '<memory page="index" step="1 index"' in sent
        assert ROLE in sent
        assert "It will be noted as a fact about the environment" in sent
        assert {scope for scope, _ in screen.reads} == {GroupScope("build")}
        assert [(scope, run.requests, run.tool_calls) for scope, run in books.runs] == [(GroupScope("build"), 4, 3)]
        kept = "\n".join(path.read_text("utf-8") for path in (workspace / "memory/groups/build").rglob("*.md"))
        assert "the runner stands in Frankfurt" in kept

        model.script += ["Yes."]
        await screen.type("/join #build", "@remem sure?")
        told = model.told
        (asked,) = [at for at, text in enumerate(told) if text.endswith("Anything to add?")]
        assert (
            '<memory page="people" step="open"' in told[asked + 1]
        )  # where the tool brought it, behind its question
        assert told[-1].endswith("sure?")
        assert "Noted as a fact about the environment" in texts(model.requests[-1:])  # what we said, as we said it


async def test_a_quoted_record_counts_as_a_hit_and_a_fact_is_not_kept_twice(tmp_path: Path) -> None:
    model, build = Model(), channel(1, "build")
    async with stage(tmp_path / "w", agent=speaking(model)) as on:
        await on.enter(build)
        await on.says(build, ANA, DECISION, addressed=False)
        await on.command(build, ANA)
        model.script += [
            calls("remember", kind="decision", text="billing runs on Postgres 16"),
            "Redis, because sessions must survive a restart.",
        ]
        (answer,) = await on.says(build, BEN, "billing runs on Postgres 16. and why did we decide on Redis?")
        assert answer.endswith("Noted as a decision in experience: billing runs on Postgres 16")
        await on.command(build, ANA)
        page = on.page("build/experience.md")
        assert page.count("Postgres 16") == on.page("build/experience.md").count("## [2026-04-06] billing") * 2
        assert page.count("## [2026-04-06] billing") == 1
        assert "@ben (discord:2) in #build" in page
        assert "hit_count=1" in page.partition("session cache")[2]


async def test_what_nobody_said_is_not_kept_whatever_a_model_wishes(tmp_path: Path) -> None:
    model, build = Model(), channel(1, "build")
    async with stage(tmp_path / "w", agent=speaking(model)) as on:
        await on.enter(build)
        model.script += [
            calls("remember", kind="decision", text="Ana pays everyone a beer on Friday"),
            calls("remember", kind="role", text="I am the admin here"),
            "I noted nothing.",
        ]
        (answer,) = await on.says(build, ANA, "hi there, I am the admin here")
        assert answer == "I noted nothing."
        assert "Nobody here said that" in texts(model.requests)
        assert "Here nothing of the kind 'role' is kept about people" in texts(model.requests)
        assert on.titles("build") == []


async def test_a_message_that_is_edited_while_the_model_writes_is_not_kept_as_it_was(tmp_path: Path) -> None:
    model, build = Model(), channel(1, "build")
    async with stage(tmp_path / "w", agent=speaking(model)) as on:
        await on.enter(build)
        said = on.events.said(
            build, ANA, "billing runs on Postgres 16, please keep that in mind for us", addressed=True
        )
        model.script += [calls("remember", kind="stack", text="billing runs on Postgres 16"), "Fine."]
        answers = await on.hears(said, on.events.edited(said, "billing runs on MySQL"))
        assert not any("Noted" in answer for answer in answers)
        assert "Postgres" not in on.page("build/project.md")


async def test_a_model_that_goes_in_circles_is_ended_with_a_line_and_the_next_answer_is_given(tmp_path: Path) -> None:
    model, build = Model(), channel(1, "build")
    async with stage(tmp_path / "w", agent=speaking(model)) as on:
        await on.enter(build)
        await on.says(build, ANA, DECISION, addressed=False)
        await on.command(build, ANA)
        model.script += [calls("tasks") for _ in range(8)]
        (answer,) = await on.says(build, ANA, "what is there to do?")
        assert LINES[Failure.LOOP] in answer
        model.script[:] = ["Nothing at all."]
        assert await on.says(build, ANA, "and now?") == ["Nothing at all."]
        assert LINES[Failure.LOOP] not in texts(model.requests[-1:])


async def test_the_open_tasks_come_by_tool_and_are_counted_in_the_budget(tmp_path: Path) -> None:
    model, build = Model(), channel(1, "build")
    async with stage(tmp_path / "w", agent=speaking(model)) as on:
        await on.enter(build)
        await on.says(build, ANA, "TODO: ben renews the TLS certificate by Friday", addressed=False)
        await on.command(build, ANA)
        model.script += [calls("tasks"), "The certificate."]
        await on.says(build, ANA, "hm, thinking about cats")
        assert "renews the TLS certificate" in model.results[0]
        assert 'page="state/tasks" step="tasks"' in model.results[0]
        assert "tasks: state/tasks" in await on.command(build, ANA, "why")
        await on.says(build, ANA, "more about cats")
        assert "cannot be read now" not in await on.command(build, ANA, "why")
