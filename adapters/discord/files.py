"""Text files under a message: a long paste becomes a `message.txt` in Discord's clients.

Only plain text is read, from files of at most READ_BYTES, and of it TEXT_CHARACTERS are kept; what was left out is
marked as cut. What cannot be read in READ_S seconds, all files of a message together, is noted by name, type and size
alone: the room waits for no more.
"""

from __future__ import annotations

import asyncio

import discord

from adapters.discord.errors import REFUSALS

TEXT_CHARACTERS = 20_000
READ_BYTES = 8 * 1024 * 1024
READ_S = 10.0


async def texts_of(message: discord.Message) -> dict[int, tuple[str, bool]]:
    """Attachment id → (text, was it cut). Nobody's but people's files are read. Never raises."""
    found: dict[int, tuple[str, bool]] = {}
    if message.author.bot or message.webhook_id is not None:
        return found
    try:
        async with asyncio.timeout(READ_S):
            for file in message.attachments:
                if (file.content_type or "").startswith("text/plain"):
                    await _read(file, found)
    except TimeoutError:
        return found
    return found


async def _read(file: discord.Attachment, found: dict[int, tuple[str, bool]]) -> None:
    """Put one file's text into `found`, if Discord gives it."""
    if file.size > READ_BYTES:
        found[file.id] = ("", True)
        return
    try:
        raw = await file.read()
    except REFUSALS:
        return
    text = raw.decode("utf-8-sig", "replace")
    found[file.id] = (text[:TEXT_CHARACTERS], len(text) > TEXT_CHARACTERS)
