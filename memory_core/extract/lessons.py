"""A lesson: problem and solution both said, in one message or over two.

    one message     `the 502s: keepalive was too long; fixed by setting it to 75`
    two messages    a problem is told; later someone names cause and remedy
    confirmed       a problem is told, someone else advises, the first one says that this was it

A cause alone (`the reason was …`) is a lesson only where something was done about it. The problem that a solution
belongs to is the one with words in common, else the solver's own, else the latest that is near.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_core.extract import cues_lessons, cues_talk
from memory_core.extract.addressing import unaddressed
from memory_core.extract.text import KEPT, Sentence, one_line, without_links
from memory_core.extract.words import shared, topic
from memory_core.ids import PersonKey
from memory_core.messages import Message
from memory_core.script import is_paired

_REACH = 15
_NEAR = 8


@dataclass(frozen=True, slots=True)
class Problem:
    """Something went wrong, as told at `at`."""

    at: int
    author: PersonKey
    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Advice:
    """What someone said could be done, at `at`."""

    at: int
    author: PersonKey
    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """Problem and solution in one line; `sources` are positions, first the message with the solution."""

    text: str
    sources: tuple[int, ...]


def problems_in(own: Sequence[Sentence], position: int, author: PersonKey) -> Iterator[Problem]:
    """The problems that a message tells; a question may tell one."""
    for sentence in own:
        words = topic(sentence.text)
        if len(words) >= 2 and not sentence.document and _is_problem(sentence.plain):
            yield Problem(position, author, sentence.text, words)


def advice_in(own: Sequence[Sentence], position: int, author: PersonKey) -> Iterator[Advice]:
    """What a message advises, told or asked (`raise the limit?`): an imperative, or `you could …`."""
    for sentence in own:
        words = topic(sentence.text)
        if len(words) >= 2 and not sentence.document and _is_advice(sentence.plain):
            yield Advice(position, author, sentence.text, words)


def lesson_in(
    own: Sequence[Sentence],
    position: int,
    messages: Sequence[Message],
    problems: Sequence[Problem],
    advice: Sequence[Advice],
) -> Lesson | None:
    """The lesson that the message at `position` completes; None where it completes none."""
    solved = next((number for number, sentence in enumerate(own) if _solves(own, number)), None)
    author = messages[position].author
    if solved is not None:
        return _told(own, solved, position) or _joined(own, solved, position, author, problems)
    return _confirmed(own, position, author, problems, advice)


def _solves(own: Sequence[Sentence], number: int) -> bool:
    """True for a sentence that tells a solution of substance."""
    sentence = own[number]
    match = _solution(sentence.plain)
    if match is None or sentence.question or sentence.document or len(topic(without_links(sentence.text))) < 2:
        return False
    outside = sentence.plain[: match.start()] + sentence.plain[match.end() :]
    if is_paired(match.group()) and not topic(outside):
        return False  # `直りました！` confirms what another one said
    if cues_talk.SUPPOSE.search(
        sentence.plain[max(0, match.start() - 25) : match.start()]
    ) or cues_lessons.RELAPSED.search(sentence.plain):
        return False
    return any(cues_lessons.REMEDY.search(following.plain) for following in own[number : number + 3])


def _told(own: Sequence[Sentence], solved: int, position: int) -> Lesson | None:
    """Problem and solution in this one message."""
    here = own[solved]
    match = _solution(here.plain)
    outside = here.plain[: match.start()] + " " + here.plain[match.end() :] if match else here.plain
    before = [s for s in own[:solved] if not s.document and _is_problem(s.plain)]
    if not before and not cues_lessons.PROBLEM.search(outside):
        return None
    solution = _from(own, solved)
    parts = [s.text for s in (*(s for s in before[-1:] if s not in solution), *solution)]
    return Lesson(one_line(" ".join(parts)), (position,))


def _joined(
    own: Sequence[Sentence], solved: int, position: int, author: PersonKey, problems: Sequence[Problem]
) -> Lesson | None:
    solution = " ".join(s.text for s in _from(own, solved))
    problem = _problem_of(topic(solution), position, author, problems)
    if problem is None:
        return None
    return Lesson(_line(problem.text, solution), (position, problem.at))


def _line(problem: str, solution: str) -> str:
    """Both in one line, without the people to whom they were said."""
    return f"{one_line(unaddressed(problem), 240)} → {one_line(unaddressed(solution), 300)}"


def _from(own: Sequence[Sentence], solved: int) -> Sequence[Sentence]:
    """The solution's sentence, with a telling one before it, and what follows where that tells the remedy."""
    start = (
        solved - 1 if solved and len(topic(own[solved - 1].text)) >= 3 and not own[solved - 1].question else solved
    )
    end = solved + 1
    while end < min(len(own), solved + 3) and not own[end].question and cues_lessons.REMEDY.search(own[end].plain):
        end += 1
    return own[start:end]


def _problem_of(
    words: frozenset[str], position: int, author: PersonKey, problems: Sequence[Problem]
) -> Problem | None:
    near = [problem for problem in problems[-40:] if position - problem.at <= _REACH]
    if not near:
        return None
    best = max(near, key=lambda problem: (shared(problem.words, words), problem.at))
    if shared(best.words, words):
        return best
    own = [problem for problem in near if problem.author == author]
    latest = own[-1] if own else near[-1]
    return latest if position - latest.at <= _NEAR else None


def _confirmed(
    own: Sequence[Sentence], position: int, author: PersonKey, problems: Sequence[Problem], advice: Sequence[Advice]
) -> Lesson | None:
    """The one with the problem says that the advice was right."""
    if not any(_is_confirmed(s.plain) and not s.question for s in own[:2]):
        return None
    mine = [problem for problem in problems[-40:] if problem.author == author and position - problem.at <= _REACH]
    if not mine:
        return None
    given = [tip for tip in advice[-20:] if tip.author != author and mine[-1].at < tip.at and position - tip.at <= 4]
    if not given:
        return None
    problem, tip = mine[-1], given[-1]
    return Lesson(_line(problem.text, tip.text), (tip.at, problem.at, position))


@lru_cache(KEPT)
def _is_problem(plain: str) -> bool:
    return cues_lessons.PROBLEM.search(plain) is not None


@lru_cache(KEPT)
def _is_advice(plain: str) -> bool:
    return cues_lessons.ADVICE.search(plain) is not None


@lru_cache(KEPT)
def _is_confirmed(plain: str) -> bool:
    return cues_lessons.CONFIRMED.search(plain) is not None


@lru_cache(KEPT)
def _solution(plain: str) -> re.Match[str] | None:
    return cues_lessons.SOLUTION.search(plain)
