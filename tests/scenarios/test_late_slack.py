"""What is owed an answer on Slack after an absence: answered in its place, once."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.scenarios.slack_world import DECISION, QUESTION, World, slack_world


async def _unanswered(world: World, ts: str) -> None:
    """The ledger as it is when the program ends before it answers the message (the peer's time is not ours)."""

    def set_back() -> None:
        with closing(sqlite3.connect(world.workspace / ".remem/ledger.db")) as ledger, ledger:
            row = (time.time_ns() // 1000, f"%:{ts}")
            changed = ledger.execute("UPDATE messages SET owed = 1, sent_us = ? WHERE message LIKE ?", row)
            assert changed.rowcount == 1

    await asyncio.to_thread(set_back)


@pytest.mark.asyncio
async def test_case_23_what_was_not_answered_is_answered_in_its_thread_once(tmp_path: Path) -> None:
    async with slack_world(tmp_path, "socket", rooms=["build"]) as world:
        build = world.rooms["build"]
        await world.peer.say(build, world.ana, DECISION)
        ts = await world.peer.mention(build, world.ben, QUESTION)
        await world.posts(build, thread=ts)
        await world.stop()
        await _unanswered(world, ts)
        since = len(world.peer.posts)
        await world.start()
        (late,) = await world.posts(build, thread=ts, since=since)
        assert "Redis" in late.text
        await world.stop()
        await world.start()
        await world.settled(build)
        assert len([post for post in world.said_in(build) if post.thread_ts == ts]) == 2, "before, and late"
