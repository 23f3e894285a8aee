"""Ranking: what a part's neighbours, session and speaker are worth, and that nothing else moves a score."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_core.ranking import Part, own_words, scores, shelf
from memory_core.terms import terms

SAID = ("redis", "cache", "deploy", "friday", "ana", "bo", "office", "lunch", "invoice", "queue")
WORDS = st.lists(st.sampled_from(SAID), max_size=6)
TALKS = st.lists(st.tuples(WORDS, st.sampled_from("abc")), min_size=1, max_size=12)


def _part(text: str, session: str = "s", speaker: str = "") -> Part:
    found = terms(text)
    pairs = frozenset(pairwise(found))
    return Part(Counter(found), len(found), pairs, session, frozenset(terms(speaker)), text.endswith("?"))


def _best(parts: list[Part], question: str) -> int:
    found = scores(shelf(parts), terms(question))
    return max(range(len(parts)), key=lambda number: found[number].value)


def test_an_answer_that_repeats_no_word_is_found_behind_its_question() -> None:
    parts = [
        _part("lunch was great", "one"),
        _part("which store holds the session cache?", "two"),
        _part("Valkey, since April", "two"),
        _part("the invoice is paid", "three"),
    ]
    found = scores(shelf(parts), terms("which store holds the session cache"))
    assert found[2].value > max(found[0].value, found[3].value)
    assert (found[1].shared > 0, found[2].shared) == (True, 0)


def test_of_two_that_say_the_same_the_named_speaker_s_is_best() -> None:
    parts = [_part("the rollback is mine", "one", "Ben"), _part("the rollback is mine", "two", "Ana")]
    assert _best(parts, "does Ana do the rollback?") == 1
    assert _best(parts, "does Ben do the rollback?") == 0


def test_of_two_that_fit_alike_the_newer_is_best() -> None:
    parts = [_part("the token is 17", "one"), _part("the token is 17", "two")]
    assert _best(parts, "what is the token?") == 1


def test_words_that_stand_together_are_worth_more() -> None:
    parts = [_part("the review board meets the design team", "one"), _part("the design review is on board", "two")]
    assert _best(parts, "design review") == 1


def test_a_record_stands_for_itself() -> None:
    """Its neighbours are other facts: what they say is not its."""
    alone = [_part("redis for the cache", "a"), _part("lunch on friday", "b")]
    assert scores(shelf(alone), terms("redis"))[1].shared == 0
    together = [_part("redis for the cache", "a"), _part("lunch on friday", "a")]
    near, far = scores(shelf(together), terms("redis"))[1], scores(shelf(alone), terms("redis"))[1]
    assert near.value > far.value


def test_nothing_asked_and_nothing_held_is_no_fault() -> None:
    assert scores(shelf([]), ("redis",)) == ()
    assert [one.value for one in scores(shelf([_part("redis")]), ())] == [0.0]
    assert own_words(shelf([_part("redis")]), ("cache",)) == (0.0,)


@given(TALKS, WORDS)
def test_scores_are_the_same_each_time_and_share_what_they_say(
    talk: list[tuple[list[str], str]], asked: list[str]
) -> None:
    talk.sort(key=lambda one: one[1])
    parts = [_part(" ".join(words), session) for words, session in talk]
    question = terms(" ".join(asked))
    first, second = scores(shelf(parts), question), scores(shelf(parts), question)
    assert first == second
    for part, score in zip(parts, first, strict=True):
        assert score.shared == len({term for term in question if part.counts.get(term)})
        assert score.value >= 0


@given(TALKS, WORDS)
def test_words_that_nobody_asked_for_and_nobody_said_move_nothing(
    talk: list[tuple[list[str], str]], asked: list[str]
) -> None:
    talk.sort(key=lambda one: one[1])
    held = shelf([_part(" ".join(words), session) for words, session in talk])
    question = terms(" ".join(asked))
    more = (*question, "zzz-unheard")
    assert [one.shared for one in scores(held, question)] == [one.shared for one in scores(held, more)]
    assert own_words(held, question) == own_words(held, more)
