"""Interactions of the local Discord: slash commands and buttons, their tokens, acknowledgements and answers.

An interaction must be acknowledged once, within 3 s (404 10062 after that, 400 40060 the second time); from then on
its token sends followups for 15 min. The first followup after a deferred answer takes the place of "thinking…" and
with it its privacy: what was deferred in public stays public, what was deferred for the asker stays theirs
(https://discord.com/developers/docs/interactions/receiving-and-responding).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from tests.peers.discord.rules import Refused, unknown
from tests.peers.discord.world import EPHEMERAL, Channel, Json, Message, User, permissions, snowflake

ACKNOWLEDGE_S, TOKEN_S = 3.0, 15 * 60.0
COMMAND, COMPONENT = 2, 3
MESSAGE_NOW, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE = 4, 5, 6, 7


@dataclass(eq=False)
class Interaction:
    """One slash command or click. `born_s` is the peer's clock; `dead`: its token is refused from the start."""

    type: int
    channel: Channel
    user: User
    data: Json
    born_s: float
    dead: bool = False
    message: Message | None = None
    id: int = field(default_factory=snowflake)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    acknowledged_s: float | None = None
    ephemeral: bool = False
    thinking: bool = False
    original: Message | None = None

    def payload(self, bot: User, users: dict[int, User]) -> Json:
        """The interaction object as the gateway sends it."""
        guild = self.channel.guild
        part: Json = {
            "id": str(self.id),
            "application_id": str(bot.id),
            "type": self.type,
            "token": self.token,
            "version": 1,
            "data": self.data,
            "channel": self.channel.payload(bot),
            "channel_id": str(self.channel.id),
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(guild.id) if guild else "0"},
            "attachment_size_limit": 10_485_760,
            "app_permissions": str(permissions(bot, self.channel)),
            "context": 0 if guild else 1,
        }
        if guild is not None:
            member = guild.member_payload(self.user) | {"permissions": str(permissions(self.user, self.channel))}
            part |= {"guild_id": str(guild.id), "guild": {"id": str(guild.id), "features": [], "locale": "en-US"}}
            part |= {"member": member, "guild_locale": "en-US"}
        else:
            part["user"] = self.user.payload()
        if self.message is not None:
            part["message"] = self.message.payload(users)
        return part

    def acknowledge(self, body: Json, now_s: float) -> None:
        """Take the first answer. Raises Refused when it is late, the second one, or of no known type."""
        if self.acknowledged_s is not None:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        if self.dead or now_s - self.born_s > ACKNOWLEDGE_S:
            raise unknown("interaction", 10062)
        kind = body["type"]
        if kind not in {MESSAGE_NOW, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE} or (
            self.type == COMMAND and kind in {DEFERRED_UPDATE, UPDATE}
        ):
            raise Refused(400, 50035, "Invalid Form Body")
        self.acknowledged_s = now_s
        self.thinking = kind == DEFERRED_MESSAGE
        self.ephemeral = bool((body.get("data") or {}).get("flags", 0) & EPHEMERAL)

    def check_token(self, now_s: float) -> None:
        """May a followup be sent now? Raises Refused when nothing was acknowledged or the token has run out."""
        if self.acknowledged_s is None:
            raise unknown("Webhook", 10015)
        if now_s - self.born_s > TOKEN_S:
            raise Refused(401, 50027, "Invalid Webhook Token")

    def callback_payload(self) -> Json:
        """The answer to an acknowledgement that asked for one."""
        return {
            "interaction": {
                "id": str(self.id),
                "type": self.type,
                "response_message_loading": self.thinking,
                "response_message_ephemeral": self.ephemeral,
            }
        }
