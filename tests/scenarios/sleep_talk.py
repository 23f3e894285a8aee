"""What a busy room says in 200 days, made up from a seed, with the truth of it: which message states which fact.

A day is one session of statements, a minute apart, by six people: decisions, lessons, agreements, settings, roles,
tasks, chatter; facts that were stated before in other words; reversals of earlier decisions. Names of products are
made of syllables, so that two facts share their topic's words at most. Asked are 40 questions: five early facts again
and again (so that they are PROVEN), some others once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta

from adapters.messages import Author, Happening, Incoming, Room
from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, RoomKind, message_key
from tests.scenarios.canary_talk import topic

FIRST_DAY = date(2026, 1, 5)
DAYS = 200
PEOPLE = ("ana", "ben", "chen", "dora", "emil", "fay")
FAVOURITES, ROUNDS, LATER, QUESTIONS = 5, 5, 15, 40
ROOM = Room(RoomKey("slack:T1:C1"), RoomKind.CHANNEL, "#build")
DM = Room(RoomKey("slack:T1:D1"), RoomKind.DIRECT)

DECIDED = (
    "We decided to use {c} for the {t}.",
    "The team decided to use {c} for the {t}",
    "decision: {c} for the {t}",
    "For the {t} the team has decided on {c}",
)
REVERSED = ("We decided against {c} for the {t}", "We decided not to use {c} for the {t}")
OTHERS: dict[str, tuple[str, ...]] = {
    "lesson": (
        "lesson: the {t} failed because {c} was missing; fixed by adding it to the bundle",
        "the {t} failed because {c} was missing; we fixed it by adding it to the bundle",
    ),
    "weighty": ("important: we decided to keep the {c} records of the {t} for ten years",),
    "agreement": ("agreed: every change of the {t} is reviewed by {c}",),
    "setting": ("remember that the {c} host of the {t} is in Oslo", "remember: the {c} host of the {t} is in Oslo"),
    "role": ("I'm responsible for the {c} of the {t}",),
    "task": ("TODO: ben renews the {c} certificate by Friday",),
    "chatter": ("lunch anyone?", "{c} lol", "good morning", "did you see the game?", "brb"),
}
_WEIGHTS = {"decision": 6, "again": 4, "reversal": 1, "lesson": 3, "weighty": 1, "agreement": 1, "setting": 2,
            "role": 0.3, "task": 1, "chatter": 2}  # fmt: skip
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "xa", "ze")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that holds: of which kind, about what, and its word. `no`: a reversal."""

    kind: str
    about: str
    word: str
    no: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the bot, and a word that a right answer holds."""

    message: MessageKey
    text: str
    expects: str


@dataclass(slots=True)
class Talk:
    """The events in order; what each message states; the questions; the facts that are asked about most."""

    events: list[Incoming] = field(default_factory=list)
    facts: dict[MessageKey, Fact] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    favourites: list[Fact] = field(default_factory=list)


def season(seed: int, per_day: int, days: int = DAYS, *, room: Room = ROOM, asked: bool = True) -> Talk:
    """The talk of that seed. In a DM everything is Ana's, and addressed."""
    return _Maker(seed, per_day, days, room, asked).talk


class _Maker:
    def __init__(self, seed: int, per_day: int, days: int, room: Room, asked: bool) -> None:
        self._random = random.Random(seed)
        self._room, self._per_day, self._days, self._asked = room, per_day, days, asked
        self._direct = room.kind is RoomKind.DIRECT
        self._made: set[str] = set()
        self._known: list[Fact] = []
        self._turned: set[Fact] = set()
        self._times: dict[Fact, int] = {}
        self.talk = Talk()
        for number in range(days):
            self._day(number)

    def _day(self, number: int) -> None:
        at = datetime.combine(FIRST_DAY + timedelta(days=number), time(9), UTC)
        for minute in range(self._per_day):
            text, fact = self._statement(favourite=len(self.talk.favourites) < FAVOURITES)
            key = self._say(at + timedelta(minutes=minute), text, addressed=self._direct)
            if fact is not None:
                self.talk.facts[key] = fact
        if self._asked:
            self._ask(at + timedelta(hours=7), number)

    def _ask(self, at: datetime, number: int) -> None:
        """Five rounds about all favourites on the first days; then one question at a time, every other one afresh."""
        favourites = self.talk.favourites
        if len(favourites) == FAVOURITES and len(self.talk.questions) < ROUNDS * FAVOURITES:
            for minute, fact in enumerate(favourites):
                self._question(at + timedelta(minutes=minute), fact)
        elif number % max(1, self._days // LATER) == 0 and favourites:
            fresh = self._known[-3 * self._per_day :]
            others = [one for one in fresh if one.kind == "decision" and not self._dead(one)]
            turn = len(self.talk.questions)
            fact = self._random.choice(others) if turn % 2 and others else favourites[turn % len(favourites)]
            self._question(at, fact)

    def _question(self, at: datetime, fact: Fact) -> None:
        if len(self.talk.questions) < QUESTIONS:
            text = f"what did we decide to use for the {fact.about}?"
            key = self._say(at, text, addressed=True)
            self.talk.questions.append(Question(key, text, fact.word))

    def _dead(self, fact: Fact) -> bool:
        return fact in self._turned

    def _statement(self, *, favourite: bool) -> tuple[str, Fact | None]:
        kinds, weights = zip(*_WEIGHTS.items(), strict=True)
        kind = "decision" if favourite else self._random.choices(kinds, weights)[0]
        alive = [one for one in self._known if not self._dead(one) and not one.no and one not in self.talk.favourites]
        if kind == "again" and alive:
            fact = self._random.choice(alive[-12 * self._per_day :])
            self._times[fact] += 1
            forms = DECIDED if fact.kind == "decision" else OTHERS[fact.kind]
            return _filled(forms[self._times[fact] % len(forms)], fact), fact
        if kind == "reversal" and (decided := [one for one in alive if one.kind == "decision"]):
            fact = self._random.choice(decided)
            self._turned.add(fact)
            no = replace(fact, no=True)
            return _filled(self._random.choice(REVERSED), fact), no
        fact = Fact(kind if kind in OTHERS else "decision", self._topic(), self._word())
        form = OTHERS[fact.kind][0] if fact.kind in OTHERS else DECIDED[0]
        if fact.kind in ("chatter", "task"):
            return _filled(self._random.choice(OTHERS[fact.kind]), fact), None
        self._known.append(fact)
        self._times[fact] = 0
        if favourite:
            self.talk.favourites.append(fact)
        return _filled(form, fact), fact

    def _topic(self) -> str:
        return topic(self._random.randrange(323))

    def _word(self) -> str:
        while True:
            word = "".join(self._random.choices(_SYLLABLES, k=4)).capitalize()
            if word not in self._made:
                self._made.add(word)
                return word

    def _say(self, at: datetime, text: str, *, addressed: bool) -> MessageKey:
        native = f"{int(at.timestamp())}.{len(self.talk.events):06}"
        who = PEOPLE[0] if self._direct else self._random.choice(PEOPLE)
        self.talk.events.append(event(self._room, who, native, at, text, addressed=addressed))
        return message_key(self._room.key, native)


def _filled(form: str, fact: Fact) -> str:
    return form.format(c=fact.word, t=fact.about)


def person(name: str) -> PersonKey:
    """Somebody's key."""
    return PersonKey(f"slack:T1:U{name.upper()}")


def event(room: Room, who: str, native: str, at: datetime, text: str, *, addressed: bool = False) -> Incoming:
    """One message of that room, as its adapter tells it."""
    key = message_key(room.key, native)
    author = Author(person(who), who)
    return Incoming(
        Happening.MESSAGE,
        EventKey(str(key)),
        room,
        Conversation(room.key),
        author,
        at,
        text,
        key,
        addressed=addressed,
    )


def lost(talk: Talk, memory: str) -> list[Fact]:
    """The facts whose word stands nowhere in memory any more."""
    return sorted({fact for fact in talk.facts.values() if fact.word not in memory}, key=lambda fact: fact.word)


def mixed_up(sources: Sequence[MessageKey], facts: dict[MessageKey, Fact]) -> set[Fact]:
    """The facts that a record with those sources states, where they are more than one.

    `agreed: …` after another statement is cited with that one too, as somebody's assent; that is no mixing.
    """
    stated = {facts[key] for key in sources if key in facts and facts[key].kind != "agreement"}
    return stated if len(stated) > 1 else set()
