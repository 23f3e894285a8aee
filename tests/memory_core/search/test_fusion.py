"""Two orders made into one: scores by words, places by meaning, and the less meaning the more the words can say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.ranking import Score
from memory_core.search.fusion import DAMP, NEAREST, near, order, shares
from tests.scale import scale

MEANT = st.lists(st.integers(0, 60), unique=True)
VALUES = st.integers(0, 300).map(lambda value: value / 100)
SCORED = st.dictionaries(st.integers(0, 60), st.tuples(VALUES, st.integers(0, 9))).map(
    lambda scored: _best_first({number: Score(*score) for number, score in scored.items()})
)


def _best_first(scored: Mapping[int, Score]) -> dict[int, Score]:
    return dict(sorted(scored.items(), key=lambda one: -one[1].value))


def _fused(words: Mapping[int, Score], meaning: Sequence[int]) -> tuple[int, ...]:
    return tuple(shares(words, meaning))


@given(SCORED)
def test_without_an_order_by_meaning_it_is_the_order_by_words(words: dict[int, Score]) -> None:
    assert _fused(words, ()) == tuple(words)


@given(MEANT)
def test_without_words_it_is_the_nearest_by_meaning(meaning: list[int]) -> None:
    assert _fused({}, meaning) == tuple(meaning[:NEAREST])


@given(SCORED)
def test_two_equal_orders_are_that_order(words: dict[int, Score]) -> None:
    assert _fused(words, tuple(words)) == tuple(words)


@given(SCORED, MEANT, st.randoms(use_true_random=False))
@settings(max_examples=scale(1000))
def test_in_which_order_the_parts_come_changes_nothing(
    words: dict[int, Score], meaning: list[int], chance: Random
) -> None:
    """But for which of two equal ones is first."""
    mixed = list(words.items())
    chance.shuffle(mixed)
    assert shares(dict(mixed), meaning) == shares(words, meaning)


@given(SCORED, MEANT)
def test_every_part_that_shares_a_word_stays_and_few_come_in_by_meaning_alone(
    words: dict[int, Score], meaning: list[int]
) -> None:
    found = _fused(words, meaning)
    assert len(set(found)) == len(found)
    assert set(words) <= set(found)
    assert set(found) - set(words) == set(meaning[:NEAREST]) - set(words)


def test_meaning_alone_brings_in_the_nearest_only() -> None:
    assert len(_fused({0: Score(1.0, 1)}, range(1, 100))) == 1 + NEAREST


@given(SCORED.filter(lambda words: any(score.value for score in words.values())), MEANT)
@settings(max_examples=scale(1000))
def test_what_holds_no_word_never_comes_before_the_best_by_words(words: dict[int, Score], meaning: list[int]) -> None:
    found = _fused(words, meaning)
    before = found[: found.index(next(iter(words)))]
    assert set(before) <= set(words)


@given(SCORED, MEANT.filter(bool))
@settings(max_examples=scale(1000))
def test_who_comes_nearer_by_meaning_does_not_come_later(words: dict[int, Score], meaning: list[int]) -> None:
    moved = meaning[-1]
    told, other = _fused(words, meaning), _fused(words, [moved, *meaning[:-1]])
    if moved in told:
        assert other.index(moved) <= told.index(moved)


@given(st.integers(0, 8), st.integers(0, 60))
def test_the_more_terms_a_part_shares_the_less_meaning_counts(shared: int, place: int) -> None:
    """What the nearest may make up for, in parts of the best one's score by words."""

    def made_up(terms: int) -> float:
        told = shares({0: Score(3.0, terms), 1: Score(1.5, 0)}, [1, *range(2, place + 2), 0])
        return told[1] - 0.5

    assert made_up(shared + 1) < made_up(shared) <= DAMP / (DAMP + 1)


def test_words_that_say_little_leave_it_to_meaning_and_words_that_say_much_do_not() -> None:
    others = range(4, 60)
    a_name = {0: Score(2.0, 1), 1: Score(1.8, 1), 2: Score(1.6, 1)}  # every line that Anna says shares her name
    assert _fused(a_name, [2, 3, *others, 1, 0])[0] == 2
    sentence = {0: Score(2.0, 6), 1: Score(1.9, 5), 2: Score(1.3, 5)}
    assert _fused(sentence, [1, 2, 3, *others, 0])[:3] == (0, 1, 2)
    alike = {0: Score(2.0, 6), 1: Score(1.995, 6), 2: Score(1.3, 5)}
    assert _fused(alike, [1, 2, 3, *others, 0])[0] == 1


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_scores_of_nothing_are_no_fault(value: float) -> None:
    """A part's score may be 0: what counts against it weighs as much as the words."""
    assert _fused({0: Score(value, 1), 1: Score(0.0, 1)}, []) == (0, 1)
    assert set(_fused({0: Score(value, 1), 1: Score(0.0, 1)}, [1, 2])) == {0, 1, 2}


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
