"""2,000 random damages of state, names, index, pages and ledger: told of or harmless, never written over.

A case is a kind of file and a number; both together are the seed, so that a case that fails can be done again alone:
`case` in the failure says which file was damaged and how. After each damage the program is started on a workspace
that a kill left (a save cut short in every scope), spoken to in the damaged scope and in another one, started again,
and, where what was said still waits, once more on the mended file.

What is right where a damage is itself a valid file: its content counts as if a person had written it, since people do
(design, section 4). So a page that lost a record has lost it, and a task that became another one is that. Two things
stand above it. What one scope holds is never shown in another: a room that group_names.json gives to another group
than the one whose index names it, has no memory until a person decides (section 5: a damaged mapping fails closed).
And what cannot be read in full is kept beside what is written.
"""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app import begin_ledger_anew
from tests.scale import scale
from tests.scenarios import corruption as how
from tests.scenarios.corruption_checks import (
    files_in,
    json_kept,
    kept_apart,
    kind_of,
    lines_kept,
    same,
    saved,
    spoken_to_fairly,
)
from tests.scenarios.corruption_world import (
    LEDGER,
    NAMES,
    OVERVIEW,
    SIDES,
    Heard,
    Side,
    lay_down,
    talk,
    waiting_in,
    words_of,
)
from tests.scenarios.terminal import settings

KINDS = {"index": 14, "page": 22, "journal": 8, "tasks": 10, "state": 10, "names": 14, "ledger": 16, "shared": 6}
"""Of a hundred damages, how many are done to which kind of file."""


@dataclass(frozen=True, slots=True)
class Made:
    """The workspace that every case gets a copy of, and its files."""

    killed: Path
    files: Mapping[str, bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    asyncio.run(lay_down(folder / "w", folder / "killed"))
    return Made(folder / "killed", files_in(folder / "killed"))


@dataclass(frozen=True, slots=True)
class Case:
    """One damage: `file` as `before`, damaged by `name`. `side`: whose it is; `other`: who is spoken to besides."""

    kind: str
    number: int
    file: str
    name: str
    side: Side
    other: Side
    sound: bytes
    before: bytes | None
    """What stood there after the damage; None: no ordinary file."""
    what: str
    """What stood there (a folder, a link to …) after the damage."""

    @property
    def brought(self) -> set[tuple[Side, str]]:
        """What of another scope the damage itself laid into this one."""
        own = self.before or b""
        return {(self.side, one.secret) for one in SIDES if one is not self.side and one.secret.encode() in own}

    def __str__(self) -> str:
        return f"{self.kind} {self.number}: {self.name} of {self.file}; {self.side.name}, {self.other.name}"


def _files_of(kind: str, files: Mapping[str, bytes]) -> list[str]:
    def fits(file: str) -> bool:
        index = file in ("memory/main/index.md", "memory/groups/build.md", "memory/groups/ops.md")
        journal = file.endswith(".md") and file[-13:-11] == "20"
        match kind:
            case "index":
                return index
            case "journal":
                return journal
            case "page":
                return file.endswith(".md") and not index and not journal and file != "SOUL.md"
            case "tasks":
                return file.endswith("pending_tasks.json")
            case "state":
                return file.endswith("flush-state.json") and file != OVERVIEW
            case "names":
                return file == NAMES
            case "ledger":
                return file.startswith(LEDGER)
        return file in (OVERVIEW, "SOUL.md")

    return sorted(file for file in files if fits(file))


def damage(kind: str, number: int, made: Made, workspace: Path) -> Case:
    """Copy the workspace, damage one of its files, and say what was done."""
    rng = random.Random(f"{kind} {number}")
    shutil.copytree(made.killed, workspace)
    file = rng.choice(_files_of(kind, made.files))
    side = next((one for one in SIDES if one.owns(file)), None) or rng.choice(SIDES)
    other = rng.choice([one for one in SIDES if one is not side])
    path, sound = workspace / file, made.files[file]
    name = _displaced(rng, kind, path) or _spoilt(rng, kind, path, made, sound)
    what = kind_of(path)
    before = path.read_bytes() if what == "-" else None
    return Case(kind, number, file, name, side, other, sound, before, what)


def _displaced(rng: random.Random, kind: str, path: Path) -> str:
    """Put something else there, in one case of five; '' if not."""
    places: Sequence[how.Displace] = how.LEDGER_PLACES if kind == "ledger" else how.PLACES
    if rng.random() > (0.35 if kind == "ledger" else 0.2):
        return ""
    place = rng.choice(places)
    if path.name != "ledger.db" and place in (how.another_version, how.row_strange):
        place = how.removed
    place(rng, path)
    return place.__name__


def _spoilt(rng: random.Random, kind: str, path: Path, made: Made, sound: bytes) -> str:
    if kind == "ledger":
        spoil = rng.choice(how.LEDGER)
    elif rng.random() < 0.08:
        other = rng.choice(sorted(one for one in made.files if one.startswith("memory/")))
        path.write_bytes(made.files[other])
        return f"the content of {other}"
    else:
        structured = how.NAMES if kind == "names" else how.JSON if path.suffix == ".json" else how.MARKDOWN
        spoil = rng.choice(structured if rng.random() < 0.4 else how.BYTES)
    path.write_bytes(spoil(rng, sound))
    return spoil.__name__


def mend(case: Case, workspace: Path) -> None:
    """Put the sound file back."""
    path = workspace / case.file
    if case.what == "d":
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.write_bytes(case.sound)


async def undamaged(made: Made, side: Side, other: Side) -> Mapping[str, bytes]:
    """The files as they end without a damage, when the same is said; nothing is told then."""
    workspace = made.killed.with_name(f"undamaged-{side.name}-{other.name}")
    if not workspace.exists():
        shutil.copytree(made.killed, workspace)
        for heard in (await talk(workspace, 1, (side, other), (side,)), await talk(workspace, 2, (side,))):
            assert not heard.told, (heard.logs, heard.said)
    return files_in(workspace)


async def live_on(case: Case, made: Made, workspace: Path) -> bool:
    """Start, talk, start again, and check all that must hold; was a person told?"""
    first = await talk(workspace, 1, (case.side, case.other), (case.side,))
    second = await talk(workspace, 2, (case.side,))
    files = files_in(workspace)
    for heard in (first, second):
        spoken_to_fairly(heard)
        kept_apart(heard, files, case.brought)
    not_written_over(case, workspace, files)
    baseline = await undamaged(made, case.side, case.other)
    for side in SIDES:
        shut_out = case.kind == "names" and side.name != "dm"
        if (side is not case.side or case.kind == "shared") and not shut_out:
            same(files, baseline, side)
    await all_saved(case, workspace, {1: first, 2: second})
    return first.told or second.told


async def all_saved(case: Case, workspace: Path, heard: Mapping[int, Heard]) -> None:
    """What was said is saved, or a person was told why not and it is saved once the file is sound. A room that has
    no memory (its name cannot be trusted) was told so, and nothing of it is kept."""
    files = files_in(workspace)
    waits = [round_ for round_ in heard if not saved(files, case.side, words_of(case.side, round_))]
    for round_ in waits:
        assert heard[round_].told, f"nobody was told that round {round_} waits"
        if not in_ledger(workspace, words_of(case.side, round_)):
            assert case.kind == "names", "what was said is not in the ledger"
            assert all(NAMES.rpartition("/")[2] in one for one in heard[round_].replies[case.side.spot.room.key])
    if not waits:
        return
    waiting = [round_ for round_ in waits if in_ledger(workspace, words_of(case.side, round_))]
    mend(case, workspace)
    third = await talk(workspace, 3, (case.side,))
    spoken_to_fairly(third)
    files = files_in(workspace)
    for round_ in (*waiting, 3):
        assert saved(files, case.side, words_of(case.side, round_)), f"round {round_} is not saved: {third}"


def in_ledger(workspace: Path, words: str) -> bool:
    """Is it kept until it is saved?"""
    with closing(sqlite3.connect(f"file:{workspace / LEDGER}?mode=ro", uri=True)) as ledger:
        return bool(ledger.execute("SELECT 1 FROM texts WHERE text LIKE ?", (f"%{words}%",)).fetchall())


def not_written_over(case: Case, workspace: Path, files: Mapping[str, bytes]) -> None:
    """What stood there after the damage still stands there, or is kept as it was."""
    if case.before is None:
        assert case.what in (kind_of(workspace / case.file), "nothing"), f"{case.what} is no more"
        return
    if case.file == OVERVIEW:  # derived, and never read
        return
    if case.file.endswith(".md"):
        lines_kept(case.before, files.get(case.file, b""), case.sound)
    else:
        json_kept(case.file, case.before, files)


async def live_on_without_a_sound_ledger(case: Case, made: Made, workspace: Path) -> bool:
    """Start and talk three times; a ledger that is refused is mended as the refusal says. Was a person told?"""
    told = False
    waits: list[int] = []
    for round_ in (1, 2, 3):
        before = files_in(workspace)
        heard = await talk(workspace, round_, (case.side, case.other), (case.side,) if round_ == 1 else ())
        files = files_in(workspace)
        spoken_to_fairly(heard)
        kept_apart(heard, files)
        for file, content in made.files.items():
            if file.endswith(".md"):
                lines_kept(content, files[file])
        told = told or heard.told
        if heard.refused:
            await _begun_anew(made, workspace, heard, before)
        elif not saved(files, case.side, words_of(case.side, round_)):
            assert heard.told, f"nobody was told that round {round_} waits"
            waits += [round_] if not heard.not_kept else []
    assert not heard.refused, f"a third start was refused: {heard.refused}"
    if not told and not like_a_power_cut(case):
        for side in SIDES:
            assert in_ledger(workspace, waiting_in(side)), f"what waited in {side.name} is gone, and nobody was told"
    for round_ in (*waits, 3):
        assert saved(files_in(workspace), case.side, words_of(case.side, round_)), f"round {round_} is not saved"
    return told


def like_a_power_cut(case: Case) -> bool:
    """Does the log look as if only its end were missing, or one transaction at its end? SQLite leaves it so when the
    power goes, nobody can tell that from damage, and what stood there is gone. Counted are commits behind the damage
    by their salts."""
    if not case.file.endswith("-wal") or case.before is None:
        return False
    pairs = zip(case.sound, case.before, strict=False)
    same_until = next((at for at, (one, other) in enumerate(pairs) if one != other), len(case.before))
    salts = [
        same_until + found.start() for found in re.finditer(re.escape(case.sound[16:24]), case.before[same_until:])
    ]
    return sum(case.before[at - 4 : at] != b"\0\0\0\0" for at in salts) < 2


async def _begun_anew(made: Made, workspace: Path, heard: Heard, before: Mapping[str, bytes]) -> None:
    """A refused start wrote nothing, and every byte of the ledger is kept; then a person does what it says: begins
    anew, or puts a backup in its place."""
    files = files_in(workspace)
    folder = LEDGER.rpartition("/")[0]
    kept = [content for file, content in files.items() if file.startswith(folder)]
    for file, content in before.items():
        if file in (LEDGER, f"{LEDGER}-wal"):
            assert content in kept, f"the bytes of {file} are kept nowhere"
        elif not file.startswith(folder):
            assert files.get(file) == content, f"{file} is another one after a refused start"
    if "begin anew" in heard.refused:
        await begin_ledger_anew(settings(workspace))
        return
    for name in ("", "-wal", "-shm"):
        path = workspace / f"{LEDGER}{name}"
        if kind_of(path) == "d":
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if f"{LEDGER}{name}" in made.files:
            path.write_bytes(made.files[f"{LEDGER}{name}"])


async def _through(kind: str, made: Made, tmp_path: Path) -> None:
    """All cases of a kind of file; how many were told of and how many harmless is printed."""
    live = live_on_without_a_sound_ledger if kind == "ledger" else live_on
    told: Counter[bool] = Counter()
    failed: list[Exception] = []
    for number in range(scale(20 * KINDS[kind])):
        workspace = tmp_path / str(number)
        case = damage(kind, number, made, workspace)
        try:
            told[await live(case, made, workspace)] += 1
        except Exception as error:  # noqa: BLE001  # every case that fails is told, at the end
            error.add_note(f"case {case}")
            failed.append(error)
        shutil.rmtree(workspace)
    sys.stdout.write(f"{kind}: {told.total()} damages, {told[True]} told of, {told[False]} harmless\n")
    if failed:
        raise ExceptionGroup(f"{kind}: {len(failed)} damages did harm", failed)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_damaged_file_is_told_of_or_harmless(kind: str, made: Made, tmp_path: Path) -> None:
    assert sum(KINDS.values()) == 100
    await _through(kind, made, tmp_path)
