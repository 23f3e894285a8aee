"""Where the terminal is: rooms have threads, a DM has none."""

from __future__ import annotations

import pytest

from adapters.console.normalise import Seat, seat_after
from memory_core.errors import BadInput


def test_a_thread_is_opened_in_a_room_and_left_again() -> None:
    room = Seat("ana", "build")
    thread = seat_after(room, "thread", "t1")
    assert thread is not None
    assert thread.prompt == "ana@#build/t1> "
    assert seat_after(thread, "thread", "") == room


def test_a_thread_in_a_dm_is_refused_with_the_next_step() -> None:
    with pytest.raises(BadInput, match="DM has no threads; go to a room first"):
        seat_after(Seat("ana", None), "thread", "t1")


@pytest.mark.parametrize(("word", "example"), [("join", "/join build"), ("as", "/as ana")])
def test_a_name_that_is_missing_is_asked_for_with_an_example_of_its_kind(word: str, example: str) -> None:
    with pytest.raises(BadInput, match=f"such as {example}"):
        seat_after(Seat("ana", None), word, "")
