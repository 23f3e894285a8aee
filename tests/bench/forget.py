"""What was removed is gone: from every search, and from every byte of every file.

    python -m tests.bench forget [--removals 1000] [--json F]

Words that occur nowhere else are planted in groups of a real workspace and leave it again, each in one of four ways:

    deleted    a message is deleted on its platform, after it was saved into pages
    edited     a message is edited and says something else, after it was saved into pages
    by hand    a person takes a line out of a page's file
    erased     a message that no page took up is old enough (REMEM_RAW_DAYS) and leaves the ledger

As many words stay. Every word is searched before, so that whatever search keeps for itself holds it, and again
afterwards. Then the bytes of all files under the workspace are read for the words: `at once` when the removal was
taken in and nothing else was done yet, `at last` after the next save and the next search. A page holds what is
deleted or edited until the next save, so only `at last` must be 0.
"""

from __future__ import annotations

import asyncio
import re
import string
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from random import Random

from rich.table import Table

from bot.app import App
from memory_core.clock import ManualClock
from memory_core.first_join import ensure_index
from memory_core.flush.engine import Trigger
from memory_core.gate import open_index
from memory_core.ids import Conversation, EventKey, MessageKey, Scope, message_key
from memory_core.ledger.base import Deleted, Edited, Event
from memory_core.messages import Message
from tests.bench.figures import console, keep, parser, quiet
from tests.bench.memories import ANA
from tests.bench.nights import name_of
from tests.bench.rooms_on_disk import opened_on, place_of, record

WAYS = ("deleted", "edited", "by hand", "erased")
STAYS = "stays"
EACH = 100
"""So many removals in one group."""
_PLANTED = re.compile(rb"zq[a-z0-9]{9}")
_LETTERS = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class Planted:
    """A word, where it stands and how it leaves; `message` is None for a line in a page's file."""

    word: str
    way: str
    scope: Scope
    message: Message | None

    @property
    def removed(self) -> bool:
        """Is it to be gone at the end?"""
        return self.way != STAYS


def planted_words(count: int, seed: int = 11) -> list[str]:
    """So many different words that nothing else holds."""
    random, found = Random(seed), set[str]()
    while len(found) < count:
        found.add("zq" + "".join(random.choices(_LETTERS, k=8)) + random.choice(string.digits))
    return sorted(found)


def words_in(files: Iterable[Path]) -> set[str]:
    """The planted words in the bytes of these files, upper or lower case. Blocking."""
    found: set[bytes] = set()
    for file in files:
        found.update(_PLANTED.findall(file.read_bytes().lower()))
    return {word.decode() for word in found}


def files_under(folder: Path) -> list[Path]:
    """Every file, whatever its name. Blocking."""
    return [path for path in folder.rglob("*") if path.is_file()]


@dataclass(slots=True)
class World:
    """A workspace with planted words, driven as people drive it."""

    app: App
    clock: ManualClock
    workspace: Path
    planted: list[Planted]

    async def plant(self, count: int) -> None:
        """Groups with `count` words that will leave, and as many that stay; saved into pages."""
        random, words = Random(4), planted_words(2 * count)
        for at in range(0, 2 * count, 2 * EACH):
            name = f"forget{at // (2 * EACH)}"
            await self._plant_group(name, words[at : at + 2 * EACH], random)

    async def _plant_group(self, name: str, words: Sequence[str], random: Random) -> None:
        place = place_of(name, direct=False)
        scope = (await self.app.parts.rooms.place(place, ANA)).scope
        assert scope is not None
        await ensure_index(self.app.parts.handles.open(scope), UTC, rooms=[place.key])
        own: list[Planted] = []
        for number, word in enumerate(words):
            way = WAYS[(number // 2) % len(WAYS)] if number % 2 else STAYS
            said = None
            if way in ("deleted", "edited", "erased") or (way == STAYS and number % 4):
                text = _chat(word) if way == "erased" else _decision(word, random)
                conversation = Conversation(place.key)
                said = Message(
                    message_key(place.key, f"m{number}"), conversation, ANA.key, ANA.name, text, self.clock.now()
                )
                self.clock.advance(60)
            own.append(Planted(word, way, scope, said))
        page = self._page(name)
        page.parent.mkdir(parents=True, exist_ok=True)
        by_hand = [one.word for one in own if one.message is None]
        page.write_text("# Project\n\n" + "".join(_line(word) for word in by_hand), "utf-8")
        await record(self.app, scope, [one.message for one in own if one.message is not None])
        await self.app.saving.save(scope, Trigger.IDLE)
        self.planted += own

    def _page(self, name: str) -> Path:
        return self.workspace / "memory/groups" / name / "project.md"

    async def remove(self) -> None:
        """Everything leaves that is to: events from the platform, a person at the files, time."""
        await self.app.parts.intake.record([
            _gone(one.way, one.message.key, self.clock)
            for one in self.planted
            if one.message is not None and one.way in ("deleted", "edited")
        ])  # fmt: skip
        for page in {self._page(one.scope.key.partition(":")[2]) for one in self.planted}:
            gone = {one.word for one in self.planted if one.way == "by hand"}
            lines = page.read_text("utf-8").splitlines(keepends=True)
            page.write_text("".join(line for line in lines if not gone & set(line.split())), "utf-8")
        self.clock.advance(timedelta(days=9).total_seconds())
        await self.app.upkeep.sweep()

    async def save(self) -> None:
        """What is to be corrected on pages is."""
        for scope in dict.fromkeys(one.scope for one in self.planted):
            await self.app.saving.save(scope, Trigger.IDLE)

    async def found(self) -> Counter[str]:
        """By way: how many words a search for them finds."""
        hits = Counter[str]()
        for one in self.planted:
            opened = await open_index(self.app.parts.handles.open(one.scope))
            assert opened is not None
            results = await opened.search(one.word, 10)
            texts = " ".join(" ".join((hit.title, hit.text, hit.source, hit.shown)) for hit in results)
            hits[one.way] += one.word in texts
        return hits

    async def in_files(self, under: str = "") -> Counter[str]:
        """By way: how many words stand in the bytes of some file under that folder of the workspace."""
        words = await asyncio.to_thread(lambda: words_in(files_under(self.workspace / under)))
        return Counter(one.way for one in self.planted if one.word in words)


def _gone(way: str, key: MessageKey, clock: ManualClock) -> Event:
    if way == "deleted":
        return Deleted(EventKey(f"{key}!deleted"), key)
    return Edited(EventKey(f"{key}@1"), key, "never mind, this was meant for somebody else", clock.now())


def _decision(word: str, random: Random) -> str:
    """Something that a save takes up."""
    return f"We decided to use {word} for {name_of(random)} because {name_of(random)} could not be repaired."


def _chat(word: str) -> str:
    """Something that no save takes up."""
    return f"haha {word}"


def _line(word: str) -> str:
    return f"- the machine {word} stands in the cellar\n"


async def measured(removals: int) -> dict[str, Counter[str]]:
    """By column and way: how many words."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "w"
        async with opened_on(workspace, durable=False) as (app, clock):
            world = World(app, clock, workspace, [])
            await world.plant(removals)
            figures = {"planted": Counter(one.way for one in world.planted)}
            figures["on pages before"] = await world.in_files("memory")
            figures["found before"] = await world.found()
            await world.remove()
            figures["in files at once"] = await world.in_files()
            await world.save()
            figures["found after"] = await world.found()
            figures["in files at last"] = await world.in_files()
    return figures


def left(figures: dict[str, Counter[str]]) -> int:
    """How many removed words are found at the end, by a search or in a file."""
    return sum(figures[column][way] for column in ("found after", "in files at last") for way in WAYS)


def main(arguments: Sequence[str] = ()) -> int:
    """`forget` of the command line. Exit code 1 where something that was removed is found."""
    options = parser("forget", __doc__)
    options.add_argument("--removals", type=int, default=1000, help="over all four ways")
    given = options.parse_args(list(arguments))
    quiet()
    figures = asyncio.run(measured(given.removals))
    table = Table("way", *figures, title="planted words")
    for way in (*WAYS, STAYS):
        table.add_row(way, *(str(by_way[way]) for by_way in figures.values()))
    screen = console()
    screen.print(table)
    found = left(figures)
    screen.print(f"{found} of {given.removals:,} removed words are found at last; target: 0")
    keep(given.json, {"removals": given.removals, "left": found, **figures})
    return 1 if found else 0
