"""What is remembered is what would be made, of no more than the room there is, and the last ones."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.remembered import Remembered
from tests.scale import scale

MOST = 10
KEYS = "abcdefgh"


class Upper:
    """Makes capital letters, and tells how often."""

    def __init__(self) -> None:
        self.remembered, self.made = Remembered[str, str](MOST), list[str]()

    def __call__(self, key: str, size: int) -> str:
        """The capital of `key`."""

        def make() -> str:
            self.made.append(key)
            return key.upper()

        return self.remembered.get(key, size, make)


@given(st.lists(st.sampled_from(KEYS), max_size=60), st.lists(st.integers(0, 12), min_size=8, max_size=8))
@settings(max_examples=scale(2000), deadline=None)
def test_the_last_that_fit_are_remembered(asked: list[str], sizes: list[int]) -> None:
    upper, size_of, expected = Upper(), dict(zip(KEYS, sizes, strict=True)), OrderedDict[str, None]()
    for key in asked:
        before = len(upper.made)
        assert upper(key, size_of[key]) == key.upper()
        assert (len(upper.made) == before) == (key in expected)
        if size_of[key] <= MOST:
            expected[key] = None
            expected.move_to_end(key)
        while sum(size_of[one] for one in expected) > MOST:
            expected.popitem(last=False)


def test_nothing_is_known_after_it_was_cleared() -> None:
    upper = Upper()
    for _ in range(2):
        upper("a", 1)
        upper("a", 1)
        upper.remembered.cache_clear()
    assert upper.made == ["a", "a"]


def test_threads_that_ask_at_once_get_what_is_right() -> None:
    remembered = Remembered[int, int](50)

    def ask(seed: int) -> bool:
        random = Random(seed)
        numbers = [random.randrange(30) for _ in range(scale(20_000))]
        return all(remembered.get(one, one % 7, one.__neg__) == -one for one in numbers)

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(ask, range(4)))
