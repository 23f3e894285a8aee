"""Newcomers ask the offline agent: what is open, what was decided, what it knows of them, and to forget."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.offline import CANNOT_FORGET, NOT_ASKED, NOTHING_BLOCKED, NOTHING_OPEN
from tests.scenarios.terminal import Terminal, terminal

BUILD = "/join #build"
OPEN = (
    "what tasks are open?",
    "what is open?",
    "what do I have to do?",
    "what's on the list?",
    "what do we still have to do today?",
    "anything open?",
    "show me the open tasks",
    "was ist offen?",
    "was ist noch zu tun?",
    "welche Aufgaben sind offen?",
    "was muss ich noch machen?",
    "有什么待办",
    "还有什么没做完？",
    "现在有哪些任务？",
)


async def _asked(screen: Terminal, where: str, text: str) -> str:
    """What it says to `text` in that room."""
    return (await screen.type(where, text if where == "/dm" else f"@remem {text}"))[-1]


@pytest.mark.asyncio
async def test_a_weak_line_of_the_board_does_not_hide_the_record(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w") as screen:
        await screen.type(BUILD, "/remem purpose builds")
        await screen.type(
            BUILD,
            "We decided to drop Windows builds because nobody uses them.",
            "@remem remember: the build host is b7",
            "/remem",
        )
    async with terminal(tmp_path / "w") as screen:
        said = await _asked(screen, BUILD, "what about Windows builds?")
        assert "drop Windows builds" in said.splitlines()[1]
        assert "b7" in await _asked(screen, BUILD, "which is the build host?")


@pytest.mark.asyncio
async def test_a_fact_is_found_by_what_it_is_about_before_and_after_the_save(tmp_path: Path) -> None:
    asked = {
        "why did I choose PostgreSQL?": "JSONB",
        "when is Mia's birthday?": "3 March 2019",
        "how old is my daughter?": "3 March 2019",
        "was haben wir über den Cache entschieden?": "Redis",
    }
    facts = (
        "I decided to use PostgreSQL instead of MySQL because of JSONB",
        "My daughter Mia was born on 3 March 2019",
        "wir haben beschlossen, den Cache auf Redis umzustellen",
    )
    async with terminal(tmp_path / "w") as screen:
        await screen.type("/dm", *facts)
        for question, answer in asked.items():
            assert answer in await _asked(screen, "/dm", question)
        await screen.type("/dm", "/remem")
    async with terminal(tmp_path / "w") as screen:
        for question, answer in asked.items():
            assert answer in await _asked(screen, "/dm", question)
        assert "don't know" in await _asked(screen, "/dm", "why did I choose MongoDB?")


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
async def test_what_a_template_says_is_no_memory_of_anybody(tmp_path: Path, layout: str) -> None:
    questions = ("where do I live?", "what do you know about me?", "where are my daily notes?", "who is the owner?")
    async with terminal(tmp_path / "w", layout=layout) as screen:
        await screen.type("/dm", "hello")
        for question in (*questions, "in what language do you answer?", "do you know where the group is?"):
            assert "From memory" not in await _asked(screen, "/dm", question), question


@pytest.mark.asyncio
async def test_what_a_person_wrote_into_a_templates_page_is_quoted(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w") as screen:
        await screen.type("/dm", "hello")
    page = tmp_path / "w/MEMORY.md"
    page.write_text(page.read_text("utf-8").replace("- Owner: stands in USER.md", "- Owner: Ana, in Graz"), "utf-8")
    async with terminal(tmp_path / "w") as screen:
        assert "Ana, in Graz" in await _asked(screen, "/dm", "who is the owner?")


@pytest.mark.asyncio
@pytest.mark.parametrize("where", [BUILD, "/dm"])
@pytest.mark.parametrize("layout", ["apm", "adaptive", "dreaming"])
async def test_what_is_open_is_told_as_it_stands_and_what_is_done_is_not(
    tmp_path: Path, layout: str, where: str
) -> None:
    async with terminal(tmp_path / "w", layout=layout) as screen:
        if where == BUILD:
            await screen.type(where, "/remem purpose builds")
        assert NOTHING_OPEN in await _asked(screen, where, "what is open?")
        await _asked(screen, where, "TODO: paint the fence")
        assert "paint the fence" in await _asked(screen, where, "what tasks are open?")
        await _asked(screen, where, "TODO: buy the nails")
        await _asked(screen, where, "done: paint the fence")
        for question in OPEN:
            said = await _asked(screen, where, question)
            assert said.count("buy the nails") == 1, question
            assert "paint" not in said, question
        assert NOTHING_BLOCKED in await _asked(screen, where, "what is blocked?")
        await screen.type(where, "Blocked: the vpn is down since this morning", "/remem")
        for question in ("what is blocked?", "what is open?"):
            assert "vpn" in await _asked(screen, where, question)
    async with terminal(tmp_path / "w", layout=layout) as screen:
        for question in OPEN:
            said = await _asked(screen, where, question)
            assert "buy the nails" in said, question
            assert "paint" not in said, question


@pytest.mark.asyncio
async def test_a_task_that_was_shown_and_is_done_is_told_as_done_alone(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w") as screen:
        await screen.type(BUILD, "/remem purpose builds", "@remem TODO: paint the fence")
        assert "pending" in await _asked(screen, BUILD, "is the fence painted?")
        await _asked(screen, BUILD, "done: paint the fence")
        said = await _asked(screen, BUILD, "is the fence painted?")
        assert "| done |" in said
        assert "pending" not in said


@pytest.mark.asyncio
async def test_who_asks_to_forget_hears_what_can_be_done(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w") as screen:
        await screen.type(BUILD, "/remem purpose builds")
        for wish in (
            "forget that",
            "please forget it!",
            "vergiss das",
            "bitte vergiss das wieder",
            "忘了这个",
            "忘掉吧",
        ):
            assert CANNOT_FORGET in await _asked(screen, BUILD, wish), wish
        for other in ("don't forget the milk", "I forgot my key", "forget to breathe"):
            assert CANNOT_FORGET not in await _asked(screen, BUILD, other), other
        assert NOT_ASKED in await _asked(screen, BUILD, "the lake is cold")
    assert "`/remem undo`" in CANNOT_FORGET


@pytest.mark.asyncio
async def test_why_in_a_dm_says_here(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w") as screen:
        await screen.type("/dm", "where is my desk?")
        assert "For the last answer here:" in (await screen.type("/dm", "/remem why"))[-1]
