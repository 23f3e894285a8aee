"""The recall bench: it reads what is not quite in the form, and its rows measure what they say."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from memory_core.tokens import EstimatingCounter
from tests.bench.recall import main
from tests.bench.recall_data import Json, Question, Room, Turn, data_of
from tests.bench.recall_embedded import WEIGHTS, Shares, fused_groups, fusion_left_out, least_gain
from tests.bench.recall_flushed import measured_flushed
from tests.bench.recall_index import asked_of, measured_by_index
from tests.bench.recall_rankings import RANKINGS, measured, summary
from tests.bench.recall_weights import START, Fitting, groups_of
from tests.memory_core.search.embedders import WordEmbedder

COUNTER = EstimatingCounter()
SAID = [
    ("Ana", "We decided to use Redis for the session cache."),
    ("Bo", "Which port does it listen on?"),
    ("Ana", "6380, because the old one is taken."),
    ("Bo", "Lunch was great today."),
    ("Ana", "My sister plays the violin."),
    ("Bo", "I moved to Lisbon last summer."),
]


def _talk(said: list[tuple[str, str]], session: int = 1) -> list[Json]:
    return [{"speaker": who, "dia_id": f"D{session}:{at}", "text": text} for at, (who, text) in enumerate(said, 1)]


def _qa(question: str, evidence: Json, category: Json = 4) -> dict[str, Json]:
    return {"question": question, "evidence": evidence, "category": category}


def _locomo(path: Path, *qa: Json, **conversation: Json) -> Path:
    whole = {"speaker_a": "Ana", "session_1": _talk(SAID), "session_1_date_time": "1:56 pm on 8 May, 2023"}
    path.write_text(json.dumps([{"conversation": whole | conversation, "qa": list(qa)}]), "utf-8")
    return path


def _room(tmp_path: Path) -> Room:
    later = [(who, f"{text} Again, in June.") for who, text in SAID]
    path = _locomo(
        tmp_path / "talk.json",
        _qa("Which cache was chosen?", ["D1:1"]),
        _qa("Which port?", ["D1:3", "D2:3"], 1),
        _qa("What instrument does Ana's sister play?", ["D1:5"], 3),
        _qa("When did Bo move?", ["D1:6"], 2),
        session_2=_talk(later, 2),
        session_2_date_time="10:00 am on 3 June, 2023",
    )
    (room,) = data_of(path).rooms
    return room


# -- data that is not quite in the form ------------------------------------------------------------------------------


def test_evidence_is_read_however_it_is_written_and_what_is_none_is_counted(tmp_path: Path) -> None:
    path = _locomo(
        tmp_path / "x.json",
        _qa("one", "D1:1; D1:2"),
        _qa("two", ["D1:3 D1:4", "D01:05"]),
        _qa("three", ["D", "D1:6"]),
        _qa("four", ["D9:99"]),
        _qa("five", None),
        _qa("six", ["D:11:26"]),
        _qa("seven", ["D1:1"], 5),
        _qa("eight", ["D1:1"], "9"),
        {"question": "nine"},
        "no question",
    )
    data = data_of(path)
    wanted = {one.text: sorted(key for keys in one.wanted for key in keys) for one in data.rooms[0].questions}
    assert wanted == {
        "one": ["D1:1", "D1:2"],
        "two": ["D1:3", "D1:4", "D1:5"],
        "three": ["D1:6"],
        "eight": ["D1:1"],
    }
    assert [one.category for one in data.rooms[0].questions] == ["single hop", "single hop", "single hop", "9"]
    assert data.left_out == {
        "evidence that cannot be read": 2,
        "evidence that names no turn of the conversation": 1,
        "questions without an answer (category 5)": 1,
        "questions without evidence among the turns": 4,
    }


def test_sessions_come_by_their_numbers_also_without_a_time(tmp_path: Path) -> None:
    path = _locomo(
        tmp_path / "x.json",
        _qa("one", ["D1:1"]),
        session_10=[{"speaker": "Bo", "dia_id": "D10:1", "text": None}, "no turn", {"text": "nobody says it"}],
        session_10_date_time="some day",
        session_3=_talk(SAID[:1], 3),
        session_x=[1],
    )
    turns = data_of(path).rooms[0].turns
    assert [turn.key for turn in turns[-3:]] == ["D3:1", "D10:1", "D10:2"]
    assert [turn.heading for turn in turns[-2:]] == ["## some day\n"] * 2
    assert all(one.at < other.at for one, other in pairwise(turns))
    assert data_of(path).left_out["sessions without a time that can be read"] == 2


@pytest.mark.parametrize("form", ["one", "lines", "under a name"])
def test_conversations_come_as_a_list_or_alone(tmp_path: Path, form: str) -> None:
    one = json.loads(_locomo(tmp_path / "x.json", _qa("one", ["D1:1"])).read_text())[0]
    path = tmp_path / ("data.jsonl" if form == "lines" else "data.json")
    texts = {
        "one": json.dumps(one),
        "lines": f"{json.dumps(one)}\n\nno json\n",
        "under a name": json.dumps({"data": [one]}),
    }
    path.write_text(texts[form], "utf-8")
    assert data_of(path).questions == 1


def test_gatemem_with_faults_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    turns = [
        {"turn_id": "t1", "timestamp": "2026-04-06T09:00", "speaker": {"principal_id": "a"}, "text": "Budget 9%"},
        {"turn_id": "t2", "text": "no speaker, no time"},
    ]
    episode = {
        "episode_id": "e",
        "entities": {"principals": [{"principal_id": "a", "display_name": "Ana"}]},
        "turns": turns,
    }
    asked = {"episode_id": "e", "as_of_turn_id": "t1", "query_type": "utility", "query_text": "budget?"}
    checkpoints: list[Json] = [
        asked | {"judge_spec": {"include": ["9%", "no such string"]}},
        asked | {"judge_spec": {"include": ["9%"]}, "as_of_turn_id": "t99"},
        asked | {"judge_spec": {"include": None}},
        asked | {"judge_spec": None, "episode_id": "other"},
    ]
    (tmp_path / "episodes.jsonl").write_text(json.dumps(episode) + "\n{broken\n", "utf-8")
    (tmp_path / "checkpoints.jsonl").write_text("\n".join(map(json.dumps, checkpoints)), "utf-8")
    data = data_of(tmp_path)
    assert [(one.until, len(one.wanted)) for one in data.rooms[0].questions] == [(1, 1), (2, 1)]
    assert data.left_out == {
        "gold strings that no turn holds": 1,
        "lines that are no JSON object": 1,
        "questions as of a turn that is not there, asked at the end": 1,
        "questions of an episode that is not there": 1,
        "questions without gold strings": 1,
    }
    assert data_of(tmp_path / "episodes.jsonl").questions == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1, 2]", '"x"', "null", '[{"conversation": {}}]'])
def test_a_file_of_another_form_is_named_and_no_traceback(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    assert main(["--data", str(path)]) == 2
    assert "x.json" in capsys.readouterr().out
    assert main(["--data", str(tmp_path / "none.json")]) == 2
    assert main(["--data", str(path), "--budgets", "many"]) == 2
    assert main(["--data", str(path), "--against", "nothing"]) == 2


# -- what the rows measure -------------------------------------------------------------------------------------------


def test_the_shipped_index_orders_what_was_said_as_the_formula_does(tmp_path: Path) -> None:
    room = _room(tmp_path)

    async def orders() -> dict[str, list[int]]:
        return {question.text: order async for question, order in asked_of(room)}

    by_index = asyncio.run(orders())
    for question in room.questions:
        by_formula = list(RANKINGS["remem"](room.turns, question))
        assert by_index[question.text] == by_formula
        assert by_formula


def test_more_is_in_the_context_the_more_it_may_cost(tmp_path: Path) -> None:
    room = _room(tmp_path)
    shares = measured([room], RANKINGS["remem"], (40, 400), COUNTER)
    few, many = summary(shares[40]), summary(shares[400])
    assert few["share"] < many["share"] == 1.0
    assert few["tokens"] <= 40
    assert summary(measured([room], RANKINGS["oracle"], (400,), COUNTER)[400])["all"] == 1.0


def test_the_oracle_takes_the_least_that_tells_everything() -> None:
    turns = [
        Turn("long", "s", "## s\n", "ana", "both, and much else besides that nobody asked for"),
        Turn("one", "s", "## s\n", "ana", "one"),
        Turn("two", "s", "## s\n", "ana", "two"),
    ]
    wanted = (frozenset({"long", "one"}), frozenset({"long", "two"}), frozenset({"nowhere"}))
    assert RANKINGS["oracle"](turns, Question("what?", "c", wanted, until=3)) == [1, 2]


def test_a_decision_is_found_in_the_flushed_store_by_its_source(tmp_path: Path) -> None:
    room = _room(tmp_path)
    shares, kept = measured_flushed([room], (500,), COUNTER)
    by_question = {question.text: share.part for question, share in zip(room.questions, shares[500], strict=True)}
    assert by_question["Which cache was chosen?"] == 1.0
    assert by_question["What instrument does Ana's sister play?"] == 0.0
    assert 0 < kept.ratio < 1


def test_the_search_for_weights_ends_no_worse_than_it_began(tmp_path: Path) -> None:
    _room(tmp_path)
    groups = groups_of(data_of(tmp_path / "talk.json"), COUNTER)
    fitting = Fitting(groups, (60,))
    found = fitting.fitted()
    began, ended = (summary(groups[0].shares(weights, (60,))[60]) for weights in (START, found))
    assert ended["share"] + ended["all"] >= began["share"] + began["all"]


def test_the_index_is_asked_by_meaning_when_everything_has_its_vector(tmp_path: Path) -> None:
    """A question in German shares no word with what was said."""
    whole = [("Ana", "The key lies at the door."), *SAID]
    path = _locomo(tmp_path / "talk.json", _qa("Wo liegt Schlüssel, Haustür?", ["D1:1"]), session_1=_talk(whole))
    (room,) = data_of(path).rooms
    embedder = WordEmbedder()
    by_words, by_meaning = (measured_by_index([room], (30,), COUNTER, one)[30] for one in (None, embedder))
    assert [share.part for share in by_words] == [0.0]
    assert [share.part for share in by_meaning] == [1.0]
    assert len({text for call in embedder.calls for text in call}) == len(room.turns) + 1


def test_the_weight_of_meaning_is_chosen_without_the_rooms_that_it_is_measured_on(tmp_path: Path) -> None:
    _room(tmp_path)
    data = data_of(tmp_path / "talk.json")
    (group,) = fused_groups(data, (60, 90), COUNTER, WordEmbedder())
    others = [replace(group, name=name) for name in ("two", "three")]
    told, found = fusion_left_out([group, *others])
    assert set(found.values()) <= set(WEIGHTS)
    assert {budget: len(shares) for budget, shares in told[data.name].items()} == {60: 12, 90: 12}
    assert least_gain([group], 0.0) == 0.0, "it is held against the words alone"
    worse = replace(
        group, name="worse", by_weight={**group.by_weight, WEIGHTS[0]: _nothing(group.by_weight[WEIGHTS[0]])}
    )
    assert least_gain([worse], WEIGHTS[0]) < 0
    told, found = fusion_left_out([group, worse])
    assert found[f"{data.name} without {group.name}"] != WEIGHTS[0]


def _nothing(shares: Shares) -> Shares:
    return {budget: [replace(share, part=0.0) for share in told] for budget, told in shares.items()}


def test_the_bench_prints_a_table_and_writes_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _room(tmp_path)
    told = tmp_path / "told.json"
    arguments = ["--data", str(tmp_path / "talk.json"), "--budgets", "100", "--against", "fts5", "--json", str(told)]
    assert main(arguments) == 0
    assert "flushed" in capsys.readouterr().out
    figures = json.loads(told.read_text("utf-8"))
    assert set(figures["LoCoMo"]) == {"index", "remem", "flushed", "fts5", "kept", "left out of the data"}
    assert figures["LoCoMo"]["index"]["100"]["share"] == figures["LoCoMo"]["remem"]["100"]["share"]
