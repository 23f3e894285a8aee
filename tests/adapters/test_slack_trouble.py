"""What nobody promised: requests that are none, a ledger that refuses, a websocket address that is used up."""

from __future__ import annotations

import io
import json
import logging
import time
from urllib.parse import urlencode

import aiohttp
import pytest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.base import Taken
from adapters.messages import Incoming
from adapters.slack.inbox import NOT_KEPT
from adapters.slack.link import quiet_logger, use_each_address_once
from memory_core.errors import LedgerFailed
from tests.adapters.slack_bench import Mode, Recorder, running
from tests.peers.slack import SlackPeer
from tests.peers.slack.rules import signature

pytestmark = pytest.mark.asyncio

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


async def _status(peer: SlackPeer, body: bytes, kind: str, timestamp: str, *, signed: bool = False) -> int:
    headers = {"Content-Type": kind, "X-Slack-Request-Timestamp": timestamp}
    if signed:
        headers["X-Slack-Signature"] = signature(peer.signing_secret, timestamp, body.decode())
    async with (
        aiohttp.ClientSession() as session,
        session.post(peer.events_url, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status


async def test_what_is_no_request_is_refused_without_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    junk = [
        (b"{x", JSON),
        (b"[1]", JSON),
        (b'"x"', JSON),
        (b"null", JSON),
        (b"[" * 20_000 + b"]" * 20_000, JSON),
        (b"\xff\xfe{", JSON),
        (b"{}", "application/json; charset=none-such"),
        (urlencode({"payload": "{x"}).encode(), FORM),
        (urlencode({"payload": "[1]"}).encode(), FORM),
    ]
    async with SlackPeer("http") as peer, running(peer, "http") as (_, bot):
        now = str(int(time.time()))
        assert [await _status(peer, body, kind, now) for body, kind in junk] == [400] * len(junk)
        assert await _status(peer, b"{}", JSON, "yesterday") == 400
        assert await _status(peer, b"{}", JSON, now) == 401
        assert await _status(peer, b'{"a": "' + b"x" * 5_000_000 + b'"}', JSON, now) == 413
        assert not bot.all
    assert caplog.text == ""


async def test_a_recorded_request_is_not_taken_again_later() -> None:
    async with SlackPeer("http") as peer, running(peer, "http") as (_, bot):
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        event = {"type": "message", "user": ana.id, "text": "again", "ts": "1.2", "channel": build.id}
        body, then = json.dumps(peer.envelope(build, event)).encode(), str(int(time.time()) - 600)
        assert await _status(peer, body, JSON, then, signed=True) == 401
        assert not bot.all


class _Refusing(Recorder):
    async def deliver(self, incoming: Incoming) -> Taken:
        raise LedgerFailed("The disk is full (28).")


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_a_ledger_that_refuses_costs_one_sentence_and_slack_sends_it_again(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    async with SlackPeer(mode) as peer, running(peer, mode, recorder=_Refusing()):
        peer.acknowledge_s = 0.2
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])
        await peer.say(build, ana, "a word that no log repeats")
        assert not peer.deliveries[-1].acknowledged
        told = await peer.command(build, ana, "status")
        assert NOT_KEPT in str(told.attempts[0].answer)
    assert "The disk is full" in caplog.text
    assert "Traceback" not in caplog.text
    assert "no log repeats" not in caplog.text


async def test_an_address_that_was_refused_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async with SlackPeer() as peer:
        web = AsyncWebClient(base_url=peer.api_url)
        client = SocketModeClient(peer.app_token, quiet_logger(), web, ping_interval=0.01)
        await use_each_address_once(client)
        client.wss_uri = f"{peer.api.url}/link?ticket=used-up-long-ago"
        try:
            await client.connect()  # type: ignore[no-untyped-call]
            await peer.connected()
        finally:
            await client.close()  # type: ignore[no-untyped-call]
            client.message_processor.cancel()
    assert len(peer.calls("apps.connections.open")) == 1
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert "Failed to connect" in line
    assert "long-ago" not in line
    assert "Traceback" not in caplog.text
