"""A workspace with two groups and a DM as a kill left it, what is said to it after a damage, and what must hold then.

    memory of three scopes, each with words that stand nowhere else (its secret)
    in the ledger: what is saved, what is not saved yet, and in each scope a save that a failing disk cut short

It is made once and copied for each damage. The same is said each time, under the same message ids, so that a scope
which no damage touched must end as it does without any, byte by byte.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from structlog.testing import capture_logs

from adapters.messages import Incoming
from memory_core.clock import ManualClock
from memory_core.errors import LedgerError, RememError
from memory_core.ids import RoomKey
from tests.scenarios.damage import FullDisk, unlike
from tests.scenarios.recording import Events, Spot
from tests.scenarios.stage import ANA, Stage, channel, direct, stage
from tests.scenarios.terminal import START

NAMES = "memory/groups/group_names.json"
OVERVIEW = "memory/groups/flush-state.json"
LEDGER = ".remem/ledger.db"


@dataclass(frozen=True, slots=True)
class Side:
    """One scope: where it is spoken to, what it talks about, and a word of it that no other scope may ever see."""

    name: str
    spot: Spot
    matter: str
    secret: str

    def owns(self, file: str) -> bool:
        """Is that file of the workspace a part of this scope's memory?"""
        if self.name == "dm":
            return not file.startswith(("memory/groups/", ".remem/", "SOUL.md"))
        return file.startswith((f"memory/groups/{self.name}.md", f"memory/groups/{self.name}/"))


BUILD = Side("build", channel(11, "build"), "quokka", "kibolore")
OPS = Side("ops", channel(12, "ops"), "narwhal", "marenthu")
DM = Side("dm", direct(31, ANA), "axolotl", "vostapel")
SIDES = (BUILD, OPS, DM)


class QuietDisk(FullDisk):
    """Nothing is made durable: no power is cut here, and 2,000 workspaces are written."""

    def sync(self, descriptor: int) -> None:
        self._meet("sync")

    def sync_folder(self, descriptor: int) -> None:
        self._meet("sync_folder")


def _lines(side: Side) -> tuple[str, ...]:
    matter, secret = side.matter, side.secret
    return (
        f"We decided: the {matter} runs on {secret} servers, because leases must survive a restart",
        f"The {matter} build failed with error 137. The cause was too little {secret} memory; we fixed it by a limit",
        f"TODO: @ana renews the {matter} certificate of {secret} by Friday",
        f"blocked: the {matter} waits for the {secret} licence",
        f"We agreed: every {matter} change gets two {secret} reviews",
        f"ana is responsible for the {matter} and its {secret} budget",
        f"Perhaps we should move the {matter} to {secret} clusters?",
    )


async def lay_down(workspace: Path, killed: Path) -> None:
    """Make the workspace, and a copy of it as a kill would leave it."""
    clock, disk = ManualClock(START - timedelta(days=3)), QuietDisk()
    numbers = {side.name: Events(clock, last=at * 1000) for at, side in enumerate(SIDES, 1)}
    async with stage(workspace, clock=clock, disk=disk, owner=(ANA.key,), discord_people="on") as on:
        for side in SIDES:
            if side is not DM:
                await on.enter(side.spot)
                await on.command(side.spot, ANA, f"purpose We care for the {side.matter} of {side.secret}")
            for line in _lines(side):
                await on.hears(numbers[side.name].said(side.spot, ANA, line))
            for kind in ("agreement", "lesson", "role", "preference", "stack", "environment"):
                await on.command(
                    side.spot, ANA, f"note {kind}: {side.matter} {kind} {side.secret} {unlike(len(kind))}"
                )
            await on.command(side.spot, ANA)
            await on.command(side.spot, ANA, f"rule never restart the {side.matter} without {side.secret}")
    clock.advance(86_400 * 2)
    async with stage(
        workspace, clock=clock, events=Events(clock, last=50_000), disk=disk, owner=(ANA.key,), discord_people="on"
    ) as on:
        for at, side in enumerate(SIDES):
            said = numbers[side.name].said
            await on.hears(said(side.spot, ANA, f"We decided: {side.matter} {unlike(50 + at)}"))
            await on.hears(said(side.spot, ANA, f"TODO: ana checks {side.secret} {unlike(60 + at)} by Monday"))
            disk.fill(0)
            await on.command(side.spot, ANA)  # begun, and cut short: the plan stays open
            disk.free()
            await on.hears(said(side.spot, ANA, f"We agreed: {side.matter} and {side.secret} {waiting_in(side)}"))
        shutil.copytree(workspace, killed)


@dataclass(slots=True)
class Heard:
    """What came of one run of the program: what people were told, what the operator reads."""

    replies: dict[RoomKey, list[str]] = field(default_factory=dict)
    logs: list[Mapping[str, object]] = field(default_factory=list)
    refused: str = ""
    not_kept: list[str] = field(default_factory=list)
    """What could not be taken in, with the reason that a platform's adapter gets: it delivers again."""

    @property
    def said(self) -> str:
        """Everything that people were told."""
        return "\n".join(one for told in self.replies.values() for one in told)

    @property
    def told(self) -> bool:
        """Was a person told of a damage: at the start, in the room, in the operator's log?"""
        warned = any(log["log_level"] in ("warning", "error", "critical") for log in self.logs)
        return bool(self.refused or self.not_kept or warned) or any(sign in self.said for sign in _SIGNS)


_SIGNS = (
    "could not",
    "cannot",
    "not UTF-8",
    "not understood",
    "correct it",
    "no usable name",
    "must decide",
    "decide which",
    "damaged",
    "is no ",
    "Front matter",
    "index: ",
    "Nothing was saved",
)


def waiting_in(side: Side) -> str:
    """What was said in a scope before the damage and waits to be saved."""
    return unlike(70 + SIDES.index(side))


def words_of(side: Side, round_: int) -> str:
    """What is decided in a scope in the round after the damage: five words that stand nowhere else."""
    return unlike(1000 + 10 * round_ + SIDES.index(side))


async def talk(workspace: Path, round_: int, speaking: Sequence[Side], asking: Sequence[Side] = ()) -> Heard:
    """Start the program; say one thing in each scope of `speaking` at the same moment, and save; ask for all there is
    in those of `asking`; stop."""
    heard, clock = Heard(), ManualClock(START + timedelta(hours=round_))
    # Ids of a round are its own: a platform never gives one twice.
    events = Events(clock, last=100_000 * round_)
    with capture_logs() as logs:
        try:
            async with stage(
                workspace, clock=clock, events=events, disk=QuietDisk(), owner=(ANA.key,), discord_people="on"
            ) as on:
                await _talk(on, heard, round_, speaking, asking)
        except RememError as refused:
            heard.refused = str(refused)
    heard.logs = list(logs)
    return heard


async def _talk(on: Stage, heard: Heard, round_: int, speaking: Sequence[Side], asking: Sequence[Side]) -> None:
    numbers = [Events(on.clock, last=10_000 * at + 1_000 * round_) for at in range(1, len(SIDES) + 1)]

    async def hear(happens: Callable[[Events, Side], Incoming], sides: Sequence[Side]) -> None:
        """At the same moment in every scope. What is not durable is not acknowledged: the platform delivers again."""
        incomings = [happens(events, side) for events, side in zip(numbers, SIDES, strict=True) if side in sides]
        for outcome in await asyncio.gather(*map(on.platform.happens, incomings), return_exceptions=True):
            if isinstance(outcome, LedgerError):
                heard.not_kept.append(str(outcome))
            elif isinstance(outcome, BaseException):
                raise outcome
        await on.settled()

    await hear(lambda new, side: new.said(side.spot, ANA, said_in(side, round_), addressed=True), speaking)
    await hear(lambda new, side: new.command(side.spot, ANA, ""), speaking)
    await hear(lambda new, side: new.command(side.spot, ANA, "status"), asking)
    await hear(lambda new, side: new.said(side.spot, ANA, f"What of the {side.matter}?", addressed=True), asking)
    await hear(lambda new, side: new.command(side.spot, ANA, f"search {side.matter}"), asking)
    others = " ".join(one.matter for one in SIDES)
    await hear(lambda new, side: new.command(side.spot, ANA, f"search {others}"), asking)
    for outgoing in on.platform.sent:
        heard.replies.setdefault(outgoing.conversation.room, []).append(outgoing.text)


def said_in(side: Side, round_: int) -> str:
    """The whole sentence."""
    return f"We decided: {words_of(side, round_)}"
