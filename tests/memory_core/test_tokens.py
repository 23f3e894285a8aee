"""Names that nothing else has are passed in: by the disk, to the ledger, its twin and the search index."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from memory_core.clock import ManualClock
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.sqlite import SqliteLedger
from memory_core.ledger.transcript import TranscriptState
from memory_core.search.index_file import IndexFile
from memory_core.store.disk import Disk
from tests.memory_core.ledger_values import BUILD, START, posted


class CountingDisk(Disk):
    """Counts instead of drawing lots."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def token(self) -> str:
        return f"{next(self._numbers):016x}"


@pytest.mark.asyncio
async def test_openings_are_named_by_the_disk(tmp_path: Path) -> None:
    disk, named = CountingDisk(), list[str]()
    for number in (1, 2):
        ledger = await SqliteLedger.open(tmp_path / "ledger.db", ManualClock(START), disk=disk)
        await ledger.intake.record([posted(number)])
        named += [one.name for one in (await ledger.open(BUILD).transcript_state()).openings]
        await ledger.close()
    assert named == [f"{1:016x}", f"{1:016x}", f"{2:016x}"]
    twin = MemoryLedger(ManualClock(START), f"{7:016x}")
    await twin.intake.record([posted(1)])
    assert [one.name for one in (await twin.open(BUILD).transcript_state()).openings] == [f"{7:016x}"]
    others = [MemoryLedger(ManualClock(START)) for _ in range(2)]
    states = []
    for one in others:
        await one.intake.record([posted(1)])
        states.append(await one.open(BUILD).transcript_state())
    assert states[0] != states[1], "no two are the same"


def test_versions_are_named_by_the_disk() -> None:
    index = IndexFile(None, "test", disk=CountingDisk())
    versions = []
    for _ in range(2):
        index.update((), (), TranscriptState())
        versions.append(index.known().version)
    assert versions == [f"{1:016x}", f"{2:016x}"]
    index.close()
