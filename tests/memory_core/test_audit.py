"""The audit's checks one by one, over every layout where the table decides; what is in order is left in peace."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, timedelta

import pytest

from memory_core.audit.findings import CODES, Finding, Severity
from memory_core.audit.scope import audit, counts, judged, look
from memory_core.first_join import ensure_index
from memory_core.forms.records import Record, render
from memory_core.ids import Scope
from memory_core.index import parse
from memory_core.layouts import ADAPTIVE, APM, DREAMING, INDEX, LAYOUTS, Form, Layout
from memory_core.templates import new_page
from tests.memory_core.audit_kit import GROUP, NOW, OWNER, found, placed

LEAN = "# Memory\n\n## Identity\n- Agent: Wren\n- Owner: stands in USER.md\n"
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
SCOPES: tuple[Scope, ...] = (OWNER, GROUP)


def _lines(count: int) -> str:
    return "# Memory\n" + "".join(f"- fact number {number}\n" for number in range(1, count))


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", [APM, DREAMING], ids=lambda layout: layout.name)
@pytest.mark.parametrize(
    ("lines", "code", "severity"),
    [
        (1, "memory-lean", Severity.OK),
        (30, "memory-lean", Severity.OK),
        (31, "memory-watch", Severity.WATCH),
        (50, "memory-watch", Severity.WATCH),
        (51, "memory-bloated", Severity.WARNING),
        (80, "memory-bloated", Severity.WARNING),
        (81, "memory-too-long", Severity.ERROR),
        (500, "memory-too-long", Severity.ERROR),
    ],
)
async def test_a_lean_memory_is_rated_by_its_lines(layout: Layout, lines: int, code: str, severity: Severity) -> None:
    told = await found({"memory": _lines(lines)}, layout)
    ratings = [one for codes in told.values() for one in codes if one.file == "MEMORY.md" and not one.line]
    assert [(one.code, one.severity) for one in ratings] == [(code, severity)]


@pytest.mark.asyncio
@pytest.mark.parametrize(("lines", "over"), [(200, False), (201, True)])
async def test_a_curated_memory_has_the_budget_of_its_table(lines: int, over: bool) -> None:
    told = await found({"memory": "- a\n" * lines}, ADAPTIVE)
    assert ("memory-bloated" in told) is over
    assert "memory-too-long" not in told


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("line", "code", "home"),
    [
        ("- Harbour: 60% complete, tests are next", "memory-progress", "memory/main/projects/{name}.md"),
        ("- 2026-03-02: the mail server went down", "memory-event", "memory/YYYY-MM-DD.md"),
        ("- We decided to use Redis for sessions", "memory-decision", "memory/main/longterm.md"),
        ("- Installed: git, curl, jq, ripgrep", "memory-tools", "command -v"),
        ("- Channels: #build, #ops-night", "memory-group", "memory/groups/"),
        ("- For now use port 8081 instead of 8080", "memory-temporary", "memory/YYYY-MM-DD.md"),
        ("- p95 latency fell from 480 ms to 130 ms", "memory-result", "memory/main/projects/{name}.md"),
        (
            "- The backend runs on FastAPI, endpoint /api/v2/bookings",
            "memory-detail",
            "memory/main/projects/{name}.md",
        ),
    ],
)
async def test_each_forbidden_kind_is_told_with_its_line_and_its_place(line: str, code: str, home: str) -> None:
    told = await found({"memory": LEAN + "\n## Notes\n" + line + "\n"})
    (one,) = told[code]
    assert (one.file, one.line, one.severity) == ("MEMORY.md", 8, Severity.WARNING)
    assert home in one.message
    assert set(told) <= {code, "memory-lean", "index-missing"}


@pytest.mark.asyncio
async def test_where_something_belongs_is_what_the_layouts_table_says() -> None:
    memory = LEAN + "\n- We decided to use Redis for sessions\n"
    (apm,) = (await found({"memory": memory}))["memory-decision"]
    (dreaming,) = (await found({"memory": memory}, DREAMING))["memory-decision"]
    assert "memory/main/longterm.md" in apm.message
    assert "memory/decisions.md" in dreaming.message
    assert "memory/lessons.md" in dreaming.message


@pytest.mark.asyncio
async def test_a_pointer_to_a_project_that_is_not_there_is_told_once() -> None:
    memory = LEAN + "- Harbour: projects/harbour.md\n- Mill: memory/main/projects/mill.md, projects/mill.md\n"
    told = await found({"memory": memory, "projects/harbour": "# Harbour\n\n## [2026-04-06] Stack\n- Body: Go\n"})
    (one,) = told["memory-dead-pointer"]
    assert (one.line, "mill.md" in one.message) == (7, True)


@pytest.mark.asyncio
async def test_a_curated_memory_is_sorted_by_topic_and_says_each_thing_once() -> None:
    memory = (
        "# Long-Term Memory\n\n## Systems Built\n- Data pipeline on SQLite, runs daily at six\n"
        "- data pipeline on SQLite, runs daily at six.\n\n## 2026-04-01\n- Something\n\n## Lessons Learned\n"
        "- 2026-04-02\n- " + "word " * 150 + "\n\n```\n" + "log line\n" * 30 + "```\n"
    )
    told = await found({"memory": memory}, ADAPTIVE)
    assert [one.line for one in told["memory-duplicate"]] == [5]
    assert [one.line for one in told["memory-date-only"]] == [7, 11]
    assert [one.line for one in told["memory-dump"]] == [12, 14]
    assert "memory-decision" not in told


@pytest.mark.asyncio
async def test_a_curated_memory_of_our_own_records_is_in_order() -> None:
    records = [
        Record(date(2026, 4, day), f"Fact of number {day * 7919}", f"Reason {day * 104729}") for day in (1, 2, 3)
    ]
    memory = "# Memory\n\n## Key Decisions\n\n" + "\n".join(render(record, level=3) for record in records)
    told = await found({"memory": memory}, ADAPTIVE)
    assert set(told) <= {"index-missing"}


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
@pytest.mark.parametrize("scope", SCOPES, ids=["dm", "group"])
async def test_every_budget_of_the_table_is_held(layout: Layout, scope: Scope) -> None:
    """Over each page's budget by one line: told; at the budget: not."""
    for rule in layout.table(scope).rules:
        if rule.budget_lines is None or rule.form is Form.INDEX or rule.page == "memory":
            continue
        page = rule.page.replace("*", "2026-04-18" if rule.form is Form.JOURNAL else "name")
        code = "journal-over-budget" if rule.form is Form.JOURNAL else "page-over-budget"
        for more in (0, 1):
            told = await found({page: "- a line\n" * (rule.budget_lines + more)}, layout, scope)
            assert (code in told) is bool(more), (page, told)


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
@pytest.mark.parametrize("scope", SCOPES, ids=["dm", "group"])
async def test_a_new_memory_has_nothing_to_say(layout: Layout, scope: Scope) -> None:
    table = layout.table(scope)
    plain = [rule.page for rule in table.rules if not rule.page.endswith("*")]
    files: dict[str, str | bytes] = {page: text for page in plain if (text := new_page(table, page)) is not None}
    handle = placed(files, layout, scope)
    await ensure_index(handle, UTC)
    assert [one for one in await audit(handle) if one.severity is not Severity.OK] == []


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_secrets_are_told_by_kind_and_line_and_never_repeated(layout: Layout) -> None:
    for page in ("memory", "journal/2026-04-19", "user"):
        told = await found({page: f"# x\n\n- token: {SECRET}\n- fine\n- pw: hunter2hunter2\n"}, layout)
        secrets = told["secret"]
        assert [one.line for one in secrets] == [3, 5]
        assert all(one.severity is Severity.ERROR for one in secrets)
        everything = "".join(str(one) for codes in told.values() for one in codes)
        assert SECRET not in everything
        assert "hunter2" not in everything


@pytest.mark.asyncio
async def test_a_file_full_of_secrets_is_told_ten_times() -> None:
    told = await found({"memory": f"- token: {SECRET}\n" * 40})
    assert len(told["secret"]) == 10


@pytest.mark.asyncio
async def test_damaged_bytes_are_told_with_offset_and_line() -> None:
    told = await found({"attention": b"# Attention\n\n## Blockers\n- caf\xe9\n"})
    (one,) = told["page-damaged"]
    assert (one.line, one.severity) == (4, Severity.ERROR)
    assert "offset 30" in one.message


@pytest.mark.asyncio
async def test_records_that_do_not_parse_and_pages_without_any() -> None:
    told = await found({"longterm": "# Long\n\n## [2026-02-30] No such day\n- Body: x\n"})
    assert "date that does not exist" in told["record-unread"][0].message
    told = await found({"longterm": "# Long\n\n## [2026-03-01] A\n- Fitness: much\n- Body: x\n"})
    assert "Fitness" in told["record-unread"][0].message
    told = await found({"longterm": "just\nprose\n"})
    assert told["page-free-text"][0].severity is Severity.WATCH


@pytest.mark.asyncio
async def test_side_files_that_are_no_json() -> None:
    told = await found({"state/tasks": "{oops", "state/flush": "[1]", "state/heartbeat": "nothing"})
    assert sorted(one.page for one in told["side-file-broken"]) == ["state/flush", "state/heartbeat", "state/tasks"]


INDEXED = """---
group_name: build
---

# build

## Routing Index

| Trigger Scenario | Load File | Priority |
|---|---|---|
| tasks | attention.md | P0 |
| old | [DEPRECATED] experience.md | P2 |
| api | conventions/api.md | P3 |
| gone | [DEPRECATED] conventions/gone.md | P3 |
"""


@pytest.mark.asyncio
async def test_the_index_is_held_against_the_files() -> None:
    files = {
        "index": INDEXED,
        "attention": "# A\n",
        "people": "# People\n",
        "experience": "# E\n",
        "conventions/tools": "# Tools\n",
    }
    told = await found(files, scope=GROUP)
    assert [one.page for one in told["index-missing-row"]] == ["people"]
    assert told["index-missing-row"][0].fixable
    (dead,) = told["index-dead-row"]
    assert "conventions/api.md" in dead.message
    assert [one.page for one in told["index-unreached"]] == ["conventions/tools"]
    assert "index-catalogue-stale" not in told
    broken = await found({"index": INDEXED.replace("build\n---", "build\nmemory_budget: lots\n---")}, scope=GROUP)
    assert "memory_budget" in broken["index-unread"][0].message
    assert "index-missing" in await found({"attention": "# A\n"}, scope=GROUP)


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_a_catalogue_is_stale_once_a_page_differs(layout: Layout) -> None:
    from memory_core.catalogue import rebuild_catalogue

    table = layout.table(GROUP)
    page = next(rule.page for rule in table.routed() if rule.form not in (Form.ATTENTION, Form.ACTIVE))
    handle = placed({page: "# P\n\n## [2026-04-18] Redis\n- Body: x\n"}, layout, GROUP)
    await ensure_index(handle, UTC)
    await rebuild_catalogue(handle)
    assert "index-catalogue-stale" not in {one.code for one in await audit(handle)}
    seen = await look(handle)
    index = seen.pages[INDEX].text
    told = await found({page: "# P\n\n## [2026-04-19] Another\n- Body: x\n", "index": index}, layout, GROUP)
    assert told["index-catalogue-stale"][0].fixable
    assert parse(index, table).routes


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("days", "severity"), [(2, None), (3, Severity.WATCH), (13, Severity.WATCH), (14, Severity.WARNING)]
)
@pytest.mark.parametrize(
    ("layout", "page", "text"),
    [
        (APM, "attention", "# A\n\n## Active Tasks\n\n| Task | Status |\n|---|---|\n| Ship it | in_progress |\n"),
        (ADAPTIVE, "active_context", "# Active Context\n\n## In Progress\n\n- **Ship it**: nearly\n"),
    ],
    ids=["apm", "adaptive"],
)
async def test_open_tasks_that_nobody_touches_go_stale(
    layout: Layout, page: str, text: str, days: int, severity: Severity | None
) -> None:
    told = await found({page: text}, layout, age=timedelta(days=days))
    assert [one.severity for one in told.get("context-stale", [])] == ([severity] if severity else [])
    done = text.replace("in_progress", "done").replace("## In Progress", "## Recently Completed")
    assert "context-stale" not in await found({page: done}, layout, age=timedelta(days=days))


def _journal(day: str) -> str:
    return f"# {day} (+00:00)\n\n## 14:30 Notes\n\n### Learned\n- something (@ana, 14:02)\n"


def _journals(*days: int) -> dict[str, str | bytes]:
    return {f"journal/2026-04-{day:02}": _journal(f"2026-04-{day:02}") for day in days}


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
async def test_distillation_is_overdue_after_two_days_and_three_journals(layout: Layout) -> None:
    def beat(moment: str) -> dict[str, str | bytes]:
        return {"state/heartbeat": json.dumps({"lastConsolidatedAt": moment})}

    async def is_told(pages: dict[str, str | bytes]) -> bool:
        return "distillation-overdue" in await found(pages, layout, age=timedelta(days=1))

    assert await is_told(_journals(17, 18, 19))
    assert not await is_told(_journals(18, 19, 20)), "today's does not count yet"
    assert await is_told(_journals(17, 18, 19) | beat("2026-04-16T03:00:00+00:00"))
    assert not await is_told(_journals(17, 18, 19) | beat("2026-04-18T13:00:00+00:00"))
    assert not await is_told(_journals(18) | beat("2026-04-16T03:00:00Z"))
    assert await is_told(_journals(18) | beat("2026-04-12T03:00:00Z"))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("hours", "told"),
    [(0, False), (23, False), (24, True), (-1, True)],
    ids=["just now", "today", "a night ago", "a time to come"],
)
async def test_journals_of_long_ago_that_were_written_just_now_are_no_neglect(hours: int, told: bool) -> None:
    code, imported = "distillation-overdue", _journals(1, 2, 3, 4)
    assert (code in await found(imported, age=timedelta(hours=hours))) is told
    slept = json.dumps({"lastDeep": "2026-03-30T03:00:00Z"})
    assert (code in await found(imported | {"state/heartbeat": slept}, age=timedelta(hours=hours))) is told


@pytest.mark.asyncio
async def test_journals_older_than_fourteen_days_are_due_for_the_archive() -> None:
    told = await found(_journals(4, 5, 6))
    (one,) = told["journal-archive-due"]
    assert one.message.startswith("2 journals")
    assert one.severity is Severity.WATCH


@pytest.mark.asyncio
async def test_tasks_past_their_day_and_done_ones_that_stay() -> None:
    tasks = [
        {"title": "Ship", "status": "in_progress", "due": "2026-04-19"},
        {"title": "Later", "status": "pending", "due": "2026-04-20"},
        {"title": "Old", "status": "done", "completedAt": "2026-04-13T11:00:00Z"},
        {"title": "Fresh", "status": "done", "completedAt": "2026-04-13T13:00:00Z"},
        {"title": "When", "status": "done"},
    ]
    told = await found({"state/tasks": json.dumps({"tasks": tasks})})
    assert "'Ship'" in told["task-overdue"][0].message
    assert "Later" not in told["task-overdue"][0].message
    assert told["tasks-done-left"][0].message.startswith("1 done")


def test_a_code_must_be_known() -> None:
    with pytest.raises(ValueError, match="'nonsense' is no code"):
        Finding("nonsense", "x")


@pytest.mark.asyncio
async def test_the_worst_come_first_and_are_counted() -> None:
    handle = placed({"memory": _lines(90) + f"- token: {SECRET}\n", "journal/2026-04-01": "# x\n"})
    told = await asyncio.to_thread(judged, await look(handle))
    ranks = [one.severity.rank for one in told]
    assert ranks == sorted(ranks, reverse=True)
    assert sum(counts(told).values()) == len(told)
    assert NOW.year == 2026


def test_every_code_has_its_words() -> None:
    assert all(code == code.lower() and what for code, what in CODES.items())
