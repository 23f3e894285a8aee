"""Response URLs: the way to answer a command or button in private, five times within 30 minutes.

Rule: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

URL_USES = 5
URL_LIVES_S = 1800.0
_REMEMBERED = 2000


class ResponseUrls:
    """Counts what each URL was used for."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._uses: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def post(self, url: str, body: Mapping[str, object]) -> bool:
        """Post `body`, for the asker alone; False if the URL has had its five uses, is too old or refuses."""
        now = asyncio.get_running_loop().time()
        uses, since = self._uses.get(url, (0, now))
        if uses >= URL_USES or now - since > URL_LIVES_S:
            return False
        self._uses[url] = (uses + 1, since)
        while len(self._uses) > _REMEMBERED:
            self._uses.popitem(last=False)
        private = {
            "response_type": "ephemeral",
            "replace_original": False,
            "unfurl_links": False,
            "unfurl_media": False,
        }
        try:
            answer = await AsyncWebhookClient(url, session=self._client.session).send_dict(private | dict(body))
        except (SlackClientError, aiohttp.ClientError, TimeoutError):
            return False
        return answer.status_code == 200
