"""Tasks, flush state, daily lines, anchors: read leniently, written whole, strangers kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.anchors import anchors
from memory_core.forms import daily, flush_state, tasks
from memory_core.forms.record_values import Source
from memory_core.ids import Conversation, MessageKey, PageId, PersonKey, RoomKey
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice
from memory_core.store.base import Stamp
from tests.scale import scale

AT = datetime(2026, 4, 6, 14, 30, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
STATE_KEYS = st.sampled_from(
    [
        "last_flush_time",
        "flush_number",
        "context_usage_at_flush",
        "trigger",
        "pending_items",
        "attention_mtime",
        "own",
    ]
)
TASKS = st.builds(
    tasks.Task,
    id=st.from_regex(r"t-[0-9a-f]{4}", fullmatch=True),
    title=st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip())),
    status=st.sampled_from(tasks.TaskStatus),
    priority=st.sampled_from(tasks.Urgency),
    due=st.sampled_from(["", "2026-04-12"]),
    note=st.text(max_size=20),
)


@settings(max_examples=scale(2000))
@given(st.lists(TASKS, max_size=5))
def test_tasks_are_read_back_by_their_ids(many: list[tasks.Task]) -> None:
    text = ""
    wanted: dict[str, tasks.Task] = {}
    for task in many:
        text = tasks.with_task(text, task, AT)
        wanted[task.id] = task
        assert tasks.with_task(text, task, AT) == text
    assert tasks.parse(text).tasks == tuple(wanted.values())
    for task in many:
        text = tasks.without_task(text, task.id, AT)
    assert tasks.parse(text).tasks == ()


def test_what_is_no_task_of_ours_is_kept() -> None:
    text = '{"version": 2, "tasks": [{"title": "Own", "estimate": 3, "status": "todo", "id": 7}, "free", {"x": 1}]}'
    changed = json.loads(tasks.with_task(text, tasks.Task("t-1", "New"), AT))
    assert changed["version"] == 2
    assert [task.get("estimate") for task in changed["tasks"][:2]] == [3, None]
    assert changed["tasks"][2:] == ["free", {"x": 1}]
    assert tasks.parse("[1").broken
    assert tasks.parse('{"tasks": 1}').broken
    assert tasks.parse('[{"title": "a"}]').tasks[0].title == "a"


def test_a_status_has_many_words_and_done_has_a_time() -> None:
    assert tasks.status_of("In Progress") is tasks.TaskStatus.IN_PROGRESS
    assert tasks.status_of("finished") is tasks.TaskStatus.DONE
    assert tasks.status_of("purple") is None
    done = tasks.with_status(tasks.Task("t-1", "x"), tasks.TaskStatus.DONE, AT)
    assert done.completed_at == "2026-04-06T14:30:00+00:00"
    assert tasks.with_status(done, tasks.TaskStatus.PENDING, AT).completed_at == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '{"flush_number": "6"}',
        '{"last_flush_time": "yesterday"}',
        '{"pending_items": {}}',
        '{"flush_number": 99999999999999999999999}',
        '{"last_flush_time": "0001-01-01T00:00:00+23:59"}',
        '{"last_flush_time": "9999-12-31T23:59:59-23:59"}',
    ],
)
def test_case_114_a_wrong_state_is_unknown_and_never_all_flushed(text: str) -> None:
    state = flush_state.parse(text)
    assert state.broken
    assert (state.last_flush_time, state.flush_number, state.pending_items) == (None, 0, ())
    assert flush_state.parse(flush_state.render(state)).broken == ()


@settings(max_examples=scale(4000))
@given(st.dictionaries(STATE_KEYS, JSON, max_size=6))
def test_any_object_is_read_and_a_rendered_state_reads_as_itself(data: dict[str, object]) -> None:
    state = flush_state.parse(json.dumps(data))
    text = flush_state.render(state)
    again = flush_state.parse(text)
    assert again.broken == ()
    assert flush_state.render(again) == text
    if "own" in data:
        assert json.loads(text)["own"] == data["own"]


def test_a_state_holds_pending_items_and_stamps() -> None:
    source = Source("slack:T1:U2", "ana", "#build", "2026-04-06 14:02", (MessageKey("slack:T1:C9:1"),))
    item = flush_state.PendingItem(Kind.DECISION, "Redis?", "maybe Redis", (source,), 2, "ana", "cache")
    state = flush_state.FlushState(
        AT, 6, 0.42, "idle", (item,), {PageId("conventions/tools"): Stamp(5, 6, "ab")}, '{"own": 1}'
    )
    assert flush_state.parse(flush_state.render(state)) == state
    assert json.loads(flush_state.render(state))["conventions/tools_mtime"] == 5


def test_daily_lines_grow_by_day_newest_first() -> None:
    text = daily.with_day("# Daily\n", "2026-04-05", ["b; c"])
    text = daily.with_day(text, "2026-04-06", ["a"])
    text = daily.with_day(text, "2026-04-06", ["a", "d -->"])
    assert text == "# Daily\n\n- 2026-04-06: a; d --\\>\n- 2026-04-05: b, c\n"
    assert daily.parse(text)[0].points == ("a", "d -->")
    assert daily.with_day(text, "2026-04-06", ["a"]) == text
    assert daily.without_points(daily.without_points(text, "2026-04-06", ["a"]), "2026-04-06", ["d -->"]) == (
        "# Daily\n\n- 2026-04-05: b, c\n"
    )


def _message(text: str, voice: Voice = Voice.PERSON) -> Message:
    room = RoomKey("slack:T1:C9")
    return Message(MessageKey(f"{room}:1"), Conversation(room), PersonKey("slack:T1:U2"), "ana", text, AT, voice)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/app/main.py, please", ["src/app/main.py"]),
        ("log in /var/log/app.log.", ["/var/log/app.log"]),
        ("read https://example.org/a?b=1.", ["https://example.org/a?b=1"]),
        ("it answers GET /v1/users now", ["GET /v1/users"]),
        ("set MAX_CONN=20 and --level=debug", ["MAX_CONN=20", "--level=debug"]),
        ("fixed in commit 9f2c1ab", ["9f2c1ab"]),
        ("db is 10.0.0.9:5432, v2.3.1", ["10.0.0.9:5432", "v2.3.1"]),
        ("and/or, either/or, 24/7, w/o; 3.5 of 10", []),
        ("haha :) that was 100% fun e.g. on 2026-04-06 at 14:02", []),
        ("TOKEN=[masked secret]", []),
        ("路径是 src/app/main.py。", ["src/app/main.py"]),
    ],
)
def test_anchors_are_found_by_form(text: str, found: list[str]) -> None:
    assert [anchor.text for anchor in anchors([_message(text), _message(text)])] == found
    assert anchors([_message(text, Voice.SELF)]) == ()
