"""A shelf, places of units at hand, cues near a message: made with little work, the same as the plain way gives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from memory_core.forms.units import Unit
from memory_core.ids import PageId
from memory_core.lexicon import cues, cues_near
from memory_core.lexicon import lexicons as names
from memory_core.ranking import Places, Question, Score, best, pairs_of, scores
from memory_core.routing import _said, _side_by_side
from memory_core.search.hits import Hit, distinct
from memory_core.search.parts import Placed, at_hand, part_of
from memory_core.shelf import Spot, shelf
from memory_core.terms import terms

SPOTS = st.lists(
    st.builds(
        Spot,
        st.integers(0, 40),
        st.sampled_from("abc"),
        st.one_of(st.none(), st.sampled_from([1.0, 2.5, 3.0]), st.floats(1, 9)),
        st.frozensets(st.sampled_from(["ana", "bo"])),
        st.booleans(),
        st.booleans(),
    ),
    max_size=30,
)
WORDS = ("redis", "cache", "deploy", "friday", "ana", "queue", "部署", "服务")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
REACH = ((0, 0), (1, 0), (2, 2), (5, 5))


def _norms(lengths: Sequence[int]) -> list[float]:
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    return [1.2 * (1 - 0.4 + 0.4 * length / mean) for length in lengths]


@given(SPOTS)
def test_a_shelf_holds_for_each_part_what_its_neighbours_say(spots: list[Spot]) -> None:
    made, total = shelf(spots), len(spots)
    first = [
        max((at for at in range(1, n + 1) if spots[at].session != spots[at - 1].session), default=0)
        for n in range(total)
    ]
    last = [next((at - 1 for at in range(n + 1, total) if first[at] != first[n]), total - 1) for n in range(total)]
    until = tuple(accumulate((spot.length for spot in spots), initial=0))
    assert list(made.first) == first
    for window, (back, ahead) in zip(made.windows, REACH, strict=True):
        lengths = [until[min(last[n], n + ahead) + 1] - until[max(first[n], n - back)] for n in range(total)]
        assert list(window.starts) == [max(first[n], n - ahead) for n in range(total)]
        assert list(window.ends) == [min(last[n], n + back) + 1 for n in range(total)]
        assert list(window.norms) == _norms(lengths)
    begins = sorted(set(first))
    of_sessions = _norms([until[last[begin] + 1] - until[begin] for begin in begins])
    assert dict(made.session_norms) == dict(zip(begins, of_sessions, strict=True))
    assert made.still["length"] == [min(1.0, math.log1p(spot.length) / math.log(30)) for spot in spots]
    times = [spot.at for spot in spots if spot.at is not None]
    for spot, new in zip(spots, made.still["newness"], strict=True):
        older, as_old = sum(at < (spot.at or 0) for at in times), times.count(spot.at or 0)
        assert new == (0.5 if spot.at is None else (older + older + as_old - 1) / 2 / max(1, len(times) - 1))
    assert {who: list(numbers) for who, numbers in made.speakers.items()} == {
        who: [n for n in range(total) if who in spots[n].speaker] for spot in spots for who in spot.speaker
    }


@given(SPOTS, st.data(), st.integers(0, 6))
def test_the_best_are_the_first_of_all_that_have_a_score(spots: list[Spot], data: st.DataObject, most: int) -> None:
    numbers = st.dictionaries(st.integers(0, len(spots) - 1), st.integers(1, 3)) if spots else st.just({})
    counts = data.draw(st.fixed_dictionaries({"redi": numbers, "cach": numbers}))
    kin = data.draw(st.fixed_dictionaries({"store": numbers}))
    made, places, asked = shelf(spots), Places(counts, {}, kin), Question(("redi", "cach"), ("store",))
    wanted = data.draw(st.frozensets(st.integers(0, 30)))

    def fits(number: int, holds: bool) -> bool:
        return number in wanted and holds

    ranked: list[tuple[int, Score]] = [
        (number, score)
        for number, score in scores(made, places, asked).items()
        if number in wanted and (score.shared or score.kin)
    ]
    ranked.sort(key=lambda one: (-one[1].value, -(spots[one[0]].at or 0), one[0]))
    assert best(made, places, asked, most, fits) == ranked[:most]


@given(st.lists(TEXTS, max_size=8), TEXTS)
def test_units_at_hand_tell_where_the_terms_of_a_question_stand(texts: list[str], question: str) -> None:
    placed = [
        Placed(PageId("project"), Unit(text=f"- {text}", title="ana", body=text, words="queue cache"))
        for text in texts
    ]
    asked = Question(terms(question), kin=("queue",))
    found = at_hand(placed).places(asked)
    parts = [part_of(one) for one in placed]
    counts = [Counter(term for run in part.runs for term in run.terms * run.weight) for part in parts]
    for term in (*asked.terms, *asked.kin):
        own = found.counts[term] if term in asked.terms else found.kin[term]
        assert own == {number: count[term] for number, count in enumerate(counts) if term in count}
    together = [
        pairs_of(asked.terms) & frozenset().union(*(pairs_of(run.terms) for run in part.runs if run.joined))
        for part in parts
    ]
    assert found.pairs == {number: len(pairs) for number, pairs in enumerate(together) if pairs}


@given(
    st.lists(st.sampled_from([cue.shown for name in names() for cue in cues(name)]), max_size=4), st.text(max_size=20)
)
def test_no_cue_that_stands_in_a_message_is_left_out(some: list[str], other: str) -> None:
    said = _said(" ".join([*some, other]))
    for name in names():
        standing = [
            cue for cue in cues(name) if (cue.stands_in(said.folded) if cue.piece else _side_by_side(said, cue.terms))
        ]
        near = cues_near(name, said.positions, said.folded)
        assert [
            cue for cue in near if (cue.stands_in(said.folded) if cue.piece else _side_by_side(said, cue.terms))
        ] == standing


@given(st.lists(st.tuples(st.sampled_from(["project", "journal/2026-04-06", "archive/2026-03"]), TEXTS), max_size=8))
def test_of_what_a_better_source_says_nearly_all_only_that_is_left(said: list[tuple[str, str]]) -> None:
    hits = [
        Hit(Placed(PageId(page), Unit(text=text, body=text)), n, 1.0, 1, 0, 1.0)
        for n, (page, text) in enumerate(said)
    ]
    words = [frozenset(terms(text)) for _, text in said]
    told = [
        page != "project"
        and any(
            other == "project" and len(words[n] & words[m]) >= 0.8 * len(words[n])
            for m, (other, _) in enumerate(said)
        )
        for n, (page, _) in enumerate(said)
    ]
    assert [hit.number for hit in distinct(hits)] == [n for n in range(len(said)) if not told[n]]
