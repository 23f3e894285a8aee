"""What is lived through under the killer: acts, each the life of one process, each of several steps.

A step is one thing that happens to the bot (said, edited, deleted, commanded, silence, a hand in a file). Its events
have the same identity in every run, so that after a kill the platform can deliver them again. What must stand in
memory afterwards is told by marks: five words that no other fact shares (`unlike`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from adapters.messages import Author, Happening, Incoming
from memory_core.clock import ManualClock
from memory_core.ids import EventKey
from memory_core.ledger.schema import MIGRATIONS
from tests.scenarios.damage import unlike
from tests.scenarios.recording import Events, Spot
from tests.scenarios.stage import ANA, BEN, channel, direct
from tests.scenarios.terminal import START

BUILD = channel(10, "build")
BRANCH = channel(10, "build", thread="77")
OPS = channel(11, "ops")
LATE = channel(12, "late")
ANAS = direct(21, ANA)
BENS = direct(22, BEN)
OWNER = BEN.key
"""Ben owns the workspace: his DM is at its root, Ana's under people/."""

HOMES = {"build": "memory/groups/build", "ops": "memory/groups/ops", "late": "memory/groups/late"}
DAY_S = 86_400.0


def home_of(spot: Spot) -> str:
    """The folder of the scope that a spot belongs to."""
    if spot == ANAS:
        return "people/discord-1"
    return "memory/main" if spot == BENS else HOMES[spot.room.title.removeprefix("#")]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens. `keeps` and `drops`: the facts that stand once, or nowhere, when all is saved.

    `name` is how a later step of the same act calls it (`of`). `needs`: the words that an answer of success begins
    with. `seconds` pass before it.
    """

    does: str
    spot: Spot = BUILD
    text: str = ""
    author: Author = ANA
    addressed: bool = False
    keeps: tuple[int, ...] = ()
    drops: tuple[int, ...] = ()
    name: str = ""
    of: str = ""
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Act:
    """The life of one process on what the act before left. `prepare` happens to the files while nobody runs."""

    name: str
    steps: tuple[Step, ...]
    prepare: Callable[[Path], None] | None = None
    begins_s: float = 0.0


def decision(number: int) -> str:
    """An explicit decision: written at once."""
    return f"decision: {unlike(number)}"


def lesson(number: int) -> str:
    """A lesson: written by the next save."""
    return f"The nightly job failed because of {unlike(number)}; fixed by restarting it."


def task(number: int) -> str:
    """A task: written at once."""
    return f"TODO: ben renews {unlike(number)}"


def _say(
    text: str, *keeps: int, spot: Spot = BUILD, author: Author = ANA, addressed: bool = False, name: str = ""
) -> Step:
    return Step("say", spot, text, author, addressed, keeps, name=name)


def _remem(words: str = "", *keeps: int, drops: tuple[int, ...] = (), spot: Spot = BUILD) -> Step:
    return Step("command", spot, words, ANA, True, keeps, drops)


def _break(workspace: Path) -> None:
    """The mapping is cut, a state and the tasks are no JSON, a rebuild of the ledger is due, a draft is left over."""
    groups = workspace / "memory/groups"
    names = (groups / "group_names.json").read_bytes()
    (groups / "group_names.json").write_bytes(names[: len(names) // 2])
    (groups / "build/flush-state.json").write_text('{"flush_number": ', "utf-8")
    (groups / "ops/pending_tasks.json").write_text("{tasks", "utf-8")
    (groups / "build/.remem-00000000000000ff.tmp").write_text("half of a p", "utf-8")
    with closing(sqlite3.connect(workspace / ".remem/ledger.db")) as ledger:
        ledger.execute("PRAGMA application_id = 1")


def _age(workspace: Path) -> None:
    """The ledger as the first version of its schema had it."""
    assert len(MIGRATIONS) == 7, "a new version: take its step back here too"
    with closing(sqlite3.connect(workspace / ".remem/ledger.db")) as ledger, ledger:
        ledger.execute("ALTER TABLE written DROP COLUMN after_plan")
        ledger.execute("ALTER TABLE written DROP COLUMN text_id")
        ledger.execute("DROP TABLE usage")
        ledger.execute("DROP TABLE usage_reports")
        ledger.execute("DROP INDEX conversations_room")
        ledger.execute("ALTER TABLE conversations DROP COLUMN heard")
        for column in ("arrived", "revised", "openings"):
            ledger.execute(f"ALTER TABLE scopes DROP COLUMN {column}")
        ledger.execute("PRAGMA user_version = 1")


BEGIN = Act(
    "begin",
    (
        Step("join"),
        _remem("purpose We build things"),
        _say("hello, what is this?", spot=OPS, author=BEN, addressed=True),
        Step("answer", OPS, "We keep the servers running", BEN),
        _say("hello", spot=ANAS, addressed=True),
        _say("hello there", spot=BENS, author=BEN, addressed=True),
        _say(decision(1), 1, addressed=True),
    ),
)
TALK = Act(
    "talk",
    (
        _say("good morning everyone, the coffee is ready"),
        _say(decision(10), 10, addressed=True),
        _say(lesson(11), 11, author=BEN),
        Step("burst", text="burst", keeps=(12, 13, 14, 15)),
        _say(f"{task(16)}\n{decision(24)}", 16, 24, author=BEN, addressed=True),
        _say(lesson(17), name="edited"),
        Step("edit", text=lesson(18), of="edited", keeps=(18,), drops=(17,)),
        _say(lesson(19), name="deleted"),
        Step("delete", of="deleted", drops=(19,)),
        Step("edit", text=lesson(23), of="overtaken", keeps=(23,), drops=(22,)),
        _say(lesson(22), name="overtaken"),
        _say(f"what did we decide about {unlike(10)}?", author=BEN, addressed=True),
        _say(f"remember: {unlike(20)}", 20, spot=ANAS, addressed=True),
        _say(lesson(21), 21, spot=BENS, author=BEN, addressed=True),
        _remem(),
        _say("!remem", spot=ANAS, addressed=True),
        Step("save"),
    ),
)
LATER = Act(
    "later",
    (
        _say(lesson(30), 30, name="edited"),
        _say(lesson(31), 31, author=BEN, name="deleted"),
        _say(decision(32), 32, name="taken back"),
        _remem(),
        Step("edit", text=lesson(33), of="edited", keeps=(33,), drops=(30,)),
        Step("delete", of="deleted", drops=(31,)),
        Step("delete", of="taken back", drops=(32,)),
        _say(lesson(34), 34, spot=BRANCH, author=BEN),
        _say(decision(35), 35, spot=OPS, author=BEN, addressed=True),
        Step("silence", seconds=1900.0),
        _say(lesson(36), 36, spot=OPS),
        Step("silence", seconds=DAY_S),
        Step("save"),
    ),
)
HANDS = Act(
    "hands",
    (
        Step("hand", text=unlike(40), keeps=(40,)),
        _remem(f"note decision: {unlike(41)}", 41),
        _remem("rule Never deploy on Friday"),
        _remem("zone Europe/Berlin"),
        _remem(f"correct {unlike(41)} => {unlike(42)}", 42, drops=(41,)),
        _say(lesson(43), 43),
        _remem(),
        _say(lesson(44), author=BEN),
        _remem("", 44),
        _remem("undo", drops=(44,)),
        Step("save"),
    ),
    begins_s=2 * DAY_S,
)
BROKEN = Act(
    "broken",
    (
        Step("join", LATE),
        _say(task(50), 50, spot=OPS, author=BEN, addressed=True),
        _say(lesson(51), 51),
        _remem("purpose We are late", spot=LATE),
        _say(decision(52), 52, spot=LATE),
        Step("save"),
    ),
    _break,
    begins_s=3 * DAY_S,
)
OLD = Act(
    "old",
    (
        _say(lesson(60), 60),
        Step("sweep"),
        _say(decision(61), 61, addressed=True),
        Step("save"),
        Step("sweep", seconds=9 * DAY_S),
    ),
    _age,
    begins_s=14 * DAY_S,
)
ACTS = (BEGIN, TALK, LATER, HANDS, BROKEN, OLD)


def begins(act: Act) -> datetime:
    """When an act begins."""
    return START + timedelta(seconds=act.begins_s or 3600.0 * ACTS.index(act))


def time_of(act: Act, number: int) -> datetime:
    """When a step of it happens, silences and all."""
    return begins(act) + timedelta(seconds=sum(step.seconds for step in act.steps[: number + 1]))


def events_of(act: Act, number: int, life: int = 0) -> Events:
    """The events of a step, under the identities that they have in every life (a command repeated: in this one)."""
    return Events(ManualClock(time_of(act, number)), ACTS.index(act) * 100_000 + number * 1000 + life * 100)


def incomings(act: Act, number: int, life: int = 0) -> tuple[Incoming, ...]:
    """What the platform delivers for a step; nothing for what happens elsewhere."""
    step = act.steps[number]
    events = events_of(act, number, life if step.does == "command" else 0)
    match step.does:
        case "say" | "answer":
            return (events.said(step.spot, step.author, step.text, addressed=step.addressed),)
        case "burst":
            said = zip(step.keeps, (BUILD, BRANCH, OPS, ANAS), strict=True)
            return tuple(events.said(spot, ANA, lesson(fact), addressed=spot == ANAS) for fact, spot in said)
        case "edit" | "delete":
            of = next(at for at, one in enumerate(act.steps) if one.name == step.of)
            (said_before,) = incomings(act, of)
            if step.does == "edit":
                return (events.edited(said_before, step.text),)
            return (events.deleted(said_before, step.author),)
        case "join":
            return (events.about_room(Happening.JOINED, step.spot, ANA),)
        case "command":
            return (events.command(step.spot, step.author, step.text),)
    return ()


def keeps_of(step: Step) -> Iterator[tuple[int, str]]:
    """Each fact that a step keeps, and the folder of its scope."""
    spots = (BUILD, BRANCH, OPS, ANAS) if step.does == "burst" else (step.spot,) * len(step.keeps)
    for fact, spot in zip(step.keeps, spots, strict=True):
        yield fact, home_of(spot)


def expected(act: Act, until: int) -> tuple[dict[int, str], set[int]]:
    """The facts that stand when everything up to that step is saved, by the folder of their scope, and those gone."""
    kept: dict[int, str] = {}
    gone: set[int] = set()
    for one in ACTS[: ACTS.index(act) + 1]:
        for step in one.steps[: until + 1 if one is act else None]:
            kept.update(keeps_of(step))
            gone.update(step.drops)
    return {fact: home for fact, home in kept.items() if fact not in gone}, gone


def texts_of(act: Act) -> dict[EventKey, str | None]:
    """What the transcript holds of an act's messages, by their keys: the text; None for one that was deleted."""
    texts: dict[EventKey, str | None] = {}
    for number, step in enumerate(act.steps):
        for incoming in incomings(act, number) if step.does in ("say", "burst", "edit", "delete") else ():
            assert incoming.message is not None
            if step.does in ("edit", "delete"):
                texts[EventKey(incoming.message)] = incoming.text or None
            elif not incoming.text.startswith("!"):
                texts.setdefault(EventKey(incoming.message), incoming.text)  # an edit may overtake its message
    return texts


def names_in(workspace: Path) -> dict[str, str]:
    """The names of rooms, by their keys."""
    rows = json.loads((workspace / "memory/groups/group_names.json").read_text("utf-8"))
    return {room: row["name"] for room, row in rows.items()}
