"""Where tests find data that is too big to ship: `$REMEM_TEST_DATA`, else `../shared/data` beside the checkout.

A test that wants such data asks `data_file`, and is skipped by the file's name where there is none.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_dir() -> Path | None:
    """The folder with the big data; None where there is none."""
    named = os.environ.get("REMEM_TEST_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    return folder if folder.is_dir() else None


def data_file(name: str) -> Path:
    """The file `name` of the big data; skips the test, naming the file, where it is not."""
    folder = data_dir()
    path = folder / name if folder is not None else None
    if path is None or not path.exists():
        pytest.skip(f"{name} is not here; set REMEM_TEST_DATA to the folder that holds it")
    return path
