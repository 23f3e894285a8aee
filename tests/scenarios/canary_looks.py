"""What is looked at after every step of a life, and what is known of it without asking the program.

`see` is the one rule: a canary in a text that is one memory's (or in one that is everybody's) is that memory's own,
or the test fails; those that are where they belong are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from adapters.messages import Incoming, Outgoing
from bot.conversations import Talk
from memory_core.clock import ManualClock
from memory_core.disclosure import Disclosure
from memory_core.ids import Conversation, GroupScope, MessageKey, Scope
from memory_core.ledger.schema import MIGRATIONS
from memory_core.session import Session
from tests.scenarios.canary_world import CANARY, CODES, DIRECT, MEMORIES, Ground, memory_of
from tests.scenarios.recording import Events
from tests.scenarios.terminal import START
from tests.scenarios.watching import NosyAgent

_TABLE = re.compile(r"\b(" + "|".join(re.findall(r"CREATE TABLE (\w+)", " ".join(sum(MIGRATIONS, ())))) + r")\b")

Line = MutableMapping[str, object]
"""A line of the log."""


def _by_memory(others: str = "") -> dict[str, list[str]]:
    return {code: [] for code in (*MEMORIES, *others)}


@dataclass(slots=True)
class Known:
    """What a life knows: its clock, its events, and, by memory, what was said, decided and written."""

    clock: ManualClock = field(default_factory=lambda: ManualClock(START))
    events: Events = field(init=False)
    groups: dict[str, str] = field(default_factory=dict)
    """The names of groups, once they have one, and their letters."""
    said: list[tuple[str, Incoming]] = field(default_factory=list)
    words: dict[str, list[str]] = field(default_factory=lambda: _by_memory("x"))
    """All canaries so far."""
    decided: dict[MessageKey, tuple[str, str]] = field(default_factory=dict)
    """Decisions that the ledger holds and no save took yet: memory and canary."""
    pages: dict[PurePosixPath, tuple[str, str]] = field(default_factory=dict)
    """The files of memories as they were last seen: whose they are, and what stands there."""

    def __post_init__(self) -> None:
        self.events = Events(self.clock)

    def scope(self, code: str) -> Scope | None:
        """The scope of a memory; None for a group that has no name yet."""
        named = [name for name, owner in self.groups.items() if owner == code]
        return DIRECT.get(code) or (GroupScope(named[0]) if named else None)

    def keys(self) -> dict[str, str]:
        """The keys of all scopes that there are yet, and their letters."""
        return {scope.key: code for code in MEMORIES if (scope := self.scope(code)) is not None}


@dataclass(slots=True)
class Tally:
    """How often a memory's own words were found where they belong: by the kind of look, and memory."""

    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    steps: int = 0

    def see(self, look: str, code: str, text: str) -> None:
        """Every canary in the text is that memory's own ('': there is none)."""
        for match in CANARY.finditer(text.lower()):
            assert match[1] == code, f"{match[0]} was seen in {look} of {code or 'everybody'}: {text[:2000]}"
            self.found[look, code] += 1

    def least(self, look: str) -> int:
        """The fewest in any memory."""
        return min(self.found[look, code] for code in MEMORIES)


@dataclass(slots=True)
class Looks:
    """Looks at what happened since the last look."""

    known: Known
    tally: Tally
    held: dict[Conversation, tuple[Session, Disclosure | None]] = field(default_factory=dict)
    """What each conversation's session held at the last look."""

    def at_replies(self, sent: list[Outgoing]) -> None:
        """What the bot said, and where."""
        for outgoing in sent:
            assert outgoing.person is None
            self.tally.see("replies", CODES[outgoing.conversation.room], f"{outgoing.text} {outgoing.buttons}")
        sent.clear()

    def at_ports(self, ground: Ground, codes: set[str]) -> None:
        """The calls of stores and ledgers, in a step that is the doing of these memories' rooms alone."""
        keys = self.known.keys()
        for touch in ground.touches:
            owner = keys[touch.scope.key]
            assert owner in codes, f"{touch.call} of {owner} in a step of {codes}"
            assert touch.scope == self.known.scope(owner)
            self.tally.see(f"{touch.port} rows", owner, f"{touch.given} {touch.got}")
        ground.touches.clear()
        for own, statement in ground.statements():
            if own is not None and _TABLE.search(statement):
                assert f"'{own}'" in statement, statement
                assert not any(f"'{other}'" in statement for other in keys if other != own), statement
                self.tally.see("statements", keys[own], statement)

    def at_agent(self, agent: NosyAgent) -> None:
        """What the agent was shown, and what it found by itself."""
        keys = self.known.keys()
        for ask in agent.asks:
            self.tally.see("disclosures", CODES[ask.message.conversation.room], repr(ask))
        for disclosure in agent.brought:
            self.tally.see("disclosures", keys[disclosure.scope.key], repr(disclosure))
        agent.asks.clear()
        agent.brought.clear()

    def at_talks(self, talks: dict[Conversation, Talk]) -> None:
        """The sessions of all conversations."""
        for conversation, talk in talks.items():
            owner, before = CODES[conversation.room], self.held.get(conversation)
            assert talk.scope == self.known.scope(owner)
            if before is None or before[0] is not talk.session or before[1] is not talk.last_disclosure:
                self.held[conversation] = talk.session, talk.last_disclosure
                held = [one for one in (*talk.session.disclosures, talk.last_disclosure) if one is not None]
                assert all(disclosure.scope == talk.scope for disclosure in held)
                self.tally.see("sessions", owner, repr(held))

    def at_files(self, ground: Ground) -> None:
        """What stands in the files that changed."""
        for path, text in ground.fresh().items():
            owner = memory_of(path, self.known.groups)
            self.tally.see("files", owner, text)
            if owner:
                self.known.pages[path] = owner, text

    def at_log(self, log: list[Line]) -> None:
        """No word of anybody, and no failure that nobody foresaw."""
        for line in log:
            assert line["event"] != "event failed", line
            assert not CANARY.search(repr(line).lower()), line
        log.clear()

    def at_a_save(self, code: str) -> None:
        """What was decided in the memory stands in its pages now."""
        text = "\n".join(text for owner, text in self.known.pages.values() if owner == code)
        for message, (owner, word) in list(self.known.decided.items()):
            if owner == code:
                assert word in text, f"{word} was decided and is not in the pages of {code} after a save"
                self.tally.found["saved", code] += 1
                del self.known.decided[message]
