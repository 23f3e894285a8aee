"""What a turn is made of: ports and values, put together by bot/app.py, the only file with the concrete ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.base import Adapter
from adapters.rooms import Rooms
from bot.agent import Agent
from bot.conversations import Conversations
from bot.limits import Welcome
from memory_core.clock import Clock
from memory_core.handle import Handles
from memory_core.ids import PersonKey
from memory_core.ledger.base import Intake
from memory_core.ledger.timers import Timers
from memory_core.loading import Mode
from memory_core.tokens import Counter


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts. `adapters` by platform name."""

    handles: Handles
    intake: Intake
    timers: Timers
    rooms: Rooms
    conversations: Conversations
    agent: Agent
    adapters: Mapping[str, Adapter]
    mode: Mode = Mode.STRICT
    context_tokens: int = 16_000
    people_on_discord: bool = False
    has_model: bool = False
    """A model answers, or reads what is saved: what it costs is told."""
    welcome: Welcome = field(default_factory=Welcome)
    answers_per_person: int = 0
    answers_per_room: int = 0
    """How many answers a minute; 0: without limit."""

    @property
    def clock(self) -> Clock:
        """The clock that memory is measured with."""
        return self.handles.clock

    @property
    def counter(self) -> Counter:
        """The counter that memory is measured with."""
        return self.handles.counter

    def me(self, platform: str) -> PersonKey:
        """The bot's own person key on a platform, for its own lines in the ledger; no person can have it."""
        return PersonKey("slack:remem:remem" if platform == "slack" else f"{platform}:remem")
