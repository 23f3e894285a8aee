"""The way out to Slack: where a message goes, how fast, and what becomes of a refusal.

* Place: a thread's answer goes to its thread and nowhere else; an answer to a message of a channel's main line goes
  to a thread under it; in DMs and group DMs the main line is answered in the main line. What is for everybody in
  the room goes to the main line.
* Pace: `pace`.
* Length: pieces of at most 3,900 characters, up to ten; what is longer comes as its beginning and a file.
* Private: through the response URL (`private`), then as an ephemeral message.
"""

from __future__ import annotations

from slack_sdk.web.async_client import AsyncWebClient

from adapters.messages import Delivery, Outgoing, Sent
from adapters.slack.directory import Directory
from adapters.slack.interactions import opened
from adapters.slack.pace import Lanes, Refused
from adapters.slack.private import ResponseUrls
from adapters.slack.refusals import NO_THREAD_HERE
from adapters.slack.render import PIECE_CHARACTERS, SECTION_CHARACTERS, pieces, with_buttons
from adapters.text import split
from memory_core.ids import Conversation, RoomKind, message_key

MOST_PIECES = 10
"""An answer of more pieces comes as its beginning and a file."""

_HEAD_CHARACTERS = 2500
_QUIET = {"unfurl_links": False, "unfurl_media": False}


def head(text: str) -> str:
    """What is said of an answer that comes as a file: how it begins, and where the whole is."""
    note = f"*The whole answer ({len(text):,} characters) is in the file answer.md.*"
    return f"{split(text, _HEAD_CHARACTERS)[0]}\n\n{note}"


class Posting:
    """Says things in one workspace."""

    def __init__(self, client: AsyncWebClient, directory: Directory, lanes: Lanes) -> None:
        self._client = client
        self._directory = directory
        self._lanes = lanes
        self._urls = ResponseUrls(client)

    async def send(self, outgoing: Outgoing) -> Sent:
        """Say it; never raises for a refusal."""
        try:
            if outgoing.private:
                return await self._privately(outgoing)
            channel, thread = await self.place(outgoing)
            sent = await self._say(outgoing, channel, thread)
        except Refused as refused:
            sent = refused.sent()
        if sent.delivery is Delivery.GONE and outgoing.answer_to and not outgoing.private:
            return await self.send(
                Outgoing(outgoing.conversation, outgoing.text, private=True, answer_to=outgoing.answer_to)
            )
        return sent

    async def tell(self, answer_to: str, text: str) -> bool:
        """One private line through the response URL alone; False if it is used up or gone."""
        _, url = opened(answer_to)
        return bool(url) and await self._urls.post(url, {"text": text})

    async def place(self, outgoing: Outgoing) -> tuple[str, str]:
        """(channel id, thread ts or "") of where it goes. Raises Refused where a DM cannot be opened."""
        if outgoing.person is not None:
            return await self._dm_with(outgoing.person.native), ""
        room, thread = outgoing.conversation.room, outgoing.conversation.thread
        if outgoing.to_room:
            return room.native, ""
        start = f"{room}:"
        if not thread and outgoing.reply_to is not None and outgoing.reply_to.startswith(start):
            kind = await self._directory.kind(room.native)
            thread = "" if kind in {RoomKind.DIRECT, RoomKind.GROUP_DM} else outgoing.reply_to[len(start) :]
        return room.native, thread

    async def _dm_with(self, user: str) -> str:
        async def call() -> str:
            answer = await self._client.conversations_open(users=user)
            channel = answer.get("channel") or {}
            return str(channel.get("id", ""))

        return await self._lanes.call(f"dm {user}", call)

    async def _say(self, outgoing: Outgoing, channel: str, thread: str) -> Sent:
        limit = SECTION_CHARACTERS if outgoing.buttons else PIECE_CHARACTERS
        texts = pieces(outgoing.text, limit)
        if not texts:
            return Sent(Delivery.FAILED, why="no_text")
        if len(texts) > MOST_PIECES and not outgoing.growing:
            return await self._as_file(outgoing, channel, thread)
        return await self.post_all(outgoing, channel, thread, texts[:MOST_PIECES])

    async def post_all(self, outgoing: Outgoing, channel: str, thread: str, texts: tuple[str, ...]) -> Sent:
        """The pieces in order, buttons under the last; at top level where a message takes no answers under it."""
        stamps: list[str] = []
        for number, text in enumerate(texts):
            body: dict[str, object] = {"channel": channel, "text": text, **_QUIET}
            if outgoing.buttons and number == len(texts) - 1:
                body["blocks"] = with_buttons(text, outgoing.buttons)
            try:
                stamps.append(await self._post(channel, body, thread))
            except Refused as refused:
                if refused.code not in NO_THREAD_HERE or not thread or stamps:
                    return self._sent(outgoing, channel, thread, stamps, refused.sent(), texts)
                thread = ""
                stamps.append(await self._post(channel, body, thread))
        return self._sent(outgoing, channel, thread, stamps, Sent(Delivery.SENT), texts)

    def _sent(
        self, outgoing: Outgoing, channel: str, thread: str, stamps: list[str], outcome: Sent, texts: tuple[str, ...]
    ) -> Sent:
        room = outgoing.conversation.room
        room = type(room)(room.rsplit(":", 1)[0] + f":{channel}")
        place = Conversation(room, thread)
        keys = tuple(message_key(room, ts) for ts in stamps)
        moved = place if place != outgoing.conversation else None
        return Sent(outcome.delivery, keys, outcome.why, moved, texts[: len(keys)])

    async def _post(self, channel: str, body: dict[str, object], thread: str) -> str:
        async def call() -> str:
            answer = await self._client.api_call(
                "chat.postMessage", json=body | ({"thread_ts": thread} if thread else {})
            )
            return str(answer.get("ts", ""))

        return await self._lanes.call(channel, call)

    async def _as_file(self, outgoing: Outgoing, channel: str, thread: str) -> Sent:
        """The beginning as a message, the whole as a file; in pieces after all where files are not allowed."""
        sent = await self.post_all(outgoing, channel, thread, pieces(head(outgoing.text)))
        if sent.delivery is not Delivery.SENT:
            return sent
        return await self.attach(sent, outgoing, channel)

    async def attach(self, sent: Sent, outgoing: Outgoing, channel: str) -> Sent:
        """The whole text as a file under its `head`, which is `sent`; in pieces where files are not allowed."""
        thread = (sent.conversation or outgoing.conversation).thread

        async def call() -> str:
            await self._client.files_upload_v2(
                channel=channel,
                thread_ts=thread or None,
                filename="answer.md",
                title="answer.md",
                content=outgoing.text,
            )
            return ""

        try:
            await self._lanes.call(channel, call)
        except Refused:
            _, *rest = split(outgoing.text, _HEAD_CHARACTERS)
            texts = tuple(text for piece in rest for text in pieces(piece))
            more = await self.post_all(outgoing, channel, thread, texts)
            return Sent(
                more.delivery, sent.messages + more.messages, more.why, sent.conversation, sent.pieces + more.pieces
            )
        return sent

    async def _privately(self, outgoing: Outgoing) -> Sent:
        """To the asker alone, each piece by the response URL while it lives."""
        user, url = opened(outgoing.answer_to)
        if not user:
            return Sent(Delivery.FAILED, why="a private answer needs answer_to")
        texts = pieces(outgoing.text, SECTION_CHARACTERS if outgoing.buttons else PIECE_CHARACTERS)
        for number, text in enumerate(texts):
            body: dict[str, object] = {"text": text}
            if outgoing.buttons and number == len(texts) - 1:
                body["blocks"] = with_buttons(text, outgoing.buttons)
            if not (url and await self._urls.post(url, body)):
                await self._ephemeral(outgoing.conversation, user, body)
        return Sent(Delivery.SENT if texts else Delivery.FAILED, why="" if texts else "no_text")

    async def _ephemeral(self, place: Conversation, user: str, body: dict[str, object]) -> None:
        async def call() -> str:
            thread = {"thread_ts": place.thread} if place.thread else {}
            whole = {"channel": place.room.native, "user": user, **thread, **body}
            await self._client.api_call("chat.postEphemeral", json=whole)
            return ""

        await self._lanes.call(place.room.native, call)
