"""The collector rests in the block, and is as it was before after it."""

from __future__ import annotations

import gc

import pytest

from memory_core.uncollected import uncollected


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
