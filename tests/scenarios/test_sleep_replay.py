"""Sleep over months: a real channel of 200 days, a made-up one with many more facts, and one whose pages overflow.

The real one is the shared Slack export: its 200 days with messages lie between May and December 2017, and its time
stamps are taken as they are. It is lived through as `remem replay` does it, and a second time with 40 questions about
its content. Rules find few facts in it, so the made-up season (sleep_talk.py) shows budgets, archive and PROVEN.

Printed (`-s`) is a row a month. A page may be longer than its budget between two nights of REM, which is weekly;
right after REM it is not, or the report says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest

from adapters.messages import Incoming
from adapters.slack.export import Export
from memory_core.forms.records import Record
from memory_core.ids import DirectScope, EventKey, GroupScope, MessageKey, PageId, Scope, message_key
from memory_core.layouts import layout_named
from memory_core.sleep.report import Stage
from tests.data_dir import data_file
from tests.scale import scale
from tests.scenarios.replay_checks import pages
from tests.scenarios.sleep_life import Life, beyond_caps, immortal, lived, over_after_rem, twice_after_rem, vanished
from tests.scenarios.sleep_talk import DM, ROOM, Question, Talk, lost, mixed_up, person, season
from tests.scenarios.test_replay import RACKET, no_errors

RACKET_DAYS = 200
RACKET_SLICE = date(2017, 8, 16)
"""Where the thirtieth of the ordinary run begins: a fortnight of which memory keeps something."""
SEED = 134
LONG = pytest.mark.skipif(scale(20) != 20, reason="with the full counts only")
FULL = scale(20) == 20
PER_DAY, SEASON_DAYS, NOTED_DAYS = (20, 200, 90) if FULL else (4, 30, 25)
"""Statements a day, and days. (Less than a thirtieth: as many as it takes until a page is full.)"""

PIPES, STYLES, TIMEOUT, SCOPES = "read-accept-bar-quote", "syntax-color", "redis%", "syntax-local-introduce"
SERVICE = "committers@"
ASKED: Sequence[tuple[str, str, str]] = (
    ("2017-06-26", "which style do keywords get instead of no-color?", STYLES),
    ("2017-07-03", "why were the keywords left with the style no-color?", STYLES),
    ("2017-07-04", "which github service emails the committers?", SERVICE),
    ("2017-07-12", "who gets email from the github service?", SERVICE),
    ("2017-07-20", "what is a fair default for keywords with no-color?", STYLES),
    ("2017-07-26", "which github service emails the committers?", SERVICE),
    ("2017-08-09", "which style do keywords get instead of no-color?", STYLES),
    ("2017-08-14", "who gets email from the github service?", SERVICE),
    ("2017-08-22", "how do I read a line with a single bar that isn't balanced?", PIPES),
    ("2017-08-23", "what helped where it was failing on a line that isn't balanced?", PIPES),
    ("2017-08-24", "which parameter do I give port->list for a failing line?", PIPES),
    ("2017-09-05", "why were the keywords left with the style no-color?", STYLES),
    ("2017-09-12", "how do I read a line with a single bar that isn't balanced?", PIPES),
    ("2017-10-02", "what is a fair default for keywords with no-color?", STYLES),
    ("2017-10-05", "what helped where it was failing on a line that isn't balanced?", PIPES),
    ("2017-10-06", "is there a setter for IP and Port?", TIMEOUT),
    ("2017-10-09", "which github service emails the committers?", SERVICE),
    ("2017-10-12", "how do I set IP and Port, there is only a public setter for timeout?", TIMEOUT),
    ("2017-10-16", "what fixed the issue before binding the identifiers?", SCOPES),
    ("2017-10-19", "what was added before binding the identifiers, and fixed the issue?", SCOPES),
    ("2017-10-20", "is there a setter for IP and Port?", TIMEOUT),
    ("2017-10-25", "who is a frontend web developer?", "Jalisa"),
    ("2017-10-26", "what fixed the issue before binding the identifiers?", SCOPES),
    ("2017-10-30", "which parameter do I give port->list for a failing line?", PIPES),
    ("2017-10-31", "how do I set IP and Port, there is only a public setter for timeout?", TIMEOUT),
    ("2017-11-03", "what was added before binding the identifiers, and fixed the issue?", SCOPES),
    ("2017-11-06", "which style do keywords get instead of no-color?", STYLES),
    ("2017-11-07", "why does docker-compose run xvfb-run not work?", "sh -c"),
    ("2017-11-14", "is there a setter for IP and Port?", TIMEOUT),
    ("2017-11-15", "what fixed the issue before binding the identifiers?", SCOPES),
    ("2017-11-16", "what helped after the sleep on Win10FCU with DrR running?", "Resolved by closing"),
    ("2017-11-21", "how do I read a line with a single bar that isn't balanced?", PIPES),
    ("2017-11-29", "how do I set IP and Port, there is only a public setter for timeout?", TIMEOUT),
    ("2017-11-30", "why does docker-compose run xvfb-run not work?", "sh -c"),
    ("2017-12-05", "what was added before binding the identifiers, and fixed the issue?", SCOPES),
    ("2017-12-11", "why were the keywords left with the style no-color?", STYLES),
    ("2017-12-19", "what helped where it was failing on a line that isn't balanced?", PIPES),
    ("2017-12-20", "is there a setter for IP and Port?", TIMEOUT),
    ("2017-12-21", "what fixed the issue before binding the identifiers?", SCOPES),
    ("2017-12-22", "where can I post to the mailing list?", "racket-users"),
)
"""When (the day, late in the evening), what, and a word that a right answer holds."""


def real(days: int) -> list[Incoming]:
    """That many of the export's days with messages."""
    events = Export.open(data_file(RACKET)).messages()
    every = sorted({event.sent_at.date() for event in events})
    first = 0 if days >= len(every) else next(at for at, day in enumerate(every) if day >= RACKET_SLICE)
    chosen = set(every[first : first + days])
    return [event for event in events if event.sent_at.date() in chosen]


def questioned(events: Sequence[Incoming]) -> tuple[list[Incoming], list[Question]]:
    """The events with the questions among them, asked by who spoke before."""
    found, asked = list(events), []
    for number, (day, text, expects) in enumerate(ASKED):
        at = datetime.fromisoformat(f"{day}T23:30:00+00:00")
        if not events[0].sent_at < at < events[-1].sent_at:
            continue
        before = next(event for event in reversed(events) if event.sent_at < at)
        key = message_key(before.room.key, f"{int(at.timestamp())}.9{number:05}")
        found.append(
            replace(
                before, event=EventKey(str(key)), message=key, sent_at=at, text=text, addressed=True, reply_to=None
            )
        )
        asked.append(Question(key, text, expects))
    return sorted(found, key=lambda event: (event.sent_at, event.event)), asked


def live(events: Sequence[Incoming], workspace: Path, layout: str, scope: Scope, **given: object) -> Life:
    """Live through the events; nothing in the log is a warning or an error."""
    with no_errors():
        return asyncio.run(lived(events, workspace, layout, scope, **given))  # type: ignore[arg-type]


def in_order(life: Life, last: date) -> None:
    """What must hold of every life."""
    assert beyond_caps(life) == []
    assert over_after_rem(life) == []
    assert vanished(life) == []
    assert immortal(life, last) == []
    assert twice_after_rem(life) == []
    assert [night.report.problem for night in life.nights if night.report.problem] == []


def overgrown(life: Life) -> list[str]:
    """Pages over budget at a month's end, which were so after the last REM too, without its report saying why."""
    found = []
    for month in life.months:
        nights = [one for one in life.nights if one.report.stage is Stage.REM and f"{one.at:%Y-%m}" <= month.name]
        for page, (lines, budget) in month.over.items():
            after = nights[-1].after.get(page) if nights else None
            told = nights and any(one.startswith(f"{page}:") for one in nights[-1].report.over_budget)
            if not told and nights and (after is None or after.lines > budget):
                found.append(f"{month.name}: {page} {lines}/{budget}, also after REM of {nights[-1].at:%d}")
    return found


# -- the real channel -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layout", ["apm", pytest.param("dreaming", marks=LONG), pytest.param("adaptive", marks=LONG)]
)
def test_a_real_channel_sleeps_for_200_days(tmp_path: Path, layout: str) -> None:
    """As it was, and with the questions; two such lives leave the same pages. (A thirtieth: a week of August.)"""
    events, scope = real(scale(RACKET_DAYS)), GroupScope("racket-general")
    asking = "what was the problem with the bar, how was it fixed?"
    plain = live(events, tmp_path / "plain", layout, scope, asking=asking)
    asked, questions = questioned(events)
    curious = live(asked, tmp_path / "asked", layout, scope, asking=asking)
    right = [one for one in questions if one.expects in curious.answers[one.message]]
    print(  # noqa: T201
        f"\n{layout}, {len(events)} messages of {len({event.sent_at.date() for event in events})} days\n"
        f"{plain.table()}\nwith {len(questions)} questions, {len(right)} answered\n{curious.table()}"
    )
    if layout == "apm":
        live(asked, tmp_path / "again", layout, scope, asking=asking)
        assert pages(tmp_path / "again") == pages(tmp_path / "asked")
    for life in (plain, curious):
        in_order(life, events[-1].sent_at.date())
        assert overgrown(life) == []
    if layout == "adaptive":
        return  # a group's lessons stand in its journals alone: nothing is asked of them
    wrong = [(one.text, curious.answers[one.message]) for one in questions if one not in right]
    assert len(right) >= 0.9 * len(questions), wrong
    often = [PIPES, STYLES, TIMEOUT, SCOPES] if scale(RACKET_DAYS) == RACKET_DAYS else []
    assert [word for word in often if not any(word in _text(one) for one in curious.standing)] == []


# -- the made-up season ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "direct"),
    [
        ("apm", False),
        pytest.param("dreaming", False, marks=LONG),
        pytest.param("adaptive", False, marks=LONG),
        pytest.param("adaptive", True, marks=LONG),
    ],
)
def test_a_season_of_twenty_statements_a_day(tmp_path: Path, layout: str, direct: bool) -> None:
    """200 days of 20 statements, 40 questions. (In the ordinary run 30 days of four.)"""
    talk, scope, given = _season(PER_DAY, direct=direct)
    life = live(talk.events, tmp_path / "memory", layout, scope, **given)
    right = [one for one in talk.questions if one.expects in life.answers[one.message]]
    mixed = _mixed(life, talk)
    print(  # noqa: T201
        f"\n{layout}{' DM' if direct else ''}: "
        f"{len(talk.facts)} statements of {len(set(talk.facts.values()))} facts; "
        f"{len(right)} of {len(talk.questions)} questions answered, {len(mixed)} records of two facts\n{life.table()}"
    )
    in_order(life, talk.events[-1].sent_at.date())
    assert overgrown(life) == []
    assert mixed == []
    memory = "".join(file.read_text("utf-8") for file in (tmp_path / "memory").rglob("*.md"))
    assert lost(talk, memory) == [] or layout == "adaptive"  # a group's roles are not kept there
    wrong = [(one.text, life.answers[one.message]) for one in talk.questions if one not in right]
    assert len(right) >= 0.9 * len(talk.questions), wrong
    standing = [_text(one) for one in life.standing]
    assert [fact for fact in talk.favourites if not any(fact.word in text for text in standing)] == []
    assert sum(one.proven for one in life.standing) >= len(talk.favourites)
    assert life.months[-1].archived > 0


@LONG
def test_two_seasons_give_the_same_pages(tmp_path: Path) -> None:
    talk, scope, given = _season(PER_DAY, direct=False)
    for name in ("one", "other"):
        live(talk.events, tmp_path / name, "apm", scope, **given)
    assert pages(tmp_path / "one") == pages(tmp_path / "other")


def _season(per_day: int, *, direct: bool) -> tuple[Talk, Scope, dict[str, object]]:
    if not direct:
        return season(SEED, per_day, SEASON_DAYS), GroupScope("build"), {}
    owner = person("ana")
    return season(SEED, per_day, SEASON_DAYS, room=DM), DirectScope(owner, owner=True), {"owner": owner}


def _mixed(life: Life, talk: Talk) -> list[tuple[PageId, str]]:
    return [
        (page, record.label)
        for page, records in life.records.items()
        for record in records
        if mixed_up(tuple(map(MessageKey, record.messages)), talk.facts)
    ]


def _text(record: Record) -> str:
    return f"{record.title} {record.body} {record.text}"


# -- case 134 -------------------------------------------------------------------------------------------------------

BY_HAND = """
## How we name things

Branches carry the ticket's number. A person wrote this, and nobody else touches it:

- `feature/123-short-words`
- never `my-branch`
"""


@pytest.mark.parametrize(
    ("layout", "page", "direct"),
    [
        ("apm", "experience", False),
        pytest.param("dreaming", "decisions", False, marks=LONG),
        pytest.param("adaptive", "channel_context", False, marks=LONG),
        pytest.param("adaptive", "memory", True, marks=LONG),
    ],
)
def test_case_134_ninety_days_of_notes_stay_within_their_pages(
    tmp_path: Path, layout: str, page: str, direct: bool
) -> None:
    """Each page within its budget after REM, overflow in the archive, the person's section untouched, load flat."""
    owner = person("ana")
    talk = season(SEED, PER_DAY, NOTED_DAYS, room=DM if direct else ROOM, asked=False)
    scope: Scope = DirectScope(owner, owner=True) if direct else GroupScope("build")
    table = layout_named(layout).table(scope)
    file = tmp_path / "memory" / layout_named(layout).file(scope, PageId(page))
    written: list[date] = []

    def by_hand(day: date, workspace: Path) -> None:
        if not written and file.exists():
            file.write_text(file.read_text("utf-8") + BY_HAND, "utf-8")
            written.append(day)

    given: dict[str, object] = {"owner": owner} if direct else {}
    life = live(talk.events, tmp_path / "memory", layout, scope, on_day=by_hand, **given)
    print(f"\n{layout} {page}: by hand on {written}\n{life.table()}")  # noqa: T201
    assert written
    assert table.rule(PageId(page)).budget_lines
    assert BY_HAND.strip() in file.read_text("utf-8")
    assert over_after_rem(life) == []
    assert overgrown(life) == []
    assert vanished(life) == []
    assert life.months[-1].archived > 0
    first, last = life.months[0], life.months[-1]
    assert last.load_tokens <= max(table.default_budget_tokens, first.load_tokens)
    assert last.load_ms <= 4 * first.load_ms
