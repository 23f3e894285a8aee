"""A channel's topics (adaptive): said once, also after a deep sleep; the oldest leave for the page's budget."""

from __future__ import annotations

import pytest

from memory_core.forms import listed
from memory_core.forms.channel import DECISIONS, TOPICS
from memory_core.forms.records import on_page
from memory_core.forms.sections import section_at
from memory_core.ids import PageId
from memory_core.layouts import ADAPTIVE, Form
from memory_core.ledger.base import Hit
from memory_core.sleep.report import Stage
from memory_core.sleep.sheet import counted_lines
from tests.memory_core.sleep.kit import Bed

AGREED = "agreed: every change of the billing is reviewed by Cora"
PAGE, BUDGET = "channel_context", 100


def topics(bed: Bed) -> tuple[str, ...]:
    """The bullets, without who and when."""
    return tuple(one.rpartition(" (@")[0] or one for one in _items(bed))


def _items(bed: Bed) -> tuple[str, ...]:
    return listed.items(bed.text(PAGE), TOPICS, listed.item_beside_records)


def counted(bed: Bed) -> int:
    return counted_lines(bed.text(PAGE), bed.handle.table.rule(PageId(PAGE)).sections)


async def talked(bed: Bed, days: int, a_day: int) -> list[str]:
    """Topics and decisions of so many days; the topics."""
    said = []
    for day in range(days):
        for one in range(a_day):
            said.append(f"agreed: shelf {day * a_day + one} is looked after by number {day * a_day + one}")
            await bed.say(f"agreement: {said[-1]}")
        await bed.say(f"decision: we decided on tool {day} for the yard {day}")
        await bed.flush()
        bed.clock.advance(86_400)
    return said


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["agreement", "stack", "architecture"])
async def test_a_topic_stands_once_after_deep_sleep_and_rem(kind: str) -> None:
    bed = Bed(ADAPTIVE)
    await bed.say(f"{kind}: {AGREED}", "decision: we decided to use Redis for sessions")
    await bed.flush()
    before = bed.text(PAGE)
    for stage in (Stage.DEEP, Stage.REM, Stage.DEEP):
        bed.clock.advance(3 * 86_400)
        report = await bed.sleep(stage)
        assert report.promoted == 0
        assert bed.text(PAGE) == before
    assert before.count("reviewed by Cora") == 1
    assert "[absorbed]" in bed.text("journal/2026-09-01")


@pytest.mark.asyncio
@pytest.mark.parametrize("stage", [Stage.DEEP, Stage.REM])
async def test_topics_leave_for_the_budget_and_none_is_lost(stage: Stage) -> None:
    bed = Bed(ADAPTIVE)
    said = await talked(bed, 16, 6)
    assert counted(bed) > BUDGET
    bed.put(PAGE, bed.text(PAGE).replace(f"## {TOPICS}\n\n", f"## {TOPICS}\n\n- mine: the yard (@nobody, never)\n"))
    before = dict(bed.pages())
    report = await bed.sleep(stage)
    archive = bed.text("archive/2026-09")
    left = topics(bed)
    decisions = [one for one in on_page(bed.text(PAGE), Form.CHANNEL) if section_at(bed.text(PAGE), one.start)
                 == DECISIONS]  # fmt: skip
    print(f"{stage}: {len(said)} topics, {len(left)} on the page, {len(decisions)} decisions")  # noqa: T201
    assert counted(bed) <= BUDGET
    assert not report.over_budget or "channel" not in report.over_budget[0]
    assert left[0] == "mine: the yard"
    assert len(left) >= BUDGET // 3
    assert decisions
    assert [one for one in said if one not in left and f"- Body: {one}\n" not in archive] == []
    assert said[-1] in left
    assert said[0] not in left
    once = dict(bed.pages())
    await bed.sleep(stage)
    assert bed.pages() == once
    await bed.undo()
    assert bed.pages() == before


@pytest.mark.asyncio
async def test_an_archived_topic_that_is_used_comes_back_under_its_heading() -> None:
    bed = Bed(ADAPTIVE)
    said = await talked(bed, 16, 6)
    await bed.sleep(Stage.DEEP)
    gone = next(one for one in bed.records("archive/2026-09") if one.body == said[0])
    bed.clock.advance(86_400)
    await bed.ledger.open(bed.scope).add_hits([Hit(PageId("archive/2026-09"), gone.identity, bed.clock.now())])
    await bed.flush()
    await bed.sleep(Stage.REM)
    (back,) = [one for one in on_page(bed.text(PAGE), Form.CHANNEL) if one.record.body == said[0]]
    assert section_at(bed.text(PAGE), back.start) == TOPICS


@pytest.mark.asyncio
async def test_what_opposes_a_topic_that_is_a_record_leaves_its_fields() -> None:
    """A topic that came back from the archive stands under the heading as a record."""
    bed = Bed(ADAPTIVE)
    await bed.say("agreement: alerts on for staging")
    await bed.flush()
    record = (
        "### [2026-08-01] alerts on for demo\n- Source: @ana in build, 2026-08-01, slack:T1:C9:1.1\n"
        "- Body: alerts on for demo\n\n"
    )
    bed.put(PAGE, bed.text(PAGE).replace(f"## {DECISIONS}", f"{record}## {DECISIONS}"))
    await bed.say("agreement: alerts off for demo")
    await bed.flush()
    assert record in bed.text(PAGE)
    assert "alerts off for demo" in topics(bed)


@pytest.mark.asyncio
async def test_a_page_that_says_a_topic_twice_already_is_mended() -> None:
    bed = Bed(ADAPTIVE)
    (key,) = await bed.say(f"agreement: {AGREED}")
    await bed.flush()
    twice = (
        f"### [2026-09-01] {AGREED}\n- Fitness: last_referenced=2026-09-01, hit_count=0, decision_value=MEDIUM\n"
        f"- Source: @ana (slack:T1:ANA) in build, 2026-09-01 12:00, {key}\n- Body: {AGREED}\n\n## {DECISIONS}"
    )
    bed.put(PAGE, bed.text(PAGE).replace(f"## {DECISIONS}", twice))
    assert bed.text(PAGE).count("- Body: agreed") == 1
    await bed.sleep(Stage.REM)
    assert topics(bed) == ()
    assert bed.text(PAGE).count("- Body: agreed") == 1
