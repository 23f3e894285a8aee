"""Socket Mode's websocket, from its opening to its end, with what slack_sdk leaves out.

An address of `apps.connections.open` is good for one connection and for seconds only, but the SDK tries a refused one
again and again, for ever: a bot that lost its network between the two calls would stay deaf. Here an address is
forgotten as soon as it is used, so that every try asks for a new one.
Rule: https://docs.slack.dev/apis/events-api/using-socket-mode ("each WebSocket URL can only be used once").
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator
from types import SimpleNamespace

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import checks

_TICKET = re.compile(r"(?<=ticket=)[^&'\"\s]+")
_NETWORK = (aiohttp.ClientError, SlackClientError, OSError, TimeoutError)


@contextlib.asynccontextmanager
async def socket_mode(
    app: AsyncApp, client: AsyncWebClient, app_token: str | None, closing: asyncio.Event
) -> AsyncIterator[None]:
    """A websocket that we open, until the block ends. Raises RememError if the first address is refused."""
    url = await checks.websocket_url(client, app_token)
    handler = AsyncSocketModeHandler(app, app_token=app_token, web_client=client)
    await use_each_address_once(handler.client)
    handler.client.wss_uri = url
    connecting = asyncio.create_task(handler.connect_async())  # type: ignore[no-untyped-call]  # untyped in bolt
    closed = asyncio.create_task(closing.wait())
    try:  # the client tries for ever, and must not be deaf to `closing` meanwhile
        await asyncio.wait({connecting, closed}, return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        closed.cancel()
        connecting.cancel()
        await handler.close_async()  # type: ignore[no-untyped-call]  # untyped in bolt
        ended = handler.client
        tasks = (ended.message_processor, ended.current_session_monitor, ended.message_receiver)
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)


async def use_each_address_once(client: SocketModeClient) -> None:
    """Make `client` ask for a new address at every try; called before it connects."""

    async def forget(_: aiohttp.ClientSession, __: SimpleNamespace, ___: aiohttp.TraceRequestStartParams) -> None:
        client.wss_uri = None

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(forget)
    await client.aiohttp_client_session.close()
    client.aiohttp_client_session = aiohttp.ClientSession(trace_configs=[trace])


def quiet_logger() -> logging.Logger:
    """The logger for bolt and the SDK: errors only (their hints are for people who write bolt apps); what the network
    does costs one line, and no line shows a ticket."""
    quiet = logging.getLogger("remem.slack_bolt")
    quiet.setLevel(logging.ERROR)
    quiet.addFilter(_plain)
    return quiet


def _plain(record: logging.LogRecord) -> bool:
    record.msg, record.args = _TICKET.sub("…", record.getMessage()), ()
    if record.exc_info and isinstance(record.exc_info[1], _NETWORK):
        record.exc_info = None
    return True
