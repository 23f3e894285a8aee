"""`Outgoing` as arguments of discord.py: pure.

No message of ours notifies anyone: NO_PINGS goes with the client and with every single send, and a reply does not
ping the person replied to. What memory or a model says about `@everyone`, people and roles stays readable as text.
"""

from __future__ import annotations

from collections.abc import Sequence

import discord

from adapters.discord.normalise import message_id
from adapters.messages import Button, Outgoing
from adapters.text import closed, split
from memory_core.errors import BadInput
from memory_core.text import one_line

PIECE_CHARACTERS = 2_000
"""Discord's limit of a message (reference: "Create Message", content)."""

NO_PINGS = discord.AllowedMentions(everyone=False, users=False, roles=False, replied_user=False)
_BUTTONS, _ID_CHARACTERS, _LABEL_CHARACTERS = 25, 100, 80


def pieces(outgoing: Outgoing) -> tuple[str, ...]:
    """The text in messages of at most PIECE_CHARACTERS, code fences whole in each; none of them is blank."""
    return tuple(piece for piece in split(closed(outgoing.text), PIECE_CHARACTERS) if piece.strip())


def reference(outgoing: Outgoing, channel: int) -> discord.MessageReference | None:
    """The message that is answered; one that was deleted meanwhile does not fail the sending."""
    if outgoing.reply_to is None:
        return None
    return discord.MessageReference(
        message_id=message_id(outgoing.reply_to), channel_id=channel, fail_if_not_exists=False
    )


def view(buttons: Sequence[Button]) -> discord.ui.View | None:
    """The buttons as a view. Raises BadInput for what Discord would refuse.

    The view is stopped: clicks come in as interactions with the button's id, also after a restart, so discord.py need
    not remember it.
    """
    if not buttons:
        return None
    if len(buttons) > _BUTTONS or len({button.id for button in buttons}) < len(buttons):
        raise BadInput(f"{len(buttons)} buttons under one answer; Discord takes {_BUTTONS} with different ids.")
    made = discord.ui.View(timeout=None)
    for button in buttons:
        if not 1 <= len(button.id) <= _ID_CHARACTERS:
            raise BadInput(f"The button id {button.id[:40]!r} has {len(button.id)} characters; 1 to 100 are allowed.")
        label = one_line(button.label, _LABEL_CHARACTERS) or "…"
        made.add_item(discord.ui.Button[discord.ui.View](label=label, custom_id=button.id))
    made.stop()
    return made
