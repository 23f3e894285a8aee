"""One random life of the program, looked at after every step (the tests are in test_canaries.py).

A rule is something that happens on a platform, to the clock or to the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from adapters.messages import Author, Delivery, Happening, Incoming, Room
from bot.app import App
from bot.conversations import Talk
from memory_core.gate import open_index
from memory_core.ids import Conversation, PersonKey
from memory_core.messages import Voice
from tests.scenarios.canary_looks import Known, Line, Looks, Tally
from tests.scenarios.canary_talk import COMMANDS, DECISION, LONG, QUESTIONS, TALK, topic
from tests.scenarios.canary_world import (
    CANARY,
    DIRECT,
    GROUPS,
    MEMORIES,
    NOWHERE,
    SPOTS,
    Ground,
    canary,
    persons_at,
)
from tests.scenarios.recording import RecordingAdapter, Spot
from tests.scenarios.watching import NosyAgent

spots = st.sampled_from([*SPOTS, *(name for name in SPOTS if name[0] != "x")])  # places without memory half as often
texts = st.sampled_from((*TALK, *TALK, LONG))
questions, commands = st.sampled_from(QUESTIONS), st.sampled_from(COMMANDS)
few = st.integers(0, 3)


class Beginnings(Protocol):
    """Where lives begin; `tally` counts for all of them."""

    tally: Tally

    def anew(self) -> tuple[Ground, Known]:
        """Nothing was ever said."""
        ...

    def with_a_past(self) -> tuple[Ground, Known]:
        """Every memory holds something."""
        ...


def stand_in(room: Room, native: str, name: str, voice: Voice = Voice.PERSON) -> Author:
    """Somebody who is none of the persons."""
    return Author(PersonKey(f"{room.key.rpartition(':')[0]}:{native}"), name, voice)


class Life(RuleBasedStateMachine):
    """One random life of the program."""

    def __init__(self, beginnings: Beginnings, log: list[Line]) -> None:
        super().__init__()
        self.beginnings = beginnings
        self.tally = beginnings.tally
        self.log = log
        self.log.clear()  # a life that failed left its lines
        self.agent = NosyAgent()
        self.runner = asyncio.Runner()
        self.running: list[asyncio.Task[None]] = []

    def run(self, work: Coroutine[object, object, None]) -> None:
        """Run until it is done; what is left in the background goes on the next time."""
        self.runner.get_loop().run_until_complete(work)  # Runner.run costs as much as a step

    def begin_on(self, ground: Ground, known: Known) -> None:
        """Start the program."""
        self.ground, self.known, self.looks = ground, known, Looks(known, self.tally)
        self.platforms = {
            name: RecordingAdapter(name, lambda: str(known.events.number()), admins=frozenset({PersonKey(admin)}))
            for name, admin in (("discord", "discord:1"), ("slack", "slack:T1:U1"))
        }
        self.run(self.start())

    async def start(self) -> None:
        self.app: App = await self.ground.start(self.known.clock, self.agent)
        for adapter in self.platforms.values():
            self.app.add(adapter)
            self.running.append(asyncio.create_task(adapter.run(self.app.turn.take_in)))
        await asyncio.sleep(0)

    async def stop(self) -> None:
        for adapter in self.platforms.values():
            await adapter.close()
        await asyncio.gather(*self.running)
        self.running.clear()
        await self.app.parts.conversations.close()
        await self.ground.stop()

    async def again(self) -> None:
        await self.stop()
        await self.start()

    def teardown(self) -> None:
        """The program ends, and what was said where there is no memory stands nowhere."""
        try:
            assert not self.running or NOWHERE not in self.ground.everything()
        finally:
            if self.running:
                self.run(self.stop())
            self.runner.close()

    # -- what happens -----------------------------------------------------------------------------------------------

    def filled(self, pattern: str, code: str) -> str:
        """The pattern with a new canary of that memory."""
        number = self.known.events.number()
        word = canary(code, number)
        self.known.words[code].append(word)
        return pattern.format(canary=word, topic=topic(number))

    def author(self, spot: Spot, which: int) -> Author:
        """One of the persons there; with 3 another bot."""
        persons = persons_at(spot)
        return stand_in(spot.room, "B9", "ci", Voice.BOT) if which == 3 else persons[which % len(persons)]

    async def deliver(self, *incomings: Incoming, settle: bool = True) -> None:
        """Hand events in, all of them before any is worked off."""
        for incoming in incomings:
            await self.platforms[incoming.room.key.platform].happens(incoming)
        if settle:
            await self.app.parts.conversations.settled()

    def happens(self, code: str, *incomings: Incoming) -> None:
        """Events of one memory, and the look at everything after them."""
        self.run(self.deliver(*incomings))
        self.look({code})

    def says(self, where: str, pattern: str, which: int, addressed: bool) -> Incoming:
        """Somebody says something with a new canary."""
        code, spot = where[0], SPOTS[where]
        author = self.author(spot, which)
        meant = author.voice is Voice.PERSON and (addressed or code in DIRECT)
        said = self.known.events.said(spot, author, self.filled(pattern, code), addressed=meant)
        self.known.said.append((code, said))
        return said

    def look(self, codes: set[str]) -> None:
        """Look at everything that came of it; it is the doing of these memories' rooms alone."""
        self.tally.steps += 1
        if len(self.known.groups) < len(GROUPS) or self.tally.steps % 10 == 0:
            self.run(self.learn_names())
        for adapter in self.platforms.values():
            self.looks.at_replies(adapter.sent)
        self.looks.at_ports(self.ground, codes)
        self.looks.at_agent(self.agent)
        self.looks.at_talks(self.talks())
        self.looks.at_files(self.ground)
        self.looks.at_log(self.log)

    def talks(self) -> dict[Conversation, Talk]:
        """What the program knows of its conversations."""
        return self.app.parts.conversations._talks

    async def learn_names(self) -> None:
        """A group's name is the program's choice; once chosen it stays, and no two have the same."""
        for code in GROUPS:
            name = await self.ground.names.lookup(SPOTS[code].room.key)
            if name is not None:
                assert self.known.groups.setdefault(name, code) == code

    async def note_decision(self, code: str, said: Incoming) -> None:
        """Keep in mind that it was decided, if the program heard it."""
        scope = self.known.scope(code)
        if scope is None or said.message is None or said.author.voice is not Voice.PERSON:
            return
        word = CANARY.search(said.text)
        if word is not None and await self.ground.plain(scope).find(said.message) is not None:
            self.known.decided[said.message] = code, word[0]

    # -- rules ------------------------------------------------------------------------------------------------------

    @initialize(past=st.booleans(), rooms=st.sets(st.sampled_from(GROUPS)))
    def begin(self, past: bool, rooms: set[str]) -> None:
        self.begin_on(*(self.beginnings.with_a_past() if past else self.beginnings.anew()))
        for code in sorted(rooms):
            spot = SPOTS[code]
            self.happens(code, self.known.events.about_room(Happening.JOINED, spot, self.author(spot, 0)))

    @rule(where=spots, pattern=texts, which=few, addressed=st.booleans())
    def talk(self, where: str, pattern: str, which: int, addressed: bool) -> None:
        said = self.says(where, pattern, which, addressed)
        self.happens(where[0], said)
        if pattern == DECISION:
            self.run(self.note_decision(where[0], said))

    @rule(where=spots, question=questions, way=few)
    def decide_save_and_ask(self, where: str, question: str, way: int) -> None:
        code, spot = where[0], SPOTS[where]
        self.talk(where, DECISION, 0, way == 0)
        self.happens(code, self.known.events.command(spot, self.author(spot, way % 2), ""))
        self.looks.at_a_save(code)
        self.ask(where, question, 1)

    @rule(where=spots, question=questions, which=st.integers(0, 1))
    def ask(self, where: str, question: str, which: int) -> None:
        code, spot = where[0], SPOTS[where]
        self.happens(code, self.known.events.said(spot, self.author(spot, which), question, addressed=True))

    @rule(where=spots, words=commands, which=st.integers(0, 1), member=few, way=st.sampled_from(("app", "@", "!")))
    def command(self, where: str, words: str, which: int, member: int, way: str) -> None:
        code, spot = where[0], SPOTS[where]
        author, words = self.author(spot, which), self.filled(words, code)
        if way == "app":
            self.happens(code, self.known.events.command(spot, author, words, member=member > 0))
        else:
            text = f"!remem {words}" if way == "!" else f"remem {words}"
            self.happens(code, self.known.events.said(spot, author, text, addressed=way == "@"))

    @rule(where=spots, to=st.none() | st.integers(0, 30), pattern=texts)
    def reply(self, where: str, to: int | None, pattern: str) -> None:
        """Reply to the bot's last words there, or to a message of whatever room, where no platform would allow it."""
        code, spot = where[0], SPOTS[where]
        root = self.platforms[spot.room.key.platform].last.get(spot.conversation)
        if to is not None and self.known.said:
            root = self.known.said[-1 - to % len(self.known.said)][1].message
        text = self.filled(pattern, code)
        self.happens(code, self.known.events.said(spot, self.author(spot, 1), text, addressed=True, reply_to=root))

    @rule(which=st.integers(0, 30), pattern=texts, delete=st.booleans())
    def change_what_was_said(self, which: int, pattern: str, delete: bool) -> None:
        if not self.known.said:
            return
        code, said = self.known.said[-1 - which % len(self.known.said)]
        if said.message is not None:
            self.known.decided.pop(said.message, None)
        self.known.clock.advance(1)
        events, someone = self.known.events, stand_in(said.room, "99", "someone")
        changed = events.deleted(said, someone) if delete else events.edited(said, self.filled(pattern, code))
        self.happens(code, changed)

    @rule(where=spots, pattern=texts, addressed=st.booleans())
    def change_what_never_came(self, where: str, pattern: str, addressed: bool) -> None:
        code, spot = where[0], SPOTS[where]
        never = self.known.events.said(spot, self.author(spot, 0), "", addressed=addressed)
        self.happens(code, self.known.events.edited(never, self.filled(pattern, code)))

    @rule(where=spots, to=spots, question=questions)
    def turn_to_another_room(self, where: str, to: str, question: str) -> None:
        """The session of the room that is left ends; the same question is asked in the other one."""
        code, spot = where[0], SPOTS[where]
        self.ask(where, question, 0)
        self.happens(code, self.known.events.about_room(Happening.CLOSED, spot, self.author(spot, 0)))
        left = self.talks().get(spot.conversation)
        assert left is None or not left.session.started
        self.ask(to, question, 0)

    @rule(where=spots, what=st.sampled_from((Happening.JOINED, Happening.LEFT, Happening.RENAMED, Happening.BUTTON)))
    def something_about_the_room(self, where: str, what: Happening) -> None:
        code, spot = where[0], SPOTS[where]
        if what is Happening.BUTTON:
            self.happens(code, self.known.events.button(spot, self.author(spot, 1), "purpose-topic"))
        elif code not in DIRECT:
            self.happens(code, self.known.events.about_room(what, spot, self.author(spot, 0)))

    @rule(said=st.lists(st.tuples(spots, texts, few, st.booleans()), min_size=2, max_size=4), crash=st.booleans())
    def many_at_once(self, said: list[tuple[str, str, int, bool]], crash: bool) -> None:
        """Several rooms at once; the program may end before it comes to any of it."""
        incomings = [self.says(*one) for one in said]
        self.run(self.deliver(*incomings, settle=not crash))
        if crash:
            self.run(self.again())
        self.look(set(MEMORIES) if crash else {where[0] for where, *_ in said})

    @rule(seconds=st.sampled_from((60, 1900, 1900, 90_000)))
    def time_passes(self, seconds: int) -> None:
        self.known.clock.advance(seconds)
        self.run(self.app.schedule.ring())
        self.look(set(MEMORIES))

    @rule()
    def restart(self) -> None:
        self.run(self.again())
        self.look(set(MEMORIES))

    @rule(platform=st.sampled_from(("discord", "slack")), outcome=st.sampled_from((*Delivery, Delivery.SENT)))
    def the_platform_changes_its_mind(self, platform: str, outcome: Delivery) -> None:
        self.platforms[platform].outcome = outcome

    @rule(asker=st.sampled_from(MEMORIES), of=st.none() | st.sampled_from(MEMORIES))
    def search_for_words(self, asker: str, of: str | None) -> None:
        """Search through the gate for the last words of another memory, or of the asker's own."""
        self.run(self.search(asker, " ".join(self.known.words[of or asker][-3:])))
        self.look({asker})

    async def search(self, asker: str, words: str) -> None:
        scope = self.known.scope(asker)
        opened = await open_index(self.app.parts.handles.open(scope)) if scope else None
        if opened is not None:
            self.tally.see("search", asker, repr(await opened.search(words)))
