"""`remem discord-invite`: the address under which an admin adds the bot to a server."""

from __future__ import annotations

import discord

NEEDED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    embed_links=True,
    attach_files=True,
)
"""What the bot needs in a server; what each is called there stands in doctor.py."""


def invite_url(client_id: int | str) -> str:
    """The address for the application `client_id`, with the permissions it needs and the right to bring /remem."""
    return discord.utils.oauth_url(client_id, permissions=NEEDED, scopes=("bot", "applications.commands"))
