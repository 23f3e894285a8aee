"""The life of remem's connection to Slack: connect, take events in, close. slack-bolt carries it, unpatched.

bolt acknowledges an event before a listener runs, so everything happens in its last global middleware, which answers
itself once the event is durable (`inbox`). Whatever comes, nothing is answered 404, which would make Slack repeat it.
Our own posts come back as events and are handed on as Voice.SELF.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
from aiohttp import web
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.base import CaughtUp, Check, Deliver, nothing_owed
from adapters.messages import Delivery, Outgoing, Sent
from adapters.slack import checks
from adapters.slack.directory import LOOK_UP_S, Directory
from adapters.slack.facts import Me
from adapters.slack.inbox import Inbox, WasCalled
from adapters.slack.link import quiet_logger, socket_mode
from adapters.slack.manifest import EVENTS_PATH, Mode
from adapters.slack.pace import PACE_S, Lanes
from adapters.slack.posting import Posting
from adapters.slack.render import PIECE_CHARACTERS
from adapters.slack.revising import REVISE_S, Revising
from adapters.slack.status import Status
from adapters.slack.unread import guarded
from memory_core.errors import RememError
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey

API_URL = "https://slack.com/api/"

_log = logging.getLogger(__name__)


class SlackAdapter:
    """Slack as remem's platform.

    `was_called` tells of threads from before this start; `host` None listens everywhere. `pace_s`, `revise_s`,
    `look_up_s` and `sleep` are there for tests.
    """

    def __init__(
        self,
        bot_token: str,
        app_token: str | None = None,
        signing_secret: str | None = None,
        mode: Mode = "socket",
        port: int = 3000,
        api_url: str = API_URL,
        *,
        host: str | None = None,
        was_called: WasCalled | None = None,
        pace_s: float = PACE_S,
        revise_s: float = REVISE_S,
        look_up_s: float = LOOK_UP_S,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._app_token, self._signing_secret, self._mode = app_token, signing_secret, mode
        self._host, self._was_called = host, was_called
        self._client = AsyncWebClient(token=bot_token, base_url=api_url)
        self._directory = Directory(self._client, look_up_s)
        lanes = Lanes(pace_s, sleep)
        self._posting = Posting(self._client, self._directory, lanes)
        self._revising = Revising(self._client, lanes, self._posting)
        self._status = Status(self._client, self._posting)
        self._revise_s = revise_s
        self._inbox: Inbox | None = None
        self._me: Me | None = None
        self._closing, self._ended = asyncio.Event(), asyncio.Event()
        self._running = False
        self.port = port
        """Where HTTP mode listens; the port that was given out where 0 was asked for."""
        self.ready = asyncio.Event()
        """Set while events can come in."""

    @property
    def platform(self) -> str:
        """`slack`."""
        return "slack"

    @property
    def piece_characters(self) -> int:
        """The most that one message holds."""
        return PIECE_CHARACTERS

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Connect and deliver events until `close` is called.

        Raises RememError where a token is missing or refused, or the port is taken.
        """
        self._running = True
        try:
            async with aiohttp.ClientSession() as session:
                self._client.session = session
                self._me = await checks.who_we_are(self._client)
                self._inbox = Inbox(self._me, self._directory, self._posting, deliver, self._was_called)
                app = self._app(self._me, self._inbox)
                async with self._way_in(app):
                    if not self._closing.is_set():
                        self.ready.set()
                        listens = f"HTTP, port {self.port}, path {EVENTS_PATH}"
                        _log.info("Slack is connected (%s)", "Socket Mode" if self._mode == "socket" else listens)
                        await caught_up()
                    await self._closing.wait()
                await self._inbox.close()
                await self._directory.close()
        finally:
            self._client.session = None
            self._running = False
            self.ready.clear()
            self._ended.set()

    async def send(self, outgoing: Outgoing) -> Sent:
        """Say it, at Slack's pace; see `posting` for where it goes."""
        sent = await self._posting.send(outgoing)
        if sent.delivery is Delivery.SENT and self._inbox is not None and not outgoing.private:
            self._inbox.called_into(sent.conversation or outgoing.conversation)
        return sent

    @property
    def revise_s(self) -> float:
        """What Slack's limit of edits allows."""
        return self._revise_s

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Say something else in place of what was said; see `revising`."""
        return await self._revising.revise(sent, outgoing)

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """A status under the thread in which the answer to `message` will stand; see `status`."""
        await self._status.show(Outgoing(conversation, "", message))

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """A workspace admin or owner, or the channel's creator; in a DM its person."""
        return self._me is not None and await checks.is_admin(self._directory, self._me, room, person)

    async def shares_server(self, person: PersonKey) -> bool | None:
        """Full members of the workspace do; guests and people of other organisations (Slack Connect) do not."""
        return await checks.is_colleague(self._directory, self._me, person) if self._me else None

    async def check(self) -> tuple[Check, ...]:
        """Token, scopes and the way in, for `remem doctor`."""
        return await checks.doctor(self._client, self._mode, self._app_token, self._signing_secret)

    async def close(self) -> None:
        """Stop taking events, then disconnect."""
        self._closing.set()
        if self._running:
            await self._ended.wait()

    # -- bolt -----------------------------------------------------------------------------------------------------

    def _app(self, me: Me, inbox: Inbox) -> AsyncApp:
        """bolt with our own answer to who we are, so that no request waits for auth.test."""
        secret = checks.need_signing_secret(self._signing_secret) if self._mode == "http" else ""

        async def take(req: AsyncBoltRequest) -> BoltResponse:
            retry = (req.headers.get("x-slack-retry-num") or ["0"])[0]
            return await inbox.take(req.body, int(retry) if retry.isdecimal() else 0)

        app = AsyncApp(
            name="remem",
            logger=quiet_logger(),
            client=AsyncWebClient(base_url=self._client.base_url),
            authorize=checks.authorizer(me, self._client.token or ""),
            signing_secret=secret,
            ignoring_self_events_enabled=False,
        )
        app.middleware(take)
        return app

    def _way_in(self, app: AsyncApp) -> contextlib.AbstractAsyncContextManager[None]:
        if self._mode == "http":
            return self._http_mode(app)
        return socket_mode(app, self._client, self._app_token, self._closing)

    @contextlib.asynccontextmanager
    async def _http_mode(self, app: AsyncApp) -> AsyncIterator[None]:
        """A web server that Slack sends signed requests to; bolt checks the signatures (401)."""
        runner = web.AppRunner(guarded(app.web_app(path=EVENTS_PATH, port=self.port)), access_log=None)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, self._host, self.port).start()
            except OSError as refused:
                why = f"Port {self.port} cannot be listened on ({refused.strerror})"
                raise RememError(f"{why}; set REMEM_SLACK_PORT to a free one.") from refused
            self.port = int(runner.addresses[0][1])
            yield
        finally:
            await runner.cleanup()
