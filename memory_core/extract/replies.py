"""Whom a reply answers. Topics run side by side in one room, so nearness alone does not tell.

In order: the platform's own reply mark; a name at the start (`@ana …`); words in common; and at last nearness, where
a mere `yes` stops at a question that someone asked in between, and a mere `ok` reaches only two messages back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache

from memory_core.extract import cues_talk
from memory_core.extract.item import Item
from memory_core.extract.text import KEPT, Sentence
from memory_core.extract.words import shared, topic
from memory_core.messages import Message

REACH = 15
"""How many messages back a reply may lie."""
_NEAR = 6
_NEXT = 2
_ADDRESSED = re.compile(r"^\W*@?([\w.-]{2,40})\b")


class Stance(Enum):
    """How a message takes what was said before."""

    NONE = auto()
    STRONG = auto()
    """Agreement that answers no question."""
    AGREE = auto()
    ACKNOWLEDGE = auto()
    ACT = auto()
    OBJECT = auto()


def stance_of(own: Sequence[Sentence]) -> Stance:
    """What the first two sentences of a message say to what stood before; questions say nothing."""
    stances = (_stance(sentence.plain) for sentence in own[:2] if not sentence.question)
    return next((stance for stance in stances if stance is not Stance.NONE), Stance.NONE)


@lru_cache(KEPT)
def _stance(plain: str) -> Stance:
    return next((stance for stance, cue in _STANCES if cue.search(plain)), Stance.NONE)


_STANCES = (
    (Stance.OBJECT, cues_talk.OBJECT),
    (Stance.STRONG, cues_talk.STRONG),
    (Stance.AGREE, cues_talk.AGREE),
    (Stance.ACT, cues_talk.ACTED),
    (Stance.ACKNOWLEDGE, cues_talk.ACKNOWLEDGE),
)


def answered(
    stance: Stance, position: int, messages: Sequence[Message], items: Sequence[Item], questions: Sequence[int]
) -> Item | None:
    """The item that the message at `position` answers, None where it answers none.

    `items` may be of any state; `questions` are the positions of messages that asked something.
    """
    message = messages[position]
    near = [
        item
        for item in items
        if not item.dropped and item.author != message.author and 0 < position - item.at <= REACH
    ]
    if not near:
        return None
    for item in reversed(near):
        if message.reply_to is not None and messages[item.at].key == message.reply_to:
            return item
    said = topic(message.text)
    best = max(near, key=lambda item: (shared(item.words, said), item.at))
    if shared(best.words, said):
        return best
    return _by_name(message, messages, near) or _nearest(stance, position, messages, near, questions)


def _by_name(message: Message, messages: Sequence[Message], near: Sequence[Item]) -> Item | None:
    found = _ADDRESSED.match(message.text)
    if found is None:
        return None
    name = found[1].casefold()
    return next((item for item in reversed(near) if messages[item.at].author_name.casefold() == name), None)


def _nearest(
    stance: Stance, position: int, messages: Sequence[Message], near: Sequence[Item], questions: Sequence[int]
) -> Item | None:
    item = near[-1]
    if not item.open:
        return None
    author = messages[position].author
    asked_between = any(item.at < at < position and messages[at].author != author for at in questions)
    reach = {Stance.STRONG: _NEAR, Stance.AGREE: _NEAR, Stance.OBJECT: _NEAR}.get(stance, _NEXT)
    if position - item.at > reach or (asked_between and stance is not Stance.STRONG):
        return None
    return item
