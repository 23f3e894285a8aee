"""What a message costs: tokens disclosed for every question of the data sets, against the whole history.

    python -m tests.bench cost [--data PATH] [--budget 1000] [--json F]

Every room stands in a real workspace, its messages in the ledger and a journal page for each day; every question is
a message that goes through the real disclosure (memory_core.loading, as in bot/turn), with the budget in the index.

    first        each question begins a conversation of its own
    going on     all questions of a room in one conversation, so that the budget is spent over all of them
    whole        the reference: the whole history in the same rendering, under its date headings

`over` counts messages after which the session had spent more than its budget. It is counted anew from the texts put
together, so headings, index and the lines that say what was left out are in it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.table import Table

from bot.app import App
from memory_core.disclosure import Loaded
from memory_core.ids import DirectScope, Scope
from memory_core.loading import Mode, disclose
from memory_core.session import Session
from memory_core.tokens import Counter
from tests.bench.figures import at, console, data_sets, keep, no_data, parser, quiet, ratio
from tests.bench.recall_data import Room, Turn
from tests.bench.rooms_on_disk import lay_down, opened_on

TARGET = 0.055
"""The part of the whole history that a message may cost, pooled over all questions."""


@dataclass(slots=True)
class Row:
    """What one way of asking cost: tokens of each message, of the histories, and how many went over the budget."""

    data: str
    way: str
    tokens: list[int] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    over: int = 0
    highest: int = 0

    def add(self, tokens: int, spent: int, history: int, budget: int) -> None:
        """One message: what it disclosed, what its session has spent, the history it is compared with."""
        self.tokens.append(tokens)
        self.history.append(history)
        self.over += spent > budget
        self.highest = max(self.highest, spent)

    def take_in(self, other: Row) -> None:
        """Add what the other one counted."""
        self.tokens += other.tokens
        self.history += other.history
        self.over += other.over
        self.highest = max(self.highest, other.highest)

    @property
    def share(self) -> float:
        """Tokens disclosed against tokens of the histories, pooled."""
        return ratio(sum(self.tokens), sum(self.history))

    def figures(self) -> dict[str, object]:
        """The row as data."""
        told = {name: value for name, value in asdict(self).items() if name not in {"tokens", "history"}}
        mean = sum(self.tokens) / max(1, len(self.tokens))
        return told | {
            "messages": len(self.tokens), "mean": mean, "p50": at(self.tokens, 0.5), "p95": at(self.tokens, 0.95),
            "share": self.share,
        }  # fmt: skip


def spent_in(counter: Counter, parts: Iterable[Loaded]) -> int:
    """The tokens of the parts, put together as one text."""
    return counter.count("".join(part.text for part in parts))


def whole(counter: Counter, turns: Sequence[Turn]) -> int:
    """The tokens of the whole history, each session under its heading."""
    text: list[str] = []
    for number, turn in enumerate(turns):
        if number == 0 or turns[number - 1].session != turn.session:
            text.append(turn.heading)
        text.append(turn.line)
    return counter.count("".join(text))


async def ask_all(app: App, scope: Scope, room: Room, budget: int, rows: tuple[Row, Row], mode: Mode) -> None:
    """Every question of a room, alone and in one conversation."""
    counter, handle = app.parts.counter, app.parts.handles.open(scope)
    history, session = whole(counter, room.turns), Session()
    first, going_on = rows
    for question in room.questions:
        alone = await disclose(handle, Session(), question.text, title=room.name, mode=mode)
        first.add(alone.tokens, spent_in(counter, alone.loaded), history, budget)
        more = await disclose(handle, session, question.text, title=room.name, mode=mode)
        session = session.with_(more)
        going_on.add(more.tokens, spent_in(counter, session.parts), history, budget)


async def measured(sets: dict[str, tuple[Room, ...]], budget: int) -> list[Row]:
    """All rooms of all data sets, each as a group and as a DM, in both modes."""
    rows: list[Row] = []
    for name, found in sets.items():
        with tempfile.TemporaryDirectory() as folder:
            async with opened_on(Path(folder) / "w", durable=False) as (app, clock):
                told = {(kind, mode): _rows(name, kind, mode) for kind in ("group", "DM") for mode in Mode}
                for number, room in enumerate(found):
                    for direct in (False, True):
                        laid = await lay_down(
                            app, clock, room, direct=direct, pages=True, budget_tokens=budget, name=f"{name} {number}"
                        )
                        clock.move_to(laid.over_at)
                        kind = "DM" if isinstance(laid.scope, DirectScope) else "group"
                        for mode in Mode:
                            await ask_all(app, laid.scope, room, budget, told[kind, mode], mode)
                rows += [row for pair in told.values() for row in pair]
    return rows


def _rows(name: str, kind: str, mode: Mode) -> tuple[Row, Row]:
    return Row(name, f"{kind}, {mode.value}, first"), Row(name, f"{kind}, {mode.value}, going on")


def pooled(rows: Sequence[Row]) -> list[Row]:
    """Over all data sets: one row for each way of asking, and one for all that begin a conversation."""
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(row.way, Row("all", row.way)).take_in(row)
    first = Row("all", "group and DM, first")
    for way, row in found.items():
        if way.endswith(", first"):
            first.take_in(row)
    return [*found.values(), first]


def _shown(rows: Sequence[Row], budget: int) -> Table:
    table = Table(
        "data", "message", "messages", "mean", "p50", "p95", "most in a session", "over", "of the whole history",
        title=f"tokens disclosed, budget {budget:,}",
    )  # fmt: skip
    for row in rows:
        told = row.figures()
        table.add_row(
            row.data, row.way, f"{told['messages']:,}", f"{told['mean']:.0f}", str(told["p50"]), str(told["p95"]),
            f"{row.highest:,}", str(row.over), f"{row.share:.1%}",
        )  # fmt: skip
    return table


def main(arguments: Sequence[str] = ()) -> int:
    """`cost` of the command line. Exit code 1 where a message went over its budget."""
    options = parser("cost", __doc__, data=True)
    options.add_argument("--budget", type=int, default=1000, help="memory_budget of every index, in tokens")
    given = options.parse_args(list(arguments))
    quiet()
    sets = data_sets(given.data)
    if not sets:
        return no_data()
    rows = asyncio.run(measured(sets, given.budget))
    rows += pooled(rows)
    console().print(_shown(rows, given.budget))
    over = sum(row.over for row in rows if row.data != "all")
    asked = sum(len(row.tokens) for row in rows if row.data != "all")
    console().print(f"{over} of {asked:,} messages over the budget; target: 0")
    console().print(f"{rows[-1].share:.1%} of the whole history for {rows[-1].way}; target: at most {TARGET:.1%}")
    keep(given.json, {"budget": given.budget, "target": TARGET, "rows": [row.figures() for row in rows]})
    return 1 if over else 0
