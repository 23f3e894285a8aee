"""No space, input/output errors, missing permission and short writes, at each call of store and ledger in turn.

After every one of them: what stood before stands, who asked was told once and in words, nothing had to be started
anew, and what was said meanwhile is saved once and in its order. A full disk in commands, and damaged files, stand in
test_bad_input.py.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from random import Random

import pytest

from adapters.messages import Happening, Incoming
from bot.wording import UNFORESEEN
from memory_core.errors import LedgerFailed
from memory_core.forms.records import parse
from tests.memory_core.disks import temporary_files
from tests.scale import scale
from tests.scenarios.damage import contents, sentence, unlike
from tests.scenarios.faulty import ADVICE, NEVER, CrampedDisk, FaultyDisk, FaultyLedger
from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, Stage, channel, stage

pytestmark = pytest.mark.asyncio

BUILD = channel(10, "build")
NUMBERS = (errno.ENOSPC, errno.EIO, errno.EACCES)
FAILED = ("could not", "cannot", "Nothing was saved", "did not work")
"""What a line that tells of a failure holds."""

Faulty = FaultyDisk | CrampedDisk | FaultyLedger


def lesson(number: int) -> str:
    return f"The nightly job failed because of {unlike(number)}; fixed by restarting it."


def decision(number: int) -> str:
    return f"decision: {unlike(number)}"


def _points(total: int, faulty: Faulty) -> list[int]:
    """Every call (of bytes, a hundred places); in CI the first one and three more, others for each kind of fault."""
    if scale(20) > 1:
        return list(range(0, total, max(1, total // 100)))
    return sorted({0, *Random(repr(faulty.name)).sample(range(total), 3)})


def _times(on: Stage, number: int) -> int:
    """How often something stands among the records, by its first words."""
    return sum(unlike(number)[:23] in title for title in on.titles("build"))


def _failures(said: list[str]) -> list[str]:
    return [text for text in said if any(word in text for word in FAILED)]


def _told(said: list[str], advice: str) -> None:
    """Whoever was told of a failure was told once, in words, and what to do."""
    assert all("Traceback" not in text and "Errno" not in text and text != UNFORESEEN for text in said), said
    failures = _failures(said)
    assert len(failures) <= 1, failures
    for text in failures:
        assert advice in text, text
        assert "kept" in text, text


def _advice(faulty: Faulty) -> str:
    if isinstance(faulty, FaultyLedger):
        return faulty.advice
    return ADVICE[faulty.errno if isinstance(faulty, FaultyDisk) else errno.ENOSPC]


async def _delivered(on: Stage, incoming: Incoming, faulty: Faulty) -> list[str]:
    """Deliver as a platform does: what could not be kept comes again, here when the fault is mended."""
    refused = ""
    try:
        return await on.hears(incoming)
    except LedgerFailed as failed:
        refused = str(failed)
    assert _advice(faulty) in sentence(refused)
    faulty.mend()
    return await on.hears(incoming)


DISKS: tuple[Callable[[], Faulty], ...] = (
    *(partial(FaultyDisk, number, once=once) for number in NUMBERS for once in (True, False)),
    CrampedDisk,
)
LEDGERS: tuple[Callable[[], Faulty], ...] = tuple(
    partial(FaultyLedger, number, once) for number in NUMBERS for once in (True, False)
)
_HOW = [f"{errno.errorcode[number]} {how}" for number in NUMBERS for how in ("once", "until mended")]
every_fault = pytest.mark.parametrize(
    "make", [*DISKS, *LEDGERS], ids=[*_HOW, "short", *(f"ledger {name}" for name in _HOW)]
)


def _opened(workspace: Path, faulty: Faulty) -> AbstractAsyncContextManager[Stage]:
    if isinstance(faulty, FaultyLedger):
        return stage(workspace, faults=faulty)
    return stage(workspace, disk=faulty)


def _stands(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Nothing that was written by people, or as a record or note, is gone; what is derived may have changed."""
    for name, content in before.items():
        if name.endswith(".md") and not name.endswith("attention.md"):
            lines = {
                line for line in content.split(b"<!-- remem:catalogue")[0].splitlines() if b"last_updated" not in line
            }
            assert lines <= set(after[name].splitlines()), name


# -- written at once -------------------------------------------------------------------------------------------------


@every_fault
async def test_a_fault_while_something_is_written_at_once(tmp_path: Path, make: Callable[[], Faulty]) -> None:
    faulty = make()
    async with _opened(tmp_path / "w", faulty) as on:
        await on.enter(BUILD)
        faulty.arm(NEVER)
        await on.says(BUILD, ANA, decision(9999))
        total = faulty.mend()
        assert total > 3
        for number in _points(total, faulty):
            before = contents(tmp_path / "w/memory")
            faulty.arm(number)
            said = await _delivered(on, on.events.said(BUILD, ANA, decision(number), addressed=True), faulty)
            faulty.mend()
            _told(said, _advice(faulty))
            _stands(before, contents(tmp_path / "w/memory"))
            if any(text.startswith("Noted") for text in said):
                assert _times(on, number) == 1, "said to be noted, and it is"
            assert "Nothing was saved" not in await on.command(BUILD, ANA)
            assert _times(on, number) == 1, (number, said)
        assert await on.says(BUILD, BEN, decision(10_000)), "it goes on by itself"
    assert not temporary_files(tmp_path / "w")


# -- a save ----------------------------------------------------------------------------------------------------------


@every_fault
async def test_a_fault_in_a_save_keeps_the_backlog_in_order(tmp_path: Path, make: Callable[[], Faulty]) -> None:
    faulty = make()
    async with _opened(tmp_path / "w", faulty) as on:
        await on.enter(BUILD)
        await on.says(BUILD, ANA, lesson(9999), addressed=False)
        faulty.arm(NEVER)
        await on.command(BUILD, ANA)
        total = faulty.mend()
        assert total > 10
        for number in _points(total, faulty):
            numbers = [3 * number, 3 * number + 1, 3 * number + 2]
            await on.hears(*(on.events.said(BUILD, (ANA, BEN)[one % 2], lesson(one)) for one in numbers[:2]))
            before = contents(tmp_path / "w/memory")
            faulty.arm(number)
            said = await _delivered(on, on.events.command(BUILD, ANA, ""), faulty)
            _told(said, _advice(faulty))
            _stands(before, contents(tmp_path / "w/memory"))
            faulty.mend()
            on.clock.advance(60)
            await on.hears(on.events.said(BUILD, ANA, lesson(numbers[2])))
            receipt = await on.command(BUILD, ANA)
            assert receipt.startswith("Saved"), (number, said, receipt)
            assert [_times(on, one) for one in numbers] == [1, 1, 1], (number, said, receipt)
            titles = " ".join(reversed(on.titles("build")))
            places = [titles.find(unlike(one)[:23]) for one in numbers]
            assert places == sorted(places), "in the order in which it was said"
        journal = on.page("build/journal/2026-04-06.md")
        every = [3 * number + more for number in _points(total, faulty) for more in range(3)]
        assert all(journal.count(unlike(one)[:23]) == 1 for one in every)
    assert not temporary_files(tmp_path / "w")


# -- first join, names -----------------------------------------------------------------------------------------------


async def _joins(on: Stage, spot: Spot, faulty: Faulty) -> list[str]:
    """The bot is invited, and told what the group is for."""
    said = await _delivered(on, on.events.about_room(Happening.JOINED, spot, ANA), faulty)
    return said + await _delivered(on, on.events.command(spot, ANA, "purpose We build things"), faulty)


@every_fault
async def test_a_fault_in_a_first_join_leaves_names_whole_and_is_made_good(
    tmp_path: Path, make: Callable[[], Faulty]
) -> None:
    faulty, names = make(), tmp_path / "w/memory/groups/group_names.json"
    async with _opened(tmp_path / "w", faulty) as on:
        await on.enter(BUILD)
        faulty.arm(NEVER)
        await _joins(on, channel(9999, "measure"), faulty)
        total = faulty.mend()
        assert total > 5
        known: dict[str, dict[str, str]] = {}
        for number in _points(total, faulty):
            spot = channel(20_000 + number, f"room {number}")
            before = contents(tmp_path / "w/memory")
            faulty.arm(number)
            said = await _joins(on, spot, faulty)
            faulty.mend()
            assert all("Traceback" not in text and text != UNFORESEEN for text in said), (number, said)
            after = contents(tmp_path / "w/memory")
            _stands(before, after)
            rows = json.loads(names.read_text("utf-8"))
            assert {key: rows[key] for key in known} == known, "no name is lost or changed"
            known = rows
            # what could not be done is done at the next use, without a restart
            await on.says(spot, BEN, "hello")
            await on.command(spot, ANA, "purpose We build things")
            assert "purpose: We build things" in on.page(f"room-{number}.md"), (number, said)
            await on.says(spot, BEN, decision(number))
            records = parse(on.page(f"room-{number}/experience.md")).records
            assert [unlike(number)[:23] in placed.record.title for placed in records] == [True]
            known = json.loads(names.read_text("utf-8"))
            assert known[spot.room.key]["name"] == f"room-{number}"
    assert not temporary_files(tmp_path / "w")
