"""Tasks over the days: what is overdue comes first, what is done leaves after a week, a broken file is rebuilt."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import answers
from memory_core.candidates import Candidate
from memory_core.flush.engine import write_now
from memory_core.forms import attention, tasks
from memory_core.forms.active import ACTIVE
from memory_core.forms.tasks import Task, TaskStatus, has_left, mended, ordered, overdue, parse, render, with_task
from memory_core.gate import open_tasks
from memory_core.ids import DirectScope, MessageKey, PersonKey
from memory_core.layouts import ADAPTIVE, DREAMING, Kind
from tests.memory_core.flush_kit import World
from tests.scale import scale

TODAY = date(2026, 4, 20)
AT = datetime(2026, 4, 20, 9, 0, tzinfo=UTC)
ANA = PersonKey("slack:T1:ANA")
DM = DirectScope(ANA, owner=True)


def _at(days: int) -> str:
    return (datetime(2026, 4, 20, 9, 0, tzinfo=UTC) - timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("task", "since"),
    [
        (Task("1", "x"), None),
        (Task("1", "x", due="2026-04-20"), None),
        (Task("1", "x", due="2026-04-19"), date(2026, 4, 19)),
        (Task("1", "x", TaskStatus.BLOCKED, due="2026-04-01"), date(2026, 4, 1)),
        (Task("1", "x", TaskStatus.DONE, due="2026-04-01"), None),
        (Task("1", "x", due="when it suits"), None),
        (Task("1", "x", created_at=_at(300)), None),
        (Task("1", "x", TaskStatus.IN_PROGRESS, created_at=_at(6)), None),
        (Task("1", "x", TaskStatus.IN_PROGRESS, created_at=_at(7)), date(2026, 4, 20)),
        (Task("1", "x", TaskStatus.IN_PROGRESS, created_at=_at(30)), date(2026, 3, 28)),
        (Task("1", "x", TaskStatus.IN_PROGRESS, created_at=_at(30), updated_at=_at(6)), None),
        (Task("1", "x", TaskStatus.IN_PROGRESS, created_at=_at(30), updated_at=_at(8)), date(2026, 4, 19)),
        (Task("1", "x", TaskStatus.IN_PROGRESS, created_at="2026-04-01T10:00:00Z"), date(2026, 4, 8)),
        (Task("1", "x", TaskStatus.IN_PROGRESS), None),
    ],
)
def test_since_when_a_task_is_overdue(task: Task, since: date | None) -> None:
    assert overdue(task, TODAY) == since


@pytest.mark.parametrize(
    ("status", "completed", "left"),
    [
        (TaskStatus.DONE, _at(7), True),
        (TaskStatus.DONE, _at(6), False),
        (TaskStatus.DONE, "", False),
        (TaskStatus.PENDING, _at(70), False),
    ],
)
def test_what_is_done_leaves_after_seven_days(status: TaskStatus, completed: str, *, left: bool) -> None:
    assert has_left(Task("1", "x", status, completed_at=completed), TODAY) is left


def test_overdue_tasks_are_told_first_with_their_day() -> None:
    found = (
        Task("1", "cake"),
        Task("2", "renew", due="2026-04-18"),
        Task("3", "tea", due="2026-05-01"),
        Task("4", "move", TaskStatus.IN_PROGRESS, created_at=_at(20)),
    )
    assert [task.title for task in ordered(found, TODAY)] == ["move", "renew", "cake", "tea"]
    assert answers.task_lines(found, TODAY) == (
        "move (in_progress, overdue since 2026-04-07)",
        "renew (pending, overdue since 2026-04-18)",
        "cake (pending)",
        "tea (pending, due 2026-05-01)",
    )


TASKS = st.builds(
    Task, st.uuids().map(str), st.text(min_size=1, max_size=20).filter(str.strip), note=st.text(max_size=9)
)


@settings(max_examples=scale(2000))
@given(st.lists(TASKS, min_size=1, max_size=5), st.data())
def test_a_file_that_broke_off_keeps_every_task_that_is_whole(found: list[Task], data: st.DataObject) -> None:
    text = render(tasks.TaskFile(tuple(found)))
    end = data.draw(st.integers(1, len(text) - 2))
    broken = text[:end]
    whole = [task for task in parse(text).tasks if text.index(f'"id": "{task.id}"') + 20 < end]
    read = parse(broken)
    assert read.broken
    kept = {task.id for task in read.tasks}
    assert {task.id for task in whole[:-1]} <= kept <= {task.id for task in whole}
    rebuilt = mended(broken, AT)
    assert not parse(rebuilt).broken
    assert parse(rebuilt).tasks == read.tasks
    assert mended(rebuilt, AT) == rebuilt
    assert parse(with_task(broken, found[0], AT)).find(found[0].id) == found[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"tasks": [{"id": "a", "title": "one"}, {"id": "b", "title": "two",}]}',
        '{"tasks": [{"id": "a", "title": "one"},\n {"id": "b", "title": "two"},\n]}',
        'note: by hand\n{"id": "a", "title": "one"}\n{"id": "b", "title": "two"}\n',
        '{"tasks": [{"id": "a", "title": "one"}, {"id": "b", "title": "two"}]} trailing',
        '{"items": [{"id": "a", "title": "one"}], "tasks": 3, "more": {"id": "b", "title": "two"}',
    ],
)
def test_tasks_are_read_one_by_one_where_the_whole_is_no_json(text: str) -> None:
    found = parse(text)
    assert found.broken
    assert [task.title for task in found.tasks] == ["one", "two"]


@pytest.mark.parametrize(
    "text", ["{" * 5000, '{"a":' * 3000, '{"title": "x' * 300, "[" * 100_000, '{"title": ["x"]} {']
)
def test_nonsense_is_read_as_no_tasks_and_in_time(text: str) -> None:
    assert parse(text).tasks == ()
    assert parse(text).broken


def _pending(world: World) -> dict[str, Task]:
    return {task.title: task for task in parse(world.text("state/tasks")).tasks}


@pytest.mark.asyncio
async def test_done_tasks_leave_the_file_after_a_week_and_the_active_context_with_them() -> None:
    world = World(DM, layout=ADAPTIVE)
    await world.say("task: write the release notes", "task: renew the certificate")
    await world.flush()
    await world.say("status done: the release notes are written")
    await world.flush()
    assert "done 2026-04-06" in world.text("active_context")
    for day in range(7):
        assert "write the release notes" in _pending(world), day
        world.clock.advance(86_400)
        await world.say(f"blocker: {['lift', 'oven', 'roof', 'car', 'bus', 'tram', 'boat'][day]}")
        await world.flush()
    assert set(_pending(world)) == {"renew the certificate"}
    assert [row.task for row in ACTIVE.parse(world.text("active_context")).tasks] == ["renew the certificate"]


@pytest.mark.asyncio
async def test_a_done_task_of_another_tool_leaves_a_week_after_it_was_first_seen() -> None:
    world = World(DM, layout=ADAPTIVE)
    own = {"id": 7, "title": "by hand", "status": "done", "color": "red"}
    world.put("state/tasks", json.dumps({"lastUpdated": "", "tasks": [own]}))
    await world.say("blocker: the DNS team")
    await world.flush()
    assert _pending(world)["by hand"].completed_at.startswith("2026-04-06")
    assert '"color": "red"' in world.text("state/tasks")
    world.clock.advance(7 * 86_400)
    await world.say("blocker: the provider's certificate office")
    await world.flush()
    assert _pending(world) == {}


@pytest.mark.asyncio
async def test_overdue_tasks_stand_first_on_the_board_and_a_word_about_one_takes_it_back() -> None:
    world = World()
    await world.say("task: bake a cake", "task: renew the certificate")
    await world.flush()
    text = world.text("state/tasks")
    world.put("state/tasks", text.replace('"status": "pending"', '"status": "in_progress"'))
    world.clock.advance(8 * 86_400)
    await world.say("task: bake a cake", "blocker: the DNS team")
    await world.flush()
    assert [row.task for row in attention.parse(world.text("attention")).tasks] == [
        "renew the certificate",
        "bake a cake",
    ]
    found = await open_tasks(world.handle)
    assert [bool(overdue(task, date(2026, 4, 14))) for task in found] == [False, True]
    assert _pending(world)["bake a cake"].updated_at.startswith("2026-04-14")


@pytest.mark.asyncio
async def test_a_broken_file_is_kept_beside_and_rebuilt_at_the_next_flush() -> None:
    world = World()
    await world.say("task: bake a cake", "task: renew the certificate")
    await world.flush()
    broken = world.text("state/tasks").rstrip().removesuffix("}") + ","
    world.put("state/tasks", broken)
    await world.say("decision: we decided to use Redis for sessions")
    await world.flush()
    assert set(_pending(world)) == {"bake a cake", "renew the certificate"}
    assert not parse(world.text("state/tasks")).broken
    kept = [page for page in await world.handle.store.pages() if page.startswith("backup/")]
    assert [world.text(page) for page in kept] == [broken]
    read = world.text("state/tasks")
    await world.say("decision: we decided to use Postgres for accounts")
    await world.flush()
    assert world.text("state/tasks") == read


@pytest.mark.asyncio
async def test_a_note_feeds_the_tasks_in_a_layout_with_a_board_and_in_one_without() -> None:
    for layout, page in ((ADAPTIVE, "active_context"), (DREAMING, "journal/2026-04-06")):
        world = World(DM, layout=layout)
        candidate = Candidate(Kind.TASK, "ship it", "ship it", ANA, (MessageKey("slack:T1:C9:n1"),), who="ana")
        assert (await write_now(world.handle, candidate, UTC))[0] == page
        assert _pending(world)["ship it"].status is TaskStatus.PENDING
        assert (await world.flush()).kinds == {Kind.TASK: 1}
        assert world.text("journal/2026-04-06").count("ship it") == 1
        done = replace(candidate, kind=Kind.STATUS, status="done", sources=(MessageKey("slack:T1:C9:n2"),))
        await write_now(world.handle, done, UTC)
        assert _pending(world)["ship it"].status is TaskStatus.DONE


@pytest.mark.asyncio
async def test_without_a_board_a_blocker_is_a_blocked_task_until_it_is_gone() -> None:
    world = World(layout=DREAMING)
    await world.say("blocker: the staging certificate has expired")
    await world.flush()
    assert _pending(world)["the staging certificate has expired"].status is TaskStatus.BLOCKED
    await world.say("status done: the staging certificate has been renewed, expired no more")
    await world.flush()
    assert [task.status for task in _pending(world).values()] == [TaskStatus.DONE]
