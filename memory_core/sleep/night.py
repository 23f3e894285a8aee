"""One run at work: the draft that it fills, its day, its caps, and what its report will say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from memory_core.flush.draft import Draft
from memory_core.forms.archive import has_fence, is_open, title_of
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import PageId
from memory_core.operations.sleep import AddBlocks
from memory_core.sleep.report import Caps


@dataclass(slots=True)
class Tally:
    """What a run has done so far, for its report."""

    merged: int = 0
    superseded: int = 0
    conflicts: int = 0
    proven: int = 0
    archived: int = 0
    returned: int = 0
    promoted: int = 0
    absorbed: int = 0
    journals: int = 0
    over_budget: list[str] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Night:
    """One run at work: its draft, its day, and what it may do. `late()` says that its time is over.

    `damaged` are pages with bytes that are no text: nothing on them is planned. `marked`: pages whose file
    begins with a byte order mark.
    """

    draft: Draft
    today: date
    caps: Caps
    damaged: frozenset[PageId]
    late: Callable[[], bool]
    marked: frozenset[PageId] = frozenset()
    tally: Tally = field(default_factory=Tally)

    @property
    def archive(self) -> PageId:
        """The archive of this month."""
        return PageId(f"archive/{self.today:%Y-%m}")

    def put_away(self, page: PageId, blocks: list[str]) -> bool:
        """Put the blocks into an archive; False where it cannot be written, or would swallow one of them."""
        if page in self.damaged or (is_open(self.draft.texts.get(page, "")) and any(map(has_fence, blocks))):
            return False
        self.draft.do(AddBlocks(page, title_of(page.partition("/")[2]), tuple(blocks)))
        return True

    def record_pages(self) -> list[PageId]:
        """The pages of records that can be written, in order."""
        table = self.draft.table
        pages = (page for page in self.draft.texts if page not in self.damaged)
        return sorted(page for page in pages if table.rule(page).form in WITH_RECORDS)
