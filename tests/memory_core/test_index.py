"""Reading an index: lenient, complete, and never a page outside the scope."""

from __future__ import annotations

from datetime import date
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.index import Index, new_index, page_named, parse
from memory_core.index_lines import outline
from memory_core.layouts import APM, Priority
from tests.scale import scale

GROUP, DIRECT = APM.group, APM.direct
PLAIN = """---
group_name: build
rooms: ["discord:1", 'slack:T1:C2']
purpose: Build and ship
timezone: Asia/Shanghai
memory_budget: 6000
---

# build

## Hard Rules

- Never deploy on Friday.
- Ask Ana before
  touching the database.

## Routing Index

| Trigger Scenario | Load File | Priority |
|---|---|---|
| tasks, blocked | attention.md | P0 |
| deploy \\| release | `memory/groups/build/project.md` | P1 |
| [DEPRECATED] old lore | experience.md | P2 |
| api style | [api](conventions/api.md) | P3 |
"""


def pages(index: Index) -> list[str]:
    return [route.page for route in index.routes]


def test_a_plain_index() -> None:
    index = parse(PLAIN, GROUP)
    assert index.problems == ()
    assert index.purpose == "Build and ship"
    assert index.status == "active"
    assert index.rooms == ("discord:1", "slack:T1:C2")
    assert index.zone == ZoneInfo("Asia/Shanghai")
    assert index.budget(1) == (6000, "")
    assert index.rules == ("Never deploy on Friday.", "Ask Ana before touching the database.")
    assert pages(index) == ["attention", "project", "experience", "conventions/api"]
    assert [route.trigger for route in index.routes] == [
        "tasks, blocked",
        "deploy | release",
        "old lore",
        "api style",
    ]
    assert [route.deprecated for route in index.routes] == [False, False, True, False]
    assert index.routes[3].priority is Priority.P3


@pytest.mark.parametrize("before", ["\ufeff", "\n", "\r\n\r\n", "\ufeff\n  \n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_case_69_a_bom_and_blank_lines_hide_nothing(before: str, newline: str) -> None:
    index = parse(before + PLAIN.replace("\n", newline), GROUP)
    plain = parse(PLAIN, GROUP)
    assert (index.front, index.rooms, index.rules, index.routes) == (
        plain.front,
        plain.rooms,
        plain.rules,
        plain.routes,
    )


def test_case_70_a_head_that_is_no_yaml_is_reported_and_read() -> None:
    head = '---\npurpose: Ops: night shift\npath: C:\\data\nstar: *oops\nquote: "open\nnonsense here\n---\n'
    index = parse(head + PLAIN.split("---\n", 2)[2], GROUP)
    assert index.purpose == "Ops: night shift"
    assert index.front["path"] == "C:\\data"
    assert index.rules
    assert index.routes
    told = " ".join(index.problems)
    assert all(part in told for part in ("`purpose`", "`star`", "`quote`", "line 6"))
    assert "`path`" not in told


@pytest.mark.parametrize("rule", ["---\n\n", "---\n# Notes\n\n", "---\n| a | b |\n"])
def test_case_70_a_file_that_begins_with_a_rule_line(rule: str) -> None:
    body = PLAIN.split("---\n", 2)[2]
    index = parse(rule + body, GROUP)
    assert pages(index) == pages(parse(PLAIN, GROUP))
    assert index.front == {}
    assert index.problems


def test_case_70_a_head_that_is_never_closed() -> None:
    index = parse("---\npurpose: x\n\n## Hard Rules\n\n- one\n\n## Routing Index\n\n|a|project.md|P1|\n", GROUP)
    assert (index.purpose, index.rules, pages(index)) == ("x", ("one",), ["project"])
    assert "not closed" in index.problems[0]


def test_lists_and_long_values_in_the_head() -> None:
    index = parse("---\nrooms:\n  - discord:1\n- 'slack:T:C'\npurpose: >\n  two\n  lines\nEmpty Key:\n---\n", GROUP)
    assert index.rooms == ("discord:1", "slack:T:C")
    assert index.purpose == "two lines"
    assert index.front["empty_key"] == ""


def test_a_table_in_other_words_and_another_order() -> None:
    text = (
        "## 一、硬规则（必读）\n1. 不要删库\n2、周五不发布\n\n## 路由索引\n优先级 | 触发场景 | 加载文件\n:-:|---|--\n"
        "P1 | 部署, 发布 | project.md\np3 | 联系人 | People.md\n"
    )
    index = parse(text, GROUP)
    assert index.rules == ("不要删库", "周五不发布")
    assert [(route.trigger, route.page, route.priority) for route in index.routes] == [
        ("部署, 发布", "project", Priority.P1),
        ("联系人", "people", Priority.P3),
    ]


def test_rows_without_a_header_and_arrows() -> None:
    text = (
        "## Routing\n| attention.md | P0 | tasks |\n\n## Routing Table\n- 部署, 发布 -> project.md\n* who → people\n"
    )
    index = parse(text, GROUP)
    assert [(route.trigger, route.page) for route in index.routes] == [
        ("tasks", "attention"),
        ("部署, 发布", "project"),
        ("who", "people"),
    ]
    assert index.routes[2].priority is Priority.P3


def test_a_routing_table_is_known_by_its_header_too() -> None:
    index = parse("# x\n\n## Where to look\n\nTrigger | File\n---|---\ndeploy | project.md\n\nnot | a route\n", GROUP)
    assert pages(index) == ["project"]


def test_fences_comments_and_the_catalogue_hold_no_routes() -> None:
    row = "| x | project.md | P1 |\n"
    text = (
        f"## Routing Index\n\n```\n{row}```\n<!-- {row.strip()} -->\n<!--\n{row}-->\n| y | people.md | P3 |\n"
        f"<!-- remem:catalogue: derived -->\n{row}<!-- /remem:catalogue -->\n## Hard Rules\n<!-- none yet -->\n"
    )
    index = parse(text, GROUP)
    assert pages(index) == ["people"]
    assert index.rules == ()


@pytest.mark.parametrize("stray", ["```\n", "<!-- oops\n", "text <!-- oops\n", "<!-- remem:catalogue: -->\n"])
def test_a_stray_mark_hides_nothing(stray: str) -> None:
    assert pages(parse(PLAIN.replace("## Routing", stray + "## Routing"), GROUP)) == pages(parse(PLAIN, GROUP))


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("attention", "attention"), ("Attention", "attention"), ("conventions/api", "conventions/api"),
        ("memory/groups/x/project", "project"), ("memory/groups/x/conventions/api", "conventions/api"),
        ("x/people", "people"), ("journal/2026-04-06", "journal/2026-04-06"),
        ("memory/groups/x/journal/2026-04-06", "journal/2026-04-06"), ("SOUL", "soul"),
        ("docs/people", None), ("../secrets", None), ("conventions/../../x", None), ("state/flush", None),
        ("index", None), ("archive/2026-03", None), ("memory/main/longterm", None), ("conventions/a/b", None),
        ("", None), ("a//b", None),
    ],
)  # fmt: skip
def test_page_named_in_a_group(path: str, page: str | None) -> None:
    assert page_named(path, GROUP, "x") == page


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("USER", "user"), ("MEMORY", "memory"), ("memory/main/longterm", "longterm"),
        ("projects/论文", "projects/论文"),
        ("memory/main/projects/Atlas", "projects/Atlas"), ("memory/2026-04-06", "journal/2026-04-06"),
        ("memory/groups/x/people", None), ("people", None),
    ],
)  # fmt: skip
def test_page_named_in_a_dm(path: str, page: str | None) -> None:
    assert page_named(path, DIRECT) == page


def test_unknown_files_and_foreign_folders_are_reported() -> None:
    rows = "| a | nowhere.md |\n| b | memory/groups/other/people.md |\n| c | project.md, people.md |\n"
    index = parse(f"---\ngroup_name: build\n---\n## Routing\n| Trigger | File |\n|---|---|\n{rows}", GROUP)
    assert pages(index) == ["people", "project", "people"]
    assert "nowhere" in index.problems[0]
    assert "another group" in index.problems[1]


@pytest.mark.parametrize(
    ("written", "tokens", "warned"),
    [
        ("6000", 6000, False), ("6,000", 6000, False), ("6000 tokens", 6000, False), ("6000 # half", 6000, False),
        ("", 4000, False), ("500", 500, False), ("499", 500, True), ("0", 4000, True), ("-5", 4000, True),
        ("lots", 4000, True), ("6k", 4000, True), ("1e9", 4000, True), ("9" * 400, 4000, True), ("nan", 4000, True),
    ],
)  # fmt: skip
def test_the_budget(written: str, tokens: int, warned: bool) -> None:
    found, warning = parse(f"---\nmemory_budget: {written}\n---\n", GROUP).budget(4000)
    assert found == tokens
    assert bool(warning) == warned


def test_an_unknown_zone_is_reported() -> None:
    index = parse("---\ntimezone: Mars/Base\n---\n", GROUP)
    assert index.zone is None
    assert "Mars/Base" in index.problems[0]


_PIECES = st.sampled_from(
    ["---", "...", "key: value", "rooms: [a, b]", "## Hard Rules", "# x", "## Routing Index", "- rule", "",
     "| a | project.md | P1 |", "|---|---|---|", "```", "<!--", "-->", "<!-- remem:catalogue -->", "  text", "\ufeff",
     "<!-- /remem:catalogue -->", "a -> people.md", "| Trigger | File |", "触发 | 文件", "~~~", "\\|", "\x0b\u2028"]
)  # fmt: skip
_NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
ANY_INDEX = st.one_of(
    st.text(),
    st.lists(st.tuples(_PIECES, _NEWLINES), max_size=25).map(lambda parts: "".join(a + b for a, b in parts)),
)


@settings(max_examples=scale(4000))
@given(ANY_INDEX)
def test_the_outline_is_the_text_and_parsing_never_raises(text: str) -> None:
    assert "".join(line.whole for line in outline(text)) == text
    for table in (GROUP, DIRECT):
        index = parse(text, table)
        assert all(table.rule(route.page) for route in index.routes)
        assert index.budget(1000)[0] >= 500


def test_a_new_index_says_what_it_was_given() -> None:
    text = new_index(
        GROUP,
        name="Build & Co",
        rooms=["discord:1", "slack:T:C"],
        purpose="Ops: night shift",
        created=date(2026, 4, 6),
        zone="+08:00",
        pages=["conventions/api", "attention"],  # type: ignore[list-item]
    )
    index = parse(text, GROUP)
    assert index.problems == ()
    assert index.front["group_name"] == "Build & Co"
    assert index.front["created"] == index.front["last_updated"] == "2026-04-06"
    assert index.purpose == "Ops: night shift"
    assert index.rooms == ("discord:1", "slack:T:C")
    assert index.budget(1) == (GROUP.default_budget_tokens, "")
    assert pages(index) == ["attention", "project", "experience", "people", "conventions/api"]
    assert index.routes[1].trigger == ", ".join(GROUP.rule(index.routes[1].page).triggers)


def test_a_new_dm_index_routes_to_the_projects_on_disk() -> None:
    found = ["projects/home-server", "projects/论文", "user"]
    text = new_index(DIRECT, name="Ana", rooms=[], purpose="", created=date(2026, 4, 6), zone="UTC", pages=found)  # type: ignore[arg-type]
    index = parse(text, DIRECT)
    assert pages(index) == ["attention", "longterm", "daily-synced", "projects/home-server", "projects/论文"]
    assert index.routes[3].trigger == "home-server"
    assert index.problems == ()
