"""The command line as a person meets it: what it prints, what it says on standard error, its exit code.

In this process, so that a test of one sentence costs no new interpreter; logging is put back as it was.
"""

from __future__ import annotations

import io
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from bot.cli import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command came to."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """The one sentence of a command that was refused: on standard error, alone, exit code 1."""
        assert self.code == 1, self
        assert "Traceback" not in self.err
        (line,) = self.err.splitlines()
        assert line.startswith("remem: ")
        assert line.endswith(".")
        return line


class CommandLine:
    """Runs `remem …` in an empty folder and an empty home."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.home = home
        self._capture = capture
        self._patch = patch
        patch.setenv("HOME", str(home))
        patch.setenv("COLUMNS", "1000")
        patch.chdir(home)

    def __call__(self, *words: object, typed: str = "", **environment: str) -> Ran:
        """Run `remem` with these words, and with what is `typed` on standard input.

        `environment` stays set for the test's next commands.
        """
        self._patch.setattr(sys, "stdin", io.StringIO(typed))
        for name, value in environment.items():
            self._patch.setenv(name, value)
        self._patch.setattr(sys, "argv", ["remem", *map(str, words)])
        log, root = structlog.get_config(), logging.getLogger()
        handlers, level = list(root.handlers), root.level
        self._capture.readouterr()
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            structlog.configure(**log)
            root.handlers[:], root.level = handlers, level
        told = self._capture.readouterr()
        return Ran(code, told.out, told.err)


@pytest.fixture
def remem(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line, at home in a folder of this test's own."""
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, capsys, monkeypatch)
