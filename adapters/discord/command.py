"""`/remem` as an app command: one command with an optional `action` and `text`, since a command with sub-commands
cannot be called bare (https://discord.com/developers/docs/interactions/application-commands)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord
from discord import app_commands

from memory_core.commands import FORMS
from memory_core.text import one_line


def command_tree(
    client: discord.Client, handle: Callable[[discord.Interaction[discord.Client]], Awaitable[None]]
) -> app_commands.CommandTree[discord.Client]:
    """The tree with the one command, whose choices are the forms that exist; `handle` gets every call."""
    tree: app_commands.CommandTree[discord.Client] = app_commands.CommandTree(client)
    choices = [
        app_commands.Choice(name=one_line(f"{form.word}: {form.effect}", 100), value=form.word)
        for form in FORMS
        if form.word
    ]

    @tree.command(name="remem", description="Save this conversation into memory now, or choose an action.")
    @app_commands.describe(action="What to do; nothing: save now.", text="The words, page or purpose it needs.")
    @app_commands.choices(action=choices)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def remem(
        interaction: discord.Interaction[discord.Client], action: str | None = None, text: str | None = None
    ) -> None:
        # `action` and `text` are for Discord's form; the words are read from the payload, in normalise.
        await handle(interaction)

    return tree
