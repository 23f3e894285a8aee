"""Which page holds the best hits (memory_core.page_choice)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_core.page_choice import FALL, best_pages


def test_a_page_with_the_best_hit_comes_first() -> None:
    assert best_pages([("a", 1.0), ("b", 2.0), ("a", 1.1)]) == ("b", "a")


def test_of_alike_best_hits_the_page_with_more_comes_first() -> None:
    assert best_pages([("a", 2.0), ("b", 2.0), ("b", 1.0)]) == ("b", "a")


def test_many_middling_hits_do_not_outweigh_a_good_one() -> None:
    many = [("long", 1.0)] * 500
    assert best_pages([*many, ("short", 1.0 / (1 - FALL) + 0.01)]) == ("short", "long")


def test_nothing_found_is_no_page_and_ties_keep_their_order() -> None:
    assert best_pages([]) == ()
    assert best_pages([("b", 1.0), ("a", 1.0)]) == ("b", "a")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 10)), max_size=30), st.randoms())
def test_every_page_once_whatever_the_order_within_it(hits: list[tuple[str, float]], random: object) -> None:
    found = best_pages(hits)
    assert sorted(found) == sorted({page for page, _ in hits})
    by_score = sorted(hits, key=lambda hit: hit[1])
    assert set(best_pages(by_score)) == set(found)
