"""Rules of every disclosure, whatever the pages, budgets, messages and sessions: budget, ceilings, nothing silent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.errors import Denied
from memory_core.forms.units import units_of
from memory_core.ids import PageId, Scope
from memory_core.index import new_index, with_front, with_rule
from memory_core.layouts import APM, INDEX, LAYOUTS, TASKS, Form, Layout, Priority
from memory_core.loading import Mode, open_page, search_memory
from memory_core.loading.budget import fit
from memory_core.loading.plan import authored
from memory_core.session import Session
from memory_core.tokens import Counter, load_counter
from tests.memory_core.loading_parts import BUILD, DIRECT_INDEX, GROUP_INDEX, OWNER, Quarter, Workspace, record, shown
from tests.scale import scale

_SAID = "redis cache deploy Friday 决定用缓存 部署 who blocked tasks <|endoftext|> 𝔘𝔫𝔦 a/b —"
WORDS = st.sampled_from([*_SAID.split(), "x" * 900])
SENTENCE = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
RECORD = st.builds(
    lambda day, title, body: record(f"2026-01-{day:02}", title[:60], body), st.integers(1, 28), SENTENCE, SENTENCE
)
PROSE = st.one_of(
    SENTENCE,
    SENTENCE.map(lambda text: f"## {text[:60]}"),
    st.lists(SENTENCE, min_size=1, max_size=8).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.just("- see conventions/api.md and conventions/deploy.md"),
    st.integers(1, 4000).map(lambda n: "汉" * n),
)
PAGE = st.lists(st.one_of(RECORD, PROSE), max_size=25).map(lambda parts: "# Page\n\n" + "\n\n".join(parts) + "\n")
MESSAGE = st.one_of(
    SENTENCE.map(lambda text: text[:200]),
    st.sampled_from(["hi", "which tasks are blocked?", "which decision, why?", "who is the owner?", ""]),
    st.sampled_from(["部署怎么做？", "tech stack", "atlas", "what happened yesterday?"]),
)
_APM_GROUP = (
    *("attention", "project", "experience", "people"),
    *("conventions/api", "conventions/deploy", "journal/2026-04-05"),
)
_APM_DIRECT = (
    *("soul", "user", "memory", "attention", "longterm", "daily-synced", "projects/atlas"),
    *("journal/2026-04-06", "journal/2026-04-05", "archive/2026-01"),
)


@cache
def real_counter() -> Counter:
    """The tokenizer, loaded once."""
    return load_counter()


_TASKS = '{"tasks": [{"title": "redis cache deploy"}, {"title": "决定用缓存", "due": "2026-01-01"}]}'


def _written(layout: Layout, scope: Scope) -> tuple[tuple[str, ...], str]:
    """The pages that a scope has, and its index; every layout's from its table, apm's with rows of a person's own."""
    if layout == APM:
        return (_APM_GROUP, GROUP_INDEX) if scope == BUILD else (_APM_DIRECT, DIRECT_INDEX)
    table = layout.table(scope)
    own = [rule.page for rule in table.rules if rule.form not in (Form.INDEX, Form.STATE) and "*" not in rule.page]
    index = new_index(
        table, name="b", rooms=[], purpose="", created=date(2026, 1, 1), zone="", form=layout.index_form
    )
    index = with_rule(index, "Answer in English.")
    days = ("journal/2026-04-06", "journal/2026-04-05", "archive/2026-01")
    return (*own[::-1], *days), index


def _workspace(
    scope: Scope,
    texts: list[str],
    budget_tokens: int,
    catalogue: int,
    counter: Counter,
    layout: Layout = APM,
) -> Workspace:
    names, index = _written(layout, scope)
    index = with_front(index, "memory_budget", str(budget_tokens))
    rows = "\n".join(f"- page {n}: 12 lines, 340 tokens" for n in range(catalogue))
    index += f"\n<!-- remem:catalogue: x -->\n## Catalogue\n{rows}\n<!-- /remem:catalogue -->\n"
    workspace = Workspace(counter=counter, layout=layout).put(scope, {"index": index, TASKS: _TASKS})
    return workspace.put(scope, {page: text for page, text in zip(names, texts, strict=False) if text})


def _check(workspace: Workspace, session: Session, disclosure: Disclosure) -> None:
    """The rules that hold after every disclosure; `session` is the one after it."""
    count = workspace.counter.count
    budget = disclosure.budget_tokens
    most = workspace.layout.table(disclosure.scope).session_pages
    assert all(part.tokens == count(part.text) and part.text for part in disclosure.loaded)
    assert disclosure.spent_tokens == session.spent_tokens <= budget
    everything = "".join(shown(one) for one in session.disclosures)
    assert count("".join(part.text for part in session.parts)) <= budget
    assert count(everything) <= budget + len(session.parts)
    assert sum(one is Priority.P3 for one in session.opened.values()) <= 1
    assert sum(one is None for one in session.opened.values()) <= 1
    assert sum(one is not None and one is not Priority.P3 for one in session.opened.values()) <= most
    assert bool(disclosure.breaker) == any("stopped the loading" in note for note in disclosure.notes)
    assert not disclosure.breaker or disclosure.left_out
    named = {left.page for left in disclosure.left_out}
    for part in disclosure.loaded:
        assert part.page.startswith("journal/") or "Fitness:" not in part.text
        if part.cut:
            assert part.page in named
        elif part.step in (Step.PAGE, Step.CONVENTION, Step.LAYER_0) and "changed" not in part.why:
            before = session.disclosures[: session.disclosures.index(disclosure)]
            held = {mark for one in before for old in one.loaded if old.page == part.page for mark in old.shown}
            _check_whole(workspace, disclosure.scope, part, held)


def _check_whole(workspace: Workspace, scope: Scope, part: Loaded, held: set[str]) -> None:
    """Nothing of a page that is called whole is missing, but for what the conversation `held` before."""
    page = part.page
    raw = workspace.stores.raw(scope, page)
    assert raw is not None
    text = raw.decode()
    form = workspace.layout.table(scope).rule(page).form
    units = units_of(page, form, authored(text) if page == INDEX else text).units
    assert tuple(unit.mark for unit in units if unit.mark not in held) == part.shown


async def _talk(workspace: Workspace, scope: Scope, messages: list[str], mode: Mode, edits: dict[int, str]) -> None:
    session = Session()
    for turn, message in enumerate(messages):
        if turn in edits and session.loaded:
            workspace.put(scope, {session.loaded[-1]: edits[turn]} if session.loaded[-1] != INDEX else {})
        disclosure = await workspace.ask(scope, message, session, mode)
        session = session.with_(disclosure)
        _check(workspace, session, disclosure)
        for page in ("experience", "conventions/api", "longterm", "lessons", "memory", TASKS):
            session = await _tools(workspace, scope, session, PageId(page), message)
    assert {one for one, _ in workspace.stores.reads} == {scope}


async def _tools(workspace: Workspace, scope: Scope, session: Session, page: PageId, message: str) -> Session:
    """The agent opens a page and searches, which is denied or keeps the rules."""
    for asked in (
        open_page(workspace.handle(scope), session, page, about=message),
        search_memory(workspace.handle(scope), session, message),
    ):
        try:
            disclosure = await asked
        except Denied:
            continue
        if disclosure.spent_tokens == session.spent_tokens + disclosure.tokens:
            session = session.with_(disclosure)
            _check(workspace, session, disclosure)
    return session


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation with a scope's memory."""

    layout: Layout
    scope: Scope
    texts: list[str]
    budget_tokens: int
    catalogue: int
    messages: list[str]
    mode: Mode
    edits: dict[int, str]

    def run(self, counter: Counter) -> None:
        """Say everything and check the rules after each message."""
        workspace = _workspace(self.scope, self.texts, self.budget_tokens, self.catalogue, counter, self.layout)
        asyncio.run(_talk(workspace, self.scope, self.messages, self.mode, self.edits))


TALKS = st.builds(
    Talk,
    layout=st.sampled_from(list(LAYOUTS.values())),
    scope=st.sampled_from([BUILD, OWNER]),
    texts=st.lists(st.one_of(PAGE, st.just("")), min_size=7, max_size=10),
    budget_tokens=st.one_of(st.just(500), st.integers(500, 3000), st.just(8000)),
    catalogue=st.sampled_from([0, 5, 120]),
    messages=st.lists(MESSAGE, min_size=1, max_size=4),
    mode=st.sampled_from(list(Mode)),
    edits=st.dictionaries(st.integers(1, 3), PAGE, max_size=1),
)


@given(TALKS)
@settings(max_examples=scale(1000), deadline=None)
def test_a_disclosure_keeps_budget_and_ceilings_and_names_all_it_left_out(talk: Talk) -> None:
    talk.run(Quarter())


@given(TALKS)
@settings(max_examples=scale(400), deadline=None)
def test_the_same_with_the_real_tokenizer(talk: Talk) -> None:
    talk.run(real_counter())


@given(page=PAGE, limit=st.integers(0, 1500), in_turn=st.booleans())
@settings(max_examples=scale(2000), deadline=None)
def test_what_is_cut_fits_and_every_part_is_shown_or_left(page: str, limit: int, in_turn: bool) -> None:
    units = units_of(PageId("project"), APM.group.rule(PageId("project")).form, page).units
    fitted = fit(PageId("project"), units, limit, Quarter(), in_turn=in_turn)
    assert fitted.tokens == Quarter().count(fitted.text) <= limit
    assert sorted(unit.mark for unit in (*fitted.shown, *fitted.left)) == sorted(unit.mark for unit in units)
    assert fitted.whole or not fitted.text or "left out here" in fitted.text


@pytest.mark.asyncio
async def test_case_74_six_thousand_han_characters_stop_at_the_budget() -> None:
    workspace = _workspace(BUILD, ["# A\n\n" + "部署服务器需要检查。" * 600], 2000, 0, real_counter())
    disclosure = await workspace.ask(BUILD, "which tasks are blocked?")
    assert disclosure.breaker
    assert 1500 < disclosure.spent_tokens <= 2000
    assert real_counter().count(shown(disclosure)) <= 2000
    assert "attention" in {left.page for left in disclosure.left_out}


@pytest.mark.asyncio
async def test_case_79_an_index_over_the_budget_keeps_rules_and_routes_and_names_the_rest() -> None:
    workspace = _workspace(BUILD, ["", "# P\n\n- deploy by tag\n"], 500, 200, Quarter())
    disclosure = await workspace.ask(BUILD, "how do we deploy?")
    index = disclosure.loaded[0].text
    assert "Answer in English." in index
    assert "project.md" in index
    assert "people.md" in index
    assert [part.page for part in disclosure.loaded] == ["index", "project"]
    assert ("index", "catalogue") in [(left.page, left.what) for left in disclosure.left_out]
    assert any("index" in note and "catalogue" in note for note in disclosure.notes)
