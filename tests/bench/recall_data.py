"""The data sets of the recall bench, as rooms: who said what when, and questions with what holds their answers.

LoCoMo      two persons over months; a question names the turns that are its evidence (category 5 has no answer)
GateMem     a dozen persons in a room; a question is asked as of a turn and names strings that an answer must hold

A file or folder is known by its form, not by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TypeAlias

_DIALOGUE = re.compile(r"D\d+:\d+")
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single hop"}
"""LoCoMo's numbers, by the names that its paper gives them."""

Json: TypeAlias = dict[str, "Json"] | list["Json"] | str | int | float | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said. Turns of one `session` stand under one heading."""

    key: str
    session: str
    heading: str
    speaker: str
    text: str

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


def rooms(path: Path) -> tuple[str, tuple[Room, ...]]:
    """The name of the data set and its rooms. Raises ValueError for a form that is neither."""
    if path.is_dir():
        folders = [path] if (path / "episodes.jsonl").exists() else sorted(one for one in path.iterdir())
        found = [room for folder in folders if (folder / "episodes.jsonl").exists() for room in _gatemem(folder)]
        if not found:
            raise ValueError(f"{path} holds no episodes.jsonl, neither itself nor in a folder of it")
        return "GateMem", tuple(found)
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, list) or not data or "conversation" not in data[0]:
        raise ValueError(f"{path} is no LoCoMo file: a list of conversations with questions")
    return "LoCoMo", tuple(_locomo(one, number) for number, one in enumerate(data, 1))


def _locomo(given: dict[str, object], number: int) -> Room:
    conversation = given["conversation"]
    assert isinstance(conversation, dict)
    turns: list[Turn] = []
    session = 1
    while f"session_{session}" in conversation:
        at = datetime.strptime(str(conversation[f"session_{session}_date_time"]), _LOCOMO_TIME)  # noqa: DTZ007
        for said in conversation[f"session_{session}"]:
            shared = f" [shares {said['blip_caption']}]" if said.get("blip_caption") else ""
            heading = f"## {at:%Y-%m-%d %H:%M}\n"
            turns.append(Turn(said["dia_id"], str(session), heading, said["speaker"], said["text"] + shared))
        session += 1
    keys = {turn.key for turn in turns}
    asked = given["qa"]
    assert isinstance(asked, list)
    questions = []
    for one in asked:
        evidence = {key for told in one.get("evidence") or () for key in _DIALOGUE.findall(told)} & keys
        if evidence and one["category"] in CATEGORIES:
            wanted = tuple(frozenset({key}) for key in sorted(evidence))
            questions.append(Question(one["question"], CATEGORIES[one["category"]], wanted, len(turns)))
    return Room(f"conversation {number}", tuple(turns), tuple(questions))


def _gatemem(folder: Path) -> Iterator[Room]:
    asked: dict[str, list[dict[str, dict[str, list[str]]]]] = {}
    for line in (folder / "checkpoints.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        asked.setdefault(one["episode_id"], []).append(one)
    for line in (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines():
        episode = json.loads(line)
        names = {one["principal_id"]: one["display_name"] for one in episode["entities"]["principals"]}
        turns = []
        for said in episode["turns"]:
            day = date.fromisoformat(said["timestamp"][:10]).isoformat() if said.get("timestamp") else "undated"
            speaker = names[said["speaker"]["principal_id"]]
            turns.append(Turn(said["turn_id"], day, f"## {day}\n", speaker, said["text"]))
        places = {turn.key: at for at, turn in enumerate(turns)}
        questions = []
        for one in asked.get(episode["episode_id"], ()):
            until = places[str(one["as_of_turn_id"])] + 1
            held = [(turn.key, plain(turn.line)) for turn in turns[:until]]
            gold = [plain(text) for text in one["judge_spec"].get("include", [])]
            wanted = [frozenset(key for key, text in held if string in text) for string in gold]
            wanted = [keys for keys in wanted if keys]
            if wanted:
                questions.append(Question(str(one["query_text"]), str(one["query_type"]), tuple(wanted), until))
        yield Room(episode["episode_id"], tuple(turns), tuple(questions))


def plain(text: str) -> str:
    """Text as it is compared with a gold string."""
    return " ".join(text.lower().split())
