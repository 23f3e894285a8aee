"""/remem: the words, who may say them, and what an unknown one gets.

This file is a table and a parser, both pure; what a command does stands in bot/commands.py, what it answers in
memory_core/answers.py. A form that is not in the table does not exist: help shows the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memory_core.layouts import Kind
from memory_core.script import fold


class Right(StrEnum):
    """Who may use a form."""

    MEMBER = "member"
    ADMIN = "admin"
    FIRST = "first answer: anyone; later: admin"


@dataclass(frozen=True, slots=True)
class Form:
    """One form of /remem. `argument` shows what stands after the word; `needs`: not without it.

    `public`: the room may see the answer; `writes`: it changes memory.
    """

    word: str
    argument: str
    effect: str
    right: Right = Right.MEMBER
    needs: bool = False
    public: bool = False
    writes: bool = False


FORMS = (
    Form("", "", "flush: save what matters of this conversation into memory now", public=True, writes=True),
    Form("status", "", "last flush, pending, tasks, sleep, pages and their tokens, budget, what is loaded now"),
    Form("why", "", "what was loaded for the last answer here: step, page, trigger, tokens, what was left out"),
    Form("show", "[page]", "read a page of this memory; without a page: the list"),
    Form("search", "<words>", "search this memory", needs=True),
    Form("note", "[kind:] <text>", "write one thing now", needs=True, writes=True),
    Form(
        "correct",
        "<words> => <text>",
        "replace the one record that the words find; the old one stays, struck through",
        needs=True,
        writes=True,
    ),
    Form("purpose", "<text>", "what this group is for", Right.FIRST, needs=True, writes=True),
    Form(
        "zone",
        "<time zone>",
        "the time zone of this memory, such as Europe/Berlin",
        Right.ADMIN,
        needs=True,
        writes=True,
    ),
    Form("rule", "<text>", "add a hard rule", Right.ADMIN, needs=True, writes=True),
    Form("undo", "", "take back the newest step: a note, a correction, a flush or a sleep", Right.ADMIN),
    Form(
        "sleep",
        "",
        "go through the journals now: what lasts moves to its page, what is old to the archive",
        Right.ADMIN,
    ),
    Form("help", "", "this table"),
)

_SHORT = 4
_BY_WORD = {form.word: form for form in FORMS}
_TEXT_COMMAND = re.compile(r"[!！]?\s*/?remem(?:\s+(?P<rest>.*))?", re.DOTALL | re.IGNORECASE)
_KINDS = frozenset(kind.value for kind in Kind)
_KIND_PREFIX = re.compile(r"(?P<kind>[^\W\d_]{3,15})\s*[:：]\s*(?P<text>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """A command as it was said: its form and what stands after the word."""

    form: Form
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A word that is no form; `nearest` is the closest that exists, '' if none is close."""

    word: str
    nearest: str = ""


def parse(words: str) -> Call | Unknown:
    """What stands after /remem, as a call. A form that needs an argument and has none gets help on itself."""
    word, argument = [*words.split(maxsplit=1), "", ""][:2]
    form = _BY_WORD.get(word.lower())
    if form is None:
        return Unknown(word[:40], nearest(word.lower()[:40], _BY_WORD))
    return Call(form, argument.strip() if fold(argument).strip() else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was most likely meant, '' if none is close: a slip of the fingers or two, no other word.

    `frget` is a slip for `forget`; it shares letters with `correct` too, but nobody means that.
    """
    steps, found = min(((_slips(word, one), one) for one in known if one), default=(0, ""))
    return found if steps <= (1 if len(word) < _SHORT else 2) else ""


def _slips(one: str, other: str) -> int:
    """How many letters must be put in, left out, changed, or swapped with their neighbour."""
    above: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        above, last, row = row, above, [at]
        for to, wanted in enumerate(other, start=1):
            best = min(above[to] + 1, row[to - 1] + 1, above[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and wanted == one[at - 2]:
                best = min(best, last[to - 2] + 1)
            row.append(best)
    return row[-1]


def is_public(words: str) -> bool:
    """May the room see the answer? Known before the command runs, because platforms want it that early."""
    call = parse(words)
    return isinstance(call, Call) and call.form.public


def text_command(text: str, *, addressed: bool) -> str | None:
    """The words of a command written as text: `!remem …` anywhere, `remem …` or `/remem …` to the bot; None for talk.

    `!remembrance day is Monday` is talk (the word must end), and so is `@bot remember that …`.
    """
    stripped = text.strip()
    match = _TEXT_COMMAND.fullmatch(stripped)
    if match is None or not (stripped.startswith(("!", "！")) or addressed):
        return None
    return (match.group("rest") or "").strip()


def note_kind(argument: str) -> tuple[Kind | None, str]:
    """Split `[kind:] text` of a note; None where no known kind stands in front."""
    match = _KIND_PREFIX.fullmatch(argument.strip())
    if match and match.group("kind").lower() in _KINDS:
        return Kind(match.group("kind").lower()), match.group("text").strip()
    return None, argument.strip()
