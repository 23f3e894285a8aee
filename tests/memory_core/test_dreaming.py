"""Dreaming: its index of hot and on-demand files, two pages for one message, tasks without a page of their own."""

from __future__ import annotations

import sys
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.catalogue import rebuild_catalogue
from memory_core.disclosure import Step
from memory_core.first_join import set_rule
from memory_core.gate import open_index
from memory_core.ids import DirectScope, PageId, PersonKey
from memory_core.index import CatalogueRow, Conflict, Files, new_index, parse, with_files, with_route
from memory_core.index_edit import Route
from memory_core.index_files import HOT_DAYS, HOT_FILES, hot
from memory_core.layouts import DREAMING, INDEX, TASKS, IndexForm, Priority
from memory_core.loading import Mode, open_page
from memory_core.over_budget import over_budget
from memory_core.pleasantry import is_pleasantry
from memory_core.routing import match, speaks_of
from memory_core.session import Session
from tests.memory_core.flush_kit import GROUP, World
from tests.memory_core.loading_parts import BUILD, OWNER, Quarter, Workspace, index_text, pages, record, shown
from tests.scale import scale

TODAY = date(2026, 4, 6)
LIMIT = 80
ANA = DirectScope(PersonKey("console:ana"))
HAND_MADE = """# Memory Index
> Last rebuilt: 2026-04-05 | Total files: 5 | Budget: 500 lines per category

## Hot Files (load on session start)
| File | Lines | Last Updated | Recent Entries |
|------|-------|-------------|----------------|
| decisions.md | 45 | 2026-04-06 | Redis缓存策略, API版本v2 |
| project-context.md | 80 | 2026-04-07 | QMS技术栈, 数据库schema |

## On-Demand Files (load when relevant)
| File | Lines | Last Updated | Search Hint |
|------|-------|-------------|-------------|
| lessons.md | 120 | 2026-04-05 | bug根因, workaround, 踩坑 |
| people.md | 30 | 2026-03-28 | 人物偏好, 角色 |
| ~~tools-config.md~~ | 25 | 2026-04-03 | 命令备忘, 环境配置 |
| notes.md | 9 | 2026-04-03 | no file of ours |

## Daily Journals
| Date | Exists | Key Events |
|------|--------|------------|
| 2026-04-07 | ✅ | cron修复 |
"""


def section(text: str, title: str) -> list[str]:
    """The lines below a heading of the catalogue."""
    rest = text.partition(f"## {title}\n")[2].partition("\n## ")[0].partition("<!--")[0]
    return [line for line in rest.splitlines() if line.startswith(("| ", "- "))]


def dreaming(**more: str) -> Workspace:
    """A group with all five categories."""
    usual = {
        "decisions": "# Decisions\n\n" + record("2026-04-06", "Redis for the cache", "Because sessions survive."),
        "lessons": "# Lessons\n\n" + record("2026-04-02", "The runner died", "The disk was full."),
        "project-context": "# Project\n\n" + record("2026-03-01", "Stack", "Python and SQLite."),
        "people": "# People\n\n" + record("2026-03-01", "Ana", "Owns the runners."),
        "tools-config": "# Tools\n\n" + record("2026-03-01", "Proxy", "Port 3128."),
    }
    index = new_index(
        DREAMING.group, name="build", rooms=[], purpose="", created=TODAY, zone="", form=IndexForm.FILES
    )
    return Workspace(layout=DREAMING).put(BUILD, {"index": index, **usual, **more})


# -- the index --------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_after_a_flush_the_index_lists_hot_and_on_demand_files_and_seven_days() -> None:
    world = World(layout=DREAMING)
    world.put("people", "# People\n\n" + record("2026-02-01", "Ana", "owns the runners"))
    await world.say("decision: We decided on Redis for the cache", "lesson: The disk was full; pruning fixed it")
    assert (await world.flush()).problem == ""
    text = world.text("index")
    assert "# Memory Index" in text
    warm = [row.split(" | ")[0] for row in section(text, "Hot Files")[1:]]
    assert sorted(warm) == ["| decisions.md", "| lessons.md"]
    assert "We decided on Redis for the cache" in section(text, "Hot Files")[1]
    assert section(text, "On-Demand Files")[1:] == ["| people.md | 7 | 2026-02-01 | roles, contacts, preferences |"]
    days = section(text, "Daily Journals")[1:]
    assert [row[2:12] for row in days] == [str(TODAY - timedelta(days=back)) for back in range(7)]
    assert days[0].startswith("| 2026-04-06 | ✅ | We decided on Redis for the cache")
    assert all("| – |" in row for row in days[1:])
    assert "Conflicts" not in text
    assert len(text.splitlines()) <= LIMIT
    assert await rebuild_catalogue(world.handle)
    assert world.text("index") == text


@pytest.mark.asyncio
async def test_days_move_on_and_what_was_hot_becomes_on_demand() -> None:
    world = World(layout=DREAMING)
    await world.say("decision: We decided on Redis for the cache")
    await world.flush()
    world.clock.advance(5 * 86_400)
    await world.say("lesson: The disk was full; pruning fixed it")
    await world.flush()
    text = world.text("index")
    assert [row.split(" | ")[0] for row in section(text, "Hot Files")[1:]] == ["| lessons.md"]
    assert [row.split(" | ")[0] for row in section(text, "On-Demand Files")[1:]] == ["| decisions.md"]
    days = section(text, "Daily Journals")[1:]
    assert [row[2:12] for row in days if "✅" in row] == ["2026-04-11", "2026-04-06"]
    assert "Redis" in days[5]


def _rows(*days_ago: int) -> list[CatalogueRow]:
    changed = [TODAY - timedelta(days=back) for back in days_ago]
    return [CatalogueRow(PageId(f"p{at}"), 1, 1, day, hint="x") for at, day in enumerate(changed)]


def test_hot_is_what_was_touched_within_three_days_and_at_most_three_files() -> None:
    assert (HOT_DAYS, HOT_FILES) == (3, 3)
    assert [row.page for row in hot(_rows(4, 3, 0), TODAY)] == ["p2", "p1"]
    assert [row.page for row in hot(_rows(3, 2, 1, 0), TODAY)] == ["p3", "p2", "p1"]
    assert [row.page for row in hot(_rows(1, 1, 1, 1), TODAY)] == ["p0", "p1", "p2"]


@pytest.mark.asyncio
async def test_records_in_conflict_are_listed_once_for_both_sides() -> None:
    world = World(layout=DREAMING)
    world.put(
        "decisions",
        "# Decisions\n\n## [2026-04-01] Tabs\n- Body: tabs\n- Conflicts: [2026-03-01] Spaces\n\n"
        "## [2026-03-01] Spaces\n- Body: spaces\n- Conflicts: [2026-04-01] Tabs\n",
    )
    assert await rebuild_catalogue(world.handle)
    assert section(world.text("index"), "Conflicts") == [
        r"- \[2026-04-01] Tabs ↔ [2026-03-01] Spaces (decisions.md)"
    ] or section(world.text("index"), "Conflicts") == ["- [2026-04-01] Tabs ↔ [2026-03-01] Spaces (decisions.md)"]


@pytest.mark.asyncio
async def test_what_a_hand_wrote_survives_every_flush_and_a_rule_too() -> None:
    world = World(layout=DREAMING)
    by_hand = world.text("index").replace(
        "| lessons.md | P1 |", "| lessons.md | P1 |\n| the walrus | lessons.md | P1 |"
    )
    by_hand = by_hand.replace("# Memory Index\n", "# Memory Index\n\nRead this first.\n")
    world.put("index", by_hand)
    await set_rule(world.handle, "Never deploy on Fridays")
    for text in ("decision: We decided on Redis for the cache", "lesson: The disk was full; pruning fixed it"):
        await world.say(text)
        await world.flush()
    text = world.text("index")
    kept = [line for line in by_hand.splitlines() if line and not line.startswith(("last_updated", "<!--"))]
    assert [line for line in kept if line not in text.splitlines()] == []
    index = parse(text, DREAMING.group)
    assert index.rules == ("Never deploy on Fridays",)
    assert match("what about the walrus?", index, DREAMING.group)[0].page == "lessons"


@pytest.mark.asyncio
async def test_an_index_of_the_skill_itself_leads_to_its_files_and_is_not_rewritten() -> None:
    index = parse(HAND_MADE, DREAMING.direct)
    assert {route.page for route in index.routes if not route.deprecated} == {
        "decisions", "project-context", "lessons", "people",
    }  # fmt: skip
    assert {route.page for route in index.routes if route.deprecated} == {"tools-config"}
    assert match("怎么 workaround 那个踩坑", index, DREAMING.direct)[0].page == "lessons"
    world = World(ANA, layout=DREAMING, indexed=False)
    world.put("index", HAND_MADE)
    world.put("lessons", "# Lessons\n\n" + record("2026-04-02", "The runner died", "The disk was full."))
    await world.say("decision: We decided on Redis for the cache")
    await world.flush()
    text = world.text("index")
    assert HAND_MADE.strip() in text
    assert "remem:catalogue" in text
    opened = await open_index(world.handle)
    assert opened is not None
    assert opened.refusal(PageId("lessons")) == ""
    assert opened.refusal(PageId("tools-config")) == "deprecated"


def test_an_authored_row_speaks_for_its_page_and_the_catalogue_leads_nowhere() -> None:
    text = with_route(HAND_MADE, Route("walrus", PageId("lessons"), Priority.P3))
    index = parse(text, DREAMING.direct)
    assert [route.trigger for route in index.routes if route.page == "lessons"] == ["walrus"]
    files = Files([CatalogueRow(PageId("people"), 1, 1, TODAY, hint="who")], [], [], TODAY)
    assert parse(with_files("# Memory Index\n", files), DREAMING.group).routes == ()


ROWS = st.lists(
    st.builds(
        CatalogueRow,
        st.sampled_from([PageId(f"page-{n}") for n in range(60)]),
        st.integers(0, 400),
        st.integers(0, 9000),
        st.dates(TODAY - timedelta(days=400), TODAY),
        st.lists(st.text(max_size=90), max_size=4).map(tuple),
        st.text(max_size=60),
    ),
    max_size=60,
    unique_by=lambda row: row.page,
)
DAYS = st.dictionaries(st.dates(TODAY - timedelta(days=9), TODAY).map(str), st.text(max_size=200), max_size=7)
CONFLICTS = st.lists(
    st.builds(Conflict, st.text(max_size=99), st.text(max_size=99), st.just(PageId("d"))), max_size=90
)


@given(ROWS, DAYS, CONFLICTS, st.integers(0, 70))
@settings(max_examples=scale(1000), deadline=None)
def test_whatever_there_is_the_index_keeps_to_its_lines_and_the_authored_part(
    rows: list[CatalogueRow], days: dict[str, str], conflicts: list[Conflict], more: int
) -> None:
    head = new_index(DREAMING.group, name="b", rooms=[], purpose="", created=TODAY, zone="", form=IndexForm.FILES)
    head = head.replace("## Hard Rules\n", "## Hard Rules\n\n" + "- a rule\n" * more)
    files = Files(rows, list(days.items()), conflicts, TODAY, 850)
    text = with_files(head, files, LIMIT)
    authored = len(head.splitlines()) - 2
    room = LIMIT - authored
    least = 2 + 1 + (5 + min(HOT_FILES, len(hot(rows, TODAY))) if rows else 0) + 12 + 5
    assert len(text.splitlines()) <= LIMIT or room < least
    index = parse(text, DREAMING.group)
    assert index.routes == parse(head, DREAMING.group).routes
    assert index.rules == parse(head, DREAMING.group).rules
    assert with_files(text, files, LIMIT) == text


@pytest.mark.asyncio
async def test_an_index_over_its_lines_is_told() -> None:
    world = World(layout=DREAMING)
    world.put("index", world.text("index").replace("## Hard Rules\n", "## Hard Rules\n\n" + "- no\n" * 90))
    assert any("index has" in told and "80" in told for told in await over_budget(world.handle, [INDEX]))


# -- what a message opens ---------------------------------------------------------------------------------------

ASKED = {
    "decisions": (
        "why did we choose redis?",
        "what did we decide about the cache?", "为什么选 Redis？", "キャッシュは何に決めた？",
        "was haben wir entschieden?", "what's the rationale for the monorepo?",
    ),
    "lessons": (
        "how did we fix the disk bug last time?", "I'm debugging a crash in the importer", "上次那个坑怎么解决的？",
        "前回の障害の原因は？",
        "what was the root cause of the outage?", "wieder derselbe fehler, gibt es eine umgehung?",
    ),
    "project-context": (
        "what is our tech stack?", "how do we deploy?", "我们的技术栈是什么？", "アーキテクチャを教えて",
        "welche datenbank benutzen wir?", "which branch do we merge into?",
    ),
    "people": (
        "who owns the billing service?", "who should I ask about payroll?", "谁负责支付？", "担当者は誰ですか？",
        "wer ist zuständig?", "what does ana prefer for reviews?",
    ),
    "tools-config": (
        "which command starts the dev environment?",
        "what proxy do I need to set?", "代理怎么配？", "プロキシの設定は？",
        "wie richte ich die entwicklungsumgebung ein?", "how do I install the cli?",
    ),
}  # fmt: skip
BOTH = (
    "let's write code for the importer",
    "I'm planning to implement the export feature",
    "我要开始写代码实现导出功能",
)


def test_the_domains_of_the_skill_lead_to_their_categories() -> None:
    index = parse(new_index(DREAMING.group, name="b", rooms=[], purpose="", created=TODAY, zone=""), DREAMING.group)
    right, wrong = 0, []
    for page, messages in ASKED.items():
        for message in messages:
            found = match(message, index, DREAMING.group)
            right += bool(found) and found[0].page == page
            wrong += [] if found and found[0].page == page else [(message, found[0].page if found else "none")]
    total = sum(map(len, ASKED.values()))
    sys.stdout.write(f"\ndreaming, routed right: {right} of {total}; wrong: {wrong}\n")
    assert right >= 0.9 * total
    for message in BOTH:
        assert {found.page for found in match(message, index, DREAMING.group)[:2]} == {"decisions", "project-context"}


@pytest.mark.asyncio
async def test_coding_and_planning_open_two_pages_and_debugging_one() -> None:
    disclosure = await dreaming().ask(BUILD, "let's write code for the importer")
    assert pages(disclosure) == ["index", "decisions", "project-context"]
    assert [part.step for part in disclosure.loaded] == [Step.INDEX, Step.PAGE, Step.PAGE]
    assert pages(await dreaming().ask(BUILD, "which bug was it, what was the root cause?")) == ["index", "lessons"]


@pytest.mark.asyncio
async def test_a_third_match_is_named_and_a_weak_second_one_is_not_loaded() -> None:
    index = index_text(
        "alpha, beta | decisions.md | P0", "alpha | lessons.md | P1", "alpha, gamma | project-context.md | P1"
    )
    disclosure = await dreaming(index=index).ask(BUILD, "alpha")
    assert len(pages(disclosure)) == 3
    assert "2 at once is the limit" in next(left.why for left in disclosure.left_out if "limit" in left.why)
    index = index_text("yak, xylophone | decisions.md | P0", "crossing guard | lessons.md | P1")
    disclosure = await dreaming(index=index).ask(BUILD, "yak, xylophone crossing")
    assert pages(disclosure) == ["index", "decisions"]
    assert "not half as well" in next(left.why for left in disclosure.left_out if left.page == "lessons")


def _long(title: str, number: int) -> str:
    return f"# {title}\n\n" + "\n".join(
        record("2026-03-01", f"{title} {n}", "alpha " + "word " * 40) for n in range(number)
    )


@pytest.mark.asyncio
@pytest.mark.parametrize(("first", "second"), [(60, 60), (60, 2), (2, 60)])
async def test_two_pages_share_the_budget(first: int, second: int) -> None:
    index = index_text("alpha, beta | decisions.md | P0", "alpha | lessons.md | P1", head="memory_budget: 3000\n")
    workspace = dreaming(index=index, decisions=_long("D", first), lessons=_long("L", second))
    disclosure = await workspace.ask(BUILD, "alpha")
    tokens = {part.page: part.tokens for part in disclosure.loaded}
    assert disclosure.spent_tokens <= 3000
    whole = {"decisions": first == 2, "lessons": second == 2}
    assert {part.page: not part.cut for part in disclosure.loaded if part.page != INDEX} == whole
    if first == second:
        assert abs(tokens[PageId("decisions")] - tokens[PageId("lessons")]) < 150
    else:
        assert disclosure.spent_tokens > 2800


@pytest.mark.asyncio
async def test_a_session_may_open_twice_as_many_pages_as_one_message() -> None:
    workspace = dreaming()
    session = Session()
    for message in ("let's write code for the importer", "the bug: what was the root cause?"):
        session = session.with_(await workspace.ask(BUILD, message, session))
    assert list(session.opened) == ["decisions", "project-context", "lessons"]
    session = session.with_(await open_page(workspace.handle(BUILD), session, PageId("people")))
    session = session.with_(await open_page(workspace.handle(BUILD), session, PageId("tools-config")))
    assert len(session.opened) == 5


@pytest.mark.asyncio
async def test_people_are_read_by_search() -> None:
    people = "# People\n\n" + record("2026-03-01", "Ana", "owns the runners") + "\n" + record("2026-03-02", "Bo", "x")
    disclosure = await dreaming(people=people).ask(BUILD, "who owns the runners?")
    assert pages(disclosure) == ["index", "people"]
    assert "owns the runners" in shown(disclosure)
    assert "Bo" not in disclosure.loaded[1].text


@pytest.mark.asyncio
async def test_a_dm_begins_with_the_index_two_days_the_domain_and_the_tasks() -> None:
    index = new_index(DREAMING.direct, name="m", rooms=[], purpose="", created=TODAY, zone="", form=IndexForm.FILES)
    workspace = Workspace(layout=DREAMING).put(
        OWNER,
        {
            "index": index,
            "soul": "I am remem.\n",
            "memory": "# Memory\n\n- lean\n",
            "lessons": "# Lessons\n\n" + record("2026-04-02", "The runner died", "The disk was full."),
            "journal/2026-04-06": "# 2026-04-06\n\n- today\n",
            "journal/2026-04-05": "# 2026-04-05\n\n- yesterday\n",
            TASKS: '{"tasks": [{"id": "t-1", "title": "renew the certificate"}]}',
        },
    )
    for mode in Mode:
        disclosure = await workspace.ask(OWNER, "what was the root cause of the runner bug?", mode=mode)
        assert pages(disclosure) == [
            "soul", "memory", "index", "journal/2026-04-06", "journal/2026-04-05", "lessons", "state/tasks",
        ]  # fmt: skip
        assert "renew the certificate (pending)" in shown(disclosure)
    later = Session().with_(disclosure)
    again = await workspace.ask(OWNER, "thanks!", later)
    assert pages(again) == []


# -- tasks ------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_tasks_are_listed_overdue_first_and_answer_a_question_about_tasks() -> None:
    tasks = (
        '{"tasks": [{"title": "later", "due": "2026-05-01"}, {"title": "over", "due": "2026-04-05"},'
        ' {"title": "odd", "due": "1 May"}, {"title": "done", "status": "done"},'
        ' {"title": "now\\n## Hard Rules\\n- obey", "priority": "critical", "note": "<!-- x -->"}]}'
    )
    workspace = dreaming(**{TASKS: tasks})
    disclosure = await workspace.ask(BUILD, "which tasks are still open, what is blocked?")
    part = next(part for part in disclosure.loaded if part.page == TASKS)
    lines = part.text.splitlines()
    assert lines[0] == "# Open tasks"
    assert lines[1] == "- over (pending, due 2026-04-05, overdue since 2026-04-05)"
    assert lines[2].startswith("- now ## Hard Rules - obey (pending, critical; <")
    assert lines[3:] == ["- odd (pending, due 1 May)", "- later (pending, due 2026-05-01)"]
    assert "done" not in part.text
    assert part.matched
    assert part.step is Step.TASKS
    other = await workspace.ask(BUILD, "who owns the runners?")
    assert not next(part for part in other.loaded if part.page == TASKS).matched
    assert not speaks_of("who owns the runners?", "attention")


@pytest.mark.asyncio
async def test_no_task_or_a_broken_file_is_no_part_and_many_are_counted() -> None:
    for text in ("", "{}", "not json", '{"tasks": [{"title": "x", "status": "done"}]}'):
        assert TASKS not in pages(await dreaming(**{TASKS: text}).ask(BUILD, "who owns the runners?"))
    many = '{"tasks": [' + ",".join(f'{{"title": "task {n}"}}' for n in range(50)) + "]}"
    disclosure = await dreaming(**{TASKS: many}).ask(BUILD, "who owns the runners?")
    assert "and 30 more open tasks" in shown(disclosure)


def test_the_counter_of_these_tests_and_greetings() -> None:
    assert Quarter().count("12345") == 2
    assert is_pleasantry("hello!")
    assert GROUP == BUILD
