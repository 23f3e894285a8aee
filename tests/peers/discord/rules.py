"""What Discord refuses, as the local Discord refuses it.

Each check raises `Refused` with the HTTP status, Discord's own error code and its words; sources are the pages
"Opcodes and Status Codes", "Message" and "Application Commands" of https://discord.com/developers/docs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.peers.discord.world import Channel, Json, Message

CONTENT_CHARACTERS = 2_000
BUTTONS_A_ROW, ROWS = 5, 5
HISTORY_PAGE = 100
_COMMAND_NAME = re.compile(r"[-_'\w]{1,32}")


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, code: int, words: str, **more: object) -> None:
        super().__init__(words)
        self.status = status
        self.body: Json = {"message": words, "code": code, **more}
        self.headers: dict[str, str] = {}


def unauthorized() -> Refused:
    """No or an unknown token."""
    return Refused(401, 0, "401: Unauthorized")


def unknown(what: str, code: int) -> Refused:
    """404: `what` does not exist (any more)."""
    return Refused(404, code, f"Unknown {what}")


def no_access() -> Refused:
    """The bot does not see this place."""
    return Refused(403, 50001, "Missing Access")


def no_permission() -> Refused:
    """The bot sees this place and may not do that."""
    return Refused(403, 50013, "Missing Permissions")


def invalid(field: str, code: str, words: str) -> Refused:
    """400 50035, with the field at fault as Discord nests it."""
    errors: Json = {"_errors": [{"code": code, "message": words}]}
    for part in reversed(field.split(".")):
        errors = {part: errors}
    return Refused(400, 50035, "Invalid Form Body", errors=errors)


def check_history(query: Mapping[str, str]) -> tuple[int, int, int]:
    """What GET …/messages may be asked: (before, after, limit). Source: "Get Channel Messages"."""
    if "before" in query and "after" in query:
        raise invalid("before", "MUTUALLY_EXCLUSIVE", "before and after cannot be used together.")
    limit = int(query.get("limit", 50))
    if not 1 <= limit <= HISTORY_PAGE:
        raise invalid("limit", "NUMBER_TYPE_MAX", f"int value should be less than or equal to {HISTORY_PAGE}.")
    return int(query.get("before", 1 << 63)), int(query.get("after", 0)), limit


def rate_limited(retry_after_s: float) -> Refused:
    """429; without the Via header a client takes it for a ban by the edge."""
    refused = Refused(429, 0, "You are being rate limited.", retry_after=retry_after_s)
    refused.body["global"] = False
    refused.headers = {"Via": "1.1 google", "Retry-After": str(retry_after_s)}
    return refused


EDITS, EDITS_S = 5, 5.0
"""So many edits in so many seconds one channel takes (a bucket of its own; not documented, measured by many)."""


class Bucket:
    """Counts calls of one kind, a channel each."""

    def __init__(self, calls: int, seconds: float) -> None:
        self.calls = calls
        self.seconds = seconds
        self._made: dict[int, list[float]] = {}

    def take(self, channel: int, now_s: float) -> None:
        """Count one. Raises Refused (429, with the bucket's headers) where it is one too many."""
        recent = [at_s for at_s in self._made.get(channel, []) if now_s - at_s < self.seconds]
        if len(recent) >= self.calls:
            refused = rate_limited(round(self.seconds - (now_s - recent[0]), 3))
            refused.headers |= {"X-RateLimit-Bucket": "edits", "X-RateLimit-Limit": str(self.calls)}
            refused.headers |= {"X-RateLimit-Remaining": "0", "X-RateLimit-Scope": "user"}
            raise refused
        self._made[channel] = [*recent, now_s]


def check_message(body: Json) -> None:
    """Content, components and mention rules of a message that is being sent."""
    content = body.get("content") or ""
    if len(content) > CONTENT_CHARACTERS:
        raise invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
    components = body.get("components") or []
    if not content.strip() and not components and not body.get("embeds") and not body.get("sticker_ids"):
        raise Refused(400, 50006, "Cannot send an empty message")
    _check_components(components)
    _check_mentions(body.get("allowed_mentions"))


def _check_components(rows: Sequence[Json]) -> None:
    if len(rows) > ROWS:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    seen: set[str] = set()
    for row in rows:
        buttons = row.get("components", [])
        if row.get("type") != 1 or not 1 <= len(buttons) <= BUTTONS_A_ROW:
            raise invalid("components.0", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
        for button in buttons:
            custom_id, label = button.get("custom_id", ""), button.get("label") or ""
            if not 1 <= len(custom_id) <= 100:
                raise invalid("components.0", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
            if custom_id in seen:
                raise invalid("components.0", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id is duplicated")
            if not 1 <= len(label) <= 80:
                raise invalid("components.0", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length.")
            seen.add(custom_id)


def _check_mentions(allowed: Json | None) -> None:
    for kind in ("users", "roles"):
        if allowed and kind in allowed.get("parse", ()) and allowed.get(kind):
            raise invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "Mutually exclusive.")


def check_reference(body: Json, channel: Channel) -> Message | None:
    """The message that is replied to; None where there is none, or it is gone and the sender said it may be."""
    reference = body.get("message_reference")
    if reference is None:
        return None
    found = channel.messages.get(int(reference["message_id"]))
    elsewhere = int(reference.get("channel_id", channel.id)) != channel.id
    if elsewhere or (found is None and reference.get("fail_if_not_exists", True)):
        raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    return found


def pings(body: Json, replied: Message | None) -> frozenset[str]:
    """Whom this message would notify: `everyone`, `here`, user ids, role ids."""
    content = body.get("content") or ""
    allowed = body.get("allowed_mentions")
    parse = ("everyone", "users", "roles") if allowed is None else allowed.get("parse", ())
    found = set()
    if "everyone" in parse:
        found |= {word for word in ("everyone", "here") if f"@{word}" in content}
    for kind, pattern in (("users", r"<@!?(\d+)>"), ("roles", r"<@&(\d+)>")):
        named = {str(one) for one in (allowed or {}).get(kind, ())}
        found |= {one for one in re.findall(pattern, content) if kind in parse or one in named}
    if replied is not None and (allowed is None or allowed.get("replied_user", False)):
        found.add(str(replied.author.id))
    return frozenset(found)


def check_commands(commands: Sequence[Json]) -> None:
    """Application commands as they are registered."""
    names = [command["name"] for command in commands]
    if len(names) != len(set(names)):
        raise invalid("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    for command in commands:
        _check_named(command)
        _check_options(command.get("options", []))


def _check_named(part: Json) -> None:
    name = part["name"]
    if not _COMMAND_NAME.fullmatch(name) or name != name.lower():
        raise invalid("name", "STRING_TYPE_REGEX", "String value did not match validation regex.")
    if not 1 <= len(part.get("description", "")) <= 100:
        raise invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")


def _check_options(options: Sequence[Json]) -> None:
    if len(options) > 25:
        raise invalid("options", "BASE_TYPE_BAD_LENGTH", "Must be between 0 and 25 in length.")
    optional_seen = False
    for option in options:
        _check_named(option)
        if option.get("required") and optional_seen:
            raise invalid("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required must come first")
        optional_seen = optional_seen or not option.get("required")
        choices = option.get("choices") or []
        if len(choices) > 25:
            raise invalid("choices", "BASE_TYPE_BAD_LENGTH", "Must be between 0 and 25 in length.")
        for choice in choices:
            if not 1 <= len(choice["name"]) <= 100 or not 1 <= len(str(choice["value"])) <= 100:
                raise invalid("choices", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
