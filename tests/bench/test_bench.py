"""The benches' own arithmetic, each on something small; what they measure is measured elsewhere."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memory_core.tokens import load_counter
from tests.bench import coldstart, cost, forget, isolation, latency, peers, replay, route
from tests.bench.__main__ import BENCHES, WITH_OPTIONS, main
from tests.bench.figures import at, ratio
from tests.bench.memories import Group
from tests.bench.recall_data import Question, Room, Turn, rooms
from tests.bench.rooms_on_disk import Unsynced, lay_down, opened_on, said_at
from tests.scale import scale

DAY, NEXT = "## 2026-03-02 10:00\n", "## 2026-03-03 11:30\n"
TURNS = (
    Turn("D1:1", "1", DAY, "Ana Lin", "the cache of the shop runs on redis since monday and nobody complained"),
    Turn("D1:2", "1", DAY, "Bo", "nice, and the shop is quick again, the shop feels like new"),
    Turn("D2:1", "2", NEXT, "Ana Lin", "which shop do you mean, the shop in town or the shop online, the shop app?"),
    Turn("D2:2", "2", NEXT, "Bo", "the shop, the shop, always the shop"),
)


def data_file(folder: Path, conversations: int = 2) -> Path:
    """A file in LoCoMo's form, with a question for each conversation."""
    found = []
    for number in range(conversations):
        said = [
            ("Ana Lin", f"the machine number {number} stands in the cellar of house {number}"),
            ("Bo", f"then I will carry the crate of plums {number} down there tonight"),
            ("Ana Lin", f"mind the loose step number {number}, it broke on the way to storey {number}"),
        ]
        turns = [{"speaker": who, "dia_id": f"D1:{at}", "text": text} for at, (who, text) in enumerate(said, 1)]
        found.append(
            {
                "conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"},
                "qa": [{"question": "where does the machine stand?", "category": 4, "evidence": ["D1:1"]}],
            }
        )
    path = folder / "talks.json"
    path.write_text(json.dumps(found), "utf-8")
    return path


def test_percentiles_and_ratios() -> None:
    assert [at([3, 1, 2, 4], share) for share in (0, 0.5, 0.95, 1)] == [1, 3, 4, 4]
    assert at([], 0.5) == 0
    assert (ratio(3, 2), ratio(3, 0)) == (1.5, 0)


def test_strict_takes_the_page_of_the_best_part_and_the_reference_the_fullest_file() -> None:
    question = Question("what runs on redis in the shop?", "one", (frozenset({"D1:1"}),), len(TURNS))
    told = route.measured([Room("r", TURNS, (question,))], [1000], load_counter())
    assert {way: by_budget[1000] for way, by_budget in told.items()} == {
        "best file": 1.0, "strict": 1.0, "excerpts": 1.0, "oracle": 1.0,
    }  # fmt: skip
    far = replace(question, wanted=(frozenset({"D1:1"}), frozenset({"D2:2"})))
    told = route.measured([Room("r", TURNS, (far,))], [1000], load_counter())
    assert told["strict"][1000] == told["oracle"][1000] == 0.5
    assert told["excerpts"][1000] == 1.0


def test_a_question_that_no_word_answers_has_no_page() -> None:
    question = Question("xyzzy?", "one", (frozenset({"D1:1"}),), len(TURNS))
    asked = route.orders(TURNS, question)
    assert asked.orders["strict"] == asked.orders["excerpts"] == []


def test_the_whole_history_counts_every_heading_once() -> None:
    counter = load_counter()
    text = DAY + TURNS[0].line + TURNS[1].line + NEXT + TURNS[2].line + TURNS[3].line
    assert cost.whole(counter, TURNS) == counter.count(text)


def test_a_message_over_the_budget_is_counted() -> None:
    row = cost.Row("d", "w, first")
    row.add(900, 900, 10_000, 1000)
    row.add(200, 1001, 10_000, 1000)
    assert (row.over, row.highest, row.share) == (1, 1001, 1100 / 20_000)
    pooled, first = cost.pooled([row, row])
    assert (pooled.over, len(pooled.tokens), pooled.share) == (2, 4, row.share)
    assert (first.over, len(first.tokens), first.share) == (2, 4, row.share)


def test_cost_over_a_small_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "quiet", lambda: None)
    figures = tmp_path / "f.json"
    assert cost.main(["--data", str(data_file(tmp_path)), "--budget", "600", "--json", str(figures)]) == 0
    told = json.loads(figures.read_text("utf-8"))
    assert {row["messages"] for row in told["rows"][:-1]} == {2}
    assert told["rows"][-1]["messages"] == 8
    assert all(0 < row["highest"] <= 600 for row in told["rows"])


def test_turns_are_a_minute_apart_and_never_go_back() -> None:
    moments = said_at(TURNS)
    assert [f"{moment:%m-%d %H:%M}" for moment in moments] == [
        "03-02 10:00",
        "03-02 10:01",
        "03-03 11:30",
        "03-03 11:31",
    ]
    again = said_at([TURNS[2], TURNS[0]])
    assert again[1] > again[0]


def test_a_line_is_foreign_by_its_mark_or_by_six_words() -> None:
    judge = isolation.Judge()
    judge.hear("a", "the quick brown fox jumps over the dog")
    judge.hear("b", "a slow grey hen walks under the hedge, and on")
    judge.hear("b", "good morning")
    mine = isolation.mark_of(1)
    for text in (
        f"- {isolation.mark_of(2)} hello",
        "> slow grey hen walks under the bridge",
        "Good morning!",
        f"fine\n{mine} a slow grey hen walks under",
    ):
        assert len(judge.foreign(text, "a", mine)) == 1, text
    for text in (f"{mine} the quick brown fox jumps over", "slow grey hen walks under", "", "morning"):
        assert not judge.foreign(text, "a", mine), text


@pytest.mark.asyncio
async def test_probes_from_wrong_scopes_find_nothing_and_swapped_ones_would(tmp_path: Path) -> None:
    _, found = rooms(data_file(tmp_path, 3))
    judge, memories = isolation.Judge(), list[isolation.Memory]()
    async with opened_on(tmp_path / "w", durable=False) as (app, clock):
        for number, room in enumerate(found):
            for turn in room.turns:
                judge.hear(room.name, turn.text)
            for direct in (False, True):
                mark = isolation.mark_of(2 * number + direct)
                laid = await lay_down(
                    app, clock, room, direct=direct, pages=True, said=isolation.marked(mark)
                )  # fmt: skip
                memories.append(isolation.Memory(laid, mark))
        prober = isolation.Prober(app, judge, memories)
        for _ in range(scale(1000)):
            await prober.probe()
            await prober.control()
        tally = prober.tally
        assert not tally.foreign, tally.shown
        assert tally.controls_found == tally.controls
        assert tally.lines.total() > 0
        # The fault: everybody asks the memory of the next one.
        swapped = [
            isolation.Memory(replace(one.laid, scope=other.laid.scope), one.mark)
            for one, other in zip(memories, [*memories[1:], memories[0]], strict=True)
        ]
        prober = isolation.Prober(app, judge, swapped)
        for _ in range(30):
            await prober.probe()
        assert prober.tally.foreign.total() > 0


def test_planted_words_are_found_in_any_file_and_in_any_case(tmp_path: Path) -> None:
    one, two, three = forget.planted_words(3)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / ".hidden").write_bytes(b"\x00" + one.upper().encode() + b"\xff")
    database = sqlite3.connect(tmp_path / "x.db")
    database.execute("CREATE TABLE t (v TEXT)")
    database.execute("INSERT INTO t VALUES (?)", (f"about {two} here",))
    database.commit()
    database.close()
    assert forget.words_in(forget.files_under(tmp_path)) == {one, two}
    assert three not in {one, two}


def test_what_is_forgotten_is_gone_and_what_stays_is_found() -> None:
    figures = asyncio.run(forget.measured(scale(1000)))
    assert forget.left(figures) == 0
    for column in ("found before", "found after", "in files at last"):
        assert figures[column]["stays"] == figures["planted"]["stays"], column
    assert all(figures["planted"][way] > 0 for way in forget.WAYS)
    assert figures["found before"]["deleted"] > 0
    left = forget.left({"found after": Counter(edited=1), "in files at last": Counter({"by hand": 2, "stays": 9})})
    assert left == 3


def test_latency_of_a_small_workspace() -> None:
    figures, laid = asyncio.run(latency.one_size(2, 16, 2))
    assert set(figures) == {"woken", "floor", "built", *latency.KINDS}
    assert [len(group.texts) >= 16 for group in laid] == [True, True]
    assert latency.told({"100x100": figures | {"first": {"p50": 3.0}, "floor": {"p50": 2.0}}})[
        "first: p50 against the floor, 100x100"
    ] == pytest.approx(1.5)
    kinds = ("floor", *latency.KINDS)
    few, many = {kind: {"p95": 2.0} for kind in kinds}, {kind: {"p95": 3.0} for kind in kinds}
    assert set(latency.told({"10x100": few, "1000x100": many}).values()) == {1.5}


def test_import_times_are_summed_by_library() -> None:
    told = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       100 |        100 |   json.decoder\n"
        "import time:        50 |        150 | json\n"
        "import time:      3000 |       4000 | rich.console\n"
        "import time:      1000 |       1000 |   bot.cli\n"
    )
    assert coldstart.by_library(told) == pytest.approx({"rich": 0.003, "remem": 0.001, "Python's own": 0.00015})


def test_the_modules_of_others_are_those_that_the_command_imported(tmp_path: Path) -> None:
    modules = coldstart.libraries("import colorsys, memory_core.ids", tmp_path)
    assert "colorsys" in modules
    assert not [name for name in modules if name.startswith("memory_core")]


def small_export(path: Path) -> Path:
    """Two days of one channel."""
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("channels.json", json.dumps([{"id": "C1", "name": "build"}]))
        made.writestr("users.json", json.dumps([{"id": "U1", "name": "ana", "team_id": "T1"}]))
        for day in (1, 2):
            times = [f"{1_700_000_000 + 86_400 * day + at}.000100" for at in range(3)]
            said = [{"type": "message", "user": "U1", "ts": at, "text": f"hello {at}"} for at in times]
            made.writestr(f"build/2023-11-1{4 + day}.json", json.dumps(said))
    return path


def test_replay_and_its_floor_keep_the_same_messages(tmp_path: Path) -> None:
    export = small_export(tmp_path / "e.zip")
    told = replay.measured(export, 0)
    assert {way: row["messages"] for way, row in told.items()} == {
        "bare": 6, "group commit": 6, "remem": 6, "without sleep": 6,
    }  # fmt: skip
    assert all(replay.speed(row) > 0 for row in told.values())
    assert len(list(replay.messages_in(replay.first_days(export, tmp_path / "f.zip", 1)))) == 3


class Remembers:
    """A peer that only keeps a list."""

    def __init__(self, folder: Path) -> None:
        self.held: dict[str, list[str]] = {}

    async def add(self, group: str, texts: object) -> None:
        """Keep them."""
        assert isinstance(texts, list)
        self.held[group] = texts

    async def search(self, group: str, words: str) -> int:
        """All of them."""
        return len(self.held[group])


class Refuses:
    """A peer that cannot be set up."""

    def __init__(self, folder: Path) -> None:
        raise OSError("no model here")


def test_peers_that_are_missing_or_refuse_are_skipped_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PEERS", {"json": Remembers, "csv": Refuses, "no_such_peer": Remembers})
    told = peers.beside([Group("g", (("p", "something that was said"),))], 3)
    assert told["csv"] == "skipped: OSError: no model here"
    assert told["no_such_peer"] == "skipped: no_such_peer is not installed"
    measured = told["json"]
    assert isinstance(measured, dict)
    assert set(measured) == {"p50", "p95", "add"}
    assert len(peers.shown(told).rows) == 3


def test_questions_are_made_of_words_that_stand_there() -> None:
    group = Group("g", (("p", "the database of billing moved to Hetzner"),))
    assert {"database", "billing", "moved", "Hetzner"} & set(group.question(Random(1)).rstrip("?").split())


def test_every_bench_is_listed_and_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-bench"]) == 2
    told = capsys.readouterr().out
    documented = (Path(__file__).parents[2] / "docs/reference/benchmarks.md").read_text("utf-8")
    for name in (*BENCHES, *WITH_OPTIONS):
        assert name in told
        assert f"python -m tests.bench {name}" in documented


def test_laying_down_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        Unsynced().sync(file.fileno())
        Unsynced().sync_folder(file.fileno())
