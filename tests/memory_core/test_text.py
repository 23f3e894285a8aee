"""What is counted is told in the singular where there is one of it."""

from __future__ import annotations

import pytest

from memory_core.text import counted


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("message",), "0 messages"),
        (1, ("message",), "1 message"),
        (2, ("fact about the stack",), "2 facts about the stack"),
        (1, ("part without a match",), "1 part without a match"),
        (2, ("part without a match",), "2 parts without a match"),
        (3, ("record beyond the budget, to the archive",), "3 records beyond the budget, to the archive"),
        (3, ("piece of memory shown earlier",), "3 pieces of memory shown earlier"),
        (2, ("struck line",), "2 struck lines"),
        (1, ("person", "people"), "1 person"),
        (2, ("more match", "more matches"), "2 more matches"),
    ],
)
def test_one_of_a_kind_is_told_in_the_singular(number: int, words: tuple[str, ...], told: str) -> None:
    assert counted(number, *words) == told
