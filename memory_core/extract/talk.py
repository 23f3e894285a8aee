"""Reading one conversation, message by message: what is stated, and what becomes of it.

Each message of a person is looked at in this order:

    corrects   `no, 15:00 not 14:00` puts another value into an item that was stated before
    retracts   `scratch that`, 算了 takes back the author's latest item; what holds instead is a new item
    closes     `ok settled`, 那就这么定了 bears out an item that others agreed to
    answers    agreement, action or objection goes to the item that the message answers (memory_core.extract.replies)
    states     every sentence that states something is a new item, or bears out the item that said the same
    solves     a solution joins the problem that stood before it (memory_core.extract.lessons)

Bots are passed over: they neither state nor agree. Not covered: agreement by emoji reaction (no message), a fact
that is spread over more than two messages, irony without a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memory_core.extract import corrections, cues_talk, cues_work, lessons
from memory_core.extract.cue import Firmness
from memory_core.extract.finding import DECIDING, WORKING, Finding, finding_in
from memory_core.extract.item import Item, new_item, other_value, same_fact, swaps
from memory_core.extract.replies import REACH, Stance, answered, stance_of
from memory_core.extract.text import KEPT, Sentence, sentences
from memory_core.extract.words import shared, topic
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice


@dataclass(slots=True)
class Talk:
    """A conversation as it is read. `retracted` are positions of messages whose statement was taken back."""

    messages: Sequence[Message]
    direct: bool = False
    first: int = 0
    """The position of the first message that may be cited; those before it are context."""
    items: list[Item] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    open_jobs: list[tuple[int, str]] = field(default_factory=list)
    """Positions and texts of `who can …?` questions."""
    problems: list[lessons.Problem] = field(default_factory=list)
    advice: list[lessons.Advice] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)


def read(messages: Sequence[Message], *, direct: bool, first: int = 0) -> Talk:
    """Read a whole conversation, oldest message first; those before position `first` are context."""
    talk = Talk(messages, direct, first)
    for position, message in enumerate(messages):
        if message.voice is Voice.PERSON:
            _hear(talk, position, sentences(message.text))
    return talk


def _hear(talk: Talk, position: int, own: Sequence[Sentence]) -> None:
    if not own or _corrected(talk, position, own) or _taken_back(talk, position, own):
        return
    _answer(talk, position, own)
    stated = [found for sentence in own if (found := _finding(talk, position, sentence)) is not None]
    for found in stated:
        _add(talk, new_item(found, position, talk.messages[position].author))
    _learn(talk, position, own)
    if any(sentence.question for sentence in own):
        talk.questions.append(position)
        asked = next((s.text for s in own if s.question and cues_talk.WHO_ASKS.search(s.plain)), "")
        if asked:
            talk.open_jobs.append((position, asked))


def _corrected(talk: Talk, position: int, own: Sequence[Sentence]) -> bool:
    """Put a corrected value into the item it belongs to."""
    near = [item for item in talk.items if not item.dropped and position - item.at <= REACH]
    for sentence in own:
        for item in reversed(near):
            text = corrections.corrected(item.finding.text, sentence.plain)
            if text is not None:
                item.corrects = item.corrects or item.finding.text
                item.finding = replace(item.finding, text=text)
                item.words = topic(text)
                item.cite(position)
                return True
    return False


def _taken_back(talk: Talk, position: int, own: Sequence[Sentence]) -> bool:
    """Drop what the message takes back; what it puts in its place is a new item."""
    said = topic(talk.messages[position].text)
    for number, sentence in enumerate(own):
        match = _retraction(sentence.plain)
        if match is None or _labelled(talk, position, sentence):
            continue
        joke = bool(cues_talk.JOKE.search(match.group()))
        own_joke = joke and len(topic(" ".join((*_texts(own[:number]), sentence.plain[: match.start()])))) > 2
        old = _withdrawn(talk, position, said, joke=joke, own_joke=own_joke)
        if old is None:
            _object(talk, position)
        else:
            old.dropped = True
            talk.retracted.extend(old.sources)
        # What is said in front of `/s` is the joke itself; only what follows it may be meant.
        meant = not joke or cues_talk.KEEP.search(sentence.plain[match.end() :])
        instead = own[number:] if meant else own[number + 1 :]
        return _put_instead(talk, position, instead, old, sentence) or old is not None
    return False


@lru_cache(KEPT)
def _retraction(plain: str) -> re.Match[str] | None:
    return cues_talk.RETRACT.search(plain)


def _object(talk: Talk, position: int) -> None:
    """Someone else would take back what was just settled: it is open again."""
    for item in reversed(talk.items):
        if item.dropped or item.finding.kind not in DECIDING or position - item.at > 4:
            continue
        if not item.finding.settles:
            item.settled = False
            item.objections += 1
        return


def _put_instead(talk: Talk, position: int, own: Sequence[Sentence], old: Item | None, taking_back: Sentence) -> bool:
    """What holds instead of `old`: named by the message, or, for a decision that was kept before, that it is off."""
    rest = next((s for s in own if not s.question and cues_talk.KEEP.search(s.plain)), None)
    kept_before = old is not None and old.settled and old.at < talk.first and old.finding.kind in DECIDING
    if rest is None and not kept_before:
        return False
    firmness = Firmness.EXPLICIT if talk.direct or rest is None else Firmness.COMMITTED
    finding = Finding(Kind.DECISION, firmness, taking_back.text if rest is None else _kept(rest))
    item = new_item(finding, position, talk.messages[position].author)
    item.corrects = old.finding.text if old is not None else ""
    talk.items.append(item)
    return True


def _kept(sentence: Sentence) -> str:
    """What holds, without the words that take the old back."""
    match = cues_talk.KEEP.search(sentence.plain)
    taken_back = match is not None and cues_talk.RETRACT.search(sentence.plain[: match.start()])
    return sentence.plain[match.start() :] if match is not None and taken_back else sentence.text


def _labelled(talk: Talk, position: int, sentence: Sentence) -> bool:
    found = finding_in(sentence, talk.messages[position], direct=talk.direct)
    return found is not None and found.label


def _texts(sentences: Sequence[Sentence]) -> Iterator[str]:
    return (sentence.plain for sentence in sentences)


def _withdrawn(talk: Talk, position: int, said: frozenset[str], *, joke: bool, own_joke: bool) -> Item | None:
    """The item that a retraction means: the author's own latest, or another's that shares words; a joke: the last.

    `own_joke`: the message itself tells what it jokes about; then only an item that shares words is meant.
    """
    author = talk.messages[position].author
    near = [item for item in talk.items if not item.dropped and position - item.at <= REACH]
    for item in reversed(near):
        if joke and position - item.at <= 3 and (not own_joke or shared(item.words, said)):
            return item
        if not joke and (item.author == author or shared(item.words, said) >= 2):
            return item
    return None


def _answer(talk: Talk, position: int, own: Sequence[Sentence]) -> None:
    """Give the message's agreement, action or objection to the item that it answers."""
    if any(cues_talk.CLOSE.search(sentence.plain) for sentence in own) and _close(talk, position):
        return
    stance = stance_of(own)
    if stance is Stance.NONE:
        return
    waiting = [item for item in talk.items if item.finding.kind in DECIDING or item.open]
    item = answered(stance, position, talk.messages, waiting, talk.questions)
    if item is None or (item.finding.asked and not _is_asked(item, talk.messages[position])):
        return
    if stance is not Stance.OBJECT:
        said_again = shared(item.words, topic(talk.messages[position].text)) >= 2
        item.agree(position, said_again=said_again)
    elif item.open:
        item.objections += 1


def _is_asked(item: Item, message: Message) -> bool:
    asked, name = item.finding.asked.casefold(), message.author_name.casefold()
    return asked in {name, str(message.author).casefold(), message.author.native.casefold()} or name.startswith(asked)


def _close(talk: Talk, position: int) -> bool:
    """`ok settled`: bears out the latest item that is under talk; from another person it settles an open one."""
    author = talk.messages[position].author
    for item in reversed(talk.items):
        if item.dropped or item.finding.kind not in DECIDING or position - item.at > REACH:
            continue
        if item.author != author:
            item.agree(position)
        elif item.settled:
            item.cite(position)
        return True
    return False


def _finding(talk: Talk, position: int, sentence: Sentence) -> Finding | None:
    message = talk.messages[position]
    found = finding_in(sentence, message, direct=talk.direct)
    if found is None:
        return _volunteered(talk, position, sentence)
    if found.given and not _takes_part(talk, found.who):
        return None
    if found.kind is Kind.TASK and found.label and not found.who:
        found = replace(found, who=_named_first(talk, found.text))
    if found.kind in WORKING and not found.label and not found.marked and len(topic(found.text)) < 2:
        return _volunteered(talk, position, sentence)
    return found


def _takes_part(talk: Talk, name: str) -> bool:
    return any(message.author_name.casefold() == name.casefold() for message in talk.messages)


def _named_first(talk: Talk, text: str) -> str:
    """The one with whose name a task begins: of the talk, or told by the verb (`TODO: ben updates the wiki`)."""
    start = text.casefold()
    names = dict.fromkeys(message.author_name for message in talk.messages)
    told = cues_work.DOES.match(text)
    there = (name for name in names if start.startswith((f"{name.casefold()} ", f"{name.casefold()}: ")))
    return next(there, told["who"] if told else "")


def _volunteered(talk: Talk, position: int, sentence: Sentence) -> Finding | None:
    """`I'll do it`, said to `who can …?`, is a task with the question's words."""
    if sentence.question or not talk.open_jobs or not cues_talk.VOLUNTEER.search(sentence.plain):
        return None
    at, asked = talk.open_jobs[-1]
    message = talk.messages[position]
    if position - at > 5 or talk.messages[at].author == message.author:
        return None
    text = f"{asked} → {sentence.text}"
    return Finding(Kind.TASK, Firmness.EXPLICIT, text, who=message.author_name, status="pending")


def _add(talk: Talk, new: Item) -> None:
    """Keep a new item, unless it says an earlier one again: then that one is borne out, changed or done."""
    for old in reversed(talk.items):
        if old.dropped or new.at - old.at > 40:
            continue
        if not same_fact(old, new):
            if old.finding.settles and new.finding.settles and swaps(old, new):
                old.uncite(new.at)  # `agreed: … by Dora` is no nod to `… by Cora`
            continue
        if other_value(old, new) and new.finding.status != "done":
            new.corrects = old.finding.text
            old.dropped = True
            talk.retracted.extend(old.sources)
            break
        _bear_out(old, new)
        return
    talk.items.append(new)


def _bear_out(old: Item, new: Item) -> None:
    """The same said again: someone else agrees; a firmer form gives its words; a task takes its status."""
    if new.author != old.author or new.settled:
        old.settled = True
    old.cite(new.at)
    firmer = new.finding.firmness > old.finding.firmness and len(new.words) >= len(old.words)
    if firmer and new.finding.kind in DECIDING:
        old.finding = replace(new.finding, marked=old.finding.marked or new.finding.marked)
        old.words = new.words
    elif new.finding.kind in WORKING:
        who = old.finding.who or new.finding.who
        old.finding = replace(
            old.finding,
            status=new.finding.status or old.finding.status,
            who=who,
            due=old.finding.due or new.finding.due,
        )


def _learn(talk: Talk, position: int, own: Sequence[Sentence]) -> None:
    """Join a solution and its problem; keep problems and advice in mind."""
    message = talk.messages[position]
    lesson = lessons.lesson_in(own, position, talk.messages, talk.problems, talk.advice)
    if lesson is not None:
        finding = Finding(Kind.LESSON, Firmness.EXPLICIT, lesson.text)
        stated_by = talk.messages[lesson.sources[0]].author
        item = Item(
            finding, lesson.sources[0], stated_by, list(lesson.sources), settled=True, words=topic(lesson.text)
        )
        known = next((old for old in talk.items if not old.dropped and same_fact(old, item)), None)
        if known is None:
            talk.items.append(item)
        elif known.at == position and known.finding.label:
            _complete(known, lesson.text)
    talk.problems.extend(lessons.problems_in(own, position, message.author))
    talk.advice.extend(lessons.advice_in(own, position, message.author))


def _complete(labelled: Item, told: str) -> None:
    """`lesson: it failed; adding the key fixed it`: the label took one sentence, the solution stands behind it."""
    _, begins, rest = told.partition(labelled.finding.text)
    if begins and rest:
        labelled.finding = replace(labelled.finding, text=begins + rest)
        labelled.words = topic(labelled.finding.text)
