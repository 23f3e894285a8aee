"""Saying something else in place of what was said: messages that stand are edited, more are sent, too many deleted.

A message that somebody deleted keeps its place and is not said again; the others are revised all the same, so that
none of them is left half. Any other refusal ends the revision. As in everything that we say, nobody is notified.
"""

from __future__ import annotations

from contextlib import suppress

import discord

from adapters.discord import render
from adapters.discord.errors import REFUSALS, UNKNOWN_MESSAGE, delivery, why
from adapters.discord.normalise import message_id
from adapters.discord.places import channel_id
from adapters.messages import Delivery, Outgoing, Sent
from memory_core.ids import MessageKey, message_key

REVISE_S = 1.5
"""Discord takes about five edits in five seconds in one channel; what is left is for all else that is said there."""


async def revise(client: discord.Client, sent: Sent, outgoing: Outgoing) -> Sent:
    """Let the messages of `sent` say `outgoing`. Never raises for a refusal."""
    channel = client.get_partial_messageable(channel_id(sent.conversation or outgoing.conversation))
    texts, revision = render.pieces(outgoing), _Revision(channel, sent, outgoing)
    try:
        for number, text in enumerate(texts):
            await revision.put(number, text)
        for number in reversed(range(len(texts), len(sent.messages))):
            await revision.take_away(number)
    except REFUSALS as error:
        return revision.outcome(delivery(error), why(error))
    return revision.outcome(Delivery.SENT)


class _Revision:
    """What stands while it is being changed."""

    def __init__(self, channel: discord.PartialMessageable, sent: Sent, outgoing: Outgoing) -> None:
        self._channel = channel
        self._sent = sent
        self._room = outgoing.conversation.room
        self._keys: list[MessageKey] = list(sent.messages)
        self._pieces = [*sent.pieces, *[""] * (len(sent.messages) - len(sent.pieces))]
        self._gone = ""

    async def put(self, number: int, text: str) -> None:
        """The message of that number says `text`. Raises what discord.py raises."""
        if number >= len(self._keys):
            message = await self._channel.send(text, allowed_mentions=render.NO_PINGS)
            self._keys.append(message_key(self._room, str(message.id)))
            self._pieces.append(text)
        elif not self._sent.says(number, text):
            try:
                await self._there(number).edit(content=text, allowed_mentions=render.NO_PINGS)
            except discord.HTTPException as error:
                if error.code != UNKNOWN_MESSAGE:
                    raise
                self._gone = why(error)
            self._pieces[number] = text

    async def take_away(self, number: int) -> None:
        """The last message is not needed any more. Raises what discord.py raises, but not that it is gone."""
        with suppress(discord.NotFound):
            await self._there(number).delete()
        self._keys.pop(number)
        self._pieces.pop(number)

    def _there(self, number: int) -> discord.PartialMessage:
        return self._channel.get_partial_message(message_id(self._keys[number]))

    def outcome(self, delivery: Delivery, reason: str = "") -> Sent:
        """What stands now."""
        if self._gone and delivery is Delivery.SENT:
            delivery, reason = Delivery.GONE, self._gone
        return Sent(delivery, tuple(self._keys), reason, self._sent.conversation, tuple(self._pieces))
