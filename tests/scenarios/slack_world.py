"""A Slack workspace with people in it, and `remem run` as a process of its own that serves it, in one of two modes.

What people do stands in the peer; here is what a scenario does again and again: talk, ask, call a command, each until
the bot has answered. Rooms keep their order, so an answer proves that everything before it in its room is worked off.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from tests.peers.slack import Channel, Delivered, Post, SlackPeer, User
from tests.scenarios.program import DEADLINE_S, Program, start

Mode: TypeAlias = Literal["socket", "http"]

ACKNOWLEDGE_S = 3.0
"""Slack's own limit for a command."""

QUESTION = "what did we decide about the session cache?"
DECISION = "We decided to use Redis for the session cache because sessions must survive a restart."


@dataclass(slots=True)
class World:
    """The peer, the process and two people; Ana is an admin of the workspace."""

    peer: SlackPeer
    remem: Program
    workspace: Path
    environment: Mapping[str, str]
    ana: User
    ben: User
    rooms: dict[str, Channel] = field(default_factory=dict)
    """The channels into which the bot was invited."""

    # -- what people do -------------------------------------------------------------------------------------------

    async def enter(self, name: str, *, private: bool = False, topic: str = "") -> Channel:
        """A new channel into which Ana invites the bot; it has greeted, and records, when this returns."""
        channel = self.peer.channel(name, members=[self.ana, self.ben], bot=False, private=private, topic=topic)
        await self.peer.invite_bot(channel, self.ana)
        await self.posts(channel)
        await self.settled(channel)
        self.rooms[name] = channel
        return channel

    async def enter_group_dm(self, *people: User) -> Channel:
        """A new group DM in which the bot was mentioned: it has greeted and answered."""
        channel = self.peer.group_dm(*people)
        await self.peer.mention(channel, people[0], "hello")
        await self.posts(channel, 2)
        self.rooms["+".join(person.name for person in people)] = channel
        return channel

    async def teach(self, name: str) -> Channel:
        """One of the rooms, which knows of Redis from now on."""
        channel = self.rooms[name]
        await self.peer.say(channel, self.ana, DECISION)
        await self.settled(channel)
        return channel

    async def ask(self, channel: Channel, user: User, text: str, thread: str = "") -> Post:
        """Mention the bot; the (first piece of the) answer, which must stand where an answer to it belongs."""
        since = len(self.peer.posts)
        ts = await self.peer.mention(channel, user, text, thread)
        place = thread or ("" if channel.kind in {"im", "mpim"} else ts)
        return (await self.posts(channel, thread=place, since=since))[0]

    async def tell(self, user: User, text: str, thread: str = "") -> Post:
        """Write to the bot in a DM; its answer."""
        since, channel = len(self.peer.posts), self.peer.dm(user)
        await self.peer.say(channel, user, text, thread)
        return (await self.posts(channel, thread=thread, since=since))[0]

    async def command(self, channel: Channel, user: User, text: str) -> Post:
        """`/remem text`, acknowledged in time: the (first piece of the) answer, which only `user` sees."""
        since = len(self.peer.posts)
        delivered = await self.peer.command(channel, user, text)
        assert acknowledged(delivered)
        return (await self.posts(channel, to=user, since=since))[0]

    async def save(self, channel: Channel, user: User) -> Post:
        """`/remem`, acknowledged in time: the receipt, which stands in the channel."""
        since = len(self.peer.posts)
        delivered = await self.peer.command(channel, user)
        assert acknowledged(delivered)
        return (await self.posts(channel, since=since))[0]

    async def settled(self, channel: Channel) -> None:
        """All that was said in the channel is worked off, and what had to be said to it is posted."""
        await self.command(channel, self.ana, "status")

    # -- what came of it ------------------------------------------------------------------------------------------

    async def posts(
        self,
        channel: Channel,
        count: int = 1,
        *,
        thread: str | None = None,
        to: User | None = None,
        since: int = 0,
    ) -> list[Post]:
        """What the bot said there since post number `since`; waits until there are `count`."""
        wanted = self.peer.sent(count, channel=channel, thread=thread, to=to, since=since, deadline_s=DEADLINE_S)
        return await self.remem.while_running(wanted)

    async def posts_until(self, last: str, channel: Channel, *, since: int) -> list[Post]:
        """All that the bot said there since post number `since`, once there is a post that holds `last`."""

        def said() -> list[Post]:
            return [post for post in self.peer.posts[since:] if post.channel == channel.id]

        came = self.peer.world.until(lambda: any(last in post.text for post in said()), DEADLINE_S, last)
        await self.remem.while_running(came)
        return said()

    def said_in(self, channel: Channel) -> list[Post]:
        """What the bot has said in a channel until now, visible to all."""
        return [post for post in self.peer.posts if post.channel == channel.id and not post.to]

    def file(self, name: str) -> str:
        """A file of the workspace; '' where there is none."""
        path = self.workspace / name
        return path.read_text("utf-8") if path.exists() else ""

    def names(self) -> dict[str, str]:
        """Room key → name, as group_names.json holds it."""
        rows: dict[str, dict[str, str]] = json.loads(self.file("memory/groups/group_names.json") or "{}")
        return {key: row["name"] for key, row in rows.items()}

    def name(self, channel: Channel) -> str:
        """The name of the channel's memory; '' where it has none."""
        return self.names().get(f"slack:{self.peer.world.team}:{channel.id}", "")

    def page(self, channel: Channel, page: str) -> str:
        """A page of the channel's memory; '' where there is none."""
        return self.file(f"memory/groups/{self.name(channel)}/{page}.md")

    def purpose(self, channel: Channel) -> str:
        """The line of the channel's index that holds its purpose; '' where it has no index."""
        lines = self.file(f"memory/groups/{self.name(channel)}.md").splitlines()
        return next((line for line in lines if line.startswith("purpose:")), "")

    def transcript(self, channel: Channel, thread: str | None = None) -> list[str]:
        """What the ledger keeps of a channel's conversations (or of one): `name: text`, in order."""
        room = f"slack:{self.peer.world.team}:{channel.id}"
        rows = self._ledger(
            "SELECT author_name || ': ' || texts.text, thread FROM messages "
            "JOIN texts ON texts.id = messages.text_id WHERE room = ? ORDER BY seq",
            room,
        )
        return [str(text) for text, place in rows if thread in {None, place}]

    def events(self, channel: Channel, ts: str) -> int:
        """How many events of that message the ledger knows."""
        key = f"slack:{self.peer.world.team}:{channel.id}:{ts}"
        return len(self._ledger("SELECT event FROM events WHERE event = ?", key))

    def _ledger(self, question: str, *values: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(f"file:{self.workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
            return ledger.execute(question, values).fetchall()

    # -- the life of the process ----------------------------------------------------------------------------------

    async def stop(self) -> None:
        """SIGTERM: it must end cleanly."""
        await self.peer.quiet()
        code = await self.remem.stop()
        assert code == 0, f"exit code {code}; remem wrote:\n{self.remem.stderr}"
        assert "Traceback" not in self.remem.stderr, self.remem.stderr

    async def start(self) -> None:
        """Start it again."""
        self.remem = await _started(self.workspace, self.environment)


def acknowledged(delivered: Delivered) -> bool:
    """Was a command or button acknowledged at the first try, and in time?"""
    (attempt,) = delivered.attempts
    return attempt.outcome == "acknowledged" and attempt.took_s < ACKNOWLEDGE_S


async def _started(workspace: Path, environment: Mapping[str, str]) -> Program:
    remem = await start(workspace, environment)
    await remem.logged("Slack is connected")
    return remem


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


@asynccontextmanager
async def slack_world(
    folder: Path, mode: Mode, *, rooms: Sequence[str] = (), **settings: str
) -> AsyncIterator[World]:
    """A workspace, and remem on an empty folder, connected to it and invited into `rooms`.

    It posts one message a second in each channel, so a scenario with a room of its own that was greeted before waits
    least. `settings`: more of its environment.
    """
    async with SlackPeer(mode) as peer:
        port, workspace = _free_port(), folder / "workspace"
        peer.events_url = f"http://127.0.0.1:{port}/slack/events"
        environment = {**peer.environment, "REMEM_SLACK_MODE": mode, "REMEM_SLACK_PORT": str(port), **settings}
        remem = await _started(workspace, environment)
        ana, ben = peer.user("ana", admin=True), peer.user("ben")
        world = World(peer, remem, workspace, environment, ana, ben)
        try:
            await asyncio.gather(*(world.enter(name) for name in rooms))
            yield world
            if world.remem.process.returncode is None:
                await world.stop()
        finally:
            await world.remem.kill()
