"""Deep sleep: what of the journals becomes a record, what never does, and when a journal moves to the archive."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_core.candidates import Value
from memory_core.forms import journal
from memory_core.forms.journal import Part
from memory_core.ids import DirectScope, PersonKey
from memory_core.layouts import ADAPTIVE, DREAMING
from memory_core.sleep.report import Caps, Stage
from memory_core.sleep.sheet import counted_lines
from tests.memory_core.sleep.kit import TODAY, Bed, note, page_of, record

DEEP = Stage.DEEP
LEARNED, TASKS, ANCHORS, RAW, BLOCKERS = Part.LEARNED, Part.TASKS, Part.ANCHORS, Part.RAW, Part.BLOCKERS


@pytest.mark.asyncio
@pytest.mark.parametrize("copies", [1, 2, 9])
async def test_a_use_of_a_block_that_was_copied_counts_once(copies: int) -> None:
    """A block without a message is known by its day, until the first use gives it one: then a copy is known by it."""
    bed = Bed()
    bed.put("experience", page_of("Experience", [record("CI moved to Buildkite", 3) for _ in range(copies)]))
    bed.note("2026-08-31", note("CI moved to Buildkite", 1))
    before = dict(bed.pages())
    report = await bed.sleep(Stage.DEEP)
    assert not report.problem, "it was applied again and again, to one copy after the other"
    assert [one.hit_count for one in bed.records()] == [1, *[0] * (copies - 1)]
    await bed.undo()
    assert bed.pages() == before


@pytest.mark.asyncio
@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_decision_has_lasting_value_the_first_time(by_hand: bool) -> None:
    bed = Bed()
    if by_hand:
        bed.put("journal/2026-08-31", "# My day\r\n\r\n## Decisions\r\n- no deploys on Fridays\r\n")
    else:
        bed.note("2026-08-31", note("no deploys on Fridays", 1))
    before = bed.text("journal/2026-08-31")
    report = await bed.sleep(DEEP)
    assert (report.promoted, report.absorbed) == (1, 0 if by_hand else 1)
    (kept,) = bed.records()
    assert (kept.title, kept.day, kept.hit_count) == ("no deploys on Fridays", date(2026, 8, 31), 0)
    if by_hand:
        assert str(kept.sources[0]) == "journal 2026-08-31"
        assert bed.text("journal/2026-08-31") == before, "a person's own lines are never rewritten"
    else:
        assert kept.messages == ("slack:T1:C9:1.000100",)
        assert kept.people == ("slack:T1:ANA",)
    again = await bed.sleep(DEEP)
    assert again.nothing
    assert len(bed.records()) == 1


@pytest.mark.asyncio
async def test_a_tool_is_promoted_once_it_recurs() -> None:
    bed = Bed()
    bed.note("2026-08-30", note("use ruff for linting", 1, part=LEARNED))
    assert (await bed.sleep(DEEP)).nothing
    bed.note("2026-08-31", note("use ruff for linting", 2, part=LEARNED, by="bo"))
    report = await bed.sleep(DEEP)
    assert (report.promoted, report.absorbed) == (1, 2)
    (kept,) = bed.records()
    assert kept.hit_count == 1
    assert kept.last_referenced == date(2026, 8, 31)
    assert kept.day == date(2026, 8, 30)
    assert kept.messages == ("slack:T1:C9:1.000100", "slack:T1:C9:2.000100")


@pytest.mark.asyncio
async def test_what_is_promoted_from_an_imported_journal_is_not_archived_the_same_night() -> None:
    """A journal of years ago came with an import; its records are as fresh as if somebody had said them today."""
    bed = Bed()
    bed.note("2019-02-03", note("use ruff for linting", 1, part=LEARNED))
    bed.note("2019-02-04", note("use ruff for linting", 2, part=LEARNED, by="bo"))
    assert (await bed.sleep(DEEP)).promoted == 1
    await bed.sleep(Stage.REM)
    (kept,) = bed.records()
    assert (kept.day, kept.last_referenced) == (date(2019, 2, 3), TODAY)


@pytest.mark.asyncio
async def test_two_lines_of_one_session_are_no_recurrence_but_two_sessions_of_a_day_are() -> None:
    bed = Bed()
    bed.note(
        "2026-08-31", note("use ruff for linting", 1, part=LEARNED), note("use ruff for the linting", 2, part=LEARNED)
    )
    assert (await bed.sleep(DEEP)).promoted == 0
    bed.note("2026-08-31", note("use ruff for linting", 3, part=LEARNED), at="18:00 +00:00")
    assert (await bed.sleep(DEEP)).promoted == 1


@pytest.mark.asyncio
async def test_the_same_message_in_two_journals_is_no_recurrence() -> None:
    bed = Bed()
    bed.note("2026-08-30", note("use ruff for linting", 1, part=LEARNED))
    bed.note("2026-08-31", note("use ruff for linting", 1, part=LEARNED))
    assert (await bed.sleep(DEEP)).promoted == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["important: rotate the keys in May", "重要: 五月换密钥的日子不要忘"])
async def test_what_a_person_marked_is_promoted_the_first_time(text: str) -> None:
    bed = Bed()
    bed.note("2026-08-31", note(text, 1, part=LEARNED))
    assert (await bed.sleep(DEEP)).promoted == 1
    assert bed.records()[0].value is Value.HIGH


@pytest.mark.asyncio
async def test_a_hard_won_lesson_in_one_line_or_in_two_of_a_day() -> None:
    bed = Bed()
    bed.note("2026-08-30", note("the queue stalled on a full disk; a quota fixed it", 1, part=LEARNED))
    bed.note(
        "2026-08-31",
        note("The importer failed on empty files", 2, part=BLOCKERS, by="bo"),
        note("Fixed the importer by skipping empty files", 3, part=LEARNED, by="bo"),
    )
    report = await bed.sleep(DEEP)
    assert (report.promoted, report.absorbed) == (2, 3)
    newest, oldest = bed.records()
    assert oldest.title == "the queue stalled on a full disk; a quota fixed it"
    assert "importer failed" in newest.body
    assert "skipping empty files" in newest.body
    assert set(newest.messages) == {"slack:T1:C9:2.000100", "slack:T1:C9:3.000100"}


@pytest.mark.asyncio
async def test_a_problem_alone_is_not_promoted() -> None:
    bed = Bed()
    bed.note("2026-08-31", note("The importer failed on empty files", 2, part=LEARNED))
    assert (await bed.sleep(DEEP)).promoted == 0


@pytest.mark.asyncio
async def test_the_journals_copy_of_a_record_is_marked_and_no_hit() -> None:
    bed = Bed()
    bed.put("experience", page_of("Experience", [record("Redis for the cache", 1, number=1)]))
    bed.note("2026-08-31", note("Redis for the cache", 1), note("Kafka for events", 2))
    before = bed.records()
    report = await bed.sleep(DEEP)
    assert (report.promoted, report.absorbed) == (1, 2)
    assert bed.record("Redis for the cache") == before[0]
    assert "## 14:30 Notes [absorbed]" in bed.text("journal/2026-08-31")


@pytest.mark.asyncio
async def test_what_a_record_says_already_is_one_hit_a_session() -> None:
    bed = Bed()
    bed.put("experience", page_of("Experience", [record("Redis for the session cache", 9, number=1)]))
    bed.note("2026-08-30", note("Redis for the session cache", 2), note("Redis for session cache", 3))
    bed.note("2026-08-31", note("Redis for the session cache", 4))
    assert (await bed.sleep(DEEP)).promoted == 0
    (kept,) = bed.records()
    assert kept.hit_count == 2
    assert len(kept.messages) == 4
    assert kept.last_referenced == date(2026, 8, 31)
    assert (await bed.sleep(DEEP)).nothing
    assert bed.records() == [kept]


@pytest.mark.asyncio
async def test_a_persons_line_is_one_hit_however_often_it_is_read() -> None:
    bed = Bed()
    bed.put("experience", page_of("Experience", [record("Redis for the session cache", 9, number=1)]))
    bed.put("journal/2026-08-31", "# 2026-08-31\n\nRedis for the session cache\n")
    await bed.sleep(DEEP)
    assert bed.records()[0].hit_count == 1
    assert str(bed.records()[0].sources[1]) == "journal 2026-08-31"
    assert (await bed.sleep(DEEP)).nothing


@pytest.mark.asyncio
async def test_a_superseded_statement_does_not_rise_again() -> None:
    """Its line still stands in the journal; its message is named by the struck line."""
    bed = Bed()
    await bed.say("decision: decided: alerts on for staging")
    await bed.flush()
    await bed.say("decision: decided: alerts off for staging")
    await bed.flush()
    bed.clock.advance(-60)
    report = await bed.sleep(DEEP)
    assert report.promoted == 0
    assert bed.titles() == ["decided: alerts off for staging"]


@pytest.mark.asyncio
async def test_case_133_the_distiller_does_not_eat_its_own_output() -> None:
    bed = Bed()
    own = (
        "score=0.58 recalls=0 use the cache",
        "decided: kubectl rollout restart deploy/api",
        "$ docker compose up -d --build",
        "git push --force origin main",
        "`make release`",
        "sleep: promoted [2026-08-30] Redis for the cache to experience (lasting value)",
        "Deep sleep 7: 3 promoted, 2 archived",
        "hit_count=4, decision_value=HIGH decided to keep it",
        "the deploy password is hunter2-Zx81! and we agreed to keep it",
    )
    skipped = [text for text in own if not text.startswith("decided")]
    for day in ("2026-08-30", "2026-08-31"):
        bed.note(day, *(note(text, number + 1) for number, text in enumerate(skipped)))
    hand = "## Dream report of last night\n- decided: everything will be fine\n- promoted 4 memories\n"
    fence = "## Decisions\n```\ndecided: rm -rf build\n```\n"
    bed.put("journal/2026-08-29", f"# 2026-08-29\n\n{hand}\n{fence}")
    report = await bed.sleep(DEEP)
    assert report.promoted == 0
    assert bed.text("experience") == ""
    # Its report of this run, pasted into a journal by somebody, is not read either.
    bed.note("2026-08-31", note("we keep the old keys", 77))
    told = await bed.sleep(DEEP)
    assert told.promoted == 1
    bed.put("journal/2026-08-28", "# 2026-08-28\n\n## Decisions\n" + "".join(f"- {line}\n" for line in told.lines))
    assert (await bed.sleep(DEEP)).promoted == 0


@pytest.mark.asyncio
async def test_tasks_anchors_and_raw_lines_are_not_promoted() -> None:
    bed = Bed()
    for day in ("2026-08-30", "2026-08-31"):
        bed.note(
            day,
            note("important: write the notes", 1, part=TASKS),
            note("https://example.org/important", 2, part=ANCHORS),
            note("we decided: important things", 3, part=RAW),
        )
    assert (await bed.sleep(DEEP)).nothing


@pytest.mark.asyncio
async def test_a_journal_is_archived_fourteen_days_after_its_date() -> None:
    bed = Bed()
    young, old = TODAY - timedelta(days=13), TODAY - timedelta(days=14)
    bed.note(young.isoformat(), note("Redis for the cache", 1))
    bed.note(old.isoformat(), note("Kafka for events", 2), note("write notes", 3, part=TASKS))
    report = await bed.sleep(DEEP)
    assert (report.journals, report.promoted) == (1, 2)
    assert bed.text(f"journal/{young}")
    assert bed.text(f"journal/{old}") == ""
    assert "- write notes (@ana, 14:02)" in bed.text("archive/2026-08")
    assert "Kafka for events" in bed.titles(), "never before everything of it was looked at"


@pytest.mark.asyncio
async def test_a_journal_that_was_not_read_to_its_end_stays() -> None:
    bed = Bed()
    bed.note("2026-08-01", note("Redis for the cache", 1), note("Kafka for events", 2))
    bed.note("2026-08-02", note("we decided: raw", 3, part=RAW))
    report = await bed.sleep(DEEP, Caps(max_seconds=0))
    bed.clock.advance(1)
    assert report.journals in (0, 1)
    assert any("raw" in line or "nobody could read" in line for line in report.held_back)
    assert bed.text("journal/2026-08-02")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf# 2026-08-01\r\n\r\nBy hand.\r\n", b"by hand, no line end", b"x \xff\n"]
)
async def test_undo_brings_a_hand_made_journal_back_byte_for_byte(content: bytes) -> None:
    bed = Bed()
    bed.put("experience", page_of("Experience", [record("Redis for the cache", 1, number=1)]))
    bed.stores.put(bed.scope, "journal/2026-08-01", content)  # type: ignore[arg-type]
    before = bed.pages()
    report = await bed.sleep(DEEP)
    assert report.journals == (0 if b"\xff" in content else 1), "bytes that are no text are never moved"
    await bed.undo()
    assert bed.pages() == before


@pytest.mark.asyncio
async def test_a_deleted_message_that_no_flush_has_seen_stops_sleep() -> None:
    bed = Bed()
    (key,) = await bed.say("decision: decided: Redis for the cache")
    await bed.flush()
    await bed.delete(key)
    report = await bed.sleep(DEEP)
    assert "flush first" in report.problem
    assert report.nothing
    await bed.flush()
    assert bed.titles() == []
    assert (await bed.sleep(DEEP)).promoted == 0, "a forgotten text does not come back"


@pytest.mark.asyncio
async def test_dreaming_has_a_page_for_each_category() -> None:
    bed = Bed(DREAMING)
    bed.note(
        "2026-08-31",
        note("no deploys on Fridays", 1),
        note("the queue stalled on a full disk; a quota fixed it", 2, part=LEARNED),
        note("the stack is Django and Postgres", 3, part=LEARNED),
    )
    assert (await bed.sleep(DEEP)).promoted == 3
    assert bed.titles("decisions") == ["no deploys on Fridays"]
    assert bed.titles("lessons") == ["the queue stalled on a full disk; a quota fixed it"]
    assert bed.titles("project-context") == ["the stack is Django and Postgres"]


def test_marks_go_on_lines_of_ours_alone_and_come_off_again() -> None:
    text = journal.new_journal("2026-08-31", "+00:00")
    text = journal.append(text, "14:30 +00:00", [note("one", 1), note("two", 2), note("three", 3, part=LEARNED)])
    text += "- by hand\n"
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    once = journal.absorb(text, lines[:2])
    assert once.count("[absorbed]") == 3
    assert "### Decisions [absorbed]" in once
    whole = journal.absorb(once, lines)
    assert whole.count("[absorbed]") == 4, "a part that holds a person's line, and its note, stay open"
    assert "- by hand\n" in whole
    assert journal.release(whole, lines) == text
    assert journal.absorb(whole, lines) == whole


@pytest.mark.asyncio
async def test_adaptive_memory_is_filled_by_section_and_kept_within_its_lines() -> None:
    bed = Bed(ADAPTIVE, scope=DirectScope(PersonKey("slack:T1:ANA"), owner=True))
    bed.put("memory", "# Memory\n\n## Lessons Learned\n\nBy hand.\n\n## Key Decisions\n")
    lesson = note("the queue stalled on a full disk; a quota fixed it", 2, part=LEARNED)
    bed.note("2026-08-30", note("no deploys on Fridays", 1), lesson)
    before = bed.pages()
    assert (await bed.sleep(DEEP)).promoted == 2
    text = bed.text("memory")
    lessons, decisions = text.partition("## Key Decisions")[::2]
    assert "By hand." in lessons
    assert "### [2026-08-30] the queue stalled" in lessons
    assert "### [2026-08-30] no deploys on Fridays" in decisions
    await bed.undo()
    assert bed.pages() == before
    many = (note(f"we keep item{n} in drawer{n * 7}", 10 + n) for n in range(70))
    bed.note("2026-08-31", *many)
    report = await bed.sleep(DEEP)
    assert report.archived > 0
    assert report.over_budget == ()
    assert counted_lines(bed.text("memory")) <= 200
    away = bed.records("archive/2026-09")
    assert len(away) + len([one for one in bed.records("memory") if one.day]) == 72
    assert away[0].archived.endswith("page=memory, section=Key Decisions")
