"""The two processes of a power cut: one that talks with the program on a recorded disk, one that looks what is left.

    talk       a disk (power_disk), mounted; rooms in which people talk at the same time; on standard output each
               acknowledgement after it was given, with the length of the disk's log at that moment
    look       for each image that a cut left: mount it (the journal is replayed), start the program, compare

Both run in a mount namespace of their own (`unshare --mount`): no mount is seen outside, and none outlives them.

What is said follows from its number alone, so that `look` knows what to expect from numbers. An acknowledgement is:

    recorded   the event was taken in, durably
    noted      "Noted as …" was sent: it stands in its page
    saved      the receipt of a save was sent: it stands in its page and in the journal
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from random import Random
from typing import Literal, TypedDict

import structlog

from adapters.messages import Happening, Outgoing, Sent
from bot.app import App, opened
from memory_core.clock import ManualClock
from memory_core.errors import RememError
from memory_core.forms import tasks
from memory_core.ids import MessageKey
from memory_core.ledger import opening
from memory_core.store.disk import Disk
from tests.scenarios.damage import unlike
from tests.scenarios.power_disk import attached, copied, in_memory, mounted, unsound
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.stage import ANA, channel, direct, rows
from tests.scenarios.terminal import START, settings

SPOTS = (channel(10, "build"), channel(11, "shop"), direct(12, ANA))
PAGES = ("memory/groups/build", "memory/groups/shop", "people/discord-1/memory/main")
JOURNALS = ("memory/groups/build/journal", "memory/groups/shop/journal", "people/discord-1/memory")
_KINDS = ("chat", "decision", "lesson", "remember", "lesson", "task")
_LINES = {
    "chat": "Good morning, the train was late: {}",
    "decision": "decision: {}",
    "lesson": "The nightly job failed because of {}; fixed by restarting it.",
    "remember": "remember that {}",
    "task": "TODO: {}",
}
BETWEEN_SAVES = 7
"""Lines of a room from one save to the next, at most."""

Acknowledged = Literal["recorded", "noted", "saved"]
Unsynced = Literal["", "pages", "ledger"]


class Acknowledgement(TypedDict):
    """What was promised about which lines; `at`: how long the disk's log was right after it."""

    what: Acknowledged
    numbers: list[int]
    at: int


class Expected(TypedDict):
    """What `look` must find in the image: per acknowledgement the lines, and how many lines were said at most."""

    image: str
    said: int
    recorded: list[int]
    noted: list[int]
    saved: list[int]


def spot_of(number: int) -> int:
    """In which of `SPOTS` a line is said."""
    return number % len(SPOTS)


def kind_of(number: int) -> str:
    """What a line is; a task is written for certain only where it is one's own, in the DM."""
    kind = _KINDS[number // len(SPOTS) % len(_KINDS)]
    return "decision" if kind == "task" and spot_of(number) != 2 else kind


def line(number: int) -> str:
    """What is said."""
    return _LINES[kind_of(number)].format(unlike(number))


def keeping(numbers: Iterable[int]) -> set[int]:
    """Those of the lines that a save keeps."""
    return {number for number in numbers if kind_of(number) != "chat"}


# -- talk ------------------------------------------------------------------------------------------------------------


class UnsyncedDisk(Disk):
    """A disk that makes nothing durable; the planted fault that the comparison must see."""

    def sync(self, descriptor: int) -> None:
        """Not done."""

    def sync_folder(self, descriptor: int) -> None:
        """Not done."""


class Telling(RecordingAdapter):
    """Tells each acknowledgement on standard output when it was given."""

    def __init__(self, events: Events, log: Path | None = None) -> None:
        super().__init__("discord", lambda: str(events.number()), admins=frozenset({ANA.key}))
        self.numbers: dict[MessageKey, int] = {}
        self.answers: dict[str, asyncio.Future[str]] = {}
        self._log = log

    async def send(self, outgoing: Outgoing) -> Sent:
        """Send, then tell what it acknowledged."""
        sent = await super().send(outgoing)
        if waiting := self.answers.pop(outgoing.answer_to, None):
            waiting.set_result(outgoing.text)
        elif outgoing.reply_to in self.numbers and "Noted as" in outgoing.text:
            self.tell("noted", [self.numbers[outgoing.reply_to]])
        return sent

    def tell(self, what: Acknowledged, numbers: list[int]) -> None:
        """It was acknowledged."""
        if self._log is not None:
            told = Acknowledgement(what=what, numbers=numbers, at=os.stat(self._log).st_size)
            os.write(sys.stdout.fileno(), json.dumps(told).encode() + b"\n")


@dataclass(slots=True)
class Talk:
    """The program with its rooms."""

    app: App
    clock: ManualClock
    events: Events
    platform: Telling

    async def command(self, spot: Spot, words: str = "") -> str:
        """Somebody uses /remem; the answer."""
        event = self.events.command(spot, ANA, words)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.platform.answers[event.answer_to] = answer
        await self.platform.happens(event)
        return await answer

    async def say(self, number: int) -> None:
        """Say a line, as the platform delivers it."""
        self.clock.advance(1)
        addressed = kind_of(number) in ("decision", "remember", "task")
        event = self.events.said(SPOTS[spot_of(number)], ANA, line(number), addressed=addressed)
        if event.message is not None:
            self.platform.numbers[event.message] = number
        if (await self.platform.happens(event)).durable:
            self.platform.tell("recorded", [number])

    async def room(self, place: int, numbers: Iterable[int], random: Random) -> None:
        """All that is said in one room, saved now and then."""
        spot, since = SPOTS[place], list[int]()
        if place != 2:
            await self.platform.happens(self.events.about_room(Happening.JOINED, spot, ANA))
            await self.command(spot, "purpose We build things")
        for number in numbers:
            await self.say(number)
            since.append(number)
            if random.randrange(BETWEEN_SAVES) == 0 or len(since) == BETWEEN_SAVES:
                await self._save(spot, since)
                since = []
        await self._save(spot, since)

    async def _save(self, spot: Spot, since: list[int]) -> None:
        if (await self.command(spot)).startswith("Saved"):
            self.platform.tell("saved", since)


@asynccontextmanager
async def talking(
    workspace: Path, events: Events, *, log: Path | None = None, disk: Disk | None = None
) -> AsyncIterator[Talk]:
    """The program on `workspace`, its acknowledgements told with the length of `log`."""
    platform, clock = Telling(events, log), events.clock
    assert isinstance(clock, ManualClock)
    async with opened(settings(workspace), clock=clock, zone=UTC, disk=disk) as app:
        app.add(platform)
        await app.take_up()
        running = asyncio.create_task(platform.run(app.turn.take_in))
        await asyncio.sleep(0)
        await app.turn.answer_owed(platform.platform)
        try:
            yield Talk(app, clock, events, platform)
        finally:
            await app.parts.conversations.close()
            await platform.close()
            await running


def events_from(first: int) -> Events:
    """Events after those of an earlier process, under identities of their own."""
    return Events(ManualClock(START + timedelta(seconds=first)), first * 100)


async def talk(folder: Path, first: int, count: int, unsynced: Unsynced) -> None:
    """Say `count` lines from number `first` on in a workspace on the disk of `folder` (`disk.img`, `disk.log`)."""
    log = folder / "disk.log"
    if unsynced == "ledger":
        wal, _, erasing, store, schema = opening._PRAGMAS
        opening._PRAGMAS = (wal, "PRAGMA synchronous = OFF", erasing, store, schema)
    disk = UnsyncedDisk() if unsynced == "pages" else None
    with attached(folder / "disk.img", log, folder) as served, mounted(served, folder) as mount:
        async with talking(mount / "w", events_from(first), log=log, disk=disk) as here:
            every = range(first, first + count)
            rooms = (
                here.room(place, [number for number in every if spot_of(number) == place], Random(first + place))
                for place in range(len(SPOTS))
            )
            await asyncio.gather(*rooms)


# -- look ------------------------------------------------------------------------------------------------------------


class Look:
    """What is left in a workspace after a cut; `faults` in words, those of acknowledged entries begin with `lost`."""

    def __init__(self, workspace: Path, expected: Expected) -> None:
        self.faults: list[str] = []
        self._workspace, self._expected = workspace, expected
        self._lines = {line(number): number for number in range(expected["said"])}
        self._words = {unlike(number).split()[0]: number for number in range(expected["said"])}

    async def all(self) -> list[str]:
        """Before the program starts, after its start, and after a save of everything."""
        self._whole()
        try:
            async with talking(self._workspace, events_from(self._expected["said"])) as here:
                await here.app.parts.conversations.settled()
                in_ledger = self._ledger()
                self._pages(keeping({*self._expected["noted"], *self._expected["saved"]}))
                self._journals(keeping(self._expected["saved"]))
                await self._save(here, in_ledger)
        except RememError as refused:
            self.faults.append(f"lost: the program does not start: {refused}")
        self._whole()
        return self.faults

    async def _save(self, here: Talk, in_ledger: set[int]) -> None:
        """What was not saved before the cut is saved now, and nothing a second time."""
        for place in sorted({spot_of(number) for number in in_ledger}):
            receipt = await here.command(SPOTS[place])
            if not receipt.startswith(("Saved", "Nothing new")):
                self.faults.append(f"after the restart: {receipt}")
        self._pages(keeping(in_ledger))
        self._journals(keeping(in_ledger))

    def _whole(self) -> None:
        """No page and no state is cut off."""
        for path in sorted(self._workspace.rglob("*")):
            if path.suffix not in (".md", ".json") or path.name.startswith(".remem-"):
                continue
            content = path.read_bytes()
            try:
                text = content.decode()
                whole = text.endswith("\n") and "\0" not in text
                if path.suffix == ".json":
                    json.loads(text)
            except ValueError:
                whole = False
            if not whole:
                self.faults.append(f"torn: {path.relative_to(self._workspace)}: …{content[-40:]!r}")

    def _ledger(self) -> set[int]:
        """The lines that the ledger holds: each once, all that were recorded among them."""
        if rows(self._workspace, "PRAGMA integrity_check") != [("ok",)]:
            self.faults.append("torn: the ledger")
        texts = rows(self._workspace, "SELECT text FROM messages JOIN texts ON texts.id = text_id")
        found = Counter(self._lines[str(text)] for (text,) in texts if text in self._lines)
        self._compare("recorded", found, self._expected["recorded"])
        return set(found)

    def _pages(self, wanted: Iterable[int]) -> None:
        """Each line at most once on a page, `wanted` once; a task in the list of tasks: a page shows what it can.

        Of more facts than a board has room for the oldest stand in a convention.
        """
        wanted = set(wanted)
        pages = [self._workspace / folder / name for folder in PAGES for name in ("*.md", "conventions/*.md")]
        found = self._standing(path for page in pages for path in page.parent.glob(page.name))
        listed = self._listed()
        theirs = {number for number in wanted if kind_of(number) == "task"}
        self._compare("on its page", found, wanted - theirs)
        self._compare("in the list of tasks", listed, theirs)

    def _listed(self) -> Counter[int]:
        """How many tasks of the lists are each line's; a long title is cut there, its first word is its own."""
        texts = [path.read_text("utf-8") for path in self._workspace.rglob("pending_tasks.json")]
        titles = [task.title.split() for text in texts for task in tasks.parse(text).tasks]
        return Counter(self._words[word] for title in titles for word in title[:1] if word in self._words)

    def _journals(self, wanted: Iterable[int]) -> None:
        """Each line at most once in a journal, `wanted` once."""
        folders = [self._workspace / folder for folder in JOURNALS]
        found = self._standing(path for folder in folders for path in folder.glob("2026-*.md"))
        self._compare("in the journal", found, wanted)

    def _standing(self, files: Iterable[Path]) -> Counter[int]:
        """How many lines of the files, headings apart, hold each line's words; a digest repeats what pages hold."""
        found: Counter[int] = Counter()
        texts = (path.read_text("utf-8") for path in files if path.name != "daily-synced.md" and path.stem != "index")
        for written in (one for text in texts for one in text.splitlines() if not one.startswith("#")):
            numbers = {self._words[word] for word in written.split() if word in self._words}
            found.update(number for number in numbers if unlike(number) in written)
        return found

    def _compare(self, what: str, found: Counter[int], wanted: Iterable[int]) -> None:
        self.faults += [f"lost: {kind_of(one)} {one} is not {what}" for one in sorted(set(wanted)) if not found[one]]
        self.faults += [
            f"doubled: {kind_of(one)} {one} is {found[one]} times {what}" for one in found if found[one] > 1
        ]


async def look(folder: Path) -> None:
    """For each `Expected` on standard input the faults of its image, a line of JSON each."""
    with in_memory(folder) as memory:
        for asked in iter(sys.stdin.readline, ""):
            expected: Expected = json.loads(asked)
            image = copied(Path(expected["image"]), memory / "left.img")
            with mounted(image, folder) as mount:
                faults = await Look(mount / "w", expected).all()
            faults += [f"file system: {fault}" for fault in unsound(image)]
            os.write(sys.stdout.fileno(), json.dumps(faults).encode() + b"\n")


def main(what: str, folder: str, *more: str) -> None:
    """`talk FOLDER FIRST COUNT UNSYNCED`, or `look FOLDER`."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    if what == "look":
        asyncio.run(look(Path(folder)))
    else:
        unsynced: Unsynced = "pages" if more[2] == "pages" else "ledger" if more[2] == "ledger" else ""
        asyncio.run(talk(Path(folder), int(more[0]), int(more[1]), unsynced))


if __name__ == "__main__":
    main(*sys.argv[1:])
