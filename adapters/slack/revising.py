"""Saying something else in place of what was said: chat.update, chat.delete, and posts for what comes on top.

* Pace: edits and deletions are counted by Slack for the whole workspace, so they have one lane for all channels.
* Pings and links: an edit forgets how the message was parsed, unless it tells again (`parse`, `link_names`).
* A message that somebody deleted keeps its place and is not said again; any other refusal ends the revision.
* Length: as `posting`; an answer that grew over ten pieces becomes, when it is whole, its beginning and a file.

Rules: https://docs.slack.dev/reference/methods/chat.update (Tier 3: 50 a minute, and its errors).
"""

from __future__ import annotations

from dataclasses import replace

from slack_sdk.web.async_client import AsyncWebClient

from adapters.messages import Delivery, Outgoing, Sent
from adapters.slack.pace import Lanes, Refused
from adapters.slack.posting import MOST_PIECES, Posting, head
from adapters.slack.render import pieces
from memory_core.ids import MessageKey

REVISE_S = 1.5
"""The least time between two edits of one answer: with one lane for all there are at most 50 a minute."""

EDIT_PACES = 1.2
"""An edit or a deletion takes so many times the pace of a post: 60 s / 50."""

_LANE = "chat.update"
_AS_POSTED = {"parse": "none", "link_names": False}


class Revising:
    """Changes what was said in one workspace."""

    def __init__(self, client: AsyncWebClient, lanes: Lanes, posting: Posting) -> None:
        self._client = client
        self._lanes = lanes
        self._posting = posting

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Let the messages of `sent` say `outgoing`. Never raises for a refusal."""
        texts = pieces(outgoing.text)
        whole = len(texts) <= MOST_PIECES or outgoing.growing
        wanted = texts[:MOST_PIECES] if whole else pieces(head(outgoing.text))
        try:
            revised = await self._edited(sent, wanted)
        except _Stopped as stopped:
            return stopped.sent
        place = revised.conversation or outgoing.conversation
        missing = wanted[len(revised.messages) :]
        if missing and revised.delivery is Delivery.SENT:
            more = await self._posting.post_all(outgoing, place.room.native, place.thread, missing)
            both = (*revised.messages, *more.messages), (*revised.pieces, *more.pieces)
            revised = replace(revised, delivery=more.delivery, why=more.why, messages=both[0], pieces=both[1])
        if not whole and revised.delivery is Delivery.SENT:
            return await self._posting.attach(revised, outgoing, place.room.native)
        return revised

    async def _edited(self, sent: Sent, texts: tuple[str, ...]) -> Sent:
        """The messages that stand say the first of `texts`; those that are too many are deleted. Raises _Stopped."""
        now = replace(sent, delivery=Delivery.SENT, why="", pieces=_padded(sent))
        gone = ""
        for number, text in enumerate(texts[: len(sent.messages)]):
            if not now.says(number, text):
                gone = await self._edit(now, number, text) or gone
                now = replace(now, pieces=(*now.pieces[:number], text, *now.pieces[number + 1 :]))
        for number in reversed(range(len(texts), len(sent.messages))):
            await self._delete(now, number)
            now = replace(now, messages=now.messages[:number], pieces=now.pieces[:number])
        return replace(now, delivery=Delivery.GONE, why=gone) if gone else now

    async def _edit(self, now: Sent, number: int, text: str) -> str:
        """Change one message; Slack's word where it is gone. Raises _Stopped."""
        channel, ts = _there(now.messages[number])

        async def call() -> str:
            body = {"channel": channel, "ts": ts, "text": text, **_AS_POSTED}
            await self._client.api_call("chat.update", json=body)
            return ""

        try:
            return await self._lanes.call(_LANE, call, paces=EDIT_PACES)
        except Refused as refused:
            if refused.code == "message_not_found":
                return refused.code
            raise _Stopped(now, refused) from None

    async def _delete(self, now: Sent, number: int) -> None:
        """Take one message away; one that is gone is gone. Raises _Stopped."""
        channel, ts = _there(now.messages[number])

        async def call() -> str:
            await self._client.api_call("chat.delete", json={"channel": channel, "ts": ts})
            return ""

        try:
            await self._lanes.call(_LANE, call, paces=EDIT_PACES)
        except Refused as refused:
            if refused.code != "message_not_found":
                raise _Stopped(now, refused) from None


class _Stopped(Exception):
    """Slack refused: what stands by then, and how it is told."""

    def __init__(self, now: Sent, refused: Refused) -> None:
        super().__init__(refused.code)
        told = refused.sent()
        self.sent = replace(now, delivery=told.delivery, why=told.why)


def _padded(sent: Sent) -> tuple[str, ...]:
    return (*sent.pieces, *("",) * (len(sent.messages) - len(sent.pieces)))


def _there(message: MessageKey) -> tuple[str, str]:
    """(channel id, ts) of a message of ours."""
    _, _, channel, ts = message.split(":")
    return channel, ts
