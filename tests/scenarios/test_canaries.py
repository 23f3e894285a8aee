"""No memory's words are ever seen in another memory: random lives of the whole program, looked at after every step.

Looked at are: what the bot sent, what the agent was asked with and what sessions hold, results of searches (of the
commands, of the agent, and straight through the gate, for another memory's words), every file, every call of a
scope's store and ledger with what it gave back, the statements that SQLite ran, and the log, which must hold no
canary at all. A word from a place without memory is to be found nowhere.

What is never found proves nothing if it could not be found: so the looks count the words that are where they belong.
"""

from __future__ import annotations

import pickle
import shutil
import sys
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from structlog.testing import capture_logs
from structlog.typing import EventDict

from memory_core.redact import mask as redact
from tests.scale import scale
from tests.scenarios.canary_life import Beginnings, Life
from tests.scenarios.canary_looks import Known, Tally
from tests.scenarios.canary_talk import DECISION, TALK
from tests.scenarios.canary_world import GROUPS, MEMORIES, OWNERS, SPOTS, Files, Ground, Twins
from tests.scenarios.terminal import settings as program_settings

LOOKS = ("replies", "disclosures", "sessions", "search", "files", "store rows", "ledger rows", "saved")


class OnTwins:
    """Lives on the in-memory twins."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._settings = program_settings(Path("/nowhere"), owner=OWNERS, context_tokens=1000)
        self._past = pickle.dumps(_a_past(self))

    def anew(self) -> tuple[Ground, Known]:
        """Empty twins."""
        known = Known()
        return Twins(self._settings, known.clock), known

    def with_a_past(self) -> tuple[Ground, Known]:
        """A copy of the past."""
        ground, known = pickle.loads(self._past)  # noqa: S301  # ours, a moment old
        assert isinstance(ground, Twins)
        assert isinstance(known, Known)
        return ground, known


class OnFiles:
    """Lives on real files and SQLite, each in a folder of its own below `root`."""

    def __init__(self, root: Path) -> None:
        self.tally = Tally()
        self._root = root
        ground, known = _a_past(self)
        assert isinstance(ground, Files)
        self._folder, self._past = ground.folder, pickle.dumps(known)

    def anew(self) -> tuple[Ground, Known]:
        """An empty folder."""
        return self._in(Path(tempfile.mkdtemp(dir=self._root)) / "workspace"), Known()

    def with_a_past(self) -> tuple[Ground, Known]:
        """A copy of the folder of the past."""
        folder = Path(tempfile.mkdtemp(dir=self._root)) / "workspace"
        shutil.copytree(self._folder, folder)
        known = pickle.loads(self._past)  # noqa: S301  # ours, a moment old
        assert isinstance(known, Known)
        return self._in(folder), known

    @staticmethod
    def _in(folder: Path) -> Files:
        return Files(program_settings(folder, owner=OWNERS, context_tokens=1000), folder)


def _a_past(beginnings: Beginnings) -> tuple[Ground, Known]:
    """What a few days left behind: every memory has pages, a purpose, a rule, and something that is not saved yet."""
    life = Life(beginnings, [])
    life.begin_on(*beginnings.anew())
    for name in SPOTS:
        if name in GROUPS or name[0] not in GROUPS:
            life.command(name, "purpose we care for {canary}", 0, 1, "app")
            life.command(name, "rule always greet {canary}", 0, 1, "app")
            for pattern in TALK[1:7]:
                life.talk(name, pattern, 0, addressed=False)
            life.decide_save_and_ask(name, "what did we decide?", 0)
            life.known.clock.advance(90_000)
            life.run(life.app.schedule.ring())
            life.look(set(MEMORIES))
            life.talk(name, DECISION, 0, addressed=True)
            life.search_for_words(name[0], None)
            life.reply(name, 12, TALK[-1])  # to a message of the memory before
    life.teardown()
    del life.known.said[:-12]
    return life.ground, life.known


def _with_error(logger: object, method: str, line: EventDict) -> EventDict:
    """A line that is logged with a traceback says what went wrong."""
    if line.pop("exc_info", None):
        line["exception"] = repr(sys.exc_info()[1])
    return line


def live(beginnings: Beginnings, lives: int, steps: int, log: list[MutableMapping[str, object]]) -> Tally:
    """Live that many lives of so many steps at most; the past, which is looked at too, counts as well."""

    class OneLife(Life):
        def __init__(self) -> None:
            super().__init__(beginnings, log)

    run_state_machine_as_test(
        OneLife,
        settings=settings(
            max_examples=lives,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    return beginnings.tally


def test_no_word_leaves_its_memory_on_the_in_memory_twins() -> None:
    redact.load()
    with capture_logs([_with_error]) as log:
        tally = live(OnTwins(), 1000, 4, log)
    assert min(tally.least(look) for look in LOOKS) > 0, tally


def test_no_word_leaves_its_memory_on_files_and_sqlite(tmp_path: Path) -> None:
    redact.load()
    with capture_logs([_with_error]) as log:
        tally = live(OnFiles(tmp_path), scale(1000), 6, log)
    assert min(tally.least(look) for look in (*LOOKS, "statements")) > 0, tally
