"""The bot's own account in files of DiscordChatExporter, and who addressed it: pure.

It is an account that the files mark as a bot and call remem; or the one with the name or id that the operator gives
(`remem import --bot`). As live a message addresses it by a mention, by an answer to one of its messages, or by being
said in a thread that it was called into. A mention of its role is not told by the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.history import OWN_NAME, several
from adapters.messages import Incoming
from adapters.payload import Json, flag, part, parts, string
from memory_core.errors import BadInput
from memory_core.messages import Voice
from memory_core.script import fold


@dataclass(slots=True)
class Own:
    """What is known of it. `wanted`: a name or an id; '' for a bot called remem."""

    wanted: str = ""
    accounts: set[str] = field(default_factory=set)
    _said: dict[str, str] = field(default_factory=dict)
    """The ids of the messages of those who are called so, and whose each is."""
    _people: set[str] = field(default_factory=set)
    """Those of the accounts that are no bots."""

    def see(self, message: Json) -> None:
        """Note what a message tells of it."""
        author = part(message, "author")
        for user in (author, *parts(message, "mentions")):
            if self._is_own(user):
                self.accounts.add(string(user, "id"))
                if not flag(user, "isBot"):
                    self._people.add(string(user, "id"))
        if self._is_own(author):
            self._said[string(message, "id")] = string(author, "id")

    def settle(self, path: Path) -> None:
        """All was seen: a person of the bot's name is not the bot. Raises BadInput where `wanted` is nobody, or many.

        A bot called remem may have had several accounts in its time.
        """
        bots = self.accounts - self._people
        if self.wanted in self.accounts:
            self.accounts = {self.wanted}
        elif bots:
            self.accounts = bots
        if not self.wanted:
            return
        if not self.accounts:
            raise BadInput(
                f"Nobody called {self.wanted[:80]!r} speaks or is mentioned in {path}; "
                "give the bot's name or id there."
            )
        if len(self.accounts) > 1:
            raise BadInput(several(self.wanted, path, self.accounts))

    def spoke(self, message: Json) -> bool:
        """Did the bot say it?"""
        return string(message, "author", "id") in self.accounts

    def is_meant(self, message: Json) -> bool:
        """Does the message mention the bot, or answer it?"""
        answered = string(message, "reference", "messageId") if string(message, "type") == "Reply" else ""
        return next(self._mentioned(message), None) is not None or self._said.get(answered) in self.accounts

    def without_address(self, message: Json) -> str:
        """What was written, without the mentions of the bot at its start: they address, they say nothing."""
        content = string(message, "content")
        names = {re.escape(name) for user in self._mentioned(message) for name in _names(user)}
        ids = {rf"<@!?{string(user, 'id')}>" for user in self._mentioned(message)}
        if not ids:
            return content
        called = "|".join(sorted(ids | {rf"@{name}(?!\w)" for name in names}, key=len, reverse=True))
        return re.sub(rf"\A(?:\s*(?:{called})[,:]?)+\s*", "", content)

    def _mentioned(self, message: Json) -> Iterator[Json]:
        return (user for user in parts(message, "mentions") if string(user, "id") in self.accounts)

    def _is_own(self, user: Json) -> bool:
        names = {fold(name) for name in _names(user)}
        if self.wanted:
            return string(user, "id") == self.wanted or fold(self.wanted.removeprefix("@")) in names
        return flag(user, "isBot") and OWN_NAME in names


def in_thread(incoming: Incoming, called: set[str]) -> Incoming:
    """The message; in a thread that the bot was `called` into, or spoke in, what persons say is said to it."""
    thread, voice = incoming.conversation.thread, incoming.author.voice
    if thread in called and voice is Voice.PERSON:
        return replace(incoming, addressed=True)
    if thread and (incoming.addressed or voice is Voice.SELF):
        called.add(thread)
    return incoming


def _names(user: Json) -> list[str]:
    return [name for name in (string(user, "nickname"), string(user, "name")) if name.strip()]
