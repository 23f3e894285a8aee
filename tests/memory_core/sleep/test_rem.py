"""REM: duplicates, contradictions, conflicts, PROVEN, archive, budgets, returns; and what it never does."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from memory_core.candidates import Value
from memory_core.forms.journal import Part
from memory_core.forms.records import Record, parse, render
from memory_core.layouts import ADAPTIVE
from memory_core.sleep.report import Caps, Stage
from memory_core.sleep.sheet import counted_lines
from tests.memory_core.sleep.kit import TODAY, Bed, note, page_of, record
from tests.scale import scale

PHRASINGS = (
    "CI moved to Buildkite",
    "we moved the CI to Buildkite",
    "CI runs on Buildkite now",
    "Buildkite is our CI now",
    "our CI has been migrated to Buildkite",
)


def put(bed: Bed, *records: Record, page: str = "experience") -> None:
    """Those records are the page."""
    bed.put(page, page_of(page.capitalize(), records))


@pytest.mark.asyncio
async def test_case_136_one_fact_is_kept_once_and_a_contradiction_is_no_merge() -> None:
    bed = Bed()
    for text in PHRASINGS:
        await bed.say(f"decision: {text}", text)
        await bed.flush()
        bed.clock.advance(86_400)
    await bed.say("decision: alerts on")
    await bed.flush()
    await bed.say("decision: alerts off")
    await bed.flush()
    report = await bed.sleep()
    buildkite = [one for one in bed.records() if "Buildkite" in one.text or "Buildkite" in one.title]
    assert len(buildkite) == 1
    assert len(buildkite[0].messages) == 5, "one entry with five references"
    assert report.merged + bed.record(buildkite[0].title).hit_count >= 4
    (alerts,) = (one for one in bed.records() if "alerts" in one.title)
    assert alerts.title == "alerts off"
    assert "alerts on" in alerts.supersedes[0]


@pytest.mark.asyncio
async def test_a_merge_keeps_the_fullest_and_every_detail() -> None:
    bed = Bed()
    put(
        bed,
        replace(
            record("CI", 1, body="CI moved to Buildkite", number=1, hits=2), tags=("ci",), extra=("", "| by | hand |")
        ),
        replace(
            record("CI runs on Buildkite now", 30, number=2, hits=1, value=Value.HIGH, by="bo"),
            tags=("agents",),
            supersedes=("[2026-01-01] Jenkins: slow",),
        ),
    )
    report = await bed.sleep()
    assert report.merged == 1
    (kept,) = bed.records()
    assert kept.hit_count == 3
    assert kept.value is Value.HIGH
    assert kept.last_referenced == TODAY - timedelta(days=1)
    assert set(kept.tags) == {"ci", "agents"}
    assert kept.supersedes == ("[2026-01-01] Jenkins: slow",)
    assert "| by | hand |" in kept.extra
    assert set(kept.people) == {"slack:T1:ANA", "slack:T1:BO"}


@pytest.mark.asyncio
async def test_a_fence_that_is_never_closed_swallows_nothing() -> None:
    bed = Bed()
    fenced = replace(record("CI moved to Buildkite", 3, number=3), extra=("```", "x", "```"))
    opened = replace(record("a toad", 2, number=2), extra=("```",))
    put(bed, fenced, opened, record("CI", 1, body="our CI has been migrated to Buildkite, at last", number=1))
    await bed.sleep()
    assert {"a toad", "CI"} <= set(bed.titles())
    assert len({key for one in bed.records() for key in one.messages}) == 3


@pytest.mark.asyncio
async def test_of_records_that_are_equal_to_the_letter_one_stays() -> None:
    bed = Bed()
    put(bed, *(record("a frog in the pond", 1, hits=2, number=1) for _ in range(3)))
    assert (await bed.sleep()).merged == 2
    (kept,) = bed.records()
    assert (kept.hit_count, kept.proven) == (6, True)
    put(bed, record("a toad", 1), record("a toad", 1))
    assert (await bed.sleep()).merged == 1
    assert bed.titles() == ["a toad"], "what does not change is not taken for its copy when the plan is applied again"


def twice(*records: Record) -> list[Record]:
    """Of letter-identical records three, then two."""
    first, second = records
    return [first, second, first, second, first]


@pytest.mark.asyncio
@pytest.mark.parametrize("hits", [0, 1, 2, 6])
@pytest.mark.parametrize("ago", [59, 60, 66, 100, 180, 240])
async def test_of_blocks_that_are_equal_to_the_letter_a_second_run_changes_nothing(hits: int, ago: int) -> None:
    """Three equal blocks and two equal ones of MEDIUM on one page, which say nearly the same: one run does it all."""
    for one, other in (
        (record("CI moved to Buildkite", ago, number=1), record("Buildkite is our CI now", ago, number=2)),
        (record("alerts on for staging", ago, number=1), record("alerts off for staging", ago, number=2)),
        (record("x", ago, number=1), record("y", ago, number=2)),
    ):
        for extra in ((), ("| a | b |",)):
            bed = Bed()
            put(bed, *twice(replace(one, value=Value.LOW, hit_count=hits, extra=extra), other))
            await bed.sleep()
            once = dict(bed.pages())
            report = await bed.sleep()
            assert bed.pages() == once, report.lines
            assert report.nothing


@pytest.mark.asyncio
async def test_equal_blocks_become_one_before_another_record_is_merged_into_one_of_them() -> None:
    bed = Bed()
    twin = replace(record("Buildkite is our CI now", 180, hits=6, value=Value.LOW, number=2), extra=("| a | b |",))
    other = replace(record("CI moved to Buildkite", 240, hits=5, number=3), extra=("| a | b |",), proven=True)
    put(bed, twin, other, twin)
    report = await bed.sleep()
    assert report.merged == 2
    (kept,) = bed.records()
    assert (kept.hit_count, kept.proven) == (17, True)
    assert (await bed.sleep()).nothing, "one of the two was told apart by the next run alone, which marked it then"


@pytest.mark.asyncio
async def test_a_cap_that_leaves_equal_blocks_is_told_and_the_next_runs_go_on() -> None:
    bed = Bed()
    put(bed, *(record("a frog in the pond", 1, number=1) for _ in range(6)))
    before = dict(bed.pages())
    few = Caps(max_changes_share=0.0, min_changes=2)
    report = await bed.sleep(caps=few)
    assert (report.merged, len(bed.records()), len(report.held_back)) == (2, 4, 1)
    await bed.undo()
    assert bed.pages() == before
    assert [(await bed.sleep(caps=few)).merged for _ in range(2)] == [2, 2]
    assert (await bed.sleep(caps=few)).merged == 1
    assert (await bed.sleep(caps=few)).nothing


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Redis over Memcached for sessions", "Memcached over Redis for sessions"),
        ("the timeout is 30 seconds", "the timeout is 60 seconds"),
        ("deploys go out on Monday", "deploys go out on Friday"),
        ("use ruff", "use black"),
        ("Ana owns the release", "Bo owns the release"),
    ],
)
async def test_what_differs_is_not_merged(one: str, other: str) -> None:
    bed = Bed()
    put(bed, record(one, 1, number=1), record(other, 2, number=2))
    assert (await bed.sleep()).nothing


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("newer", "older", "outcome"),
    [
        (record("alerts off", 1, number=1, by="ana"), record("alerts on", 2, number=2, by="ana"), "superseded"),
        (record("alerts off", 1, number=1, by="ana"), record("alerts on", 2, number=2, by="bo"), "conflict"),
        (record("alerts off", 1, number=1, by="ana"), record("alerts on", 15, number=2, by="bo"), "superseded"),
        (record("alerts off", 1, number=1, by="ana"), record("alerts on", 14, number=2, by="bo"), "conflict"),
        (record("alerts off from now on", 1, number=1), record("alerts on", 2, number=2, by="bo"), "superseded"),
        (record("alerts off", 1), record("alerts on", 2, number=2, by="bo"), "superseded"),
    ],
)
async def test_superseded_or_in_conflict(newer: Record, older: Record, outcome: str) -> None:
    """By the same person, two weeks apart, explicit, or nobody's: the newest wins. Else somebody has to decide."""
    bed = Bed()
    put(bed, newer, older)
    report = await bed.sleep()
    found = {one.title: one for one in bed.records()}
    if outcome == "superseded":
        assert (report.superseded, report.conflicts) == (1, 0)
        assert list(found) == [newer.title]
        assert "alerts on" in found[newer.title].supersedes[0]
        assert "~~[" in bed.text("experience")
    else:
        assert (report.superseded, report.conflicts) == (0, 1)
        assert found[newer.title].conflicts == (older.label,)
        assert found[older.title].conflicts == (newer.label,)
    assert (await bed.sleep()).nothing


@pytest.mark.asyncio
async def test_conflicts_are_never_archived_and_end_with_a_later_statement() -> None:
    bed = Bed()
    put(bed, record("alerts off", 1, number=1, by="ana"), record("alerts on", 2, number=2, by="bo"))
    await bed.sleep()
    bed.clock.advance(400 * 86_400)
    report = await bed.sleep()
    assert report.archived == 0
    assert len(bed.records()) == 2
    later = record("alerts off", -400, number=3, by="bo")
    bed.put("experience", bed.text("experience") + "\n" + render(later))
    report = await bed.sleep()
    (left,) = bed.records()
    assert left.conflicts == ()
    assert (report.merged, report.superseded) == (1, 1)


@pytest.mark.asyncio
async def test_a_mark_whose_other_side_is_gone_goes() -> None:
    bed = Bed()
    one = replace(record("alerts off", 1, number=1), conflicts=("[2026-08-30] alerts on", "ask Bo first"))
    put(bed, one)
    await bed.sleep()
    assert bed.records()[0].conflicts == ("ask Bo first",), "a person's own words are kept"


@pytest.mark.asyncio
async def test_proven_at_five_hits() -> None:
    bed = Bed()
    put(bed, record("four", 1, hits=4, number=1), record("five", 1, hits=5, number=2))
    report = await bed.sleep()
    assert report.proven == 1
    assert [one.proven for one in bed.records()] == [False, True]
    assert "## [2026-08-31] [PROVEN] five" in bed.text("experience")


@pytest.mark.asyncio
async def test_what_is_archived_stands_there_with_when_why_and_where_from() -> None:
    bed = Bed()
    put(bed, record("a frog", 66, number=1), record("a toad", 65, number=2))
    report = await bed.sleep()
    assert report.archived == 1
    assert bed.titles() == ["a toad"]
    (kept,) = bed.records("archive/2026-09")
    assert kept.archived == "2026-09-01, score=59, page=experience"
    assert replace(kept, archived="") == record("a frog", 66, number=1)


@pytest.mark.asyncio
async def test_case_132_a_clean_up_moves_little_and_loses_nothing() -> None:
    """148 entries, 40 of them ripe for the archive, PROVEN and HIGH ones among the rest: a tenth leaves, by rule."""
    bed = Bed()
    ripe = [record(f"ripe{number} plum{number}", 100, number=number) for number in range(1, 41)]
    loved = [record(f"loved{n} pear{n}", 150, number=100 + n, hits=9) for n in range(20)]
    high = [record(f"high{n} fig{n}", 150, number=200 + n, value=Value.HIGH) for n in range(20)]
    fresh = [record(f"fresh{n} nut{n}", n % 50, number=300 + n) for n in range(68)]
    page = [*fresh, *ripe, *loved, *high]
    bed.put("project", page_of("Project", page))
    before = bed.pages()
    limit = replace(Caps(), max_changes_share=0.10)
    report = await bed.sleep(caps=limit)
    by_rule = [line for line in report.lines if "(MEDIUM" in line]
    assert len(by_rule) == 14, "a tenth of 148"
    assert any("to be archived (cap" in line for line in report.held_back)
    left = {one.identity for one in bed.records("project")}
    away = {one.identity for one in bed.records("archive/2026-09")}
    assert left | away == {one.identity for one in page}
    assert not left & away
    assert all(one.identity in left for one in loved), "PROVEN leave by their own rule only"
    assert "score=25, page=project" in bed.text("archive/2026-09")
    undone = await bed.undo()
    assert undone.sleep == "rem"
    assert bed.pages() == before


@pytest.mark.asyncio
@pytest.mark.parametrize(("records", "moved"), [(1, 1), (5, 3), (39, 3), (40, 4), (100, 10)])
async def test_the_cap_of_a_run(records: int, moved: int) -> None:
    bed = Bed()
    page = [record(f"plum{n} stone{n}", 100, number=n + 1) for n in range(records)]
    put(bed, *page, page="conventions/fruit")
    report = await bed.sleep(caps=Caps())
    assert sum("(MEDIUM" in line for line in report.lines) == moved


@pytest.mark.asyncio
async def test_case_134_pages_stay_within_their_budgets_for_ninety_days() -> None:
    bed = Bed(now=datetime(2026, 6, 1, 12, tzinfo=UTC))
    own = "# Experience\n\n## How we work here\n\nWritten by a person,\nover some lines.\n\n- and a list\n"
    bed.put("experience", own)
    number = 0
    seconds: list[float] = []
    days = 90 if scale(20) == 20 else 28
    for day in range(days):
        today = date(2026, 6, 1) + timedelta(days=day)
        notes = []
        for _ in range(20):
            number += 1
            notes.append(note(f"we keep item{number} in drawer{number * 7}", number))
        bed.note(today.isoformat(), *notes)
        bed.clock.advance(86_400 - 120)
        if day % 3 == 2:
            assert not (await bed.sleep(Stage.DEEP)).problem
        if day % 7 == 6:
            began = time.perf_counter()
            report = await bed.sleep(Stage.REM, Caps())
            seconds.append(time.perf_counter() - began)
            assert report.over_budget == ()
            assert counted_lines(bed.text("experience")) <= 200
    text = bed.text("experience")
    assert own.removeprefix("# Experience\n\n").strip() in text
    kept = {one.body for one in bed.records()}
    for month in ("06", "07", "08")[: 1 + days // 31]:
        kept |= {one.body for one in bed.records(f"archive/2026-{month}")}
    assert {f"we keep item{n} in drawer{n * 7}" for n in range(1, 20 * (days // 3 * 3) + 1)} <= kept
    journals = [file for file in bed.stores.files if "journal" in str(file)]
    assert len(journals) <= 17
    sys.stdout.write(f"\n{days} days: REM first {seconds[0]:.2f} s, last {seconds[-1]:.2f} s\n")


@pytest.mark.asyncio
async def test_a_budget_gives_up_the_lowest_scores_and_says_what_it_cannot() -> None:
    bed = Bed()
    page = [record(f"plum{n} stone{n}", n % 30, number=n + 1) for n in range(45)]
    loved = [record(f"loved{n} pear{n}", 1, number=100 + n, hits=5) for n in range(10)]
    put(bed, *page, *loved)
    report = await bed.sleep()
    assert counted_lines(bed.text("experience")) <= 200
    gone = parse(bed.text("archive/2026-09")).records
    scores = [int(placed.record.archived.split("score=")[1].split(",")[0]) for placed in gone]
    assert max(scores) <= 125 - 20
    assert not any(placed.record.title.startswith("loved") for placed in gone)
    assert report.over_budget == ()
    put(bed, *[record(f"plum{n} stone{n}", 1, hits=5, number=n + 1) for n in range(60)])
    report = await bed.sleep()
    assert report.over_budget[0].startswith("experience: ")


@pytest.mark.asyncio
async def test_what_is_unresolved_counts_against_the_budget_of_a_channel_context() -> None:
    bed = Bed(ADAPTIVE)
    page = "".join(f"#{render(record(f'plum{n} stone{n}', n, number=n + 1))}\n" for n in range(30))
    tasks = "".join(f"- **peel pear {n}**: @ana <!-- slack:T1:C9:{n}.1 -->\n" for n in range(12))
    text = f"# build\n\n## Current Topics\n\n## Recent Decisions\n\n{page}\n## Unresolved\n\n{tasks}"
    bed.put("channel_context", text)
    assert len(text.splitlines()) > 100
    report = await bed.sleep()
    assert report.archived > 0
    assert len(bed.text("channel_context").splitlines()) <= 100
    assert tasks in bed.text("channel_context")
    assert report.over_budget == ()


@pytest.mark.asyncio
async def test_struck_lines_leave_before_records() -> None:
    bed = Bed()
    struck = "".join(f"~~[2026-01-{1 + n % 28:02}] old {n}: x~~\n\n" for n in range(120))
    bed.put("experience", page_of("Experience", [record("a frog", 1, number=1)]) + "\n" + struck)
    report = await bed.sleep()
    assert report.archived == 0
    assert counted_lines(bed.text("experience")) <= 200
    everything = bed.text("experience") + bed.text("archive/2026-09")
    assert all(f"old {n}: x~~" in everything for n in range(120))


@pytest.mark.asyncio
async def test_an_archived_record_that_is_used_comes_back() -> None:
    bed = Bed()
    put(bed, record("a frog in the pond", 70, number=1))
    await bed.sleep()
    assert bed.titles() == []
    bed.clock.advance(86_400)
    await bed.use("a frog in the pond", "archive/2026-09")
    await bed.say("chatter")
    await bed.flush()
    assert bed.records("archive/2026-09")[0].hit_count == 1
    bed.clock.advance(60)
    report = await bed.sleep()
    assert report.returned == 1
    (back,) = bed.records()
    assert (back.title, back.archived, back.hit_count) == ("a frog in the pond", "", 1)
    assert bed.records("archive/2026-09") == []
    assert (await bed.sleep()).nothing


@pytest.mark.asyncio
async def test_an_archived_record_that_is_said_again_comes_back_into_the_new_one() -> None:
    bed = Bed()
    put(bed, record("Redis for the session cache", 90, number=1, hits=2))
    await bed.sleep()
    put(bed, record("Redis for the session cache", 0, number=2))
    report = await bed.sleep()
    assert (report.returned, report.merged) == (1, 1)
    (back,) = bed.records()
    assert back.hit_count == 2
    assert len(back.messages) == 2
    assert bed.records("archive/2026-09") == []


@pytest.mark.asyncio
async def test_a_persons_own_sections_are_never_touched() -> None:
    own = (
        "\ufeff# Experience\r\n\r\n## Notes\r\n\r\nalerts on\r\n\r\n## Notes\r\n\r\nalerts on\r\n\r\n"
        "| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n\r\n- [2020-01-01] Decision: old → Context: by hand\r\n"
    )
    bed = Bed()
    bed.put("experience", own)
    assert (await bed.sleep()).nothing
    assert bed.text("experience") == own


@pytest.mark.asyncio
async def test_case_145_identical_output_is_not_written_again_and_stuck_upkeep_warns() -> None:
    bed = Bed()
    bed.note("2026-08-31", note("Redis for the cache", 1))
    await bed.sleep(Stage.DEEP)
    await bed.sleep()
    stamps = {
        file: mtime for file, (_, mtime) in bed.stores.files.items() if not str(file).endswith("heartbeat-state.json")
    }
    for night in range(10):
        report = await bed.sleep(Stage.DEEP)
        assert report.nothing, night
        assert (await bed.sleep()).nothing
        assert not any("warning" in line for line in report.lines), "no new notes: nothing is stuck"
    assert stamps == {
        file: mtime for file, (_, mtime) in bed.stores.files.items() if not str(file).endswith("heartbeat-state.json")
    }
    told = []
    for night in range(4):
        bed.note("2026-08-31", note(f"https://example.org/{night}", 10 + night, part=Part.ANCHORS))
        told.append(any("warning" in line for line in (await bed.sleep(Stage.DEEP)).lines))
    assert told == [False] * 4, "a room may have links and tasks alone"
    told = []
    for night in range(4):
        bed.note("2026-08-31", note(f"score=0.5{night} recalls=0", 20 + night, part=Part.LEARNED))
        told.append(any("warning" in line for line in (await bed.sleep(Stage.DEEP)).lines))
    assert told == [False, False, True, True]
    bed.note("2026-08-31", note("Kafka for events", 50))
    assert not any("warning" in line for line in (await bed.sleep(Stage.DEEP)).lines)


@pytest.mark.asyncio
async def test_a_dry_run_tells_and_writes_nothing() -> None:
    bed = Bed()
    put(bed, record("a frog", 66, number=1))
    before = dict(bed.stores.files)
    report = await bed.sleep(dry_run=True)
    assert report.dry_run
    assert report.archived == 1
    assert bed.stores.files == before


@pytest.mark.asyncio
async def test_undo_keeps_what_a_person_wrote_since() -> None:
    bed = Bed()
    put(bed, record("a frog", 66, number=1), record("a toad", 1, number=2))
    before = bed.text("experience")
    await bed.sleep()
    bed.put("experience", bed.text("experience") + "\nBy hand, later.\n")
    await bed.undo()
    assert bed.text("experience") == before + "\nBy hand, later.\n"
    assert bed.text("archive/2026-09") == ""


@pytest.mark.asyncio
async def test_a_page_with_bytes_that_are_no_text_is_left_alone() -> None:
    bed = Bed()
    raw = page_of("Experience", [record("a frog", 66, number=1)]).encode() + b"\xff\n"
    bed.stores.put(bed.scope, "experience", raw)  # type: ignore[arg-type]
    assert (await bed.sleep()).nothing
    assert bed.stores.raw(bed.scope, "experience") == raw  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_what_is_asked_about_every_25_days_outlives_a_busy_rooms_budget_till_it_is_proven() -> None:
    """Twenty new records a week that nobody asks about, and one record with a question every 25 days."""
    bed = Bed()
    asked = record("the canary sings in the cellar", 0, number=1)
    put(bed, asked)
    days: dict[int, bool] = {}
    for day in range(1, 107):
        bed.clock.advance(86_400)
        await bed.say(*(f"decision: shelf{day}x{n} keeps plum{day}x{n} and fig{day}x{n}" for n in range(3)))
        if day % 25 == 3:
            await bed.use("the canary sings in the cellar", "experience")
        await bed.flush()
        if day % 7 == 0:
            await bed.sleep()
            days[day] = "the canary sings in the cellar" in bed.titles()
            assert counted_lines(bed.text("experience")) <= 200
    assert all(days.values()), days
    assert bed.record("the canary sings in the cellar").proven
