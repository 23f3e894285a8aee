"""Issue scenario 2: a person's first day with remem, in one terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_core.ids import GroupScope
from tests.scenarios.terminal import terminal

TALK = (
    "morning all, coffee anyone?",
    "/as ana",
    "/join #build",
    "We decided to use Redis for the session cache because sessions must survive a restart.",
    "/as ben",
    "/join #build",
    "lol my cat sat on the keyboard again",
    "TODO: ben renews the TLS certificate by Friday",
    "nice weather today",
)


@pytest.mark.asyncio
async def test_a_new_room_learns_saves_and_answers_after_a_restart(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with terminal(workspace) as screen:
        (greeting,) = await screen.type("/join #build")
        assert "What is this group for?" in greeting
        answer = await screen.type("/join #build", "/remem purpose We run the build servers")
        assert "We run the build servers" in answer[-1]
        index = workspace / "memory/groups/build.md"
        assert "purpose: We run the build servers" in index.read_text("utf-8")
        await screen.type("/join #build", *TALK[:1], *TALK[1:])
        receipt = (await screen.type("/join #build", "/remem"))[-1]
        assert "1 decision" in receipt
        assert "1 task" in receipt
        assert "experience" in receipt
        assert "attention" in receipt
        assert "Redis" in (workspace / "memory/groups/build/experience.md").read_text("utf-8")
        assert "certificate" in (workspace / "memory/groups/build/attention.md").read_text("utf-8")

    async with terminal(workspace) as screen:
        answer = await screen.type("/join #build", "@remem what did we decide about the session cache?")
        assert "Redis" in answer[-1]
        assert "@ana" in answer[-1]
        assert "experience" in answer[-1]
        screen.reads.clear()
        elsewhere = await screen.type("/join #ops", "@remem what did we decide about the session cache?")
        direct = await screen.type("/dm", "what did we decide about the session cache?")
        for said in (elsewhere[-1], direct[-1]):
            assert "Redis" not in said
            assert "don't know" in said
        assert GroupScope("build") not in {scope for scope, _ in screen.reads}


@pytest.mark.asyncio
@pytest.mark.parametrize("person", ["me", "ana"])
async def test_the_first_reply_of_a_dm_tells_the_last_flush_once_and_in_words_for_somebody_new(
    tmp_path: Path, person: str
) -> None:
    async with terminal(tmp_path / "w") as screen:
        said = await screen.type(f"/as {person}", "/dm", "hello", "where is my desk?", "and my chair?")
        told = [line for line in "\n".join(said).splitlines() if line.startswith("last flush: ")]
        (line,) = told
        assert "never" not in line
        assert "`/remem`" in line
        await screen.type("remember that my desk is number seven", "/remem")
        again = "\n".join(await screen.type("where is my desk?", "and my chair?"))
        assert [line[:14] for line in again.splitlines() if "last flush" in line] == ["last flush: 20"]


@pytest.mark.asyncio
async def test_a_task_told_to_the_bot_in_a_group_is_noted_as_its_speakers(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with terminal(workspace) as screen:
        await screen.type("/join #build", "/remem purpose We run the build servers")
        said = (await screen.type("/as ana", "/join #build", "@remem TODO: renew the certificate"))[-1]
        assert "Noted as a task in attention: renew the certificate" in said
        assert "don't know" not in said
        assert "| renew the certificate | pending | ana |" in (
            workspace / "memory/groups/build/attention.md"
        ).read_text("utf-8")
        said = (await screen.type("/join #build", "@remem done: renew the certificate"))[-1]
        assert "Noted as done in attention: renew the certificate" in said
        said = (await screen.type("/join #build", "@remem decision: use uv for builds; pip is slow", "/remem"))[-1]
        assert "use uv for builds; pip is slow" in (workspace / "memory/groups/build/experience.md").read_text(
            "utf-8"
        )


@pytest.mark.asyncio
async def test_in_the_same_conversation_a_hand_edit_takes_the_place_of_what_was_quoted_before(tmp_path: Path) -> None:
    """Also where only the body changed, and where the record is taken out."""
    question = "@remem what did we decide about the cache?"
    page = tmp_path / "w/memory/groups/build/experience.md"
    async with terminal(tmp_path / "w") as screen:
        await screen.type("/join #build", "/remem purpose builds", "@remem decision: use Redis for the cache")
        assert "use Redis" in (await screen.type("/join #build", question))[-1]
        page.write_text(page.read_text("utf-8").replace("Redis", "Valkey"), "utf-8")
        said = (await screen.type("/join #build", question))[-1]
        assert "use Valkey" in said
        assert "Redis" not in said
        page.write_text(page.read_text("utf-8").replace("Body: use Valkey", "Body: use Dragonfly"), "utf-8")
        said = (await screen.type("/join #build", question))[-1]
        assert "use Dragonfly" in said
        assert "Body" not in said
        assert said.count("\n- ") == 1
        page.write_text("# Experience\n", "utf-8")
        said = (await screen.type("/join #build", question))[-1]
        assert "(experience)" not in said


@pytest.mark.asyncio
async def test_a_chinese_question_is_not_answered_by_any_decision_at_all(tmp_path: Path) -> None:
    async with terminal(tmp_path / "w") as screen:
        await screen.type("/join #build", "/remem purpose builds")
        await screen.type(
            "/join #build", "@remem 决定：我们决定用 Redis 做会话缓存", "@remem 决定：我们用飞书开周会", "/remem"
        )
        (answer,) = await screen.type("/join #build", "@remem 会话缓存我们决定用什么？")
        assert "From memory:\n- " in answer
        assert "Redis" in answer
        assert "飞书" not in answer
        for question in ("对象存储我们决定用什么？", "消息队列我们用什么？"):
            (answer,) = await screen.type("/join #build", f"@remem {question}")
            assert "From memory" not in answer, answer
