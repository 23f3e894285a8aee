"""SlackPeer: a workspace to talk to the bot in. How to use it stands in the package's docstring."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Literal, Self

from aiohttp import web

from tests.peers.slack.delivery import Delivered, Transport
from tests.peers.slack.web_api import Fault, WebApi
from tests.peers.slack.world import Call, Channel, Edit, Json, Post, SlackRefuses, User, World

SCOPES = frozenset(
    {
        *("app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "files:read"),
        *("files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history"),
        *("mpim:read", "users:read"),
    }
)


class SlackPeer:
    """One workspace with one bot in it, on a free port of 127.0.0.1."""

    def __init__(self, mode: Literal["socket", "http"] = "socket", team: str = "T1", team_name: str = "Acme") -> None:
        self.world = World(team, team_name)
        self.bot = User("UREMEM", "remem", team)
        self.bot_id = "BREMEM"
        self.bot_token, self.app_token, self.signing_secret = "xoxb-right", "xapp-right", "signing-right"
        self.world.users[self.bot.id] = self.bot
        self.api = WebApi(self.world, self.bot.id, self.bot_id, self.bot_token, self.app_token)
        self.api.scopes = set(SCOPES)
        self.api.on_post = self._echo
        self.api.on_change = self._changed
        self.transport = Transport(self.world, mode, self.signing_secret)
        self.transport.tickets = self.api.tickets
        self.echoes = True
        """Does the bot hear its own posts, as it does from Slack?"""
        self._echoing: set[asyncio.Task[Delivered]] = set()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        server = web.Application()
        server.add_routes([*self.api.routes(), web.get("/link", self.transport.link)])
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.api.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for gate in self.api.gates.values():
            gate.set()
        for task in tuple(self._echoing):
            task.cancel()
        await asyncio.gather(*self._echoing, return_exceptions=True)
        await self.transport.close()
        if self._runner is not None:
            await self._runner.cleanup()
        for _ in range(3):
            await asyncio.sleep(0)  # closed connections end on the loop's next rounds

    # -- addresses and settings -----------------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """What REMEM_SLACK_API_URL is set to."""
        return f"{self.api.url}/api/"

    @property
    def environment(self) -> dict[str, str]:
        """The settings that point `remem run` at this peer, except mode and port."""
        return {
            "SLACK_BOT_TOKEN": self.bot_token,
            "SLACK_APP_TOKEN": self.app_token,
            "SLACK_SIGNING_SECRET": self.signing_secret,
            "REMEM_SLACK_API_URL": self.api_url,
        }

    @property
    def events_url(self) -> str:
        """Where HTTP mode sends its requests."""
        return self.transport.events_url

    @events_url.setter
    def events_url(self, url: str) -> None:
        self.transport.events_url = url

    @property
    def acknowledge_s(self) -> float:
        """How long an acknowledgement may take (Slack: 3 s)."""
        return self.transport.acknowledge_s

    @acknowledge_s.setter
    def acknowledge_s(self, seconds: float) -> None:
        self.transport.acknowledge_s = seconds

    @property
    def deliveries(self) -> list[Delivered]:
        """Every event, command and button that was sent, with its tries."""
        return self.transport.deliveries

    @property
    def posts(self) -> list[Post]:
        """Everything that the bot said so far."""
        return self.world.posts

    @property
    def edits(self) -> list[Edit]:
        """Every edit that the bot made so far."""
        return self.world.edits

    def stands(self, channel: Channel) -> list[str]:
        """What the bot's messages in a channel say now, in order."""
        return [str(said["text"]) for said in channel.messages.values() if said.get("bot_id") == self.bot_id]

    def calls(self, method: str = "") -> list[Call]:
        """The Web API calls so far, of one method or all."""
        return [call for call in self.world.calls if method in {"", call.method}]

    # -- the workspace --------------------------------------------------------------------------------------------

    def user(
        self,
        name: str,
        *,
        admin: bool = False,
        guest: bool = False,
        team: str = "",
        id: str = "",  # noqa: A002 - Slack's word
    ) -> User:
        """A person; of another organisation with another `team`."""
        user = User(id or f"U{self.world.number():04}A", name, team or self.world.team, admin, guest)
        self.world.users[user.id] = user
        return user

    def channel(
        self,
        name: str,
        *,
        members: Sequence[User] = (),
        private: bool = False,
        bot: bool = True,
        topic: str = "",
        purpose: str = "",
        shared: bool = False,
        creator: User | None = None,
        id: str = "",  # noqa: A002 - Slack's word
    ) -> Channel:
        """A channel; the bot is in it unless `bot` is False."""
        inside = {user.id for user in members} | ({self.bot.id} if bot else set())
        made = Channel(id or f"C{self.world.number():04}B", name, "group" if private else "channel", inside)
        made.topic, made.purpose, made.shared, made.creator = topic, purpose, shared, creator.id if creator else ""
        self.world.channels[made.id] = made
        return made

    def dm(self, user: User) -> Channel:
        """The person's 1:1 DM with the bot."""
        return self.world.dm(self.bot.id, [user.id])

    def group_dm(self, *users: User) -> Channel:
        """A group DM of these people with the bot; its id begins with C, as Slack's do now."""
        return self.world.dm(self.bot.id, [user.id for user in users])

    def dm_between(self, one: User, other: User) -> Channel:
        """A DM of two people, which the bot cannot see."""
        made = Channel(f"D{self.world.number():04}Z", "", "im", {one.id, other.id})
        self.world.channels[made.id] = made
        return made

    # -- what people do -------------------------------------------------------------------------------------------

    async def say(self, channel: Channel, user: User, text: str, thread: str = "", **more: object) -> str:
        """A message; returns its ts once the event was delivered. `more` goes into the message as it is."""
        message = self._message(channel, user, text, thread, **more)
        await self.event(channel, self._in_channel(channel, message))
        return str(message["ts"])

    async def mention(
        self,
        channel: Channel,
        user: User,
        text: str,
        thread: str = "",
        first: Literal["app_mention", "message"] = "app_mention",
    ) -> str:
        """`@remem text`: the two events that Slack sends for one mention; returns the message's ts."""
        message = self._message(channel, user, f"<@{self.bot.id}> {text}".strip(), thread)
        events = [message | {"type": "app_mention", "channel": channel.id}, self._in_channel(channel, message)]
        for event in events if first == "app_mention" else events[::-1]:
            await self.event(channel, event)
        return str(message["ts"])

    async def app_post(self, channel: Channel, name: str, text: str = "", **more: object) -> str:
        """Another app's post, with `blocks` or `attachments`."""
        message: Json = {
            "type": "message",
            "subtype": "bot_message",
            "text": text,
            "bot_id": "BOTHER",
            "username": name,
        }
        message |= {"ts": self.world.ts(), **more}
        channel.messages[str(message["ts"])] = message
        await self.event(channel, self._in_channel(channel, message))
        return str(message["ts"])

    async def notice(self, channel: Channel, subtype: str, user: User, text: str) -> str:
        """One of Slack's own notices (channel_name, channel_join …), which takes no answers."""
        return await self.say(channel, user, text, subtype=subtype)

    async def edit(self, channel: Channel, ts: str, text: str, *, unfurl: bool = False) -> None:
        """Change a message's text; `unfurl`: Slack adds a link preview and the text stays."""
        before = dict(channel.messages[ts])
        after = before | (
            {"attachments": [{"fallback": "preview", "from_url": "https://example.com"}]} if unfurl else {}
        )
        if not unfurl:
            after |= {"text": text, "edited": {"user": before.get("user"), "ts": self.world.ts()}}
        channel.messages[ts] = after
        changed: Json = {"type": "message", "subtype": "message_changed", "hidden": True, "ts": self.world.ts()}
        changed |= {"message": after, "previous_message": before}
        await self.event(channel, self._in_channel(channel, changed))

    async def delete(self, channel: Channel, ts: str) -> None:
        """Take a message away."""
        before = channel.messages.pop(ts)
        gone: Json = {"type": "message", "subtype": "message_deleted", "hidden": True, "ts": self.world.ts()}
        gone |= {"deleted_ts": ts, "previous_message": before}
        await self.event(channel, self._in_channel(channel, gone))

    async def invite_bot(self, channel: Channel, inviter: User) -> None:
        """`/invite @remem`."""
        channel.members.add(self.bot.id)
        letter = "C" if channel.kind == "channel" else "G"
        joined: Json = {"type": "member_joined_channel", "user": self.bot.id, "channel": channel.id}
        joined |= {
            "channel_type": letter,
            "team": self.world.team,
            "inviter": inviter.id,
            "event_ts": self.world.ts(),
        }
        await self.event(channel, joined)

    async def remove_bot(self, channel: Channel) -> None:
        """`/remove @remem`."""
        channel.members.discard(self.bot.id)
        kind = "channel_left" if channel.kind == "channel" else "group_left"
        await self.event(channel, {"type": kind, "channel": channel.id, "event_ts": self.world.ts()})

    async def rename(self, channel: Channel, name: str) -> None:
        """Rename a channel."""
        channel.name = name
        renamed: Json = {"type": "channel_rename", "event_ts": self.world.ts()}
        await self.event(channel, renamed | {"channel": {"id": channel.id, "name": name, "created": 1}})

    async def command(self, channel: Channel, user: User, text: str = "", thread: str = "") -> Delivered:
        """`/remem text`. Raises SlackRefuses in a thread, where slash commands do not exist."""
        if thread:
            raise SlackRefuses("/remem is not supported in threads. Sorry!")
        names = {"group": "privategroup", "im": "directmessage", "mpim": channel.name}
        payload: Json = {
            "command": "/remem",
            "text": text,
            "team_id": user.team,
            "team_domain": self.world.team_name.lower(),
            "channel_id": channel.id,
            "channel_name": names.get(channel.kind, channel.name),
            "user_id": user.id,
            "user_name": user.name,
            "trigger_id": f"{self.world.number()}.1.abc",
            "response_url": self.api.new_response_url(channel.id, user.id),
            "api_app_id": "A1",
        }
        return await self.transport.deliver("slash_commands", payload)

    async def press(self, post: Post, user: User, number: int = 0) -> Delivered:
        """Press a button under one of the bot's posts."""
        message: Json = {
            "ts": post.ts,
            "text": post.text,
            **({"thread_ts": post.thread_ts} if post.thread_ts else {}),
        }
        payload: Json = {
            "type": "block_actions",
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
            "team": {"id": self.world.team, "domain": self.world.team_name.lower()},
            "channel": {"id": post.channel, "name": self.world.channels[post.channel].name},
            "container": {
                "type": "message",
                "message_ts": post.ts,
                "channel_id": post.channel,
                "is_ephemeral": False,
            },
            "message": message,
            "actions": [{**post.buttons[number], "block_id": "b", "action_ts": self.world.ts()}],
            "trigger_id": f"{self.world.number()}.1.abc",
            "response_url": self.api.new_response_url(post.channel, user.id),
            "api_app_id": "A1",
        }
        return await self.transport.deliver("interactive", payload)

    # -- what Slack does ------------------------------------------------------------------------------------------

    async def event(
        self, channel: Channel, event: Mapping[str, object], *, retries: int = 3, first: int = 0
    ) -> Delivered:
        """Deliver one event; `first` begins with that retry number."""
        return await self.transport.deliver("events_api", self.envelope(channel, event), retries, first)

    def envelope(self, channel: Channel, event: Mapping[str, object]) -> Json:
        """The payload around an event. In a shared channel the outer team is the author's organisation."""
        author = self.world.users.get(str(event.get("user", "")))
        authorization = {"enterprise_id": None, "team_id": self.world.team, "user_id": self.bot.id, "is_bot": True}
        return {
            "type": "event_callback",
            "team_id": author.team if author and channel.shared else self.world.team,
            "api_app_id": "A1",
            "event": {"event_ts": event.get("ts", self.world.ts()), **event},
            "event_id": f"Ev{self.world.number():06}",
            "event_time": 1_712_412_120,
            "authorizations": [authorization],
            "is_ext_shared_channel": channel.shared,
        }

    async def again(self, delivered: Delivered, retry: int = 1) -> Delivered:
        """The same event once more, as Slack repeats it when an acknowledgement was lost."""
        return await self.transport.deliver(delivered.envelope, delivered.payload, 0, retry)

    async def forge(self, channel: Channel, event: Mapping[str, object]) -> int:
        """A request with a wrong signature (HTTP mode); returns its status."""
        status, _ = await self.transport.request("events_api", self.envelope(channel, event), secret="wrong")
        return status

    async def disconnect(self, *, warned: bool = True) -> None:
        """End the Socket Mode connection: a refresh with a warning, or without a word."""
        await self.transport.disconnect(warned=warned)

    async def connected(self) -> None:
        """Wait until the bot has a Socket Mode connection."""
        await self.transport.connected()

    def refuse(
        self, method: str, error: str, *, times: int = 1, status: int = 200, retry_after_s: float | None = None
    ) -> None:
        """The next `times` calls of `method` are refused; `ratelimited` with status 429 and Retry-After."""
        limited = error == "ratelimited"
        fault = Fault(error, 429 if limited else status, 1.0 if limited and retry_after_s is None else retry_after_s)
        self.api.faults[method] = deque([*self.api.faults[method], *[fault] * times])

    @contextlib.contextmanager
    def hold(self, method: str) -> Iterator[asyncio.Event]:
        """Within the block `method` does not answer, unless the event that it yields is set."""
        gate = self.api.gates[method] = asyncio.Event()
        try:
            yield gate
        finally:
            gate.set()
            self.api.gates.pop(method, None)

    async def quiet(self) -> None:
        """Wait until the bot has heard its own posts; a bot in this process is best closed after that."""
        await asyncio.gather(*self._echoing, return_exceptions=True)

    # -- what came of it ------------------------------------------------------------------------------------------

    async def sent(
        self,
        count: int = 1,
        *,
        channel: Channel | None = None,
        thread: str | None = None,
        to: User | None = None,
        since: int = 0,
        deadline_s: float = 10.0,
    ) -> list[Post]:
        """What the bot said since post number `since`: waits until there are `count`. Raises TimeoutError.

        `thread` "" asks for the main line; `to` for what only that person sees.
        """

        def found() -> list[Post]:
            return [
                post
                for post in self.world.posts[since:]
                if (channel is None or post.channel == channel.id)
                and (thread is None or post.thread_ts == thread)
                and (to is None or post.to == to.id)
            ]

        await self.world.until(lambda: len(found()) >= count, deadline_s, f"{count} post(s)")
        return found()

    # -- payloads -------------------------------------------------------------------------------------------------

    def _message(self, channel: Channel, user: User, text: str, thread: str, **more: object) -> Json:
        message: Json = {"type": "message", "user": user.id, "text": text, "ts": self.world.ts(), "team": user.team}
        if thread:
            root = channel.messages.get(thread, {})
            message |= {"thread_ts": thread, "parent_user_id": root.get("user", "")}
        message |= more
        channel.messages[str(message["ts"])] = message
        return message

    def _in_channel(self, channel: Channel, message: Json) -> Json:
        return message | {"channel": channel.id, "channel_type": channel.kind}

    def _echo(self, channel: Channel, message: Json) -> None:
        """The bot's own post comes back to it as an event."""
        if self.echoes:
            task = asyncio.get_running_loop().create_task(self.event(channel, self._in_channel(channel, message)))
            self._echoing.add(task)
            task.add_done_callback(self._echoing.discard)

    def _changed(self, channel: Channel, after: Json | None, before: Json) -> None:
        """The bot's own edit, or deletion, comes back to it."""
        changed: Json = {"type": "message", "hidden": True, "ts": self.world.ts(), "previous_message": before}
        if after is None:
            changed |= {"subtype": "message_deleted", "deleted_ts": before["ts"]}
        else:
            changed |= {"subtype": "message_changed", "message": after}
        self._echo(channel, changed)
