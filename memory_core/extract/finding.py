"""What one sentence states, if anything: a kind, how firm, and about whom.

The order of the checks: an instruction to the bot states nothing; a wish to remember lends its force to the fact
behind it; then the tables of cues, the more telling first. Afterwards the sentence may still be void: a joke, a
supposition, a question, something of the day (lunch), or a decision that is said to be open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from memory_core.extract import cues_decisions, cues_lessons, cues_people, cues_talk, cues_work
from memory_core.extract.addressing import unaddressed
from memory_core.extract.cue import Cue, Firmness, group_in
from memory_core.extract.dates import due_in
from memory_core.extract.text import KEPT, Sentence, without_links
from memory_core.extract.words import topic
from memory_core.layouts import Kind
from memory_core.messages import Message

DECIDING = frozenset({Kind.DECISION, Kind.AGREEMENT, Kind.STACK, Kind.ARCHITECTURE})
WORKING = frozenset({Kind.TASK, Kind.STATUS, Kind.BLOCKER})
_ENDURING = frozenset({Kind.ENVIRONMENT, Kind.TOOL, Kind.CONTACT})
"""Kinds that a smile in the sentence does not void."""

_MENTION = re.compile(r"(?<![\w@])@([^\s,.:;，。：；、@!！?？()（）]{1,40})")
_VAGUE = re.compile(
    r"\W*(?:(?:it|this|that|them|these|those|some|something|one|soon|later|now|just|today|tonight|tomorrow|"
    r"thanks|to my \w+)\b\W*)*(?:$|(?:when|if|once|for|to)\b)",
    re.IGNORECASE,
)
"""The object of a commitment that only its neighbours would tell (`I'll fix it later`)."""
_KANA = re.compile(r"[\u3040-\u30ff]")
"""In Japanese the object stands in front of what is done to it, so nothing needs to follow."""
_NOT_YET = re.compile(
    r"\b(?:when|once|after|until|if|before|unless|as soon as|what|that|which|how|where)\b", re.IGNORECASE
)
_FOR = re.compile(r"^\W*\w[\w -]{0,12}\bfor\s+@?([\w.-]{1,40})\s*[:：]", re.IGNORECASE)
_STANDING = re.compile(
    r"^(?:always|never|no|all|every|everyone|nobody|only|总是|永远|所有|一律|不要|禁止)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a sentence states. `text` is what is kept, `asked` the one who must agree to a request, `marked` that the
    speaker wished it remembered, `claimed` that it is only the speaker's claim."""

    kind: Kind
    firmness: Firmness
    text: str
    who: str = ""
    status: str = ""
    due: date | None = None
    asked: str = ""
    marked: bool = False
    claimed: bool = False
    label: bool = False
    given: bool = False
    """A task that someone is said to do: that one must take part in the talk."""

    @property
    def settles(self) -> bool:
        """True when the words alone are enough."""
        return self.firmness >= Firmness.EXPLICIT


def finding_in(sentence: Sentence, message: Message, *, direct: bool) -> Finding | None:
    """What `sentence` of `message` states; None for nothing worth keeping. `direct`: said in a 1:1 DM.

    `by Friday` is reckoned from the day that `message.sent_at` tells in its own zone.
    """
    return _found(sentence, message, message.sent_at.date(), direct)


@lru_cache(KEPT)
def _found(sentence: Sentence, message: Message, day: date, direct: bool) -> Finding | None:
    """As `finding_in`. The day stands for itself: messages are equal whatever zone their time is told in."""
    sentence = _uncalled(sentence)
    plain = sentence.plain
    if cues_talk.TO_BOT.search(plain):
        return _style(sentence, message) if direct else None
    wished = None if sentence.question else _wished(plain)
    found = _wish(wished, message, direct=direct) if wished is not None else _stated(sentence, message, direct=direct)
    if (rest := unaddressed(plain)) != plain:
        found = _firmer(found, _stated(replace(sentence, text=rest, plain=rest), message, direct=direct), plain)
    return None if found is None else _dated(found, plain, day)


def _firmer(found: Finding | None, behind: Finding | None, plain: str) -> Finding | None:
    """What a sentence states, or what it states behind the people addressed (`@ben TODO: …`) where that is firmer."""
    if behind is None or (found is not None and found.firmness >= behind.firmness):
        return found
    return replace(behind, who=behind.who or _named(plain)) if behind.kind is Kind.TASK else behind


def _uncalled(sentence: Sentence) -> Sentence:
    """The sentence without the bot's name in front of it."""
    called = cues_talk.CALLING_BOT.match(sentence.plain)
    if called is None or called.end() == len(sentence.plain):
        return sentence
    plain = sentence.plain[called.end() :]
    return replace(sentence, text=plain, plain=plain)


def _style(sentence: Sentence, message: Message) -> Finding | None:
    """In their own DM a person may say how they like to be answered; nothing else is taken from an instruction."""
    if sentence.question or not cues_talk.ANSWER_STYLE.search(sentence.plain):
        return None
    return Finding(Kind.PREFERENCE, Firmness.EXPLICIT, sentence.text, who=message.author_name)


def _wished(plain: str) -> str | None:
    """The fact that is asked to be remembered; None where nobody asks."""
    behind = cues_people.REMEMBER_AFTER.search(plain)
    if behind is not None:
        return group_in(plain, behind)
    before = cues_people.REMEMBER.search(plain)
    if before is None:
        return None
    duty = "to " if cues_people.DO_NOT_FORGET.search(before.group()) else ""
    return duty + plain[before.end() :].strip()


def _wish(fact: str, message: Message, *, direct: bool) -> Finding | None:
    if not topic(fact) or cues_talk.JOKE.search(fact):
        return None
    if cues_people.REMEMBER_TO.match(fact):
        return _duty(cues_people.REMEMBER_TO.sub("", fact), message, direct=direct)
    found = _stated(Sentence(fact, fact), message, direct=direct)
    if found is None:
        found = Finding(_kind_of(fact, direct=direct), Firmness.EXPLICIT, fact)
    if found.kind is Kind.ENVIRONMENT and not direct and cues_people.POWER_HELD.search(fact):
        found = replace(found, kind=Kind.ROLE, claimed=True)
    return replace(found, firmness=max(found.firmness, Firmness.EXPLICIT), marked=True, asked="")


def _duty(deed: str, message: Message, *, direct: bool) -> Finding | None:
    """`remember to …`: a task where someone is named for it, or in a DM; else small talk."""
    who = _named(deed) or (message.author_name if direct else "")
    return Finding(Kind.TASK, Firmness.EXPLICIT, deed, who=who, status="pending", marked=True) if who else None


def _kind_of(fact: str, *, direct: bool) -> Kind:
    """The kind of a remembered fact that no cue tells."""
    if _STANDING.match(fact):
        return Kind.AGREEMENT
    return Kind.PREFERENCE if direct and cues_people.MINE.search(fact) else Kind.ENVIRONMENT


def _stated(sentence: Sentence, message: Message, *, direct: bool) -> Finding | None:
    tables = _DIRECT_TABLES if direct else _TABLES
    for cues, owned in tables:
        for cue in cues:
            if sentence.document and cue.firmness is not Firmness.LABEL:
                continue
            match = cue.pattern.search(sentence.plain)
            if match is not None and not _void(sentence, cue, match):
                found = _finding(sentence, cue, match, message, owned=owned)
                return _in_direct(found, message) if direct else found
    return None


def _finding(sentence: Sentence, cue: Cue, match: re.Match[str], message: Message, *, owned: bool) -> Finding:
    label = cue.firmness is Firmness.LABEL
    text = sentence.text if cue.whole else sentence.plain[match.end() :].strip() or sentence.text
    named = group_in(sentence.plain, match).lstrip("@")
    asked = named if cue.firmness is Firmness.PROPOSED and cue.kind is Kind.TASK else ""
    who = message.author_name if owned or named.casefold() in {"me", "我"} else named
    if cue.kind in WORKING and not owned and not named:
        own = cue.status != "pending" or (label and message.addressed)  # a task told to the bot is its speaker's
        who = _named(sentence.plain) or (message.author_name if own else "")
    claimed = cue.kind is Kind.ROLE and (not owned or bool(cues_people.POWER.search(sentence.plain)))
    return Finding(
        cue.kind,
        cue.firmness,
        text,
        who=who,
        status=cue.status,
        asked=asked,
        claimed=claimed,
        label=label,
        given=cue in cues_work.GIVEN and f"@{named}" not in sentence.plain,
    )


def _in_direct(found: Finding, message: Message) -> Finding:
    """In a DM the person's own word settles what they commit to, and an unnamed task is theirs."""
    who = found.who or (message.author_name if found.kind in WORKING else "")
    firm = Firmness.EXPLICIT if found.firmness is Firmness.COMMITTED else found.firmness
    return replace(found, who=who, firmness=firm)


def _void(sentence: Sentence, cue: Cue, match: re.Match[str]) -> bool:
    """True where the sentence takes back what its cue says."""
    plain = sentence.plain
    if sentence.question and cue.firmness not in _ASKABLE:
        return True
    if cues_talk.JOKE.search(plain) and cue.kind not in _ENDURING:
        return True
    if not cue.whole and not topic(without_links(plain[match.end() :])):
        return True
    if cue in cues_work.COMMITMENTS and not _KANA.search(match.group()) and _VAGUE.match(plain[match.end() :]):
        return True
    if cue.firmness is Firmness.LABEL:
        return False
    before = plain[: match.end()] if cue.firmness is not Firmness.HINTED else plain
    if cue.status == "done" and _NOT_YET.search(before):
        return True
    if cues_talk.SUPPOSE.search(before) or (cue.firmness is Firmness.HINTED and len(topic(plain)) < 2):
        return True
    wished = cue.firmness is Firmness.EXPLICIT and cues_talk.PROPOSING.search(plain[: match.start()])
    if cue.kind in DECIDING and (wished or cues_talk.UNDECIDED.search(plain)):
        return True
    return cue.kind in DECIDING | WORKING and bool(cues_talk.SOCIAL.search(plain))


def _named(plain: str) -> str:
    """The people named with @ for a task, or in `TODO for ben:`."""
    names = dict.fromkeys(_MENTION.findall(plain))
    if names:
        return ", ".join(names)
    before = _FOR.match(plain)
    return before[1] if before else ""


def _dated(found: Finding, plain: str, day: date) -> Finding:
    if found.kind not in WORKING or found.status == "done":
        return found
    return replace(found, due=due_in(plain, day))


_ASKABLE = frozenset({Firmness.HINTED, Firmness.PROPOSED})

_TABLES: tuple[tuple[tuple[Cue, ...], bool], ...] = (
    (cues_decisions.DECISIONS[:1], False),
    (cues_decisions.AGREEMENTS[:1], False),
    (cues_work.TODOS, False),
    (cues_work.DONE[:1], True),
    (cues_lessons.LESSONS, False),
    (cues_work.BLOCKERS, True),
    (cues_decisions.DECISIONS[1:], False),
    (cues_decisions.AGREEMENTS[1:], False),
    (cues_people.CONTACTS, False),
    (cues_people.ROLES_OWN, True),
    (cues_people.ROLES_GIVEN, False),
    (cues_people.PREFERENCES, True),
    (cues_work.ENVIRONMENT, False),
    (cues_work.TOOLS, False),
    (cues_decisions.FACTS[:2], False),
    (cues_work.STATUS, True),
    (cues_work.DONE[1:], True),
    (cues_work.REQUESTS, False),
    (cues_decisions.PROPOSALS, False),
    (cues_work.COMMITMENTS, True),
    (cues_work.GIVEN, False),
    (cues_work.NOTICES, False),
    (cues_decisions.FACTS[2:], False),
)
"""The tables in the order in which they are asked, and whether a finding is about the speaker."""

_DIRECT_TABLES = ((cues_decisions.OWN_DECISIONS, True), *_TABLES)
