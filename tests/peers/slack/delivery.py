"""How events, commands and buttons reach the bot: a websocket envelope or a signed request, until it is acknowledged.

An event that is refused or not acknowledged in time comes again, with retry numbers 1 to 3
(https://docs.slack.dev/apis/events-api#retries; Slack waits minutes in between, this peer does not). Commands and
buttons come once: a late acknowledgement is what people see as `operation_timeout`.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from tests.peers.slack.rules import signature
from tests.peers.slack.world import Json, World

Envelope: TypeAlias = Literal["events_api", "slash_commands", "interactive"]

RETRIES = 3


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try: its retry number, `acknowledged`, `refused` or `late`, how long it took, what came back with it."""

    retry: int
    outcome: Literal["acknowledged", "refused", "late"]
    took_s: float
    status: int = 200
    answer: Json | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    """One event, command or button with all its tries."""

    envelope: Envelope
    payload: Json
    attempts: tuple[Attempt, ...]

    @property
    def acknowledged(self) -> bool:
        """Was it acknowledged in the end?"""
        return self.attempts[-1].outcome == "acknowledged"


class Transport:
    """Sends to the bot, over whichever way `mode` says."""

    def __init__(self, world: World, mode: Literal["socket", "http"], secret: str) -> None:
        self._world = world
        self._mode = mode
        self._secret = secret
        self._sockets: list[web.WebSocketResponse] = []
        self._waiting: dict[str, asyncio.Future[Json | None]] = {}
        self.tickets: set[str] = set()
        self.events_url = ""
        self.acknowledge_s = 3.0
        self.connect_s = 10.0
        self.deliveries: list[Delivered] = []
        self.connections = 0

    async def deliver(self, envelope: Envelope, payload: Json, retries: int = RETRIES, first: int = 0) -> Delivered:
        """Send until it is acknowledged or the retries are used up."""
        attempts: list[Attempt] = []
        last = first + (retries if envelope == "events_api" else 0)
        reason = "http_timeout" if first else ""
        for retry in range(first, last + 1):
            attempt = await (self._by_socket if self._mode == "socket" else self._by_http)(
                envelope, payload, retry, reason
            )
            attempts.append(attempt)
            if attempt.outcome == "acknowledged":
                break
            reason = "http_timeout" if attempt.outcome == "late" else "http_error"
        delivered = Delivered(envelope, payload, tuple(attempts))
        self.deliveries.append(delivered)
        self._world.ring()
        return delivered

    # -- Socket Mode ----------------------------------------------------------------------------------------------

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        """The websocket of Socket Mode: a ticket is good for one connection."""
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            raise web.HTTPUnauthorized(text="invalid ticket")
        self.tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": len(self._sockets) + 1, "connection_info": {}})
        self._sockets.append(socket)
        self.connections += 1
        self._world.ring()
        try:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._heard(json.loads(message.data))
        finally:
            if socket in self._sockets:
                self._sockets.remove(socket)
            self._world.ring()
        return socket

    def _heard(self, said: Json) -> None:
        waiting = self._waiting.pop(str(said.get("envelope_id")), None)
        if waiting is not None and not waiting.done():
            payload = said.get("payload")
            waiting.set_result(payload if isinstance(payload, dict) else None)

    async def connected(self) -> None:
        """Wait until the bot has a websocket open."""
        await self._world.until(lambda: bool(self._sockets), self.connect_s, "a Socket Mode connection")

    async def disconnect(self, *, warned: bool = True) -> None:
        """End all connections: with Slack's `disconnect` message (a refresh), or without a word."""
        for socket in tuple(self._sockets):
            if warned:
                await socket.send_json({"type": "disconnect", "reason": "refresh_requested", "debug_info": {}})
            else:
                await socket.close()
            if socket in self._sockets:
                self._sockets.remove(socket)

    async def close(self) -> None:
        """End all connections for good."""
        for socket in tuple(self._sockets):
            await socket.close()

    async def _by_socket(self, envelope: Envelope, payload: Json, retry: int, reason: str) -> Attempt:
        await self.connected()
        number = f"envelope{self._world.number()}"
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        begun = time.monotonic()
        told: Json = {"envelope_id": number, "type": envelope, "payload": payload, "retry_attempt": retry}
        told |= {"retry_reason": reason, "accepts_response_payload": envelope != "events_api"}
        try:
            await self._sockets[-1].send_json(told)
            answer = await asyncio.wait_for(waiting, self.acknowledge_s)
        except (TimeoutError, ConnectionError):
            self._waiting.pop(number, None)
            return Attempt(retry, "late", time.monotonic() - begun)
        return Attempt(retry, "acknowledged", time.monotonic() - begun, answer=answer)

    # -- HTTP -----------------------------------------------------------------------------------------------------

    async def _by_http(self, envelope: Envelope, payload: Json, retry: int, reason: str) -> Attempt:
        begun = time.monotonic()
        try:
            status, answer = await self.request(envelope, payload, retry, reason)
        except (TimeoutError, aiohttp.ClientError):
            return Attempt(retry, "late", time.monotonic() - begun)
        outcome: Literal["acknowledged", "refused"] = "acknowledged" if 200 <= status < 300 else "refused"
        return Attempt(retry, outcome, time.monotonic() - begun, status, answer)

    async def request(
        self, envelope: Envelope, payload: Json, retry: int = 0, reason: str = "", *, secret: str | None = None
    ) -> tuple[int, Json | None]:
        """One signed request; another `secret` signs it wrongly. Returns the status and what came with it."""
        if envelope == "slash_commands":
            body, kind = (
                urlencode({name: str(value) for name, value in payload.items()}),
                "application/x-www-form-urlencoded",
            )
        elif envelope == "interactive":
            body, kind = urlencode({"payload": json.dumps(payload)}), "application/x-www-form-urlencoded"
        else:
            body, kind = json.dumps(payload), "application/json"
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self._secret if secret is None else secret, timestamp, body),
        }
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason}
        limit = aiohttp.ClientTimeout(total=self.acknowledge_s)
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.post(self.events_url, data=body.encode(), headers=headers) as answer,
        ):
            text = await answer.text()
            said = json.loads(text) if text.startswith("{") else None
            return answer.status, said if isinstance(said, dict) else None
