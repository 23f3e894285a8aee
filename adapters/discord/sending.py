"""Saying something: which way it goes, piece by piece, and what became of it.

    outgoing            token of its interaction   it goes
    answer_to           alive                      through the interaction, for the asker alone if it is private
    answer_to, public   dead or forgotten          to the room, as an ordinary message
    private             dead or forgotten          nowhere; the room hears only that the answer came too late
    person              –                          to the person's DM
    anything else       –                          to the room, under the message that it answers

A refusal ends the sending and becomes a `Delivery`; pieces that stand by then are told.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import discord
from discord.utils import MISSING

from adapters.discord import render
from adapters.discord.asked import TOO_LATE, Asked, AskedTable
from adapters.discord.errors import REFUSALS, delivery, why
from adapters.discord.places import channel_id, key
from adapters.messages import Button, Delivery, Outgoing, Sent
from memory_core.ids import MessageKey, RoomKey, message_key

_Place: TypeAlias = discord.PartialMessageable | discord.DMChannel
_DEAD_TOKEN = frozenset({401, 404})


async def send(client: discord.Client, asked_table: AskedTable, outgoing: Outgoing) -> Sent:
    """Say it. Never raises for a refusal."""
    texts = render.pieces(outgoing)
    said: tuple[MessageKey, ...] = ()
    pieces: tuple[str, ...] = ()
    asked = await asked_table.alive(outgoing.answer_to)
    if asked is not None:
        sent, rest = await _answer(asked, outgoing, texts)
        if not rest:
            return sent
        texts, said, pieces = rest, sent.messages, sent.pieces
    if outgoing.private and outgoing.person is None:
        outgoing, texts = replace(outgoing, buttons=()), (TOO_LATE,)
    sent = await _post(client, outgoing, texts)
    return replace(sent, messages=(*said, *sent.messages), pieces=(*pieces, *sent.pieces))


async def _answer(asked: Asked, outgoing: Outgoing, texts: tuple[str, ...]) -> tuple[Sent, tuple[str, ...]]:
    """Through the interaction. The second value: what is left to say where its token died on the way."""
    keys: list[MessageKey] = []
    for number, text in enumerate(texts):
        view = _view_under(number, texts, outgoing.buttons)
        try:
            message = await asked.say(text, view, private=outgoing.private)
        except REFUSALS as error:
            dead = isinstance(error, discord.HTTPException) and error.status in _DEAD_TOKEN
            sent = Sent(delivery(error), tuple(keys), why(error), pieces=texts[: len(keys)])
            return sent, texts[number:] if dead else ()
        if not outgoing.private:  # what only the asker sees does not stand in the room
            keys.append(message_key(outgoing.conversation.room, str(message.id)))
    return Sent(Delivery.SENT, tuple(keys), pieces=texts[: len(keys)]), ()


async def _post(client: discord.Client, outgoing: Outgoing, texts: tuple[str, ...]) -> Sent:
    """To the room, or to the person's DM."""
    keys: list[MessageKey] = []
    try:
        place, room = await _place(client, outgoing)
        for number, text in enumerate(texts):
            under = render.reference(outgoing, place.id) if number == 0 and outgoing.person is None else None
            message = await _say(place, text, under, _view_under(number, texts, outgoing.buttons))
            keys.append(message_key(room, str(message.id)))
    except REFUSALS as error:
        return Sent(delivery(error), tuple(keys), why(error), pieces=texts[: len(keys)])
    return Sent(Delivery.SENT, tuple(keys), pieces=texts)


async def _place(client: discord.Client, outgoing: Outgoing) -> tuple[_Place, RoomKey]:
    """Where it goes, and the room under which its keys stand."""
    if outgoing.person is not None:
        dm = await client.create_dm(discord.Object(int(outgoing.person.native)))
        return dm, key(dm.id)
    return client.get_partial_messageable(channel_id(outgoing.conversation)), outgoing.conversation.room


def _view_under(number: int, texts: tuple[str, ...], buttons: tuple[Button, ...]) -> discord.ui.View:
    """The buttons, under the last piece."""
    view = render.view(buttons) if number == len(texts) - 1 else None
    return MISSING if view is None else view


async def _say(
    place: _Place, text: str, under: discord.MessageReference | None, view: discord.ui.View
) -> discord.Message:
    """One message; where Discord takes the text but not the message that it answers, without the reply."""
    if under is not None:
        try:
            return await place.send(
                text, reference=under, view=view, allowed_mentions=render.NO_PINGS, mention_author=False
            )
        except discord.HTTPException as error:
            if error.status != 400:
                raise
    return await place.send(text, view=view, allowed_mentions=render.NO_PINGS)
