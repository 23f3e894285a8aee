"""Where a season is lived: two groups and a DM on the console, on Discord or on Slack, on a clock that is moved.

    async with world(folder, "discord", "apm") as on:
        await on.enter(Place.BUILD)
        await on.says(Place.BUILD, "ana", "We decided …")
        answer = await on.asks(Place.BUILD, "ben", "what did we decide?")
        await on.time_passes(to=…)

The program runs in this process (real files, real SQLite, the clock in our hands), and speaks with the platform's
peer over real sockets, through the platform's own library. What people say bears the time of the moved clock, as ids
and time stamps of the platform; so it belongs to the day on which it was said. Slash commands carry the peer's own
time: none of those that are used here writes it down.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from adapters.base import Adapter, Taken
from adapters.console.adapter import ConsoleAdapter
from adapters.discord.adapter import DiscordAdapter
from adapters.messages import Incoming
from adapters.slack.adapter import SlackAdapter
from bot.app import App, opened
from bot.behind import rooms_behind
from bot.platforms import was_called
from bot.settings import Settings
from memory_core.clock import Clock, ManualClock
from memory_core.handle import Handle
from memory_core.ids import DirectScope, GroupScope, PersonKey, Scope
from memory_core.layouts import Layout, layout_named
from memory_core.sleep.report import Report, Stage
from memory_core.store.disk import Disk
from tests.peers.discord import DiscordPeer
from tests.peers.discord import world as discord
from tests.peers.slack import SlackPeer
from tests.peers.slack import world as slack
from tests.scenarios.program import DEADLINE_S
from tests.scenarios.season import PEOPLE, PURPOSES, Place
from tests.scenarios.terminal import START, settings

Platform: TypeAlias = Literal["console", "discord", "slack"]
_DISCORD_EPOCH_MS = 1_420_070_400_000
LINE_S = 20.0
"""So long a person takes for a line."""


class Seat(Protocol):
    """One platform: what people do there, and what the bot says to it."""

    def adapter(self, app: App) -> Adapter:
        """An adapter for a program that starts."""
        ...

    def person(self, name: str) -> PersonKey:
        """Somebody's key."""
        ...

    async def connected(self) -> None:
        """Wait until the adapter that runs can be spoken to."""
        ...

    async def invite(self, place: Place) -> None:
        """The bot comes into the group's room."""
        ...

    async def say(self, place: Place, who: str, text: str, *, to_bot: bool) -> None:
        """Somebody says something there; handed in when this returns. In the DM everything is for the bot."""
        ...

    async def command(self, place: Place, who: str, words: str) -> None:
        """Somebody uses /remem; handed in when this returns."""
        ...

    def said(self) -> list[tuple[Place, str]]:
        """All that the bot said so far: where, what."""
        ...

    async def answered(self, count: int) -> None:
        """Wait until the bot said `count` things in all."""
        ...


@dataclass(slots=True)
class Heard:
    """Counts what was handed in, so that one can wait for it."""

    app: App | None = None
    keys: set[str] = field(default_factory=set)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def take(self, incoming: Incoming) -> Taken:
        """Hand one event in."""
        assert self.app is not None
        taken = await self.app.turn.take_in(incoming)
        async with self.news:
            self.keys |= {incoming.event, str(incoming.message or "")}
            self.news.notify_all()
        return taken

    async def came(self, ending: str) -> None:
        """Wait until an event was taken whose key ends in `ending`."""
        async with asyncio.timeout(DEADLINE_S), self.news:
            while not any(key.endswith(ending) for key in self.keys):
                await self.news.wait()


class ConsoleSeat:
    """A terminal at which everybody sits."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._at: Place | None = None
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._read = asyncio.Event()
        self._who, self._where = "", ""
        self._said: list[tuple[Place, str]] = []

    def adapter(self, app: App) -> Adapter:
        """A fresh terminal."""
        self._lines, self._read, self._who, self._where = asyncio.Queue(), asyncio.Event(), "", ""
        owners = (self.person("ana"),)
        return ConsoleAdapter(
            self._typed(), self._shown, self._clock, app.new_id, app.parts.conversations.settled, owners=owners
        )

    async def _typed(self) -> AsyncIterator[str]:
        while True:
            self._read.set()
            yield await self._lines.get()

    def _shown(self, text: str) -> None:
        assert self._at is not None
        self._said.append((self._at, text))

    def person(self, name: str) -> PersonKey:
        """Somebody's key."""
        return PersonKey(f"console:{name}")

    async def connected(self) -> None:
        """Wait for the first prompt."""
        await self._read.wait()

    async def _type(self, line: str) -> None:
        self._read.clear()
        self._lines.put_nowait(line)
        await self._read.wait()

    async def _sit(self, place: Place, who: str) -> None:
        self._at = place
        if who != self._who:
            self._who = who
            await self._type(f"/as {who}")
        where = "/dm" if place is Place.DM else f"/join #{place}"
        if where != self._where:
            self._where = where
            await self._type(where)

    async def invite(self, place: Place) -> None:
        """Ana joins the room for the first time."""
        await self._sit(place, "ana")

    async def say(self, place: Place, who: str, text: str, *, to_bot: bool) -> None:
        """Type it."""
        await self._sit(place, who)
        await self._type(f"@remem {text}" if to_bot and place is not Place.DM else text)

    async def command(self, place: Place, who: str, words: str) -> None:
        """Type it."""
        await self._sit(place, who)
        await self._type(f"/remem {words}")

    def said(self) -> list[tuple[Place, str]]:
        """What stood on the screen, by the room in which it was shown."""
        return self._said

    async def answered(self, count: int) -> None:
        """Here all answers are out when the next line is asked for."""


class DiscordSeat:
    """A server, at the Discord peer."""

    def __init__(self, clock: ManualClock, peer: DiscordPeer, heard: Heard) -> None:
        self._clock, self._peer, self._heard = clock, peer, heard
        self._guild = peer.add_guild("Acme", [place.value for place in PURPOSES])
        self._people = {name: peer.add_user(name, self._guild) for name in PEOPLE}
        self._guild.members[self._people["ana"].id] = (
            self._people["ana"],
            [peer.add_role(self._guild, "admin", discord.ADMINISTRATOR)],
        )
        self._serial = 0
        rooms = {place: self._guild.channel(place.value) for place in PURPOSES}
        self._rooms = {**rooms, Place.DM: peer.dm(self._people["ana"])}
        self._places = {room.id: place for place, room in self._rooms.items()}

    def adapter(self, app: App) -> Adapter:
        """An adapter for the peer, as `remem run` makes it."""
        self._peer.gateway.forget_sessions()
        return DiscordAdapter(
            self._peer.token,
            self._peer.proxy_url,
            connector=self._peer.connector,
            guild_ready_timeout_s=0.02,
            behind=partial(rooms_behind, app.parts.intake, "discord"),
        )

    def person(self, name: str) -> PersonKey:
        """Somebody's key."""
        return PersonKey(f"discord:{self._people[name].id}")

    async def connected(self) -> None:
        """Wait until a session is ready."""
        await self._peer.connected()

    async def invite(self, place: Place) -> None:
        """On Discord a room is entered by addressing the bot."""
        await self.say(place, "ana", "hello", to_bot=True)

    async def say(self, place: Place, who: str, text: str, *, to_bot: bool) -> None:
        """A message with an id of the moved clock."""
        self._serial += 1
        moment_ms = int(self._clock.now().timestamp() * 1000) - _DISCORD_EPOCH_MS
        channel, text = self._rooms[place], f"{self._peer.bot.mention} {text}" if to_bot else text
        message = discord.Message(channel, self._people[who], text, id=(moment_ms << 22) | self._serial)
        channel.messages[message.id] = message
        await self._peer.announce("MESSAGE_CREATE", message)
        await self._heard.came(f":{message.id}")

    async def command(self, place: Place, who: str, words: str) -> None:
        """The slash command."""
        action, _, text = words.partition(" ")
        asked = await self._peer.command(self._rooms[place], self._people[who], action, text)
        await self._heard.came(f":{asked.id}")

    def said(self) -> list[tuple[Place, str]]:
        """What the bot posted, to the room or to one person in it."""
        return [(self._places[said.channel.id], said.text) for said in self._peer.said]

    async def answered(self, count: int) -> None:
        """Wait until the bot said `count` things in all."""
        await self._peer.sent(lambda _: True, count)


class SlackSeat:
    """A workspace, at the Slack peer."""

    def __init__(self, clock: ManualClock, peer: SlackPeer) -> None:
        self._clock, self._peer = clock, peer
        self._people = {name: peer.user(name, admin=name == "ana") for name in PEOPLE}
        everybody = list(self._people.values())
        rooms = {place: peer.channel(place.value, members=everybody, bot=False) for place in PURPOSES}
        self._rooms: dict[Place, slack.Channel] = {**rooms, Place.DM: peer.dm(self._people["ana"])}
        self._places = {room.id: place for place, room in self._rooms.items()}
        self._adapter: SlackAdapter | None = None
        self._serial = 0

    def adapter(self, app: App) -> Adapter:
        """An adapter for the peer, which does not wait a second between two messages."""
        self._adapter = SlackAdapter(
            self._peer.bot_token,
            self._peer.app_token,
            self._peer.signing_secret,
            api_url=self._peer.api_url,
            pace_s=0.0,
            was_called=partial(was_called, app),
        )
        return self._adapter

    def person(self, name: str) -> PersonKey:
        """Somebody's key."""
        return PersonKey(f"slack:{self._peer.world.team}:{self._people[name].id}")

    async def connected(self) -> None:
        """Wait until events can come in."""
        assert self._adapter is not None
        await self._adapter.ready.wait()

    async def invite(self, place: Place) -> None:
        """`/invite @remem`."""
        await self._peer.invite_bot(self._rooms[place], self._people["ana"])

    async def say(self, place: Place, who: str, text: str, *, to_bot: bool) -> None:
        """A message with a time stamp of the moved clock; acknowledged when this returns."""
        self._serial += 1
        ts = f"{int(self._clock.now().timestamp())}.{self._serial:06}"
        mention = f"<@{self._peer.bot.id}> " if to_bot and place is not Place.DM else ""
        await self._peer.say(self._rooms[place], self._people[who], f"{mention}{text}", ts=ts)

    async def command(self, place: Place, who: str, words: str) -> None:
        """The slash command; acknowledged when this returns."""
        await self._peer.command(self._rooms[place], self._people[who], words)

    def said(self) -> list[tuple[Place, str]]:
        """What the bot posted, to the room or to one person in it."""
        return [(self._places[post.channel], post.text) for post in self._peer.posts]

    async def answered(self, count: int) -> None:
        """Wait until the bot said `count` things in all."""
        await self._peer.sent(count, deadline_s=DEADLINE_S)


class Unsynced(Disk):
    """A disk of which nobody pulls the plug, so nothing waits for it; its files bear the time of the moved clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def sync(self, descriptor: int) -> None:
        """Only the time."""
        moment_ns = int(self._clock.now().timestamp()) * 10**9
        os.utime(descriptor, ns=(moment_ns, moment_ns))

    def sync_folder(self, descriptor: int) -> None:
        """Not now."""


@dataclass(slots=True)
class World:
    """The program and its platform. `reports`: what every sleep told, by scope key, oldest first."""

    workspace: Path
    platform: Platform
    layout: Layout
    clock: ManualClock
    seat: Seat
    heard: Heard
    given: Mapping[str, object]
    reports: list[tuple[Scope, datetime, Report]] = field(default_factory=list)
    starts: int = 0
    after_sleep: Callable[[Place], Awaitable[None]] | None = None
    """Looks at a memory after each of its sleeps."""
    _life: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def settings(self) -> Settings:
        """Those of the program."""
        return settings(self.workspace, **self.given)

    @property
    def app(self) -> App:
        """The running program."""
        assert self.heard.app is not None
        return self.heard.app

    # -- the life of the process -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the workspace and connect."""
        app = await self._life.enter_async_context(
            opened(self.settings, clock=self.clock, zone=UTC, disk=Unsynced(self.clock))
        )
        self.heard.app = app
        self._note_reports(app)
        adapter = self.seat.adapter(app)
        app.add(adapter)
        await app.take_up()
        running = asyncio.create_task(
            adapter.run(self.heard.take, partial(app.turn.answer_owed, adapter.platform)), name=adapter.platform
        )
        self._life.push_async_callback(self._end, app, adapter, running)
        connected = asyncio.create_task(self.seat.connected())
        await asyncio.wait({running, connected}, return_when=asyncio.FIRST_COMPLETED, timeout=DEADLINE_S)
        assert connected.done(), running
        self.starts += 1

    async def stop(self) -> None:
        """End as on SIGTERM: at once; what is durable is kept."""
        await self._life.aclose()
        self.heard.app = None

    @staticmethod
    async def _end(app: App, adapter: Adapter, running: asyncio.Task[None]) -> None:
        await app.parts.conversations.close()
        await adapter.close()
        if isinstance(adapter, ConsoleAdapter):
            running.cancel()  # it waits for a line that nobody types
        await asyncio.gather(running, return_exceptions=isinstance(adapter, ConsoleAdapter))

    def _note_reports(self, app: App) -> None:
        sleep = app.sleeping._sleep

        async def noted(scope: Scope, stage: Stage) -> Report | None:
            report = await sleep(scope, stage)
            if report is not None:
                self.reports.append((scope, self.clock.now(), report))
            return report

        app.sleeping._sleep = noted

    # -- time --------------------------------------------------------------------------------------------------

    async def time_passes(self, until: datetime) -> None:
        """Move the clock, stopping at every timer on the way, as the schedule would wake for it."""
        schedule = self.app.schedule
        while (due := await schedule.next_due()) is not None and due <= until:
            self.clock.move_to(max(due, self.clock.now()))
            told = len(self.reports)
            await schedule.ring()
            slept = {scope.key for scope, _, _ in self.reports[told:]}
            for place in (place for place in Place if self.scope(place).key in slept):
                if self.after_sleep is not None:
                    await self.after_sleep(place)
        self.clock.move_to(max(until, self.clock.now()))

    # -- what people do ----------------------------------------------------------------------------------------

    async def enter(self, place: Place) -> str:
        """The bot comes into a group, which tells it what it is for; all that it said."""
        before = len(self.seat.said())
        await self.seat.invite(place)
        await self._settled()
        await self.command(place, "ana", f"purpose {PURPOSES[place]}")
        return self._since(before, place)

    async def says(self, place: Place, who: str, text: str) -> str:
        """Somebody says something to the others (in the DM: to the bot); what the bot said."""
        return await self._done(place, self.seat.say(place, who, text, to_bot=False), answers=0)

    async def asks(self, place: Place, who: str, text: str) -> str:
        """Somebody asks the bot; its answer."""
        return await self._done(place, self.seat.say(place, who, text, to_bot=place is not Place.DM))

    async def command(self, place: Place, who: str, words: str) -> str:
        """Somebody uses /remem; the answer."""
        return await self._done(place, self.seat.command(place, who, words))

    async def _done(self, place: Place, act: Awaitable[None], *, answers: int = 1) -> str:
        before = len(self.seat.said())
        await act
        await self._settled()
        await self.seat.answered(before + answers)  # just after a start it takes a while
        await self._settled()
        self.clock.advance(LINE_S)
        return self._since(before, place)

    async def _settled(self) -> None:
        await self.app.parts.conversations.settled()

    def _since(self, before: int, place: Place) -> str:
        said = self.seat.said()[before:]
        assert {where for where, _ in said} <= {place}, f"an answer of {place} went elsewhere: {said}"
        return "\n".join(text for _, text in said)

    # -- what came of it ---------------------------------------------------------------------------------------

    def scope(self, place: Place) -> Scope:
        """Whose memory it is, by the design."""
        if place is not Place.DM:
            return GroupScope(place.value)
        return DirectScope(self.seat.person("ana"), owner="owner" in self.given)

    def handle(self, place: Place) -> Handle:
        """A fresh handle on the memory."""
        return self.app.parts.handles.open(self.scope(place))

    def reports_of(self, place: Place, stage: Stage | None = None) -> list[Report]:
        """What the sleeps of that memory told, oldest first."""
        scope = self.scope(place)
        return [report for of, _, report in self.reports if of == scope and stage in (None, report.stage)]


@asynccontextmanager
async def world(folder: Path, platform: Platform, layout: str) -> AsyncIterator[World]:
    """A platform with people, and remem on an empty workspace, which runs. Ana is the owner but on Discord."""
    clock, heard = ManualClock(START), Heard()
    async with AsyncExitStack() as around:
        seat: Seat
        match platform:
            case "console":
                seat = ConsoleSeat(clock)
            case "discord":
                seat = DiscordSeat(clock, await around.enter_async_context(DiscordPeer()), heard)
            case "slack":
                seat = SlackSeat(clock, await around.enter_async_context(SlackPeer()))
        given: dict[str, object] = {"layout": layout, "discord_people": "on"}
        if platform != "discord":
            given["owner"] = seat.person("ana")
        made = World(folder / "workspace", platform, layout_named(layout), clock, seat, heard, given)
        await made.start()
        try:
            yield made
        finally:
            await made.stop()
