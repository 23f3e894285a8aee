"""Socket Mode's websocket: what slack_sdk leaves out.

An address of `apps.connections.open` is good for one connection and for seconds only, but the SDK tries a refused one
again and again, for ever: a bot that lost its network between the two calls would stay deaf. Here an address is
forgotten as soon as it is used, so that every try asks for a new one.
Rule: https://docs.slack.dev/apis/events-api/using-socket-mode ("each WebSocket URL can only be used once").
"""

from __future__ import annotations

import logging
import re
from types import SimpleNamespace

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient

_TICKET = re.compile(r"(?<=ticket=)[^&'\"\s]+")
_NETWORK = (aiohttp.ClientError, SlackClientError, OSError, TimeoutError)


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
