"""`python -m tests.long [pytest arguments]`: every test with the full counts that the issues name."""

from __future__ import annotations

import os
import sys

import pytest

if __name__ == "__main__":
    os.environ["REMEM_LONG"] = "1"
    raise SystemExit(pytest.main(["-q", *sys.argv[1:]]))
