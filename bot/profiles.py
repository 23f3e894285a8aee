"""Discord's developer policy forbids profiles of users: what people there say of themselves is not kept by default.

A wrapper around any extractor that drops roles, preferences and contacts whose source is a message on Discord.
REMEM_DISCORD_PEOPLE=on takes it away.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.candidates import Candidate, Extractor, Request
from memory_core.ids import PersonKey
from memory_core.layouts import Kind

ABOUT_PEOPLE = frozenset({Kind.ROLE, Kind.PREFERENCE, Kind.CONTACT})


def is_profile(kind: Kind, person: PersonKey) -> bool:
    """Would keeping this make a profile of a person on Discord?"""
    return kind in ABOUT_PEOPLE and person.platform == "discord"


class WithoutProfiles:
    """An extractor whose candidates hold no profile of anybody on Discord."""

    def __init__(self, inner: Extractor) -> None:
        self._inner = inner

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The inner extractor's candidates but those. Raises what it raises."""
        return [one for one in await self._inner.extract(request) if not is_profile(one.kind, one.author)]
