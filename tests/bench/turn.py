"""The cost of one addressed message without a model, as the workspace grows; and what disclosure saves.

Reference of the times: the run with 1 group in the workspace, in the same process. Reference of the tokens: loading
every page of the scope. Every message goes through take_in, the queue, disclosure, the offline agent and the ledger,
on real files and real SQLite.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from adapters.messages import Author, Happening, Incoming, Room
from memory_core.ids import Conversation, EventKey, GroupScope, PersonKey, RoomKey, RoomKind, message_key
from memory_core.loading import disclose
from memory_core.session import Session
from tests.scenarios.terminal import START, Terminal, terminal

GROUPS = (1, 100, 10_000)
MESSAGES = 300
ROOMS = 50
"""So many rooms are talked in, each greeted beforehand: what differs between the runs is what else there is."""
QUESTIONS = (
    "what did we decide about the session cache?",
    "who is on call this week?",
    "which database do we use?",
    "what is blocked right now?",
    "部署在什么时候？",
)


def lay_down(workspace: Path, groups: int) -> None:
    """Write `groups` groups with four pages each, as a long-lived workspace would have them. Blocking."""
    names = ", ".join(
        f'"console:g{n}": {{"name": "g{n}", "channel": "console", "title": "#g{n}"}}' for n in range(groups)
    )
    folder = workspace / "memory/groups"
    folder.mkdir(parents=True)
    (folder / "group_names.json").write_text("{" + names + "}", "utf-8")
    for n in range(groups):
        (folder / f"g{n}").mkdir()
        (folder / f"g{n}.md").write_text(_index(n), "utf-8")
        for page, text in _pages(n).items():
            (folder / f"g{n}" / f"{page}.md").write_text(text, "utf-8")


def _index(n: int) -> str:
    rows = {
        "attention": ("tasks, status, blocked, today, on call", "P0"),
        "project": ("tech stack, architecture, database, deploy, 部署", "P1"),
        "experience": ("decision, decided, why, lesson", "P2"),
        "people": ("who, owner, contact", "P3"),
    }
    table = "\n".join(f"| {words} | {page}.md | {priority} |" for page, (words, priority) in rows.items())
    return (
        f"---\ngroup_name: g{n}\nrooms: [console:g{n}]\npurpose: group {n}\n---\n\n## Hard Rules\n- be brief\n\n"
        f"## Routing Index\n| Trigger Scenario | Load File | Priority |\n|---|---|---|\n{table}\n"
    )


def _pages(n: int) -> dict[str, str]:
    topics = (
        "session cache",
        "database",
        "deploy window",
        "monitoring",
        "backup",
        "certificates",
        "build runner",
        "search",
    )
    records = "\n".join(
        f"## [2026-0{1 + at % 4}-{10 + at}] {topic} of group {n}\n- Tags: {topic}\n"
        f"- Fitness: last_referenced=2026-04-01, hit_count=1, decision_value=MEDIUM\n"
        f"- Source: @ana (console:ana) in #g{n}, 2026-04-01 10:00, console:g{n}:{at}\n"
        f"- Body: For the {topic} we use variant {at} since it was the one that held under load in group {n}.\n"
        for at, topic in enumerate(topics)
    )
    tasks = "\n".join(f"| renew {topic} | pending | ana | - |" for topic in topics)
    attention = (
        f"## Active Tasks\n\n| Task | Status | Who | Notes |\n|---|---|---|---|\n{tasks}\n\n## Blockers\n- none\n"
    )
    return {"experience": records, "project": records, "people": records, "attention": attention}


def _question(group: int, number: int) -> Incoming:
    room = RoomKey(f"console:g{group}")
    key = message_key(room, f"q{number}")
    return Incoming(
        happening=Happening.MESSAGE,
        event=EventKey(key),
        room=Room(room, RoomKind.CHANNEL, f"#g{group}"),
        conversation=Conversation(room, thread=f"t{number}"),
        author=Author(PersonKey("console:ana"), "ana"),
        sent_at=START,
        text=QUESTIONS[number % len(QUESTIONS)],
        message=key,
        addressed=True,
    )


async def _times(screen: Terminal, groups: int) -> list[float]:
    """Seconds from the event to the sent answer, one message at a time, spread over the groups."""
    await screen.type("/dm")
    taken: list[float] = []
    rooms = min(groups, ROOMS)
    for number in range(MESSAGES + ROOMS):
        began = time.perf_counter()
        await screen.app.turn.take_in(_question((number % rooms) * (groups // rooms), number))
        await screen.app.parts.conversations.settled()
        taken.append(time.perf_counter() - began)
    return taken[ROOMS:]


async def _disclosures(screen: Terminal) -> tuple[list[float], list[float], float]:
    """Cold and warm seconds of a disclosure, and the mean share of tokens against loading every page."""
    cold: list[float] = []
    warm: list[float] = []
    shares: list[float] = []
    count = screen.app.parts.counter.count
    for n in range(50):
        handle = screen.app.parts.handles.open(GroupScope("g0"))
        every = sum(map(count, (_index(0), *_pages(0).values())))
        question = QUESTIONS[n % len(QUESTIONS)]
        for times in (cold, warm):
            began = time.perf_counter()
            disclosure = await disclose(
                handle, Session(), question if times is warm else f"{question} {n}", title="#g0"
            )
            times.append(time.perf_counter() - began)
        shares.append(disclosure.tokens / every)
    return cold, warm, statistics.mean(shares)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def main() -> None:
    """Measure and print."""
    table = Table("groups", "p50", "p99", "p50 against 1 group", title="one addressed message through turn, no model")
    reference = 0.0
    for groups in GROUPS:
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "w"
            lay_down(workspace, groups)
            os.sync()  # else the first commits wait for our own files to reach the disk
            async with terminal(workspace) as screen:
                times = await _times(screen, groups)
                p50 = _at(times, 0.5)
                reference = reference or p50
                table.add_row(f"{groups:,}", _ms(p50), _ms(_at(times, 0.99)), f"{p50 / reference:.2f}")
                if groups == 1:
                    cold, warm, share = await _disclosures(screen)
    Console().print(table)
    second = Table("what", "p50", "p99", "against warm p50", title="disclosure alone, 1 group")
    for name, values in (("new question", cold), ("same question again", warm)):
        second.add_row(
            name, _ms(_at(values, 0.5)), _ms(_at(values, 0.99)), f"{_at(values, 0.5) / _at(warm, 0.5):.2f}"
        )
    Console().print(second)
    Console().print(f"tokens disclosed against loading every page of the scope: {share:.0%}")
