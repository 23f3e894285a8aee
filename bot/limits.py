"""Strangers and floods: who may talk with the bot, which servers may have it, how often it answers. Pure.

Who may write to it in a DM (`REMEM_DM`):

    the owner, the console      always
    owner                       nobody else
    allowlist                   the person keys of `REMEM_DM_ALLOW`
    shared                      those, and whoever shares a server or workspace with the bot; its platform tells
    everyone                    everybody

Where the platform cannot tell just now, whoever has a memory here already is let in, so that nothing of theirs is
lost; anybody else is asked to try again. Rooms have no such rule: who is in a room was let in by its people.

Which servers may have it (`REMEM_SERVERS`): the ids of Discord servers (digits) and Slack workspaces (`T…`). A
platform of which no id is listed is open: naming one's Discord server must not silence one's Slack.

How often it answers: one token bucket for each person and one for each room. It holds as many answers as may come in
a minute and fills evenly. Recording is never limited, and what cannot wait is written also when nobody is answered.
Time is monotonic: a clock that is set gives nobody more and nobody less.

Every refusal is told in one line, then there is silence until `QUIET_S` have passed since that line. A slash command
or button is told each time, to its sender alone: its platform shows it as unanswered else.

Not covered: many accounts of one person, and what a platform lets through to a stranger before it asks us.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from memory_core.ids import PersonKey

QUIET_S = 600.0
"""How long a refusal that was told is not told again."""

MINUTE_S = 60.0


class Dm(StrEnum):
    """Who may write DMs."""

    SHARED = "shared"
    EVERYONE = "everyone"
    ALLOWLIST = "allowlist"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Welcome:
    """Who is welcome in a DM, and which servers are."""

    dm: Dm = Dm.SHARED
    owners: frozenset[PersonKey] = frozenset()
    allowed: frozenset[PersonKey] = frozenset()
    servers: frozenset[str] = frozenset()

    def admits(self, person: PersonKey) -> bool | None:
        """May the person write a DM, by the settings alone? None: it depends on whether they share a server."""
        if person in self.owners or person.platform == "console" or self.dm is Dm.EVERYONE:
            return True
        if self.dm is not Dm.OWNER and person in self.allowed:
            return True
        return None if self.dm is Dm.SHARED else False

    def serves(self, platform: str, server: str) -> bool:
        """May this server or workspace have the bot? A DM of Discord belongs to no server (empty)."""
        named = {one for one in self.servers if platform_of(one) == platform}
        return not server or not named or server in named


def platform_of(server: str) -> str:
    """Whose id this is: Discord's are numbers, Slack's begin with a letter; empty for what is no id of either."""
    if server.isascii() and server.isdigit():
        return "discord"
    slack = server.isascii() and server.isalnum() and server[:1] in {"T", "E"} and server.isupper()
    return "slack" if slack else ""


class Answered(StrEnum):
    """What becomes of one who asks: an answer, the line that it is too much, or nothing."""

    YES = "yes"
    TOLD = "told"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class Quiet:
    """When a refusal was told last, on the monotonic clock; None: never."""

    told_s: float | None = None

    def tell(self, now_s: float) -> tuple[Quiet, bool]:
        """Is it to be told now? And what is known afterwards."""
        if self.told_s is not None and now_s - self.told_s < QUIET_S:
            return self, False
        return Quiet(now_s), True


@dataclass(frozen=True, slots=True)
class Bucket:
    """Answers that one person or room may still have: `left` of at most `most` (0: without limit) at `at_s`."""

    most: int
    left: float
    at_s: float
    quiet: Quiet = Quiet()

    @classmethod
    def full(cls, most: int, now_s: float) -> Bucket:
        """A bucket that nobody has taken from."""
        return cls(most, float(most), now_s)

    def filled(self, now_s: float) -> Bucket:
        """The bucket as it stands at `now_s`."""
        came = max(0.0, now_s - self.at_s) * self.most / MINUTE_S
        return replace(self, left=min(float(self.most), self.left + came), at_s=max(now_s, self.at_s))

    def take(self, now_s: float) -> tuple[Bucket, Answered]:
        """One answer out of it; or, if there is none, whether that is to be said."""
        if self.most == 0:
            return self, Answered.YES
        now = self.filled(now_s)
        if now.left >= 1.0:
            return replace(now, left=now.left - 1.0), Answered.YES
        quiet, tell = self.quiet.tell(now_s)
        return replace(now, quiet=quiet), Answered.TOLD if tell else Answered.SILENCE
