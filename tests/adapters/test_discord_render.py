"""Outgoing values as arguments of discord.py, without a connection."""

from __future__ import annotations

import pytest

from adapters.discord import render
from adapters.messages import Button, Outgoing
from memory_core.errors import BadInput
from memory_core.ids import Conversation, MessageKey, RoomKey

PLACE = Conversation(RoomKey("discord:5"), "9")


def test_a_reply_does_not_fail_when_its_message_is_gone() -> None:
    outgoing = Outgoing(PLACE, "yes", reply_to=MessageKey("discord:5:77"))
    reference = render.reference(outgoing, 9)
    assert reference is not None
    assert (reference.message_id, reference.channel_id, reference.fail_if_not_exists) == (77, 9, False)
    assert render.reference(Outgoing(PLACE, "yes"), 9) is None


def test_nothing_can_ping() -> None:
    sent: object = render.NO_PINGS.to_dict()
    assert sent == {"parse": []}


@pytest.mark.parametrize("text", ["", "  \n ", "\n\n"])
def test_blank_text_makes_no_message(text: str) -> None:
    assert render.pieces(Outgoing(PLACE, text)) == ()


@pytest.mark.asyncio
async def test_buttons_come_in_rows_of_five_and_need_no_memory() -> None:
    view = render.view([Button(f"b{number}", "x" * 90) for number in range(7)])
    assert view is not None
    rows = view.to_components()
    assert [len(row["components"]) for row in rows] == [5, 2]
    assert view.is_finished()
    assert render.view([]) is None


@pytest.mark.parametrize(
    "buttons",
    [
        [Button("same", "a"), Button("same", "b")],
        [Button(f"b{number}", "a") for number in range(26)],
        [Button("x" * 101, "a")],
        [Button("", "a")],
    ],
)
def test_buttons_that_discord_refuses_are_refused_here(buttons: list[Button]) -> None:
    with pytest.raises(BadInput):
        render.view(buttons)
