"""Labelled searches in Chinese, Japanese, Korean and mixed memories: what is read from tests/data/search_cjk.

A file is a group's memory, a line an entry, and below an entry the questions that it answers. All were written
before any of them was searched for; those marked `!` are kept out of every tuning. The files later_* came after the
rules, in other trades.

    name NAME · lang LANGUAGE · people NAMES
    R page day who | title | body | tags     a record
    T task | status | who | notes            a row of attention.md (B text: a blocker, E key: value: a fact)
    J day time who part | text               a line of a journal; part D, L, T, B, A or R (word for word)
    F count | pattern | words | words …      so many journal lines of that pattern: nothing that is asked for
    ? kind | question                        its answer is the entry above
    ! kind | question                        the same, kept out
    + kind | question                        the same, written after the rules and before they were run on it

`in_english` asks the same memories in English (tests/data/search_cjk_english.txt): a task for an embedder.

`write` puts the memory down as remem itself does: pages of the apm layout, rendered by memory_core.forms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import product
from pathlib import Path

from memory_core.forms import attention, journal, records
from memory_core.forms.record_values import Record, Source
from memory_core.gate import Found
from memory_core.ids import GroupScope, MessageKey, PageId
from memory_core.layouts import APM, INDEX, Form, journal_page
from memory_core.templates import new_page
from tests.memory_core.loading_parts import index_text

FOLDER = Path(__file__).parents[1] / "data" / "search_cjk"
ENGLISH = FOLDER.with_name("search_cjk_english.txt")
_PARTS = {
    "D": journal.Part.DECISIONS, "L": journal.Part.LEARNED, "T": journal.Part.TASKS, "B": journal.Part.BLOCKERS,
    "A": journal.Part.ANCHORS, "R": journal.Part.RAW,
}  # fmt: skip
HALVES = {"?": "tuned", "!": "kept out", "+": "later"}
"""The parts of the set, by the sign before a question."""
_FIRST_FILLED = date(2026, 3, 16)
_FILLED_DAYS = 21
_INDEX = index_text(
    "tasks, status, blocked | attention.md | P0",
    "stack, how we work | project.md | P1",
    "decision, why, lesson | experience.md | P2",
    "who, contact | people.md | P3",
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its `kind`, and the entry that answers it: its page and its own words."""

    text: str
    kind: str
    half: str
    page: PageId
    words: str

    def is_answered_by(self, found: Found) -> bool:
        """Is this result the entry?"""
        return found.page == self.page and (found.title if found.record else found.text).find(self.words) >= 0


@dataclass(frozen=True, slots=True)
class Memory:
    """A group's pages by their ids, and the questions."""

    scope: GroupScope
    language: str
    pages: Mapping[PageId, str]
    questions: tuple[Question, ...]
    entries: int

    def write(self, workspace: Path) -> None:
        """The memory as files of a workspace."""
        for page, text in self.pages.items():
            file = workspace / APM.file(self.scope, page)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def memories() -> tuple[Memory, ...]:
    """All of the set. Raises ValueError for a line that is none of the forms above."""
    return tuple(_Reader().read(file) for file in sorted(FOLDER.glob("*.txt")))


def in_english() -> tuple[Memory, ...]:
    """The memories with their questions in English, of those that were translated."""
    lines = [line for line in ENGLISH.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    english = {own: told for own, _, told in (line.partition(" | ") for line in lines)}
    return tuple(
        replace(
            memory,
            questions=tuple(replace(one, text=english[one.text]) for one in memory.questions if one.text in english),
        )
        for memory in memories()
    )


class _Reader:
    """One file, line by line."""

    def __init__(self) -> None:
        self.head: dict[str, str] = {}
        self.records: dict[PageId, list[Record]] = defaultdict(list)
        self.attention = new_page(APM.group, PageId("attention")) or ""
        self.notes: dict[str, list[journal.Note]] = defaultdict(list)
        self.questions: list[Question] = []
        self.answer = (PageId(""), "")
        self.entries = 0

    def read(self, file: Path) -> Memory:
        """The memory that `file` describes."""
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line and not line.startswith("#"):
                word, _, rest = line.partition(" ")
                try:
                    self._line(word, [part.strip(" |") for part in rest.split(" | ")])
                except (KeyError, IndexError, ValueError) as fault:
                    raise ValueError(f"{file.name}, line {number}: {line!r} is of no known form") from fault
        return Memory(
            GroupScope(self.head["name"]), self.head["lang"], self._pages(), tuple(self.questions), self.entries
        )

    def _line(self, word: str, parts: list[str]) -> None:
        match word:
            case "name" | "lang" | "people":
                self.head[word] = parts[0]
            case "?" | "!" | "+":
                self.questions.append(Question(parts[1], parts[0], HALVES[word], *self.answer))
            case "R":
                page, day, who = parts[0].split()
                self._record(page, self._source(day, "14:02", who), parts[1], parts[2], parts[3:])
            case "J":
                day, at, who, part = parts[0].split()
                self._note(day, at, who, _PARTS[part], parts[1])
            case "F":
                self._fill(int(parts[0]), parts[1], [part.split(",") for part in parts[2:]])
            case _:
                self._attention(word, parts)

    def _source(self, day: str, at: str, who: str) -> Source:
        self.entries += 1
        key = MessageKey(f"console:{self.head['name']}:{self.entries}")
        return Source(f"console:u{self.head['people'].split().index(who)}", who, "#team", f"{day} {at}", (key,))

    def _record(self, page: str, source: Source, title: str, body: str, tags: list[str]) -> None:
        told = date.fromisoformat(source.at[:10])
        words = tuple(tags[0].split(",")) if tags else ()
        self.records[PageId(page)].append(Record(told, title, body, words, told, 1, sources=(source,)))
        self.answer = (PageId(page), title)

    def _note(self, day: str, at: str, who: str, part: journal.Part, text: str) -> None:
        source = self._source(day, at, who)
        self.notes[day].append(journal.Note(part.value, text, who, at, source.person, source.keys))
        self.answer = (journal_page(day), text)

    def _attention(self, word: str, parts: list[str]) -> None:
        if word == "T":
            task = attention.TaskRow(*parts)
            self.attention = attention.with_task(self.attention, task)
        elif word == "B":
            self.attention = attention.with_blocker(self.attention, parts[0])
        elif word == "E":
            key, _, value = parts[0].partition(": ")
            self.attention = attention.with_fact(self.attention, key, value)
        else:
            raise ValueError(word)
        self.entries += 1
        self.answer = (PageId("attention"), parts[0])

    def _fill(self, count: int, pattern: str, words: Sequence[Sequence[str]]) -> None:
        """Lines spread over days and speakers, the same at every run."""
        ways = list(product(*words))
        people = self.head["people"].split()
        for number in range(count):
            chosen = ways[number * 7 % len(ways)]
            day = _FIRST_FILLED + timedelta(days=(number * 5 + count) % _FILLED_DAYS)
            part = journal.Part.LEARNED if number % 2 else journal.Part.TASKS
            self._note(day.isoformat(), "16:30", people[number % len(people)], part, pattern.format(*chosen))

    def _pages(self) -> dict[PageId, str]:
        pages = {INDEX: _INDEX, PageId("attention"): self.attention}
        for page, found in self.records.items():
            form = APM.group.rule(page).form
            newest = sorted(found, key=lambda one: str(one.day), reverse=form is Form.NEWEST_FIRST)
            blocks = "\n".join(records.render(one) for one in newest)
            pages[page] = f"{new_page(APM.group, page)}\n{blocks}"
        for day, notes in self.notes.items():
            text = journal.new_journal(day, "+08:00")
            pages[journal_page(day)] = journal.append(text, "18:00 +08:00", notes)
        return pages
