"""What an agent wishes to be remembered, checked against what people said. Pure.

A model may put a fact into words; it may not invent one. Its text is kept only where a person of this conversation
said it: the one who is answered, in this message; else others, in messages that it still sees. Those messages are
cited. To be said means:

    most of its words   stand in one sentence or more of theirs; every number of it does
    not turned          it denies nothing that they state, and states nothing that they deny
    no question         asking is not stating; a request to remember something counts as stating it

That is a guard against a model that was led astray, not a proof of sense: whoever changes "Ben reviews Ana's work"
into "Ana reviews Ben's work" passes. So nothing that is kept this way is of high value, or replaces anything; its
sources stand beside it, and the answer says that it was noted. Secrets are masked, what the rules can read in the
words (a day, a name, a status) is read by them and not taken from the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.agent import Ask
from memory_core.candidates import TITLE_CHARACTERS, Candidate, Request, Value
from memory_core.errors import BadInput
from memory_core.extract import candidates_in
from memory_core.extract.text import sentences
from memory_core.flush.sameness import Words, words
from memory_core.ids import MessageKey
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice
from memory_core.redact.mask import mask
from memory_core.script import fold
from memory_core.terms import terms
from memory_core.text import one_line

TEXT_CHARACTERS = 600
"""How long one fact may be."""
SAID = 0.7
"""Which part of a fact's words people must have said."""
CITED = 3
"""From so many messages one fact may be put together."""
_LOOKED_AT = 40
_CLAUSE = re.compile(r"(?<=[.!?;。！？；])\s+|(?<=[。！？；])|(?<=[!?;])(?=[^\W\d_])|\n")
"""Where a clause ends; after `!`, `?` and `;` also without a blank, as they are typed in Chinese and in haste."""
_ASKS_TO_KEEP = re.compile(
    r"\b(?:remember|remind|note|write (?:\w+ )?down|keep in mind|save|merk\w*|notier\w*|erinner\w*)\b"
    r"|记住|記住|记下|記下|记得|覚えて|メモ|忘れないで",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Said:
    """A message that states a part of a fact: its share of the fact's words, and of its statements' words."""

    message: Message
    shared: frozenset[str]
    numbers: frozenset[str]
    turns: frozenset[bool]


def wish(kind: str, text: str, ask: Ask) -> Candidate:
    """The candidate that `text` is, with the messages that state it. Raises BadInput where none do."""
    named = _kind(kind)
    fact = mask(one_line(text, TEXT_CHARACTERS + 1)).text
    if not fact or len(fact) > TEXT_CHARACTERS:
        raise BadInput(f"The text has {len(text)} characters; say one fact in 1 to {TEXT_CHARACTERS} of them.")
    said = _stating(fact, ask)
    states = said[0]
    found = _read_by_rules(named, fact, states)
    return replace(found, sources=tuple(message.key for message in said), author=states.author)


def _kind(word: str) -> Kind:
    """Raises BadInput for no such kind, with those that exist."""
    try:
        return Kind(word.strip().lower())
    except ValueError:
        kinds = ", ".join(kind.value for kind in Kind)
        raise BadInput(f"{one_line(word, 40)!r} is no kind of fact; take one of {kinds}.") from None


def _stating(fact: str, ask: Ask) -> tuple[Message, ...]:
    """The messages that say the fact, first the one that says most of it. Raises BadInput where they do not."""
    asked = words(fact)
    if not asked.terms:
        raise BadInput("The text has no word that says something; say the fact itself.")
    if alone := _said_in([ask.message], asked):
        return alone
    if found := _said_in(_others(ask), asked):
        return found
    raise BadInput("Nobody here said that in such words. Only what a person said is kept: use their own words.")


def _others(ask: Ask) -> list[Message]:
    """What people said before this message, and this message, newest first."""
    return [message for message in messages_of(ask).values() if message.voice is Voice.PERSON][:_LOOKED_AT]


def messages_of(ask: Ask) -> dict[MessageKey, Message]:
    """What the agent was asked with: this message, then those before it, newest first, then a thread's root."""
    seen: dict[MessageKey, Message] = {ask.message.key: ask.message}
    for entry in reversed((*ask.context.tail, *ask.context.fresh)):
        seen.setdefault(entry.message.key, entry.message)
    if ask.root is not None:
        seen.setdefault(ask.root.key, ask.root)
    return seen


def _said_in(messages: Iterable[Message], asked: Words) -> tuple[Message, ...]:
    """The fewest messages that say it all together; none where they leave too much of it unsaid, or turn it."""
    left = list(filter(None, (_said(message, asked) for message in messages)))
    chosen: list[_Said] = []
    covered: frozenset[str] = frozenset()
    while left and len(chosen) < CITED and len(covered) < len(asked.terms):
        best = max(left, key=lambda one: len(one.shared - covered))
        if not best.shared - covered:
            break
        chosen.append(best)
        covered |= best.shared
        left.remove(best)
        if _is_said(asked, chosen):
            return tuple(one.message for one in chosen)
    return ()


def _said(message: Message, asked: Words) -> _Said | None:
    """What of the fact the statements of a message say; None where nothing."""
    stated = [words(text) for text in _statements(message.text)]
    used = [one for one in stated if one.terms & asked.terms]
    if not used:
        return None
    most = max(len(one.terms & asked.terms) for one in used)
    turns = frozenset(one.negates for one in used if 2 * len(one.terms & asked.terms) >= most)
    shared = asked.terms & frozenset().union(*(one.terms for one in used))
    return _Said(message, shared, frozenset().union(*(one.numbers for one in used)), turns)


def _statements(text: str) -> Iterator[str]:
    """The sentences of a text that state something; of one that ends with a question also what stands before that."""
    for one in sentences(text):
        if not one.question or _ASKS_TO_KEEP.search(one.text):
            yield one.text
            continue
        clauses = _CLAUSE.split(one.text)
        yield from (clause for clause in clauses[:-1] if not any(part.question for part in sentences(clause)))


def _is_said(asked: Words, by: Sequence[_Said]) -> bool:
    """Do they say enough of it, all its numbers, and in the same sense?"""
    shared = frozenset().union(*(one.shared for one in by))
    numbers = frozenset().union(*(one.numbers for one in by))
    enough = len(shared) >= SAID * len(asked.terms)
    return enough and asked.numbers <= numbers and any(asked.negates in one.turns for one in by)


def _read_by_rules(kind: Kind, fact: str, states: Message) -> Candidate:
    """The fact as the rules read it (day, name, status), else as it stands."""
    for text in (f"{kind.value}: {fact}", fact):  # not every kind has a label
        spoken = Request((replace(states, text=text),), direct=True)
        read = next((one for one in candidates_in(spoken) if one.kind is kind), None)
        if read is not None and fold(read.body) in fold(fact):
            return replace(read, value=Value.MEDIUM, corrects="", settled=True)
    return Candidate(
        kind=kind,
        title=one_line(fact, TITLE_CHARACTERS),
        body=fact,
        author=states.author,
        sources=(states.key,),
        tags=tuple(dict.fromkeys(terms(fact)))[:4],
        who=states.author_name,
    )
