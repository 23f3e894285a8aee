"""What every test gets: no network, no developer's environment, no blocking of the event loop."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest
import structlog
from blockbuster import BlockBuster, blockbuster_ctx

from memory_core import zone_names

FOR_TESTS = frozenset({"REMEM_TEST_DATA", "REMEM_LONG", "REMEM_TEST_MODEL", "REMEM_TEST_MODEL_URL"})
"""Where the tests find data, how long they run, and a real model for those that ask one."""


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings of whoever runs it; only what is for the tests themselves stays."""
    for name in list(os.environ):
        ours = name.startswith(("REMEM_", "SLACK_", "DISCORD_"))
        if (ours and name not in FOR_TESTS) or name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _loop_is_never_blocked() -> Iterator[BlockBuster]:
    """A call that blocks the event loop from our packages fails the test."""
    with blockbuster_ctx(["memory_core", "adapters", "bot"]) as guard:
        # A traceback that is logged reads the source that it shows; that is the one read we let the loop do.
        for call in ("os.stat", "io.TextIOWrapper.read", "io.BufferedReader.read"):
            if call in guard.functions:
                guard.functions[call].can_block_in("linecache.py", {"checkcache", "updatecache"})
        yield guard


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command that ran in this process sets how much adapters log; the next test must not inherit that."""
    adapters = logging.getLogger("adapters")
    level = adapters.level
    yield
    adapters.setLevel(level)


@pytest.fixture(autouse=True, scope="session")
def _zones_are_read() -> None:
    """As the program does at its start."""
    zone_names.load()


@pytest.fixture(autouse=True, scope="session")
def _plain_logs() -> None:
    """Logs as lines of keys: structlog's own default looks at files to draw tracebacks."""
    steps = structlog.processors
    structlog.configure(processors=[steps.add_log_level, steps.format_exc_info, steps.KeyValueRenderer()])
