"""What every platform's adapter is: a way in, a way out (say, and say it differently), and four questions.

`run` connects and hands every event to `deliver`, which returns when the event is durable; only then is it
acknowledged to the platform. An interaction is acknowledged at the latest after `ACKNOWLEDGE_S`, durable or not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from adapters.messages import Incoming, Outgoing, Sent
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey

ACKNOWLEDGE_S = 1.0
"""Half of what is left of Discord's and Slack's 3 s after a slow network (design section 3)."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The bot's word on an event: `durable`, it is kept; `new`, it was not known before.

    `private`: an interaction's answer is for the asker only.
    """

    durable: bool
    new: bool = True
    private: bool = True


Deliver: TypeAlias = Callable[[Incoming], Awaitable[Taken]]
"""Hands one event in. Returns when it is durable; the answer comes later through `Adapter.send`."""


CaughtUp: TypeAlias = Callable[[], Awaitable[None]]
"""Says that the platform can be spoken to, and that what was said there meanwhile is delivered."""


async def nothing_owed() -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A room that is recorded: the newest message that is known of each thread ("": of its main line), and from when
    on to read where none is; None: not at all."""

    room: RoomKey
    newest: Mapping[str, MessageKey]
    since: datetime | None = None


WhatIsBehind: TypeAlias = Callable[[], Awaitable[Sequence[Behind]]]
"""The rooms that may be behind after an absence; the bot's ledger knows. Raises LedgerFailed."""


async def nothing_behind() -> Sequence[Behind]:
    """Nobody remembers any room."""
    return ()


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `remem doctor`: what was looked at, whether it is well, and the next step if not."""

    name: str
    ok: bool
    found: str
    next_step: str = ""


class Adapter(Protocol):
    """A platform."""

    @property
    def platform(self) -> str:
        """`discord`, `slack` or `console`: the first part of its keys."""
        ...

    @property
    def piece_characters(self) -> int:
        """How many characters of one message this platform takes."""
        ...

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Connect and deliver events until `close` is called. Raises RememError where we are refused for good.

        `caught_up` is awaited once connected, and again whenever the platform may have dropped events.
        """
        ...

    async def send(self, outgoing: Outgoing) -> Sent:
        """Say something; every piece is under the platform's limit and pings nobody. Never raises for a refusal."""
        ...

    @property
    def revise_s(self) -> float:
        """The least time between two revisions in one conversation that the platform's rate limits allow."""
        ...

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Let the messages of `sent` say `outgoing` instead: changed ones are edited, further ones sent, those that
        are no longer needed deleted; an empty text deletes them all. As `send`: under the limit, pinging nobody.

        Never raises for a refusal. The result has the keys of all that stands then, whatever `delivery` it tells:
        GONE also where only one of the messages is gone (its key stays, so that each keeps its place), FAILED where
        they cannot be edited.
        """
        ...

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Show that an answer to `message` is being made, where the platform can. Never raises."""
        ...

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """Is the person a room admin (design section 1)? False where it cannot be learnt."""
        ...

    async def shares_server(self, person: PersonKey) -> bool | None:
        """Is the person in a server or workspace of the bot, as one of its own (no guest, nobody of another
        organisation)? None where it cannot be learnt now. Bounded in time. Never raises."""
        ...

    async def check(self) -> tuple[Check, ...]:
        """Look at token, intents, scopes and permissions, for `remem doctor`."""
        ...

    async def close(self) -> None:
        """Stop taking events, then disconnect. May be called twice."""
        ...
