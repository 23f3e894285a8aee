"""Calls to Slack at the pace it takes them, each channel for itself: one after the other, about one a second.

A 429 is obeyed, for that channel alone; a passing fault is tried again after a pause. What may have arrived is not
tried again: it could be said twice. Limits: https://docs.slack.dev/apis/web-api/rate-limits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.messages import Delivery, Sent
from adapters.slack.refusals import DELIVERIES, PASSING, error_of, wait_of

PACE_S = 1.0
"""The least time between two messages in one channel."""

TRIES = 3
LONGEST_WAIT_S = 120.0
"""A longer wait than this is not waited for: the answer would come when nobody expects it."""

_LANES = 2000


class Refused(Exception):
    """A call that Slack refused for good, by its code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    def sent(self) -> Sent:
        """The refusal as the outcome of a sending."""
        return Sent(DELIVERIES.get(self.code, Delivery.FAILED), why=self.code)


@dataclass(slots=True)
class _Lane:
    """One channel's turn: who calls next waits until `ready_at`."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ready_at: float = 0.0


class Lanes:
    """The turns of all channels."""

    def __init__(self, pace_s: float = PACE_S, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._pace_s = pace_s
        self._sleep = sleep
        self._lanes: OrderedDict[str, _Lane] = OrderedDict()

    async def call(self, lane_of: str, ask: Callable[[], Awaitable[str]], *, paces: float = 1.0) -> str:
        """Call in that channel's turn, again after a pause where Slack asks for one. Raises Refused.

        `paces`: how many times the pace the next call in this lane waits.
        """
        pace_s = self._pace_s * paces
        lane = self._lanes.setdefault(lane_of, _Lane())
        self._lanes.move_to_end(lane_of)
        while len(self._lanes) > _LANES:
            self._lanes.popitem(last=False)
        async with lane.lock:
            code = "ratelimited"
            for attempt in range(TRIES):
                await self._until(lane.ready_at)
                lane.ready_at = asyncio.get_running_loop().time() + pace_s
                try:
                    return await ask()
                except SlackApiError as refused:
                    code, wait_s = error_of(refused), wait_of(refused)
                    wait_s = float(attempt + 1) if wait_s is None and code in PASSING else wait_s
                except aiohttp.ClientConnectorError as refused:
                    code, wait_s = f"Slack cannot be reached: {refused}", float(attempt + 1)
                except (SlackClientError, aiohttp.ClientError, TimeoutError) as refused:
                    # It may have arrived: another try could say it twice.
                    code, wait_s = f"no answer from Slack: {type(refused).__name__}", None
                if wait_s is None or wait_s > LONGEST_WAIT_S:
                    break
                lane.ready_at = asyncio.get_running_loop().time() + max(wait_s, pace_s)
            raise Refused(code)

    async def _until(self, moment: float) -> None:
        wait_s = moment - asyncio.get_running_loop().time()
        if wait_s > 0:
            await self._sleep(wait_s)
