"""A board with more tasks than its budget has room for: the most important stand on it, the list has them all."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest

from memory_core.flush.board_budget import by_importance
from memory_core.forms import tasks
from memory_core.forms.board import board
from memory_core.forms.more import more_in, with_more
from memory_core.forms.tasks import Task, TaskStatus, Urgency
from memory_core.ids import DirectScope, PageId, PersonKey, Scope
from memory_core.layouts import ADAPTIVE, APM, TASKS, Form, Layout
from tests.memory_core.flush_kit import GROUP
from tests.memory_core.sleep.kit import Bed

TODAY = date(2026, 9, 1)
DM = DirectScope(PersonKey("slack:T1:ANA"), owner=True)
BOARDS = [
    (APM, GROUP, "attention"),
    (APM, DM, "attention"),
    (ADAPTIVE, DM, "active_context"),
    (ADAPTIVE, GROUP, "channel_context"),
]


def task(number: int, ago: int = 0, **more: object) -> Task:
    """An open task that was made `ago` days ago."""
    made = (TODAY - timedelta(days=ago)).isoformat() + "T10:00:00+00:00"
    return Task(f"t-{number}", f"job number {number}", created_at=made, **more)  # type: ignore[arg-type]


def put_tasks(bed: Bed, *found: Task) -> None:
    bed.put(TASKS, tasks.render(tasks.TaskFile(found)))


def titles(bed: Bed, page: str) -> list[str]:
    """The tasks of the board, in order."""
    return [row.task for row in board(form_of(bed, page)).parse(bed.text(page)).tasks]


def form_of(bed: Bed, page: str) -> Form:
    return bed.handle.table.rule(PageId(page)).form


def listed(bed: Bed) -> set[str]:
    """The open tasks of the list."""
    return {one.title for one in tasks.parse(bed.text(TASKS)).open}


def lines(bed: Bed, page: str) -> tuple[int, int]:
    """The lines of the page, and its budget."""
    return len(bed.text(page).splitlines()), bed.handle.table.rule(PageId(page)).budget_lines or 0


def test_overdue_then_blocked_then_priority_then_newest() -> None:
    found = [
        task(1, 3),
        task(2, 30),
        task(3, 1, priority=Urgency.LOW),
        task(4, 9, priority=Urgency.CRITICAL),
        task(5, 40, status=TaskStatus.BLOCKED),
        task(6, 2, due="2026-08-01"),
        task(7, 50, due="2026-07-01"),
        task(8, 1),
        task(9, 90, status=TaskStatus.BLOCKED, priority=Urgency.HIGH),
    ]
    numbers = [int(one.id[2:]) for one in by_importance(found, TODAY)]
    assert numbers == [7, 6, 9, 5, 4, 8, 1, 2, 3]


@pytest.mark.asyncio
@pytest.mark.parametrize(("layout", "scope", "page"), BOARDS, ids=lambda one: getattr(one, "name", None) or str(one))
async def test_tasks_that_are_never_done_stay_within_the_budget_and_in_the_list(
    layout: Layout, scope: Scope, page: str
) -> None:
    """Days each of which brings tasks and none is done."""
    bed = Bed(layout, scope=scope)
    said: list[str] = []
    for day in range(8):
        for at in range(15):
            said.append(f"order part {day * 15 + at} from shelf {chr(65 + at)}")
            await bed.say(f"task: {said[-1]}")
        await bed.flush()
        bed.clock.advance(86_400)
    long, budget = lines(bed, page)
    told = more_in(bed.text(page), form_of(bed, page))
    shown = titles(bed, page)
    print(  # noqa: T201
        f"{layout.name} {page}: {len(said)} tasks, {long} of {budget} lines, {len(shown)} shown, {told} more told"
    )
    assert long <= budget
    assert told == len(said) - len(shown) > 0
    assert listed(bed) == set(said) >= set(shown), "no task is lost"
    assert said[-1] in shown, "the newest ones are shown"
    assert said[0] not in shown


@pytest.mark.asyncio
@pytest.mark.parametrize(("layout", "scope", "page"), BOARDS, ids=lambda one: getattr(one, "name", None) or str(one))
async def test_what_is_done_makes_room_for_the_others_with_who_does_them(
    layout: Layout, scope: Scope, page: str
) -> None:
    bed = Bed(layout, scope=scope)
    names = [f"order part {number} from shelf {number}" for number in range(120)]
    for number, name in enumerate(names):
        await bed.say(f"task: {name}")
        if number % 40 == 39:
            await bed.flush()
            bed.clock.advance(86_400)
    assert more_in(bed.text(page), form_of(bed, page)) > 0
    before = bed.text(page)
    gone = [name for name in names if name not in titles(bed, page)]
    file = tasks.parse(bed.text(TASKS))
    put_tasks(bed, *(one for one in file.tasks if one.title in gone[:5]))
    await bed.say("task: call the plumber")
    await bed.flush()
    back = titles(bed, page)
    assert set(gone[:5]) <= set(back), "they stand on the board again"
    assert more_in(bed.text(page), form_of(bed, page)) == 0
    rows = {row.task: row for row in board(form_of(bed, page)).parse(bed.text(page)).tasks}
    assert rows[gone[0]].who == "ana"
    await bed.undo()
    assert bed.text(page) == before


@pytest.mark.asyncio
async def test_a_hidden_task_that_becomes_overdue_or_blocked_comes_to_the_board() -> None:
    bed = Bed()
    for number in range(80):
        await bed.say(f"task: order part {number} from shelf {number}")
    await bed.flush()
    file = tasks.parse(bed.text(TASKS))
    hidden = [one for one in file.tasks if one.title not in titles(bed, "attention")]
    first, second = hidden[:2]
    late = json.loads(bed.text(TASKS))
    for entry in late["tasks"]:
        if entry["id"] == first.id:
            entry["due"] = "2026-08-01"
        if entry["id"] == second.id:
            entry["status"] = "blocked"
    bed.put(TASKS, json.dumps(late))
    await bed.say("task: call the plumber")
    await bed.flush()
    shown = titles(bed, "attention")
    assert shown[0] == first.title, "overdue: on top"
    assert second.title in shown


@pytest.mark.asyncio
async def test_what_the_list_does_not_bear_out_stays_on_the_board() -> None:
    """A person's own row, a status that a person changed, and a person's note."""
    bed = Bed()
    for number in range(30):
        await bed.say(f"task: order part {number} from shelf {number}")
    await bed.flush()
    text = bed.text("attention")
    text = text.replace("|---|---|---|---|\n", "|---|---|---|---|\n| my own row | pending | me | since ever |\n")
    text = text.replace("part 0 from shelf 0 | pending | ana |", "part 0 from shelf 0 | waiting for Cy | ana |")
    text = text.replace("part 1 from shelf 1 | pending | ana |  |", "part 1 from shelf 1 | pending | ana | ask Dee |")
    text = text.replace("part 2 from shelf 2 | pending |", "part 2 from shelf 2 | done |")
    assert "ask Dee" in text
    assert "| done |" in text
    bed.put("attention", text)
    bed.clock.advance(86_400)
    for number in range(30, 130):
        await bed.say(f"task: order part {number} from shelf {number}")
    for _ in range(3):
        await bed.say(f"decision: the shelf is {_} metres high")
        await bed.flush()
    shown = titles(bed, "attention")
    assert {"my own row", "order part 2 from shelf 2"} <= set(shown)
    kept = tasks.parse(bed.text(TASKS)).find(
        next(one.id for one in tasks.parse(bed.text(TASKS)).tasks if one.title == "order part 1 from shelf 1")
    )
    assert kept is not None
    assert "order part 1 from shelf 1" in shown or json.loads(kept.extra) == {"who": "ana", "notes": "ask Dee"}
    long, budget = lines(bed, "attention")
    assert long <= budget


@pytest.mark.parametrize("form", [Form.ATTENTION, Form.ACTIVE, Form.CHANNEL])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text", ["", "# x\n", "## Active Tasks\n\n| Task |\n|---|\n| a |\n", "## Unresolved\n- **a**\n"]
)
def test_the_line_that_tells_of_more_comes_and_goes(form: Form, newline: str, text: str) -> None:
    text = text.replace("\n", newline)
    one = with_more(text, form, 1)
    assert more_in(one, form) == 1
    assert board(form).parse(one) == board(form).parse(text)
    many = with_more(one, form, 23)
    assert many == one.replace("1 more open task;", "23 more open tasks;")
    if form is not Form.ACTIVE and f"## {'Unresolved' if form is Form.CHANNEL else 'Active Tasks'}" in text:
        assert with_more(many, form, 0) == text
