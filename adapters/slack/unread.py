"""HTTP mode's outermost door: what cannot be read as a request is answered 400, without a line in the log.

bolt reads a request before it checks who signed it, so anybody who finds the address could fill the log with
tracebacks. What can be read goes on to bolt, which checks the signature.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_bolt_request

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_UNREADABLE = (ValueError, LookupError, AttributeError, TypeError, RecursionError)
"""What bolt's reading meets: no JSON, no text, an unknown charset, JSON that is no object, JSON too deep."""


def guarded(server: web.Application) -> web.Application:
    """`server`, with this door in front of it."""
    server.middlewares.append(_refuse_unreadable)
    return server


@web.middleware
async def _refuse_unreadable(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """400 for what is no request of Slack's. Too large a body is aiohttp's 413."""
    try:
        int(request.headers.get("X-Slack-Request-Timestamp", "0"))
        await to_bolt_request(request)
    except _UNREADABLE:
        return web.Response(status=400)
    return await handler(request)
