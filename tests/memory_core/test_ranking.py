"""Ranking: what a part's neighbours, session and speaker are worth, and that nothing else moves a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.days import Span
from memory_core.ranking import (
    Places,
    Question,
    Score,
    Shelf,
    Spot,
    own_words,
    pairs_of,
    scores,
    shares,
    shelf,
)
from memory_core.terms import terms
from memory_core.weights import SHIPPED, Weights

SAID = ("redis", "cache", "deploy", "friday", "ana", "bo", "office", "lunch", "invoice", "queue")
WORDS = st.lists(st.sampled_from(SAID), max_size=6)
TALKS = st.lists(st.tuples(WORDS, st.sampled_from("abc")), min_size=1, max_size=12)


@dataclass(frozen=True)
class Said:
    """One line: its terms, its talk, who said it."""

    text: str
    session: str = "s"
    speaker: str = ""

    @property
    def terms(self) -> tuple[str, ...]:
        return terms(self.text)


def _shelf(said: Sequence[Said]) -> Shelf:
    return shelf(
        [
            Spot(len(one.terms), one.session, at, frozenset(terms(one.speaker)), one.text.endswith("?"))
            for at, one in enumerate(said)
        ]
    )


def _places(said: Sequence[Said], asked: Sequence[str]) -> Places:
    counts = {
        term: {number: count for number, one in enumerate(said) if (count := one.terms.count(term))} for term in asked
    }
    together = {number: len(pairs_of(asked) & pairs_of(one.terms)) for number, one in enumerate(said)}
    return Places(counts, {number: count for number, count in together.items() if count})


def _scores(said: Sequence[Said], question: str) -> list[Score]:
    """Of every line; what fits nothing has none."""
    asked = terms(question)
    found = scores(_shelf(said), _places(said, asked), Question(asked))
    return [found.get(number, Score(0.0, 0)) for number in range(len(said))]


def _best(said: Sequence[Said], question: str) -> int:
    found = _scores(said, question)
    return max(range(len(said)), key=lambda number: found[number].value)


def test_an_answer_that_repeats_no_word_is_found_behind_its_question() -> None:
    parts = [
        Said("lunch was great", "one"),
        Said("which store holds the session cache?", "two"),
        Said("Valkey, since April", "two"),
        Said("the invoice is paid", "three"),
    ]
    found = _scores(parts, "which store holds the session cache")
    assert found[2].value > max(found[0].value, found[3].value)
    assert (found[1].shared > 0, found[2].shared) == (True, 0)


def test_of_two_that_say_the_same_the_named_speaker_s_is_best() -> None:
    parts = [Said("the rollback is mine", "one", "Ben"), Said("the rollback is mine", "two", "Ana")]
    assert _best(parts, "does Ana do the rollback?") == 1
    assert _best(parts, "does Ben do the rollback?") == 0


def test_of_two_that_fit_alike_the_newer_is_best() -> None:
    parts = [Said("the token is 17", "one"), Said("the token is 17", "two")]
    assert _best(parts, "what is the token?") == 1


def test_words_that_stand_together_are_worth_more() -> None:
    parts = [Said("the review board meets the design team", "one"), Said("the design review is on board", "two")]
    assert _best(parts, "design review") == 1


def test_what_was_said_on_the_day_that_is_asked_for_is_better() -> None:
    spots = [Spot(2, "a", 10.2), Spot(2, "b", 20.9), Spot(2, "c", 30.0)]
    places = Places({"redi": {0: 1, 1: 1, 2: 1}})
    for first, best in ((10, 0), (20, 1), (30, 2)):
        found = scores(shelf(spots), places, Question(("redi",), days=(Span(first, first),)))
        assert max(found, key=lambda number: found[number].value) == best


def test_who_asks_when_is_given_what_names_a_time() -> None:
    spots = [Spot(4, "a", time=True), Spot(4, "b")]
    places = Places({"move": {0: 1, 1: 1}})
    asked = scores(shelf(spots), places, Question(("move",), asks_time=True))
    assert asked[0].value > asked[1].value
    asked = scores(shelf(spots), places, Question(("move",)))
    assert asked[0].value == asked[1].value


def test_a_number_is_worth_something_a_question_and_length_cost_something() -> None:
    plain, number, question, long = Spot(4, "a"), Spot(4, "b", number=True), Spot(4, "c", asks=True), Spot(40, "d")
    parts = shelf([plain, number, question, long])
    assert (parts.still["number"], parts.still["asks"]) == ([0, 1, 0, 0], [0, 0, 1, 0])
    assert parts.still["length"][3] > parts.still["length"][0]
    assert SHIPPED.number > 0
    assert all(getattr(SHIPPED, name) < 0 for name in ("asks", "length"))


def test_kin_lifts_a_part_and_alone_makes_a_weaker_match() -> None:
    spots = [Spot(4, "a"), Spot(4, "b"), Spot(4, "c")]
    places = Places({"job": {0: 1}}, kin={"profess": {1: 1}})
    found = scores(shelf(spots), places, Question(("job",), kin=("profess",)))
    assert set(found) == {0, 1}
    assert found[0].value > found[1].value > 0
    assert (found[1].shared, found[1].kin) == (0, 1)
    alone = scores(shelf(spots), Places({}, kin={"profess": {1: 1}}), Question(("job",), kin=("profess",)))
    assert set(alone) == {1}


def test_no_score_is_below_nothing() -> None:
    found = scores(shelf([Spot(90, "a", 1.0, asks=True), Spot(3, "a", 2.0)]), Places({"x": {1: 1}}), Question(("x",)))
    assert found[0].value >= 0


def test_the_score_is_the_sum_of_the_weighted_shares() -> None:
    """So that a search for better weights needs the shares once."""
    said = [Said("redis for the cache", "a", "Ana"), Said("which cache?", "a", "Bo"), Said("valkey", "a", "Ana")]
    asked = Question(terms("which cache does Ana use"))
    parts, places = _shelf(said), _places(said, asked.terms)
    weights = Weights(**{name: 0.1 * at for at, name in enumerate(asdict(SHIPPED), 1)})
    looked_at, told = shares(parts, places, asked)
    assert {*told, *parts.still} >= set(asdict(SHIPPED)) - {"kin", "kin_before", "phrase"}
    found = scores(parts, places, asked, weights)
    assert set(found) == set(looked_at)
    for number, score in found.items():
        expected = sum(getattr(weights, name) * one.values.get(number, 0.0) / one.best for name, one in told.items())
        expected += sum(getattr(weights, name) * values[number] for name, values in parts.still.items())
        assert score.value == pytest.approx(expected)


def test_a_record_stands_for_itself() -> None:
    """Its neighbours are other facts: what they say is not its."""
    alone = [Said("redis for the cache", "a"), Said("lunch on friday", "b")]
    assert _scores(alone, "redis")[1].shared == 0
    together = [Said("redis for the cache", "a"), Said("lunch on friday", "a")]
    near, far = _scores(together, "redis")[1], _scores(alone, "redis")[1]
    assert near.value > far.value


def test_nothing_asked_and_nothing_held_is_no_fault() -> None:
    assert _scores([], "redis") == []
    assert _scores([Said("redis")], "") == [Score(0.0, 0)]
    assert own_words(_shelf([Said("redis")]), _places([Said("redis")], ("cache",))) == {}


def test_what_has_no_date_stands_in_the_middle() -> None:
    spots = [Spot(1, "a", 3.0), Spot(1, "b"), Spot(1, "c", 1.0), Spot(1, "d", 2.0), Spot(1, "e", 3.0)]
    assert list(shelf(spots).still["newness"]) == [
        pytest.approx(2.5 / 3),
        0.5,
        0.0,
        pytest.approx(1 / 3),
        pytest.approx(2.5 / 3),
    ]


@given(TALKS, WORDS)
def test_scores_are_the_same_each_time_and_share_what_they_say(
    talk: list[tuple[list[str], str]], asked: list[str]
) -> None:
    said = _sorted(talk)
    question = " ".join(asked)
    first, second = _scores(said, question), _scores(said, question)
    assert first == second
    for one, score in zip(said, first, strict=True):
        assert score.shared == len(set(terms(question)) & set(one.terms))
        assert score.value >= 0


@given(TALKS, WORDS)
def test_words_that_nobody_asked_for_and_nobody_said_move_nothing(
    talk: list[tuple[list[str], str]], asked: list[str]
) -> None:
    said = _sorted(talk)
    question = " ".join(asked)
    more = f"{question} zzz-unheard"
    assert [one.shared for one in _scores(said, question)] == [one.shared for one in _scores(said, more)]
    parts = _shelf(said)
    assert own_words(parts, _places(said, terms(question))) == own_words(parts, _places(said, terms(more)))


def _sorted(talk: list[tuple[list[str], str]]) -> list[Said]:
    return [Said(" ".join(words), session) for words, session in sorted(talk, key=lambda one: one[1])]
