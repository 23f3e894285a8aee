"""That an answer is being made, shown under the thread in which it will stand; Slack has no typing for bots.

Slack takes the status away when the bot says something there, or after two minutes. In a DM's main line, where the
answer stands in no thread, nothing is shown. A workspace that refuses is not asked again.
Rule: https://docs.slack.dev/reference/methods/assistant.threads.setStatus (scope chat:write).
"""

from __future__ import annotations

import asyncio

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.messages import Outgoing
from adapters.slack.posting import Posting
from adapters.slack.refusals import PASSING, error_of

STATUS = "is writing…"
STATUS_S = 1.0
"""How long an answer may wait for its status."""


class Status:
    """The status of all threads of a workspace."""

    def __init__(self, client: AsyncWebClient, posting: Posting) -> None:
        self._client = client
        self._posting = posting
        self._refused = False

    async def show(self, answer: Outgoing) -> None:
        """Show that `answer` is being made. Never raises."""
        if self._refused:
            return
        try:
            async with asyncio.timeout(STATUS_S):
                channel, thread = await self._posting.place(answer)
                if thread:
                    body = {"channel_id": channel, "thread_ts": thread, "status": STATUS}
                    await self._client.api_call("assistant.threads.setStatus", json=body)
        except SlackApiError as refused:
            self._refused = error_of(refused) not in {*PASSING, "thread_not_found", "channel_not_found"}
        except (SlackClientError, aiohttp.ClientError, TimeoutError):
            return
