"""What Slack refuses, as codes.

Sources: https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/block-kit,
https://docs.slack.dev/authentication/verifying-requests-from-slack.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping

from tests.peers.slack.world import Channel, Json

TEXT_CHARACTERS = 40_000
SHOWN_CHARACTERS = 4_000
EDIT_CHARACTERS = 4_000
EDITS_A_MINUTE = 50
"""Tier 3: of chat.update and of chat.delete, each for the whole workspace."""
SECTION_CHARACTERS = 3_000
BLOCKS = 50
ALL_BLOCKS_CHARACTERS = 13_200

SCOPE_OF = {
    "chat.postMessage": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.update": "chat:write",
    "chat.delete": "chat:write",
    "assistant.threads.setStatus": "chat:write",
    "users.info": "users:read",
    "conversations.open": "im:write",
    "files.getUploadURLExternal": "files:write",
    "files.completeUploadExternal": "files:write",
}
READ_SCOPE_OF = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}

NOTICES = frozenset({"channel_join", "channel_leave", "channel_name", "channel_topic", "channel_purpose"})
"""Subtypes of Slack's own notices, which take no answers."""


def place_refused(channel: Channel | None, bot: str) -> str:
    """Why the bot may not post there, or ""."""
    if channel is None:
        return "channel_not_found"
    if channel.archived:
        return "is_archived"
    return "" if bot in channel.members else "not_in_channel"


def thread_refused(channel: Channel, thread_ts: str) -> str:
    """Why no answer can be posted under `thread_ts`, or ""."""
    root = channel.messages.get(thread_ts)
    if root is None:
        return "thread_not_found"
    return "cannot_reply_to_message" if root.get("subtype") in NOTICES else ""


def content_refused(text: str, blocks: list[Json]) -> str:
    """Why Slack takes no such message, or ""."""
    if not text.strip() and not blocks:
        return "no_text"
    if len(text) > TEXT_CHARACTERS:
        return "msg_too_long"
    if len(blocks) > BLOCKS or any(not _block_is_valid(block) for block in blocks):
        return "invalid_blocks"
    if sum(len(text) for block in blocks for text in _texts(block)) > ALL_BLOCKS_CHARACTERS:
        return "msg_blocks_too_long"
    return ""


def _block_is_valid(block: Json) -> bool:
    if block.get("type") == "section":
        return all(0 < len(text) <= SECTION_CHARACTERS for text in _texts(block))
    if block.get("type") == "actions":
        elements = block.get("elements")
        if not isinstance(elements, list) or not 0 < len(elements) <= 25:
            return False
        ids = [element.get("action_id") for element in elements]
        shown = all(0 < len(text) <= 75 for element in elements for text in _texts(element))
        return (
            shown
            and len(set(ids)) == len(ids)
            and all(len(str(element.get("value"))) <= 2000 for element in elements)
        )
    return block.get("type") in {"divider", "context", "header", "rich_text"}


def _texts(node: Mapping[str, object]) -> Iterator[str]:
    text = node.get("text")
    if isinstance(text, Mapping):
        yield str(text.get("text", ""))


def signature(secret: str, timestamp: str, body: str) -> str:
    """Slack's signature of a request."""
    return "v0=" + hmac.new(secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256).hexdigest()
