"""What is said in a season of eighty days, in two groups and a DM: the script, made by a seeded generator.

Every statement has a word of its own, `kanari`, the letter of its memory, and a number: by it the checks find what
became of the statement, and notice it where it does not belong. What a statement is, and what must come of it:

    USED         a decision that is asked about in session after session     PROVEN, on its page
    SHAPES       a decision that shapes the system, never asked about        on its page, or moved for the budget
    OLD          a decision that nobody ever mentions again                  in the archive, found by a search
    TOOL         how a tool is used: what is worth least                     the same, or in an archived journal
    TOLD_TWICE   the same fact, by two people on two days                    kept once
    CONFLICT     two people, two weeks not yet between them                  both kept, both marked
    TURNED       a decision that is taken back a month later                 struck; the new one answers
    DONE, LATE   a task that is done early; one that is never done           gone from the list; first in it
    LESSON       a problem and its solution
    CHINESE      a decision in Chinese
    JOKE         small talk, jokes, what one could do                        nowhere
    FILLER       more decisions, lessons, tasks, people, Chinese lines, so that pages outgrow their budgets

A talk (`Talk`) is what is said in one place without a pause; it is saved by the silence after it, or by the end of
the day, where it is held shortly before midnight.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count

DAYS = 80


class Place(StrEnum):
    """Where is talked; the value is the group's name, or whose DM it is."""

    BUILD = "build"
    OPS = "ops"
    DM = "ana"


LETTERS = {Place.BUILD: "a", Place.OPS: "b", Place.DM: "d"}
PURPOSES = {Place.BUILD: "We run the build servers", Place.OPS: "We keep the lights on"}
HOURS = {Place.BUILD: (10, 0), Place.OPS: (14, 30), Place.DM: (23, 50)}
"""When a place talks; the DM is saved by the end of the day."""
PEOPLE = ("ana", "ben", "chen")
"""They talk in both groups. The DM is Ana's."""


class Fate(StrEnum):
    """What a statement is, and what must come of it (see the top)."""

    USED = "used"
    SHAPES = "shapes"
    OLD = "old"
    TOOL = "tool"
    TOLD_TWICE = "told twice"
    CONFLICT = "conflict"
    TURNED = "turned"
    DONE = "done"
    LATE = "late"
    LESSON = "lesson"
    CHINESE = "chinese"
    JOKE = "joke"
    FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Line:
    """Somebody says, or asks the bot. `codes`: of which statements it is."""

    who: str
    text: str
    codes: tuple[str, ...] = ()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """What is said in one place on one day without a pause."""

    day: int
    place: Place
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is said for the first time on `day` by `who`; `question` asks for it, `words` search for it."""

    code: str
    place: Place
    fate: Fate
    day: int
    who: str
    text: str
    question: str
    words: str
    decision: bool = True
    """Is it one of the decisions, which must be findable?"""
    other: str = ""
    """The code of what contradicts it, or took its place."""


@dataclass(slots=True)
class Season:
    """The whole script. `talks` are in order."""

    talks: list[Talk] = field(default_factory=list)
    statements: dict[str, Statement] = field(default_factory=dict)

    def of(self, place: Place, *fates: Fate) -> list[Statement]:
        """The statements of a place, of these fates or all."""
        return [one for one in self.statements.values() if one.place is place and (not fates or one.fate in fates)]

    @property
    def lines(self) -> int:
        """How much is said."""
        return sum(len(talk.lines) for talk in self.talks)


_FIRST = (
    "printer", "museum", "harbour", "orchestra", "garden", "library", "visitor", "training", "parking", "spring",
    "autumn", "supplier", "packaging", "translation", "intern", "warehouse", "newsletter",
)  # fmt: skip
_SECOND = (
    "rota", "layout", "guide", "poster", "survey", "agenda", "checklist", "template", "calendar", "handbook",
    "workshop", "badge", "brochure",
)  # fmt: skip
_CHINESE_FIRST = ("打印机", "博物馆", "港口", "乐队", "花园", "图书馆", "访客", "培训", "停车场", "供应商", "包装")
_CHINESE_SECOND = ("排班", "布局", "指南", "海报", "问卷", "议程", "清单", "模板", "日历")
_JOKES = (
    "lol imagine the {code} as a pet, it would never sleep",
    "good morning! {code} weather outside",
    "haha {code} again, my cat likes it",
    "we could maybe try {code} some day, who knows",
    "what if we painted the office in {code}? just kidding",
    "哈哈，{code}，今天天气真好",
    "thanks {code}, have a nice evening",
)
_DECIDED = (
    "We decided to use {code} for the {topic}.",
    "decision: {code} for the {topic}, because everything else costs too much",
    "We decided on {code} for the {topic}, it is the simplest that works.",
    "final decision: the {topic} is made with {code}",
)
_DECIDED_CHINESE = (
    "我们决定用{code}做{topic}，因为更便宜。",
    "决定：{topic}用{code}，大家都同意。",
)
_LEARNED = (
    "lesson: the {topic} failed because {code} was missing; fixed by adding it to the list",
    "The {topic} broke because {code} ran out of space; fixed by deleting old copies every night.",
)
_PEOPLE_FACTS = ("I'm responsible for the {topic} ({code})", "I am the contact for the {topic}, extension {code}")


class _Writer:
    """Writes the script of one place."""

    def __init__(self, place: Place, chance: random.Random) -> None:
        self.place = place
        self.chance = chance
        self.talks: dict[int, list[Line]] = {}
        self.statements: list[Statement] = []
        self._numbers = count(1)
        topics = [f"{one} {other}" for one in _FIRST for other in _SECOND]
        chinese = [f"{one}{other}" for one in _CHINESE_FIRST for other in _CHINESE_SECOND]
        chance.shuffle(topics)
        chance.shuffle(chinese)
        self._topics, self._chinese = iter(topics), iter(chinese)

    def code(self) -> str:
        """A new word of this memory."""
        return f"kanari{LETTERS[self.place]}{next(self._numbers)}"

    def person(self, name: str) -> str:
        """Somebody who may speak here."""
        return "ana" if self.place is Place.DM else name

    def says(self, day: int, who: str, text: str, *codes: str, asks: bool = False) -> None:
        """Put a line into the script."""
        self.talks.setdefault(day, []).append(Line(self.person(who), text, codes, asks))

    def states(
        self, fate: Fate, day: int, who: str, pattern: str, topic: str, *, question: str = "", decision: bool = True
    ) -> Statement:
        """Put a statement into the script; `pattern` with `{code}` and `{topic}`."""
        code = self.code()
        text = pattern.format(code=code, topic=topic)
        question = (question or "what did we decide about the {topic}?").format(topic=topic)
        stated = Statement(code, self.place, fate, day, self.person(who), text, question, topic, decision)
        self.statements.append(stated)
        self.says(day, who, text, code)
        return stated

    # -- the story ------------------------------------------------------------------------------------------------

    def story(self) -> None:
        """What happens to every kind of statement, once."""
        used = self.states(Fate.USED, 1, "ana", "We decided to use {code} for the {topic}.", "nightly export")
        for day in (4, 7, 10, 13, 16):
            self.says(day, "ben", used.question, used.code, asks=True)
        self.states(Fate.SHAPES, 1, "ben", "We decided to use {code} as the {topic}.", "billing database")
        self.states(Fate.OLD, 1, "ana", "decision: {code} for the {topic}, it is quiet", "coat rack")
        self.states(
            Fate.TOOL, 1, "ana", "psa: use `{code}` for the {topic} from now on", "linter run",
            question="how is the {topic} started?", decision=False,
        )  # fmt: skip
        self.states(
            Fate.LESSON, 7, "ben", "lesson: the {topic} failed because {code} was missing; fixed by adding it to the "
            "image", "smoke alarm", question="why did the {topic} fail?", decision=False,
        )  # fmt: skip
        self.states(
            Fate.CHINESE,
            7,
            "chen",
            "我们决定用{code}做{topic}，因为更快。",
            "夜间构建",
            question="{topic}用什么？",
        )
        told = self.states(Fate.TOLD_TWICE, 10, "ana", "We decided to print the {topic} with {code}.", "floor plan")
        self.says(13, "ben", f"As said: we decided to print the floor plan with {told.code}.", told.code)
        self._turned()
        if self.place is not Place.DM:
            self._conflict()
        self._tasks()

    def _turned(self) -> None:
        old = self.states(Fate.TURNED, 4, "ana", "We decided to use {code} for the {topic}.", "image registry")
        self.says(36, "ana", f"We decided to no longer use {old.code} for the image registry.", old.code)
        new = self.states(Fate.FILLER, 50, "ana", "We decided to use {code} for the {topic}.", "image registry")
        self.statements[self.statements.index(old)] = replace(old, other=new.code)

    def _conflict(self) -> None:
        """Two who do not speak of what the other said; REM comes before a busy page had to give one of them up."""
        one = self.states(Fate.CONFLICT, 69, "ana", "We decided to move the {topic} to {code}.", "retro recordings")
        self.says(
            70, "ben", f"We decided that the team does not run the retro recordings on {one.code} today.", one.code
        )

    def _tasks(self) -> None:
        ben, chen = self.person("ben"), self.person("chen")
        done = self.states(
            Fate.DONE, 4, "ana", f"TODO: @{ben} renews the {{code}} certificate by 2026-04-20", "certificate",
            question="what is open?", decision=False,
        )  # fmt: skip
        self.says(10, "ben", f"done: the {done.code} certificate is renewed", done.code)
        self.states(
            Fate.LATE, 50, "ana", f"TODO: @{chen} moves the {{code}} wiki by 2026-06-05", "wiki",
            question="what is open?", decision=False,
        )  # fmt: skip

    # -- everything else ------------------------------------------------------------------------------------------

    def fill(self, days: int, share: float, most: int) -> None:
        """On a `share` of the days, up to `most` more lines."""
        for day in range(days):
            if self.chance.random() < share or day in self.talks:
                for _ in range(self.chance.randint(1, most)):
                    self._anything(day)
            if day in self.talks and self.chance.random() < 0.5:
                self.joke(day)

    def joke(self, day: int) -> None:
        """Something that nobody should remember."""
        code = self.code()
        self.statements.append(Statement(code, self.place, Fate.JOKE, day, "", "", "", code, decision=False))
        self.says(day, self.chance.choice(PEOPLE), self.chance.choice(_JOKES).format(code=code), code)

    def _anything(self, day: int) -> None:
        who, roll = self.chance.choice(PEOPLE), self.chance.random()
        if roll < 0.5:
            if topic := next(self._topics, ""):
                self.states(Fate.FILLER, day, who, self.chance.choice(_DECIDED), topic)
        elif roll < 0.62:
            if topic := next(self._chinese, ""):
                asked = "{topic}用什么？"
                self.states(Fate.FILLER, day, who, self.chance.choice(_DECIDED_CHINESE), topic, question=asked)
        elif roll < 0.8:
            if topic := next(self._topics, ""):
                self.states(
                    Fate.FILLER, day, who, self.chance.choice(_LEARNED), topic, question="why did the {topic} fail?",
                    decision=False,
                )  # fmt: skip
        elif roll < 0.9:
            if topic := next(self._topics, ""):
                self.states(Fate.FILLER, day, who, self.chance.choice(_PEOPLE_FACTS), topic, decision=False)
        else:
            decisions = [one for one in self.statements if one.fate is Fate.FILLER and one.decision and not one.other]
            if decisions:
                asked_for = self.chance.choice(decisions)
                self.says(day, who, asked_for.question, asked_for.code, asks=True)


def season(seed: int, *, share: float, most: int, days: int = DAYS) -> Season:
    """The script: the story, and on a `share` of the days up to `most` more lines in each place."""
    made = Season()
    talks: list[Talk] = []
    for place in Place:
        writer = _Writer(place, random.Random(f"{seed} {place}"))
        writer.story()
        writer.fill(days, share, most)
        made.statements |= {one.code: one for one in writer.statements}
        talks += [Talk(day, place, tuple(lines)) for day, lines in writer.talks.items()]
    made.talks = sorted(talks, key=lambda talk: (talk.day, HOURS[talk.place]))
    return made


def by_day(season: Season) -> Iterator[tuple[int, list[Talk]]]:
    """The talks of each day, days without any as well."""
    for day in range(DAYS):
        yield day, [talk for talk in season.talks if talk.day == day]
