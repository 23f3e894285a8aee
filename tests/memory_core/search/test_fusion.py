"""Two orders made into one: only places count, and words weigh more."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from memory_core.search.fusion import NEAREST, fused, near, order

NUMBERS = st.lists(st.integers(0, 60), unique=True)


@given(NUMBERS)
def test_without_an_order_by_meaning_it_is_the_order_by_words(words: list[int]) -> None:
    assert fused(words, ()) == tuple(words)


@given(NUMBERS)
def test_two_equal_orders_are_that_order(words: list[int]) -> None:
    assert fused(words, words) == tuple(words)


@given(NUMBERS, NUMBERS)
def test_every_part_that_shares_a_word_stays_and_few_come_in_by_meaning_alone(
    words: list[int], meaning: list[int]
) -> None:
    found = fused(words, meaning)
    assert len(set(found)) == len(found)
    assert set(words) <= set(found)
    assert set(found) - set(words) == set(meaning[:NEAREST]) - set(words)


def test_meaning_alone_brings_in_the_nearest_only() -> None:
    assert len(fused([0], range(1, 100))) == 1 + NEAREST


def test_what_is_first_in_both_is_first_and_words_weigh_more() -> None:
    assert fused([1, 2, 3], [1, 3, 2])[0] == 1
    assert fused([1, 2], [2, 1]) == (1, 2)
    assert fused([1, 2, 3, 4], [4])[:2] == (4, 1)  # the last by words, the first by meaning
    many = list(range(40))
    assert fused(many, many[::-1])[0] == 0
    assert fused(many, [39])[0] == 0  # too far down by words for meaning to make it the first


@given(st.lists(st.floats(-1, 1, allow_nan=False), max_size=30), st.floats(0.01, 1), st.floats(-0.5, 0.5))
def test_only_the_order_of_the_numbers_counts(similar: list[float], scale: float, moved: float) -> None:
    """A model whose cosines are compressed into a narrow band is fused as one whose cosines are not."""
    rounded = [round(one, 2) for one in similar]
    assert order(rounded) == order([one * scale + moved for one in rounded])


def test_a_part_is_lent_of_its_neighbours_but_not_of_another_session() -> None:
    similar = (0.0, 0.9, 0.0, 0.0)
    together = _near(similar, ("a", "a", "a", "a"))
    assert together[0] > together[3]
    apart = _near(similar, ("a", "b", "c", "d"))
    assert apart[0] == apart[2] == apart[3] == 0.0
    assert order(apart)[0] == 1


def test_its_place_makes_no_part_better_or_worse() -> None:
    told = _near((0.4,) * 6, ("alone", "a", "a", "a", "b", "b"))
    assert max(told) - min(told) < 1e-9


def test_a_part_without_a_vector_has_no_place_and_lends_nothing() -> None:
    told = near((0.4, None, 0.4, 0.4), "aaaa")
    assert told[1] is None
    assert told[0] == told[2] == told[3] == 0.4 * (1 + 2 * 0.5 + 2 * 0.25)
    assert order(told) == (0, 2, 3)


def _near(similar: Sequence[float], sessions: Sequence[str]) -> list[float]:
    told = near(similar, sessions)
    return [one for one in told if one is not None]
