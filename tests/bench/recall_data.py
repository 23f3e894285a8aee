"""The data sets of the recall bench, as rooms: who said what when, and questions with what holds their answers.

LoCoMo      two persons over months; a question names the turns that are its evidence (category 5 has no answer)
GateMem     a dozen persons in a room; a question is asked as of a turn and names strings that an answer must hold

A file or folder is known by its form, not by its name. What a file has beside its form, or lacks, is no reason to
stop: it is left out, counted and named (`Data.left_out`), so that a figure always says of how much it speaks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | None
Object: TypeAlias = Mapping[str, Json]

CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open domain", "4": "single hop"}
"""LoCoMo's numbers, by the names that its paper gives them."""
UNANSWERABLE = "5"

_SESSION = re.compile(r"session_(\d+)")
_DIALOGUE = re.compile(r"[Dd](\d+):(\d+)(?![:\d])")
_TIMES = ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d")
_BEGIN = datetime(2000, 1, 1)  # noqa: DTZ001
_PACE = timedelta(seconds=20)
"""How far the turns of a session whose own times nobody wrote down are put apart."""
_EVERY_FORM = "a LoCoMo file (conversations with `conversation` and `qa`) or a GateMem folder (episodes.jsonl)"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said. Turns of one `session` stand under one heading; `at` grows from turn to turn."""

    key: str
    session: str
    heading: str
    speaker: str
    text: str
    at: datetime = datetime(2000, 1, 1)  # noqa: DTZ001

    @property
    def line(self) -> str:
        """As it stands in the context."""
        return f"{self.speaker}: {self.text}\n"


@dataclass(frozen=True, slots=True)
class Question:
    """`wanted`: each one is a set of turns of which one must be in the context. `until`: so many turns were said."""

    text: str
    category: str
    wanted: tuple[frozenset[str], ...]
    until: int


@dataclass(frozen=True, slots=True)
class Room:
    """A room of a data set."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """A data set; `left_out` says what was in its files and is not in its rooms, and how often."""

    name: str
    rooms: tuple[Room, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """How many questions are asked."""
        return sum(len(room.questions) for room in self.rooms)


def data_of(path: Path) -> Data:
    """The data set. Raises ValueError for a form that is neither, OSError for what cannot be read."""
    left_out: Counter[str] = Counter()
    folder = path if path.is_dir() else path.parent
    if path.is_dir() or path.name in {"episodes.jsonl", "checkpoints.jsonl"}:
        folders = [folder] if (folder / "episodes.jsonl").exists() else sorted(folder.iterdir())
        found = [room for one in folders if (one / "episodes.jsonl").exists() for room in _gatemem(one, left_out)]
        name = "GateMem"
    else:
        text = path.read_text(encoding="utf-8-sig")
        given = list(_lines(text, left_out)) if path.suffix == ".jsonl" else _conversations(path, text)
        talks = [one for one in given if _object(one, "conversation")]
        left_out["entries without a conversation"] += len(given) - len(talks)
        found, name = [_locomo(one, number, left_out) for number, one in enumerate(talks, 1)], "LoCoMo"
    if not found:
        raise ValueError(f"{path} holds no room; give {_EVERY_FORM}")
    return Data(name, tuple(found), {what: count for what, count in sorted(left_out.items()) if count})


def rooms(path: Path) -> tuple[str, tuple[Room, ...]]:
    """The name of the data set and its rooms. Raises ValueError and OSError as `data_of`."""
    data = data_of(path)
    return data.name, data.rooms


def _conversations(path: Path, text: str) -> list[Object]:
    """What a LoCoMo file lists; one conversation alone is a list of one."""
    try:
        read = json.loads(text)
    except ValueError as wrong:
        raise ValueError(f"{path} is no JSON ({wrong}); give {_EVERY_FORM}") from wrong
    if isinstance(read, Mapping) and "conversation" not in read:
        read = next((one for one in read.values() if isinstance(one, list)), [])
    given = read if isinstance(read, list) else [read]
    return [one for one in given if isinstance(one, Mapping)]


def _locomo(given: Object, number: int, left_out: Counter[str]) -> Room:
    turns = tuple(_sessions(_object(given, "conversation"), left_out))
    keys = {turn.key for turn in turns}
    questions = []
    for one in _objects(given, "qa"):
        category = str(one.get("category", "none"))
        evidence = _evidence(one.get("evidence"), keys, left_out)
        if category == UNANSWERABLE:
            left_out["questions without an answer (category 5)"] += 1
        elif not evidence or not one.get("question"):
            left_out["questions without evidence among the turns"] += 1
        else:
            wanted = tuple(frozenset({key}) for key in sorted(evidence))
            questions.append(Question(str(one["question"]), CATEGORIES.get(category, category), wanted, len(turns)))
    return Room(str(given.get("sample_id") or f"conversation {number}"), turns, tuple(questions))


def _sessions(conversation: Object, left_out: Counter[str]) -> Iterator[Turn]:
    """The turns of all sessions, in the order of their numbers."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    before = _BEGIN
    for number in numbers:
        told = str(conversation.get(f"session_{number}_date_time") or "")
        at = _moment(told)
        if at is None:
            left_out["sessions without a time that can be read"] += 1
        heading = f"## {at:%Y-%m-%d %H:%M}\n" if at else f"## {told or 'undated'}\n"
        before = max(at or before, before) + timedelta(hours=0 if at and at > before else 1)
        for place, said in enumerate(_objects(conversation, f"session_{number}"), 1):
            before += _PACE
            caption = said.get("blip_caption")
            text = f"{said.get('text') or ''}{f' [shares {caption}]' if caption else ''}"
            key = _key(str(said.get("dia_id"))) or f"D{number}:{place}"
            yield Turn(key, str(number), heading, str(said.get("speaker") or "somebody"), text, before)


def _evidence(given: Json, keys: Iterable[str], left_out: Counter[str]) -> set[str]:
    """The turns that the evidence names, however it is written; what is none of them is counted."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return {key for one in given for key in _evidence(one, keys, left_out)}
    told = str(given or "")
    named = {f"D{int(session)}:{int(turn)}" for session, turn in _DIALOGUE.findall(told)}
    known = named & set(keys)
    left_out["evidence that names no turn of the conversation"] += len(named - known)
    left_out["evidence that cannot be read"] += bool(told and not named)
    return known


def _key(told: str) -> str:
    match = _DIALOGUE.search(told)
    return f"D{int(match[1])}:{int(match[2])}" if match else ""


def _gatemem(folder: Path, left_out: Counter[str]) -> Iterator[Room]:
    asked: dict[str, list[Object]] = {}
    checkpoints = folder / "checkpoints.jsonl"
    for one in _file(checkpoints, left_out) if checkpoints.exists() else ():
        asked.setdefault(str(one.get("episode_id")), []).append(one)
    for episode in _file(folder / "episodes.jsonl", left_out):
        name = str(episode.get("episode_id"))
        people = _objects(_object(episode, "entities"), "principals")
        names = {str(one.get("principal_id")): str(one.get("display_name")) for one in people}
        turns = tuple(_episode(episode, names))
        places = {turn.key: at + 1 for at, turn in enumerate(turns)}
        questions = (_checkpoint(one, turns, places, left_out) for one in asked.pop(name, ()))
        yield Room(name, turns, tuple(question for question in questions if question is not None))
    left_out["questions of an episode that is not there"] += sum(map(len, asked.values()))


def _episode(episode: Object, names: Mapping[str, str]) -> Iterator[Turn]:
    before = _BEGIN
    for number, said in enumerate(_objects(episode, "turns"), 1):
        at = _moment(str(said.get("timestamp") or ""))
        day = f"{at:%Y-%m-%d}" if at else "undated"
        before = max(at, before + timedelta(seconds=1)) if at else before + _PACE
        who = str(_object(said, "speaker").get("principal_id"))
        key = str(said.get("turn_id") or f"turn {number}")
        yield Turn(key, day, f"## {day}\n", names.get(who, who), str(said.get("text") or ""), before)


def _checkpoint(
    one: Object, turns: Sequence[Turn], places: Mapping[str, int], left_out: Counter[str]
) -> Question | None:
    include = _object(one, "judge_spec").get("include")
    if not include or isinstance(include, str) or not isinstance(include, Sequence) or not one.get("query_text"):
        left_out["questions without gold strings"] += 1
        return None
    until = places.get(str(one.get("as_of_turn_id")))
    if until is None:
        left_out["questions as of a turn that is not there, asked at the end"] += 1
        until = len(turns)
    held = [(turn.key, plain(turn.line)) for turn in turns[:until]]
    wanted = [frozenset(key for key, text in held if plain(str(gold)) in text) for gold in include]
    left_out["gold strings that no turn holds"] += sum(not keys for keys in wanted)
    wanted = [keys for keys in wanted if keys]
    if not wanted:
        left_out["questions whose gold strings no turn holds"] += 1
        return None
    return Question(str(one["query_text"]), str(one.get("query_type") or "none"), tuple(wanted), until)


def _file(path: Path, left_out: Counter[str]) -> Iterator[Object]:
    return _lines(path.read_text(encoding="utf-8-sig"), left_out)


def _lines(text: str, left_out: Counter[str]) -> Iterator[Object]:
    """The objects of a JSONL file."""
    for line in text.splitlines():
        try:
            read = json.loads(line or "null")
        except ValueError:
            read = line
        if isinstance(read, Mapping):
            yield read
        else:
            left_out["lines that are no JSON object"] += bool(line.strip())


def _moment(told: str) -> datetime | None:
    """A time as the data sets write it, without a zone."""
    for form in _TIMES:
        try:
            return datetime.strptime(told.strip(), form)  # noqa: DTZ007
        except ValueError:
            continue
    return None


def _object(given: Object, name: str) -> Object:
    value = given.get(name)
    return value if isinstance(value, Mapping) else {}


def _objects(given: Object, name: str) -> list[Object]:
    value = given.get(name)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [one for one in value if isinstance(one, Mapping)]


def plain(text: str) -> str:
    """Text as it is compared with a gold string."""
    return " ".join(text.lower().split())
