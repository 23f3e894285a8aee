"""What must be true of a workspace whose process was killed: at once, and after the next start.

At once: each file is byte for byte one that was put there whole, and what was said to be saved is. After the start
and the rest of the act: each event stands once in the ledger, each fact once in its scope and nowhere else, what was
deleted nowhere at all, nothing is left over, and memory is what it is after the same act without a kill.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from memory_core.forms import flush_state, tasks
from memory_core.forms.records import parse
from memory_core.index import parse as parse_index
from memory_core.layouts import layout_named
from tests.memory_core.disks import temporary_files
from tests.scenarios.damage import unlike
from tests.scenarios.killed_script import ACTS, Act, expected, home_of, keeps_of, names_in, texts_of
from tests.scenarios.stage import rows

TABLE = layout_named("apm")
DONE = ("Noted", "Corrected", "Taken back", "Saved")
"""How the bot says that something stands in memory now."""

_TIME = re.compile(r"^\d\d:\d\d (?=Notes$)")

Legal = dict[str, set[str]]
"""By path: the hashes of all contents that were put there, whole."""


@cache
def mark_of(fact: int) -> str:
    """The words by which a fact is found."""
    return unlike(fact)[:23]


def homes() -> set[str]:
    """The folders of all scopes."""
    return {home_of(step.spot) for act in ACTS for step in act.steps}


def standing(home: Path) -> list[str]:
    """What stands in a scope: its records and the lines of attention."""
    found: list[str] = []
    for page in home.rglob("*.md"):
        text = page.read_text("utf-8")
        if page.name == "attention.md":
            found += text.splitlines()
        elif page.parent.name not in ("journal", "archive"):
            found += (f"{placed.record.title} {placed.record.body}" for placed in parse(text).records)
    return found


def times(found: Iterable[str], fact: int) -> int:
    """How often a fact is among what stands."""
    return sum(mark_of(fact) in one for one in found)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _files(workspace: Path) -> Iterable[Path]:
    """All files but SQLite's (of which search's can be thrown away), the lock and drafts that no one looked at."""
    drafts = set(temporary_files(workspace.parent))
    for path in workspace.parent.rglob("*"):
        own = path.name.startswith("ledger.db") or path.name in ("lock", "experience.swp") or ".sqlite3" in path.name
        if path.is_file() and path not in drafts and not own:
            yield path


def legal_in(workspace: Path) -> Legal:
    """The contents that stand there now."""
    found: Legal = defaultdict(set)
    for path in _files(workspace):
        found[str(path)].add(_sha256(path))
    return found


def whole(workspace: Path, legal: Mapping[str, set[str]]) -> list[str]:
    """Files that are a mixture: no such content was ever put there."""
    return [f"torn: {path}" for path in _files(workspace) if _sha256(path) not in legal.get(str(path), ())]


def kept_its_word(workspace: Path, act: Act, said: Mapping[int, list[str]]) -> list[str]:
    """What was said to be saved, and is not: looked at before anybody starts again."""
    wrong, found = [], dict[str, list[str]]()
    for number, texts in said.items():
        step = act.steps[number] if number < len(act.steps) else None
        if step is None or not any(text.startswith(DONE) for text in texts):
            continue
        facts = list(keeps_of(step))
        if step.does == "command" and not step.text:  # a save: all that was said in this scope before
            kept, _ = expected(act, number)
            facts = [(fact, home) for fact, home in kept.items() if home == home_of(step.spot)]
        later = {fact for one in act.steps[number + 1 :] for fact in one.drops}
        for fact, home in facts:
            found[home] = found[home] if home in found else standing(workspace / home)
            if fact not in later and times(found[home], fact) != 1:
                wrong.append(f"lost: said {texts[-1][:40]!r}, but {fact} stands {times(found[home], fact)} times")
    return wrong


def _facts(workspace: Path, act: Act) -> list[str]:
    kept, gone = expected(act, len(act.steps))
    wrong = []
    for home in homes():
        here = standing(workspace / home)
        for fact in (*kept, *gone):
            found, due = times(here, fact), int(kept.get(fact) == home)
            if found != due:
                wrong.append(f"{'lost' if found < due else 'doubled'}: fact {fact} stands {found} times in {home}")
    return wrong


def _taken_back(workspace: Path, act: Act) -> list[str]:
    """Deleted or edited text must be nowhere, the ledger's bytes included."""
    every = [path for path in workspace.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    content = b"\n".join(path.read_bytes() for path in every)
    facts = [fact for step in act.steps if step.does in ("edit", "delete") for fact in step.drops]
    return [f"not forgotten: fact {fact}" for fact in facts if mark_of(fact).encode() in content]


def _ledger(workspace: Path, act: Act, took: Iterable[str]) -> list[str]:
    if not (workspace / ".remem/ledger.db").exists():
        return ["lost: the ledger"]
    wrong = []
    known = Counter(row[0] for row in rows(workspace, "SELECT event FROM events"))
    wrong += [f"lost: event {event} was taken" for event in took if known[event] != 1]
    question = "SELECT message, text FROM messages JOIN texts ON texts.id = text_id WHERE voice = 'person'"
    transcript: dict[object, list[object]] = defaultdict(list)
    for message, text in rows(workspace, question):
        transcript[message].append(text)
    for message, text in texts_of(act).items():
        due = [] if text is None or any(step.does == "sweep" for step in act.steps) else [text]
        if transcript[message] != due:
            wrong.append(f"transcript of {message}: {transcript[message]}, not {due}")
    for what, count in (("messages WHERE owed = 1", 0), ("plans WHERE closed = 0", 0)):
        if rows(workspace, f"SELECT count(*) FROM {what}") != [(count,)]:  # noqa: S608  # our own words
            wrong.append(f"left over: {what}")
    if rows(workspace, "PRAGMA integrity_check") != [("ok",)]:
        wrong.append("torn: the ledger's check failed")
    return wrong


def _readable(workspace: Path) -> list[str]:
    wrong = [f"left over: {path}" for path in temporary_files(workspace)]
    wrong += [f"left over: {path}" for path in (workspace / ".remem").glob("ledger.db.*")]
    for path in _files(workspace):
        text = path.read_text("utf-8", "replace")
        if path.suffix == ".json" and "broken-" not in path.name and path.parent.name != "backup":
            try:
                json.loads(text)
            except ValueError:
                wrong.append(f"torn: {path} is no JSON")
        if path.name == "flush-state.json" and flush_state.parse(text).broken:
            wrong.append(f"torn: {path}")
        if path.name == "pending_tasks.json" and tasks.parse(text).broken:
            wrong.append(f"torn: {path}")
    for index in (workspace / "memory/groups").glob("*.md"):
        wrong += [f"torn: {index}: {one}" for one in parse_index(index.read_text("utf-8"), TABLE.group).problems]
    return wrong


def digest(workspace: Path, act: Act) -> dict[str, object]:
    """What memory says, without times of day and use: to be compared with the same after a life without a kill."""
    kept, gone = expected(act, len(act.steps))
    found: dict[str, object] = {"names": names_in(workspace)}
    for path in _files(workspace):
        name, text = str(path.relative_to(workspace.parent)), path.read_text("utf-8", "replace")
        marks = {fact: count for fact in (*kept, *gone) if (count := text.count(mark_of(fact)))}
        if path.suffix == ".md":
            # A save asked for in words that died is made up for by the next one, minutes later: no time of day.
            titles = [_TIME.sub("", placed.record.title) for placed in parse(text).records]
            found[name] = [titles, marks]
        elif path.name == "pending_tasks.json":
            found[name] = [(task.title, task.status) for task in tasks.parse(text).tasks]
        elif path.name == "flush-state.json" and path.parent.name != "groups":
            state = flush_state.parse(text)
            found[name] = [state.flush_number, state.trigger, len(state.pending_items)]
        else:
            found.setdefault("files", set()).add(name)  # type: ignore[attr-defined]
    return found


@dataclass(slots=True)
class Told:
    """What all lives of a run told."""

    took: set[str] = field(default_factory=set)
    said: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))


def _answers(act: Act, told: Told) -> list[str]:
    """Nobody is answered twice. (A command that was repeated is; a greeting may be.)"""
    wrong = []
    for number, step in enumerate(act.steps):
        answers = [text for text in told.said[number] if not text.startswith("Hello, I'm remem")]
        if step.does in ("say", "edit", "delete") and len(answers) > int(step.addressed):
            wrong.append(f"doubled: step {number} was answered {len(answers)} times: {answers}")
    return wrong


def after(workspace: Path, act: Act, told: Told, undisturbed: Mapping[str, object]) -> list[str]:
    """Everything that is wrong at the end of a run."""
    wrong = [*_ledger(workspace, act, told.took), *_readable(workspace), *_facts(workspace, act)]
    wrong += [*_taken_back(workspace, act), *_answers(act, told)]
    now = digest(workspace, act)
    for name in sorted({*now, *undisturbed}):
        if now.get(name) != undisturbed.get(name):
            wrong.append(f"differs: {name}: {now.get(name)}, undisturbed {undisturbed.get(name)}")
    return wrong
