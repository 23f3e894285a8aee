"""Who may talk with the bot, as the settings say it."""

from __future__ import annotations

from adapters.console.normalise import FIRST_SPEAKER
from bot.limits import Welcome
from bot.settings import Settings
from memory_core.ids import PersonKey


def owners(settings: Settings) -> tuple[PersonKey, ...]:
    """The owner's person keys; unset: the console's first speaker."""
    return settings.owner or (FIRST_SPEAKER,)


def welcome(settings: Settings) -> Welcome:
    """Who is welcome, as the settings say."""
    allowed, servers = frozenset(settings.dm_allow), frozenset(settings.servers)
    return Welcome(settings.dm, frozenset(owners(settings)), allowed, servers)
