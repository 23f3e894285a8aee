"""The app manifest for `remem slack-manifest`: what an operator pastes at api.slack.com/apps → From a manifest.

Rule: https://docs.slack.dev/reference/app-manifest.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from memory_core.errors import BadInput

Mode: TypeAlias = Literal["socket", "http"]
"""How Slack reaches us: over a websocket that we open, or over HTTP requests that it sends."""

EVENTS_PATH = "/slack/events"
"""Where HTTP mode listens for events, commands and buttons alike."""

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "users:read",
)
"""The bot token's scopes: what `remem doctor` looks for."""

EVENTS = (
    "app_mention",
    "channel_deleted",
    "channel_left",
    "channel_rename",
    "group_deleted",
    "group_left",
    "group_rename",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)
"""The bot events that we listen to."""


def manifest(mode: Mode = "socket", url: str = "") -> dict[str, object]:
    """The manifest for `mode`; `url` (HTTP mode) is the bot's public https address, with or without the path.

    Raises BadInput in HTTP mode without an https address.
    """
    command: dict[str, object] = {
        "command": "/remem",
        "description": "Save, look at and correct what remem remembers here",
        "usage_hint": "[status | show | search words | note text | help]",
        "should_escape": False,
    }
    events: dict[str, object] = {"bot_events": list(EVENTS)}
    interactivity: dict[str, object] = {"is_enabled": True}
    if mode == "http":
        address = _events_address(url)
        command["url"] = address
        events["request_url"] = address
        interactivity["request_url"] = address
    return {
        "display_information": {
            "name": "remem",
            "description": "Remembers what each channel decided, in plain Markdown",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "remem", "always_online": True},
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": mode == "socket",
            "token_rotation_enabled": False,
        },
    }


def _events_address(url: str) -> str:
    if not url.startswith("https://") or len(url) <= len("https://"):
        raise BadInput(f"Slack needs a public https address for HTTP mode, not {url[:80]!r}; or use Socket Mode.")
    return url.rstrip("/").removesuffix(EVENTS_PATH) + EVENTS_PATH
