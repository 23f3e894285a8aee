"""Facts of the environment beyond a board's budget: they go where the layout keeps tools, and none vanishes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_core.flush.engine import resume
from memory_core.flush.fact_budget import AT_ONCE
from memory_core.forms import facts
from memory_core.forms.board import board
from memory_core.forms.facts import Stated, stated
from memory_core.forms.records import Record, Source, parse, render
from memory_core.gate import open_index
from memory_core.ids import DirectScope, MessageKey, PersonKey, Scope
from memory_core.layouts import Form
from memory_core.sleep.report import Stage
from tests.memory_core.flush_kit import GROUP, Stop
from tests.memory_core.sleep.kit import Bed
from tests.scale import scale

DM = DirectScope(PersonKey("slack:T1:ANA"), owner=True)
HOMES = [(GROUP, "conventions/tools"), (DM, "longterm")]
KEY = MessageKey("slack:T1:C9:1.000100")


def fact(number: int, value: object = 0) -> str:
    """A statement; the key is `shelf <number>`."""
    return f"environment: shelf {number} is 10.0.{number}.{value}"


def on_board(bed: Bed) -> dict[str, str]:
    """The facts of the board that somebody stated: keys and values."""
    snapshot = board(Form.ATTENTION).parse(bed.text("attention")).snapshot
    return {facts.comparable(key): said.value for key, value in snapshot if (said := stated(value))}


def at(bed: Bed, *pages: str) -> dict[str, list[str]]:
    """The facts that are records of those pages: keys, and their values."""
    found: dict[str, list[str]] = {}
    for page in pages:
        for record in bed.records(page):
            if key := facts.key_of(record):
                found.setdefault(key, []).append(facts.value_of(record))
    return found


def archives(bed: Bed) -> list[str]:
    return [file.removesuffix(".md").rpartition("/")[2] for file in bed.pages() if "/archive/" in file]


async def said_over_days(bed: Bed, days: int, a_day: int = 4, first: int = 0) -> int:
    """So many facts, each of its own key, numbered from `first` on; how many."""
    for day in range(days):
        await bed.say(*(fact(first + day * a_day + one) for one in range(a_day)))
        await bed.flush()
        bed.clock.advance(86_400)
    return days * a_day


@pytest.mark.asyncio
@pytest.mark.parametrize(("scope", "home"), HOMES, ids=["group", "dm"])
async def test_facts_hold_the_budget_and_every_one_is_found(scope: Scope, home: str) -> None:
    bed = Bed(scope=scope)
    count = await said_over_days(bed, 30)
    lines, budget = len(bed.text("attention").splitlines()), 60
    shown, away = on_board(bed), at(bed, home)
    print(f"{home}: {count} facts, {len(shown)} on the board ({lines} lines), {len(away)} moved")  # noqa: T201
    assert lines <= budget
    assert set(shown) | set(away) == {f"shelf {one}" for one in range(count)}
    assert not set(shown) & set(away)
    assert f"shelf {count - 1}" in shown
    assert "shelf 0" not in shown
    moved = bed.record("shelf 0", home)
    assert (moved.body, moved.day, moved.sources[0].name) == ("shelf 0: 10.0.0.0", date(2026, 9, 1), "ana")
    assert moved.messages == (MessageKey("slack:T1:C9:17124.000001"),)
    index = await open_index(bed.handle)
    assert index is not None
    assert (await index.search("where is shelf 0, 10.0.0.0?"))[0].text == "shelf 0: 10.0.0.0"


@pytest.mark.asyncio
async def test_tasks_keep_their_third_and_facts_their_share() -> None:
    bed = Bed()
    for number in range(90):
        await bed.say(fact(number), f"task: order part {number} from shelf {number}")
        if number % 9 == 8:
            await bed.flush()
            bed.clock.advance(86_400)
    page = board(Form.ATTENTION).parse(bed.text("attention"))
    lines = len(bed.text("attention").splitlines())
    print(f"{len(page.tasks)} tasks, {len(on_board(bed))} facts, {lines} lines")  # noqa: T201
    assert lines <= 60
    assert len(page.tasks) >= 20
    assert len(on_board(bed)) >= 10


@pytest.mark.asyncio
async def test_another_value_is_on_the_board_and_the_record_leaves_a_struck_line() -> None:
    bed = Bed()
    await said_over_days(bed, 20)
    assert at(bed, "conventions/tools")["shelf 1"] == ["10.0.1.0"]
    await bed.say(fact(1, 99))
    await bed.flush()
    assert on_board(bed)["shelf 1"] == "10.0.1.99"
    assert "shelf 1" not in at(bed, "conventions/tools")
    assert "~~[2026-09-01] shelf 1: 10.0.1.0~~" in bed.text("conventions/tools")
    await bed.undo()
    assert at(bed, "conventions/tools")["shelf 1"] == ["10.0.1.0"]


@pytest.mark.asyncio
async def test_what_is_said_again_stays_or_is_a_use_of_the_record() -> None:
    bed = Bed()
    await bed.say(fact(0))
    await said_over_days(bed, 9)
    await bed.say(fact(0), by="bo")
    await bed.flush()
    line = next(one for one in bed.text("attention").splitlines() if one.startswith("- shelf 0:"))
    assert "(@ana, 2026-09-01; again 2026-09-10) <!-- slack:T1:C9:17124.000001 slack:" in line
    await said_over_days(bed, 6, 4, first=100)
    assert "shelf 0" in on_board(bed), "said again later than most others"
    gone = next(iter(at(bed, "conventions/tools")))
    hits = bed.record(gone, "conventions/tools").hit_count
    for _ in range(2):
        await bed.say(f"environment: {gone} is {at(bed, 'conventions/tools')[gone][0]}", by="bo")
    receipt = await bed.flush()
    assert not receipt.kinds, "no news"
    record = bed.record(gone, "conventions/tools")
    assert (record.hit_count, record.last_referenced) == (hits + 1, bed.clock.now().date())
    assert gone not in on_board(bed)


@pytest.mark.asyncio
async def test_a_persons_own_lines_and_rewritten_ones_stay() -> None:
    bed = Bed()
    await said_over_days(bed, 2)
    text = bed.text("attention")
    bed.put("attention", text.replace("- shelf 0: 10.0.0.0 (@ana, 2026-09-01)", "- shelf 0: see the wiki")
            + "- my own: line\n- shelf 1: twice\n")  # fmt: skip
    for number in range(20, 100):
        await bed.say(fact(number))
    await bed.flush()
    await bed.say("decision: the shelf is high")
    await bed.flush()
    text = bed.text("attention")
    assert "- shelf 0: see the wiki" in text
    assert "- my own: line" in text
    assert "- shelf 1: 10.0.1.0 (@ana, 2026-09-01)" in text, "of two lines with one key nobody can tell"
    assert len(text.splitlines()) <= 60
    assert len(at(bed, "conventions/tools")) > AT_ONCE


@pytest.mark.asyncio
async def test_undo_restores_board_and_home_to_the_byte() -> None:
    bed = Bed()
    count = await said_over_days(bed, 14)
    before = dict(bed.pages())
    await bed.say(*(fact(count + one) for one in range(5)))
    await bed.flush()
    assert bed.pages() != before
    await bed.undo()
    assert {page: text for page, text in bed.pages().items() if "journal/" not in page} == {
        page: text for page, text in before.items() if "journal/" not in page
    }


@pytest.mark.asyncio
@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_step_of_the_move_ends_like_none(after: bool) -> None:
    async def lived(crash: int) -> tuple[Bed, int]:
        bed = Bed()
        count = await said_over_days(bed, 13)
        await bed.say(*(fact(count + one) for one in range(4)), fact(0, 7))
        bed.faults.at, bed.faults.after, bed.faults.calls = crash, after, 0
        try:
            await bed.flush()
        except Stop:
            bed.handle = bed.open()
            await resume(bed.handle)
            bed.clock.advance(-60)
            await bed.flush()
        return bed, bed.faults.calls

    whole, steps = await lived(0)
    assert len(at(whole, "conventions/tools")) > 1
    for crash in range(1, steps + 1):
        crashed, _ = await lived(crash)
        assert crashed.pages() == whole.pages(), f"crash at step {crash}"


@pytest.mark.asyncio
async def test_a_deleted_message_takes_its_fact_along_wherever_it_is() -> None:
    bed = Bed()
    (key,) = await bed.say(fact(0))
    await said_over_days(bed, 1, 1)
    for number in range(1, 70):
        await bed.say(fact(number))
    await bed.flush()
    assert "shelf 0" in at(bed, "conventions/tools") or "shelf 0" in on_board(bed)
    await bed.delete(key)
    await bed.flush()
    assert key not in "".join(text.decode() for text in bed.pages().values())


VALUES = st.tuples(st.integers(0, 25), st.integers(0, 2))
DAYS = st.lists(
    st.tuples(
        st.lists(VALUES, max_size=14), st.sampled_from([1, 1, 3, 40]), st.sampled_from(["", "", "undo", "rem"])
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=scale(400), deadline=None)
@example([([(n, 0) for n in range(26)], 1, ""), ([(n, 1) for n in range(14)], 70, "rem"), ([(0, 0)], 1, "rem")])
@example([([(n, 0) for n in range(26)], 70, "rem"), ([(n, 1) for n in range(26)], 1, "rem")])
@given(DAYS)
@pytest.mark.asyncio
async def test_no_fact_vanishes_and_the_newest_value_holds(
    days: Sequence[tuple[list[tuple[int, int]], int, str]],
) -> None:
    """Each key's last value is on the board, at its home or in the archive; another value stands nowhere as valid."""
    bed = Bed()
    bed.put("attention", bed.text("attention") + "".join(f"line {one}\n" for one in range(30)))
    known: dict[str, str] = {}
    for said, ago, then in days:
        kept = dict(known)
        for number, last in said:
            await bed.say(fact(number, last))
            known[f"shelf {number}"] = f"10.0.{number}.{last}"
        receipt = await bed.flush()
        if then == "undo" and receipt.written:
            await bed.undo()
            known = kept
        bed.clock.advance(86_400 * ago)
        if then == "rem":
            await bed.sleep(Stage.REM)
        shown, home = on_board(bed), at(bed, "conventions/tools")
        away = at(bed, *(f"archive/{month}" for month in archives(bed)))
        for key, value in known.items():
            assert value in (shown.get(key), *home.get(key, ()), *away.get(key, ())), (key, value)
            assert shown.get(key, value) == value
            assert set(home.get(key, [value])) == {value}
            if then == "rem":
                assert set(away.get(key, [value])) == {value}, "what is outdated in the archive is struck"


@settings(max_examples=scale(2000), deadline=None)
@given(
    st.text(min_size=1, max_size=30),
    st.text(min_size=1, max_size=60),
    st.sampled_from(["ana", "Ana in Oslo", "a, b"]),
    st.dates(date(2026, 1, 1), date(2026, 12, 31)),
    st.integers(0, 40),
)
def test_a_fact_reads_as_it_was_written(key: str, value: str, name: str, day: date, later: int) -> None:
    """On the board and as a record."""
    said = Stated("".join(value.split()) or "x", name, day, date.fromordinal(day.toordinal() + later))
    assert stated(str(said)) == said
    text = board(Form.ATTENTION).with_fact("", key, str(said), [KEY])
    for named, told in board(Form.ATTENTION).parse(text).snapshot:
        if (one := stated(told)) is None:
            continue
        record = facts.record_of(named, one, "build", [KEY])
        again = parse(render(record)).records[0].record
        assert again == record
        assert facts.key_of(again) in ("", facts.comparable(named))


def test_a_source_without_a_persons_id_reads_back_and_hand_written_ones_stay() -> None:
    source = Source("", "ana", "#build", "2026-04-06", (KEY,))
    record = Record(date(2026, 4, 6), "x", "x: y", sources=(source,))
    assert str(source) == f"@ana in #build, 2026-04-06, {KEY}"
    assert parse(render(record)).records[0].record == record
    for text in (f"@ana (somebody) in build, 2026-04-06, {KEY}", "@ana in build, 2026-04-06, the wiki", "@ana"):
        page = f"## [2026-04-06] x\n- Source: {text}\n- Body: y\n"
        (found,) = parse(page).records
        assert str(found.record.sources[0]) == text
