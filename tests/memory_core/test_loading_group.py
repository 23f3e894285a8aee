"""A group's disclosure: five steps, ceilings, what a hand changed, what is left out."""

from __future__ import annotations

import re

import pytest

from memory_core.disclosure import Step
from memory_core.errors import Denied
from memory_core.ids import PageId
from memory_core.layouts import Priority
from memory_core.loading import Mode, open_page, search_memory
from memory_core.session import Session
from tests.memory_core.audit_kit import found
from tests.memory_core.loading_parts import (
    ATTENTION,
    BUILD,
    EXPERIENCE,
    GROUP_INDEX,
    PEOPLE,
    PROJECT,
    Workspace,
    group,
    index_text,
    pages,
    record,
    shown,
)

CHANGED = "changed by hand since it was loaded"


def budget(tokens: int) -> str:
    """The usual index with another budget."""
    return GROUP_INDEX.replace("---\n\n# build", f"memory_budget: {tokens}\n---\n\n# build")


@pytest.mark.asyncio
async def test_the_five_steps_of_one_message() -> None:
    workspace = group()
    disclosure = await workspace.ask(BUILD, "How do we deploy to production?")
    assert [(step, re.sub(r"score \d\.\d", "score …", found)) for step, found in disclosure.trail] == [
        (Step.NAME, "#build: group:build"),
        (Step.INDEX, "4 rows, 94 tokens"),
        (Step.INTENT, "project, score …"),
        (Step.PAGE, 'project: "deploy" in row "tech stack, architecture, deploy", score …'),
        (Step.CONVENTION, "conventions/deploy: project names it"),
        (Step.BUDGET, "131 of 6000 tokens are spent"),
    ]
    assert [(part.step, part.page, part.priority, part.tokens) for part in disclosure.loaded] == [
        (Step.INDEX, "index", None, 94),
        (Step.PAGE, "project", Priority.P1, 24),
        (Step.CONVENTION, "conventions/deploy", None, 13),
    ]
    assert shown(disclosure).endswith(
        "# Project\n## Stack\nPython and SQLite.\n\n## Deploy\nEvery deploy follows conventions/deploy.md.\n\n"
        "# Deploying\n- Tag, then push.\n- Never on a Friday.\n"
    )
    assert workspace.read_by(BUILD) == ["index", "project", "conventions/deploy"]
    assert (disclosure.breaker, disclosure.spent_tokens, disclosure.budget_tokens) == (False, 131, 6000)


@pytest.mark.asyncio
@pytest.mark.parametrize("message", ["hi!", "thanks a lot", "你好", ""])
async def test_a_greeting_loads_the_index_only_and_leaves_the_page_for_the_first_question(message: str) -> None:
    workspace = group()
    session = Session().with_(await workspace.ask(BUILD, message))
    assert session.loaded == ("index",)
    assert pages(await workspace.ask(BUILD, "What is blocked?", session)) == ["attention"]


@pytest.mark.asyncio
async def test_where_no_row_matches_p0_is_loaded_and_an_empty_page_falls_to_it() -> None:
    workspace = group(people="# People\n\n<!-- nobody yet -->\n")
    assert pages(await workspace.ask(BUILD, "zebra crossing?")) == ["index", "attention"]
    disclosure = await workspace.ask(BUILD, "Whom may I contact?")
    assert pages(disclosure) == ["index", "attention"]
    assert [(left.page, left.why) for left in disclosure.left_out] == [("people", "it is empty")]
    workspace.put(BUILD, {"index": index_text("contact | people.md | P3", "contact, roadmap | project.md | P1")})
    assert "project" in pages(await workspace.ask(BUILD, "Whom may I contact?"))


@pytest.mark.asyncio
async def test_a_page_that_does_not_exist_is_named_and_p0_is_loaded() -> None:
    workspace = Workspace().put(BUILD, {"index": GROUP_INDEX, "attention": ATTENTION})
    disclosure = await workspace.ask(BUILD, "What is our tech stack?")
    assert pages(disclosure) == ["index", "attention"]
    assert ("project", "it does not exist yet") in [(left.page, left.why) for left in disclosure.left_out]
    assert "what matched holds nothing" in disclosure.loaded[-1].why


@pytest.mark.asyncio
async def test_p2_is_read_by_search_and_the_newest_come_where_nothing_matches() -> None:
    workspace = group()
    disclosure = await workspace.ask(BUILD, "Which decision about Redis?")
    page = disclosure.loaded[1]
    assert (page.page, page.cut, len(page.records)) == ("experience", True, 1)
    assert "Redis over Memcached" in page.text
    assert "2 parts without a match" in [left.what for left in disclosure.left_out]
    assert "Fitness" not in page.text
    newest = (await workspace.ask(BUILD, "Which decision was the latest?")).loaded[1]
    assert newest.text.index("Redis") < newest.text.index("Fridays") < newest.text.index("Ubuntu")


@pytest.mark.parametrize(("said", "wanted"), [("on March 12", "2026-03-12"), ("three weeks ago", "2026-03-16")])
@pytest.mark.asyncio
async def test_a_day_that_the_message_names_is_seen_from_the_day_of_the_scope(said: str, wanted: str) -> None:
    days = [f"2026-03-{day:02}" for day in range(31, 8, -1)]
    page = "# Experience\n\n" + "\n".join(record(day, f"Runner {at}", "It broke.") for at, day in enumerate(days))
    workspace = group(experience=page, index=index_text("runner | experience.md | P2", head="memory_budget: 500\n"))
    shown = (await workspace.ask(BUILD, f"which runner broke {said}?")).loaded[-1].text
    assert wanted in shown
    assert sum(day in shown for day in days) < len(days)
    assert wanted not in (await workspace.ask(BUILD, "which runner broke?")).loaded[-1].text


@pytest.mark.asyncio
async def test_p2_takes_at_most_half_of_the_budget() -> None:
    many = "# Experience\n\n" + "\n".join(
        record(f"2026-01-{day:02}", f"Cache number {day}", "cache " * 40) for day in range(1, 29)
    )
    workspace = group(experience=many, index=budget(1000))
    disclosure = await workspace.ask(BUILD, "Which decision about the cache?")
    assert disclosure.budget_tokens == 1000
    assert disclosure.loaded[1].tokens <= 500
    assert not disclosure.breaker
    assert len(disclosure.loaded[1].records) + len(disclosure.left_out) == 28


@pytest.mark.asyncio
async def test_later_messages_load_a_page_only_where_it_is_clearly_meant_and_the_ceilings_allow() -> None:
    workspace = group()
    session = Session().with_(await workspace.ask(BUILD, "Which tasks are blocked?"))
    again = await workspace.ask(BUILD, "Is the task of ana still blocked?", session)
    assert "attention" not in pages(again)
    session = session.with_(await workspace.ask(BUILD, "What is our tech stack?", session))
    session = session.with_(await workspace.ask(BUILD, "Who is the owner?", session))
    assert list(session.opened) == ["attention", "project", "conventions/deploy", "people"]
    full = await workspace.ask(BUILD, "What decision did we take, and why?", session)
    assert all(part.step is Step.SEARCH for part in full.loaded)
    assert "2 of 2 pages of P0 to P2" in full.left_out[0].why


@pytest.mark.asyncio
async def test_later_messages_get_excerpts_that_the_conversation_does_not_hold_yet() -> None:
    workspace = group()
    session = Session().with_(await workspace.ask(BUILD, "Which tasks are open?"))
    found = await workspace.ask(BUILD, "The Debian image lacked a driver, remember?", session)
    assert [(part.page, part.step) for part in found.loaded] == [("experience", Step.SEARCH)]
    assert "GPU driver" in shown(found)
    again = await workspace.ask(BUILD, "The Debian image lacked a driver, remember?", session.with_(found))
    assert again.loaded == ()


@pytest.mark.asyncio
async def test_after_a_hand_edit_only_the_changed_records_come_and_they_are_counted() -> None:
    workspace = group()
    session = Session().with_(await workspace.ask(BUILD, "Who is the owner of the runners?"))
    before = session.spent_tokens
    new = "\n## [2026-04-06] Bo\n- Body: has the keys\n"
    workspace.put(BUILD, {"people": PEOPLE + new})
    disclosure = await workspace.ask(BUILD, "ok, thanks", session)
    assert [(part.page, part.why) for part in disclosure.loaded] == [
        ("people", "changed by hand since it was loaded")
    ]
    assert "has the keys" in shown(disclosure)
    assert "owns the runners" not in shown(disclosure)
    assert disclosure.spent_tokens == before + disclosure.tokens > before
    session = session.with_(disclosure)
    assert (await workspace.ask(BUILD, "ok, thanks", session)).loaded == ()
    workspace.put(BUILD, {"people": "# People\n" + new})
    gone = await workspace.ask(BUILD, "ok, thanks", session)
    assert "[no longer on people: [2026-03-01] Ana]" in shown(gone)
    assert (await workspace.ask(BUILD, "ok, thanks", session.with_(gone))).loaded == ()


@pytest.mark.asyncio
async def test_what_the_bot_wrote_is_not_loaded_again_and_a_changed_index_is() -> None:
    workspace = group()
    session = Session().with_(await workspace.ask(BUILD, "Who is the owner of the runners?"))
    stamp = workspace.stores.put(BUILD, PageId("people"), f"{PEOPLE}\n## [2026-04-06] Bo\n- Body: x\n".encode())
    assert stamp is not None
    session = session.wrote(PageId("people"), stamp.sha256)
    assert (await workspace.ask(BUILD, "ok, thanks", session)).loaded == ()
    workspace.put(BUILD, {"index": GROUP_INDEX.replace("- Answer in English.", "- Answer in English.\n- Be brief.")})
    changed = await workspace.ask(BUILD, "ok, thanks", session)
    assert pages(changed) == ["index"]
    assert "Be brief" in shown(changed)
    assert "Answer in English" not in shown(changed)


@pytest.mark.asyncio
async def test_one_convention_the_best_match_and_never_by_a_row_alone() -> None:
    index = index_text(
        "tech stack, api | project.md | P1", "zap | conventions/deploy.md | P1", "tasks | attention.md | P0"
    )
    project = "# P\n\n- API design: conventions/api.md\n- Releases: conventions/deploy.md\n"
    workspace = group(index=index, project=project, conventions__api="# API\n\n- JSON only.\n")
    disclosure = await workspace.ask(BUILD, "Tech stack: how do we zap?")
    assert pages(disclosure) == ["index", "project", "conventions/deploy"]
    assert "conventions/api" in [left.page for left in disclosure.left_out]
    by_row = await workspace.ask(BUILD, "zap?")
    assert pages(by_row) == ["index", "attention"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("project", "noted"),
    [
        ("# Project\n\nConventions: see conventions/api.md\n", False),
        ("# Project\n\n## Conventions\n\nThey stand in:\n- conventions/api.md\n- `conventions/deploy`\n", False),
        ("# Project\n\nConventions: see conventions/api.md\n\nWe write Go.\n", True),
    ],
)
async def test_a_page_that_only_points_to_its_conventions_is_in_order(project: str, noted: bool) -> None:
    workspace = group(project=project, conventions__api="# API\n\n- JSON only.\n")
    disclosure = await workspace.ask(BUILD, "What is our tech stack?")
    assert "project" in pages(disclosure)
    assert [note for note in disclosure.notes if note.startswith("project ")] == [
        "project holds no entry in remem's form; it is read as plain text."
    ] * noted
    told = await found({"project": project}, scope=BUILD)
    assert ("page-free-text" in told) is noted


@pytest.mark.asyncio
async def test_excerpts_take_the_best_records_of_all_routed_pages() -> None:
    workspace = group()
    disclosure = await workspace.ask(BUILD, "What do we know about runners and Redis?", mode=Mode.EXCERPTS)
    assert set(pages(disclosure)) == {"index", "experience", "people", "attention"}
    assert "Fridays" not in shown(disclosure)
    assert all(part.step is Step.SEARCH for part in disclosure.loaded[1:])
    nothing = await workspace.ask(BUILD, "zebra?", mode=Mode.EXCERPTS)
    assert pages(nothing) == ["index", "attention"]


@pytest.mark.asyncio
async def test_case_67_a_hand_made_page_loads_as_text_with_one_note() -> None:
    text = "# Lessons\n\n## Caches\n\n- Redis beats Memcached\n- TTL is 5 min\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    workspace = group(experience=text)
    disclosure = await workspace.ask(BUILD, "Which lesson about Redis?")
    assert "- Redis beats Memcached" in shown(disclosure)
    assert [note for note in disclosure.notes if "experience" in note] == [
        "experience holds no entry in remem's form; it is read as plain text."
    ]
    assert workspace.stores.raw(BUILD, PageId("experience")) == text.encode()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("content", "offset"),
    [
        (b"# A\n\n- caf\xe9 is blocked\n", 10),
        ("# A\n\n- 部署 blocked\n".encode("gbk"), 7),
    ],
)
async def test_case_68_a_wrong_byte_is_marked_and_named_and_the_rest_loads(content: bytes, offset: int) -> None:
    workspace = group(attention=content)
    disclosure = await workspace.ask(BUILD, "What is blocked?")
    assert "\ufffd" in disclosure.loaded[1].text
    note = next(note for note in disclosure.notes if "UTF-8" in note)
    assert note.startswith(f"memory/groups/build/attention.md: the byte at offset {offset}")
    assert workspace.stores.raw(BUILD, PageId("attention")) == content


@pytest.mark.asyncio
async def test_case_68_utf_16_is_read_and_named() -> None:
    content = b"\xff\xfe" + "- blocked by the licence\n".encode("utf-16-le")
    disclosure = await group(attention=content).ask(BUILD, "What is blocked?")
    assert "blocked by the licence" in disclosure.loaded[1].text
    assert any("attention.md: the byte at offset 0" in note for note in disclosure.notes)


@pytest.mark.asyncio
async def test_memory_open_shows_a_page_within_the_ceilings_and_only_once() -> None:
    workspace = group()
    handle = workspace.handle(BUILD)
    session = Session().with_(await workspace.ask(BUILD, "Which decision about Redis?"))
    rest = await open_page(handle, session, PageId("experience"), about="Friday")
    assert "Redis over Memcached" not in shown(rest)
    assert "Fridays" in shown(rest)
    session = session.with_(rest)
    with pytest.raises(Denied) as refused:
        await open_page(handle, session, PageId("experience"))
    assert refused.value.reason == "already_loaded"
    session = session.with_(await open_page(handle, session, PageId("project")))
    session = session.with_(await open_page(handle, session, PageId("conventions/deploy")))
    for page, reason in (
        ("attention", "over_ceiling"),
        ("journal/2026-04-06", "search_only"),
        ("memory", "not_in_layout"),
    ):
        with pytest.raises(Denied) as refused:
            await open_page(handle, session, PageId(page))
        assert refused.value.reason == reason
    workspace.put(BUILD, {"people": "# People\n"})
    with pytest.raises(Denied) as refused:
        await open_page(handle, session, PageId("people"))
    assert refused.value.reason == "missing"


@pytest.mark.asyncio
async def test_memory_search_spends_the_budget_and_stops_at_it() -> None:
    tiny = budget(500)
    workspace = group(index=tiny, experience=EXPERIENCE.replace("Two broken", "word " * 400 + "Two broken"))
    handle = workspace.handle(BUILD)
    session = Session().with_(await workspace.ask(BUILD, "hi"))
    found = await search_memory(handle, session, "Redis")
    assert found.spent_tokens == session.spent_tokens + found.tokens
    with pytest.raises(Denied) as refused:
        await search_memory(handle, session.with_(found), "weekends")
    assert refused.value.reason == "over_budget"
    assert (await search_memory(handle, session, "zebra")).loaded == ()


@pytest.mark.asyncio
async def test_a_page_too_large_is_cut_between_its_parts_and_says_so() -> None:
    project = "# Project\n\n" + "\n".join(f"## Part {n}\n\n{'words ' * 60}about topic{n}.\n" for n in range(40))
    workspace = group(project=project, index=budget(900))
    disclosure = await workspace.ask(BUILD, "What is the architecture of topic31?")
    page = disclosure.loaded[1]
    assert page.cut
    assert "about topic31." in page.text
    assert "of 40 parts of project are left out here" in page.text
    assert disclosure.breaker
    assert "The memory budget of 900 tokens stopped the loading" in disclosure.notes[-1]
    assert len(disclosure.left_out) + page.text.count("## Part") == 40
    assert disclosure.spent_tokens <= 900
    assert PROJECT not in page.text


@pytest.mark.asyncio
async def test_an_invalid_budget_and_problems_of_the_index_are_noted() -> None:
    index = index_text("tasks | attention.md | P0", "x | ../../MEMORY.md | P1", head="memory_budget: lots\n")
    disclosure = await group(index=index).ask(BUILD, "hi")
    assert disclosure.budget_tokens == 6000
    assert "memory_budget is 'lots'" in disclosure.notes[0]
    assert any("MEMORY" in note for note in disclosure.notes[1:])


@pytest.mark.asyncio
async def test_an_index_with_thousands_of_lines_too_many_names_the_first_and_how_many() -> None:
    rows = [f"topic{number} | conventions/c{number}.md | P3" for number in range(3000)]
    disclosure = await group(index=index_text(*rows)).ask(BUILD, "topic7")
    (note,) = [one for one in disclosure.notes if one.startswith("The index is too large")]
    assert note.count("routing row") == 6
    assert re.search(r"; and 2,?\d{3} more\.$", note), note
    assert len(note) < 1000
    assert len(disclosure.left_out) < 20
