"""The collector rests in the block, and is as it was before after it."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory_core.uncollected import uncollected
from tests.scale import scale

ROUNDS, TOGETHER = scale(1200), 8


def test_the_collector_rests_and_is_let_in_again() -> None:
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_let_in_again_after_a_failure() -> None:
    with pytest.raises(ValueError, match="no"), uncollected():
        raise ValueError("no")
    assert gc.isenabled()


def test_who_keeps_it_out_keeps_it_out() -> None:
    gc.disable()
    try:
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_however_many_threads_enter_and_leave_at_once_it_is_let_in_again() -> None:
    """Lost at once where it is asked and kept out in two steps: the collector would be out for good."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(ROUNDS):
            with ThreadPoolExecutor(TOGETHER) as pool:
                list(pool.map(_in_and_out, range(TOGETHER)))
            assert gc.isenabled()
    finally:
        sys.setswitchinterval(interval)
        gc.enable()


def _in_and_out(_: int) -> None:
    for _ in range(200):
        with uncollected():
            pass
